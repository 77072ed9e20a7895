//! [`ForeignFormat`]: a format's registry entry. [`RecordReader`]: its reader. [`Output`]: the results.

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
use deadloop_stream::fields::{Object, ReadFields};
use deadloop_stream::think::split_owned;
use deadloop_stream::wire::{WireFault, WireResult};

/// A recording format in the registry.
pub(crate) struct ForeignFormat {
    /// Name for `--from`.
    pub(crate) name: &'static str,
    /// Help text on one line: the program and the kind of recording.
    pub(crate) help: &'static str,
    /// Recognition and reading of the format.
    pub(crate) format_reader: FormatReader,
    /// Shape of the files. `None` to recognize the shape of each file, where plain text is read as lines.
    pub(crate) shape: Option<FileShape>,
    /// Whether a folder with one record per file is a single recording with one reader.
    pub(crate) whole_folder: bool,
}

/// Recognition and reading of a format.
pub(crate) enum FormatReader {
    /// A format that is recognized and read by Rust code.
    Code {
        /// Rates how certainly a file with this head has the format.
        certainty: fn(&SourceHead) -> FormatCertainty,
        /// Creates a reader for a file or folder.
        reader: fn() -> Box<dyn RecordReader>,
    },
    /// A log format with rules, from a TOML file.
    Rows(Box<LogFormat>),
    /// A table format with fixed columns, from a TOML file.
    Columns(Box<Columns>),
}

impl ForeignFormat {
    /// Parses a format from the text of a TOML file.
    ///
    /// # Errors
    /// The text is not TOML, or has an unknown key. Without columns, also the errors of [`LogFormat::parse`].
    pub(crate) fn from_toml(name: &'static str, text: &str) -> Result<Self, String> {
        let keys: toml::Table = toml::from_str(text).map_err(|e| e.to_string())?;
        let (help, format_reader) = if keys.contains_key("text") {
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
            format_reader,
            shape: None,
            whole_folder: false,
        })
    }

    /// Rates how certainly a file with this head has the format.
    pub(crate) fn certainty(&self, head: &SourceHead) -> FormatCertainty {
        match &self.format_reader {
            FormatReader::Code { certainty, .. } => certainty(head),
            FormatReader::Rows(log) => log.certainty(head),
            FormatReader::Columns(columns) => columns.certainty(head),
        }
    }

    /// Creates a reader for a file or folder.
    pub(crate) fn create_reader(&'static self) -> Box<dyn RecordReader> {
        match &self.format_reader {
            FormatReader::Code { reader, .. } => reader(),
            FormatReader::Rows(log) => Box::new(LogReader::new(log)),
            FormatReader::Columns(columns) => Box::new(TableReader::new(columns)),
        }
    }
}

/// Defines the registry entry of a format that `$known` recognizes by an object.
///
/// Usage: `known_entry! { Reader = known, "name", "help"; }`, with `@read` for a [`RecordFunction`] instead of a reader.
/// A file certainly has the format if `$known` returns true for one of its first objects.
macro_rules! known_entry {
    ($(@$read:ident)? $($reader:ident)? = $known:ident, $name:literal, $help:literal;) => {
        $crate::reader::head_entry! {
            ENTRY: $(@$read)? $($reader)? = |head| head.any_object($known), None, $name, $help;
        }
    };
}
pub(crate) use known_entry;

/// Defines the registry entry of a format that `$known` recognizes by the [`SourceHead`], with the shape of its files.
///
/// Usage: `head_entry! { ENTRY: Reader = |head| …, None, "name", "help"; }`.
macro_rules! head_entry {
    ($entry:ident: $(@$read:ident)? $($reader:ident)? = |$head:ident| $known:expr, $shape:expr, $name:literal, $help:literal;) => {
        pub(crate) const $entry: $crate::reader::ForeignFormat = $crate::reader::ForeignFormat {
            name: $name,
            help: $help,
            format_reader: $crate::reader::FormatReader::Code {
                certainty: |$head| $crate::source::head::FormatCertainty::Certain.only_if($known),
                reader: || $(Box::new($read as $crate::reader::RecordFunction))? $(Box::<$reader>::default())?,
            },
            shape: $shape,
            whole_folder: false,
        };
    };
}
pub(crate) use head_entry;

