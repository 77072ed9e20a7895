//! Import of recordings in other formats, one transcript after the other.
//!
//! | to find | look in |
//! |---|---|
//! | the caller's options | [`options`] |
//! | the selected files, their formats, their records | [`source`] |
//! | the meaning of a record of each format | `formats/<name>.toml`, `formats/<name>.rs` |
//! | paths of fields | `paths` |
//! | responses assembled from the chunks of a stream | `responses` |
//! | sessions of agents and chats | `sessions` |
//! | finish reasons, normalized to OpenAI's names | `deadloop_stream::reasons` |
//! | unmapped fields, counted by path | [`losses`] |
//!
//! Every record is used, skipped or rejected. Every transcript is returned, counted as empty, or rejected. Every
//! rejection is one [`Problem`] with its file and line. A file without model output is a problem if the caller named the
//! file. Such files inside a folder are skipped and counted by kind.

#![deny(clippy::print_stderr, clippy::print_stdout)]

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use deadloop_corpus::option::FROM;
use deadloop_corpus::{Corpus, Entry, Ids, MAX_LINE, Place, Problem};

mod formats;
pub mod losses;
pub mod options;
mod paths;
mod reader;
mod responses;
mod sessions;
pub mod source;

use deadloop_stream::wire::WireFault;
use formats::{FORMATS, deadloop, table};
use losses::Losses;
use options::ImportOptions;
use reader::{ForeignFormat, Output, RecordReader};
use source::files::{FileStamp, SourceFile, SourceFiles, absolute_path};
use source::records::SourceRecords;
use source::{line_limit, recognition, records};

/// Quotes a column name for the shell, if necessary.
fn shell_quote(column: &str) -> Cow<'_, str> {
    let plain = |char: char| char.is_alphanumeric() || "_-.".contains(char);
    if column.chars().all(plain) {
        column.into()
    } else {
        format!("'{}'", column.replace('\'', r"'\''")).into()
    }
}

/// A recording format that the import can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportFormat {
    /// The name for `--from`.
    pub name: &'static str,
    /// Help text on one line.
    pub help: &'static str,
}

/// Iterates over all importable formats, in display order.
pub fn import_formats() -> impl Iterator<Item = ImportFormat> {
    let formats = FORMATS.iter();
    formats.map(|entry| ImportFormat {
        name: entry.name,
        help: entry.help,
    })
}

/// Counts of the files, records or transcripts in the input. Each of these items is used, empty or rejected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportTally {
    /// Number of items in the input.
    pub seen: u64,
    /// Number of items without model output (text, tool calls or tool results), such as files in a folder that are not
    /// recordings, skipped records, and transcripts without text.
    pub empty: u64,
    /// Number of items with a [`Problem`].
    pub rejected: u64,
}

impl ImportTally {
    /// Returns the number of used items.
    pub fn used(self) -> u64 {
        self.seen - self.empty - self.rejected
    }
}

/// Counts of the input so far. All `rejected` counts together are the number of problems.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportCounts {
    /// Counts of the files that the caller named or that were found in folders.
    pub files: ImportTally,
    /// Counts of the records in the used files: lines, chunks, documents and members of archives.
    pub records: ImportTally,
    /// Counts of the transcripts in the records.
    pub transcripts: ImportTally,
}

/// An iterator over the transcripts of recordings, in order and in bounded memory.
///
/// Only one record and the unfinished responses of a stream are in memory.
pub struct Import {
    /// The format chosen by the caller. `None` to recognize the format of each file.
    chosen_format: Option<&'static ForeignFormat>,
    files: SourceFiles,
    open: Option<OpenSource>,
    out: Output,
    ready: VecDeque<Result<Entry, Problem>>,
    ids: Ids,
    repeated: u64,
    counts: ImportCounts,
    /// Number of skipped files in folders, and the path of an example, by kind of file.
    passed: BTreeMap<String, (u64, PathBuf)>,
    /// Number of files for each set of guessed table columns, spelled as command-line options.
    guessed: BTreeMap<String, u64>,
    /// Reason for the recognition of each format.
    reasons: BTreeMap<&'static str, &'static str>,
    /// Files that have not changed since an earlier import.
    unchanged: HashSet<PathBuf>,
    /// Opened files, with their stamps at that time.
    sources: BTreeMap<PathBuf, FileStamp>,
}

/// The kind under which unchanged files are counted.
const UNCHANGED_KIND: &str = "files that were read before, and are as they were";

