//! The scores of a sweep along its parameters.

use crate::data::{ReportData, Role, Score, SettingRow, member, parameter_subject, short};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// A parameter with several values.
#[derive(Debug, Clone)]
pub(crate) struct Dimension<'d> {
    /// Its index in [`ReportData::parameters`].
    pub(crate) param: usize,
    /// The name of the parameter.
    pub(crate) name: &'d str,
    /// The values: numbers rising, words in the order of the grid.
    pub(crate) values: Vec<&'d str>,
}

/// The cells of a sweep, all models together.
pub(crate) struct ScoreGrid<'d> {
    pub(crate) data: &'d ReportData,
    /// For each parameter, whether the settings have it.
    family: Vec<bool>,
    /// The parameters with several values.
    pub(crate) dimensions: Vec<Dimension<'d>>,
    /// The score of each cell, and the index of its value in each dimension.
    cells: Vec<(&'d Score, Vec<usize>)>,
    /// The objective of each cell, kept because a chart reads it many times.
    figures: Vec<Option<f64>>,
    /// The cells with each value of each dimension, kept because a chart reads every pair of values.
    having: Vec<Vec<Vec<usize>>>,
}

/// The objective of the cells with one value, or with one pair of values.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ObjectiveSummary<'d> {
    /// The cell with the best objective within the limits.
    pub(crate) best: Option<(&'d Score, f64)>,
    /// The median objective of all these cells, within the limits or not.
    pub(crate) median: Option<f64>,
}

