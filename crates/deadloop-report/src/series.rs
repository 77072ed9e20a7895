//! [`Series`]: the outcomes of a setting, to be compared with others.

use crate::data::{ALL_MODELS, ChoiceRow, OutcomeRow, ReportData, Role, Verdict};
use crate::draw::Ink;
use std::collections::BTreeMap;

/// The outcomes of one setting, or of the chosen setting of each model.
#[derive(Debug, Clone)]
pub(crate) struct Series<'d> {
    /// The name of the setting.
    pub(crate) name: String,
    /// The ink of the series in charts.
    pub(crate) ink: Ink,
    /// The outcomes of the series.
    pub(crate) rows: Vec<&'d OutcomeRow>,
}

/// Returns the ink of a setting that is not drawn as the chosen one.
///
/// If no setting is in use, the first has the ink of the setting in use.
pub(crate) fn series_ink(data: &ReportData, setting: usize) -> Ink {
    let nth = data.leading().iter().position(|at| *at == setting);
    match nth {
        Some(0) => Ink::Current,
        // The first two inks belong to the setting in use and the chosen one.
        nth => Ink::series(2 + nth.map_or(0, |n| n - 1) % 6),
    }
}

/// Returns at most `limit` series: the setting in use, the chosen settings as one series, then other named settings.
pub(crate) fn select_series(data: &ReportData, limit: usize) -> Vec<Series<'_>> {
    // A sweep has no outcomes, and can have 100,000 settings.
    if data.outcomes.is_empty() {
        return Vec::new();
    }
    let series_of = |at: usize| Series {
        name: data.describe(at),
        ink: series_ink(data, at),
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
            .map(|(at, _)| series_of(at))
    };
    let mut list: Vec<Series<'_>> = with_role(Role::InUse).collect();
    list.extend(chosen_series(data));
    // The chosen setting of all models is in the list already.
    let is_own = data.choices.iter().any(ChoiceRow::is_own);
    let shown = [data.in_use(), data.chosen().filter(|_| !is_own)];
    let others = data
        .leading()
        .iter()
        .filter(|at| !shown.contains(&Some(**at)));
    list.extend(others.map(|at| series_of(*at)));
    if list.iter().all(|series| series.rows.is_empty()) {
        list.extend(with_role(Role::Cell));
    }
    list.retain(|series| !series.rows.is_empty());
    list.truncate(limit);
    list
}

/// Returns the outcomes of `settings.toml`, each model under its own setting. `None` if the file changes nothing.
fn chosen_series(data: &ReportData) -> Option<Series<'_>> {
    if !data.ships() {
        return None;
    }
    let by_model: BTreeMap<&str, usize> = data
        .choices
        .iter()
        .filter_map(|choice| Some((choice.model.as_str(), choice.setting?)))
        .collect();
    let of_all = by_model.get(ALL_MODELS);
    let matches = |row: &&OutcomeRow| by_model.get(&*row.model).or(of_all) == Some(&row.setting);
    let rows = data.outcomes.iter().filter(matches).collect();
    let is_single = by_model.values().all(|setting| Some(setting) == of_all);
    let ready = of_all.and_then(|at| data.settings[*at].label.as_deref());
    let name = match ready.filter(|_| is_single) {
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
    /// Returns the number of loops.
    pub(crate) fn loops(&self) -> u64 {
        self.rows.iter().filter(|row| row.is_loop()).count() as u64
    }

    /// Returns the latencies of the hits in ascending order.
    pub(crate) fn latencies(&self) -> Vec<f64> {
        let hits = self.rows.iter().filter(|row| row.verdict == Verdict::Hit);
        let mut all: Vec<f64> = hits
            .filter_map(|row| row.latency)
            .filter(|latency| latency.is_finite())
            .collect();
        all.sort_by(f64::total_cmp);
        all
    }

    /// Returns the share of loops that are hits. `None` without loops.
    pub(crate) fn recall(&self) -> Option<f64> {
        let hits = self.rows.iter().filter(|row| row.verdict == Verdict::Hit);
        let (hits, loops) = (hits.count(), self.loops());
        (loops > 0).then(|| hits as f64 / loops as f64)
    }
}
