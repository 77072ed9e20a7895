//! The corpus that is made: a folder beside its name, which gets that name when it is whole.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use deadloop_corpus::{
    Beside, CorpusWriter, Effort, Problem, UnfinishedFolder, is_named, read_file, unfinished_folder,
};
use deadloop_score::write_labels;

use super::Imported;
use super::carried::Carried;
use super::told::told;
use crate::exit::{Code, Outcome};
use crate::interrupt;

/// The folder to be, under another name.
pub(super) struct Target {
    out: PathBuf,
    new: UnfinishedFolder,
}

const TRANSCRIPTS: &str = "transcripts";
const CARD: &str = "dataset.toml";
const LABELS: &str = "labels.csv";
const SPLITS: &str = "splits.csv";
const REJECTED: &str = "rejected.jsonl";

impl Target {
    pub(super) fn prepare(out: &Path, force: bool) -> Outcome<Self> {
        let refuse = |what: String| Code::Usage.error(format!("--out {}: {what}", out.display()));
        if is_named(out) && !force {
            return Err(refuse(
                "is there already; choose another name, or --force".into(),
            ));
        }
        if is_named(out) && !out.is_dir() {
            return Err(refuse("is no folder; expected the name of one".into()));
        }
        let parent = out.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        std::fs::create_dir_all(parent).map_err(|e| refuse(format!("cannot be made: {e}")))?;
        interrupt::sweeps(parent);
        let new =
            unfinished_folder(parent).map_err(|e| refuse(format!("cannot be written to: {e}")))?;
        std::fs::create_dir(new.path().join(TRANSCRIPTS))?;
        Ok(Self {
            out: out.to_path_buf(),
            new,
        })
    }

    pub(super) fn writer(&self) -> Outcome<CorpusWriter> {
        let path = self.new.path().join(TRANSCRIPTS).join("imported.jsonl.zst");
        Ok(CorpusWriter::create_with(&path, false, Effort::Quick)?)
    }

    /// Where problems are listed.
    pub(super) fn rejected(&self) -> Rejected {
        Rejected {
            path: self.new.path().join(REJECTED),
            file: None,
        }
    }

    /// Writes the card: where the transcripts come from.
    pub(super) fn card(&self, imported: &Imported) -> Outcome {
        let name = self
            .out
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let models = imported
            .models
            .keys()
            .map(|model| toml::toml! { name = (model.as_str()) });
        let mut card = toml::Table::new();
        let how = format!("deadloop import: {}", imported.sums());
        for (key, value) in [
            ("name", name.as_str()),
            ("version", "1"),
            ("licence", "not stated"),
            ("description", "Recordings that were imported"),
            ("how", how.as_str()),
        ] {
            card.insert(key.into(), value.into());
        }
        card.insert(
            "models".into(),
            models.map(toml::Value::Table).collect::<Vec<_>>().into(),
        );
        let mut file = Beside::create(&self.new.path().join(CARD), false)?;
        file.write_all(toml::to_string(&card)?.as_bytes())?;
        Ok(file.finish()?)
    }

    /// Takes over the card of a corpus.
    pub(super) fn copy_card(&self, card: &Path) -> Outcome {
        let mut file = Beside::create(&self.new.path().join(CARD), false)?;
        file.write_all(&read_file(card)?)?;
        Ok(file.finish()?)
    }

    /// Writes the labels and splits that come along, where there are any.
    pub(super) fn beside(&self, carried: &Carried) -> Outcome {
        let labels = carried.labels();
        if !labels.is_empty() {
            write_labels(&self.new.path().join(LABELS), &labels)?;
        }
        if !carried.splits.is_empty() {
            let file = Beside::create(&self.new.path().join(SPLITS), false)?;
            let mut writer = csv::Writer::from_writer(file);
            writer.write_record(["transcript", "split"])?;
            for row in &carried.splits {
                writer.write_record(row)?;
            }
            let file = writer.into_inner().map_err(|e| e.into_error())?;
            file.finish()?;
        }
        Ok(())
    }

    /// Gives the folder its name, which is returned; of a corpus that is there the parts that were made anew.
    pub(super) fn finish(self) -> Outcome<PathBuf> {
        if !self.out.exists() {
            // From here on it is no temporary folder.
            std::fs::rename(self.new.keep(), &self.out)?;
            return Ok(self.out);
        }
        let old = self.new.path().join("old");
        std::fs::create_dir(&old)?;
        for part in [TRANSCRIPTS, CARD, REJECTED] {
            let (new, there) = (self.new.path().join(part), self.out.join(part));
            if is_named(&there) {
                std::fs::rename(&there, old.join(part))?;
            }
            if new.exists() {
                std::fs::rename(new, there)?;
            }
        }
        for part in [LABELS, SPLITS] {
            let new = self.new.path().join(part);
            if new.exists() {
                std::fs::rename(new, self.out.join(part))?;
            }
        }
        Ok(self.out)
    }
}

/// `rejected.jsonl`, which is there only where something was rejected.
pub(super) struct Rejected {
    path: PathBuf,
    file: Option<BufWriter<Beside>>,
}

impl Rejected {
    pub(super) fn add(&mut self, problem: &Problem) -> Outcome {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(BufWriter::new(Beside::create(&self.path, false)?)),
        };
        Ok(writeln!(file, "{}", told(problem))?)
    }

    pub(super) fn finish(self) -> Outcome {
        if let Some(file) = self.file {
            file.into_inner().map_err(|e| e.into_error())?.finish()?;
        }
        Ok(())
    }
}
