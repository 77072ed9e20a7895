//! `deadloop report`: renders the report of a result folder again.

use std::path::{Path, PathBuf};

use clap::Args;
use deadloop_report::Options;
use deadloop_score::Manifest;
use serde_json::json;

use crate::args::GlobalArgs;
use crate::exit::{Code, Outcome};
use crate::interrupt;
use crate::report_page::render;
use crate::show;

pub(crate) const HELP: &str = "\
Examples:
  deadloop report tuned --open
  deadloop report tuned --redact

Writes report.html, report.md and, the charts as charts/NAME.svg. The charts of an earlier report are replaced. Open an SVG in \
a browser to print it.";

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// A folder that tune, sweep, replay, repair or budget wrote
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Hide the letters and digits of the transcripts in the page; copies and structure stay
    #[arg(long)]
    pub(crate) redact: bool,
    /// Open the page afterwards
    #[arg(long)]
    pub(crate) open: bool,
}

pub(super) fn run(args: &ReportArgs, global: GlobalArgs) -> Outcome {
    let dir = args.dir.as_path();
    if !dir.join("manifest.json").is_file() {
        let what = "no manifest.json; expected a folder that tune, sweep, replay, repair or budget finished";
        return Err(Code::Usage.error(format!("{}: {what}", dir.display())));
    }
    interrupt::sweeps(dir);
    let options = Options {
        redact: args.redact,
    };
    let report = render(dir, &options, global)?;
    if args.redact {
        recount(dir)?;
    }
    if report.redacted && !global.quiet && !global.json {
        show::print(SAFE)?;
    }
    if global.json {
        let files: Vec<String> = report
            .files
            .iter()
            .map(|f| f.display().to_string())
            .collect();
        show::print_json(&json!({"files": files, "redacted": report.redacted}))?;
    }
    if args.open {
        open(&dir.join("report.html"))?;
        return Ok(());
    }
    let dir = show::typed(dir);
    let open = format!("deadloop report {dir} --open");
    show::next(
        &[&open, &format!("deadloop explain {dir} TRANSCRIPT")],
        global,
    )
}

/// The note on the files of a redacted folder that are safe to share, and on the checks before that.
const SAFE: &str = "\
redacted, for good: the letters and digits of the transcripts are hidden in report.html and in cases.jsonl,
which it is made from
safe to share: report.html, report.md, charts/, the tables: none of them holds text of a transcript
look first at: ids, groups and names of models (in all of them); settings.toml; outcomes (`error`, `detail`: what
programs said); rejected.jsonl (what was wrong with a line); manifest.json (paths and arguments)";

/// Updates the sizes of the files in the manifest. Otherwise the same command would take a changed file for damaged.
fn recount(dir: &Path) -> Outcome {
    let mut manifest = Manifest::read(dir)?;
    for (name, bytes) in &mut manifest.files {
        // A missing file is reported when it is needed.
        if let Ok(about) = std::fs::metadata(dir.join(name)) {
            *bytes = about.len();
        }
    }
    Ok(manifest.write(dir)?)
}

/// Opens the page with the system's viewer.
fn open(page: &Path) -> Outcome {
    let program = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let started = std::process::Command::new(program).arg(page).spawn();
    let failed = |e| {
        Code::Unexpected.error(format!(
            "--open: {program}: {e}; open {} yourself",
            page.display()
        ))
    };
    started.map(drop).map_err(failed)
}