/// A reader that builds transcripts from the records of one file or folder.
pub(crate) trait RecordReader: Send {
    /// Reads the next record. Unmapped fields are added to [`Output::losses`].
    ///
    /// # Errors
    /// The record cannot be used. Reading continues with the next record.
    fn take_record(&mut self, record: SourceRecord, out: &mut Output) -> WireResult;

    /// Records a gap in all open responses, after a record that could not be read.
    fn record_gap(&mut self) {}

    /// Finishes all open responses after the last record.
    fn finish(&mut self, _out: &mut Output) {}
}

/// A stateless [`RecordReader`].
pub(crate) type RecordFunction = fn(SourceRecord, &mut Output) -> WireResult;

impl RecordReader for RecordFunction {
    fn take_record(&mut self, record: SourceRecord, out: &mut Output) -> WireResult {
        self(record, out)
    }
}

/// The maximum number of stored warnings, and of stored kinds of skipped records.
const MAX_WARNINGS: usize = 100;

/// The output of a [`RecordReader`]: transcripts, losses and warnings, with the options of the import.
#[derive(Default)]
pub(crate) struct Output {
    /// Options of the caller.
    pub(crate) options: ImportOptions,
    /// Counts of unmapped fields.
    pub(crate) losses: Losses,
    pub(super) warnings: Vec<Problem>,
    pub(super) warning_count: u64,
    pub(super) entries: Vec<Entry>,
    /// Number of files of each format.
    pub(super) formats: BTreeMap<&'static str, u64>,
    /// Corpus that contains the file.
    corpus: Option<Arc<Corpus>>,
    stem: String,
    entry_count: u64,
    /// Number of skipped records of the file, by kind.
    pub(super) skipped_kinds: BTreeMap<String, u64>,
    /// Whether the current record was skipped.
    pub(super) record_skipped: bool,
    /// Number of records of the file that were skipped or had no text.
    pub(super) skipped_records: u64,
    /// Number of transcripts without text since the last collection.
    pub(super) empty: u64,
    /// The problem that is reported if the file contains no transcript.
    pub(crate) no_output: Option<WireFault>,
    /// Guesses of the file's columns.
    pub(super) column_guesses: ColumnGuesses,
}

/// Guessed columns of a table, by the option that would set the column.
pub(crate) type ColumnGuesses = BTreeMap<RunOption, String>;

