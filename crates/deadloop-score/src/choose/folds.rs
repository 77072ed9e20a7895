//! Folds for cross-validation: grouped, stratified, and the same on every machine.

use std::collections::{BTreeMap, HashMap};

use crate::intervals::Random;
use crate::truth::{Case, Class, CopyKey, shared_copy_keys};

/// A stratum over which folds are balanced: a model and a class of labels.
type Stratum<'a> = (&'a str, Option<Class>);

/// Assigns each case to a fold from 0 to `k` - 1.
///
/// Cases of one `group` are in one fold. A case without a group is its own group. Groups are joined if they share the
/// calls of a run, or a text of at least 200 chars apart from its numbers. So a text and its copy are in one fold.
///
/// Groups are assigned one by one, the largest first. Ties are broken by a seeded hash of the name. Each group goes to
/// the fold with the fewest cases of its strata (model and class), then to the smallest fold. So the folds depend on
/// names and the seed, not on the order of the corpus.
pub fn folds(cases: &[Case], k: usize, seed: u64) -> Vec<usize> {
    let all: Vec<&Case> = cases.iter().collect();
    let strata: Vec<Stratum> = all
        .iter()
        .map(|case| (&*case.model, case.class()))
        .collect();
    assign_folds(&all, &strata, k, seed)
}

/// Assigns cases to folds as [`folds`] does, balanced over the given strata, one stratum per case.
pub(crate) fn assign_folds<S: Ord + Copy>(
    cases: &[&Case],
    strata: &[S],
    k: usize,
    seed: u64,
) -> Vec<usize> {
    let mut order = join_groups(cases);
    order.sort_by_key(|(name, members)| {
        (
            usize::MAX - members.len(),
            Random::from_name(seed, name).next(),
            *name,
        )
    });
    let mut contents = FoldContents {
        strata: vec![BTreeMap::new(); k.max(1)],
        sizes: vec![0; k.max(1)],
    };
    let mut folds = vec![0; cases.len()];
    for (_, members) in order {
        let fold = contents.add_group(strata, &members);
        members.iter().for_each(|i| folds[*i] = fold);
    }
    folds
}

/// Joins the groups that share a text. Returns the first of the joined names, and the indices of the cases.
fn join_groups<'a>(cases: &[&'a Case]) -> Vec<(&'a str, Vec<usize>)> {
    let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (i, case) in cases.iter().enumerate() {
        groups.entry(case.cluster()).or_default().push(i);
    }
    // Links from each group towards the first group that shares a text with it.
    let groups: Vec<(&str, Vec<usize>)> = groups.into_iter().collect();
    let mut link: Vec<usize> = (0..groups.len()).collect();
    let mut shared: HashMap<CopyKey, usize> = HashMap::new();
    for (at, (_, members)) in groups.iter().enumerate() {
        for key in members.iter().flat_map(|i| shared_copy_keys(cases[*i])) {
            let (a, b) = (root_of(&mut link, at), *shared.entry(key).or_insert(at));
            let b = root_of(&mut link, b);
            link[a.max(b)] = a.min(b);
        }
    }
    let mut all: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, (_, members)) in groups.iter().enumerate() {
        let root = root_of(&mut link, at);
        all.entry(root).or_default().extend(members);
    }
    let named = all.into_iter().map(|(at, members)| (groups[at].0, members));
    named.collect()
}

/// Follows the links from `at` to their end, and shortens the path for later calls.
fn root_of(link: &mut [usize], mut at: usize) -> usize {
    while link[at] != at {
        link[at] = link[link[at]];
        at = link[at];
    }
    at
}

/// The number of cases in each fold so far, in all and by stratum.
struct FoldContents<S> {
    strata: Vec<BTreeMap<S, usize>>,
    sizes: Vec<usize>,
}

impl<S: Ord + Copy> FoldContents<S> {
    /// Adds a group to the fold with the fewest cases of its strata, and returns the fold.
    fn add_group(&mut self, strata: &[S], members: &[usize]) -> usize {
        let held = |fold: &usize| -> usize {
            let of = |i: &usize| self.strata[*fold].get(&strata[*i]).copied().unwrap_or(0);
            members.iter().map(of).sum()
        };
        let all = 0..self.sizes.len();
        let best = all
            .min_by_key(|fold| (held(fold), self.sizes[*fold]))
            .unwrap_or(0);
        for i in members {
            *self.strata[best].entry(strata[*i]).or_default() += 1;
        }
        self.sizes[best] += members.len();
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::truth::{self, answer};

    fn case(i: usize, group: Option<usize>) -> Case {
        let class = if i.is_multiple_of(3) {
            Class::Loop
        } else {
            Class::Clean
        };
        Case {
            model: format!("m{}", i % 2).into(),
            group: group.map(|g| format!("g{g}").into()),
            timeline: answer(300),
            ..truth::case(&format!("t{i}"), Some(class))
        }
    }

    #[test]
    fn groups_stay_together() {
        let cases: Vec<Case> = (0..200).map(|i| case(i, Some(i % 37))).collect();
        let folds = folds(&cases, 5, 1);
        for (i, a) in cases.iter().enumerate() {
            for (j, b) in cases.iter().enumerate() {
                assert!(a.group != b.group || folds[i] == folds[j]);
            }
        }
        assert!((0..5).all(|fold| folds.contains(&fold)));
    }

    #[test]
    fn copies_of_a_text_stay_together_and_draw_their_groups_together() {
        let mut cases: Vec<Case> = (0..300).map(|i| case(i, Some(i / 2))).collect();
        // Text n of the first hundred recurs in the group of case 299 - n, which makes a chain of pairs.
        for i in 0..100 {
            cases[299 - i].copied = cases[i].copied;
        }
        let alone = folds(
            &(0..300).map(|i| case(i, Some(i / 2))).collect::<Vec<_>>(),
            5,
            1,
        );
        let folds = folds(&cases, 5, 1);
        let split = |folds: &[usize]| (0..100).filter(|i| folds[*i] != folds[299 - i]).count();
        assert!(split(&alone) > 50);
        assert_eq!(split(&folds), 0);
        assert!(
            (0..300).all(|i| folds[i] == folds[i / 2 * 2]),
            "groups stay whole"
        );
    }

    #[test]
    fn models_and_classes_are_spread_evenly() {
        let cases: Vec<Case> = (0..300).map(|i| case(i, None)).collect();
        let folds = folds(&cases, 5, 1);
        let mut counts: BTreeMap<(usize, Stratum), usize> = BTreeMap::new();
        for (case, fold) in cases.iter().zip(&folds) {
            *counts
                .entry((*fold, (&case.model, case.class())))
                .or_default() += 1;
        }
        // 50 looping and 100 clean transcripts of each model.
        for ((_, (_, class)), n) in &counts {
            assert_eq!(*n, if *class == Some(Class::Loop) { 10 } else { 20 });
        }
        assert_eq!(counts.len(), 20);
    }

    #[test]
    fn the_order_of_the_corpus_does_not_matter_but_the_seed_does() {
        let cases: Vec<Case> = (0..120)
            .map(|i| case(i, (i % 4 != 0).then_some(i % 29)))
            .collect();
        let forward = folds(&cases, 4, 7);
        let reversed: Vec<Case> = cases.iter().rev().cloned().collect();
        let mut backward = folds(&reversed, 4, 7);
        backward.reverse();
        assert_eq!(forward, backward);
        assert_ne!(forward, folds(&cases, 4, 8));
    }
}
