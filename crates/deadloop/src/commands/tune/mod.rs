//! `deadloop tune`: chooses a setting and prints the choice.
//!
//! `deadloop_run::tune` makes the choice. `options` holds the options, and `output` prints the results.

use deadloop_detect::Unit;
use deadloop_run::first_unit;
use deadloop_run::layout::TextDocument;
use deadloop_run::sweep::{notify_refused, tell_csv_limit};
use deadloop_run::tune::{TuneOptions, TunePlan, TuneResult, tune};
use deadloop_score::choose::{Advice, Choices, Ruling};

use crate::args::GlobalArgs;
use crate::exit::{Code, Outcome};
use crate::host::Terminal;
use crate::show;

mod options;
mod output;

pub(crate) use options::TuneArgs;

pub(crate) const HELP: &str = "Examples:\n  deadloop tune datasets/starter\n  deadloop tune recordings.jsonl.zst --grid grid.toml --out tuned --constraint 'fa_per_mchar<=0.5'\n  deadloop tune recordings.jsonl.zst --settings mine.toml --also theirs.toml --loop-rate 1/2000\n\nThe folder holds report.html, settings.toml (for production), choice.csv and every table. If the command was interrupted, the same command continues where it stopped.";

pub(super) fn run(args: &TuneArgs, global: GlobalArgs) -> Outcome {
    let host = Terminal::new(global);
    let tuning = args.tune_options(unit(args)?, &host)?;
    let plan = TunePlan::new(&tuning)?;
    notify_refused(&plan.plan, &host);
    if args.dry_run {
        return print_plan(args, &tuning, &plan);
    }
    let request = args.request(&host, plan.text.clone(), &tuning)?;
    let next = |choices: &Choices, is_live| output::next_commands(choices, is_live, args);
    let done = tune(&request, &tuning, plan, next)?.answer(&request, |tuned| {
        let summary = output::print_all(&tuned, args, global)?;
        tell_csv_limit(args.output.folder.csv, &tuned.scored, &host);
        let ended = check_outcome(&tuned.choices.advice, !tuning.constraints.is_empty());
        let TuneResult { mut done, .. } = tuned;
        done.run.sum_up(summary);
        done.finish(ended, TextDocument::default(), &host)
    })?;
    show::print_folder(done, &[], global)
}

/// Fails if there were too few loops for a choice, or if the file is over a limit that the user gave.
fn check_outcome(advice: &Advice, given: bool) -> Outcome {
    match advice.verdict {
        Ruling::Collect => Err(Code::TooLittle.error(&advice.reason)),
        Ruling::Ship | Ruling::Keep if given && advice.over_limit => {
            Err(Code::Infeasible.error(&advice.reason))
        }
        Ruling::Ship | Ruling::Keep => Ok(()),
    }
}

/// Returns the unit of choice: from `--unit`, the parts, or the corpus.
fn unit(args: &TuneArgs) -> Outcome<Unit> {
    let parts = args.output.folder.parts.as_ref();
    match args
        .judge
        .unit
        .or_else(|| parts.and_then(|parts| parts.unit()))
    {
        Some(unit) => Ok(unit),
        None => Ok(first_unit(&args.corpus)?),
    }
}

/// Prints the planned search.
fn print_plan(args: &TuneArgs, tuning: &TuneOptions, plan: &TunePlan) -> Outcome {
    let limits: Vec<String> = tuning.limits().iter().map(ToString::to_string).collect();
    let ready: Vec<&str> = plan.ready.iter().map(|ready| ready.name.as_str()).collect();
    show::print(&format!(
        "would search {} in {} on {}\nready guards: {}\nlimits: {}; best by: {}; in use: {} ({})\nwould write to {}; nothing was written",
        show::several(plan.searched() as u64, "setting"),
        show::several(plan.plan.blocks().len() as u64, "structure"),
        args.corpus.display(),
        ready.join(", "),
        limits.join(", "),
        tuning.objective.name,
        plan.plan.id(plan.in_use),
        tuning.in_use_is,
        args.out.display(),
    ))
}
