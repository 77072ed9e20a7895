//! [`CorpusSpec`]: what a corpus is to be made of. It knows nothing of how that is made.
//!
//! | to find | look in |
//! |---|---|
//! | the tables of a spec, and every key | `tables` |
//! | what a key may hold: texts, ranges, words | `held` |
//! | the kinds of items, their keys and defaults | `kinds` |
//! | keys for people and editors | `keys` |
//! | reading, with the line of each error | `parsing` |
//! | what no transcript could satisfy | `checks` |

use std::collections::BTreeSet;
use std::ops::Deref;

use deadloop_detect::Fault;

mod checks;
mod held;
mod keys;
mod kinds;
mod parsing;
mod tables;

pub(super) use held::{Bounds, Text, Word, ends};
pub use keys::{KeyText, key_texts};
pub(super) use kinds::{By, Harmless, Looped, REASONS};
pub use parsing::SpecError;
pub(super) use parsing::read;
pub(super) use tables::{
    Chunks, Cut, Drift, DriftKind, Form, FormFile, StreamKind, TextChannel, Tool, Unit, Volatile,
};
use tables::{Class, ItemTable, SpecTable, Writers};

/// A corpus to be made.
#[derive(Clone, Debug)]
pub struct CorpusSpec {
    /// The name of the corpus.
    pub name: String,
    /// What every draw depends on.
    pub seed: u64,
    /// Where clean text comes from, in the order of the file.
    pub sources: Vec<CleanSource>,
    pub(super) items: Vec<Item>,
    pub(super) table: SpecTable,
}

/// Where clean text comes from.
#[derive(Clone, Debug)]
pub struct CleanSource {
    /// What items call it by.
    pub name: String,
    /// Where it is, from the spec's folder.
    pub place: SourcePlace,
    /// The language of a text; which transcripts of a corpus are taken.
    pub lang: Option<String>,
    /// `key=value` filters on a corpus.
    pub wheres: Vec<String>,
    /// Whether transcripts are taken whatever their labels say.
    pub all: bool,
    /// The line in the spec.
    pub line: usize,
}

/// A path, from the spec's folder.
#[derive(Clone, Debug)]
pub enum SourcePlace {
    /// A corpus.
    Corpus(String),
    /// A text file, or a folder of them.
    Text(String),
}

/// Transcripts of one make: a table of the spec, and what was made of it.
#[derive(Clone, Debug)]
pub(super) struct Item {
    table: ItemTable,
    pub(super) line: usize,
    pub(super) sources: Vec<usize>,
    /// Empty: those of the forms.
    pub(super) langs: Vec<String>,
    pub(super) repeats: Repeats,
    pub(super) faults: Option<Faults>,
}

/// How often something is repeated, and where.
#[derive(Clone, Debug)]
pub(super) struct Repeats {
    pub(super) period: Bounds,
    pub(super) copies: Bounds,
    /// Where the second copy begins, dealt in turn.
    pub(super) onsets: Vec<Bounds>,
    pub(super) after: Bounds,
    pub(super) class: Class,
}

/// Streams that are damaged.
#[derive(Clone, Debug)]
pub(super) struct Faults {
    pub(super) kinds: Vec<Fault>,
    pub(super) stream: StreamKind,
    pub(super) severity: Bounds,
    pub(super) intact: f64,
    /// Actions of the forms stand in answers of the sources; calls are those of their runs.
    pub(super) planted: bool,
}

impl Faults {
    /// Whether it damages runs of the sources.
    pub(super) fn is_of_runs(&self) -> bool {
        self.planted && self.stream == StreamKind::Calls
    }
}

impl Chunks {
    /// Whether they are those of the recording, with its times.
    pub(super) fn are_recorded(&self) -> bool {
        self.by.0 == Cut::Recorded
    }

    /// Whether they get times that nobody measured.
    pub(super) fn make_times(&self) -> bool {
        self.ms.is_some()
    }
}

