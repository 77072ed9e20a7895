//! Writes the files of a comparison, and adds commands that explain its flips.
//!
//! The files are `comparison.json`, `flips.csv`, `base.toml` and `new.toml`. The commands refer to them.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use deadloop_corpus::{FolderClaim, UnfinishedFile, claim};
use deadloop_score::{FileError, Manifest, Side, flips_csv};

use super::{ComparisonOptions, ComparisonOutputs, PinnedComparison};
use crate::failure::{Code, RunResult};
use crate::folder::outputs::{check_distinct, check_file_writable};
use crate::host::Host;
use crate::option::{JUNIT, MARKDOWN, OUT, RunOption, SETTINGS};
use crate::visible::visible_json;
use crate::words::typed;

/// The claimed folder for the files of a comparison, if one was requested.
pub(super) struct ComparisonFolder(Option<(PathBuf, FolderClaim)>);

impl ComparisonFolder {
    /// Checks that all outputs can be written without overwriting a file of the user. `read` lists the input paths.
    pub(super) fn prepare(
        args: &ComparisonOutputs,
        read: &[&Path],
        host: &dyn Host,
    ) -> RunResult<Self> {
        check_distinct(&files_to_write(args), read)?;
        for (option, path) in single_files(args) {
            check_file_writable(option, &path, args.force)?;
        }
        let mut claimed = None;
        if let Some(dir) = &args.out {
            let refuse = |e: std::io::Error| {
                Code::Usage.at(OUT, format!("{}: cannot be made: {e}", dir.display()))
            };
            std::fs::create_dir_all(dir).map_err(refuse)?;
            claimed = Some((dir.clone(), claim(dir).map_err(refuse)?));
            host.writes(dir);
            for name in FOLDER_FILES {
                check_file_writable(OUT, &dir.join(name), args.force)?;
            }
        }
        Ok(Self(claimed))
    }

    /// Writes the files into the folder. Does nothing without a folder.
    pub(super) fn write(&self, compared: &PinnedComparison) -> RunResult {
        let Some((dir, _)) = &self.0 else {
            return Ok(());
        };
        let flips = flips_csv(&compared.comparison.flips)?;
        let json = visible_json(&serde_json::to_string(compared)?) + "\n";
        let toml = |side: &Side| side.toml.clone().map(String::into_bytes);
        let all = [
            Some(json.into_bytes()),
            Some(flips),
            toml(&compared.base),
            toml(&compared.new),
        ];
        let write = |(name, bytes): (&str, Vec<u8>)| -> RunResult<UnfinishedFile> {
            let path = dir.join(name);
            let mut file = UnfinishedFile::create(&path, true)?;
            file.write_all(&bytes)
                .map_err(|e| FileError::at(&path, e))?;
            Ok(file)
        };
        // No file gets its final name before all files are on the disk.
        let files = FOLDER_FILES.into_iter().zip(all);
        let files = files.filter_map(|(name, bytes)| Some(write((name, bytes?))));
        for file in files.collect::<RunResult<Vec<UnfinishedFile>>>()? {
            file.finish()?;
        }
        Ok(())
    }
}

/// The names of the files in the folder.
const FOLDER_FILES: [&str; 4] = ["comparison.json", "flips.csv", "base.toml", "new.toml"];

/// Returns the output files outside of the folder, each with its option.
fn single_files(args: &ComparisonOutputs) -> impl Iterator<Item = (RunOption, PathBuf)> {
    let files = [(MARKDOWN, &args.markdown), (JUNIT, &args.junit)].into_iter();
    files.filter_map(|(option, path)| Some((option, path.clone()?)))
}

/// Returns all output files, each with its option.
fn files_to_write(args: &ComparisonOutputs) -> Vec<(RunOption, PathBuf)> {
    let dir = args.out.iter();
    let inner = dir.flat_map(|dir| FOLDER_FILES.map(|name| (OUT, dir.join(name))));
    single_files(args).chain(inner).collect()
}

/// Adds to each flip the command that explains it. Does nothing if the settings of a side are not in a file.
pub(super) fn explain_flips(compared: &mut PinnedComparison, args: &ComparisonOptions) {
    let file = |path: &Path| path.is_file().then(|| path.to_path_buf());
    let (base, new) = (&compared.base.toml, &compared.new.toml);
    let settings = match &args.write.out {
        Some(dir) if base.is_some() && new.is_some() => {
            Some((dir.join("base.toml"), dir.join("new.toml")))
        }
        _ if args.judge.set.is_empty() => file(&args.base).zip(file(&args.new)),
        _ => None,
    };
    let Some((base, new)) = settings.map(|(base, new)| (typed(base), typed(new))) else {
        return;
    };
    let manifest = |path: &Path| Some(PathBuf::from(Manifest::read(path).ok()?.corpus.path));
    let corpus = args.corpus.clone().or_else(|| manifest(&args.new));
    let corpus = corpus.or_else(|| manifest(&args.base));
    let corpus = typed(corpus.unwrap_or_else(|| "CORPUS".into()));
    let command = |transcript: &str| {
        let transcript = typed(transcript);
        format!("deadloop explain {corpus} {transcript} {SETTINGS} {base} {SETTINGS} {new}")
    };
    for flip in &mut compared.comparison.flips {
        flip.explain = Some(command(&flip.transcript));
    }
    compared.command = Some(command("TRANSCRIPT"));
}
