//! Answers questions about statistics, so that `scripts/references.py` can compare them with other libraries.
//!
//! A question is a line of JSON on stdin, and the answer is a line on stdout: `{"of": "wilson", "k": 5, "n": 10}` is
//! answered by `[0.2366…, 0.7634…]`.

mod coverage;

use std::io::{BufRead, Write};

use deadloop_score::{
    Constraint, Count, Interval, POISSON_1, Tally, Weights, poisson, poisson_lower, poisson_upper,
    proportion_lower, sign_flips, wilson,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// A question: a published function and its arguments.
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
    /// The probability of at least `k` wrong alarms at a limit, in `n` chars or clean transcripts.
    AtLeast {
        limit: String,
        k: u64,
        n: i64,
    },
    /// The counts of each group (name, k, n), summed in each replicate of the bootstrap.
    Resampled {
        seed: u64,
        replicates: usize,
        groups: Vec<(String, u64, u64)>,
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
        Question::Poisson { k } => pair(poisson(k)),
        Question::PoissonLower { k, alpha } => json!(poisson_lower(k, alpha)),
        Question::PoissonUpper { k, alpha } => json!(poisson_upper(k, alpha)),
        Question::SignFlips { nets } => json!(sign_flips(&nets)),
        Question::AtLeast { limit, k, n } => json!(at_least(&limit, k, n)),
        Question::Resampled {
            seed,
            replicates,
            groups,
        } => json!(resampled(seed, replicates, &groups)),
        Question::Coverage {
            seed,
            worlds,
            groups,
        } => coverage::coverage(seed, worlds, groups),
    }
}

/// Returns the probability of at least `k` wrong alarms at a limit, in `n` chars or clean transcripts.
fn at_least(limit: &str, k: u64, n: i64) -> Option<f64> {
    let mut tally = Tally::default();
    (tally[Count::Quiet], tally[Count::Exposure]) = (n, n);
    let limit: Option<Constraint> = limit.parse().ok();
    limit.and_then(|limit| limit.at_least(&tally, k))
}

/// Returns the sums of both counts over the groups, in each replicate of the bootstrap.
fn resampled(seed: u64, replicates: usize, groups: &[(String, u64, u64)]) -> Vec<[u64; 2]> {
    let mut sums = vec![[0_u64; 2]; replicates];
    for (name, k, n) in groups {
        for (sum, weight) in sums.iter_mut().zip(Weights::new(seed, name, &POISSON_1)) {
            *sum = [
                sum[0] + u64::from(weight) * k,
                sum[1] + u64::from(weight) * n,
            ];
        }
    }
    sums
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let question = serde_json::from_str(&line?)?;
        writeln!(out, "{}", answer(question))?;
    }
    Ok(())
}
