//! `deadloop check`: is a corpus whole, and what in it makes numbers lie?

use std::path::PathBuf;

use clap::Args;
use deadloop_run::checking::{self, CheckSeen, Severity};

mod listing;

use listing::listing;

use crate::args::Global;
use crate::exit::{Code, Outcome};
use crate::host::Terminal;
use crate::show;
use deadloop_run::foreign;

pub(crate) const HELP: &str = "Examples:\n  deadloop check recordings/\n  deadloop check datasets/starter --strict --json\n\nWith an error, printed with its file and line, a corpus cannot be scored: exit code 2. Warnings name what would make scores wrong: near-duplicates across splits or groups, labels that the text contradicts, too few labels. They fail only with --strict. Notes name what the scores cannot say.";

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// A corpus: a folder, or one .jsonl or .parquet file
    corpus: PathBuf,
    /// Fail on warnings too
    #[arg(long)]
    strict: bool,
    /// Show every finding, not the first five of each kind
    #[arg(long)]
    all: bool,
}

pub(super) fn run(args: &Check, global: Global) -> Outcome {
    let (surveyed, seen) = checking::look(&args.corpus, &Terminal::of(global))?;
    if let Some(what) = foreign(&seen.problems).filter(|_| seen.cases.is_empty() && !global.json) {
        return Err(Code::Usage.error(what));
    }
    let found = seen.findings();
    let of = |severity| checking::count(&found, severity);
    let (errors, warnings) = (of(Severity::Error), of(Severity::Warning));
    if global.json {
        let report = serde_json::json!({
            "transcripts": seen.cases.len(), "hash": surveyed.hash, "errors": errors,
            "warnings": warnings, "notes": of(Severity::Note), "findings": checking::json(&found),
        });
        show::print(&report.to_string())?;
    } else if !global.quiet {
        let n = show::count(seen.cases.len() as u64);
        let whole = if errors == 0 { "whole" } else { "not whole" };
        let heading = format!("{whole}: {n} transcripts, hash {}", surveyed.hash);
        show::print_styled(&format!("{heading}\n\n{}", listing(&found, args.all)))?;
    }
    verdict(args, global, errors, warnings, &seen)
}

fn verdict(args: &Check, global: Global, errors: u64, warnings: u64, seen: &CheckSeen) -> Outcome {
    if errors > 0 {
        let listed: Vec<String> = seen.problems.iter().map(ToString::to_string).collect();
        // Who asked for quiet, or has only the JSON on stdout, still reads what the errors are.
        let listed = if global.quiet || global.json {
            format!("\n{}", listed.join("\n"))
        } else {
            String::new()
        };
        return Err(Code::Usage.error(format!(
            "the corpus is not whole: {}{listed}",
            show::several(errors, "problem")
        )));
    }
    if seen.cases.is_empty() {
        return Err(Code::NothingSelected.error("the corpus has no transcripts"));
    }
    if args.strict && warnings > 0 {
        return Err(Code::Usage.error(format!("{} (--strict)", show::several(warnings, "warning"))));
    }
    let corpus = show::typed(&args.corpus);
    let labelled = seen.cases.iter().any(|case| case.truth.is_some());
    let next = if labelled {
        format!("deadloop tune {corpus} --out tuned")
    } else {
        format!("deadloop label {corpus}")
    };
    show::next(&[&next, &format!("deadloop stats {corpus}")], global)
}
