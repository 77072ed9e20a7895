//! `deadloop tune`: the main job. Sweep, cross-validate, choose a setting per model, write the
//! evidence.

use std::collections::{BTreeMap, BTreeSet};

use deadloop_detect::Settings;
use deadloop_replay::{Grid, Plan};
use deadloop_score::{
    Choice, Choices, ChooseError, ChooseOptions, Constraint, Evidence, Manifest, Metric, Why,
    choose, write_choice, write_pareto, write_regions, write_settings,
};
use serde_json::json;

use super::replay::{intervals, ratio};
use super::sweep::{already_done, tell_refused};
use crate::args::{Global, Tune};
use crate::budgeting::{self, Asked};
use crate::exit::{Code, Outcome};
use crate::opening::{Focus, Opening};
use crate::replaying::{Replayed, Request, all_presets, name, replay};
use crate::searching::{Wanted, search, tell_size};
use crate::settings;
use crate::show;

/// The transcripts that a choice is scored on afterwards, and never chosen on.
pub(super) const SEALED: &str = "test";

pub(super) fn run(args: &Tune, global: Global) -> Outcome {
    let current = settings::settings(args.settings.as_deref(), &args.judge.set)?;
    let (grids, text) = match &args.grid {
        Some(path) => settings::grid(path).map(|(grid, text)| (vec![grid], text))?,
        None => settings::default_grids()?,
    };
    let request = request(args, global, text, &current);
    let options = options(args, &current)?;
    let (mut plan, search) = match args.search {
        None => (product(&grids)?, None),
        Some(how) => {
            let wanted = Wanted {
                grids: &grids,
                how,
                structures: args.structures.get(),
                options: &options,
            };
            search(&request, &wanted).map(|(plan, told)| (plan, Some(told)))?
        }
    };
    // Grids come first, so their cells are those up to here.
    let cells = 0..plan.cells();
    tell_refused(&plan, global);
    tell_size(&plan, global.quiet);
    let presets: Vec<(String, usize)> = all_presets()?
        .into_iter()
        .map(|(name, s)| (name, plan.add_setting(&s)))
        .collect();
    let current_cell = plan.add_settings(&current);
    let Some(mut done) = replay(&request, &plan, &current)? else {
        return already_done(&args.out, global);
    };
    done.manifest.search = search;
    describe(&mut done.manifest, &plan, args, (&presets, current_cell));
    let evidence = Evidence::new(&plan, &done.surveyed.cases, &done.records)?;
    let loops = evidence
        .tally(current_cell, &evidence.all(), &done.judge)
        .loops();
    let budgeted = args.budget.filter(|_| loops == 0);
    let choices = match budgeted {
        Some(_) => None,
        None => Some(choose(
            &evidence,
            cells.clone(),
            Some(current_cell),
            &options,
        )),
    };
    let chosen = choices.iter().flatten().next().map(chosen_cells);
    let chosen = chosen.unwrap_or_default();
    let known = presets.iter().map(|(_, cell)| *cell).chain([current_cell]);
    let reported: BTreeSet<usize> = chosen.values().copied().chain(known).collect();
    let reported: Vec<usize> = reported.into_iter().collect();
    let scored = done.score(
        &evidence,
        Some(current_cell),
        &reported,
        (&args.output.by, args.output.csv),
    )?;
    done.manifest.macro_means = intervals(&done, &evidence, &reported)?;
    done.manifest.models_left_out = scored.left_out;
    done.manifest.beside_floors = scored.beside_floors;
    write_pareto(done.folder.path(), &evidence, &scored.fronts, &chosen)?;
    write_regions(
        done.folder.path(),
        &evidence,
        cells.len(),
        &reported,
        &done.judge,
    )?;
    Opening {
        evidence: &evidence,
        focus: focus(&plan, &chosen, (current_cell, &current)),
        chunks: args.judge.chunks,
        texts: !args.output.no_excerpts,
        quiet: global.quiet,
    }
    .write(&done)?;
    // Nothing feasible: the scores are written and say how far it was; nothing is chosen.
    let result = match (choices, budgeted) {
        (Some(Ok(choices)), _) => written(args, &done, &evidence, &choices, &options)
            .and_then(|()| summary(&done, &evidence, &choices, current_cell, global))
            .map(|()| choices.pooled.cell),
        (Some(Err(error)), _) => {
            if let ChooseError::NothingFeasible(why) = &error {
                done.manifest.infeasible = Some((**why).clone());
            }
            Err(failure(error))
        }
        (None, budget) => {
            let asked = Asked {
                candidates: cells,
                current: current_cell,
                budget: budget.unwrap_or(f64::NAN),
            };
            budgeting::calibrated(&done, &evidence, &asked, global)
        }
    };
    if let Ok(cell) = &result {
        name(&mut done.manifest, &plan, *cell, "chosen");
    }
    done.finish(global)?;
    result.map(|_| ())
}

