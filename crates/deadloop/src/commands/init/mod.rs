//! `deadloop init`: writes a folder with files to start from.
//!
//! The written files are in `files/`.

use std::fmt::Display;
use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use deadloop_corpus::{UnfinishedFile, is_named};
use serde_json::json;

use crate::args::GlobalArgs;
use crate::exit::{Code, Outcome};
use crate::show::{self, typed};

/// The end of the help text.
pub(crate) const HELP: &str = "\
Examples:
  deadloop init
  deadloop init guard && cd guard && deadloop tune corpus --grid grid.toml

Writes settings.toml (the recommended guard, each line explained), grid.toml (what to search), corpus/ (144 \
transcripts with labels, made for this purpose) and deadloop.yml (a job for CI). If one of these files exists, \
nothing is written.";

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The folder; it is made if it does not exist
    #[arg(default_value = ".")]
    dir: PathBuf,
}

/// Lists the files to write, each with its purpose and content.
macro_rules! files {
    ($($name:literal: $what:literal,)*) => {
        [$(($name, $what, include_bytes!(concat!("files/", $name)))),*]
    };
}

/// The files to write, each with its purpose and content.
const STARTER_FILES: [(&str, &str, &[u8]); 6] = files! {
    "settings.toml": "what production loads: the recommended guard",
    "grid.toml": "what tune searches",
    "corpus/dataset.toml": "the card of the corpus",
    "corpus/labels.csv": "what is true about it",
    "corpus/transcripts/examples.jsonl.zst": "144 transcripts, one a line",
    "deadloop.yml": "a job for CI: settings.toml is no worse than the recommended guard",
};

pub(super) fn run(args: &InitArgs, global: GlobalArgs) -> Outcome {
    let path = |name: &str| args.dir.join(name);
    let there: Vec<String> = STARTER_FILES
        .iter()
        .map(|(name, ..)| path(name))
        .filter(|file| is_named(file))
        .map(|file| file.display().to_string())
        .collect();
    if !there.is_empty() {
        return Err(Code::Usage.error(format!(
            "{} is there already; nothing was written; name another folder: deadloop init DIR",
            there.join(", ")
        )));
    }
    let write = |(name, _, bytes): &(&str, &str, &[u8])| {
        let file = path(name);
        let refused = |e: &dyn Display| Code::Usage.error(format!("{}: {e}", file.display()));
        if let Some(dir) = file.parent() {
            std::fs::create_dir_all(dir).map_err(|e| refused(&e))?;
        }
        let mut unfinished =
            UnfinishedFile::create(&file, false).map_err(|e| Code::Usage.because(e))?;
        unfinished.write_all(bytes).map_err(|e| refused(&e))?;
        Ok(unfinished)
    };
    // No file gets its final name before all files are on the disk.
    let written: Vec<UnfinishedFile> = STARTER_FILES.iter().map(write).collect::<Outcome<_>>()?;
    for file in written {
        file.finish().map_err(|e| Code::Usage.because(e))?;
    }
    print_next(args, global)
}

fn print_next(args: &InitArgs, global: GlobalArgs) -> Outcome {
    let shown = |name: &str| args.dir.join(name).display().to_string();
    let files: Vec<String> = STARTER_FILES.iter().map(|(name, ..)| shown(name)).collect();
    let rows = STARTER_FILES.map(|(name, what, _)| vec![shown(name), what.to_owned()]);
    let text = || show::table(&["file", "what it is"], &rows, 2);
    show::print_values(&json!({"files": files}), text, global)?;
    let (corpus, grid) = (args.dir.join("corpus"), args.dir.join("grid.toml"));
    let out = typed(args.dir.join("tuned"));
    show::print_next(
        &[
            &format!("deadloop show {}", typed(&corpus)),
            &format!(
                "deadloop tune {} --grid {} --out {out}",
                typed(&corpus),
                typed(&grid)
            ),
            "deadloop import YOUR-LOGS --out recordings",
        ],
        global,
    )
}