impl CorpusSpec {
    /// Whether an item plants into the runs of a source.
    pub fn wants_runs(&self, source: usize) -> bool {
        let of_runs = |item: &Item| match item.kind.by {
            By::Run | By::Harmless(_) | By::Loop(_) => item.forms.is_none(),
            _ => item.faults.as_ref().is_some_and(Faults::is_of_runs),
        };
        self.wants(source, of_runs)
    }

    /// Whether an item takes recordings of a source as they are.
    pub fn wants_recordings(&self, source: usize) -> bool {
        self.wants(source, |item| item.kind.by == By::Recorded)
    }

    fn wants(&self, source: usize, of: impl Fn(&Item) -> bool) -> bool {
        let mut items = self.items.iter().filter(|item| of(item));
        items.any(|item| item.sources.contains(&source))
    }

    /// The names of the files of transcripts, without an ending.
    pub fn files(&self) -> BTreeSet<&str> {
        self.items.iter().map(Item::file).collect()
    }

    /// The units of a name in a language.
    pub(super) fn units<'a>(&'a self, name: &str, lang: &str) -> Option<&'a Unit> {
        let mut units = self.table.unit.iter().flatten();
        units.find(|unit| *unit.name == name && *unit.lang == lang)
    }

    /// The words of doubt of a name in a language; empty if no unit of words is glued on.
    pub(super) fn doubt(&self, glue: Option<&Text>, lang: &str) -> &[Text] {
        let unit = glue.and_then(|name| self.units(name, lang));
        unit.map_or(&[], |unit| &unit.texts)
    }

    pub(super) fn tools(&self) -> &[Tool] {
        self.table.tool.as_deref().unwrap_or_default()
    }

    /// Words that may stand for one another.
    pub(super) fn paraphrase(&self) -> &[Vec<Text>] {
        self.table
            .paraphrase
            .as_ref()
            .map_or(&[], |groups| &groups.0)
    }

    /// The share of split test.
    pub(super) fn test(&self) -> f64 {
        self.table.test.map_or(0.3, |test| test.0)
    }

    /// The model of texts that no model wrote.
    pub(super) fn model(&self) -> &str {
        self.table.model.as_ref().map_or("handmade", |model| model)
    }

    /// Whether the model of a made text is its writer's name and what was done to the text.
    pub(super) fn is_marked(&self) -> bool {
        self.table.writers != Some(Word(Writers::Kept))
    }
}

impl Deref for Item {
    type Target = ItemTable;

    fn deref(&self) -> &ItemTable {
        &self.table
    }
}

impl Item {
    /// The name of its file of transcripts, without an ending.
    pub(super) fn file(&self) -> &str {
        self.table.file.as_ref().map_or("synth", |file| file)
    }

    /// The id of its transcript at `at`.
    pub(super) fn id(&self, at: usize) -> String {
        format!("{}/{at:03}", self.table.name)
    }

    /// How many are wanted.
    pub(super) fn count(&self) -> usize {
        self.table.count.0 as usize
    }

    /// Whether it takes texts of a language: of any, where it names none.
    pub(super) fn speaks(&self, lang: &str) -> bool {
        self.langs.is_empty() || self.langs.iter().any(|own| own == lang)
    }

    /// Its channel in turn; `own` where it names none.
    pub(super) fn channel(&self, turn: usize, own: &'static str) -> &'static str {
        let all = self.table.channel.as_deref().unwrap_or_default();
        let channel = all.get(turn % all.len().max(1));
        channel.map_or(own, |channel| channel.name())
    }

    /// Where the second copy begins, in turn.
    pub(super) fn onset(&self, turn: usize) -> Bounds {
        self.repeats.onsets[turn % self.repeats.onsets.len()]
    }

    /// Copies that drift before the exact ones.
    pub(super) fn lead(&self) -> Bounds {
        ends(self.table.lead, 0, 0)
    }
}

impl Unit {
    /// What drift puts in place of `{}`.
    pub(super) fn fillers(&self) -> &[Text] {
        self.fillers.as_deref().unwrap_or_default()
    }
}
