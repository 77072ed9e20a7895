//! [`CorpusSpec`]: the description of a synthetic corpus.
//!
//! | to find | look in |
//! |---|---|
//! | the tables of a spec, and every key | `tables` |
//! | the values that a key may hold: texts, ranges, words | `values` |
//! | the kinds of items, their keys and defaults | `kinds` |
//! | descriptions of all keys | `keys` |
//! | reading, with the line of each error | `parsing` |
//! | impossible keys and values | `checks` |

use std::collections::BTreeSet;
use std::ops::Deref;

use deadloop_detect::Fault;

mod checks;
mod keys;
mod kinds;
mod parsing;
mod tables;
mod values;

pub use keys::{KeyDoc, describe_keys};
pub(super) use kinds::ItemMaker;
pub(super) use parsing::parse_toml;
pub use parsing::{SpecError, SpecResult};
pub(super) use tables::{
    ChunkKind, Chunks, Drift, DriftKind, Form, FormFile, RepeatedUnit, SpecChannel, SpecStreamKind,
    Tool, Volatile,
};
use tables::{ItemTable, LoopClass, SpecTable, Writers};
pub(super) use values::{CountRange, NonEmptyText, range_or};

/// The description of a synthetic corpus.
#[derive(Clone, Debug)]
pub struct CorpusSpec {
    /// The name of the corpus.
    pub name: String,
    /// Seed of all random draws.
    pub seed: u64,
    /// The sources of clean text, in the order of the file.
    pub sources: Vec<CleanSource>,
    pub(super) items: Vec<SpecItem>,
    pub(super) table: SpecTable,
}

/// A source of clean text.
#[derive(Clone, Debug)]
pub struct CleanSource {
    /// The name that items refer to.
    pub name: String,
    /// Path of the source.
    pub place: SourcePlace,
    /// Language of a text file, or language of the transcripts to take from a corpus.
    pub lang: Option<String>,
    /// `key=value` filters on a corpus.
    pub wheres: Vec<String>,
    /// Whether transcripts are taken regardless of their labels.
    pub all: bool,
    /// Line of the source in the spec.
    pub line: usize,
}

/// The path of a source, relative to the spec's folder.
#[derive(Clone, Debug)]
pub enum SourcePlace {
    /// A corpus.
    Corpus(String),
    /// A text file, or a folder with text files.
    Text(String),
}

/// A group of transcripts of one kind: a checked table of the spec.
#[derive(Clone, Debug)]
pub(super) struct SpecItem {
    table: ItemTable,
    pub(super) line: usize,
    pub(super) sources: Vec<usize>,
    /// Languages of the texts. Empty if they are those of the forms.
    pub(super) langs: Vec<String>,
    pub(super) repeats: Repeats,
    pub(super) faults: Option<Faults>,
}

/// Number, length and positions of an item's repetitions.
#[derive(Clone, Debug)]
pub(super) struct Repeats {
    pub(super) period: CountRange,
    pub(super) copies: CountRange,
    /// Ranges of the second copy's position, used in turn.
    pub(super) onsets: Vec<CountRange>,
    pub(super) after: CountRange,
    pub(super) class: LoopClass,
}

/// Parameters of damaged streams.
#[derive(Clone, Debug)]
pub(super) struct Faults {
    pub(super) kinds: Vec<Fault>,
    pub(super) stream: SpecStreamKind,
    pub(super) severity: CountRange,
    pub(super) intact: f64,
    /// Whether the actions of forms are inserted into answers of the sources.
    pub(super) planted: bool,
}

impl Chunks {
    /// Returns whether the recorded chunks and times are used.
    pub(super) fn are_recorded(&self) -> bool {
        self.by == ChunkKind::Recorded
    }

    /// Returns whether the events get artificial times.
    pub(super) fn make_times(&self) -> bool {
        self.ms.is_some()
    }
}

impl CorpusSpec {
    /// Returns whether an item uses the runs of a source as hosts.
    pub fn wants_runs(&self, source: usize) -> bool {
        use ItemMaker::{Harmless, Loop, Run};
        let is_run_item =
            |item: &SpecItem| matches!(item.kind.maker, Run | Harmless(..) | Loop(..));
        self.is_source_used(source, |item| is_run_item(item) && item.forms.is_none())
    }

