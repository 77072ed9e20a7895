//! `deadloop report`: the report of a result folder again, from its files; of several folders their history.

use std::path::{Path, PathBuf};

use clap::Args;
use deadloop_report::{HistoryError, Options, history_rows, write_history};
use deadloop_score::Manifest;
use serde_json::{Map, Value, json};

use crate::args::Global;
use crate::exit::{Code, Failure, Outcome};
use crate::interrupt;
use crate::rendering::render;
use crate::show;

pub(crate) const HELP: &str = "\
Examples:
  deadloop report tuned --open
  deadloop report tuned --redact
  deadloop report tuned --comparison compared
  deadloop report monday tuesday wednesday --out history

Writes report.html, report.md and, for each chart, charts/NAME.svg and charts/NAME.csv with its numbers. The charts of an \
earlier report are replaced. Open an SVG in a browser to print it.

Of several folders it writes history.html and charts/history.csv into --out: the same measures of each run, in the order \
given, and the transcripts that flipped between neighbours. The setting of a run is the choice of tune, the current or \
only one of replay, the best one of sweep, unless --setting names another. Runs in different units, or judged by \
different rules, are refused.";

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// A folder that tune, sweep or replay wrote; several: their history, in this order
    #[arg(required = true, value_name = "DIR")]
    pub(crate) dirs: Vec<PathBuf>,
    /// The folder for the history of several folders
    #[arg(long, value_name = "DIR", default_value = "deadloop-history")]
    pub(crate) out: PathBuf,
    /// The setting that a history follows, by name or id
    #[arg(long, value_name = "NAME")]
    pub(crate) setting: Option<String>,
    /// Hide the letters and digits of the transcripts in the page; copies and structure stay
    #[arg(long)]
    pub(crate) redact: bool,
    /// Show what changed: a folder that deadloop compare --out wrote
    #[arg(long, value_name = "DIR")]
    pub(crate) comparison: Option<PathBuf>,
    /// Open the page afterwards
    #[arg(long)]
    pub(crate) open: bool,
}

pub(super) fn run(args: &Report, global: Global) -> Outcome {
    for dir in &args.dirs {
        if !dir.join("manifest.json").is_file() {
            let what = "no manifest.json; expected a folder that tune, sweep or replay finished";
            return Err(Code::Usage.error(format!("{}: {what}", dir.display())));
        }
    }
    match args.dirs.as_slice() {
        [dir] => one(args, dir, global),
        _ => several(args, global),
    }
}

/// The report of one folder.
fn one(args: &Report, dir: &Path, global: Global) -> Outcome {
    if args.setting.is_some() {
        let what = "--setting is for the history of several folders";
        return Err(Code::Usage.error(what));
    }
    if let Ok(manifest) = Manifest::read(dir)
        && ["repair", "budget"].contains(&manifest.command.as_str())
    {
        let (dir, command) = (dir.display(), manifest.command);
        let what = format!("no page for results of {command}; the tables are {command}s.parquet");
        return Err(Code::Usage.error(format!("{dir}: {what}")));
    }
    interrupt::sweeps(dir);
    let options = Options {
        redact: args.redact,
        comparison: args.comparison.clone(),
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
        show::print(&json!({"files": files, "redacted": report.redacted}).to_string())?;
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

/// The history of several folders.
fn several(args: &Report, global: Global) -> Outcome {
    if args.redact || args.comparison.is_some() {
        let what = "--redact and --comparison are for the report of one folder";
        return Err(Code::Usage.error(what));
    }
    let kept = |dir: &PathBuf| is_same(dir, &args.out);
    if let Some(dir) = args.dirs.iter().find(|dir| kept(dir)) {
        let what = "holds a result; name another folder for the history";
        return Err(Code::Usage.error(format!("--out {}: {what}", dir.display())));
    }
    let history = deadloop_report::history(&args.dirs, args.setting.as_deref()).map_err(refused)?;
    interrupt::sweeps(&args.out);
    let (head, rows) = history_rows(&history);
    let files = write_history(history, &args.out).map_err(refused)?;
    if global.json {
        let rows: Vec<Map<String, Value>> = rows
            .iter()
            .map(|row| {
                head.iter()
                    .cloned()
                    .zip(row.iter().map(|cell| json!(cell)))
                    .collect()
            })
            .collect();
        let files: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
        show::print(&json!({"files": files, "runs": rows}).to_string())?;
    } else if !global.quiet {
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        let last = head.len().saturating_sub(1);
        show::print(&show::table_of(&head, &rows, 3..last))?;
    }
    let page = args.out.join("history.html");
    if !global.quiet {
        show::remark(format_args!("history: {}", page.display()));
    }
    if args.open {
        return open(&page);
    }
    let [.., before, now] = args.dirs.as_slice() else {
        return Ok(());
    };
    let compare = format!(
        "deadloop compare {} {}",
        show::typed(before),
        show::typed(now)
    );
    show::next(&[&compare], global)
}

/// Whether two paths are one folder.
fn is_same(one: &Path, other: &Path) -> bool {
    let whole = |path: &Path| path.canonicalize().ok();
    one == other || whole(one).is_some_and(|one| whole(other) == Some(one))
}

fn refused(error: HistoryError) -> Failure {
    match error {
        HistoryError::Differ { .. } => Code::NotComparable.because(error),
        HistoryError::Draw(_) | HistoryError::Page(_) => Code::Unexpected.because(error),
        _ => Code::Usage.because(error),
    }
}

/// What a redacted folder may be passed on with, and what to look at first.
const SAFE: &str = "\
redacted, for good: the letters and digits of the transcripts are hidden in report.html, transcripts.html and the
two files that they are made from (excerpts.jsonl.zst, transcripts.jsonl.zst)
safe to share: report.html, transcripts.html, report.md, charts/, the tables, regions.jsonl.zst: none of them holds text of a transcript
look first at: ids, groups and names of models (in all of them); settings.toml; outcomes (`error`, `detail`: what
programs said); rejected.jsonl (what was wrong with a line); manifest.json (paths and arguments)";

/// The sizes of the files, which the manifest has: the same command again would take a changed file for damaged.
fn recount(dir: &Path) -> Outcome {
    let mut manifest = Manifest::read(dir)?;
    for (name, bytes) in &mut manifest.files {
        // What is gone is told by who asks for it.
        if let Ok(about) = std::fs::metadata(dir.join(name)) {
            *bytes = about.len();
        }
    }
    Ok(manifest.write(dir)?)
}

/// Hands the page to whatever shows pages here.
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
