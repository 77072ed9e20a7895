//! `deadloop report`: the report of a result folder again, from its files.

use crate::args::{Global, Report};
use crate::exit::{Code, Outcome};
use crate::interrupt;
use crate::rendering::render;
use crate::show;
use deadloop_report::Options;
use serde_json::json;
pub(super) fn run(args: &Report, global: Global) -> Outcome {
    if !args.dir.join("manifest.json").is_file() {
        let what = "no manifest.json; expected a folder that tune, sweep or replay finished";
        return Err(Code::Usage.error(format!("{}: {what}", args.dir.display())));
    }
    interrupt::sweeps(&args.dir);
    let options = Options {
        redact: args.redact,
        comparison: args.comparison.clone(),
        png: args.png,
    };
    let report = render(&args.dir, &options, global)?;
    if global.json {
        let files: Vec<String> = report
            .files
            .iter()
            .map(|f| f.display().to_string())
            .collect();
        show::print(&json!({"files": files}).to_string())?;
    }
    if args.open {
        open(&args.dir.join("report.html"))?;
    }
    Ok(())
}

/// Hands the page to whatever shows pages here.
fn open(page: &std::path::Path) -> Outcome {
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
