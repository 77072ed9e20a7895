//! Import: recordings in other formats, read one after the other as transcripts.
//!
//! | to find | look in |
//! |---|---|
//! | which files are meant, what their transcripts are called | `files` |
//! | how the format is told from the beginning of a file | `head` |
//! | how a file is cut into records: lines, one document, text, an archive | `cut` |
//! | what a format makes of a record | `formats/<name>.rs` |
//! | live streams: bytes in, events out | `stream` |
//! | responses put together from the chunks of a stream | `streams`, `response`, `choice` |
//! | what recorders wrap around an API's objects | `envelope` |
//! | messages of a conversation as events | `conversation` |
//! | turns, tokens, users, prompts of an agent's run | `run` |
//! | spans of a trace as a run | `spans` |
//! | what was left out, counted by name | `losses` |
//!
//! What comes in is conserved: every record is used or rejected, every transcript that was found is
//! given out or rejected, and every rejection is one [`Problem`] with its place.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::{Corpus, Entry, Ids, Problem, ThinkOptions};

mod choice;
pub(crate) mod conversation;
pub(crate) mod cut;
pub(crate) mod envelope;
mod files;
mod fitting;
pub(crate) mod formats;
pub(crate) mod head;
pub(crate) mod losses;
pub(crate) mod reader;
mod response;
pub(crate) mod run;
pub(crate) mod spans;
pub(crate) mod streams;

use cut::Records;
pub(crate) use deadloop_stream::{reader as stream, take, time};
use files::{File, Files};
use formats::{FOREIGN, huggingface};
pub use losses::{Loss, Losses};
use reader::{Foreign, Out, Reader};

/// What the caller asks for.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// The format's name; `None`: the content of each file decides.
    pub from: Option<String>,
    /// The model of recordings that do not name theirs.
    pub model: Option<String>,
    /// The path of the field that holds the text (`a.b.c`), for formats with free columns.
    pub text_field: Option<String>,
    /// The path of the field that names the model, likewise.
    pub model_field: Option<String>,
    /// How answers that may hold `<think>` are split.
    pub think: ThinkOptions,
    /// The name of its file goes before each id, but in a corpus, whose labels go by the ids.
    pub prefix_ids: bool,
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

/// Things of one kind that came in: each is used or rejected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportTally {
    /// All that came in.
    pub seen: u64,
    /// Those that a [`Problem`] was given for.
    pub rejected: u64,
}

impl ImportTally {
    /// Those that were used.
    pub fn used(self) -> u64 {
        self.seen - self.rejected
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
}

/// A file that is being read, and who reads it.
struct Open {
    format: &'static Foreign,
    reader: Box<dyn Reader>,
    /// None once the file has ended.
    records: Option<Records>,
    /// Reader and names go on while files are of this folder; none: for one file.
    folder: Option<(u64, PathBuf)>,
}

impl Import {
    /// Finds the files: those named, and all of those in folders, in the order of their names.
    ///
    /// # Errors
    /// A format that does not exist, a text field for one that has no columns of any name, or a path
    /// where nothing is.
    pub fn new(paths: &[PathBuf], mut options: ImportOptions) -> Result<Self, String> {
        // The one format that has columns of any name.
        let columns = huggingface::ENTRY.name;
        let named = [
            ("the text field", &options.text_field),
            ("the model field", &options.model_field),
        ];
        for (what, field) in named
            .into_iter()
            .filter_map(|(what, f)| Some((what, f.as_ref()?)))
        {
            let from = options.from.get_or_insert_with(|| columns.to_owned());
            if from != columns {
                return Err(format!(
                    "{what} {field:?} for the format {from}, whose texts have their places; \
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
        Ok(Self {
            files: Files::find(paths)?,
            out: Out::new(options.clone()),
            options,
            open: None,
            ready: VecDeque::new(),
            ids: Ids::default(),
            repeated: 0,
            counts: ImportCounts::default(),
        })
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
    /// recordings. What stands beside them is for the caller.
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
                self.open = Some(open);
            } else {
                open.reader.end(&mut self.out);
            }
        }
        self.emit();
        let Some(file) = next else {
            return false;
        };
        self.counts.files.seen += 1;
        if let Err(problem) = self.begin(file) {
            self.counts.files.rejected += 1;
            self.ready.push_back(Err(problem));
        }
        true
    }

    fn begin(&mut self, file: File) -> Result<(), Problem> {
        let head::Opened {
            format,
            records,
            several,
        } = head::open(&file, self.options.from.as_deref())?;
        *self.out.formats.entry(format.name).or_default() += 1;
        if let Some(mut open) = self.open.take() {
            if open.format.name == format.name && !several {
                open.records = Some(records);
                self.open = Some(open);
                return Ok(());
            }
            open.reader.end(&mut self.out);
            self.emit();
        }
        let whole = format.whole_folder && !several;
        self.out
            .begin(format.name, file.stem(whole), file.corpus.clone());
        self.open = Some(Open {
            format,
            reader: (format.reader)(),
            records: Some(records),
            folder: whole.then(|| file.folder()),
        });
        Ok(())
    }

    /// Hands a record to the reader.
    fn record(&mut self, record: Result<cut::Record, Problem>) {
        let Some(open) = &mut self.open else {
            return;
        };
        self.counts.records.seen += 1;
        let taken = record.and_then(|record| {
            let place = record.place.clone();
            if matches!(record.content, cut::Content::Torn) {
                let what = "the file ends inside this line of a stream";
                let expected = "a whole line; what came before it is used, as where a file ends between two lines";
                self.out.warn(&place, what, expected);
                return Ok(());
            }
            let taken = open.reader.take(record, &mut self.out);
            taken.map_err(|fault| fault.at(place))
        });
        if let Err(problem) = taken {
            self.counts.records.rejected += 1;
            open.reader.gap();
            self.ready.push_back(Err(problem));
        }
        self.emit();
    }

    /// Moves on the transcripts that are whole.
    fn emit(&mut self) {
        for entry in std::mem::take(&mut self.out.found) {
            self.counts.transcripts.seen += 1;
            let unique = self.ids.insert(&entry.transcript.id, &entry.place);
            self.repeated += u64::from(unique.is_err());
            let fits = unique.and_then(|()| self.fitted(entry));
            self.counts.transcripts.rejected += u64::from(fits.is_err());
            self.ready.push_back(fits);
        }
    }
}

impl Import {
    /// The transcript as a line of a corpus can hold it; what was cut for that is told.
    fn fitted(&mut self, mut entry: Entry) -> Result<Entry, Problem> {
        let place = entry.place.clone();
        match fitting::fit_line(&mut entry) {
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
