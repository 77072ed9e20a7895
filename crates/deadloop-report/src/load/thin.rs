//! Fewer cells of a grid that is too large for a page: values are left out, never single cells, so that what is left is
//! still a grid.

use crate::data::Setting;
use std::collections::{BTreeMap, BTreeSet};

/// Which cells are kept.
pub(super) struct Thinned {
    /// Whether each cell is.
    pub(super) kept: Vec<bool>,
    /// The values that are not: a parameter, and which.
    pub(super) left_out: Vec<(usize, Vec<String>)>,
}

/// Leaves out every other value of the parameter with the most values until at most `most` cells are left; values of
/// the `marked` settings stay. `cells` are indices into `settings`.
pub(super) fn thinned(
    cells: &[usize],
    settings: &[Setting],
    marked: &[usize],
    most: usize,
) -> Thinned {
    let params = |cell: &usize| settings.get(*cell).map_or(&[][..], |s| s.params.as_slice());
    let mut values: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let mut stays: BTreeSet<(usize, String)> = BTreeSet::new();
    if cells.len() > most {
        for cell in cells {
            for (param, value) in params(cell).iter().enumerate() {
                let list = values.entry(param).or_default();
                if let Some(value) = value.as_ref().filter(|value| !list.contains(value)) {
                    list.push(value.clone());
                }
            }
        }
        let of = |cell: &usize| params(cell).iter().cloned().enumerate().collect::<Vec<_>>();
        let all = marked.iter().flat_map(of);
        stays.extend(all.filter_map(|(param, value)| Some((param, value?))));
    }
    let mut kept = vec![true; cells.len()];
    let mut gone: BTreeSet<(usize, String)> = BTreeSet::new();
    while kept.iter().filter(|kept| **kept).count() > most {
        let longest = values
            .iter()
            .max_by_key(|(param, list)| (list.len(), usize::MAX - **param));
        let Some((&param, list)) = longest.filter(|(_, list)| list.len() > 2) else {
            break;
        };
        let last = list.len() - 1;
        let drop = |(at, value): &(usize, &String)| {
            at % 2 == 1 && *at != last && !stays.contains(&(param, (*value).clone()))
        };
        let dropped: Vec<String> = list
            .iter()
            .enumerate()
            .filter(drop)
            .map(|(_, v)| v.clone())
            .collect();
        if dropped.is_empty() {
            values.remove(&param);
            continue;
        }
        if let Some(list) = values.get_mut(&param) {
            list.retain(|value| !dropped.contains(value));
        }
        for (cell, kept) in cells.iter().zip(&mut kept) {
            let value = params(cell).get(param).and_then(Option::as_ref);
            *kept &= value.is_none_or(|value| !dropped.contains(value));
        }
        gone.extend(dropped.into_iter().map(|value| (param, value)));
    }
    let mut left_out: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    gone.into_iter()
        .for_each(|(param, value)| left_out.entry(param).or_default().push(value));
    Thinned {
        kept,
        left_out: left_out.into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Role;

    fn setting(params: [usize; 2]) -> Setting {
        Setting {
            id: format!("{params:?}"),
            label: None,
            role: Role::Cell,
            params: params.map(|value| Some(value.to_string())).to_vec(),
        }
    }

    #[test]
    fn what_is_left_is_a_grid_that_holds_the_marked_values() {
        let settings: Vec<Setting> = (0..200).map(|n| setting([n / 10, n % 10])).collect();
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
        let settings: Vec<Setting> = (0..20).map(|n| setting([n / 10, n % 10])).collect();
        let Thinned { kept, left_out } = thinned(&(0..20).collect::<Vec<_>>(), &settings, &[], 20);
        assert!(kept.iter().all(|kept| *kept) && left_out.is_empty());
    }
}
