//! Registry entries of formats, the trait of readers, and the transcript collector.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::losses::Losses;
use super::options::ImportOptions;
use crate::formats::columns::Columns;
use crate::formats::table::TableReader;
use crate::sessions::log::{LogFormat, LogReader};
use crate::source::head::{FormatCertainty, SourceHead};
use crate::source::records::{FileShape, SourceRecord};
use deadloop_corpus::option::RunOption;
use deadloop_corpus::{
    Body, Corpus, Entry, MAX_T_MS, MAX_TOKENS, Place, Problem, RecordedEvent, ThinkOptions,
    Transcript,
};
use deadloop_stream::fields::{self, Object};
use deadloop_stream::think::split_whole;
use deadloop_stream::wire::WireFault;

/// A foreign format.
pub(crate) struct ForeignFormat {
    /// The name for `--from`.
    pub(crate) name: &'static str,
    /// The help on one line: the program and the kind of recording.
    pub(crate) help: &'static str,
    /// The reader, with the rule that recognizes its files.
    pub(crate) by: FormatReader,
    /// The shape of its files. `None` to recognize the shape. Text is then read as lines.
    pub(crate) shape: Option<FileShape>,
    /// Whether the files of a folder, one record each, are one recording with one reader.
    pub(crate) whole_folder: bool,
}

/// The recognition and the reading of a format.
pub(crate) enum FormatReader {
    /// Functions of the format: the certainty that a file with this beginning has the format, and the constructor of
    /// a reader for a file or folder.
    Code {
        knows: fn(&SourceHead) -> FormatCertainty,
        reader: fn() -> Box<dyn RecordReader>,
    },
    /// The rows of a TOML file.
    Rows(Box<LogFormat>),
    /// The columns of a TOML file.
    Columns(Box<Columns>),
}

impl ForeignFormat {
    /// Returns the format that the text of a TOML file describes.
    ///
    /// # Errors
    /// The text is not TOML, or has an unknown key. The errors of [`LogFormat::parse`], if it has no columns.
    pub(crate) fn of_rows(name: &'static str, text: &str) -> Result<Self, String> {
        let keys: toml::Table = toml::from_str(text).map_err(|e| e.to_string())?;
        let (help, by) = if keys.contains_key("text") {
            let columns: Columns = toml::from_str(text).map_err(|e| e.to_string())?;
            (
                columns.help.clone(),
                FormatReader::Columns(Box::new(columns)),
            )
        } else {
            let log = LogFormat::parse(text)?;
            (log.help.clone(), FormatReader::Rows(Box::new(log)))
        };
        Ok(Self {
            name,
            help: help.leak(),
            by,
            shape: None,
            whole_folder: false,
        })
    }

    /// Returns the certainty that a file with this beginning has the format.
    pub(crate) fn knows(&self, head: &SourceHead) -> FormatCertainty {
        match &self.by {
            FormatReader::Code { knows, .. } => knows(head),
            FormatReader::Rows(log) => log.knows(head),
            FormatReader::Columns(columns) => columns.knows(head),
        }
    }

    /// Creates a reader for a file or folder.
    pub(crate) fn reader(&'static self) -> Box<dyn RecordReader> {
        match &self.by {
            FormatReader::Code { reader, .. } => reader(),
            FormatReader::Rows(log) => Box::new(LogReader::new(log)),
            FormatReader::Columns(columns) => Box::new(TableReader::new(columns)),
        }
    }
}

/// Defines the registry entry of a format that is certain if `$known` recognizes one of the first objects:
/// `known_entry! { Reader = known, "name", "help"; }`.
macro_rules! known_entry {
    ($reader:ident = $known:ident, $name:literal, $help:literal;) => {
        $crate::reader::head_entry! {
            ENTRY: $reader = |head| head.any($known), None, $name, $help;
        }
    };
}
pub(crate) use known_entry;