impl Output {
    pub(super) fn new(options: ImportOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    /// Begins a new file or folder. Transcripts without an id get `stem` and a number.
    pub(super) fn begin_file(
        &mut self,
        format: &'static str,
        stem: String,
        corpus: Option<Arc<Corpus>>,
    ) {
        self.losses.begin_format(format);
        self.corpus = corpus;
        self.stem = stem;
        self.entry_count = 0;
        self.skipped_kinds.clear();
        self.skipped_records = 0;
        self.no_output = None;
        self.column_guesses.clear();
    }

    /// Skips a record that has neither model output nor data on a run. The record counts as a loss named `kind`.
    pub(crate) fn skip_record(&mut self, kind: &str) {
        self.losses.add(kind);
        self.record_skipped = true;
        if self.skipped_kinds.len() < MAX_WARNINGS || self.skipped_kinds.contains_key(kind) {
            *self.skipped_kinds.entry(kind.to_owned()).or_default() += 1;
        }
    }

    /// Records the column that was guessed for an option.
    pub(crate) fn record_guess(&mut self, option: RunOption, column: &str) {
        let column = || column.to_owned();
        self.column_guesses.entry(option).or_insert_with(column);
    }

    /// Returns the name of the file, without the common folders and the extension.
    pub(crate) fn stem(&self) -> &str {
        &self.stem
    }

    /// Returns the options for splitting a model's text, of the caller or of the corpus.
    pub(crate) fn think_options(&self, model: &str) -> ThinkOptions {
        let asked = self.options.think != ThinkOptions::default();
        let corpus = self.corpus.as_ref().filter(|_| !asked);
        corpus.map_or_else(|| self.options.think.clone(), |corpus| corpus.think(model))
    }

    /// Splits a text of the model into reasoning and answer.
    pub(crate) fn split_thinking<T: Into<String>>(
        &self,
        text: T,
    ) -> impl Iterator<Item = Body> + use<T> {
        let pieces = split_owned(text.into(), self.options.think.clone());
        pieces.into_iter().map(|(side, text)| side.body(text))
    }

    /// Adds a finished transcript.
    ///
    /// A transcript without an id gets the name of its file and a number. A transcript without a model gets the model
    /// of the options. Times and token counts beyond the limits of a corpus are dropped. Inside a corpus, its file of
    /// splits sets the split.
    pub(crate) fn emit(&mut self, mut entry: Entry) {
        self.entry_count += 1;
        // Transcripts of deadloop's own format are kept unchanged.
        let is_own_format = self.corpus.is_some() || self.losses.is_current_format("deadloop");
        if !is_own_format && !has_content(&entry.transcript) {
            self.losses.add("(an output without text)");
            self.empty += 1;
            return;
        }
        free_form_values(&mut entry).for_each(flatten_deep);
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
            transcript.id = format!("{}/{}", self.stem, self.entry_count);
        } else if self.options.prefix_ids && self.corpus.is_none() {
            transcript.id = format!("{}/{}", self.stem, transcript.id);
        }
        // In a corpus, `*` means all models.
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
        self.entries.push(entry);
    }

    /// Adds a warning about a record that is still used.
    pub(crate) fn warn(&mut self, place: &Place, what: &str, expected: &str) {
        self.warning_count += 1;
        if self.warnings.len() < MAX_WARNINGS {
            let problem = Problem::new(place.clone(), what, expected);
            self.warnings.push(problem);
        }
    }
}

/// Returns whether a transcript contains text or tool calls of the model, or tool results.
fn has_content(transcript: &Transcript) -> bool {
    transcript.events.iter().any(|event| match &event.body {
        Body::Reasoning(text) | Body::Answer(text) => !text.is_empty(),
        Body::ToolCall { .. } | Body::ToolResult { .. } => true,
        _ => false,
    })
}

/// Iterates over all values of a transcript that may have any JSON shape.
fn free_form_values(entry: &mut Entry) -> impl Iterator<Item = &mut Value> {
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
/// A corpus line adds a few levels, and JSON with more than 127 levels cannot be read.
const MAX_NESTING: usize = 120;

/// Replaces a value that is nested too deeply by its JSON text.
fn flatten_deep(value: &mut Value) {
    if is_deeper(value, MAX_NESTING) {
        *value = Value::String(value.to_string());
    }
}

fn is_deeper(value: &Value, depth: usize) -> bool {
    match (value, depth.checked_sub(1)) {
        (Value::Array(_) | Value::Object(_), None) => true,
        (Value::Array(items), Some(depth)) => items.iter().any(|item| is_deeper(item, depth)),
        (Value::Object(fields), Some(depth)) => fields.values().any(|item| is_deeper(item, depth)),
        _ => false,
    }
}

/// Creates a transcript without id and model, which [`Output::emit`] sets.
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

/// Sets a field if the value is neither missing nor null.
pub(crate) fn set_field(meta: &mut Map<String, Value>, name: &str, value: Option<Value>) {
    if let Some(value) = value.filter(|value| !value.is_null()) {
        meta.insert(name.to_owned(), value);
    }
}

/// Moves a field of `object` to the field `name` of `meta`.
pub(crate) fn move_field(meta: &mut Object, name: &str, object: &mut Object, field: &str) {
    set_field(meta, name, object.take(field));
}
