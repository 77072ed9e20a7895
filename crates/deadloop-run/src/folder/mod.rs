//! [`Folder`]: a result folder, checked before any work and never overwritten unasked.

pub(crate) mod answer;
pub(crate) mod manifest;
pub(crate) mod outputs;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use deadloop_corpus::{FolderClaim, is_named};
use deadloop_score::{Manifest, ResultTable, result_tables};
use sha2::{Digest, Sha256};

use crate::failure::{Code, RunResult};
use crate::folder::outputs::{claim_folder, occupied_by};
use crate::host::Host;
use crate::option::{FORCE, OUT};

/// A claimed folder for the results of a command.
pub struct Folder {
    path: PathBuf,
    /// Whether the content of the folder may be overwritten.
    force: bool,
    _claim: FolderClaim,
}

/// The file name of the journal of unfinished work.
const JOURNAL: &str = ".journal.jsonl";

/// The file name of the manifest, which marks a finished result.
const MANIFEST: &str = "manifest.json";

/// The files of a result other than tables, each with a description.
const OTHER_FILES: [(&str, &str); 4] = [
    (
        "cases.jsonl",
        "the worst cases with the text around onset and alarm, for the report",
    ),
    (
        "rejected.jsonl",
        "the lines that were bad and left out, with the reason",
    ),
    (
        "settings.toml",
        "`tune`: what to run, per model; the head says verdict, reason and figures",
    ),
    (
        MANIFEST,
        "versions, hash of the corpus, grid, seed, options, counts, time, machine: enough to run it again",
    ),
];

/// Returns the files of a result with their descriptions. The report is left out, since it is written anew each time.
pub fn result_files() -> BTreeMap<String, String> {
    let others = OTHER_FILES.into_iter();
    let others = others.map(|(name, holds)| (name.to_owned(), holds.to_owned()));
    let mut files: BTreeMap<String, String> = others.collect();
    for table in result_tables() {
        // The tables of `compare` are in no folder of a run.
        if table.left_by == "compare" {
            continue;
        }
        let ResultTable {
            file, left_by, row, ..
        } = table;
        let holds = files.entry(file.to_owned()).or_default();
        let also = if holds.is_empty() { "" } else { "; " };
        *holds += &format!("{also}`{}`: {row} a row", left_by.replace(", ", "`, `"));
        if let Some(name) = file.strip_suffix(".parquet") {
            files.insert(
                format!("{name}.csv"),
                format!("as `{file}`, where asked for"),
            );
        }
    }
    files
}

/// The files of the report with their descriptions. Charts are left out.
pub const REPORT_FILES: [(&str, &str); 2] = [
    ("report.html", "the report, one offline page"),
    (
        "report.md",
        "the report as Markdown, for a terminal or a review",
    ),
];

/// The state of a result folder.
pub enum FolderState {
    /// A folder that is empty or holds unfinished work.
    Free,
    /// A folder that holds the finished result of the same inputs.
    Done(Box<Manifest>),
}

impl Folder {
    /// Creates the folder if it is missing and claims it. Checks that files can be written there and that none would
    /// overwrite an input in `read`.
    pub fn prepare(path: &Path, force: bool, read: &[&Path], host: &dyn Host) -> RunResult<Self> {
        let report = REPORT_FILES.map(|(name, _)| name.to_owned());
        let files: Vec<String> = result_files().into_keys().chain(report).collect();
        let claim = claim_folder(path, files.iter().map(String::as_str), read, host)?;
        Ok(Self {
            path: path.to_path_buf(),
            force,
            _claim: claim,
        })
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether the folder holds the result of `inputs`. Returns an error if it holds anything else.
    pub fn state(&self, inputs: &str) -> RunResult<FolderState> {
        // A journal marks interrupted work. Its inputs are checked when it is opened.
        if self.force || is_named(&self.journal()) {
            return Ok(FolderState::Free);
        }
        if let Ok(manifest) = Manifest::read(&self.path)
            && manifest.inputs == inputs
        {
            self.check_sizes(&manifest)?;
            return Ok(FolderState::Done(Box::new(manifest)));
        }
        let mut entries = std::fs::read_dir(&self.path)?;
        let other = entries.find_map(|entry| Some(entry.ok()?.file_name()));
        match other {
            None => Ok(FolderState::Free),
            Some(name) => {
                let what = " and is not the result of these inputs";
                Err(occupied_by(&self.path, Path::new(&name), what))
            }
        }
    }

    /// Returns the existing files of the result, with their sizes in bytes.
    pub fn files(&self) -> BTreeMap<String, u64> {
        let files = result_files().into_keys().filter(|name| name != MANIFEST);
        let size = |name: String| Some((name.clone(), self.file_size(&name)?));
        files.filter_map(size).collect()
    }

    fn file_size(&self, name: &str) -> Option<u64> {
        let about = std::fs::metadata(self.path.join(name)).ok()?;
        Some(about.len())
    }

    /// Checks that the files of a finished result have their recorded sizes.
    fn check_sizes(&self, manifest: &Manifest) -> RunResult {
        let other = |(name, bytes): &(&String, &u64)| self.file_size(name) != Some(**bytes);
        let Some((name, _)) = manifest.files.iter().find(other) else {
            return Ok(());
        };
        Err(Code::Usage.at(OUT, format!(
            "{}: holds these results, but {name} is not what was written; {FORCE} makes all of them anew",
            self.path.display(),
        )))
    }

    /// Removes an earlier result, so that no report mixes old and new files. The manifest is removed last, since a
    /// folder with a manifest counts as a result.
    pub fn begin(&self) -> RunResult {
        if !is_named(&self.path.join(MANIFEST)) {
            return Ok(());
        }
        for name in result_files().keys() {
            let path = self.path.join(name);
            match std::fs::remove_file(&path) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Code::Unexpected.error(format!("{}: {e}", path.display())));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the path of the journal.
    pub fn journal(&self) -> PathBuf {
        self.path.join(JOURNAL)
    }

    /// Returns whether the folder may be overwritten.
    pub fn force(&self) -> bool {
        self.force
    }
}

/// Returns a short hash of `parts`, on which a result depends.
pub(crate) fn fingerprint(parts: &[String]) -> String {
    let digest = Sha256::digest(parts.join("\u{0}").as_bytes());
    digest
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
