//! Simulation of choosing with few labels: models whose true rates are known, 5 to 200 labels each.
//!
//! `cargo run --release -p deadloop-score --example choosing` prints the report `reports/choosing.md`
//! and ends with 1 if, where every contender takes the cell that looks best, deadloop's choice is worse
//! than the better of "own best" and "pooled" by more than three standard errors of the simulation,
//! anywhere. Under the one-standard-error rule a row that fails is marked and does not end it: see
//! there. `scripts/choosing` writes the report.
//!
//! A world is a few models; each has its own distribution of how strong its loops look to a detector,
//! and of how strong its healthy text does. A setting alarms where both of two strengths reach its
//! thresholds, so what it truly does on a model is known exactly (`world`). From each world labels
//! are drawn, settings are chosen with the code that `deadloop tune` runs, and their true worth is
//! compared with that of the truly best setting: the regret (`contest`).

mod contest;
mod world;

use std::process::ExitCode;

use contest::{Contest, Row};

/// Labels of each kind that a model has.
const LABELS: [usize; 6] = [5, 10, 20, 50, 100, 200];

/// How far models lie apart, in standard deviations of the logarithm of a strength.
const APART: [(&str, f64); 3] = [("not at all", 0.0), ("some", 0.15), ("far", 0.4)];

/// Seed of every draw.
const SEED: u64 = 20_261_122;

fn main() -> ExitCode {
    let mut holds = true;
    println!("# Choosing with few labels: a simulation\n\n{INTRODUCTION}");
    for (errors, title) in [(0.0, BEST), (1.0, CAREFUL)] {
        println!("\n{title}\n\n{}", Row::HEAD);
        for (name, apart) in APART {
            let even = LABELS.map(|n| (n.to_string(), vec![n; LABELS.len()]));
            let mixed = ("5 to 200".to_owned(), LABELS.to_vec());
            for (labels, sizes) in even.into_iter().chain([mixed]) {
                let contest = Contest {
                    apart,
                    sizes: &sizes,
                    errors,
                    seed: SEED,
                };
                let row = contest.run();
                holds &= row.holds() || errors > 0.0;
                println!("| {name} | {labels} {row}");
            }
        }
    }
    println!(
        "\n{}",
        if holds {
            HOLDS
        } else {
            "**It does not hold.**"
        }
    );
    if holds {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

const INTRODUCTION: &str = "\
Written by `scripts/choosing`; the code is `crates/deadloop-score/examples/choosing`. Six models whose
true rates are known; each has as many labelled loops, and as many clean transcripts, as the second
column says. The objective is `utility` (pi 0.1, lambda 1), which has a price for a false alarm, so
that one number says how good a setting is. *Regret*: how much less it is truly worth than the best
setting for that model, in points of 100; mean over models and worlds.

- *own*: the best setting on the model's own labels alone; *pooled*: one setting for all models;
  *deadloop*: own labels helped by the other models' (partial pooling); with fewer than 10 loops the
  pooled setting.
- *minus the better*: deadloop's regret less the smaller of the two, with its standard error over
  worlds. It **holds** where that is below three standard errors.
- *optimism*: how much better deadloop's settings look on the labels they were chosen on than they
  truly are; beside it what the folds reported (in sample minus held out), over the models that have
  a choice of their own.";

const BEST: &str = "\
## The best cell (`--standard-errors 0`)

Every contender takes the cell that looks best.";

const CAREFUL: &str = "\
## The most careful cell within one standard error (the default)

Every contender takes the cell with the fewest wrong alarms among those within one standard error of
its best. False alarms have a price already here, so care is paid for twice: compare the regrets with
those above, and the share of clean transcripts that is cut. Where models do not differ at all,
deadloop cannot know that; it is less sure than who pools everything, hence more careful, and may fall
behind by a fraction of a point.";

const HOLDS: &str = "In every row of the first table deadloop's choice is no worse than the better of the two by more than\nthe error of the simulation.";
