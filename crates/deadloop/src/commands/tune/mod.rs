//! `deadloop tune`: the main job. Sweep, cross-validate, choose a setting per model, write the
//! evidence.
//!
//! What was asked is in `asked`, what is replayed in `planned`, what is said in the end in `told`.

use std::collections::BTreeMap;

use deadloop_detect::Settings;
use deadloop_score::{
    Choices, ChooseError, ChooseOptions, Evidence, Scored, Why, choose, write_choice, write_pareto,
    write_regions, write_settings,
};
use serde_json::Value;

use super::replay::intervals;
use crate::args::Global;
use crate::budgeting::{self, Asked};
use crate::exit::{Code, Failure, Outcome};
use crate::opening::{Focus, Opening};
use crate::replaying::{Replayed, name, replay};
use crate::settings;

mod asked;
mod planned;
mod told;

pub(crate) use asked::Tune;
use planned::Planned;

/// The transcripts that a choice is scored on afterwards, and never chosen on.
pub(super) const SEALED: &str = "test";

pub(super) fn run(args: &Tune, global: Global) -> Outcome {
    let current = settings::settings(args.settings.as_deref(), &args.judge.set)?;
    let mut options = args.options(&current)?;
    let (grids, text) = match &args.grid {
        Some(path) => settings::grid(path).map(|(grid, text)| (vec![grid], text))?,
        None => settings::default_grids()?,
    };
    let request = args.request(global, text, &current);
    let planned = Planned::new(args, &request, &grids, current, &mut options)?;
    let Some(mut done) = replay(&request, &planned.plan, &planned.settings)? else {
        return Ok(());
    };
    planned.describe(&mut done.manifest, args);
    let evidence = Evidence::new(&planned.plan, &done.surveyed.cases, &done.records)?;
    let work = Work {
        args,
        global,
        planned: &planned,
        options: &options,
        evidence: &evidence,
    };
    let choices = work.choose();
    let chosen = chosen_cells(&choices);
    let reported = planned.reported(&chosen);
    let scored = work.write(&done, &chosen, &reported)?;
    done.manifest.models_left_out = scored.left_out;
    done.manifest.beside_floors = scored.beside_floors;
    done.manifest.macro_means = intervals(&done, &evidence, &reported)?;
    // Nothing feasible: the scores are written and say how far it was; nothing is chosen.
    let result = match choices {
        Some(Ok(choices)) => work.conclude(&done, &choices),
        Some(Err(error)) => {
            if let ChooseError::NothingFeasible(why) = &error {
                done.manifest.infeasible = Some((**why).clone());
            }
            Err(failure(error))
        }
        None => work.calibrate(&done),
    };
    let result = result.map(|(cell, summary)| {
        name(&mut done.manifest, &planned.plan, cell, "chosen");
        done.sum_up(summary);
    });
    done.finish(result, global)
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
    /// The choice; `None` where there is a budget and no loop to choose by: there the clean text
    /// decides.
    fn choose(&self) -> Option<Result<Choices, ChooseError>> {
        let Planned {
            candidates,
            current,
            ..
        } = self.planned;
        let every = self.evidence.all();
        let quiet = self.evidence.tally(*current, &every, &self.options.judge);
        if self.args.budget.is_some() && quiet.loops() == 0 {
            return None;
        }
        let candidates = candidates.clone();
        Some(choose(
            self.evidence,
            candidates,
            Some(*current),
            self.options,
        ))
    }

    /// Everything that is written whether or not something was chosen.
    fn write(
        &self,
        done: &Replayed,
        chosen: &BTreeMap<String, usize>,
        reported: &[usize],
    ) -> Outcome<Scored> {
        let Self {
            args,
            planned,
            evidence,
            ..
        } = self;
        let by = (&args.output.by[..], args.output.csv);
        let scored = done.score(evidence, Some(planned.current), reported, by)?;
        let dir = done.folder.path();
        write_pareto(dir, evidence, &scored.fronts, chosen)?;
        let cells = planned.candidates.len();
        write_regions(dir, evidence, cells, reported, &done.judge)?;
        Opening {
            evidence,
            focus: self.focus(chosen),
            chunks: args.judge.chunks,
            texts: !args.output.no_excerpts,
            quiet: self.global.quiet,
        }
        .write(done)?;
        Ok(scored)
    }

    /// The files of a choice; gives back the pooled cell, and what `--json` says. Nothing is written
    /// where some model should have a setting of its own and has too few labels.
    fn conclude(&self, done: &Replayed, choices: &Choices) -> Outcome<(usize, Value)> {
        let few = choices.models.iter().filter(|c| c.why == Why::FewLabels);
        let few: Vec<String> = few.map(|c| format!("{}: {}", c.model, c.reason)).collect();
        if self.args.require_own && !few.is_empty() {
            let what = "too little data for a setting of its own";
            return Err(Code::TooLittle.error(format!("{what}: {}", few.join("; "))));
        }
        let dir = done.folder.path();
        write_choice(dir, choices, self.options)?;
        write_settings(dir, self.evidence.plan, choices, self.options)?;
        let summary = told::summary(
            done,
            self.evidence,
            choices,
            self.planned.current,
            self.global,
        )?;
        Ok((choices.pooled.cell, summary))
    }

    /// What the clean text alone supports.
    fn calibrate(&self, done: &Replayed) -> Outcome<(usize, Value)> {
        let asked = Asked {
            candidates: self.planned.candidates.clone(),
            current: self.planned.current,
            budget: self.args.budget.unwrap_or(f64::NAN),
        };
        budgeting::calibrated(done, self.evidence, &asked, self.global)
    }

    /// What the transcripts of each model are seen through: its choice, or the setting in use where
    /// nothing was chosen.
    fn focus(&self, chosen: &BTreeMap<String, usize>) -> BTreeMap<String, Focus> {
        let Planned {
            plan,
            current,
            settings,
            ..
        } = self.planned;
        let of = |cell: usize| match cell == *current {
            true => settings.clone(),
            false => Settings::of(plan.setting(cell)),
        };
        let known = (!chosen.contains_key("*")).then(|| ("*".to_owned(), *current));
        let cells = chosen.iter().map(|(model, cell)| (model.clone(), *cell));
        cells
            .chain(known)
            .map(|(model, cell)| (model, (cell, ("settings".to_owned(), of(cell)))))
            .collect()
    }
}

/// The cell of each model, and that of all together as `*`; none where nothing was chosen.
fn chosen_cells(choices: &Option<Result<Choices, ChooseError>>) -> BTreeMap<String, usize> {
    let Some(Ok(choices)) = choices else {
        return BTreeMap::new();
    };
    let all = std::iter::once(&choices.pooled).chain(&choices.models);
    all.map(|choice| (choice.model.clone(), choice.cell))
        .collect()
}

fn failure(error: ChooseError) -> Failure {
    match error {
        ChooseError::NothingFeasible(_) => Code::Infeasible.because(error),
        ChooseError::TooLittleData { .. } => Code::TooLittle.because(error),
        ChooseError::NoCandidates => Code::Unexpected.because(error),
    }
}
