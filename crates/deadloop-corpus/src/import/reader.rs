//! The registry entry of a format, the trait of its reader, and the collector of transcripts.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::cut::{Record, Shape};
use super::head::{Certainty, Head};
use super::losses::Losses;
use super::options::ImportOptions;
use crate::think::split_whole;
use crate::transcript::wire::WireFault;
use crate::{
    Body, Corpus, Entry, MAX_T_MS, MAX_TOKENS, Place, Problem, RecordedEvent, ThinkOptions,
    Transcript,
};
use deadloop_stream::take::{self, Object};

/// A foreign format.
pub(crate) struct Foreign {
    /// What `--from` calls it.
    pub(crate) name: &'static str,
    /// One line of help: who writes it, and what.
    pub(crate) help: &'static str,
    /// How certain it is that a file that begins so is its own.
    pub(crate) knows: fn(&Head) -> Certainty,
    /// How its files are cut; none: as their content says, and what looks like text as lines.
    pub(crate) shape: Option<Shape>,
    /// Whether files of a folder with one record each are one recording, and have one reader.
    pub(crate) whole_folder: bool,
    /// A reader for a file (or folder).
    pub(crate) reader: fn() -> Box<dyn Reader>,
}

/// The registry entries of formats that are rows of one reader: `ENTRY = ROW, "name", "help";`.
macro_rules! entries {
    ($reader:ident; $($entry:ident = $row:ident, $name:literal, $help:literal;)*) => {$(
        pub(crate) const $entry: $crate::import::reader::Foreign = $crate::import::reader::Foreign {
            name: $name,
            help: $help,
            knows: |head| $row.knows(head),
            shape: None,
            whole_folder: false,
            reader: || Box::new($reader::of(&$row)),
        };
    )*};
}
pub(crate) use entries;

/// The registry entry of a format that is certain where `$known` knows one of the first objects:
/// `known_entry! { Reader = known, "name", "help"; }`.
macro_rules! known_entry {
    ($reader:ident = $known:ident, $name:literal, $help:literal;) => {
        $crate::import::reader::head_entry! {
            ENTRY: $reader = |head| head.any($known), None, $name, $help;
        }
    };
}
pub(crate) use known_entry;

/// The same where its whole beginning tells it, with the shape of its files:
/// `head_entry! { ENTRY: Reader = |head| …, None, "name", "help"; }`.
macro_rules! head_entry {
    ($entry:ident: $reader:ident = |$head:ident| $known:expr, $shape:expr, $name:literal, $help:literal;) => {
        pub(crate) const $entry: $crate::import::reader::Foreign =
            $crate::import::reader::Foreign {
                name: $name,
                help: $help,
                knows: |$head| $crate::import::head::Certainty::Certain.when($known),
                shape: $shape,
                whole_folder: false,
                reader: || Box::<$reader>::default(),
            };
    };
}
pub(crate) use head_entry;

/// Makes transcripts of the records of one file (or folder).
pub(crate) trait Reader: Send {
    /// The next record. What it does not map it names in [`Out::losses`].
    ///
    /// # Errors
    /// The record cannot be used; reading goes on with the next.
    fn take(&mut self, record: Record, out: &mut Out) -> Result<(), WireFault>;

    /// A record could not be used: what is open has a gap.
    fn gap(&mut self) {}

    /// There are no more records: what is open ends.
    fn end(&mut self, _out: &mut Out) {}
}

/// Most warnings that are kept with their places; further ones are only counted.
const NAMED: usize = 100;

/// Collects a reader's transcripts and what is to be reported of them.
#[derive(Default)]
pub(crate) struct Out {
    /// What the caller asks for.
    pub(crate) options: ImportOptions,
    /// What was left out.
    pub(crate) losses: Losses,
    pub(super) warnings: Vec<Problem>,
    pub(super) warned: u64,
    pub(super) found: Vec<Entry>,
    /// How many files of each format there were.
    pub(super) formats: BTreeMap<&'static str, u64>,
    /// The corpus that the file is a part of.
    corpus: Option<Arc<Corpus>>,
    stem: String,
    number: u64,
    /// Records of the file that were passed over, by what they are.
    pub(super) passed: BTreeMap<String, u64>,
    /// Whether the record that is being read was.
    pub(super) passes: bool,
    /// Records of the file that were passed over or had no text.
    pub(super) passed_records: u64,
    /// Transcripts without text that were found since the last were moved on.
    pub(super) empty: u64,
    /// What a reader has to say of a file in which it found nothing.
    pub(crate) nothing: Option<WireFault>,
    /// What was guessed of the columns of the file.
    pub(super) guessed: Guess,
}

/// Options that would say what was guessed of the columns of a table.
pub(crate) type Guess = BTreeMap<&'static str, String>;

