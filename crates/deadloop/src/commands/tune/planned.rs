//! What `tune` replays: every cell of the grids, or of those of their structures that a search left,
//! and what they are compared with.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use deadloop_detect::Settings;
use deadloop_replay::{Grid, Plan};
use deadloop_score::{ChooseOptions, Manifest};

use super::asked::Tune;
use crate::commands::sweep::tell_refused;
use crate::exit::{Code, Outcome};
use crate::replaying::{Request, name};
use crate::searching::{Found, Wanted, search, tell_size};
use crate::settings;

pub(super) struct Planned {
    pub(super) plan: Plan,
    /// The cells that are chosen from: those of the grids, which come first.
    pub(super) candidates: Range<usize>,
    /// The cells of the presets, by name.
    presets: Vec<(String, usize)>,
    /// The cell of the settings in use now.
    pub(super) current: usize,
    /// Those.
    pub(super) settings: Settings,
    /// How the candidates were found, if they are not all.
    search: Option<String>,
}

impl Planned {
    /// With `--search` the race is run here, and `options` say afterwards which folds it saw.
    pub(super) fn new(
        args: &Tune,
        request: &Request<'_>,
        grids: &[Grid],
        settings: Settings,
        options: &mut ChooseOptions,
    ) -> Outcome<Self> {
        let (mut plan, search) = match args.search {
            None => (product(grids)?, None),
            Some(how) => {
                let structures = args.structures.get();
                let wanted = Wanted {
                    grids,
                    how,
                    structures,
                    options,
                };
                let Found { plan, told, raced } = search(request, &wanted)?;
                options.raced = raced;
                (plan, Some(told))
            }
        };
        let candidates = 0..plan.cells();
        tell_refused(&plan, request.global);
        tell_size(&plan, request.global.quiet);
        let presets = settings::all_presets()?.into_iter();
        let presets = presets.map(|(name, setting)| (name, plan.add_setting(&setting)));
        Ok(Self {
            candidates,
            presets: presets.collect(),
            current: plan.add_settings(&settings),
            plan,
            settings,
            search,
        })
    }

    /// What the manifest says about how it was chosen, and what the settings are called.
    pub(super) fn describe(&self, manifest: &mut Manifest, args: &Tune) {
        manifest.constraints = args.constraints();
        manifest.objective = Some(args.objective.clone());
        manifest.folds = usize::try_from(args.folds).ok();
        manifest.search = self.search.clone();
        for (label, cell) in &self.presets {
            name(manifest, &self.plan, *cell, label);
        }
        name(manifest, &self.plan, self.current, "current");
    }

    /// The cells that are scored in full.
    pub(super) fn reported(&self, chosen: &BTreeMap<String, usize>) -> Vec<usize> {
        let presets = self.presets.iter().map(|(_, cell)| *cell);
        let known = presets.chain([self.current]);
        let all: BTreeSet<usize> = chosen.values().copied().chain(known).collect();
        all.into_iter().collect()
    }
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
