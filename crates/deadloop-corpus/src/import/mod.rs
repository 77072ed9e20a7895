//! Import: recordings in other formats, read one after the other as transcripts.
//!
//! | to find | look in |
//! |---|---|
//! | which files are meant, what their transcripts are called | `files` |
//! | how the format is recognised from the beginning of a file | `opening`; what a format sees of it: `head` |
//! | what the caller asks for | `options` |
//! | how a file is cut into records: lines, one document, text, an archive, a database | `cut` |
//! | what a format makes of a record | `formats/<name>.rs` |
//! | responses put together from the chunks of a stream | `streams`, `response`, `choice` |
//! | what recorders wrap around an API's objects | `envelope` |
//! | messages of a conversation as events | `conversation` |
//! | logs of agents and chats as tables of paths | `log`, `paths`, `formats/{agent_logs,exports,logs}.rs` |
//! | programs that keep a database: its tables, and the queries for runs and rows | `cut/queries.rs`; what a row becomes: `formats/databases.rs` |
//! | the columns of tables | `formats/columns.rs`, read by `formats/table.rs` |
//! | why a model stopped, in the usual words | `deadloop_stream::reasons` |
//! | where agents keep their sessions | `stores` |
//! | users, prompts, turns of an agent's run; what is said of a turn | `run`; `turn` |
//! | spans of a trace as a run | `spans` |
//! | what was left out, counted by name | `losses` |
//!
//! What comes in is conserved: every record is used, passed over or rejected, every transcript that was
//! found is given out, without text or rejected, and every rejection is one [`Problem`] with its place.
//! A file in which nothing of a model was found is a problem; of a folder it is passed over by its kind.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::{Corpus, Entry, Ids, MAX_LINE, Place, Problem};

mod choice;
pub(crate) mod conversation;
pub(crate) mod cut;
pub(crate) mod envelope;
mod files;
mod fitting;
pub(crate) mod formats;
pub(crate) mod head;
pub(crate) mod log;
pub(crate) mod losses;
mod opening;
mod options;
pub(crate) mod paths;
pub(crate) mod reader;
mod response;
pub(crate) mod run;
pub(crate) mod spans;
mod stores;
pub(crate) mod streams;
pub(crate) mod turn;

use crate::transcript::wire::WireFault;
use cut::Records;
pub use files::FileStamp;
use files::{File, Files, whole};
use formats::{FOREIGN, deadloop, table};
pub use losses::{Loss, Losses};
pub use options::{ImportFields, ImportOptions};
use reader::{Foreign, Out, Reader};
pub use stores::{AgentStore, agent_stores};

/// A column as it is typed at a shell.
fn typed(column: &str) -> Cow<'_, str> {
    let plain = |char: char| char.is_alphanumeric() || "_-.".contains(char);
    if column.chars().all(plain) {
        column.into()
    } else {
        format!("'{}'", column.replace('\'', r"'\''")).into()
    }
}

/// A format that recordings may be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportFormat {
    /// What `--from` calls it.
    pub name: &'static str,
    /// One line of help.
    pub help: &'static str,
}

/// Every format, in the order of the registry.
pub fn import_formats() -> impl Iterator<Item = ImportFormat> {
    let formats = FOREIGN.iter();
    formats.map(|entry| ImportFormat {
        name: entry.name,
        help: entry.help,
    })
}

/// Things of one kind that came in: each is used, empty or rejected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportTally {
    /// All that came in.
    pub seen: u64,
    /// Those that hold nothing of a model (no text, call or result): files of a folder that are no
    /// recordings, records that are passed over, transcripts without text. They are not given out.
    pub empty: u64,
    /// Those that a [`Problem`] was given for.
    pub rejected: u64,
}

impl ImportTally {
    /// Those that were used.
    pub fn used(self) -> u64 {
        self.seen - self.empty - self.rejected
    }
}

