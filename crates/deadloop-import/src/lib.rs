//! Import of recordings in other formats, one transcript after the other.
//!
//! | to find | look in |
//! |---|---|
//! | the caller's options | [`options`] |
//! | the selected files, their formats, their records | [`source`] |
//! | the meaning of a record of each format | `formats/<name>.toml`, `formats/<name>.rs` |
//! | paths of fields | `paths` |
//! | responses put together from the chunks of a stream | `responses` |
//! | sessions of agents and chats | `sessions` |
//! | finish reasons in the words of OpenAI's API | `deadloop_stream::reasons` |
//! | losses, counted by name | [`losses`] |
//!
//! Every record is used, passed over or rejected. Every transcript is returned, counted as empty, or rejected. Every
//! rejection is one [`Problem`] with its place. A file without output of a model is a problem if the caller named the
//! file. In a folder, such files are passed over and counted by kind.

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
use formats::{FOREIGN, deadloop, table};
use losses::Losses;
use options::ImportOptions;
use reader::{ForeignFormat, Intake, RecordReader};
use source::files::{FileStamp, SourceFile, SourceFiles, absolute_path};
use source::records::SourceRecords;
use source::{line_limit, recognition, records};

/// Quotes a column for a shell, if necessary.
fn quote(column: &str) -> Cow<'_, str> {
    let plain = |char: char| char.is_alphanumeric() || "_-.".contains(char);
    if column.chars().all(plain) {
        column.into()
    } else {
        format!("'{}'", column.replace('\'', r"'\''")).into()
    }
}

/// A format of recordings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportFormat {
    /// The name for `--from`.
    pub name: &'static str,
    /// The help on one line.
    pub help: &'static str,
}

/// Iterates over every format, in the order of the registry.
pub fn import_formats() -> impl Iterator<Item = ImportFormat> {
    let formats = FOREIGN.iter();
    formats.map(|entry| ImportFormat {
        name: entry.name,
        help: entry.help,
    })
}

/// Counts of files, records or transcripts of the input. Each is used, empty or rejected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportTally {
    /// The number in the input.
    pub seen: u64,
    /// The number without output of a model (text, call or result): files of a folder that are not recordings, records
    /// that are passed over, and transcripts without text.
    pub empty: u64,
    /// The number with a [`Problem`].
    pub rejected: u64,
}

impl ImportTally {
    /// Returns the number of used ones.
    pub fn used(self) -> u64 {
        self.seen - self.empty - self.rejected
    }
}

/// Counts of the input so far. The sum of `rejected` is the number of problems.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportCounts {
    /// Files that were named or found in folders.
    pub files: ImportTally,
    /// Records (lines, chunks, documents, members of archives) of the used files.
    pub records: ImportTally,
    /// Transcripts in the records.
    pub transcripts: ImportTally,
}

/// An iterator over the transcripts of recordings, in order and in bounded memory.
///
/// The iterator holds one record, and the responses of a stream that have not ended.
pub struct Import {
    /// The format of all files. `None` to recognize the format of each file.
    chosen: Option<&'static ForeignFormat>,
    files: SourceFiles,
    open: Option<OpenSource>,
    out: Intake,
    ready: VecDeque<Result<Entry, Problem>>,
    ids: Ids,
    repeated: u64,
    counts: ImportCounts,
    /// The files of folders that were passed over, by kind: the number, and one example.
    passed: BTreeMap<String, (u64, PathBuf)>,
    /// Guesses on the columns of tables, as the options that would set them, with the number of files.
    guessed: BTreeMap<String, u64>,
    /// The reason for each recognized format.
    reasons: BTreeMap<&'static str, &'static str>,
    /// The files without changes since an earlier import.
    unchanged: HashSet<PathBuf>,
    /// The opened files, with their stamps at that time.
    sources: BTreeMap<PathBuf, FileStamp>,
}

/// The kind of files that are passed over because they have not changed.
const UNCHANGED_FILES: &str = "files that were read before, and are as they were";

/// An open file with its reader.
struct OpenSource {
    format: &'static ForeignFormat,
    reader: Box<dyn RecordReader>,
    /// The records. `None` once the file has ended.
    records: Option<SourceRecords>,
    /// The folder whose files share the reader and the names. `None` for a single file.
    folder: Option<(u64, PathBuf)>,
    /// The place of the file's beginning, and whether the file has to be a recording.
    place: Place,
    strict: bool,
    /// The numbers of records, of unused records, and of transcripts with text.
    records_seen: u64,
    not_used: u64,
    found: u64,
}

