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

/// Defines tables that reject unknown keys.
macro_rules! tables {
    ($($(#[$of:meta])* struct $table:ident { $($(#[$key:meta])* $name:ident: $value:ty,)+ })+) => {$(
        $(#[$of])*
        #[derive(Clone, Debug, Deserialize)]
        #[serde(deny_unknown_fields, expecting = "a table")]
        pub(crate) struct $table {
            $($(#[$key])* pub(crate) $name: $value,)+
        }
    )+};
}

tables! {
    /// A whole spec file.
    struct SpecTable {
        name: NonEmptyText,
        seed: WholeNumber<0, { i64::MAX as u64 }>,
        version: Option<NonEmptyText>,
        licence: Option<NonEmptyText>,
        description: Option<NonEmptyText>,
        how: Option<NonEmptyText>,
        model: Option<NonEmptyText>,
        writers: Option<Writers>,
        test: Option<Fraction>,
        paraphrase: Option<WordGroups>,
        source: Option<Vec<SourceTable>>,
        unit: Option<Vec<RepeatedUnit>>,
        tool: Option<Vec<Tool>>,
        forms: Option<Vec<FormsTable>>,
        item: Vec<ItemTable>,
    }

    /// `[[source]]`: a source of clean text.
    struct SourceTable {
        name: NonEmptyText,
        corpus: Option<NonEmptyText>,
        text: Option<NonEmptyText>,
        lang: Option<NonEmptyText>,
        r#where: Option<NonEmpty<NonEmptyText>>,
        take: Option<SourceFilter>,
    }

    /// `[[unit]]`: texts to repeat.
    struct RepeatedUnit {
        name: NonEmptyText,
        lang: NonEmptyText,
        texts: NonEmpty<NonEmptyText>,
        fillers: Option<NonEmpty<NonEmptyText>>,
    }

    /// `[[tool]]`: a tool that is called.
    struct Tool {
        name: NonEmptyText,
        arguments: Option<NamedLists>,
        results: Option<NonEmpty<NonEmptyText>>,
    }

    /// `[[forms]]`: a named file of forms.
    struct FormsTable {
        name: NonEmptyText,
        file: NonEmptyText,
    }

    /// `[[item]]`: a group of transcripts of one kind.
    struct ItemTable {
        name: NonEmptyText,
        #[serde(deserialize_with = "deserialize_kind")]
        kind: &'static ItemKind,
        count: WholeNumber<1, 100_000>,
        file: Option<NonEmptyText>,
        source: Option<NonEmpty<NonEmptyText>>,
        lang: Option<NonEmpty<NonEmptyText>>,
        channel: Option<NonEmpty<SpecChannel>>,
        unit: Option<NonEmptyText>,
        period: Option<BoundedRange<1, MAX_CHARS>>,
        copies: Option<BoundedRange<2, 1_000_000>>,
        length: Option<BoundedRange<0, MAX_CHARS>>,
        onset: Option<NonEmpty<BoundedRange<1, MAX_CHARS>>>,
        after: Option<BoundedRange<0, MAX_CHARS>>,
        class: Option<LoopClass>,
        truncate: Option<bool>,
        drift: Option<Drift>,
        chunks: Option<Chunks>,
        forms: Option<NonEmptyText>,
        chars: Option<BoundedRange<1, MAX_CHARS>>,
        glue: Option<NonEmptyText>,
        around: Option<BoundedRange<0, 100>>,
        aside: Option<BoundedRange<0, 100>>,
        fault: Option<NonEmpty<Fault>>,
        stream: Option<SpecStreamKind>,
        severity: Option<BoundedRange<1, 3>>,
        intact: Option<Fraction>,
        texts: Option<NonEmpty<NonEmptyText>>,
        volatile: Option<NonEmpty<Volatile>>,
    }

    /// `item.drift`: how the copies of a loop differ from the first one.
    struct Drift {
        kind: DriftKind,
        rate: Option<PositiveFraction>,
        counter: Option<NonEmptyText>,
        glue: Option<NonEmptyText>,
    }

    /// `item.chunks`: how a text is cut into events.
    struct Chunks {
        by: ChunkKind,
        size: Option<BoundedRange<1, 100_000>>,
        ms: Option<BoundedRange<0, 600_000>>,
    }

    /// A file of forms.
    struct FormFile {
        lists: Option<NamedLists>,
        form: Vec<Form>,
    }

    /// `[[form]]`: a shape of healthy text.
    struct Form {
        name: NonEmptyText,
        class: NonEmptyText,
        lang: Option<NonEmptyText>,
        channel: Option<SpecChannel>,
        most: Option<WholeNumber<1, 100_000>>,
        alone: Option<bool>,
        text: NonEmptyText,
    }
}
