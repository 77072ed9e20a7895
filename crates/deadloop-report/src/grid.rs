//! [`ScoreGrid`]: the scores of a sweep by the values of its parameters.

use crate::data::{ReportData, Role, Score, SettingRow, guard_of, param_of, parameter_subject};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// A parameter that has several values in the grid.
#[derive(Debug, Clone)]
pub(crate) struct Dimension<'d> {
    /// The index of the parameter in [`ReportData::parameters`].
    pub(crate) param: usize,
    /// The name of the parameter.
    pub(crate) name: &'d str,
    /// The values. Numbers are ascending, and words are in the order of the grid.
    pub(crate) values: Vec<&'d str>,
}

/// The cells of a sweep, scored on all models together.
pub(crate) struct ScoreGrid<'d> {
    pub(crate) data: &'d ReportData,
    /// Whether the settings of the grid have each parameter.
    has_params: Vec<bool>,
    /// The parameters with several values.
    pub(crate) dimensions: Vec<Dimension<'d>>,
    /// The score of each cell, and the index of its value in each dimension.
    cells: Vec<(&'d Score, Vec<usize>)>,
    /// The objective of each cell, computed once because a chart reads it many times.
    objectives: Vec<Option<f64>>,
    /// The cells with each value of each dimension, computed once because a chart reads every pair of values.
    by_value: Vec<Vec<Vec<usize>>>,
}

/// The objective of the cells with some values.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ObjectiveSummary<'d> {
    /// The score and the objective of the best cell within the limits.
    pub(crate) best: Option<(&'d Score, f64)>,
    /// The median objective of the cells, within the limits or not.
    pub(crate) median: Option<f64>,
}

impl<'d> ScoreGrid<'d> {
    /// Builds the grid to show. `None` if there are fewer than two cells, or no parameter varies.
    pub(crate) fn new(data: &'d ReportData) -> Option<Self> {
        let has_params = shown_params(data)?;
        let cells = data.settings.iter().filter(|one| one.role == Role::Cell);
        let cells: Vec<&SettingRow> = cells.filter(|cell| matches(cell, &has_params)).collect();
        let dimensions: Vec<_> = (0..data.parameters.len())
            .filter_map(|param| build_dimension(data, &cells, param))
            .collect();
        let locate = |score: &'d Score| {
            let setting = data.settings.get(score.setting)?;
            if setting.role == Role::Never || !matches(setting, &has_params) {
                return None;
            }
            let value = |dimension: &Dimension<'_>| {
                let value = setting.params.get(dimension.param)?.as_deref()?;
                dimension.values.iter().position(|other| *other == value)
            };
            let at: Option<Vec<usize>> = dimensions.iter().map(value).collect();
            Some((score, at?))
        };
        let cells: Vec<_> = data.together().filter_map(locate).collect();
        let objective_of = |score: &Score| {
            let value = score.value(data.run.objective.0);
            value.filter(|value| value.is_finite())
        };
        let objectives = cells.iter().map(|(score, _)| objective_of(score)).collect();
        let by_value = |(i, dimension): (usize, &Dimension<'_>)| {
            let mut by_value = vec![Vec::new(); dimension.values.len()];
            for (cell, (_, at)) in cells.iter().enumerate() {
                by_value[at[i]].push(cell);
            }
            by_value
        };
        let by_value = dimensions.iter().enumerate().map(by_value).collect();
        (!dimensions.is_empty() && cells.len() > 1).then_some(Self {
            data,
            has_params,
            dimensions,
            cells,
            objectives,
            by_value,
        })
    }

    /// Summarizes the cells that have all of the `wanted` values, each a pair of a dimension and the index of a value.
    pub(crate) fn summarize(&self, wanted: &[(usize, usize)]) -> ObjectiveSummary<'d> {
        let by_value = wanted.iter().map(|&(at, value)| &self.by_value[at][value]);
        let fewest = by_value.min_by_key(|cells| cells.len());
        let has_all = |cell: &usize| {
            let at = &self.cells[*cell].1;
            wanted.iter().all(|&(i, value)| at[i] == value)
        };
        let here = fewest.into_iter().flatten().copied();
        let here: Vec<usize> = here.filter(has_all).collect();
        let sign = self.data.run.objective.0.sign();
        let feasible = here.iter().filter(|cell| self.cells[**cell].0.meets);
        let best = feasible.filter_map(|cell| Some((self.cells[*cell].0, self.objectives[*cell]?)));
        let objectives = here.iter().filter_map(|cell| self.objectives[*cell]);
        ObjectiveSummary {
            best: best.reduce(|a, b| if sign * b.1 > sign * a.1 { b } else { a }),
            median: median(objectives.collect()),
        }
    }

    /// Returns the dimensions in order of effect, the largest first.
    ///
    /// The effect is the spread of the best objective along the dimension. The spread of the median breaks ties, and
    /// decides if no cell is within the limits.
    pub(crate) fn by_effect(&self) -> Vec<usize> {
        let mut order: Vec<(usize, f64)> = (0..self.dimensions.len())
            .map(|at| (at, self.effect_of(at)))
            .collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        order.into_iter().map(|(at, _)| at).collect()
    }

    fn effect_of(&self, dimension: usize) -> f64 {
        let summaries: Vec<ObjectiveSummary<'_>> = (0..self.dimensions[dimension].values.len())
            .map(|value| self.summarize(&[(dimension, value)]))
            .collect();
        let spread = |values: Vec<f64>| {
            let low = values.iter().copied().reduce(f64::min);
            let high = values.iter().copied().reduce(f64::max);
            high.zip(low).map_or(0.0, |(high, low)| high - low)
        };
        let best = spread(
            summaries
                .iter()
                .filter_map(|summary| Some(summary.best?.1))
                .collect(),
        );
        let median = spread(summaries.iter().filter_map(|one| one.median).collect());
        best + median / 1000.0
    }

    /// Returns the meaning of a dimension, or its name if the meaning is unknown. The guard comes first if there are
    /// several.
    pub(crate) fn title(&self, dimension: usize) -> String {
        let name = self.dimensions[dimension].name;
        let meaning = parameter_subject(name).unwrap_or_else(|| param_of(name));
        let mut parameters = self.data.parameters.iter();
        if parameters.all(|other| guard_of(other) == guard_of(name)) {
            meaning.to_owned()
        } else {
            format!("{}: {meaning}", guard_of(name))
        }
    }

    /// Returns whether a setting has exactly the parameters of the grid.
    pub(crate) fn has(&self, setting: Option<usize>) -> bool {
        let setting = setting.and_then(|at| self.data.settings.get(at));
        setting.is_some_and(|setting| matches(setting, &self.has_params))
    }

    /// Returns the index of a setting's value in a dimension. `None` if the setting is not in the grid.
    pub(crate) fn value_of(&self, setting: Option<usize>, dimension: usize) -> Option<usize> {
        if !self.has(setting) {
            return None;
        }
        let dimension = &self.dimensions[dimension];
        let value = self
            .data
            .settings
            .get(setting?)?
            .params
            .get(dimension.param)?
            .as_deref()?;
        dimension.values.iter().position(|other| *other == value)
    }
}

