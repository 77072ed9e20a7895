//! What `tune` replays: every cell of the grids, and what they are compared with.

use std::collections::BTreeSet;
use std::ops::Range;

use deadloop_detect::harness::{DETECTORS, Detector, Member};
use deadloop_detect::{Response, Settings, Unit};
use deadloop_replay::shipped::{Scope, presets_in};
use deadloop_replay::{Grid, Plan};
use deadloop_score::{Choices, ChooseOptions, InUse, Manifest, ReadyGuard};

use super::asked::Tune;
use crate::args::Global;
use crate::exit::{Code, Outcome};
use crate::replaying::tell_refused;
use crate::settings::{self, recommended_name};
use crate::show;
use deadloop_run::name;

pub(super) struct Planned {
    pub(super) plan: Plan,
    /// The cells that are chosen from: those of the grids, which come first, and what is in use; with the default
    /// grids the recommended guard and the presets too.
    pub(super) candidates: Range<usize>,
    /// The cells of the recommended guard, of the presets and of what `--also` names, by name.
    pub(super) presets: Vec<(String, usize)>,
    /// The recommended guard with a detector of text beside it that by itself only warns, as a stop.
    pub(super) with_warning: Vec<WithWarning>,
    /// The cell of the settings in use now.
    pub(super) in_use: usize,
    /// Those, and their file.
    pub(super) settings: Settings,
    pub(super) file: InUse,
}

/// A cell that is measured and never chosen: what a detector that warns would do if it ended streams.
pub(super) struct WithWarning {
    pub(super) detector: &'static Detector,
    pub(super) cell: usize,
}

/// Refuses grids that warn: `tune` chooses among guards that stop.
fn all_stop(grids: &[Grid]) -> Outcome {
    let stops = |grid: &Grid| grid.response() == Response::Stop;
    if grids.iter().all(stops) {
        return Ok(());
    }
    let what = "the grid warns: tune chooses among what stops, and keeps warnings as they are in \
                use; write response = \"stop\" to search it, or use sweep";
    Err(Code::Usage.error(what))
}

impl Planned {
    /// Plans a search, and names the ready guards in `options`.
    pub(super) fn new(
        args: &Tune,
        global: Global,
        (grids, unit): (&[Grid], Unit),
        ((settings, text), also): ((Settings, String), &[(String, Settings)]),
        options: &mut ChooseOptions,
    ) -> Outcome<Self> {
        all_stop(grids)?;
        let mut plan = product(grids)?;
        let scope = Scope::of(grids, unit);
        let chosen = |settings: &Settings| settings.part(|m| scope.has(m));
        let in_use = plan.add_settings(&chosen(&settings));
        let with_grid = 0..plan.cells();
        let per = args.judge.per;
        let mut presets = shipped(&mut plan, &scope, unit, per)?;
        for (name, setting) in also {
            let part = chosen(setting);
            if part.guard().members.is_empty() {
                let what = format!("--also {name}: no guard of it stops and is counted in {unit}");
                return Err(Code::Usage.error(what));
            }
            presets.push((name.clone(), plan.add_settings(&part)));
        }
        options.ready = ready(&presets, also, args.grid.is_some());
        tell_refused(&plan, global);
        let candidates = match args.grid {
            Some(_) => with_grid,
            None => 0..plan.cells(),
        };
        // Behind the candidates: of these cells nothing is chosen, and no table has them.
        let with_warning = with_warnings(&mut plan, &scope, unit, per)?;
        Ok(Self {
            candidates,
            presets,
            with_warning,
            in_use,
            plan,
            file: InUse {
                rest: settings::without_guards(&text)?,
                text,
                kept: settings.part(|m| !scope.has(m)),
            },
            settings,
        })
    }

    /// What the manifest says about how it was chosen, and what the settings are called.
    pub(super) fn describe(&self, manifest: &mut Manifest, args: &Tune, options: &ChooseOptions) {
        manifest.constraints = options
            .constraints
            .iter()
            .map(ToString::to_string)
            .collect();
        manifest.objective = Some(args.objective.clone());
        manifest.folds = usize::try_from(args.folds).ok();
        for (label, cell) in &self.presets {
            name(manifest, &self.plan, *cell, label);
        }
        name(manifest, &self.plan, self.in_use, "current");
    }

    /// Names for what was chosen, in the manifest and in the price list.
    pub(super) fn name(&self, manifest: &mut Manifest, choices: &mut Choices) {
        if let Some(cell) = choices.pooled.candidate {
            name(manifest, &self.plan, cell, "candidate");
        }
        if choices.pooled.ships.is_some() {
            name(manifest, &self.plan, choices.pooled.cell, "chosen");
        }
        for price in &mut choices.advice.prices {
            let presets = self.presets.iter().filter(|(_, cell)| *cell == price.cell);
            price.is.extend(presets.map(|(name, _)| name.clone()));
        }
    }