/// Defines the registry entry of a format that is certain by its whole beginning, with the shape of its files:
/// `head_entry! { ENTRY: Reader = |head| …, None, "name", "help"; }`.
macro_rules! head_entry {
    ($entry:ident: $reader:ident = |$head:ident| $known:expr, $shape:expr, $name:literal, $help:literal;) => {
        pub(crate) const $entry: $crate::reader::ForeignFormat = $crate::reader::ForeignFormat {
            name: $name,
            help: $help,
            by: $crate::reader::FormatReader::Code {
                knows: |$head| $crate::source::head::FormatCertainty::Certain.when($known),
                reader: || Box::<$reader>::default(),
            },
            shape: $shape,
            whole_folder: false,
        };
    };
}
pub(crate) use head_entry;

/// A reader that makes transcripts from the records of one file or folder.
pub(crate) trait RecordReader: Send {
    /// Reads the next record. Unmapped fields go to [`Intake::losses`].
    ///
    /// # Errors
    /// The record cannot be used. Reading continues with the next one.
    fn take(&mut self, record: SourceRecord, out: &mut Intake) -> Result<(), WireFault>;

    /// Records a gap in all open responses, after a record that could not be used.
    fn gap(&mut self) {}

    /// Ends all open responses after the last record.
    fn end(&mut self, _out: &mut Intake) {}
}

/// The maximum number of stored warnings. Further ones are only counted.
const NAMED: usize = 100;

/// A collector of a reader's transcripts, losses and warnings.
#[derive(Default)]
pub(crate) struct Intake {
    /// The caller's options.
    pub(crate) options: ImportOptions,
    /// The unmapped fields.
    pub(crate) losses: Losses,
    pub(super) warnings: Vec<Problem>,
    pub(super) warned: u64,
    pub(super) found: Vec<Entry>,
    /// Number of files of each format.
    pub(super) formats: BTreeMap<&'static str, u64>,
    /// The corpus of the file.
    corpus: Option<Arc<Corpus>>,
    stem: String,
    number: u64,
    /// Records of the file that were passed over, by kind.
    pub(super) passed: BTreeMap<String, u64>,
    /// Whether the current record was passed over.
    pub(super) passes: bool,
    /// Number of records of the file that were passed over or had no text.
    pub(super) passed_records: u64,
    /// Number of transcripts without text since transcripts were last collected.
    pub(super) empty: u64,
    /// A reader's problem with a file in which it found nothing.
    pub(crate) nothing: Option<WireFault>,
    /// The guesses on the columns of the file.
    pub(super) guessed: ColumnGuesses,
}

/// Guesses on the columns of a table, as the options that would set them.
pub(crate) type ColumnGuesses = BTreeMap<RunOption, String>;

