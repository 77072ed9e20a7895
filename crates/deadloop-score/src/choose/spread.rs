//! How models differ over the grid: what [`Borrowing`] is estimated from.

use super::board::{Board, Field};
use super::pooling::{BetaBinomial, Borrowing, GammaPoisson, GroupSizes};
use crate::tally::{Count, Tally};

/// What is read of the boards: hits, wrong alarms and what hits are a share of.
const COUNTS: [Count; 6] = [
    Count::Hit,
    Count::Premature,
    Count::Stale,
    Count::Miss,
    Count::Earlier,
    Count::FalseAlarm,
];

/// How much the other models help each model: without each fold, then with all of them. `models` are
/// the transcripts of each.
///
/// Memory: 32 bytes a candidate and fold. Cost: the boards of all models with few counts, and a step
/// for each candidate, model and fold.
pub(crate) fn borrowings(field: &Field<'_>, models: &[&Vec<usize>]) -> Vec<Vec<Borrowing>> {
    let withouts: Vec<Option<usize>> = (0..field.fold_count).map(Some).chain([None]).collect();
    // Of each model without each fold: loops and healthy chars.
    let size = |pick: &[usize], without: &Option<usize>| {
        let quiet = field.quiet(&field.kept(pick, *without));
        (quiet.loops(), quiet.get(Count::Exposure))
    };
    let sizes_of = |pick: &&Vec<usize>| withouts.iter().map(|w| size(pick, w)).collect();
    let sizes: Vec<Vec<(u64, u64)>> = models.iter().map(sizes_of).collect();
    let mut sums: Vec<Vec<Sums>> = vec![Vec::new(); withouts.len()];
    for (pick, sizes) in models.iter().zip(&sizes) {
        let board = Board::new(field, pick, &COUNTS);
        let mut tally = Tally::default();
        field.each(|place| {
            for ((without, size), sums) in withouts.iter().zip(sizes).zip(&mut sums) {
                if sums.len() <= place.nth {
                    sums.push(Sums::default());
                }
                board.read(place, *without, &mut tally);
                sums[place.nth].add(&tally, *size);
            }
        });
    }
    let each = |w: usize| borrowing(&sums[w], sizes.iter().map(|sizes| sizes[w]).collect());
    let by_fold: Vec<Vec<Borrowing>> = (0..withouts.len()).map(each).collect();
    let of_model = |m: usize| by_fold.iter().map(|models| models[m]).collect();
    (0..models.len()).map(of_model).collect()
}

/// Of one cell over the models: the sum of k²/n and of k, for hits and for wrong alarms.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    hits: (f64, f64),
    wrong: (f64, f64),
}

impl Sums {
    fn add(&mut self, tally: &Tally, (loops, chars): (u64, u64)) {
        let add = |to: &mut (f64, f64), k: u64, n: u64| {
            if n > 0 {
                let k = k as f64;
                *to = (to.0 + k * k / n as f64, to.1 + k);
            }
        };
        add(&mut self.hits, tally.get(Count::Hit), loops);
        add(&mut self.wrong, tally.wrong(), chars);
    }
}

/// For each model, from the sums of the cells and the sizes of the models.
fn borrowing(sums: &[Sums], sizes: Vec<(u64, u64)>) -> Vec<Borrowing> {
    let loops = GroupSizes::of(sizes.iter().map(|(loops, _)| *loops));
    let chars = GroupSizes::of(sizes.iter().map(|(_, chars)| *chars));
    let (mut shares, mut rates) = (BetaBinomial::new(loops), GammaPoisson::new(chars));
    for sum in sums {
        shares.add(sum.hits.0, sum.hits.1);
        rates.add(sum.wrong.0, sum.wrong.1);
    }
    let all_chars = sizes.iter().map(|(_, chars)| *chars as f64).sum();
    let of = |(own_loops, own_chars): &(u64, u64)| Borrowing {
        rho: shares.rho(),
        phi: rates.phi(),
        loops: loops.without(*own_loops),
        chars: chars.without(*own_chars),
        all_chars,
    };
    sizes.iter().map(of).collect()
}