/// A plan of every cell of the grids.
fn product(grids: &[Grid]) -> Outcome<Plan> {
    let mut plan = Plan::default();
    for grid in grids {
        plan.add_grid(grid)
            .map_err(|e| Code::Usage.error(format!("the grid: {e}")))?;
    }
    Ok(plan)
}

/// How the choice is made.
fn options(args: &Tune, current: &Settings) -> Outcome<ChooseOptions> {
    let (constraints, objective) = goal(args)?;
    Ok(ChooseOptions {
        constraints,
        objective,
        folds: usize::try_from(args.folds).unwrap_or(usize::MAX),
        seed: args.select.seed,
        judge: args.judge.options(),
        worth: args.judge.worth(current),
        errors: args.standard_errors,
        ..ChooseOptions::default()
    })
}

/// The files of a choice; none where some model should have one of its own and has too few labels.
fn written(
    args: &Tune,
    done: &Replayed,
    evidence: &Evidence<'_>,
    choices: &Choices,
    options: &ChooseOptions,
) -> Outcome {
    let few = choices.models.iter().filter(|c| c.why == Why::FewLabels);
    let few: Vec<String> = few.map(|c| format!("{}: {}", c.model, c.reason)).collect();
    if args.require_own && !few.is_empty() {
        let what = "too little data for a setting of its own";
        return Err(Code::TooLittle.error(format!("{what}: {}", few.join("; "))));
    }
    write_choice(done.folder.path(), choices, options)?;
    write_settings(done.folder.path(), evidence.plan, choices, options)?;
    Ok(())
}

fn goal(args: &Tune) -> Outcome<(Vec<Constraint>, Metric)> {
    let constraint = |text: &String| {
        text.parse::<Constraint>()
            .map_err(|e| Code::Usage.error(format!("--constraint {text}: {e}")))
    };
    let constraints = match args.budget {
        Some(budget) => vec![format!("fa_per_mchar<={budget}")],
        None => args.constraints.clone(),
    };
    let constraints = constraints.iter().map(constraint).collect::<Outcome<_>>()?;
    let objective = args.objective.parse::<Metric>();
    let objective =
        objective.map_err(|e| Code::Usage.error(format!("--objective {}: {e}", args.objective)))?;
    if !objective.can_be_objective() {
        let what = format!(
            "--objective {}: it cannot be compared from transcript to transcript",
            args.objective
        );
        return Err(Code::Usage.error(what));
    }
    Ok((constraints, objective))
}

fn request<'a>(args: &'a Tune, global: Global, grid: String, current: &Settings) -> Request<'a> {
    Request {
        command: "tune",
        corpus: &args.corpus,
        out: &args.out,
        select: &args.select,
        judge: &args.judge,
        output: &args.output,
        global,
        inputs: vec![
            current.id(),
            format!(
                "{:?} {:?} {} {} {} {}",
                args.constraints,
                args.budget,
                args.objective,
                args.folds,
                args.standard_errors,
                args.require_own
            ),
        ],
        grid: Some(grid),
        sealed: Some(SEALED),
    }
}