/// Returns whether a setting has exactly these parameters.
fn matches(setting: &SettingRow, params: &[bool]) -> bool {
    let is_set = setting.params.iter().map(Option::is_some);
    setting.params.len() == params.len() && is_set.eq(params.iter().copied())
}

/// Returns whether a setting has each parameter.
fn params_of(setting: &SettingRow) -> Vec<bool> {
    setting.params.iter().map(Option::is_some).collect()
}

/// Returns whether the shown grid has each parameter. `None` without a grid.
///
/// A run can search several grids of guards with different parameters. The grid of the chosen setting is shown, or else
/// the largest grid.
fn shown_params(data: &ReportData) -> Option<Vec<bool>> {
    let mut grids: BTreeMap<Vec<bool>, usize> = BTreeMap::new();
    let cells = data.settings.iter().filter(|s| s.role == Role::Cell);
    for cell in cells {
        *grids.entry(params_of(cell)).or_default() += 1;
    }
    let chosen = data.chosen().and_then(|i| data.settings.get(i));
    let own = chosen.map(params_of).filter(|own| grids.contains_key(own));
    let largest = grids.iter().max_by_key(|(_, cells)| **cells);
    own.or_else(|| largest.map(|(mask, _)| mask.clone()))
}

/// Returns the dimension of a parameter. `None` if its value does not vary.
fn build_dimension<'d>(
    data: &'d ReportData,
    cells: &[&'d SettingRow],
    param: usize,
) -> Option<Dimension<'d>> {
    let mut seen = BTreeSet::new();
    let values = cells.iter();
    let values = values.filter_map(|cell| cell.params.get(param)?.as_deref());
    let mut values: Vec<&str> = values.filter(|value| seen.insert(*value)).collect();
    // Words stay in the order of the grid.
    if values
        .iter()
        .all(|value| value.contains(|c: char| c.is_ascii_digit()))
    {
        values.sort_by(|a, b| compare_numbers(a, b));
    }
    let name = data.parameters.get(param)?;
    (values.len() > 1).then_some(Dimension {
        param,
        name,
        values,
    })
}

/// Compares two texts by the numbers in them, then as texts.
fn compare_numbers(a: &str, b: &str) -> Ordering {
    let numbers = |text: &str| -> Vec<f64> {
        text.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'))
            .filter_map(|part| part.parse().ok())
            .collect()
    };
    numbers(a)
        .partial_cmp(&numbers(b))
        .unwrap_or(Ordering::Equal)
        .then_with(|| a.cmp(b))
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    let middle = values.len() / 2;
    if values.is_empty() {
        return None;
    }
    let is_odd = values.len() % 2 == 1;
    let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let lower = below.iter().copied().reduce(f64::max);
    Some(match lower.filter(|_| !is_odd) {
        Some(lower) => (lower + *upper) / 2.0,
        None => *upper,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_sort_by_number() {
        let mut values = ["10", "9", "[500, 1000]", "100", "[2000, 3000]"];
        values.sort_by(|a, b| compare_numbers(a, b));
        assert_eq!(values, ["9", "10", "100", "[500, 1000]", "[2000, 3000]"]);
    }

    #[test]
    fn the_median_of_an_even_count_lies_between() {
        assert_eq!(median(vec![3.0, 1.0, 2.0, 10.0]), Some(2.5));
        assert_eq!(median(vec![]), None);
    }
}