/// An open file with its reader.
struct OpenSource {
    format: &'static ForeignFormat,
    reader: Box<dyn RecordReader>,
    /// Remaining records. `None` once the file has ended.
    records: Option<SourceRecords>,
    /// The folder whose files share the reader and the id prefix. `None` for a single file.
    folder: Option<(u64, PathBuf)>,
    /// Start of the file, for messages about the whole file.
    place: Place,
    /// Whether a file that is not a recording is an error.
    is_required: bool,
    /// Number of records read so far.
    records_seen: u64,
    /// Number of records that were skipped or rejected.
    unused_records: u64,
    /// Number of transcripts with text.
    transcripts: u64,
}

impl Import {
    /// Finds the input: the files that `paths` name, and all files in the folders, sorted by name.
    ///
    /// # Errors
    /// Returns an error if the format does not exist, if a text column is set for a format with fixed columns, or if a
    /// path does not exist.
    pub fn new(paths: &[PathBuf], mut options: ImportOptions) -> Result<Self, String> {
        // The only format with columns of any name.
        let columns = table::ENTRY.name;
        if options.from.as_deref() == Some("huggingface") {
            // The former name of the format.
            options.from = Some(columns.to_owned());
        }
        if let Some((option, field)) = options.fields.first_set() {
            let from = options.from.get_or_insert_with(|| columns.to_owned());
            if let Some(file) = &options.format {
                *from = file.display().to_string();
            }
            if from != columns {
                return Err(format!(
                    "{option} {field} for the format {from}, whose texts have their places; \
                     expected none, or the format {columns}"
                ));
            }
        }
        let chosen = match (&options.format, &options.from) {
            (Some(path), _) => Some(formats::read_format_file(path)?),
            (None, Some(name)) => Some(recognition::find_format(name).ok_or_else(|| {
                let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
                let names = names.join(", ");
                format!("unknown format {name:?}; expected one of {names}")
            })?),
            (None, None) => None,
        };
        let files = SourceFiles::find(paths)?;
        Ok(Self {
            unchanged: files.find_unchanged(&options.known),
            sources: BTreeMap::new(),
            files,
            out: Output::new(options),
            chosen_format: chosen,
            open: None,
            ready: VecDeque::new(),
            ids: Ids::default(),
            repeated: 0,
            counts: ImportCounts::default(),
            passed: BTreeMap::new(),
            guessed: BTreeMap::new(),
            reasons: BTreeMap::new(),
        })
    }

    /// Iterates over the kinds of files in folders that were skipped. Each item has the kind, the number of files and
    /// the path of an example.
    pub fn skipped_kinds(&self) -> impl Iterator<Item = (&str, u64, &Path)> {
        let passed = self.passed.iter();
        passed.map(|(kind, (files, one))| (kind.as_str(), *files, one.as_path()))
    }

    /// Returns the absolute paths of the opened files, with their stamps at that time.
    pub fn sources(&self) -> &BTreeMap<PathBuf, FileStamp> {
        &self.sources
    }

    /// Iterates over the sets of guessed table columns, spelled as command-line options. Each set comes with its number
    /// of files.
    pub fn guessed_columns(&self) -> impl Iterator<Item = (&str, u64)> {
        let guessed = self.guessed.iter();
        guessed.map(|(options, files)| (options.as_str(), *files))
    }

