//! Runs of commands: the request from the options, and the final output.

use std::path::Path;

use deadloop_detect::Settings;
use deadloop_replay::Plan;
use deadloop_run::{Folder, PartSummary, ReplayRun, Request, RunOutcome};
use deadloop_score::{CSV_ROWS, Manifest, ScoringResult};
use serde_json::json;

use crate::args::{GlobalArgs, JudgeArgs, OutputArgs, SelectArgs, ShardArgs};
use crate::exit::{Outcome, number, recorded_failure};
use crate::host::Terminal;
use crate::report_page::render;
use crate::show;

/// Creates the request of a command that judges alarms, from its options.
pub(crate) fn request<'a>(
    (corpus, out): (&'a Path, &'a Path),
    (select, judge, output): (&SelectArgs, &JudgeArgs, &'a OutputArgs),
    host: &'a Terminal,
) -> Outcome<Request<'a>> {
    Ok(Request {
        judging: judge.judging_options(),
        by: &output.by,
        by_default: false,
        csv: output.folder.csv,
        excerpts: !output.no_excerpts,
        force: output.folder.force,
        ..bare_request((corpus, out), (select, &output.folder.sharded), host)?
    })
}

/// Creates the request of any command that runs a subject over a corpus.
pub(crate) fn bare_request<'a>(
    (corpus, out): (&'a Path, &'a Path),
    (select, sharded): (&SelectArgs, &ShardArgs),
    host: &'a Terminal,
) -> Outcome<Request<'a>> {
    let args = std::env::args_os().map(|arg| arg.to_string_lossy().into_owned());
    Ok(Request {
        args: args.collect(),
        selection: select.selection()?,
        skip_bad: select.skips(),
        seed: select.seed,
        shard: sharded.shard,
        parts: sharded.parts.clone(),
        numbered: number,
        ..Request::new(corpus, out, host)
    })
}

/// Runs a replay and handles its outcome like [`ran`].
pub(crate) fn replay(
    request: &Request<'_>,
    plan: &Plan,
    (current, global): (&Settings, GlobalArgs),
) -> Outcome<Option<Box<ReplayRun>>> {
    ran(
        deadloop_run::replay(request, plan, current)?,
        request,
        global,
    )
}

/// Returns the run, if one was carried out. `None` if the folder already held this result, which is then printed again,
/// or if a part of a shard was written.
pub(crate) fn ran<R>(
    done: RunOutcome<R>,
    request: &Request<'_>,
    global: GlobalArgs,
) -> Outcome<Option<Box<R>>> {
    match done {
        RunOutcome::Ran(run) => Ok(Some(run)),
        RunOutcome::Already(folder, manifest) => {
            already_done(&folder, &manifest, global).map(|()| None)
        }
        RunOutcome::Part(part) => print_part(request.out, &part, global).map(|()| None),
    }
}

/// Prints the number of impossible cells, with the reasons.
pub(crate) fn print_refused(plan: &Plan, global: GlobalArgs) {
    let refused = plan.refused();
    if global.quiet || refused.is_empty() {
        return;
    }
    let all: usize = refused.iter().map(|r| r.cells).sum();
    show::remark(format_args!(
        "{all} cells left out, {} remain:",
        plan.cells()
    ));
    for refused in refused.iter().take(10) {
        show::remark(format_args!(
            "  {} cells: {}: {}",
            refused.cells, refused.param, refused.reason
        ));
    }
}

/// Prints a note if scores.csv was requested and would have too many rows.
pub(crate) fn tell_no_csv(asked: bool, scored: &ScoringResult, global: GlobalArgs) {
    if asked && scored.rows > CSV_ROWS && !global.quiet {
        show::remark(format_args!(
            "no scores.csv: {} rows are more than {}; scores.parquet has them all",
            show::count(scored.rows as u64),
            show::count(CSV_ROWS as u64)
        ));
    }
}

/// Writes the manifest and the report, and prints the results. `result` is the command's own result.
pub(crate) fn finish(done: ReplayRun, result: Outcome, global: GlobalArgs) -> Outcome {
    done.finish(result, |folder, manifest| {
        render(folder, &deadloop_report::Options::default(), global)?;
        let rejected = manifest.corpus.rejected;
        if rejected > 0 && !global.quiet && !global.json {
            show::print(&format!(
                "{} rejected: see {}",
                show::several(rejected, "problem"),
                folder.join("rejected.jsonl").display()
            ))?;
        }
        print_json(folder, manifest, global)
    })
}

/// Prints the counts of a written part, and the next command.
fn print_part(out: &Path, part: &PartSummary, global: GlobalArgs) -> Outcome {
    let PartSummary {
        shard,
        files,
        records,
    } = part;
    if global.json {
        let said = json!({"out": out.display().to_string(), "shard": shard, "files": files, "records": records});
        return show::print_json(&said);
    }
    if !global.quiet {
        let (records, files) = (
            show::several(*records, "transcript"),
            show::several(*files, "file"),
        );
        let out = out.display();
        show::print(&format!("shard {shard}: {records} of {files} in {out}"))?;
    }
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
    match &manifest.ended {
        Some(ended) => Err(recorded_failure(ended)),
        None => Ok(()),
    }
}

/// Prints the JSON object of a result, with `--json`.
pub(crate) fn print_json(dir: &Path, manifest: &Manifest, global: GlobalArgs) -> Outcome {
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
