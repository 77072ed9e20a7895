//! [`ImportTarget`]: the target folder of an import, renamed into place when it is complete.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use deadloop_corpus::{
    Corpus, CorpusWriter, Effort, Entry, FolderClaim, Problem, UnfinishedFile, UnfinishedFolder,
    claim, create_unfinished_folder, is_named, read_file,
};
use deadloop_import::source::files::FileStamp;
use deadloop_score::write_labels;

use serde_json::Value;

use super::carried_files::CarriedFiles;
use super::labels::ImportedLabels;
use crate::corpus::survey::rejected_row;
use crate::failure::{Code, Failure, RunResult};
use crate::folder::outputs::{parent_folder, write_table};
use crate::host::Host;
use crate::option::{FORCE, OUT, RESUME};

/// The target folder, under a temporary name until it is complete.
pub(super) struct ImportTarget {
    out: PathBuf,
    draft: UnfinishedFolder,
    /// Whether the import replaces parts of an existing folder.
    replaces: bool,
    /// The claim on the final folder, held until the import ends.
    _claim: FolderClaim,
}

const TRANSCRIPTS: &str = "transcripts";
const CARD: &str = "dataset.toml";
pub(super) const LABELS: &str = "labels.csv";
const SPLITS: &str = "splits.csv";
const REJECTED: &str = "rejected.jsonl";
const SOURCES: &str = "sources.csv";
const IMPORTED_FILE: &str = "imported.jsonl.zst";
/// The file of newly read transcripts, before they are joined with the existing ones.
const NEW_FILE: &str = "new.jsonl.zst";

impl ImportTarget {
    /// Creates the folder under a temporary name. `may_exist` is whether a folder with the final name may exist.
    pub(super) fn prepare(out: &Path, may_exist: bool, host: &dyn Host) -> RunResult<Self> {
        let refuse = |what: String| Code::Usage.at(OUT, format!("{}: {what}", out.display()));
        if is_named(out) && !may_exist {
            return Err(refuse(format!(
                "is there already; choose another name, {RESUME} to add what is new, or {FORCE}"
            )));
        }
        if is_named(out) && !out.is_dir() {
            return Err(refuse("is no folder; expected the name of one".into()));
        }
        let parent = parent_folder(out);
        std::fs::create_dir_all(parent).map_err(|e| refuse(format!("cannot be made: {e}")))?;
        host.writes(parent);
        let claim = claim(out).map_err(|e| refuse(e.to_string()))?;
        put_in_place(out, &mut || Ok(()))?;
        let new = create_unfinished_folder(parent)
            .map_err(|e| refuse(format!("cannot be written to: {e}")))?;
        std::fs::create_dir(new.path().join(TRANSCRIPTS))?;
        Ok(Self {
            out: out.to_path_buf(),
            draft: new,
            replaces: is_named(out),
            _claim: claim,
        })
    }

    /// Creates the writer of transcripts. `will_join` is whether they are later joined with an existing corpus.
    pub(super) fn transcript_writer(&self, will_join: bool) -> RunResult<CorpusWriter> {
        self.create_writer(if will_join { NEW_FILE } else { IMPORTED_FILE })
    }

    fn create_writer(&self, name: &str) -> RunResult<CorpusWriter> {
        let path = self.draft.path().join(TRANSCRIPTS).join(name);
        Ok(CorpusWriter::create_with(&path, false, Effort::Quick)?)
    }

    /// Joins the transcripts of the existing corpus with the new ones, which replace old ones of the same id. Returns
    /// the counts.
    pub(super) fn join_with(&self, old: &Corpus) -> RunResult<JoinedCorpus> {
        let path = self.draft.path().join(TRANSCRIPTS).join(NEW_FILE);
        let new = Corpus::open(&path)?;
        let mut ids = HashSet::new();
        for entry in new.entries() {
            ids.insert(entry.map_err(usage_failure)?.transcript.id);
        }
        let mut writer = self.create_writer(IMPORTED_FILE)?;
        let mut joined = JoinedCorpus::default();
        for entry in old.entries() {
            let entry = entry.map_err(usage_failure)?;
            if ids.contains(&entry.transcript.id) {
                joined.replaced += 1;
                continue;
            }
            joined.add(&entry);
            writer.write(&entry)?;
        }
        for entry in new.entries() {
            let entry = entry.map_err(usage_failure)?;
            joined.add(&entry);
            writer.write(&entry)?;
        }
        writer.finish()?;
        std::fs::remove_file(path)?;
        Ok(joined)
    }