/// What the manifest says about how it was chosen, and what the settings are called.
fn describe(
    manifest: &mut Manifest,
    plan: &Plan,
    args: &Tune,
    (presets, current): (&[(String, usize)], usize),
) {
    manifest.constraints = match args.budget {
        Some(budget) => vec![format!("fa_per_mchar<={budget}")],
        None => args.constraints.clone(),
    };
    manifest.objective = Some(args.objective.clone());
    manifest.folds = usize::try_from(args.folds).ok();
    for (label, cell) in presets {
        name(manifest, plan, *cell, label);
    }
    name(manifest, plan, current, "current");
}

fn chosen_cells(choices: &Choices) -> BTreeMap<String, usize> {
    let all = std::iter::once(&choices.pooled).chain(&choices.models);
    all.map(|choice| (choice.model.clone(), choice.cell))
        .collect()
}

/// What the transcripts of each model are seen through: its choice, or the setting in use where nothing was chosen.
fn focus(
    plan: &Plan,
    chosen: &BTreeMap<String, usize>,
    (current, settings): (usize, &Settings),
) -> BTreeMap<String, Focus> {
    let of = |cell: usize| match cell == current {
        true => settings.clone(),
        false => Settings::of(plan.setting(cell)),
    };
    let known = (!chosen.contains_key("*")).then(|| ("*".to_owned(), current));
    let cells = chosen.iter().map(|(model, cell)| (model.clone(), *cell));
    cells
        .chain(known)
        .map(|(model, cell)| (model, (cell, ("settings".to_owned(), of(cell)))))
        .collect()
}

fn failure(error: ChooseError) -> crate::exit::Failure {
    match error {
        ChooseError::NothingFeasible(_) => Code::Infeasible.because(error),
        ChooseError::TooLittleData { .. } => Code::TooLittle.because(error),
        ChooseError::NoCandidates => Code::Unexpected.because(error),
    }
}

/// The choice for each model that has one of its own, and the pooled one.
fn summary(
    done: &Replayed,
    evidence: &Evidence<'_>,
    choices: &Choices,
    current: usize,
    global: Global,
) -> Outcome {
    let own: Vec<&Choice> = choices
        .models
        .iter()
        .filter(|c| c.why == Why::Own)
        .collect();
    if global.json {
        let row = |c: &Choice| json!({"model": c.model, "setting": c.setting, "why": c.why.name()});
        let rows: Vec<_> = std::iter::once(&choices.pooled)
            .chain(own)
            .map(row)
            .collect();
        return show::print(&json!({"out": done.folder.path(), "chosen": rows}).to_string());
    }
    if global.quiet {
        return Ok(());
    }
    let now = evidence.tally(current, &evidence.all(), &done.judge);
    let mut rows = vec![vec![
        "current".into(),
        evidence.plan.id(current),
        String::new(),
        show::percent(ratio(&now)),
        show::number(deadloop_score::fa_per_mchar(&now), 2),
        show::number(deadloop_score::delay(&now), 0),
        show::percent(deadloop_score::saved(&now)),
    ]];
    rows.extend(std::iter::once(&choices.pooled).chain(own).map(row));
    let header = [
        "model",
        "setting",
        "why",
        "recall",
        "false alarms/Mchar",
        "delay, chars",
        "saved",
    ];
    show::print(&show::table(&header, &rows, 3))?;
    let pooled = choices.models.len() - (rows.len() - 2);
    show::print(&format!(
        "{pooled} models take the pooled setting (*). Chosen rows are held-out figures: see choice.csv for why."
    ))
}

fn row(choice: &Choice) -> Vec<String> {
    let t = &choice.held_out_tally;
    vec![
        choice.model.clone(),
        choice.setting.clone(),
        format!(
            "{}{}",
            choice.why.name(),
            if choice.thin { ", thin" } else { "" }
        ),
        show::percent(ratio(t)),
        show::number(deadloop_score::fa_per_mchar(t), 2),
        show::number(deadloop_score::delay(t), 0),
        show::percent(deadloop_score::saved(t)),
    ]
}
