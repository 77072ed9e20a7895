//! Rules of feedback of a design document (seed 003), held against what recorded runs of agents show: what the words in
//! a result say (G1), what is said to the model after a turn (G2), the type of a task (G3), the order of messages (G4).
//!
//! `scripts/feedback CORPUS` runs it. It prints a table as CSV: a row for each source, rule, variant and measure, with
//! an interval over groups. The word lists of G3 are ours, because seed 003 has none. Seed 003's complexity of a task and
//! its priorities are left out: it has no words for the first and no measure for the second.

mod guide;
mod rows;
mod run;
mod task;
#[cfg(test)]
mod tests;
mod words;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use deadloop_corpus::{Entry, field};
use deadloop_run::{Alone, Failure, Wanted, open, survey_with};
use deadloop_score::{Case, Resampling};

use rows::{FeedbackCase, feedback_rows, written};

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("usage: feedback CORPUS");
        return ExitCode::from(2);
    };
    match table(&PathBuf::from(path)) {
        Ok(table) => {
            print!("{table}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("feedback: {}", error.said());
            ExitCode::from(2)
        }
    }
}

fn table(path: &Path) -> Result<String, Failure> {
    let by = ["meta.source".to_owned()];
    let wanted = Wanted {
        path,
        selection: Default::default(),
        by: &by,
        entry: None,
        host: &Alone::default(),
    };
    let (_, cases) = survey_with(open(path)?, wanted, judged)?;
    let cases: Vec<FeedbackCase> = cases.into_iter().flatten().collect();
    Ok(written(&feedback_rows(&cases, Resampling::default()))?)
}

/// A run as the rules see it; `None` for a transcript without a turn.
fn judged(entry: &Entry, case: &Case) -> Option<FeedbackCase> {
    let feedback = run::judge_run(&entry.transcript);
    if feedback.turns == 0 {
        return None;
    }
    let said = |key: &str| field(entry, key).map(Arc::from);
    let from: Option<Arc<str>> = said("meta.error_from");
    let source = case.by.first().cloned().flatten();
    Some(FeedbackCase {
        group: case.cluster().into(),
        source: source.map_or_else(|| "-".into(), Arc::from),
        recorded: from.is_none_or(|from| matches!(&*from, "recorded" | "returncode")),
        env: said("meta.env"),
        feedback,
    })
}