impl<'d> ScoreGrid<'d> {
    /// Returns the grid to show. `None` without two cells and a parameter that varies.
    pub(crate) fn new(data: &'d ReportData) -> Option<Self> {
        let family = family(data)?;
        let cells = data.settings.iter().filter(|one| one.role == Role::Cell);
        let cells: Vec<&SettingRow> = cells.filter(|cell| has(cell, &family)).collect();
        let dimensions: Vec<_> = (0..data.parameters.len())
            .filter_map(|param| dimension(data, &cells, param))
            .collect();
        let place = |score: &'d Score| {
            let setting = data.settings.get(score.setting)?;
            if setting.role == Role::Never || !has(setting, &family) {
                return None;
            }
            let value = |dimension: &Dimension<'_>| {
                let value = setting.params.get(dimension.param)?.as_deref()?;
                dimension.values.iter().position(|other| *other == value)
            };
            let at: Option<Vec<usize>> = dimensions.iter().map(value).collect();
            Some((score, at?))
        };
        let cells: Vec<_> = data.together().filter_map(place).collect();
        let figure = |score: &Score| {
            let value = score.value(data.run.objective.0);
            value.filter(|value| value.is_finite())
        };
        let figures = cells.iter().map(|(score, _)| figure(score)).collect();
        let having = |(i, dimension): (usize, &Dimension<'_>)| {
            let mut having = vec![Vec::new(); dimension.values.len()];
            for (cell, (_, at)) in cells.iter().enumerate() {
                having[at[i]].push(cell);
            }
            having
        };
        let having = dimensions.iter().enumerate().map(having).collect();
        (!dimensions.is_empty() && cells.len() > 1).then_some(Self {
            data,
            family,
            dimensions,
            cells,
            figures,
            having,
        })
    }

    /// Returns the worth of the cells at all of the `wanted` values, as pairs of dimension and value.
    pub(crate) fn worth(&self, wanted: &[(usize, usize)]) -> ObjectiveSummary<'d> {
        let having = wanted.iter().map(|&(at, value)| &self.having[at][value]);
        let fewest = having.min_by_key(|cells| cells.len());
        let all = |cell: &usize| {
            let at = &self.cells[*cell].1;
            wanted.iter().all(|&(i, value)| at[i] == value)
        };
        let here: Vec<usize> = fewest.into_iter().flatten().copied().filter(all).collect();
        let sign = self.data.run.objective.0.sign();
        let feasible = here.iter().filter(|cell| self.cells[**cell].0.meets);
        let best = feasible.filter_map(|cell| Some((self.cells[*cell].0, self.figures[*cell]?)));
        let figures = here.iter().filter_map(|cell| self.figures[*cell]);
        ObjectiveSummary {
            best: best.reduce(|a, b| if sign * b.1 > sign * a.1 { b } else { a }),
            median: median(figures.collect()),
        }
    }

    /// Returns the dimensions by effect, the largest first. The effect is the spread of the best objective along the
    /// dimension. The spread of the median breaks ties, and decides if no cell is within the limits.
    pub(crate) fn by_effect(&self) -> Vec<usize> {
        let mut order: Vec<(usize, f64)> = (0..self.dimensions.len())
            .map(|at| (at, self.effect(at)))
            .collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        order.into_iter().map(|(at, _)| at).collect()
    }

    fn effect(&self, dimension: usize) -> f64 {
        let worths: Vec<ObjectiveSummary<'_>> = (0..self.dimensions[dimension].values.len())
            .map(|value| self.worth(&[(dimension, value)]))
            .collect();
        let spread = |values: Vec<f64>| {
            let low = values.iter().copied().reduce(f64::min);
            let high = values.iter().copied().reduce(f64::max);
            high.zip(low).map_or(0.0, |(high, low)| high - low)
        };
        let best = spread(
            worths
                .iter()
                .filter_map(|worth| Some(worth.best?.1))
                .collect(),
        );
        let median = spread(worths.iter().filter_map(|worth| worth.median).collect());
        best + median / 1000.0
    }

    /// Returns the meaning of a dimension, or its name if it has no known meaning. The guard's member comes first if there
    /// are several.
    pub(crate) fn title(&self, dimension: usize) -> String {
        let name = self.dimensions[dimension].name;
        let meaning = parameter_subject(name).unwrap_or_else(|| short(name));
        let mut parameters = self.data.parameters.iter();
        if parameters.all(|other| member(other) == member(name)) {
            meaning.to_owned()
        } else {
            format!("{}: {meaning}", member(name))
        }
    }

    /// Returns whether a setting has exactly the parameters of this grid.
    pub(crate) fn holds(&self, setting: Option<usize>) -> bool {
        let setting = setting.and_then(|at| self.data.settings.get(at));
        setting.is_some_and(|setting| has(setting, &self.family))
    }

    /// Returns the value of a setting in a dimension. `None` if the setting has other parameters.
    pub(crate) fn value_of(&self, setting: Option<usize>, dimension: usize) -> Option<usize> {
        if !self.holds(setting) {
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

/// Returns whether a setting has exactly the parameters of a family.
fn has(setting: &SettingRow, family: &[bool]) -> bool {
    let there = setting.params.iter().map(Option::is_some);
    setting.params.len() == family.len() && there.eq(family.iter().copied())
}

/// Returns whether the setting has each parameter.
fn mask(setting: &SettingRow) -> Vec<bool> {
    setting.params.iter().map(Option::is_some).collect()
}

/// Returns the parameters of the grid to show. A run can search several grids of guards with different parameters. The
/// grid of the chosen setting is shown, else the largest one.
fn family(data: &ReportData) -> Option<Vec<bool>> {
    let mut families: BTreeMap<Vec<bool>, usize> = BTreeMap::new();
    let cells = data.settings.iter().filter(|s| s.role == Role::Cell);
    for cell in cells {
        *families.entry(mask(cell)).or_default() += 1;
    }
    let chosen = data.chosen().and_then(|i| data.settings.get(i));
    let own = chosen.map(mask).filter(|mask| families.contains_key(mask));
    let largest = families.iter().max_by_key(|(_, cells)| **cells);
    own.or_else(|| largest.map(|(mask, _)| mask.clone()))
}

fn dimension<'d>(
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
        values.sort_by(|a, b| by_number(a, b));
    }
    let name = data.parameters.get(param)?;
    (values.len() > 1).then_some(Dimension {
        param,
        name,
        values,
    })
}

/// Compares numbers, and lists of numbers, by value.
fn by_number(a: &str, b: &str) -> Ordering {
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
        values.sort_by(|a, b| by_number(a, b));
        assert_eq!(values, ["9", "10", "100", "[500, 1000]", "[2000, 3000]"]);
    }

    #[test]
    fn the_median_of_an_even_count_lies_between() {
        assert_eq!(median(vec![3.0, 1.0, 2.0, 10.0]), Some(2.5));
        assert_eq!(median(vec![]), None);
    }
}
