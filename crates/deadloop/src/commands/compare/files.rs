//! Writes the files of a comparison, and the commands that explain its flips.
//!
//! The files are `comparison.json`, `flips.csv`, `base.toml` and `new.toml`. The commands refer to them.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use deadloop_corpus::{FolderClaim, UnfinishedFile, WriteError, claim};
use deadloop_score::{FileError, Manifest, Side, flips_csv};

use super::{CompareArgs, WriteArgs as CompareWrite};
use crate::comparison::PinnedComparison;
use crate::exit::{Code, Outcome};
use crate::interrupt;
use deadloop_run::{apart, typed};

/// The folder of the files.
pub(crate) struct ComparisonFolder(Option<(PathBuf, FolderClaim)>);

impl ComparisonFolder {
    /// Checks that everything can be written, and that no file of the user is overwritten.
    pub(crate) fn prepare(args: &CompareWrite, read: &[&Path]) -> Outcome<Self> {
        apart(&files_to_write(args), read)?;
        let files = [("--markdown", &args.markdown), ("--junit", &args.junit)];
        for (option, path) in files {
            if let Some(path) = path {
                writable(option, path, args.force)?;
            }
        }
        let mut claimed = None;
        if let Some(dir) = &args.out {
            let refuse = |e: std::io::Error| {
                Code::Usage.error(format!("--out {}: cannot be made: {e}", dir.display()))
            };
            std::fs::create_dir_all(dir).map_err(refuse)?;
            claimed = Some((dir.clone(), claim(dir).map_err(refuse)?));
            interrupt::sweeps(dir);
            for name in FILES {
                writable("--out", &dir.join(name), args.force)?;
            }
        }
        Ok(Self(claimed))
    }

    /// Writes all files.
    pub(crate) fn write(&self, compared: &PinnedComparison) -> Outcome {
        let Some((dir, _)) = &self.0 else {
            return Ok(());
        };
        let flips = flips_csv(&compared.comparison.flips)?;
        let json = compared.json()? + "\n";
        let toml = |side: &Side| side.toml.clone().map(String::into_bytes);
        let all = [
            Some(json.into_bytes()),
            Some(flips),
            toml(&compared.base),
            toml(&compared.new),
        ];
        let write = |(name, bytes): (&str, Vec<u8>)| -> Outcome<UnfinishedFile> {
            let path = dir.join(name);
            let mut file = UnfinishedFile::create(&path, true)?;
            file.write_all(&bytes)
                .map_err(|e| FileError::at(&path, e))?;
            Ok(file)
        };
        // None has its name before all of them are on the disk.
        let files = FILES.into_iter().zip(all);
        let files = files.filter_map(|(name, bytes)| Some(write((name, bytes?))));
        for file in files.collect::<Outcome<Vec<UnfinishedFile>>>()? {
            file.finish()?;
        }
        Ok(())
    }
}

/// The files of the folder.
const FILES: [&str; 4] = ["comparison.json", "flips.csv", "base.toml", "new.toml"];

/// Returns all files to write, each with its option.
fn files_to_write(args: &CompareWrite) -> Vec<(&'static str, PathBuf)> {
    let files = [("--markdown", &args.markdown), ("--junit", &args.junit)];
    let files = files.into_iter();
    let files = files.filter_map(|(option, path)| Some((option, path.clone()?)));
    let dir = args.out.iter();
    let inner = dir.flat_map(|dir| FILES.map(|name| ("--out", dir.join(name))));
    files.chain(inner).collect()
}

/// Checks that a file can be written, without writing it.
fn writable(option: &str, path: &Path, force: bool) -> Outcome {
    let refuse = |e: WriteError| match e {
        WriteError::Exists { path } => Code::Usage.error(format!(
            "{option} {}: is there already; --force to overwrite it",
            path.display()
        )),
        other => Code::Usage.error(format!("{option} {other}")),
    };
    UnfinishedFile::create(path, force)
        .map(drop)
        .map_err(refuse)
}

/// Adds to each flip the command that explains it.
pub(crate) fn explain(compared: &mut PinnedComparison, place: &FlipPlace) {
    let Some((base, new)) = place.settings.as_ref() else {
        return;
    };
    let corpus = place.corpus.as_deref().unwrap_or("CORPUS");
    let command = |transcript: &str| {
        let (corpus, transcript) = (typed(corpus), typed(transcript));
        let (base, new) = (typed(base), typed(new));
        format!("deadloop explain {corpus} {transcript} --settings {base} --settings {new}")
    };
    for flip in &mut compared.comparison.flips {
        flip.explain = Some(command(&flip.transcript));
    }
    compared.command = Some(command("TRANSCRIPT"));
}

/// The places of a transcript and of the settings of both sides, for later commands.
pub(crate) struct FlipPlace {
    corpus: Option<String>,
    settings: Option<(String, String)>,
}

impl FlipPlace {
    pub(crate) fn new(args: &CompareArgs, (base, new): (&Side, &Side)) -> Self {
        let manifest = |path: &Path| Some(Manifest::read(path).ok()?.corpus.path);
        let named = args.corpus.as_ref().map(|path| path.display().to_string());
        let found = || manifest(&args.new).or_else(|| manifest(&args.base));
        let file = |path: &Path| path.is_file().then(|| path.display().to_string());
        let settings = match &args.write.out {
            Some(dir) if base.toml.is_some() && new.toml.is_some() => {
                let at = |name| dir.join(name).display().to_string();
                Some((at("base.toml"), at("new.toml")))
            }
            _ if args.judge.set.is_empty() => file(&args.base).zip(file(&args.new)),
            _ => None,
        };
        Self {
            corpus: named.or_else(found),
            settings,
        }
    }
}
