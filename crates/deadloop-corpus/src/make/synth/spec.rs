//! [`CorpusSpec`]: what a corpus is to be made of. `parsing` reads it from TOML.

use std::collections::{BTreeMap, BTreeSet};

use deadloop_detect::Fault;
use serde_json::Value as Json;

use super::drift::Drift;
use super::fields::Bounds;
use super::runs::Wanted;
use crate::make::plant::PlantKind;

/// A corpus to be made.
#[derive(Clone, Debug)]
pub struct CorpusSpec {
    /// The name of the corpus.
    pub name: String,
    /// What every draw depends on.
    pub seed: u64,
    /// Where clean text comes from, in the order of the file.
    pub sources: Vec<CleanSource>,
    /// The files of hard negatives: name and path from the spec's folder.
    pub(super) forms: Vec<(String, String)>,
    pub(super) card: BTreeMap<&'static str, String>,
    pub(super) model: String,
    /// Whether the model of a made text is its writer's name and what was done to the text.
    pub(super) marked: bool,
    pub(super) test: f64,
    pub(super) paraphrase: Vec<Vec<String>>,
    pub(super) units: Vec<Unit>,
    pub(super) tools: Vec<Tool>,
    pub(super) items: Vec<Item>,
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

/// Texts that are repeated.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    pub(super) name: String,
    pub(super) lang: String,
    pub(super) texts: Vec<String>,
    pub(super) fillers: Vec<String>,
}

/// A tool that is called.
#[derive(Clone, Debug)]
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) arguments: BTreeMap<String, Vec<Json>>,
    pub(super) results: Vec<String>,
}

/// Transcripts of one make.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) name: String,
    /// The name of its file of transcripts, without an ending.
    pub(super) file: String,
    pub(super) count: usize,
    pub(super) line: usize,
    pub(super) sources: Vec<usize>,
    /// Empty: those of the forms.
    pub(super) langs: Vec<String>,
    /// Empty: what a form says, else the answer.
    pub(super) channels: Vec<String>,
    pub(super) chunks: Option<Chunks>,
    pub(super) what: What,
}

/// What is made.
#[derive(Clone, Debug)]
pub(super) enum What {
    Loop(Loop),
    Tools(ToolLoop),
    Negatives {
        forms: String,
        around: Bounds,
        /// Paragraphs in the other channel.
        aside: Bounds,
    },
    Clean {
        chars: Bounds,
        /// The name of the units whose texts stand as words of doubt before its statements.
        glue: Option<String>,
    },
    Faults(Faults),
    Run(Wanted),
    /// Recordings as they are.
    Recorded,
}

/// A loop in text.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    pub(super) kind: PlantKind,
    /// The name of the units; none: cut from clean text.
    pub(super) unit: Option<String>,
    pub(super) period: Bounds,
    pub(super) copies: Bounds,
    pub(super) length: Bounds,
    pub(super) onsets: Vec<Bounds>,
    pub(super) after: Bounds,
    pub(super) transient: bool,
    pub(super) truncate: bool,
    pub(super) drift: Option<Drift>,
    pub(super) lead: Bounds,
    pub(super) nested: Option<Bounds>,
    pub(super) false_starts: Bounds,
}

/// A loop of tool calls.
#[derive(Clone, Debug)]
pub(super) struct ToolLoop {
    pub(super) cycle: bool,
    pub(super) tools: Vec<String>,
    pub(super) period: Bounds,
    pub(super) copies: Bounds,
    pub(super) onsets: Vec<Bounds>,
    pub(super) after: Bounds,
    pub(super) transient: bool,
}

/// Streams that are damaged.
#[derive(Clone, Debug)]
pub(super) struct Faults {
    pub(super) kinds: Vec<Fault>,
    pub(super) stream: String,
    pub(super) severity: Bounds,
    pub(super) intact: f64,
    /// None: the transcripts of the sources.
    pub(super) forms: Option<String>,
    /// Actions of the forms stand in answers of the sources; calls are those of their runs.
    pub(super) planted: bool,
}

impl Faults {
    /// Whether it damages runs of the sources.
    pub(super) fn is_of_runs(&self) -> bool {
        self.planted && self.stream == "calls"
    }
}

/// How text is cut into events.
#[derive(Clone, Copy, Debug)]
pub(super) enum Chunks {
    /// Into pieces that are drawn.
    Made {
        tokens: bool,
        size: Bounds,
        ms: Option<Bounds>,
    },
    /// As the recording has them, with its times.
    Recorded,
}

impl Chunks {
    /// Whether they get times that nobody measured.
    pub(super) fn makes_times(self) -> bool {
        matches!(self, Self::Made { ms: Some(_), .. })
    }
}

impl CorpusSpec {
    /// Whether an item plants into the runs of a source.
    pub fn wants_runs(&self, source: usize) -> bool {
        let of_runs = |item: &&Item| match &item.what {
            What::Run(wanted) => wanted.forms.is_none(),
            What::Faults(faults) => faults.is_of_runs(),
            _ => false,
        };
        self.items
            .iter()
            .filter(of_runs)
            .any(|item| item.sources.contains(&source))
    }

    /// The names of the files of transcripts, without an ending.
    pub fn files(&self) -> BTreeSet<&str> {
        self.items.iter().map(|item| item.file.as_str()).collect()
    }

    /// The units of a name in a language.
    pub(super) fn units<'a>(&'a self, name: &str, lang: &str) -> Option<&'a Unit> {
        self.units.iter().find(|unit| unit.is(name, lang))
    }
}

impl Unit {
    pub(super) fn is(&self, name: &str, lang: &str) -> bool {
        self.name == name && self.lang == lang
    }
}