    /// Returns whether an item copies recordings of a source unchanged.
    pub fn wants_recordings(&self, source: usize) -> bool {
        self.is_source_used(source, |item| {
            matches!(item.kind.maker, ItemMaker::Recorded)
        })
    }

    fn is_source_used(&self, source: usize, wants: impl Fn(&SpecItem) -> bool) -> bool {
        let mut items = self.items.iter().filter(|item| wants(item));
        items.any(|item| item.sources.contains(&source))
    }

    /// Returns the names of the transcript files, without the extension.
    pub fn files(&self) -> BTreeSet<&str> {
        self.items.iter().map(SpecItem::file).collect()
    }

    /// Returns the unit with this name and language.
    pub(super) fn find_unit<'a>(&'a self, name: &str, lang: &str) -> Option<&'a RepeatedUnit> {
        let mut units = self.table.unit.iter().flatten();
        units.find(|unit| *unit.name == name && *unit.lang == lang)
    }

    /// Returns the phrases of doubt in a language, which are the texts of the unit `glue`. There are none if `glue` is
    /// `None` or names no unit of the language.
    pub(super) fn doubt_phrases(&self, glue: Option<&NonEmptyText>, lang: &str) -> &[NonEmptyText] {
        let unit = glue.and_then(|name| self.find_unit(name, lang));
        unit.map_or(&[], |unit| &unit.texts)
    }

    pub(super) fn tools(&self) -> &[Tool] {
        self.table.tool.as_deref().unwrap_or_default()
    }

    /// Returns the groups of words that may replace each other.
    pub(super) fn paraphrase_groups(&self) -> &[Vec<NonEmptyText>] {
        let groups = self.table.paraphrase.as_ref();
        groups.map_or(&[], |groups| &groups.0)
    }

    /// Returns the fraction of the split `test`.
    pub(super) fn test_fraction(&self) -> f64 {
        self.table.test.map_or(0.3, |test| test.0)
    }

    /// Returns the model name of texts that no model wrote.
    pub(super) fn model_name(&self) -> &str {
        self.table.model.as_ref().map_or("handmade", |model| model)
    }

    /// Returns whether the model name of a synthetic text is its writer's name with a suffix.
    pub(super) fn adds_suffix(&self) -> bool {
        self.table.writers != Some(Writers::Kept)
    }
}

impl Deref for SpecItem {
    type Target = ItemTable;

    fn deref(&self) -> &ItemTable {
        &self.table
    }
}

impl SpecItem {
    /// Returns the name of the item's transcript file, without the extension.
    pub(super) fn file(&self) -> &str {
        self.table.file.as_ref().map_or("synth", |file| file)
    }

    /// Returns the id of a transcript, by its index.
    pub(super) fn id(&self, at: usize) -> String {
        format!("{}/{at:03}", self.table.name)
    }

    /// Returns the number of transcripts.
    pub(super) fn count(&self) -> usize {
        self.table.count.0 as usize
    }

    /// Returns whether the item takes texts of a language. An item without languages takes any text.
    pub(super) fn accepts(&self, lang: &str) -> bool {
        self.langs.is_empty() || self.langs.iter().any(|own| own == lang)
    }

    /// Returns the channel for `turn`, or `default` if the item sets no channel.
    pub(super) fn channel(&self, turn: usize, default: &'static str) -> &'static str {
        let all = self.table.channel.as_deref().unwrap_or_default();
        let channel = all.get(turn % all.len().max(1));
        channel.map_or(default, |channel| channel.name())
    }

    /// Returns the range of the second copy's position for `turn`.
    pub(super) fn onset(&self, turn: usize) -> CountRange {
        self.repeats.onsets[turn % self.repeats.onsets.len()]
    }
}

impl RepeatedUnit {
    /// Returns the texts with which drift replaces `{}`.
    pub(super) fn fillers(&self) -> &[NonEmptyText] {
        self.fillers.as_deref().unwrap_or_default()
    }
}
