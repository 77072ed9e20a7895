//! `deadloop replay`: replays one setting, or several.
//!
//! The compared settings come from `naming`. `output` prints the results.

use std::path::{Path, PathBuf};

use clap::Args;
use deadloop_replay::Plan;
use deadloop_score::{AnyEvidence, Case, CaseSet, Verdict, count_opening};
use serde::{Deserialize, Serialize};

use crate::args::GlobalArgs;
use crate::exit::{Code, Outcome};
use crate::host::Terminal;
use crate::requests::{finish, ran};
use crate::setting_names::{NamedSettings, named_settings};
use crate::show;
use deadloop_run::options::{JudgingOptions, OutputOptions, SelectionOptions};
use deadloop_run::{OpeningOptions, ReplayRun, Request, SEALED, name, record, replay};

mod output;

pub(crate) const HELP: &str = "Examples:\n  deadloop replay datasets/starter --settings tuned/settings.toml --split test --out tested\n  deadloop replay recordings.jsonl --out seen --set guard.params.min_copies=8";

#[derive(Debug, Args, Serialize, Deserialize)]
pub(crate) struct ReplayArgs {
    /// A corpus: a folder, or one .jsonl file
    #[serde(skip)]
    pub(crate) corpus: PathBuf,
    /// Settings files; the first is the one in use [default: the recommended guard]
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Vec<PathBuf>,
    /// Add every preset of every detector
    #[arg(long)]
    pub(crate) presets: bool,
    #[command(flatten)]
    pub(crate) select: SelectionOptions,
    #[command(flatten)]
    pub(crate) judge: JudgingOptions,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
    /// The folder of the results
    #[arg(long, value_name = "DIR")]
    #[serde(skip)]
    pub(crate) out: PathBuf,
}

pub(super) fn run(args: &ReplayArgs, global: GlobalArgs) -> Outcome {
    let named = named_settings(
        (&args.settings, args.presets),
        (&args.judge.set, args.judge.per),
    )?;
    refuse_off(&named)?;
    let mut plan = Plan::default();
    let cells: Vec<usize> = named.iter().map(|(_, s)| plan.add_settings(s)).collect();
    let host = Terminal::new(global);
    let request = Request {
        command: "replay",
        read: args.settings.iter().map(PathBuf::as_path).collect(),
        inputs: named
            .iter()
            .map(|(name, s)| format!("{name} {}", s.id()))
            .collect(),
        asked: record("replay", args)?,
        judging: args.judge.clone(),
        output: args.output.clone(),
        select: args.select.clone(),
        ..Request::new(&args.corpus, &args.out, &host)
    };
    let Some(mut done) = ran(replay(&request, &plan, &named[0].1)?, &args.out, global)? else {
        return Ok(());
    };
    count_openings(args, &done, global)?;
    let labels = named.iter().map(|(label, _)| label.as_str());
    for (label, cell) in labels.zip(&cells).chain([("current", &cells[0])]) {
        name(&mut done.run.manifest, &plan, *cell, label);
    }
    let mut distinct = cells.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let evidence = done.evidence(&plan)?;
    let (by, csv) = (&args.output.by, args.output.folder.csv);
    let scored = done.score(&evidence, &distinct, by, csv)?;
    let means = done.means(&evidence, &distinct);
    OpeningOptions {
        evidence: &evidence,
        focus: [("*".to_owned(), (cells[0], named[0].clone()))].into(),
        chunks: args.judge.chunks,
        texts: !args.output.no_excerpts,
        remedies: Default::default(),
        host: &host,
    }
    .write(&done)?;
    let summary = output::summary(&done, &evidence, &named, &cells, global)?;
    let next = next(args, worth_explaining(&done, &evidence, cells[0]));
    done.sum_up(summary);
    done.note(scored, means);
    finish(*done, Ok(()), global)?;
    let next: Vec<&str> = next.iter().map(String::as_str).collect();
    show::next(&next, global)
}

/// Returns the next commands for the user. `worst` is the transcript to explain.
fn next(args: &ReplayArgs, worst: Option<String>) -> Vec<String> {
    let out = show::typed(&args.out);
    let explain = worst.map(|id| format!("deadloop explain {out} {}", show::typed(id)));
    let report = format!("deadloop report {out} --open");
    explain.into_iter().chain([report]).collect()
}

/// Returns a transcript worth explaining: a wrong alarm of the first setting, else a miss, else a hit.
fn worth_explaining(done: &ReplayRun, evidence: &impl AnyEvidence, cell: usize) -> Option<String> {
    const WANTED: [Verdict; 3] = [Verdict::FalseAlarm, Verdict::Miss, Verdict::Hit];
    let mut first = [const { None }; WANTED.len()];
    evidence.each_judged(cell, &evidence.every(), &done.judge, |_, case, outcome| {
        for (first, wanted) in first.iter_mut().zip(WANTED) {
            if first.is_none() && outcome.verdict == wanted {
                *first = Some(case.id.to_string());
            }
        }
    });
    first.into_iter().flatten().next()
}

/// Refuses settings in which every guard is off.
fn refuse_off(named: &[NamedSettings]) -> Outcome {
    for (name, settings) in named {
        if settings.is_off() {
            let what = format!("{name}: every guard is switched off: nothing can alarm");
            return Err(Code::Usage.error(what));
        }
    }
    Ok(())
}

/// Records in the folder of a choice that its settings were scored on the sealed split.
fn count_openings(args: &ReplayArgs, done: &ReplayRun, global: GlobalArgs) -> Outcome {
    let sealed = |case: &Case| case.split.as_deref() == Some(SEALED);
    if !done.run.surveyed.cases.any(sealed) {
        return Ok(());
    }
    for file in &args.settings {
        let dir = file.parent().unwrap_or(Path::new(""));
        if let (Some(times), false) = (count_opening(dir)?, global.quiet) {
            let file = file.display();
            show::remark(format_args!(
                "{file}: scored on the split {SEALED}, time {times}: see choice.csv beside it"
            ));
        }
    }
    Ok(())
}
