//! The selection of the models that have rows in scores.parquet.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::sweep::{ScoringRequest, judge_unguarded};
use crate::tally::{AnyEvidence, Tally};
use crate::truth::CaseSet;

/// The number of rows of scores.parquet above which models with too few labels have no rows. The row `*` counts them.
pub const MAX_ROWS: usize = 250_000;

/// The number of rows above which only the models with the most loops have rows, as many as [`MAX_ROWS`] allows.
const MAX_ROWS_OF_ENOUGH: usize = 2 * MAX_ROWS;

/// A slice of the corpus with rows: its name and the indices of its cases.
pub(super) type Slice = (String, Vec<usize>);

/// Selects the slices with rows: all models together (`*`), then single models. The second list has the models without
/// rows.
pub(super) fn list_slices<E: AnyEvidence>(
    scoring: &ScoringRequest<'_, E>,
) -> (Vec<Slice>, Vec<String>) {
    let models = scoring.evidence.by_model();
    let ranked = models
        .iter()
        .map(|(model, pick)| (count_loops(scoring, pick), Reverse(model.as_str())));
    let own = select_own(
        ranked.collect(),
        scoring.evidence.plan().cells(),
        scoring.enough,
    );
    let own: BTreeSet<String> = own.into_iter().map(str::to_owned).collect();
    let mut slices = vec![("*".to_owned(), scoring.evidence.every())];
    let mut left_out = Vec::new();
    for (model, pick) in models {
        if own.contains(&model) {
            slices.push((model, pick))
        } else {
            left_out.push(model)
        }
    }
    (slices, left_out)
}

/// Selects the models with rows, from all models and their numbers of loops.
fn select_own(mut models: Vec<(u64, Reverse<&str>)>, cells: usize, enough: u64) -> BTreeSet<&str> {
    // The row of all models is counted too.
    let rows = |models: &[_]| (models.len() + 1).saturating_mul(cells);
    if rows(&models) > MAX_ROWS {
        models.retain(|(loops, _)| *loops >= enough);
    }
    if rows(&models) > MAX_ROWS_OF_ENOUGH {
        models.sort_unstable_by(|a, b| b.cmp(a));
        models.truncate((MAX_ROWS / cells.max(1)).saturating_sub(1));
    }
    models
        .into_iter()
        .map(|(_, Reverse(model))| model)
        .collect()
}

fn count_loops<E: AnyEvidence>(scoring: &ScoringRequest<'_, E>, pick: &[usize]) -> u64 {
    let mut quiet = Tally::default();
    for i in pick {
        quiet += scoring.evidence.cases().on(*i, |case| {
            Tally::from_outcome(&judge_unguarded(case, scoring.judge))
        });
    }
    quiet.loops()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_very_large_sweep_has_rows_of_the_models_with_the_most_loops() {
        let names: Vec<String> = (0..100).map(|n| format!("m{n:02}")).collect();
        // m00 and m01 have 100 loops, m02 and m03 have 99, the last two 51; enough is 60.
        let models = || {
            let loops = |(n, name)| (100 - n as u64 / 2, Reverse(String::as_str(name)));
            names.iter().enumerate().map(loops).collect::<Vec<_>>()
        };
        let of = |cells| select_own(models(), cells, 60);
        assert_eq!(of(2_400).len(), 100, "242,400 rows");
        assert_eq!(
            of(2_500).len(),
            82,
            "252,500: those with too few loops have none"
        );
        assert_eq!(of(5_000).len(), 82, "415,000 are left");
        let few: Vec<&str> = of(50_000).into_iter().collect();
        assert_eq!(few, ["m00", "m01", "m02", "m03"]);
        assert_eq!(of(500_000).len(), 0);
        assert_eq!(of(0).len(), 100);
    }
}
