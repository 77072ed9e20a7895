//! Simulation of choosing with few labels: models whose true rates are known, 5 to 200 labels each.
//!
//! Prints the report `reports/choosing.md`, which `scripts/choosing` writes, and ends with 1 if in any
//! row of it deadloop's choice is worse than the better of "own best" and "pooled", or the optimism
//! that it reports is not the true one, by more than three standard errors of the simulation.
//!
//! A world is a few models; each has its own distribution of how strong its loops look to a detector,
//! and of how strong its healthy text does. A setting alarms where both of two strengths reach its
//! thresholds, so what it truly does on a model is known exactly (`world`). From each world labels
//! are drawn, settings are chosen with the code that `deadloop tune` runs, and their true worth is
//! compared with that of the truly best setting: the regret (`contest`).

mod contest;
mod world;

use std::process::ExitCode;
use std::thread;

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
        for (name, row) in table(errors) {
            holds &= row.as_ref().is_some_and(Row::holds);
            match row {
                Some(row) => println!("| {name} {row}"),
                None => println!("| {name} | it could not be computed |"),
            }
        }
    }
    println!("\n{}", if holds { HOLDS } else { FAILS });
    if holds {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// The rows, in their order; each is a thread's.
fn table(errors: f64) -> Vec<(String, Option<Row>)> {
    let even = LABELS.map(|n| (n.to_string(), vec![n; LABELS.len()]));
    let mixed = ("5 to 200".to_owned(), LABELS.to_vec());
    let sizes: Vec<(String, Vec<usize>)> = even.into_iter().chain([mixed]).collect();
    thread::scope(|scope| {
        let mut rows = Vec::new();
        for (name, apart) in APART {
            for (labels, sizes) in &sizes {
                let contest = Contest {
                    apart,
                    sizes,
                    errors,
                    seed: SEED,
                };
                let row = scope.spawn(move || contest.run());
                rows.push((format!("{name} | {labels}"), row));
            }
        }
        let done = rows.into_iter().map(|(name, row)| (name, row.join().ok()));
        done.collect()
    })
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
  truly are; beside it what the folds report (`optimism` in `choice.csv`), over the models that have
  a choice of their own. It **holds** where the two differ by no more than three standard errors.";

const BEST: &str = "\
## The best cell (`--standard-errors 0`)

Every contender takes the cell that looks best.";

const CAREFUL: &str = "\
## The most careful cell within one standard error (the default)

Own and pooled take the cell with the fewest wrong alarms among those within one standard error of
their best; deadloop keeps the pooled cell where it is among those near its best, else it does the
same. False alarms have a price already here, so care is paid for twice: compare the regrets with
those above, and the share of clean transcripts that is cut.";

const HOLDS: &str = "\
**It holds** in every row of both tables: deadloop's choice is no worse than the better of own and
pooled, and the optimism that it reports is the true one, within the error of the simulation.";

const FAILS: &str = "**It does not hold** in every row.";