    /// The cells that are scored in full: what is in use, the presets, and those of a choice.
    pub(super) fn reported(&self, of_choice: &[usize]) -> Vec<usize> {
        let presets = self.presets.iter().map(|(_, cell)| *cell);
        let known = presets.chain([self.in_use]);
        let all: BTreeSet<usize> = of_choice.iter().copied().chain(known).collect();
        all.into_iter().collect()
    }

    /// Says what would be searched.
    pub(super) fn tell(&self, args: &Tune, options: &ChooseOptions) -> Outcome {
        let limits: Vec<String> = options
            .constraints
            .iter()
            .map(ToString::to_string)
            .collect();
        let cells = |n: usize| show::several(n as u64, "setting");
        show::print(&format!(
            "would search {} in {} on {}\nlimits: {}; best by: {}; in use: {} ({})\nwould write to {}; nothing was written",
            cells(self.candidates.len()),
            show::several(self.plan.listed().len() as u64, "structure"),
            args.corpus.display(),
            limits.join(", "),
            options.objective.name,
            self.plan.id(self.in_use),
            options.in_use_is,
            args.out.display(),
        ))
    }
}

/// Adds the recommended guard, then every preset of `unit`, as far as they are in scope: their names and cells.
fn shipped(
    plan: &mut Plan,
    scope: &Scope,
    unit: Unit,
    per: Option<deadloop_detect::harness::Per>,
) -> Outcome<Vec<(String, usize)>> {
    let part = recommended(scope, unit, per)?;
    let mut all = vec![(recommended_name(unit).to_owned(), plan.add_settings(&part))];
    let known = presets_in(unit).map_err(|e| Code::Unexpected.error(e))?;
    for (name, setting) in known {
        if setting.members.iter().all(|m| scope.has(m)) {
            let setting = match per {
                None => setting,
                Some(per) => setting.read_per(per),
            };
            all.push((name, plan.add_setting(&setting)));
        }
    }
    Ok(all)
}

/// The recommended guard, as far as it is in scope.
fn recommended(
    scope: &Scope,
    unit: Unit,
    per: Option<deadloop_detect::harness::Per>,
) -> Outcome<Settings> {
    let recommended = settings::settings_in(None, &[], unit)?;
    let (recommended, _) = settings::read_per(recommended, per)?;
    Ok(recommended.part(|m| scope.has(m)))
}

/// Adds the recommended guard once more for each detector of text that only warns by default, with it as a stop.
/// Adds nothing where `unit` is not chars, or where the grids do not look for loops.
fn with_warnings(
    plan: &mut Plan,
    scope: &Scope,
    unit: Unit,
    per: Option<deadloop_detect::harness::Per>,
) -> Outcome<Vec<WithWarning>> {
    let part = recommended(scope, unit, per)?;
    let warns = |d: &&'static Detector| d.response == Response::Warn && d.reads_text();
    let mut all = Vec::new();
    for detector in DETECTORS.iter().copied().filter(warns) {
        let mut member = Member::new(detector, detector.defaults());
        member.response = Response::Stop;
        member.per = per.unwrap_or_default();
        if !scope.has(&member) || part.guard().members.is_empty() {
            continue;
        }
        let mut guard = part.guard().clone();
        guard.members.push(member);
        let cell = plan.add_aside(&guard);
        all.push(WithWarning { detector, cell });
    }
    Ok(all)
}

/// The guards that may be taken as they are: the recommended one, those of `--also`, the presets, in this order. With a grid
/// of the user's the first and the last are rows of the tables, and no candidates.
fn ready(
    presets: &[(String, usize)],
    also: &[(String, Settings)],
    with_grid: bool,
) -> Vec<ReadyGuard> {
    let (shipped, named) = presets.split_at(presets.len() - also.len());
    let ready = |(name, cell): &(String, usize), is: &str| ReadyGuard {
        cell: *cell,
        name: format!("{is}{name}"),
    };
    let named = named.iter().map(|one| {
        let shipped = settings::SHIPPED.contains(&one.0.as_str());
        if shipped {
            ready(&("recommended guard".into(), one.1), "the ")
        } else {
            ready(one, "")
        }
    });
    if with_grid {
        return named.collect();
    }
    let recommended = shipped.first().map(|(_, cell)| ReadyGuard {
        cell: *cell,
        name: "the recommended guard".into(),
    });
    let others = shipped.iter().skip(1);
    let others = others.map(|one| ready(one, "the preset "));
    recommended.into_iter().chain(named).chain(others).collect()
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
