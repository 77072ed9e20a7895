//! [`tune`]: replays grids and ready guards over a corpus, and chooses a setting.

use std::collections::BTreeMap;

use deadloop_detect::harness::TextScope;
use deadloop_detect::{Guards, Settings, Unit};
use deadloop_replay::{Grid, Plan};
use deadloop_score::choose::{Choices, ChooseOptions, Ruling, choose};
use deadloop_score::{
    Constraint, Evidence, ExcerptsHead, JudgeOptions, Metric, ScoringResult, settings_toml,
    write_choice, write_text,
};

use crate::failure::{Code, RunResult};
use crate::host::Chosen;
use crate::replay::opened_transcripts::{FocusSetting, OpeningOptions};
use crate::replay::request::Request;
use crate::replay::{ReplayRun, RunOutcome, name, replay_plan};

mod command;
mod doubt;
mod plan;
mod remedies;
mod text;

pub use command::{TuneOptions, tune};
use plan::TunePlan;
use remedies::Remedies;

/// The way to run settings with guards on calls or turns.
const IN_PROCESS: &str = "Let the agent load settings.toml in its own process (docs/agents.md): watch and proxy see one response, without the results of tools.";

/// The input of a choice: the options with their files read.
struct Tuning {
    /// The unit of choice.
    unit: Unit,
    /// The settings in use.
    settings: Settings,
    /// The text of the settings in use.
    text: String,
    /// The name of the settings in use, for sentences.
    in_use_is: String,
    /// The user's grid with its text. Without one the default grids are scored, and none of their settings ships.
    grid: Option<(Grid, String)>,
    /// Further ready guards, with their names.
    also: Vec<(String, Settings)>,
    /// The user's limits. Empty for the default.
    constraints: Vec<Constraint>,
    /// The measure to optimize.
    objective: Metric,
    /// The unit that counts as one text in a run of an agent, if the user chose it.
    per: Option<TextScope>,
}

impl Tuning {
    /// Returns the limits: the user's, or the default.
    fn limits(&self) -> Vec<Constraint> {
        if self.constraints.is_empty() {
            vec![ChooseOptions::default_limit(self.unit)]
        } else {
            self.constraints.clone()
        }
    }

    fn options(&self, request: &Request<'_>, plan: &TunePlan, done: &ReplayRun) -> ChooseOptions {
        ChooseOptions {
            constraints: self.limits(),
            given: !self.constraints.is_empty(),
            in_use_is: self.in_use_is.clone(),
            ready: plan.ready.clone(),
            ships_grid: self.grid.is_some(),
            objective: self.objective,
            seed: request.select.seed,
            judge: JudgeOptions {
                unit: self.unit,
                ..request.judging.options()
            },
            worth: done.worth,
            ..ChooseOptions::default()
        }
    }
}

/// A finished choice. Its folder holds all files but the manifest and the report, which [`ReplayRun::finish`] writes.
struct TuneResult {
    /// The run.
    done: ReplayRun,
    /// The plan.
    plan: TunePlan,
    /// The options of the choice.
    options: ChooseOptions,
    /// The choice.
    choices: Choices,
    /// The counts of the transcripts that the report opens.
    head: ExcerptsHead,
    /// The tables of scores that were written.
    scored: ScoringResult,
}