    /// Writes sources.csv, the list of source files with their stamps. `before` lists the files of earlier imports.
    pub(super) fn write_sources(&self, read: &SourceStamps, before: &SourceStamps) -> RunResult {
        let mut all = before.clone();
        all.extend(read.clone());
        // A path that is not UTF-8 is not listed, so it is read each time.
        let rows = all.iter().filter_map(|(path, stamp)| {
            let [bytes, modified] = [stamp.bytes, stamp.modified].map(|n| n.to_string());
            Some([path.to_str()?.to_owned(), bytes, modified])
        });
        let path = self.draft.path().join(SOURCES);
        write_table(&path, &["file", "bytes", "modified"], rows, false)
    }

    /// Returns the writer of rejected.jsonl.
    pub(super) fn rejected_lines(&self) -> RejectedLines {
        RejectedLines {
            path: self.draft.path().join(REJECTED),
            file: None,
        }
    }

    /// Copies the rejected lines of files that were not read again. `read` lists the files read now.
    pub(super) fn keep_rejected(&self, read: &SourceStamps) -> RunResult {
        let (old, new) = (self.out.join(REJECTED), self.draft.path().join(REJECTED));
        if !old.is_file() {
            return Ok(());
        }
        let mut lines = if new.is_file() {
            read_file(&new)?
        } else {
            Vec::new()
        };
        for line in read_file(&old)?.split_inclusive(|byte| *byte == b'\n') {
            let problem: Value = serde_json::from_slice(line).unwrap_or_default();
            let file = Path::new(problem["file"].as_str().unwrap_or_default());
            let file = file.canonicalize().unwrap_or_else(|_| file.to_path_buf());
            // Records of a database or an archive have paths below it.
            if !file.ancestors().any(|file| read.contains_key(file)) {
                lines.extend_from_slice(line);
            }
        }
        if !lines.is_empty() {
            let mut file = UnfinishedFile::create(&new, true)?;
            file.write_all(&lines)?;
            file.finish()?;
        }
        Ok(())
    }

