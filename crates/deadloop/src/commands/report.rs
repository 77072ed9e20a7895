//! `deadloop report`: renders the report of a result folder again.

use std::path::Path;

use clap::Args;
use deadloop_run::report::{ReportOptions, report};

use crate::args::GlobalArgs;
use crate::exit::{Code, Outcome};
use crate::host::Terminal;
use crate::show;

pub(crate) const HELP: &str = "\
Examples:
  deadloop report tuned --open
  deadloop report tuned --redact

Writes report.html, report.md, and the charts as charts/NAME.svg. The charts of an earlier report are replaced. Open an SVG in \
a browser to print it.";

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    options: ReportOptions,
    /// Open the page afterwards
    #[arg(long)]
    open: bool,
}

pub(super) fn run(args: &ReportArgs, global: GlobalArgs) -> Outcome {
    let dir = args.options.dir.as_path();
    let made = report(&args.options, &Terminal::new(global))?;
    show::print_answer(&made, global)?;
    if args.open {
        return open_page(&dir.join("report.html"));
    }
    let dir = show::typed(dir);
    let next = [
        format!("deadloop report {dir} --open"),
        format!("deadloop explain {dir} TRANSCRIPT"),
    ];
    show::print_next(&next, global)
}

/// Opens a page in the default application of the system.
fn open_page(page: &Path) -> Outcome {
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