/// Replays the plan over the corpus of `request`, chooses a setting, and writes the files.
///
/// # Errors
/// Returns the errors of [`replay_plan`], or an error if a file cannot be written or the host stops it.
fn choose_setting(
    request: &Request<'_>,
    tuning: &Tuning,
    plan: TunePlan,
) -> RunResult<RunOutcome<TuneResult>> {
    replay_plan(request, &plan.plan, &tuning.settings)?.try_map(|mut done| {
        let mut options = tuning.options(request, &plan, &done);
        let (cases, records) = done.unpack(&plan.plan);
        let evidence = Evidence::new(&plan.plan, &cases, &records)?;
        options.doubted = doubt::find_doubted(&done, &evidence, &options, request.host)?;
        let mut choices = choose(&evidence, &plan.grids, plan.in_use, &options)?;
        let written = |choices: &Choices| settings_toml(&plan.plan, choices, &plan.file, &options);
        let remedies = Remedies {
            done: &done,
            evidence: &evidence,
            host: request.host,
        };
        let file = written(&choices);
        let tried = remedies.try_remedies(&choices, &file)?;
        let mut to_do = tried.sentences;
        let settings = Settings::parse(&file).map_err(|e| Code::Unexpected.error(e))?;
        let live = Guards::new(&settings);
        match &live {
            Err(why) => to_do.push(format!("settings.toml cannot guard a live stream: {why}.")),
            Ok(_) if tuning.unit == Unit::Chars => {}
            Ok(_) if choices.advice.verdict != Ruling::Ship => {}
            Ok(_) => to_do.push(IN_PROCESS.to_owned()),
        }
        let work = ChoiceInput {
            request,
            plan: &plan,
            options: &options,
            evidence: &evidence,
            remedies: tried.of_cases,
        };
        work.describe(&mut done, &choices);
        let (scored, head) = work.write(&mut done, &choices, &tuning.settings)?;
        to_do.extend(head.disputed(tuning.unit));
        choices.advice.to_do = to_do;
        choices.advice.next = request.host.next_commands(&Chosen {
            verdict: choices.advice.verdict,
            is_live: live.is_ok() && tuning.unit == Unit::Chars,
            select: &request.select,
            judge: &request.judging,
        });
        done.run.manifest.advice = Some(choices.advice.clone());
        let dir = done.run.folder.path();
        write_choice(dir, &choices, &options)?;
        write_text(&dir.join("settings.toml"), &written(&choices))?;
        Ok(TuneResult {
            choices,
            head,
            scored,
            done,
            options,
            plan,
        })
    })
}

/// The input for the files of a choice.
struct ChoiceInput<'a> {
    request: &'a Request<'a>,
    plan: &'a TunePlan,
    options: &'a ChooseOptions,
    evidence: &'a Evidence<'a>,
    /// The remedies that were tried against wrong alarms, a sentence for a case.
    remedies: BTreeMap<usize, String>,
}

impl ChoiceInput<'_> {
    /// Puts the limits and the names of settings into the manifest.
    fn describe(&self, done: &mut ReplayRun, choices: &Choices) {
        let (plan, manifest): (&Plan, _) = (&self.plan.plan, &mut done.run.manifest);
        manifest.constraints = self
            .options
            .constraints
            .iter()
            .map(ToString::to_string)
            .collect();
        manifest.objective = Some(self.options.objective.name.to_owned());
        for (ready, short) in self.plan.ready.iter().zip(&self.plan.short) {
            name(manifest, plan, ready.cell, short);
        }
        name(manifest, plan, self.plan.in_use, "current");
        if choices.all.ships.is_some() {
            name(manifest, plan, choices.all.cell, "chosen");
        }
    }

    /// Writes the tables and the excerpts.
    fn write(
        &self,
        done: &mut ReplayRun,
        choices: &Choices,
        in_use: &Settings,
    ) -> RunResult<(ScoringResult, ExcerptsHead)> {
        let ready = self.plan.ready.iter().map(|ready| ready.cell);
        let mut reported: Vec<usize> = choices.reported_cells().into_iter().chain(ready).collect();
        reported.sort_unstable();
        reported.dedup();
        let (request, evidence) = (self.request, self.evidence);
        let scored = done.score(
            evidence,
            &reported,
            &request.output.by,
            request.output.folder.csv,
        )?;
        let chosen = choices.cells();
        let head = OpeningOptions {
            evidence,
            focus: self.focus(&chosen, in_use),
            chunks: request.judging.chunks,
            texts: !request.output.no_excerpts,
            remedies: self.remedies.clone(),
            host: request.host,
        }
        .write(done)?;
        let means = done.means(evidence, &reported);
        done.note(scored.clone(), means);
        Ok((scored, head))
    }

    /// Returns the setting used for the transcripts of each model, from the settings file.
    fn focus(
        &self,
        chosen: &BTreeMap<String, usize>,
        in_use: &Settings,
    ) -> BTreeMap<String, FocusSetting> {
        let of = |cell: usize| {
            if cell == self.plan.in_use {
                in_use.clone()
            } else {
                Settings::from_guard(self.plan.plan.setting(cell))
            }
        };
        let focus = |(model, cell): (&String, &usize)| {
            (model.clone(), (*cell, ("settings".to_owned(), of(*cell))))
        };
        chosen.iter().map(focus).collect()
    }
}
