//! `deadloop tune`: the main job. Sweep, cross-validate, choose a setting per model, say what to ship, write the
//! evidence.
//!
//! Its options are in `asked`, what is replayed is in `planned`, what is printed in the end in `told`.

use std::collections::BTreeMap;

use deadloop_detect::{Settings, Unit};
use deadloop_replay::Grid;
use deadloop_score::{
    Choices, ChooseOptions, Evidence, ExcerptsHead, Manifest, Marked, Ruling, Scored, Why, choose,
    write_choice, write_pareto, write_regions, write_settings,
};
use serde_json::Value;

use crate::args::Global;
use crate::exit::{Code, Outcome};
use crate::host::Terminal;
use crate::replaying::{finish, replay, tell_no_csv};
use crate::settings;
use deadloop_run::{Focus, Opening, Replayed, doubted, first_unit, learn};
use supported::Asked;

mod asked;
mod planned;
mod supported;
mod told;
mod warnings;

pub(crate) use asked::Tune;
use planned::Planned;

pub(crate) const HELP: &str = "Examples:\n  deadloop tune datasets/starter\n  deadloop tune recordings.jsonl.zst --grid grid.toml --out tuned --constraint 'fa_per_mchar<=0.5'\n  deadloop tune clean.jsonl --budget 1/Mchar\n  deadloop tune recordings.jsonl.zst --settings mine.toml --also theirs.toml --loop-rate 1/2000\n\nThe folder holds report.html, settings.toml (for production), choice.csv and every table. If the command was interrupted, the same command continues where it stopped.";

pub(super) fn run(args: &Tune, global: Global) -> Outcome {
    let unit = unit(args)?;
    let counted = unit;
    refuse_learning_from(counted, args)?;
    let per = args.judge.per;
    let in_use = settings::settings_in(args.settings.as_deref(), &args.judge.set, counted)?;
    let in_use = settings::read_per(in_use, per)?;
    let current = in_use.0.clone();
    let also = args.also(counted)?;
    let mut options = args.options(unit)?;
    let (grids, text) = grids(args, counted)?;
    let host = Terminal::of(global);
    let request = args.request(&host, text, (&current, &also, unit))?;
    let planned = Planned::new(
        args,
        global,
        (&grids, counted),
        (in_use, &also),
        &mut options,
    )?;
    if args.dry_run {
        return planned.tell(args, &options);
    }
    let Some(mut done) = replay(&request, &planned.plan, (&planned.settings, global))? else {
        return Ok(());
    };
    weighed(&mut options, &done, args, &current);
    planned.describe(&mut done.run.manifest, args, &options);
    let (cases, records) = done.unpacked(&planned.plan);
    let evidence = Evidence::new(&planned.plan, &cases, &records)?;
    options.doubted = doubted(&done, &evidence, planned.in_use, &options, &host)?;
    let work = Work {
        args,
        global,
        planned: &planned,
        options: &options,
        evidence: &evidence,
    };
    let choices = work.advised(&mut done.run.manifest)?;
    let worth = choices.as_ref().map(Choices::worth_reporting);
    let reported = planned.reported(&worth.unwrap_or_default());
    let (scored, head) = work.write(&done, choices.as_ref(), &reported)?;
    let means = done.intervals(&evidence, &reported)?;
    done.note(scored, means);
    let result = match &choices {
        Some(choices) => work.conclude(&done, choices, &head),
        None => work.calibrate(&done),
    };
    let result = result.map(|(summary, ended)| {
        done.sum_up(summary);
        ended
    });
    drop((cases, records));
    finish(*done, result.and_then(|ended| ended), global)
}

/// Puts into the options what errors cost, and whether the user said how many responses loop.
fn weighed(options: &mut ChooseOptions, done: &Replayed, args: &Tune, current: &Settings) {
    options.worth = done.worth;
    options.rate_given = args.judge.loop_rate.is_some() || current.deployment_loop_rate.is_some();
}

/// The unit of choice: `--unit`, or the unit of the parts, or the unit of the corpus.
fn unit(args: &Tune) -> Outcome<Unit> {
    let of_parts = args
        .output
        .sharded
        .parts
        .as_ref()
        .and_then(|parts| parts.unit());
    match (args.judge.unit, of_parts) {
        (Some(unit), _) => Ok(unit),
        (None, Some(unit)) => Ok(unit),
        (None, None) => Ok(first_unit(&args.corpus)?),
    }
}

/// Tools are learnt for guards on runs alone.
fn refuse_learning_from(counted: Unit, args: &Tune) -> Outcome {
    if args.learn_allow && counted == Unit::Chars {
        let what = "--learn-allow: guards on text have no list of tools; expected --unit calls, and a corpus of runs";
        return Err(Code::Usage.error(what));
    }
    Ok(())
}

/// The grids that are searched, and their text: `--grid`, or those of all detectors that count in `counted`.
fn grids(args: &Tune, counted: Unit) -> Outcome<(Vec<Grid>, String)> {
    let (grids, text) = match &args.grid {
        Some(path) => settings::grid(path).map(|(grid, text)| (vec![grid], text))?,
        None => settings::default_grids(counted)?,
    };
    let read = |grid: Grid| match args.judge.per {
        None => grid,
        Some(per) => grid.read_per(per),
    };
    Ok((grids.into_iter().map(read).collect(), text))
}