impl Intake {
    pub(super) fn new(options: ImportOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    /// Begins a new file or folder, whose transcripts are named after `stem`.
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

    /// Passes over a record without output of a model and without data on a run.
    ///
    /// It is counted separately, and as a loss under this name.
    pub(crate) fn pass(&mut self, what: &str) {
        self.losses.add(what);
        self.passes = true;
        if self.passed.len() < NAMED || self.passed.contains_key(what) {
            *self.passed.entry(what.to_owned()).or_default() += 1;
        }
    }

    /// Records a guess on a column, as an option.
    pub(crate) fn guess(&mut self, option: RunOption, column: &str) {
        if !self.guessed.contains_key(&option) {
            self.guessed.insert(option, column.to_owned());
        }
    }

    /// Returns the name of the file, without the common folders and the extension.
    pub(crate) fn stem(&self) -> &str {
        &self.stem
    }

    /// Returns the options for splitting the text of a model: the caller's, otherwise the corpus's.
    pub(crate) fn think(&self, model: &str) -> ThinkOptions {
        let asked = self.options.think != ThinkOptions::default();
        let corpus = self.corpus.as_ref().filter(|_| !asked);
        corpus.map_or_else(|| self.options.think.clone(), |corpus| corpus.think(model))
    }

    /// Splits a text of a model into thinking and answer.
    pub(crate) fn split_thinking<T: Into<String>>(
        &self,
        text: T,
    ) -> impl Iterator<Item = Body> + use<T> {
        let pieces = split_whole(text.into(), self.options.think.clone());
        pieces.into_iter().map(|(side, text)| side.body(text))
    }

    /// Adds a finished transcript.
    ///
    /// Without an id it is named after its file and numbered. Without a model it gets the caller's. Times and tokens
    /// that no corpus may hold are dropped. The split is that of the imported corpus.
    pub(crate) fn emit(&mut self, mut entry: Entry) {
        self.number += 1;
        // Transcripts of a corpus are kept as they are.
        let kept = self.corpus.is_some() || self.losses.is_of("deadloop");
        if !kept && !has_content(&entry.transcript) {
            self.losses.add("(an output without text)");
            self.empty += 1;
            return;
        }
        values(&mut entry).for_each(flatten);
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
        // In a corpus `*` stands for all models.
        if ["", "*"].contains(&transcript.model.as_str()) {
            let model = self.options.model.as_deref();
            transcript.model = model.unwrap_or("unknown").to_owned();
        }
        // A single transcript may contain its split; a corpus has a file of splits.
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

    /// Adds a warning about a record that is still used.
    pub(crate) fn warn(&mut self, place: &Place, what: &str, expected: &str) {
        self.warned += 1;
        if self.warnings.len() < NAMED {
            let problem = Problem::new(place.clone(), what, expected);
            self.warnings.push(problem);
        }
    }
}

/// Returns whether a transcript has text or a call of the model, or a result of a tool.
fn has_content(transcript: &Transcript) -> bool {
    transcript.events.iter().any(|event| match &event.body {
        Body::Reasoning(text) | Body::Answer(text) => !text.is_empty(),
        Body::ToolCall { .. } | Body::ToolResult { .. } => true,
        _ => false,
    })
}

/// Iterates over the values of any shape.
fn values(entry: &mut Entry) -> impl Iterator<Item = &mut Value> {
    let transcript = &mut entry.transcript;
    let events = transcript.events.iter_mut().flat_map(|event| {
        let arguments = match &mut event.body {
            Body::ToolCall { arguments, .. } => Some(arguments),
            _ => None,
        };
        arguments.into_iter().chain(event.rest.values_mut())
    });
    let meta = transcript.meta.values_mut();
    let rest = entry.rest.values_mut().chain(&mut entry.labels);
    events.chain(meta).chain(rest)
}

/// The maximum nesting of lists and objects in a value.
///
/// A line of a corpus has some around it, and JSON with more than 127 is not read.
const DEEPEST: usize = 120;

/// Replaces a value with too much nesting by its JSON text.
fn flatten(value: &mut Value) {
    if is_deeper(value, DEEPEST) {
        *value = Value::String(value.to_string());
    }
}

fn is_deeper(value: &Value, than: usize) -> bool {
    match (value, than.checked_sub(1)) {
        (Value::Array(_) | Value::Object(_), None) => true,
        (Value::Array(items), Some(than)) => items.iter().any(|item| is_deeper(item, than)),
        (Value::Object(fields), Some(than)) => fields.values().any(|item| is_deeper(item, than)),
        _ => false,
    }
}

/// Creates a transcript without id and model, which [`Intake::emit`] sets.
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

/// Adds a value that is not null to a transcript's `meta`.
pub(crate) fn keep(meta: &mut Map<String, Value>, name: &str, value: Option<Value>) {
    if let Some(value) = value.filter(|value| !value.is_null()) {
        meta.insert(name.to_owned(), value);
    }
}

/// Moves a field of an object to a transcript's `meta`, as [`keep`] does.
pub(crate) fn keep_field(meta: &mut Object, name: &str, object: &mut Object, field: &str) {
    keep(meta, name, fields::any(object, field));
}