/// What came in so far. As many problems were given as the three have rejected together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportCounts {
    /// Files that were asked for or found in folders.
    pub files: ImportTally,
    /// Records (lines, chunks, documents, members of archives) of the files that were used.
    pub records: ImportTally,
    /// Transcripts that the records held.
    pub transcripts: ImportTally,
}

/// The transcripts of recordings in order, in bounded memory: what is held is one record, and the
/// responses of a stream that have not ended.
pub struct Import {
    options: ImportOptions,
    files: Files,
    open: Option<Open>,
    out: Out,
    ready: VecDeque<Result<Entry, Problem>>,
    ids: Ids,
    repeated: u64,
    counts: ImportCounts,
    /// Files of folders that were passed over, by their kind: how many, and one of them.
    passed: BTreeMap<String, (u64, PathBuf)>,
    /// What was guessed of tables, as the options that would say it, and of how many files.
    guessed: BTreeMap<String, u64>,
    /// What makes the formats that were met certain.
    sure: BTreeMap<&'static str, &'static str>,
    /// Files that are as they were when they were read before.
    same: HashSet<PathBuf>,
    /// Files that were opened, as they were then.
    sources: BTreeMap<PathBuf, FileStamp>,
}

/// The kind of files that are passed over because they were read before.
const SAME: &str = "files that were read before, and are as they were";

/// A file that is being read, and who reads it.
struct Open {
    format: &'static Foreign,
    reader: Box<dyn Reader>,
    /// None once the file has ended.
    records: Option<Records>,
    /// Reader and names go on while files are of this folder; none: for one file.
    folder: Option<(u64, PathBuf)>,
    /// Where it begins, and whether it was named itself or is a part of a corpus.
    place: Place,
    strict: bool,
    /// Records so far, those of them that are not used, and transcripts with text.
    records_seen: u64,
    not_used: u64,
    found: u64,
}

impl Import {
    /// Finds the files: those named, and all of those in folders, in the order of their names.
    ///
    /// # Errors
    /// A format that does not exist, a text field for one that has no columns of any name, or a path
    /// where nothing is.
    pub fn new(paths: &[PathBuf], mut options: ImportOptions) -> Result<Self, String> {
        // The one format that has columns of any name.
        let columns = table::ENTRY.name;
        if options.from.as_deref() == Some("huggingface") {
            // What it was called when it read little else.
            options.from = Some(columns.to_owned());
        }
        if let Some((option, field)) = options.fields.first() {
            let from = options.from.get_or_insert_with(|| columns.to_owned());
            if from != columns {
                return Err(format!(
                    "{option} {field} for the format {from}, whose texts have their places; \
                     expected none, or the format {columns}"
                ));
            }
        }
        if let Some(name) = &options.from
            && !FOREIGN.iter().any(|format| format.name == name)
        {
            let names: Vec<&str> = FOREIGN.iter().map(|format| format.name).collect();
            return Err(format!(
                "unknown format {name:?}; expected one of {}",
                names.join(", ")
            ));
        }
        let files = Files::find(paths)?;
        Ok(Self {
            same: files.same(&options.known),
            sources: BTreeMap::new(),
            files,
            out: Out::new(options.clone()),
            options,
            open: None,
            ready: VecDeque::new(),
            ids: Ids::default(),
            repeated: 0,
            counts: ImportCounts::default(),
            passed: BTreeMap::new(),
            guessed: BTreeMap::new(),
            sure: BTreeMap::new(),
        })
    }

    /// Files of folders that are no recordings: what kind they are of, how many, and one of them.
    pub fn passed_over(&self) -> impl Iterator<Item = (&str, u64, &Path)> {
        let passed = self.passed.iter();
        passed.map(|(kind, (files, one))| (kind.as_str(), *files, one.as_path()))
    }

    /// The files that were opened, from the root on, as they were then.
    pub fn sources(&self) -> &BTreeMap<PathBuf, FileStamp> {
        &self.sources
    }

