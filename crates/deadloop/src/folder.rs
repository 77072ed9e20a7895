//! The result folder: proven writable before any work, never overwritten without being told to.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::exit::{Code, Outcome};

/// The folder that a command writes to.
pub(crate) struct Folder {
    path: PathBuf,
    force: bool,
}

/// The journal of an unfinished sweep.
pub(crate) const JOURNAL: &str = ".journal.jsonl";

/// What is in the folder already.
pub(crate) enum State {
    /// Nothing, or an unfinished sweep.
    Free,
    /// The finished results of these very inputs.
    Done,
}

impl Folder {
    /// Makes the folder if it is not there and proves that files can be written in it.
    pub(crate) fn prepare(path: &Path, force: bool) -> Outcome<Self> {
        let refuse = |what: &str, e: std::io::Error| {
            Code::Usage.error(format!("--out {}: {what}: {e}", path.display()))
        };
        std::fs::create_dir_all(path).map_err(|e| refuse("cannot be made", e))?;
        tempfile::NamedTempFile::new_in(path).map_err(|e| refuse("cannot be written to", e))?;
        Ok(Self {
            path: path.to_path_buf(),
            force,
        })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether results of `inputs` are there; refuses a folder that holds anything else.
    pub(crate) fn state(&self, inputs: &str) -> Outcome<State> {
        if self.force {
            return Ok(State::Free);
        }
        if let Ok(manifest) = deadloop_score::Manifest::read(&self.path)
            && manifest.inputs == inputs
        {
            return Ok(State::Done);
        }
        let mut entries = std::fs::read_dir(&self.path)?;
        let foreign = entries.find_map(|entry| {
            let name = entry.ok()?.file_name();
            (name != JOURNAL).then_some(name)
        });
        match foreign {
            None => Ok(State::Free),
            Some(name) => Err(Code::Usage.error(format!(
                "--out {}: holds {} and is not the result of these inputs; choose another folder, or --force to overwrite",
                self.path.display(),
                Path::new(&name).display(),
            ))),
        }
    }

    /// The journal's place.
    pub(crate) fn journal(&self) -> PathBuf {
        self.path.join(JOURNAL)
    }

    /// Whether it may be overwritten.
    pub(crate) fn force(&self) -> bool {
        self.force
    }
}

/// A short name for everything that a result depends on.
pub(crate) fn fingerprint(parts: &[String]) -> String {
    let digest = Sha256::digest(parts.join("\u{0}").as_bytes());
    digest
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
