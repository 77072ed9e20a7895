//! Named series of outcomes, side by side.

use crate::data::{ALL_MODELS, ChoiceRow, OutcomeRow, ReportData, Role, Verdict};
use crate::draw::Ink;
use std::collections::BTreeMap;

/// The outcomes of a setting, or of the choice for each model.
#[derive(Debug, Clone)]
pub(crate) struct Series<'d> {
    /// The name.
    pub(crate) name: String,
    /// The ink in charts.
    pub(crate) ink: Ink,
    /// The outcomes.
    pub(crate) rows: Vec<&'d OutcomeRow>,
}

/// Returns the ink of a setting that is not drawn as the chosen one. If no setting is in use, the first one has the ink
/// for it.
pub(crate) fn ink(data: &ReportData, setting: usize) -> Ink {
    let nth = data.leading().iter().position(|at| *at == setting);
    match nth {
        Some(0) => Ink::Current,
        // The first two inks belong to the setting in use and the chosen one.
        nth => Ink::series(2 + nth.map_or(0, |n| n - 1) % 6),
    }
}

/// Returns at most `limit` series: the setting in use, the chosen ones (each model with its own), then the other named
/// settings, the highest F1 first.
pub(crate) fn series(data: &ReportData, limit: usize) -> Vec<Series<'_>> {
    // A sweep has no outcomes, and can have 100,000 settings.
    if data.outcomes.is_empty() {
        return Vec::new();
    }
    let of_setting = |at: usize| Series {
        name: data.describe(at),
        ink: ink(data, at),
        rows: data
            .outcomes
            .iter()
            .filter(|row| row.setting == at)
            .collect(),
    };
    let with_role = |role: Role| {
        let settings = data.settings.iter().enumerate();
        settings
            .filter(move |(_, setting)| setting.role == role)
            .map(|(at, _)| of_setting(at))
    };
    let mut list: Vec<Series<'_>> = with_role(Role::InUse).collect();
    list.extend(chosen_series(data));
    // What ships for all models is there already.
    let is_own = data.choices.iter().any(ChoiceRow::is_own);
    let shown = [data.in_use(), data.chosen().filter(|_| !is_own)];
    let others = data
        .leading()
        .iter()
        .filter(|at| !shown.contains(&Some(**at)));
    list.extend(others.map(|at| of_setting(*at)));
    if list.iter().all(|series| series.rows.is_empty()) {
        list.extend(with_role(Role::Cell));
    }
    list.retain(|series| !series.rows.is_empty());
    list.truncate(limit);
    list
}

/// Returns the outcomes of `settings.toml`, each model under its own setting. `None` if nothing ships.
fn chosen_series(data: &ReportData) -> Option<Series<'_>> {
    if !data.ships() {
        return None;
    }
    let held: BTreeMap<&str, usize> = data
        .choices
        .iter()
        .filter_map(|choice| Some((choice.model.as_str(), choice.setting?)))
        .collect();
    let pooled = held.get(ALL_MODELS);
    let matches = |row: &&OutcomeRow| held.get(&*row.model).or(pooled) == Some(&row.setting);
    let rows = data.outcomes.iter().filter(matches).collect();
    let single = held.values().all(|setting| Some(setting) == pooled);
    let ready = pooled.and_then(|at| data.settings[*at].label.as_deref());
    let name = match ready.filter(|_| single) {
        Some(ready) => format!("settings.toml: {ready}"),
        None => "settings.toml".to_owned(),
    };
    Some(Series {
        name,
        ink: Ink::Chosen,
        rows,
    })
}

impl Series<'_> {
    /// Counts the loops.
    pub(crate) fn loops(&self) -> u64 {
        self.rows.iter().filter(|row| row.is_loop()).count() as u64
    }

    /// Returns the latencies of the hits in rising order.
    pub(crate) fn latencies(&self) -> Vec<f64> {
        let hits = self.rows.iter().filter(|row| row.verdict == Verdict::Hit);
        let mut all: Vec<f64> = hits
            .filter_map(|row| row.latency)
            .filter(|latency| latency.is_finite())
            .collect();
        all.sort_by(f64::total_cmp);
        all
    }

    /// Returns the share of the loops that were hit.
    pub(crate) fn recall(&self) -> Option<f64> {
        let hits = self.rows.iter().filter(|row| row.verdict == Verdict::Hit);
        let (hits, loops) = (hits.count(), self.loops());
        (loops > 0).then(|| hits as f64 / loops as f64)
    }
}