    /// Returns the reason why files were recognized as having this format. Returns `None` if the caller chose the
    /// format.
    pub fn reason_for(&self, format: &str) -> Option<&'static str> {
        self.reasons.get(format).copied()
    }

    /// Returns the counts so far. They are final after the last transcript.
    pub fn counts(&self) -> ImportCounts {
        self.counts
    }

    /// Returns the number of transcripts that were rejected because of a repeated id.
    pub fn repeated_ids(&self) -> u64 {
        self.repeated
    }

    /// Returns the counts of fields that were not mapped so far.
    pub fn losses(&self) -> &Losses {
        &self.out.losses
    }

    /// Returns the stored warnings on used records, such as a stream that ends without a finish reason.
    pub fn warnings(&self) -> &[Problem] {
        &self.out.warnings
    }

    /// Returns the number of all warnings, whether stored or not.
    pub fn warning_count(&self) -> u64 {
        self.out.warning_count
    }

    /// Iterates over the recognized formats, each with its number of files.
    pub fn formats(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let met = self.out.formats.iter();
        met.map(|(name, files)| (*name, *files))
    }

    /// Iterates over the corpora in the input, each with its path.
    ///
    /// The import reads only their transcripts. The caller may copy the other files.
    pub fn corpora(&self) -> impl Iterator<Item = (&Path, &Arc<Corpus>)> {
        let corpora = self.files.corpora.iter();
        corpora.map(|(path, corpus)| (path.as_path(), corpus))
    }

    /// Returns the number of bytes read from disk so far, before decompression.
    pub fn bytes_read(&self) -> u64 {
        self.files.progress.get()
    }

    /// Returns the size on disk of all files, in bytes.
    pub fn total_bytes(&self) -> u64 {
        self.files.total_bytes
    }

    /// Reads the next record or opens the next file. Returns `false` at the end of the input.
    fn read_next(&mut self) -> bool {
        let next = self
            .open
            .as_mut()
            .and_then(|open| open.records.as_mut()?.next());
        if let Some(record) = next {
            self.read_record(record);
            return true;
        }
        let next = self.files.next();
        let folder = next.as_ref().map(SourceFile::folder_key);
        if let Some(mut open) = self.open.take() {
            open.records = None;
            if open.folder.is_some() && open.folder == folder {
                self.open = Some(open)
            } else {
                self.close_source(open)
            }
        }
        self.collect_transcripts();
        let Some(file) = next else {
            return false;
        };
        self.counts.files.seen += 1;
        self.open_file(file);
        true
    }

    /// Opens a file and creates its reader. The file may also be rejected or skipped.
    fn open_file(&mut self, file: SourceFile) {
        let is_required = file.is_required();
        if self.unchanged.contains(file.path.as_path()) {
            return self.skip_file(UNCHANGED_KIND.to_owned(), &file.path);
        }
        let stamp = FileStamp::read(&file.path);
        let source = stamp.map(|stamp| (absolute_path(&file.path), stamp));
        self.sources.extend(source);
        let opened = match recognition::open_file(&file, self.chosen_format) {
            Ok(opened) => opened,
            Err(refused) => return self.reject(refused, &file.path, is_required),
        };
        let (format, records) = (opened.format, opened.records);
        *self.out.formats.entry(format.name).or_default() += 1;
        if let Some(certainty) = opened.certainty {
            self.reasons.insert(format.name, certainty.reason());
        }
        if let Some(mut open) = self.open.take() {
            if open.format.name == format.name && !opened.has_several_records {
                open.records = Some(records);
                self.open = Some(open);
                return;
            }
            self.close_source(open);
        }
        let whole = format.whole_folder && !opened.has_several_records;
        let stem = file.stem(whole);
        self.out.begin_file(format.name, stem, file.corpus.clone());
        self.open = Some(OpenSource {
            format,
            reader: format.create_reader(),
            records: Some(records),
            folder: whole.then(|| file.folder_key()),
            place: file.place(0),
            is_required,
            records_seen: 0,
            unused_records: 0,
            transcripts: 0,
        });
    }

    /// Rejects a file that cannot be read. A file in a folder that is not a recording is skipped instead.
    fn reject(&mut self, file: recognition::UnreadableFile, path: &Arc<PathBuf>, strict: bool) {
        match file.kind {
            Some(kind) if !strict => self.skip_file(kind.to_owned(), path),
            _ => {
                self.counts.files.rejected += 1;
                let place = Place::new(Arc::clone(path), 0);
                self.ready.push_back(Err(file.fault.at(place)));
            }
        }
    }

    fn skip_file(&mut self, kind: String, path: &Path) {
        self.counts.files.empty += 1;
        let passed = self.passed.entry(kind);
        passed.or_insert_with(|| (0, path.to_owned())).0 += 1;
    }

    /// Finishes a file. A file without model output counts as unused.
    fn close_source(&mut self, mut open: OpenSource) {
        open.reader.finish(&mut self.out);
        open.transcripts += self.collect_transcripts();
        let guessed = std::mem::take(&mut self.out.column_guesses);
        let no_output = self.out.no_output.take();
        if !guessed.is_empty() && open.transcripts > 0 {
            let options = guessed.iter();
            let options =
                options.map(|(option, column)| format!("{option} {}", shell_quote(column)));
            let options = options.collect::<Vec<_>>().join(" ");
            *self.guessed.entry(options).or_default() += 1;
        }
        // An empty transcript in deadloop's own format is valid, and a known problem is not repeated.
        let is_own = open.format.name == deadloop::ENTRY.name;
        let is_reported = open.unused_records > self.out.skipped_records;
        if open.transcripts > 0 || is_own || is_reported {
            return;
        }
        self.counts.records.empty += open.records_seen - open.unused_records;
        if !open.is_required {
            let kind = format!("{}: nothing of a model in them", open.format.name);
            return self.skip_file(kind, &open.place.file);
        }
        self.counts.files.rejected += 1;
        let fault = no_output.unwrap_or_else(|| self.no_output_fault(&open));
        self.ready.push_back(Err(fault.at(open.place)));
    }

    /// Describes a file without model output.
    fn no_output_fault(&self, open: &OpenSource) -> WireFault {
        let passed = self.out.skipped_kinds.iter().take(8);
        let passed: Vec<String> = passed.map(|(what, n)| format!("{what} {n}")).collect();
        let kinds = match passed.join(", ") {
            kinds if kinds.is_empty() => kinds,
            kinds => format!(" ({kinds})"),
        };
        let (records, name) = (open.records_seen, open.format.name);
        let plural = if records == 1 { "" } else { "s" };
        let what = format!(
            "no text, call or result of a model in {records} record{plural} of {name}{kinds}"
        );
        WireFault::new(
            what,
            format!("a recording of what a model said; {FROM} for another format"),
        )
    }

    /// Passes a record to the reader.
    fn read_record(&mut self, record: Result<records::SourceRecord, Problem>) {
        // A notice is not counted as a record, wherever the file is cut.
        if let Ok(notice) = &record
            && let Some((what, expected)) = match notice.content {
                records::RecordContent::CutLine => Some((
                    "the file ends inside this line of a stream",
                    "a whole line; what came before it is used, as where a file ends between two lines",
                )),
                records::RecordContent::LoneSurrogate => Some((
                    "half an emoji (a lone surrogate)",
                    "Unicode text; it is read as U+FFFD",
                )),
                _ => None,
            }
        {
            self.out.warn(&notice.place, what, expected);
            return;
        }
        let Some(mut open) = self.open.take() else {
            return;
        };
        self.counts.records.seen += 1;
        open.records_seen += 1;
        self.out.record_skipped = false;
        let taken = record.and_then(|record| {
            let place = record.place.clone();
            let taken = open.reader.take_record(record, &mut self.out);
            taken.map_err(|fault| fault.at(place))
        });
        let failed = taken.is_err();
        if let Err(problem) = taken {
            self.counts.records.rejected += 1;
            open.unused_records += 1;
            open.reader.record_gap();
            self.ready.push_back(Err(problem));
        }
        let empty = self.out.empty;
        let found = self.collect_transcripts();
        open.transcripts += found;
        // The record has no kept field, or its answers have no text.
        if !failed && found == 0 && (self.out.record_skipped || empty > 0) {
            self.counts.records.empty += 1;
            self.out.skipped_records += 1;
            open.unused_records += 1;
        }
        self.open = Some(open);
    }

    /// Collects the finished transcripts. Returns the number of those with text.
    fn collect_transcripts(&mut self) -> u64 {
        let empty = std::mem::take(&mut self.out.empty);
        self.counts.transcripts.seen += empty;
        self.counts.transcripts.empty += empty;
        let mut entries = std::mem::take(&mut self.out.entries);
        let found = entries.len() as u64;
        for entry in entries.drain(..) {
            self.counts.transcripts.seen += 1;
            let unique = self.ids.insert(&entry.transcript.id, &entry.place);
            self.repeated += u64::from(unique.is_err());
            let fits = unique.and_then(|()| self.shorten_entry(entry));
            self.counts.transcripts.rejected += u64::from(fits.is_err());
            self.ready.push_back(fits);
        }
        self.out.entries = entries;
        found
    }

    /// Shortens a transcript to the maximum line length of a corpus. Warns about cut texts.
    fn shorten_entry(&mut self, mut entry: Entry) -> Result<Entry, Problem> {
        let place = entry.place.clone();
        match line_limit::fit_to_line(&mut entry, MAX_LINE) {
            Ok(0) => {}
            Ok(cut) => {
                let id = &entry.transcript.id;
                let what = format!(
                    "{id}: {cut} long results cut, so that the transcript fits into a line"
                );
                let kept = "nothing more: each says the length and the hash of the whole, by which it is compared";
                self.out.warn(&place, &what, kept);
            }
            Err(fault) => return Err(fault.at(place)),
        }
        Ok(entry)
    }
}

impl Iterator for Import {
    type Item = Result<Entry, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.ready.is_empty() {
            if !self.read_next() {
                break;
            }
        }
        self.ready.pop_front()
    }
}