    /// Writes the card, with the models and the counts of the import in `how`.
    pub(super) fn write_card<'a>(
        &self,
        models: impl Iterator<Item = &'a String>,
        how: &str,
    ) -> RunResult {
        let name = self
            .out
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let models = models.map(|model| toml::toml! { name = (model.as_str()) }.into());
        let models: Vec<toml::Value> = models.collect();
        let how = format!("deadloop import: {how}");
        let card = toml::toml! {
            name = (name.as_str())
            version = "1"
            licence = "not stated"
            description = "Recordings that were imported"
            how = (how.as_str())
            models = (models)
        };
        let mut file = UnfinishedFile::create(&self.draft.path().join(CARD), false)?;
        file.write_all(toml::to_string(&card)?.as_bytes())?;
        Ok(file.finish()?)
    }

    /// Copies the card at path `card`.
    pub(super) fn copy_card(&self, card: &Path) -> RunResult {
        let mut file = UnfinishedFile::create(&self.draft.path().join(CARD), false)?;
        file.write_all(&read_file(card)?)?;
        Ok(file.finish()?)
    }

    /// Writes the labels found by [`ImportedLabels::find`].
    pub(super) fn write_labels_csv(
        &self,
        carried: &CarriedFiles,
        proposes: bool,
        host: &dyn Host,
    ) -> RunResult<ImportedLabels> {
        let old = Some(self.out.as_path()).filter(|out| out.exists());
        let found =
            ImportedLabels::find(self.draft.path(), old, carried.label_rows(), proposes, host)?;
        if let Some(rows) = &found.rows {
            write_labels(&self.draft.path().join(LABELS), rows)?;
        }
        Ok(found)
    }

    /// Proposes labels for the unlabelled transcripts of an existing corpus to which nothing was added.
    pub(super) fn propose_in_existing(&self, host: &dyn Host) -> RunResult<ImportedLabels> {
        let found = ImportedLabels::find(&self.out, Some(&self.out), Vec::new(), true, host)?;
        if let Some(rows) = &found.rows {
            write_labels(&self.out.join(LABELS), rows)?;
        }
        Ok(found)
    }

    /// Writes the carried splits, if any, together with the existing splits of other transcripts.
    pub(super) fn write_splits(&self, carried: &CarriedFiles) -> RunResult {
        if carried.splits.is_empty() {
            return Ok(());
        }
        let mut splits = BTreeMap::new();
        let there = self.out.join(SPLITS);
        if there.is_file() {
            for row in csv::Reader::from_path(&there)?.into_deserialize() {
                let (transcript, split): (String, String) = row?;
                splits.insert(transcript, split);
            }
        }
        splits.extend(
            carried
                .splits
                .iter()
                .cloned()
                .map(|[id, split]| (id, split)),
        );
        let rows = splits.iter().map(|(id, split)| [id, split]);
        let path = self.draft.path().join(SPLITS);
        write_table(&path, &["transcript", "split"], rows, false)
    }

    /// Moves the folder to its final name, which it returns. In an existing corpus only the new parts are replaced. All
    /// parts are moved into the corpus folder before the first one is put in place, so that the next import can finish
    /// one that was killed.
    pub(super) fn finish(self) -> RunResult<PathBuf> {
        if !self.out.exists() {
            // The folder is no longer temporary.
            std::fs::rename(self.draft.keep(), &self.out)?;
            return Ok(self.out);
        }
        if !self.replaces {
            let what = "was made by somebody else meanwhile; nothing was written to it";
            return Err(Code::Usage.at(OUT, format!("{}: {what}", self.out.display())));
        }
        std::fs::rename(self.draft.keep(), self.out.join(COMPLETE_IMPORT))?;
        put_in_place(&self.out, &mut || Ok(()))?;
        Ok(self.out)
    }
}

/// The folder inside of a corpus that holds a complete import until its parts are in place.
const COMPLETE_IMPORT: &str = ".whole-import";

/// Moves the parts of a complete import to their places in a corpus. Does nothing without one. May be repeated after an
/// interruption at any step. `step` is called before each step.
fn put_in_place(out: &Path, step: &mut dyn FnMut() -> io::Result<()>) -> io::Result<()> {
    let whole = out.join(COMPLETE_IMPORT);
    if !whole.is_dir() {
        return Ok(());
    }
    let (transcripts, there) = (whole.join(TRANSCRIPTS), out.join(TRANSCRIPTS));
    if transcripts.exists() {
        // Labels are replaced before their texts. Parts that the import does not have are removed before that.
        for part in [REJECTED, SOURCES] {
            if is_named(&out.join(part)) && !whole.join(part).exists() {
                step()?;
                std::fs::remove_file(out.join(part))?;
            }
        }
        replace_parts(&whole, out, &[LABELS, SPLITS], step)?;
        if is_named(&there) {
            step()?;
            std::fs::rename(&there, whole.join("old"))?;
        }
        step()?;
        std::fs::rename(&transcripts, &there)?;
    }
    replace_parts(&whole, out, &[CARD, REJECTED, SOURCES], step)?;
    step()?;
    std::fs::remove_dir_all(whole)
}

/// Moves files of a complete import over those of a corpus, each in one step.
fn replace_parts(
    whole: &Path,
    out: &Path,
    parts: &[&str],
    step: &mut dyn FnMut() -> io::Result<()>,
) -> io::Result<()> {
    for part in parts {
        let new = whole.join(part);
        if new.exists() {
            step()?;
            std::fs::rename(new, out.join(part))?;
        }
    }
    Ok(())
}

/// The counts of a corpus to which an import added.
#[derive(Default)]
pub struct JoinedCorpus {
    /// The number of all transcripts.
    pub all: u64,
    /// The number of old transcripts that were replaced.
    pub replaced: u64,
    /// The number of transcripts of each model.
    pub models: BTreeMap<String, u64>,
}

