//! Simulation of choosing with few labels: models whose true rates are known, 5 to 200 labels each.
//!
//! Prints the report `reports/choosing.md`, which `scripts/choosing` writes, and ends with 1 if in any row of it who
//! follows the advice is worse off than with what is in use, if the optimism that is reported is not the true one, by
//! more than three standard errors of the simulation, or if models that do not differ get settings of their own in more
//! than a tenth of the worlds.
//!
//! A world is a few models; each has its own distribution of how strong its loops look to a detector, and of how
//! strong its healthy text does. A setting alarms where both of two strengths reach its thresholds, so what it truly
//! does on a model is known exactly (`world`). From each world labels are drawn, a setting in use is drawn, settings are
//! advised by the code that `deadloop tune` runs, and their true worth is compared with that of the truly best setting:
//! the regret (`contest`).

mod contest;
mod world;

use std::process::ExitCode;
use std::thread;

use contest::{Contest, Row};

/// Labels of each kind that a model has.
const LABELS: [usize; 6] = [5, 10, 20, 50, 100, 200];

/// How far models lie apart, in standard deviations of the logarithm of a strength.
const APART: [(&str, f64); 3] = [("not at all", 0.0), ("some", 0.15), ("far", 0.4)];

/// Models that do not differ may get settings of their own in so many worlds, %.
const OWN: f64 = 10.0;

/// Seed of every draw.
const SEED: u64 = 20_261_123;

fn main() -> ExitCode {
    let mut holds = true;
    println!(
        "# Choosing with few labels: a simulation\n\n{INTRODUCTION}\n\n{}",
        Row::HEAD
    );
    for (apart, name, row) in table() {
        let Some(row) = row else {
            println!("| {name} | it could not be computed |");
            holds = false;
            continue;
        };
        holds &= row.holds() && (apart > 0.0 || row.own() <= OWN);
        println!("| {name} {row}");
    }
    println!("\n{}", if holds { HOLDS } else { FAILS });
    if holds {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// The rows, in their order; each is a thread's.
fn table() -> Vec<(f64, String, Option<Row>)> {
    let even = LABELS.map(|n| (n.to_string(), vec![n; LABELS.len()]));
    let mixed = ("5 to 200".to_owned(), LABELS.to_vec());
    let sizes: Vec<(String, Vec<usize>)> = even.into_iter().chain([mixed]).collect();
    thread::scope(|scope| {
        let mut rows = Vec::new();
        for (name, apart) in APART {
            for (labels, sizes) in &sizes {
                let seed = SEED;
                let contest = Contest { apart, sizes, seed };
                let row = scope.spawn(move || contest.run());
                rows.push((apart, format!("{name} | {labels}"), row));
            }
        }
        let done = rows
            .into_iter()
            .map(|(apart, name, row)| (apart, name, row.join().ok()));
        done.collect()
    })
}

const INTRODUCTION: &str = "\
Written by `scripts/choosing`; the code is `scripts/studies/src/choosing`. Six models whose true rates are
known; each has as many labelled loops, and as many clean transcripts, as the second column says; a random setting is in
use. The objective is `net_per_1000` (pi 0.1, a wrong alarm costs about one loop), which has a price for a wrong alarm,
so that one number says how good a setting is. *Regret*: how much less it is truly worth than the best setting for that
model, in points of 100; mean over models and worlds.

- *in use*: what runs before; *own best*: the setting that looks best on the model's own labels; *pooled best*: the one
  that looks best on all; *deadloop*: what the `settings.toml` of `deadloop tune` holds for the model. Where labels are
  few that is what is in use: it waits for evidence where the other two guess.
- *minus in use*: deadloop's regret less that of what is in use, with its standard error over worlds. It **holds** where
  that is below three standard errors: who follows the advice is not worse off.
- *ships*: in how many worlds something ships; *own settings*: in how many some model gets a setting of its own: where
  models do not differ, at most 10 %.
- *optimism*: how much better the candidate of all models looks on the labels it was chosen on than it truly is; beside
  it what the folds report (`optimism` in `choice.csv`). It **holds** where the two differ by no more than three standard
  errors.";

const HOLDS: &str = "\
**It holds** in every row: who follows the advice is not worse off, the optimism that is reported is the true one, and
models that do not differ share a setting, within the error of the simulation.";

const FAILS: &str = "**It does not hold** in every row.";
