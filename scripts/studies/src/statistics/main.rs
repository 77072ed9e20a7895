//! Answers questions about statistics, for `scripts/references.py`, which asks other people's
//! libraries the same.
//!
//! A question is a line of JSON on stdin, the answer a line on stdout: `{"of": "wilson", "k": 5, "n":
//! 10}` is answered by `[0.2366…, 0.7634…]`.

mod coverage;

use std::io::{BufRead, Write};

use deadloop_score::{
    BetaBinomial, Borrowing, Constraint, Count, GammaPoisson, GroupSizes, Interval, POISSON_1,
    POISSON_HALF, Tally, Weights, poisson, poisson_lower, poisson_upper, proportion_lower,
    proportion_upper, sign_flips, wilson,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// Sizes of groups, and for each cell the count in each group.
#[derive(Deserialize)]
struct Groups {
    sizes: Vec<u64>,
    cells: Vec<Vec<u64>>,
}

impl Groups {
    /// Calls `add` with the sum of k²/n and the sum of k of each cell.
    fn each(&self, mut add: impl FnMut(f64, f64)) {
        for cell in &self.cells {
            let squares = cell
                .iter()
                .zip(&self.sizes)
                .map(|(k, n)| (*k as f64).powi(2) / *n as f64);
            add(squares.sum(), cell.iter().sum::<u64>() as f64);
        }
    }
}

/// One question; numbers as the published function takes them.
#[derive(Deserialize)]
#[serde(tag = "of", rename_all = "snake_case", deny_unknown_fields)]
enum Question {
    Wilson {
        k: u64,
        n: u64,
    },
    ProportionLower {
        k: u64,
        n: u64,
        alpha: f64,
    },
    ProportionUpper {
        k: u64,
        n: u64,
        alpha: f64,
    },
    Poisson {
        k: u64,
    },
    PoissonLower {
        k: u64,
        alpha: f64,
    },
    PoissonUpper {
        k: u64,
        alpha: f64,
    },
    SignFlips {
        nets: Vec<i64>,
    },
    /// P(within) of a limit on wrong alarms or on recall: `k` of `n`, or in `n` chars.
    Within {
        limit: String,
        k: i64,
        n: i64,
    },
    /// The counts of each group (name, k, n), summed in each replicate of the bootstrap.
    Resampled {
        seed: u64,
        replicates: usize,
        half: bool,
        groups: Vec<(String, u64, u64)>,
    },
    Rho {
        groups: Groups,
    },
    Phi {
        groups: Groups,
    },
    /// What the other groups count for the first.
    Borrowed {
        rho: f64,
        phi: f64,
        sizes: Vec<u64>,
        wrong: u64,
    },
    Coverage {
        seed: u64,
        worlds: u64,
        groups: usize,
    },
}

fn answer(question: Question) -> Value {
    let pair = |interval: Interval| json!([interval.lo, interval.hi]);
    match question {
        Question::Wilson { k, n } => json!(wilson(k, n).map(pair)),
        Question::ProportionLower { k, n, alpha } => json!(proportion_lower(k, n, alpha)),
        Question::ProportionUpper { k, n, alpha } => json!(proportion_upper(k, n, alpha)),
        Question::Poisson { k } => pair(poisson(k)),
        Question::PoissonLower { k, alpha } => json!(poisson_lower(k, alpha)),
        Question::PoissonUpper { k, alpha } => json!(poisson_upper(k, alpha)),
        Question::SignFlips { nets } => json!(sign_flips(&nets)),
        Question::Within { limit, k, n } => json!(within(&limit, k, n)),
        Question::Resampled {
            seed,
            replicates,
            half,
            groups,
        } => json!(resampled(seed, replicates, half, &groups)),
        Question::Rho { groups } => {
            let mut moments = BetaBinomial::new(GroupSizes::of(groups.sizes.iter().copied()));
            groups.each(|squares, sum| moments.add(squares, sum));
            json!(moments.rho())
        }
        Question::Phi { groups } => {
            let mut moments = GammaPoisson::new(GroupSizes::of(groups.sizes.iter().copied()));
            groups.each(|squares, sum| moments.add(squares, sum));
            json!(moments.phi())
        }
        Question::Borrowed {
            rho,
            phi,
            sizes,
            wrong,
        } => json!(borrowed((rho, phi), &sizes, wrong)),
        Question::Coverage {
            seed,
            worlds,
            groups,
        } => coverage::coverage(seed, worlds, groups),
    }
}

/// The probability that the rate is within a limit, after `k` of `n`.
fn within(limit: &str, k: i64, n: i64) -> Option<f64> {
    let mut tally = Tally::default();
    (tally[Count::Hit], tally[Count::Miss]) = (k, n - k);
    (tally[Count::FalseAlarm], tally[Count::Exposure]) = (k, n);
    let limit: Option<Constraint> = limit.parse().ok();
    limit.and_then(|limit| limit.probability(&tally))
}

/// The sums of both counts over the groups, in each replicate of the bootstrap.
fn resampled(
    seed: u64,
    replicates: usize,
    half: bool,
    groups: &[(String, u64, u64)],
) -> Vec<[u64; 2]> {
    let steps = if half {
        &POISSON_HALF[..]
    } else {
        &POISSON_1[..]
    };
    let mut sums = vec![[0_u64; 2]; replicates];
    for (name, k, n) in groups {
        for (sum, weight) in sums.iter_mut().zip(Weights::of(seed, name, steps)) {
            *sum = [
                sum[0] + u64::from(weight) * k,
                sum[1] + u64::from(weight) * n,
            ];
        }
    }
    sums
}

/// The weights of a loop and of a char of the other groups, for the first group.
fn borrowed((rho, phi): (f64, f64), sizes: &[u64], wrong: u64) -> [f64; 2] {
    let others = GroupSizes::of(sizes.iter().copied());
    let others = others.without(sizes.first().copied().unwrap_or(0));
    let borrowing = Borrowing {
        rho,
        phi,
        loops: others,
        chars: others,
        all_chars: sizes.iter().sum::<u64>() as f64,
    };
    [borrowing.loop_weight(), borrowing.char_weight(wrong)]
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let question = serde_json::from_str(&line?)?;
        writeln!(out, "{}", answer(question))?;
    }
    Ok(())
}
