//! The plan of a choice: every cell of the grids, the ready guards, and the setting in use.

use deadloop_detect::harness::TextScope;
use deadloop_detect::{Response, Settings, Unit};
use deadloop_replay::shipped::{Scope, all_presets, default_grids, recommended};
use deadloop_replay::{Grid, Plan};
use deadloop_score::SettingsInUse;
use deadloop_score::choose::{GridCells, ReadyGuard};

use super::Tuning;
use crate::failure::{Code, RunResult};
use crate::option::ALSO;

/// The plan of a choice, with the cells to choose among.
pub(super) struct TunePlan {
    /// The settings that are replayed.
    pub(super) plan: Plan,
    /// The cells of each grid.
    pub(super) grids: Vec<GridCells>,
    /// The text of the grids.
    pub(super) text: String,
    /// The ready guards.
    pub(super) ready: Vec<ReadyGuard>,
    /// The names of the ready guards in tables, in the same order.
    pub(super) short: Vec<String>,
    /// The cell of the settings in use.
    pub(super) in_use: usize,
    /// The file of the settings in use. Its parts outside the choice stay.
    pub(super) file: SettingsInUse,
}

impl TunePlan {
    /// Plans a choice.
    ///
    /// # Errors
    /// Returns an error if a grid warns or is impossible, a guard of `also` does not stop, or the settings in use are
    /// not TOML.
    pub(super) fn new(tuning: &Tuning) -> RunResult<Self> {
        let (grids, text) = grids(tuning)?;
        let mut plan = Plan::default();
        let mut ranges = Vec::new();
        for grid in &grids {
            let cells = plan
                .add_grid(grid)
                .map_err(|e| Code::Usage.error(format!("the grid: {e}")))?;
            ranges.push(GridCells {
                name: grid.name(),
                cells,
            });
        }
        let scope = Scope::new(&grids, tuning.unit);
        let chosen = |settings: &Settings| settings.filter(|m| scope.has(m));
        let in_use = plan.add_settings(&chosen(&tuning.settings));
        let (mut ready, mut short) = (Vec::new(), Vec::new());
        for (known_as, name, settings) in shipped(tuning.unit, tuning.per)? {
            let part = chosen(&settings);
            if !part.guard().members.is_empty() {
                let cell = plan.add_settings(&part);
                ready.push(ReadyGuard { cell, name });
                short.push(known_as.to_owned());
            }
        }
        for (name, settings) in &tuning.also {
            let part = chosen(settings);
            if part.guard().members.is_empty() {
                let what = format!(
                    "{name}: no guard of it stops and is counted in {}",
                    tuning.unit
                );
                return Err(Code::Usage.at(ALSO, what));
            }
            ready.push(ReadyGuard {
                cell: plan.add_settings(&part),
                name: name.clone(),
            });
            short.push(name.clone());
        }
        Ok(Self {
            grids: ranges,
            text,
            ready,
            short,
            in_use,
            plan,
            file: SettingsInUse {
                rest: without_guards(&tuning.text)?,
                text: tuning.text.clone(),
                kept: tuning.settings.filter(|m| !scope.has(m)),
            },
        })
    }

    /// Returns the number of settings in the grids.
    pub(super) fn searched(&self) -> usize {
        self.grids.iter().map(|grid| grid.cells.len()).sum()
    }
}

/// Returns the searched grids with their text: the user's, or the default grids of all detectors that count in the
/// unit.
fn grids(tuning: &Tuning) -> RunResult<(Vec<Grid>, String)> {
    let (grids, text) = match &tuning.grid {
        Some((grid, text)) => (vec![grid.clone()], text.clone()),
        None => default_grids(tuning.unit)
            .map_err(|e| Code::Unexpected.error(format!("a default grid:{e}")))?,
    };
    if grids.iter().any(|grid| grid.response() != Response::Stop) {
        let what = "the grid warns: tune chooses among what stops, and keeps warnings as they are in use; write response = \
                    \"stop\" to search it, or use sweep";
        return Err(Code::Usage.error(what));
    }
    let read = |grid: Grid| match tuning.per {
        None => grid,
        Some(per) => grid.read_per(per),
    };
    Ok((grids.into_iter().map(read).collect(), text))
}

/// Returns the ready guards that deadloop ships, with their names in tables and in sentences.
fn shipped(unit: Unit, per: Option<TextScope>) -> RunResult<Vec<(&'static str, String, Settings)>> {
    let unexpected = |e: String| Code::Unexpected.error(e);
    let settings = Settings::parse(&recommended(unit)).map_err(|e| unexpected(e.to_string()))?;
    let known_as = if unit == Unit::Chars {
        "recommended"
    } else {
        "recommended-agents"
    };
    let mut all = vec![(known_as, "the recommended guard".to_owned(), settings)];
    if unit == Unit::Chars {
        let presets = all_presets().map_err(|e| unexpected(e.to_string()))?;
        let quiet = presets.into_iter().find(|(name, _)| name == "quiet");
        let quiet = quiet.map(|(_, setting)| Settings::from_guard(setting));
        all.extend(quiet.map(|settings| ("quiet", "the preset quiet".to_owned(), settings)));
    }
    if let Some(per) = per {
        all.iter_mut()
            .for_each(|(.., settings)| *settings = settings.clone().read_per(per));
    }
    Ok(all)
}

/// Returns the tables of a settings file that are not guards, as TOML. Empty if it has none. The head's `ignore` and
/// `prompt` are left out, since each guard has them as parameters.
fn without_guards(text: &str) -> RunResult<String> {
    let mut table: toml::Table = toml::from_str(text).map_err(|e| Code::Usage.error(e))?;
    for key in ["guard", "model", "deployment_loop_rate", "ignore", "prompt"] {
        table.remove(key);
    }
    if table.is_empty() {
        return Ok(String::new());
    }
    let rest = toml::to_string(&table).map_err(|e| Code::Unexpected.error(e))?;
    Ok(format!("\n{rest}"))
}
