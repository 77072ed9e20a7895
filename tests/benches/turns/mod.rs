//! Works that take turns, so that a busy machine disturbs them alike.

use cpu_time::ThreadTime;

/// The CPU time of each work in each round, in seconds; they take turns.
pub(crate) fn turns<const N: usize>(
    rounds: usize,
    mut works: [&mut dyn FnMut(); N],
) -> [Vec<f64>; N] {
    let mut took = std::array::from_fn(|_| Vec::new());
    for _ in 0..rounds {
        for (work, took) in works.iter_mut().zip(&mut took) {
            let began = ThreadTime::now();
            work();
            took.push(began.elapsed().as_secs_f64());
        }
    }
    took
}

/// The least of some times.
pub(crate) fn least(took: &[f64]) -> f64 {
    took.iter().copied().fold(f64::MAX, f64::min)
}

/// How many times as long one takes as the other, round by round; the median.
pub(crate) fn times(one: &[f64], other: &[f64]) -> f64 {
    let pairs = one.iter().zip(other);
    let mut ratios: Vec<f64> = pairs.map(|(one, other)| one / other).collect();
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}
