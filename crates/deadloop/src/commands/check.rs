//! `deadloop check`: is a corpus whole?

use deadloop_corpus::Selection;

use crate::args::{Check, Global};
use crate::corpus::{Wanted, survey};
use crate::exit::{Code, Outcome};
use crate::show;

pub(super) fn run(args: &Check, global: Global) -> Outcome {
    let selection = Selection::default();
    let found = survey(Wanted {
        path: &args.corpus,
        selection,
        by: &[],
        entry: None,
        quiet: global.quiet,
    })?;
    if global.json {
        let problem = |p: &deadloop_corpus::Problem| {
            serde_json::json!({
                "file": p.place.file.display().to_string(), "line": p.place.line,
                "what": p.what, "expected": p.expected,
            })
        };
        let problems: Vec<_> = found.problems.iter().map(problem).collect();
        let report = serde_json::json!({
            "transcripts": found.cases.len(), "hash": found.hash, "problems": problems,
        });
        show::print(&report.to_string())?;
    }
    if !found.problems.is_empty() {
        return Err(Code::Usage.error(found.listing()));
    }
    if found.cases.is_empty() {
        return Err(Code::NothingSelected.error("the corpus has no transcripts"));
    }
    if !global.json && !global.quiet {
        let n = show::count(found.cases.len() as u64);
        show::print(&format!("whole: {n} transcripts, hash {}", found.hash))?;
    }
    Ok(())
}
