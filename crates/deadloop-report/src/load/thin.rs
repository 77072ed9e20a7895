//! Fewer cells of a grid that is too large for a page: values are left out, never single cells, so that what is left is
//! still a grid.

use crate::data::SettingRow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Which cells are kept.
pub(super) struct Thinned {
    /// Whether each cell is.
    pub(super) kept: Vec<bool>,
    /// The values that are not: a parameter, and which.
    pub(super) left_out: Vec<(usize, Vec<Arc<str>>)>,
}

/// Leaves out every other value of the parameter with the most values until at most `most` cells are left; values of
/// the `marked` settings stay. `cells` are indices into `settings`.
pub(super) fn thinned(
    cells: &[usize],
    settings: &[SettingRow],
    marked: &[usize],
    most: usize,
) -> Thinned {
    let mut kept = vec![true; cells.len()];
    if cells.len() <= most {
        return Thinned {
            kept,
            left_out: Vec::new(),
        };
    }
    let mut grid = Grid::of(cells, settings, marked);
    let mut left_out: BTreeMap<usize, Vec<Arc<str>>> = BTreeMap::new();
    while kept.iter().filter(|kept| **kept).count() > most {
        let Some((param, dropped)) = grid.halve() else {
            break;
        };
        for (cell, kept) in cells.iter().zip(&mut kept) {
            let value = params(settings, *cell).get(param).and_then(Option::as_ref);
            *kept &= value.is_none_or(|value| !dropped.contains(value));
        }
        left_out.entry(param).or_default().extend(dropped);
    }
    for values in left_out.values_mut() {
        values.sort();
    }
    Thinned {
        kept,
        left_out: left_out.into_iter().collect(),
    }
}

fn params(settings: &[SettingRow], cell: usize) -> &[Option<Arc<str>>] {
    settings.get(cell).map_or(&[], |s| s.params.as_slice())
}

/// The values that are left.
struct Grid {
    /// Of each parameter that may lose some, in the order of the cells.
    values: BTreeMap<usize, Vec<Arc<str>>>,
    /// Values of the marked settings: parameter, value.
    stays: BTreeSet<(usize, Arc<str>)>,
}

impl Grid {
    fn of(cells: &[usize], settings: &[SettingRow], marked: &[usize]) -> Self {
        let mut values: BTreeMap<usize, Vec<Arc<str>>> = BTreeMap::new();
        for cell in cells {
            for (param, value) in params(settings, *cell).iter().enumerate() {
                let list = values.entry(param).or_default();
                if let Some(value) = value.as_ref().filter(|value| !list.contains(value)) {
                    list.push(value.clone());
                }
            }
        }
        let of = |cell: &usize| params(settings, *cell).iter().cloned().enumerate();
        let all = marked.iter().flat_map(of);
        let stays = all.filter_map(|(param, value)| Some((param, value?)));
        Self {
            stays: stays.collect(),
            values,
        }
    }

    /// Takes every other value from the parameter with the most: which one, and its values that went.
    /// First and last stay. `None`: no parameter can lose any.
    fn halve(&mut self) -> Option<(usize, Vec<Arc<str>>)> {
        loop {
            let of_most =
                |(param, list): &(&usize, &mut Vec<Arc<str>>)| (list.len(), usize::MAX - **param);
            let (&param, list) = self.values.iter_mut().max_by_key(of_most)?;
            if list.len() <= 2 {
                return None;
            }
            let last = list.len() - 1;
            let mut at = 0..;
            let goes = |value: &mut Arc<str>| {
                let at = at.next().unwrap_or(last);
                at % 2 == 1 && at != last && !self.stays.contains(&(param, value.clone()))
            };
            let dropped: Vec<Arc<str>> = list.extract_if(.., goes).collect();
            if !dropped.is_empty() {
                return Some((param, dropped));
            }
            self.values.remove(&param);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Role;

    fn setting(params: [usize; 2]) -> SettingRow {
        SettingRow {
            id: format!("{params:?}"),
            label: None,
            role: Role::Cell,
            params: params.map(|value| Some(value.to_string().into())).to_vec(),
        }
    }

    #[test]
    fn what_is_left_is_a_grid_that_holds_the_marked_values() {
        let settings: Vec<SettingRow> = (0..200).map(|n| setting([n / 10, n % 10])).collect();
        let cells: Vec<usize> = (0..200).collect();
        let marked = 7 * 10 + 3;
        let Thinned { kept, left_out } = thinned(&cells, &settings, &[marked], 60);
        let left: Vec<usize> = cells.iter().copied().filter(|cell| kept[*cell]).collect();
        assert!(left.len() <= 60 && left.contains(&marked), "{left:?}");
        let rows: BTreeSet<usize> = left.iter().map(|cell| cell / 10).collect();
        let columns: BTreeSet<usize> = left.iter().map(|cell| cell % 10).collect();
        assert_eq!(left.len(), rows.len() * columns.len());
        assert_eq!(
            left_out
                .iter()
                .map(|(_, values)| values.len())
                .sum::<usize>(),
            30 - rows.len() - columns.len()
        );
    }

    #[test]
    fn a_small_grid_stays_whole() {
        let settings: Vec<SettingRow> = (0..20).map(|n| setting([n / 10, n % 10])).collect();
        let Thinned { kept, left_out } = thinned(&(0..20).collect::<Vec<_>>(), &settings, &[], 20);
        assert!(kept.iter().all(|kept| *kept) && left_out.is_empty());
    }
}