impl JoinedCorpus {
    fn add(&mut self, entry: &Entry) {
        self.all += 1;
        let model = entry.transcript.model.clone();
        *self.models.entry(model).or_default() += 1;
    }
}

fn usage_failure(problem: Problem) -> Failure {
    Code::Usage.error(problem.to_string())
}

/// The source files of a corpus, with their stamps when they were read.
pub(super) type SourceStamps = BTreeMap<PathBuf, FileStamp>;

/// Reads sources.csv, the list of files from which a corpus was imported. `None` if the corpus has no such list.
pub(super) fn read_sources(corpus: &Path) -> RunResult<Option<SourceStamps>> {
    let path = corpus.join(SOURCES);
    if !path.exists() {
        return Ok(None);
    }
    let mut sources = SourceStamps::new();
    for row in csv::Reader::from_path(&path)?.into_deserialize() {
        let (file, bytes, modified): (PathBuf, u64, u64) = row?;
        sources.insert(file, FileStamp { bytes, modified });
    }
    Ok(Some(sources))
}

/// The writer of `rejected.jsonl`. The file is created with the first rejected line.
pub(super) struct RejectedLines {
    path: PathBuf,
    file: Option<BufWriter<UnfinishedFile>>,
}

impl RejectedLines {
    /// Adds a rejected line.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub(super) fn add(&mut self, problem: &Problem) -> RunResult {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(BufWriter::new(UnfinishedFile::create(&self.path, false)?)),
        };
        Ok(writeln!(file, "{}", rejected_row(problem))?)
    }

    /// Moves the file to its final name.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub(super) fn finish(self) -> RunResult {
        if let Some(file) = self.file {
            file.into_inner().map_err(|e| e.into_error())?.finish()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARTS: [&str; 5] = [LABELS, SPLITS, CARD, REJECTED, SOURCES];

    /// Writes the parts of a corpus, each with its content.
    fn corpus(dir: &Path, parts: &[&str], content: &str) {
        std::fs::create_dir_all(dir.join(TRANSCRIPTS)).unwrap();
        let transcripts = [TRANSCRIPTS, IMPORTED_FILE].iter().collect::<PathBuf>();
        for part in parts.iter().map(Path::new).chain([&*transcripts]) {
            std::fs::write(dir.join(part), content).unwrap();
        }
    }

    fn contents(dir: &Path) -> Vec<Option<String>> {
        let imported = format!("{TRANSCRIPTS}/{IMPORTED_FILE}");
        let parts = PARTS.into_iter().chain([imported.as_str()]);
        let read = |part: &str| std::fs::read_to_string(dir.join(part)).ok();
        parts.map(read).collect()
    }

    /// Stops before each step in turn, as a kill does, and lets the next import go on.
    #[test]
    fn an_import_that_is_stopped_at_any_step_is_finished_by_the_next() {
        for new in [&PARTS[..], &[CARD], &[CARD, SOURCES], &[LABELS, CARD]] {
            let stops = (0..).find(|stop| {
                let dir = tempfile::tempdir().unwrap();
                corpus(dir.path(), &PARTS, "old");
                corpus(&dir.path().join(COMPLETE_IMPORT), new, "new");
                let mut steps = 0;
                let mut step = || {
                    steps += 1;
                    if steps > *stop {
                        Err(io::ErrorKind::Interrupted.into())
                    } else {
                        Ok(())
                    }
                };
                let stopped = put_in_place(dir.path(), &mut step).is_err();
                put_in_place(dir.path(), &mut || Ok(())).unwrap();
                let kept = |part| match part {
                    _ if new.contains(&part) => Some("new".to_owned()),
                    LABELS | SPLITS => Some("old".to_owned()),
                    _ => None,
                };
                let wanted = PARTS.map(kept).into_iter().chain([Some("new".to_owned())]);
                assert_eq!(
                    contents(dir.path()),
                    wanted.collect::<Vec<_>>(),
                    "{stop} {new:?}"
                );
                assert!(!dir.path().join(COMPLETE_IMPORT).exists());
                !stopped
            });
            assert!(stops.is_some_and(|stops| stops > 3), "{stops:?}");
        }
    }
}