impl Out {
    pub(super) fn new(options: ImportOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    /// A new file (or folder), whose transcripts are called after `stem`.
    pub(super) fn begin(
        &mut self,
        format: &'static str,
        stem: String,
        corpus: Option<Arc<Corpus>>,
    ) {
        self.losses.begin(format);
        self.corpus = corpus;
        self.stem = stem;
        self.number = 0;
        self.passed.clear();
        self.passed_records = 0;
        self.nothing = None;
        self.guessed.clear();
    }

    /// The record holds nothing of a model, and nothing of a run that another record has: it is
    /// counted apart, and as left out under this name.
    pub(crate) fn pass(&mut self, what: &str) {
        self.losses.add(what);
        self.passes = true;
        if self.passed.len() < NAMED || self.passed.contains_key(what) {
            *self.passed.entry(what.to_owned()).or_default() += 1;
        }
    }

    /// An option says what was guessed of the columns.
    pub(crate) fn guess(&mut self, option: &'static str, column: &str) {
        if !self.guessed.contains_key(option) {
            self.guessed.insert(option, column.to_owned());
        }
    }

    /// The name of the file, without folders that all have in common and without its ending.
    pub(crate) fn stem(&self) -> &str {
        &self.stem
    }

    /// How the text of a model is split: as was asked for, or else as its corpus says.
    pub(crate) fn think(&self, model: &str) -> ThinkOptions {
        let asked = self.options.think != ThinkOptions::default();
        let corpus = self.corpus.as_ref().filter(|_| !asked);
        corpus.map_or_else(|| self.options.think.clone(), |corpus| corpus.think(model))
    }

    /// A text of a model: what was thought in it, and what was said.
    pub(crate) fn said<T: Into<String>>(&self, text: T) -> impl Iterator<Item = Body> + use<T> {
        let pieces = split_whole(text.into(), self.options.think.clone());
        pieces.into_iter().map(|(side, text)| side.body(text))
    }

    /// A transcript is whole. Where it has no id it is called after its file and numbered; where it
    /// has no model it gets the one that was asked for. Times and tokens that no corpus may hold are left out. Its split
    /// is that of its corpus.
    pub(crate) fn emit(&mut self, mut entry: Entry) {
        self.number += 1;
        // What a corpus holds is taken as it is.
        let kept = self.corpus.is_some() || self.losses.is_of("deadloop");
        if !kept && !says(&entry.transcript) {
            self.losses.add("(an output without text)");
            self.empty += 1;
            return;
        }
        entry.values().for_each(flatten);
        let transcript = &mut entry.transcript;
        for event in &mut transcript.events {
            if event.t_ms.take_if(|t| t.abs() > MAX_T_MS).is_some() {
                self.losses.add("times beyond 1e13 ms");
            }
            if event.tokens.take_if(|n| *n > MAX_TOKENS).is_some() {
                self.losses.add("counts of tokens beyond 1e12");
            }
        }
        if transcript.id.is_empty() {
            transcript.id = format!("{}/{}", self.stem, self.number);
        } else if self.options.prefix_ids && self.corpus.is_none() {
            transcript.id = format!("{}/{}", self.stem, transcript.id);
        }
        // In a corpus `*` would be all models together.
        if ["", "*"].contains(&transcript.model.as_str()) {
            let model = self.options.model.as_deref();
            transcript.model = model.unwrap_or("unknown").to_owned();
        }
        // Alone a transcript may say its split itself; in a corpus its file of splits does.
        entry.split = match &self.corpus {
            Some(corpus) => corpus.split(&transcript.id).map(str::to_owned),
            None if entry.rest.get("split").is_some_and(Value::is_string) => {
                let split = entry.rest.shift_remove("split");
                split.and_then(|split| Some(split.as_str()?.to_owned()))
            }
            None => None,
        };
        self.found.push(entry);
    }

    /// Something that is used all the same, and worth knowing.
    pub(crate) fn warn(&mut self, place: &Place, what: &str, expected: &str) {
        self.warned += 1;
        if self.warnings.len() < NAMED {
            let problem = Problem::new(place.clone(), what, expected);
            self.warnings.push(problem);
        }
    }
}

/// Whether a model said, thought or called something in it, or a tool gave something back.
fn says(transcript: &Transcript) -> bool {
    transcript.events.iter().any(|event| match &event.body {
        Body::Reasoning(text) | Body::Answer(text) => !text.is_empty(),
        Body::ToolCall { .. } | Body::ToolResult { .. } => true,
        _ => false,
    })
}

impl Entry {
    /// The values of any shape in it.
    fn values(&mut self) -> impl Iterator<Item = &mut Value> {
        let transcript = &mut self.transcript;
        let events = transcript.events.iter_mut().flat_map(|event| {
            let arguments = match &mut event.body {
                Body::ToolCall { arguments, .. } => Some(arguments),
                _ => None,
            };
            arguments.into_iter().chain(event.rest.values_mut())
        });
        let meta = transcript.meta.values_mut();
        let rest = self.rest.values_mut().chain(&mut self.labels);
        events.chain(meta).chain(rest)
    }
}

/// Lists and objects in each other that a value may be made of: a line of a corpus has some around
/// it, and JSON of more than 127 is not read.
const DEEPEST: usize = 120;

/// Keeps a value that a corpus could not hold as its JSON text.
fn flatten(value: &mut Value) {
    if deeper(value, DEEPEST) {
        *value = Value::String(value.to_string());
    }
}

fn deeper(value: &Value, than: usize) -> bool {
    match (value, than.checked_sub(1)) {
        (Value::Array(_) | Value::Object(_), None) => true,
        (Value::Array(items), Some(than)) => items.iter().any(|item| deeper(item, than)),
        (Value::Object(fields), Some(than)) => fields.values().any(|item| deeper(item, than)),
        _ => false,
    }
}

/// A transcript to be filled; empty id and model are set by [`Out::emit`].
pub(crate) fn entry(place: Place, events: Vec<RecordedEvent>) -> Entry {
    Entry {
        transcript: Transcript {
            events,
            ..Transcript::default()
        },
        labels: None,
        rest: Map::new(),
        split: None,
        place,
    }
}

/// Keeps a value in a transcript's `meta` where there is one to keep.
pub(crate) fn keep(meta: &mut Map<String, Value>, name: &str, value: Option<Value>) {
    if let Some(value) = value.filter(|value| !value.is_null()) {
        meta.insert(name.to_owned(), value);
    }
}

/// Keeps a field of an object, as [`keep`].
pub(crate) fn keep_field(meta: &mut Object, name: &str, object: &mut Object, field: &str) {
    keep(meta, name, take::any(object, field));
}
