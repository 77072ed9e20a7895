//! [`ForeignFormat`]: the registry entry of a format; [`RecordReader`]: its reader; [`Intake`]: the made transcripts.

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
    /// The recognition of its files, and its reader.
    pub(crate) by: FormatReader,
    /// The shape of its files. `None` to recognize the shape of each file, with text read as lines.
    pub(crate) shape: Option<FileShape>,
    /// Whether the files of a folder, one record each, are one recording with one reader.
    pub(crate) whole_folder: bool,
}

/// The recognition and the reading of a format.
pub(crate) enum FormatReader {
    /// Functions of the format: the certainty that a file with this beginning has the format, and the constructor of
    /// a reader for a file or folder.
    Code {
        certainty: fn(&SourceHead) -> FormatCertainty,
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
            let mut columns: Columns = toml::from_str(text).map_err(|e| e.to_string())?;
            let help = std::mem::take(&mut columns.help);
            (help, FormatReader::Columns(Box::new(columns)))
        } else {
            let mut log = LogFormat::parse(text)?;
            let help = std::mem::take(&mut log.help);
            (help, FormatReader::Rows(Box::new(log)))
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
    pub(crate) fn certainty(&self, head: &SourceHead) -> FormatCertainty {
        match &self.by {
            FormatReader::Code { certainty, .. } => certainty(head),
            FormatReader::Rows(log) => log.certainty(head),
            FormatReader::Columns(columns) => columns.certainty(head),
        }
    }

    /// Creates a reader for a file or folder.
    pub(crate) fn create_reader(&'static self) -> Box<dyn RecordReader> {
        match &self.by {
            FormatReader::Code { reader, .. } => reader(),
            FormatReader::Rows(log) => Box::new(LogReader::new(log)),
            FormatReader::Columns(columns) => Box::new(TableReader::new(columns)),
        }
    }
}

/// Defines the registry entry of a format whose files are certain if `$known` recognizes one of their first objects:
/// `known_entry! { Reader = known, "name", "help"; }`, or `@read` for a function in place of a reader.
macro_rules! known_entry {
    ($(@$read:ident)? $($reader:ident)? = $known:ident, $name:literal, $help:literal;) => {
        $crate::reader::head_entry! {
            ENTRY: $(@$read)? $($reader)? = |head| head.any($known), None, $name, $help;
        }
    };
}
pub(crate) use known_entry;

/// Defines the registry entry of a format whose files are certain if `$known` recognizes their beginning, with their shape:
/// `head_entry! { ENTRY: Reader = |head| …, None, "name", "help"; }`.
macro_rules! head_entry {
    ($entry:ident: $(@$read:ident)? $($reader:ident)? = |$head:ident| $known:expr, $shape:expr, $name:literal, $help:literal;) => {
        pub(crate) const $entry: $crate::reader::ForeignFormat = $crate::reader::ForeignFormat {
            name: $name,
            help: $help,
            by: $crate::reader::FormatReader::Code {
                certainty: |$head| $crate::source::head::FormatCertainty::Certain.only_if($known),
                reader: || $(Box::new($read as $crate::reader::RecordFunction))? $(Box::<$reader>::default())?,
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

/// A reader that keeps nothing from one record to the next.
pub(crate) type RecordFunction = fn(SourceRecord, &mut Intake) -> Result<(), WireFault>;

impl RecordReader for RecordFunction {
    fn take(&mut self, record: SourceRecord, out: &mut Intake) -> Result<(), WireFault> {
        self(record, out)
    }
}

/// The maximum number of stored warnings, and of stored kinds of records that are passed over.
const MAX_WARNINGS: usize = 100;

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
    /// The number of files of each format.
    pub(super) formats: BTreeMap<&'static str, u64>,
    /// The corpus of the file.
    corpus: Option<Arc<Corpus>>,
    stem: String,
    number: u64,
    /// The number of records of the file that were passed over, by kind.
    pub(super) passed: BTreeMap<String, u64>,
    /// Whether the current record was passed over.
    pub(super) passes: bool,
    /// The number of records of the file that were passed over or had no text.
    pub(super) passed_records: u64,
    /// The number of transcripts without text since transcripts were last collected.
    pub(super) empty: u64,
    /// The problem of a file in which the reader found no transcript.
    pub(crate) no_output: Option<WireFault>,
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
        self.no_output = None;
        self.guessed.clear();
    }

    /// Passes over a record without output of a model and without data on a run. The record counts as a loss of this
    /// name, and as passed over.
    pub(crate) fn pass(&mut self, what: &str) {
        self.losses.add(what);
        self.passes = true;
        if self.passed.len() < MAX_WARNINGS || self.passed.contains_key(what) {
            *self.passed.entry(what.to_owned()).or_default() += 1;
        }
    }

    /// Records a guess on the column of an option.
    pub(crate) fn guess(&mut self, option: RunOption, column: &str) {
        let column = || column.to_owned();
        self.guessed.entry(option).or_insert_with(column);
    }

    /// Returns the name of the file, without the common folders and the extension.
    pub(crate) fn stem(&self) -> &str {
        &self.stem
    }

    /// Returns the options for splitting the text of a model: those of the caller, or those of the corpus.
    pub(crate) fn think_options(&self, model: &str) -> ThinkOptions {
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
    /// A transcript without an id gets the name of its file and a number. One without a model gets the caller's model.
    /// Times and tokens beyond the limits of a corpus are dropped. The split comes from the imported corpus.
    pub(crate) fn emit(&mut self, mut entry: Entry) {
        self.number += 1;
        // Transcripts of a corpus are kept as they are.
        let kept = self.corpus.is_some() || self.losses.is_of("deadloop");
        if !kept && !has_content(&entry.transcript) {
            self.losses.add("(an output without text)");
            self.empty += 1;
            return;
        }
        free_values(&mut entry).for_each(flatten);
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
            None => entry
                .rest
                .get("split")
                .and_then(Value::as_str)
                .map(str::to_owned),
        };
        if self.corpus.is_none() && entry.split.is_some() {
            entry.rest.shift_remove("split");
        }
        self.found.push(entry);
    }

    /// Adds a warning about a record that is still used.
    pub(crate) fn warn(&mut self, place: &Place, what: &str, expected: &str) {
        self.warned += 1;
        if self.warnings.len() < MAX_WARNINGS {
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

/// Iterates over the values whose shape a corpus does not prescribe.
fn free_values(entry: &mut Entry) -> impl Iterator<Item = &mut Value> {
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
/// The line of a corpus adds a few levels, and no JSON with more than 127 is read.
const MAX_NESTING: usize = 120;

/// Replaces a value with too much nesting by its JSON text.
fn flatten(value: &mut Value) {
    if is_deeper(value, MAX_NESTING) {
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
pub(crate) fn new_entry(place: Place, events: Vec<RecordedEvent>) -> Entry {
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