    /// The options that say what was guessed of the columns of tables, and of how many files.
    pub fn guessed(&self) -> impl Iterator<Item = (&str, u64)> {
        let guessed = self.guessed.iter();
        guessed.map(|(options, files)| (options.as_str(), *files))
    }

    /// What makes it certain that a format that was met is the one; none: it was asked for.
    pub fn why(&self, format: &str) -> Option<&'static str> {
        self.sure.get(format).copied()
    }

    /// What came in so far; all of it once there is no further transcript.
    pub fn counts(&self) -> ImportCounts {
        self.counts
    }

    /// Transcripts that were rejected because their ids stood there before.
    pub fn repeated(&self) -> u64 {
        self.repeated
    }

    /// What the transcripts given so far do not hold of the records that they were made from.
    pub fn losses(&self) -> &Losses {
        &self.out.losses
    }

    /// What was used and is still worth knowing: streams that end without saying so.
    pub fn warnings(&self) -> &[Problem] {
        &self.out.warnings
    }

    /// How many warnings there were; only the first are kept.
    pub fn warned(&self) -> u64 {
        self.out.warned
    }

    /// The formats that were met, with how many files of each.
    pub fn formats(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let met = self.out.formats.iter();
        met.map(|(name, files)| (*name, *files))
    }

    /// The corpora among what is imported, and where they are: of those only the transcripts are
    /// recordings. What is beside them is for the caller.
    pub fn corpora(&self) -> impl Iterator<Item = (&Path, &Arc<Corpus>)> {
        let corpora = self.files.corpora().iter();
        corpora.map(|(path, corpus)| (path.as_path(), corpus))
    }

    /// Bytes read from disk so far, as they lie there (compressed).
    pub fn bytes_read(&self) -> u64 {
        self.files.bytes_read()
    }

    /// Bytes on disk of all the files.
    pub fn total_bytes(&self) -> u64 {
        self.files.total_bytes()
    }

    /// Reads on until something is known. False at the end.
    fn step(&mut self) -> bool {
        let next = self
            .open
            .as_mut()
            .and_then(|open| open.records.as_mut()?.next());
        if let Some(record) = next {
            self.record(record);
            return true;
        }
        let next = self.files.next();
        let folder = next.as_ref().map(File::folder);
        let goes_on = |open: &Open| open.folder.is_some() && open.folder == folder;
        if let Some(mut open) = self.open.take() {
            open.records = None;
            if goes_on(&open) {
                self.open = Some(open)
            } else {
                self.close(open)
            }
        }
        self.emit();
        let Some(file) = next else {
            return false;
        };
        self.counts.files.seen += 1;
        self.begin(file);
        true
    }

    /// Opens a file: its reader is made, or it is refused or passed over.
    fn begin(&mut self, file: File) {
        let strict = file.is_meant();
        if self.same.contains(file.path.as_path()) {
            return self.pass_over(SAME.to_owned(), &file.path);
        }
        let stamp = FileStamp::of(&file.path);
        self.sources
            .extend(stamp.map(|stamp| (whole(&file.path), stamp)));
        let opened = match opening::open(&file, self.options.from.as_deref()) {
            Ok(opened) => opened,
            Err(refused) => return self.refuse(refused, &file.path, strict),
        };
        let opening::Opened {
            format,
            sure,
            records,
            several,
        } = opened;
        *self.out.formats.entry(format.name).or_default() += 1;
        if let Some(sure) = sure {
            self.sure.insert(format.name, sure.why());
        }
        if let Some(mut open) = self.open.take() {
            if open.format.name == format.name && !several {
                open.records = Some(records);
                self.open = Some(open);
                return;
            }
            self.close(open);
        }
        let whole = format.whole_folder && !several;
        self.out
            .begin(format.name, file.stem(whole), file.corpus.clone());
        self.open = Some(Open {
            format,
            reader: (format.reader)(),
            records: Some(records),
            folder: whole.then(|| file.folder()),
            place: file.place(0),
            strict,
            records_seen: 0,
            not_used: 0,
            found: 0,
        });
    }

    /// A file that cannot be read: what is no recording is passed over in a folder.
    fn refuse(&mut self, refused: opening::Refused, path: &Arc<PathBuf>, strict: bool) {
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
        let (files, _) = self
            .passed
            .entry(kind)
            .or_insert_with(|| (0, path.to_owned()));
        *files += 1;
    }

    /// The end of a file. One in which nothing of a model was found was not used.
    fn close(&mut self, mut open: Open) {
        open.reader.end(&mut self.out);
        open.found += self.emit();
        let guessed = std::mem::take(&mut self.out.guessed);
        let nothing = self.out.nothing.take();
        if !guessed.is_empty() && open.found > 0 {
            let options = guessed.iter();
            let options = options.map(|(option, column)| format!("{option} {}", typed(column)));
            let options = options.collect::<Vec<_>>().join(" ");
            *self.guessed.entry(options).or_default() += 1;
        }
        // Of deadloop's own every transcript is whole, be it empty; what was told already is.
        let own = open.format.name == deadloop::ENTRY.name;
        let told = open.not_used > self.out.passed_records;
        if open.found > 0 || own || told {
            return;
        }
        self.counts.records.empty += open.records_seen - open.not_used;
        if !open.strict {
            let kind = format!("{}: nothing of a model in them", open.format.name);
            return self.pass_over(kind, &open.place.file);
        }
        self.counts.files.rejected += 1;
        let fault = nothing.unwrap_or_else(|| self.held(&open));
        self.ready.push_back(Err(fault.at(open.place)));
    }

    /// What a file holds in which nothing of a model is.
    fn held(&self, open: &Open) -> WireFault {
        let passed = self.out.passed.iter().take(8);
        let passed: Vec<String> = passed.map(|(what, n)| format!("{what} {n}")).collect();
        let kinds = if passed.is_empty() {
            String::new()
        } else {
            format!(" ({})", passed.join(", "))
        };
        let what = format!(
            "no text, call or result of a model in {} record{} of {}{kinds}",
            open.records_seen,
            if open.records_seen == 1 { "" } else { "s" },
            open.format.name
        );
        WireFault::new(
            what,
            "a recording of what a model said; --from for another format",
        )
    }

    /// Hands a record to the reader.
    fn record(&mut self, record: Result<cut::Record, Problem>) {
        if let Ok(torn) = &record
            && matches!(torn.content, cut::Content::Torn)
        {
            // Half a line is no record: where a file is cut does not change how many it has.
            let what = "the file ends inside this line of a stream";
            let expected =
                "a whole line; what came before it is used, as where a file ends between two lines";
            self.out.warn(&torn.place, what, expected);
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
        let found = self.emit();
        open.found += found;
        // A record of which nothing was kept, or an answer without text.
        if !failed && found == 0 && (self.out.passes || empty > 0) {
            self.counts.records.empty += 1;
            self.out.passed_records += 1;
            open.not_used += 1;
        }
        self.open = Some(open);
    }

    /// Moves on the transcripts that are whole; how many have text.
    fn emit(&mut self) -> u64 {
        let empty = std::mem::take(&mut self.out.empty);
        self.counts.transcripts.seen += empty;
        self.counts.transcripts.empty += empty;
        let mut entries = std::mem::take(&mut self.out.found);
        let found = entries.len() as u64;
        for entry in entries.drain(..) {
            self.counts.transcripts.seen += 1;
            let unique = self.ids.insert(&entry.transcript.id, &entry.place);
            self.repeated += u64::from(unique.is_err());
            let fits = unique.and_then(|()| self.fitted(entry));
            self.counts.transcripts.rejected += u64::from(fits.is_err());
            self.ready.push_back(fits);
        }
        self.out.found = entries;
        found
    }

    /// The transcript as a line of a corpus can hold it. What was cut is reported.
    fn fitted(&mut self, mut entry: Entry) -> Result<Entry, Problem> {
        let place = entry.place.clone();
        match fitting::fit(&mut entry, MAX_LINE) {
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