/// What was asked, and what every setting said.
struct Work<'a> {
    args: &'a Tune,
    global: Global,
    planned: &'a Planned,
    options: &'a ChooseOptions,
    evidence: &'a Evidence<'a>,
}

impl Work<'_> {
    /// The choice; `None` where there is a budget and no loop to choose by: there the clean text decides.
    fn choose(&self) -> Outcome<Option<Choices>> {
        let Planned {
            candidates, in_use, ..
        } = self.planned;
        let every = self.evidence.all();
        let now = self.evidence.tally(*in_use, &every, &self.options.judge);
        if self.args.budget.is_some() && now.loops() == 0 {
            return Ok(None);
        }
        let choices = choose(self.evidence, candidates.clone(), *in_use, self.options)?;
        Ok(Some(choices))
    }

    /// The same with all that is said of it, which the manifest has too.
    fn advised(&self, manifest: &mut Manifest) -> Outcome<Option<Choices>> {
        let mut choices = self.choose()?;
        if let Some(choices) = &mut choices {
            self.planned.name(manifest, choices);
            told::lead_on(choices, self.args, self.options);
            choices.advice.warnings = warnings::warnings(self.planned, self.evidence, self.options);
            manifest.advice = Some(choices.advice.clone());
        }
        Ok(choices)
    }

    /// Everything that is written whether or not something was chosen.
    fn write(
        &self,
        done: &Replayed,
        choices: Option<&Choices>,
        reported: &[usize],
    ) -> Outcome<(Scored, ExcerptsHead)> {
        let (args, planned, evidence) = (self.args, self.planned, self.evidence);
        let (by, csv) = (&args.output.by, args.output.csv);
        let scored = done.score(evidence, reported, by, csv)?;
        tell_no_csv(csv, &scored, self.global);
        let dir = done.run.folder.path();
        let chosen = choices.map(Choices::cells).unwrap_or_default();
        let marked = Marked {
            shown: reported,
            chosen: &chosen,
            candidate: choices.and_then(|c| c.pooled.candidate),
            in_use: Some(planned.in_use),
            names: &done.run.manifest.settings,
        };
        let scoring = done.scoring(evidence, reported, false);
        write_pareto(dir, &scoring, &scored.fronts, &marked)?;
        let cells = planned.candidates.len();
        write_regions(dir, evidence, cells, reported, &done.judge)?;
        let head = Opening {
            evidence,
            focus: self.focus(&chosen),
            chunks: args.judge.chunks,
            texts: !args.output.no_excerpts,
            host: &Terminal::of(self.global),
        }
        .write(done)?;
        Ok((scored, head))
    }

    /// The files of a choice, and what is said of it. A verdict that leaves everything as it is for want of data, or
    /// of a setting within the limits, has an exit code of its own.
    fn conclude(
        &self,
        done: &Replayed,
        choices: &Choices,
        head: &ExcerptsHead,
    ) -> Outcome<(Value, Outcome)> {
        let dir = done.run.folder.path();
        write_choice(dir, choices, self.options)?;
        write_settings(
            dir,
            &self.planned.plan,
            choices,
            &self.planned.file,
            self.options,
        )?;
        let learnt = self.args.learn_allow.then(|| {
            let cases = self.evidence.cases;
            learn(done, cases, dir, &Terminal::of(self.global))
        });
        let said = told::Said {
            args: self.args,
            options: self.options,
            head,
            learnt: learnt.transpose()?,
        };
        let summary = told::summary(done, self.planned, choices, &said, self.global)?;
        let few = choices.models.iter().filter(|c| c.why == Why::FewLabels);
        let few: Vec<String> = few.map(|c| format!("{}: {}", c.model, c.reason)).collect();
        let advice = &choices.advice;
        let ended = match advice.verdict {
            Ruling::Collect => Err(Code::TooLittle.error(&advice.reason)),
            Ruling::None => Err(Code::Infeasible.error(&advice.reason)),
            _ if self.args.require_own && !few.is_empty() => {
                let what = "too little data for a setting of its own";
                Err(Code::TooLittle.error(format!("{what}: {}", few.join("; "))))
            }
            _ => Ok(()),
        };
        Ok((summary, ended))
    }

    /// What the clean text alone supports.
    fn calibrate(&self, done: &Replayed) -> Outcome<(Value, Outcome)> {
        let asked = Asked {
            candidates: self.planned.candidates.clone(),
            current: self.planned.in_use,
            budget: self.args.budget.unwrap_or(f64::NAN),
        };
        let (_, summary) = supported::calibrated(done, self.evidence, &asked, self.global)?;
        Ok((summary, Ok(())))
    }

    /// What the transcripts of each model are seen through: what `settings.toml` holds for it.
    fn focus(&self, chosen: &BTreeMap<String, usize>) -> BTreeMap<String, Focus> {
        let Planned {
            plan,
            in_use,
            settings,
            ..
        } = self.planned;
        let of = |cell: usize| {
            if cell == *in_use {
                settings.clone()
            } else {
                Settings::of(plan.setting(cell))
            }
        };
        let known = (!chosen.contains_key("*")).then(|| ("*".to_owned(), *in_use));
        let cells = chosen.iter().map(|(model, cell)| (model.clone(), *cell));
        cells
            .chain(known)
            .map(|(model, cell)| (model, (cell, ("settings".to_owned(), of(cell)))))
            .collect()
    }
}
