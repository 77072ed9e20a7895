//! The final output of runs.

use std::path::Path;

use deadloop_replay::Plan;
use deadloop_run::{AnsweredRun, Folder, PartSummary, ReplayRun, RunOutcome};
use deadloop_score::{CSV_ROWS, Manifest, ScoringResult};
use serde_json::json;

use crate::args::GlobalArgs;
use crate::exit::{Outcome, recorded_failure};
use crate::report_page::render;
use crate::show;

/// Returns the run, if one was carried out. `None` if the folder already held this result, which is then printed again,
/// or if a part of a shard was written.
pub(crate) fn ran<R>(
    done: RunOutcome<R>,
    out: &Path,
    global: GlobalArgs,
) -> Outcome<Option<Box<R>>> {
    match done {
        RunOutcome::Ran(run) => Ok(Some(run)),
        RunOutcome::Already(folder, manifest) => {
            already_done(&folder, &manifest, global).map(|()| None)
        }
        RunOutcome::Part(part) => print_part(out, &part, global).map(|()| None),
    }
}

/// Prints the number of impossible cells, with the reasons.
pub(crate) fn print_refused(plan: &Plan, global: GlobalArgs) {
    let refused = plan.refused();
    if global.quiet || refused.is_empty() {
        return;
    }
    let all: usize = refused.iter().map(|r| r.cells).sum();
    let remain = plan.cells();
    show::remark(format_args!("{all} cells left out, {remain} remain:"));
    for refused in refused.iter().take(10) {
        show::remark(format_args!(
            "  {} cells: {}: {}",
            refused.cells, refused.param, refused.reason
        ));
    }
}

/// Prints a note if scores.csv was requested and would have too many rows.
pub(crate) fn print_csv_limit(asked: bool, scored: &ScoringResult, global: GlobalArgs) {
    if asked && scored.rows > CSV_ROWS && !global.quiet {
        let [rows, most] = [scored.rows, CSV_ROWS].map(|n| show::count(n as u64));
        show::remark(format_args!(
            "no scores.csv: {rows} rows are more than {most}; scores.parquet has them all"
        ));
    }
}

/// Writes the manifest and the report, and prints the results. `result` is the command's own result.
pub(crate) fn finish(done: ReplayRun, result: Outcome, global: GlobalArgs) -> Outcome {
    done.finish(result, |folder, manifest| {
        render(folder, &deadloop_report::Options::default(), global)?;
        let rejected = manifest.corpus.rejected;
        if rejected > 0 && !global.quiet && !global.json {
            let file = folder.join("rejected.jsonl");
            let problems = show::several(rejected, "problem");
            show::print(&format!("{problems} rejected: see {}", file.display()))?;
        }
        print_json(folder, manifest, global)
    })
}

/// Writes the manifest and the report of repairers or budgets, and prints `tables`.
pub(crate) fn finish_tables<C>(run: AnsweredRun<C>, tables: &str, global: GlobalArgs) -> Outcome {
    run.finish(Ok(()), |folder, manifest| {
        render(folder, &deadloop_report::Options::default(), global)?;
        if !global.quiet && !global.json {
            show::print(tables)?;
        }
        print_json(folder, manifest, global)
    })
}

/// Prints the counts of a written part, and the next command.
fn print_part(out: &Path, part: &PartSummary, global: GlobalArgs) -> Outcome {
    let shard = &part.shard;
    let json = json!({"out": out.display().to_string(), "shard": shard, "files": part.files, "records": part.records});
    let all = show::several(part.records, "transcript");
    let read = show::several(part.files, "file");
    let text = || format!("shard {shard}: {all} of {read} in {}", out.display());
    show::answer(&json, text, global)?;
    let next = format!("deadloop merge {} … --out DIR", show::typed(out));
    show::next(&[&next], global)
}

/// Repeats the output and the exit code of an earlier run of this request. A missing report is rendered again.
pub(crate) fn already_done(folder: &Folder, manifest: &Manifest, global: GlobalArgs) -> Outcome {
    let dir = folder.path();
    if !global.quiet {
        let dir = dir.display();
        show::remark(format_args!(
            "{dir}: already holds these results; nothing to do (--force makes them anew)"
        ));
    }
    if !dir.join("report.html").is_file() {
        render(dir, &deadloop_report::Options::default(), global)?;
    }
    print_json(dir, manifest, global)?;
    let ended = manifest.ended.as_ref();
    ended.map_or(Ok(()), |ended| Err(recorded_failure(ended)))
}

/// Prints the JSON object of a result, with `--json`.
fn print_json(dir: &Path, manifest: &Manifest, global: GlobalArgs) -> Outcome {
    if !global.json {
        return Ok(());
    }
    let mut said = serde_json::Map::new();
    said.insert("out".into(), dir.display().to_string().into());
    said.extend(manifest.summary.clone());
    if let Some(ended) = &manifest.ended {
        said.insert("exit".into(), ended.exit.into());
        said.insert("reason".into(), ended.reason.clone().into());
    }
    show::print_json(&serde_json::Value::from(said))
}
