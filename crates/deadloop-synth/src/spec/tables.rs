//! The tables of a spec and of a file of forms.
//!
//! Each field is a key, which `keys.toml` describes.

use deadloop_detect::Fault;
use serde::Deserialize;

use super::kinds::{ItemKind, deserialize_kind};
use super::values::{
    BoundedRange, Fraction, MAX_CHARS, NamedLists, NonEmpty, NonEmptyText, PositiveFraction,
    WholeNumber, WordGroups,
};

deadloop_detect::words! {
    /// Naming of a synthetic text's model.
    pub(crate) enum Writers {
        Marked = "marked",
        Kept = "kept",
    }
    /// Filter of the transcripts of a source.
    pub(crate) enum SourceFilter {
        Clean = "clean",
        All = "all",
    }
    /// The channel of a text.
    pub(crate) enum SpecChannel {
        Answer = "answer",
        Reasoning = "reasoning",
    }
    /// The class in the label of a loop.
    pub(crate) enum LoopClass {
        Loop = "loop",
        Transient = "transient",
    }
    /// Kind of stream that can be damaged.
    pub(crate) enum SpecStreamKind {
        Tags = "tags",
        Think = "think",
        Text = "text",
        Arguments = "arguments",
        Name = "name",
        Events = "events",
        Whole = "whole",
        Calls = "calls",
    }
    /// Random values that are added to each result of a run.
    pub(crate) enum Volatile {
        Ids = "ids",
        Dates = "dates",
    }
    /// Kind of differences between the copies of a loop.
    pub(crate) enum DriftKind {
        Counter = "counter",
        Fill = "fill",
        /// `Fill` with a random filler in each copy, which leaves no period.
        Draw = "draw",
        Word = "word",
        Paraphrase = "paraphrase",
        Case = "case",
        Space = "space",
        /// Shuffled statements of the unit, joined by phrases of doubt.
        Circle = "circle",
    }
    /// Unit of the chunks into which a text is cut.
    pub(crate) enum ChunkKind {
        Chars = "chars",
        Tokens = "tokens",
        Recorded = "recorded",
    }
}

/// A whole spec file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct SpecTable {
    pub(crate) name: NonEmptyText,
    pub(crate) seed: WholeNumber<0, { i64::MAX as u64 }>,
    pub(crate) version: Option<NonEmptyText>,
    pub(crate) licence: Option<NonEmptyText>,
    pub(crate) description: Option<NonEmptyText>,
    pub(crate) how: Option<NonEmptyText>,
    pub(crate) model: Option<NonEmptyText>,
    pub(crate) writers: Option<Writers>,
    pub(crate) test: Option<Fraction>,
    pub(crate) paraphrase: Option<WordGroups>,
    pub(crate) source: Option<Vec<SourceTable>>,
    pub(crate) unit: Option<Vec<RepeatedUnit>>,
    pub(crate) tool: Option<Vec<Tool>>,
    pub(crate) forms: Option<Vec<FormsTable>>,
    pub(crate) item: Vec<ItemTable>,
}

/// `[[source]]`: a source of clean text.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct SourceTable {
    pub(crate) name: NonEmptyText,
    pub(crate) corpus: Option<NonEmptyText>,
    pub(crate) text: Option<NonEmptyText>,
    pub(crate) lang: Option<NonEmptyText>,
    pub(crate) r#where: Option<NonEmpty<NonEmptyText>>,
    pub(crate) take: Option<SourceFilter>,
}

/// `[[unit]]`: texts to repeat.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct RepeatedUnit {
    pub(crate) name: NonEmptyText,
    pub(crate) lang: NonEmptyText,
    pub(crate) texts: NonEmpty<NonEmptyText>,
    pub(crate) fillers: Option<NonEmpty<NonEmptyText>>,
}

/// `[[tool]]`: a tool that is called.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Tool {
    pub(crate) name: NonEmptyText,
    pub(crate) arguments: Option<NamedLists>,
    pub(crate) results: Option<NonEmpty<NonEmptyText>>,
}

/// `[[forms]]`: a named file of forms.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct FormsTable {
    pub(crate) name: NonEmptyText,
    pub(crate) file: NonEmptyText,
}

/// `[[item]]`: a group of transcripts of one kind.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct ItemTable {
    pub(crate) name: NonEmptyText,
    #[serde(deserialize_with = "deserialize_kind")]
    pub(crate) kind: &'static ItemKind,
    pub(crate) count: WholeNumber<1, 100_000>,
    pub(crate) file: Option<NonEmptyText>,
    pub(crate) source: Option<NonEmpty<NonEmptyText>>,
    pub(crate) lang: Option<NonEmpty<NonEmptyText>>,
    pub(crate) channel: Option<NonEmpty<SpecChannel>>,
    pub(crate) unit: Option<NonEmptyText>,
    pub(crate) period: Option<BoundedRange<1, MAX_CHARS>>,
    pub(crate) copies: Option<BoundedRange<2, 1_000_000>>,
    pub(crate) length: Option<BoundedRange<0, MAX_CHARS>>,
    pub(crate) onset: Option<NonEmpty<BoundedRange<1, MAX_CHARS>>>,
    pub(crate) after: Option<BoundedRange<0, MAX_CHARS>>,
    pub(crate) class: Option<LoopClass>,
    pub(crate) truncate: Option<bool>,
    pub(crate) drift: Option<Drift>,
    pub(crate) chunks: Option<Chunks>,
    pub(crate) forms: Option<NonEmptyText>,
    pub(crate) chars: Option<BoundedRange<1, MAX_CHARS>>,
    pub(crate) glue: Option<NonEmptyText>,
    pub(crate) around: Option<BoundedRange<0, 100>>,
    pub(crate) aside: Option<BoundedRange<0, 100>>,
    pub(crate) fault: Option<NonEmpty<Fault>>,
    pub(crate) stream: Option<SpecStreamKind>,
    pub(crate) severity: Option<BoundedRange<1, 3>>,
    pub(crate) intact: Option<Fraction>,
    pub(crate) texts: Option<NonEmpty<NonEmptyText>>,
    pub(crate) volatile: Option<NonEmpty<Volatile>>,
}

/// `item.drift`: how the copies of a loop differ from the first one.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Drift {
    pub(crate) kind: DriftKind,
    pub(crate) rate: Option<PositiveFraction>,
    pub(crate) counter: Option<NonEmptyText>,
    pub(crate) glue: Option<NonEmptyText>,
}

/// `item.chunks`: how a text is cut into events.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Chunks {
    pub(crate) by: ChunkKind,
    pub(crate) size: Option<BoundedRange<1, 100_000>>,
    pub(crate) ms: Option<BoundedRange<0, 600_000>>,
}

/// A file of forms.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct FormFile {
    pub(crate) lists: Option<NamedLists>,
    pub(crate) form: Vec<Form>,
}

/// `[[form]]`: a shape of healthy text.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct Form {
    pub(crate) name: NonEmptyText,
    pub(crate) class: NonEmptyText,
    pub(crate) lang: Option<NonEmptyText>,
    pub(crate) channel: Option<SpecChannel>,
    pub(crate) most: Option<WholeNumber<1, 100_000>>,
    pub(crate) alone: Option<bool>,
    pub(crate) text: NonEmptyText,
}