impl Import {
    /// Finds the files: named ones, and all in folders, in the order of their names.
    ///
    /// # Errors
    /// A format that does not exist, a text field for a format with fixed columns, or a path that does not exist.
    pub fn new(paths: &[PathBuf], mut options: ImportOptions) -> Result<Self, String> {
        // The only format with columns of any name.
        let columns = table::ENTRY.name;
        if options.from.as_deref() == Some("huggingface") {
            // The former name of the format, when it read little else.
            options.from = Some(columns.to_owned());
        }
        if let Some((option, field)) = options.fields.first() {
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
                let names: Vec<&str> = FOREIGN.iter().map(|format| format.name).collect();
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
            out: Intake::new(options),
            chosen,
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

    /// Returns the files of folders that are not recordings: the kind, the number, and one example.
    pub fn passed_over(&self) -> impl Iterator<Item = (&str, u64, &Path)> {
        let passed = self.passed.iter();
        passed.map(|(kind, (files, one))| (kind.as_str(), *files, one.as_path()))
    }

    /// Returns the opened files by absolute path, with their stamps at that time.
    pub fn sources(&self) -> &BTreeMap<PathBuf, FileStamp> {
        &self.sources
    }

    /// Returns the guesses on columns of tables, as the options that would set them, with the number of files.
    pub fn guessed(&self) -> impl Iterator<Item = (&str, u64)> {
        let guessed = self.guessed.iter();
        guessed.map(|(options, files)| (options.as_str(), *files))
    }

    /// Returns the reason for a recognized format. `None` if the caller chose it.
    pub fn reason_for(&self, format: &str) -> Option<&'static str> {
        self.reasons.get(format).copied()
    }

    /// Returns the counts so far. They are complete after the last transcript.
    pub fn counts(&self) -> ImportCounts {
        self.counts
    }

    /// Returns the number of transcripts rejected for an id that occurred before.
    pub fn repeated(&self) -> u64 {
        self.repeated
    }

    /// Returns the fields that the transcripts so far do not contain.
    pub fn losses(&self) -> &Losses {
        &self.out.losses
    }

    /// Returns the stored warnings on used records, such as a stream that ends without a finish reason.
    pub fn warnings(&self) -> &[Problem] {
        &self.out.warnings
    }

    /// Returns the number of warnings, including those after the stored ones.
    pub fn warned(&self) -> u64 {
        self.out.warned
    }

    /// Returns the recognized formats, each with its number of files.
    pub fn formats(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let met = self.out.formats.iter();
        met.map(|(name, files)| (*name, *files))
    }

    /// Returns the corpora among the input, with their paths.
    ///
    /// The import reads only their transcripts. The caller may copy their other files.
    pub fn corpora(&self) -> impl Iterator<Item = (&Path, &Arc<Corpus>)> {
        let corpora = self.files.corpora.iter();
        corpora.map(|(path, corpus)| (path.as_path(), corpus))
    }

    /// Returns the bytes read from disk so far, before decompression.
    pub fn bytes_read(&self) -> u64 {
        self.files.progress.get()
    }

    /// Returns the bytes on disk of all files.
    pub fn total_bytes(&self) -> u64 {
        self.files.total
    }

    /// Reads the next record or opens the next file. Returns `false` at the end.
    fn step(&mut self) -> bool {
        let next = self
            .open
            .as_mut()
            .and_then(|open| open.records.as_mut()?.next());
        if let Some(record) = next {
            self.read_record(record);
            return true;
        }
        let next = self.files.next();
        let folder = next.as_ref().map(SourceFile::folder);
        if let Some(mut open) = self.open.take() {
            open.records = None;
            if open.folder.is_some() && open.folder == folder {
                self.open = Some(open)
            } else {
                self.close(open)
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

    /// Opens a file and creates its reader, or refuses the file or passes over it.
    fn open_file(&mut self, file: SourceFile) {
        let strict = file.is_required();
        if self.unchanged.contains(file.path.as_path()) {
            return self.pass_over(UNCHANGED_FILES.to_owned(), &file.path);
        }
        let stamp = FileStamp::read(&file.path);
        let source = stamp.map(|stamp| (absolute_path(&file.path), stamp));
        self.sources.extend(source);
        let opened = match recognition::open(&file, self.chosen) {
            Ok(opened) => opened,
            Err(refused) => return self.refuse(refused, &file.path, strict),
        };
        let (format, records) = (opened.format, opened.records);
        *self.out.formats.entry(format.name).or_default() += 1;
        if let Some(certainty) = opened.certainty {
            self.reasons.insert(format.name, certainty.reason());
        }
        if let Some(mut open) = self.open.take() {
            if open.format.name == format.name && !opened.several {
                open.records = Some(records);
                self.open = Some(open);
                return;
            }
            self.close(open);
        }
        let whole = format.whole_folder && !opened.several;
        let stem = file.stem(whole);
        self.out.begin(format.name, stem, file.corpus.clone());
        self.open = Some(OpenSource {
            format,
            reader: format.create_reader(),
            records: Some(records),
            folder: whole.then(|| file.folder()),
            place: file.place(0),
            strict,
            records_seen: 0,
            not_used: 0,
            found: 0,
        });
    }

    /// Refuses a file that cannot be read. In a folder, a file that is not a recording is passed over.
    fn refuse(&mut self, refused: recognition::UnreadableFile, path: &Arc<PathBuf>, strict: bool) {
        match refused.kind {
            Some(kind) if !strict => self.pass_over(kind.to_owned(), path),
            _ => {
                self.counts.files.rejected += 1;
                let place = Place::new(Arc::clone(path), 0);
                self.ready.push_back(Err(refused.fault.at(place)));
            }
        }
    }

    fn pass_over(&mut self, kind: String, path: &Path) {
        self.counts.files.empty += 1;
        let passed = self.passed.entry(kind);
        passed.or_insert_with(|| (0, path.to_owned())).0 += 1;
    }

    /// Ends a file. A file without output of a model counts as unused.
    fn close(&mut self, mut open: OpenSource) {
        open.reader.end(&mut self.out);
        open.found += self.collect_transcripts();
        let guessed = std::mem::take(&mut self.out.guessed);
        let no_output = self.out.no_output.take();
        if !guessed.is_empty() && open.found > 0 {
            let options = guessed.iter();
            let options = options.map(|(option, column)| format!("{option} {}", quote(column)));
            let options = options.collect::<Vec<_>>().join(" ");
            *self.guessed.entry(options).or_default() += 1;
        }
        // An empty transcript in deadloop's own format is valid, and a known problem is not repeated.
        let is_own = open.format.name == deadloop::ENTRY.name;
        let is_reported = open.not_used > self.out.passed_records;
        if open.found > 0 || is_own || is_reported {
            return;
        }
        self.counts.records.empty += open.records_seen - open.not_used;
        if !open.strict {
            let kind = format!("{}: nothing of a model in them", open.format.name);
            return self.pass_over(kind, &open.place.file);
        }
        self.counts.files.rejected += 1;
        let fault = no_output.unwrap_or_else(|| self.no_output_fault(&open));
        self.ready.push_back(Err(fault.at(open.place)));
    }

    /// Describes a file without output of a model.
    fn no_output_fault(&self, open: &OpenSource) -> WireFault {
        let passed = self.out.passed.iter().take(8);
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
                records::RecordContent::Torn => Some((
                    "the file ends inside this line of a stream",
                    "a whole line; what came before it is used, as where a file ends between two lines",
                )),
                records::RecordContent::HalfPair => Some((
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
        self.out.passes = false;
        let taken = record.and_then(|record| {
            let place = record.place.clone();
            let taken = open.reader.take(record, &mut self.out);
            taken.map_err(|fault| fault.at(place))
        });
        let failed = taken.is_err();
        if let Err(problem) = taken {
            self.counts.records.rejected += 1;
            open.not_used += 1;
            open.reader.gap();
            self.ready.push_back(Err(problem));
        }
        let empty = self.out.empty;
        let found = self.collect_transcripts();
        open.found += found;
        // The record has no kept field, or its answers have no text.
        if !failed && found == 0 && (self.out.passes || empty > 0) {
            self.counts.records.empty += 1;
            self.out.passed_records += 1;
            open.not_used += 1;
        }
        self.open = Some(open);
    }

    /// Collects the finished transcripts. Returns the number of those with text.
    fn collect_transcripts(&mut self) -> u64 {
        let empty = std::mem::take(&mut self.out.empty);
        self.counts.transcripts.seen += empty;
        self.counts.transcripts.empty += empty;
        let mut entries = std::mem::take(&mut self.out.found);
        let found = entries.len() as u64;
        for entry in entries.drain(..) {
            self.counts.transcripts.seen += 1;
            let unique = self.ids.insert(&entry.transcript.id, &entry.place);
            self.repeated += u64::from(unique.is_err());
            let fits = unique.and_then(|()| self.shorten_entry(entry));
            self.counts.transcripts.rejected += u64::from(fits.is_err());
            self.ready.push_back(fits);
        }
        self.out.found = entries;
        found
    }

    /// Shortens the transcript to a line of a corpus, and reports cuts.
    fn shorten_entry(&mut self, mut entry: Entry) -> Result<Entry, Problem> {
        let place = entry.place.clone();
        match line_limit::fit(&mut entry, MAX_LINE) {
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
            if !self.step() {
                break;
            }
        }
        self.ready.pop_front()
    }
}
