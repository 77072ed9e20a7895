//! What "measure once, decide everywhere" is worth: a sweep against its naive twin, in one run.
//!
//! ```sh
//! cargo bench --workspace --bench sweep
//! ```
//!
//! Both do the whole road from text to tallies (plan, measure, decide, judge, tally, and one look
//! at every cell's tally) on one thread. The twin gives every cell a live [`Guard`] of its own and
//! feeds it each transcript; it is run on a sample of the (cell, transcript) pairs and compared per
//! pair. Each figure is the least of [`ROUNDS`] rounds, and a round runs both, so that a busy
//! machine slows both. The targets are ratios: seconds depend on the machine. A ratio beyond its
//! target ends with exit code 1.

mod corpus;
mod twin;

use std::hint::black_box;
use std::time::{Duration, Instant};

use corpus::Sample;
use deadloop_replay::{Grid, Plan, Record, decide};
use deadloop_score::{
    BlockTrial, Count, JudgeOptions, ReadChannels, tallies, tallies_and_latencies,
};

const ROUNDS: usize = 3;

/// Checks every 1000 chars to the end, so that all of the text is read; the thresholds are varied
/// at 10 x 10, 10 x 10 x 5 x 10 x 2 and 20 x 20 x 5 x 10 x 5 values.
const GRIDS: [(usize, &str); 3] = [
    (
        100,
        "min_repeats = { from = 3, to = 12, step = 1 }
         min_matches = { from = 2, to = 11, step = 1 }",
    ),
    (
        10_000,
        "min_unit = [1, 2]
         min_repeats = { from = 3, to = 12, step = 1 }
         min_matches = { from = 2, to = 11, step = 1 }
         min_cycles = { from = 1, to = 5, step = 1 }
         max_period = { from = 5, to = 50, step = 5 }",
    ),
    (
        100_000,
        "min_unit = [1, 2, 3, 4, 6]
         min_repeats = { from = 3, to = 22, step = 1 }
         min_matches = { from = 2, to = 21, step = 1 }
         min_cycles = { from = 1, to = 5, step = 1 }
         max_period = { from = 5, to = 50, step = 5 }",
    ),
];

const FIXED: &str = "
[[guard]]
detector = 'checkpoint'
[guard.params]
checkpoints = [1000, 2000]
every = 1000
window = 400
short_at = 'all'
partial_tail = 'drop'
";

/// One sweep, stage by stage.
struct Swept {
    plan: Plan,
    records: Vec<Record>,
    took: Took,
}

#[derive(Clone, Copy, Default)]
struct Took {
    plan: Duration,
    decide: Duration,
    tally: Duration,
}

impl Took {
    fn total(self) -> Duration {
        self.plan + self.decide + self.tally
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sample = corpus::load()?;
    println!("corpus: {sample}");
    let grids = GRIDS.map(|(_, values)| Grid::parse(&format!("{FIXED}{values}")));
    let [small, middle, large] = grids;
    let grids = [small?, middle?, large?];

    let mut best: [Option<Swept>; 3] = [None, None, None];
    let mut pair = Duration::MAX;
    for _ in 0..ROUNDS {
        for (grid, best) in grids.iter().zip(&mut best) {
            let swept = sweep(grid, &sample)?;
            if best
                .as_ref()
                .is_none_or(|b| swept.took.total() < b.took.total())
            {
                *best = Some(swept);
            }
        }
        let middle = best[1].as_ref().ok_or("the sweep was run")?;
        pair = pair.min(twin::time_per_pair(&middle.plan, &middle.records, &sample)?);
    }
    let best = best
        .into_iter()
        .collect::<Option<Vec<Swept>>>()
        .ok_or("all were run")?;

    for swept in &best {
        print_stages(swept);
    }
    let held = print_ratios(&best, pair, &sample);
    print_quantiles(&best[1], &sample);
    held.then_some(())
        .ok_or("a ratio is beyond its target".into())
}

fn sweep(grid: &Grid, sample: &Sample) -> Result<Swept, Box<dyn std::error::Error>> {
    let mut took = Took::default();
    let start = Instant::now();
    let mut plan = Plan::default();
    plan.add_grid(grid)?;
    took.plan = start.elapsed();

    let start = Instant::now();
    let records: Vec<Record> = sample
        .transcripts()
        .map(|t| decide(&plan, t, None))
        .collect();
    took.decide = start.elapsed();

    let start = Instant::now();
    for (i, block) in plan.blocks().iter().enumerate() {
        let sheet = tallies(
            &block.shape(),
            trials(&plan, &records, sample, i),
            &JudgeOptions::default(),
            &Count::ALL,
        );
        for nth in 0..block.len() {
            black_box(sheet.tally(&block.at(nth)));
        }
    }
    took.tally = start.elapsed();
    Ok(Swept {
        plan,
        records,
        took,
    })
}

fn trials<'a>(
    plan: &Plan,
    records: &'a [Record],
    sample: &'a Sample,
    block: usize,
) -> impl Iterator<Item = BlockTrial<'a>> {
    let watch = ReadChannels::new(|channel| plan.blocks()[block].watches(channel));
    let trial = move |(record, case): (&'a Record, &'a deadloop_score::Case)| BlockTrial {
        case,
        decided: &record.blocks[block],
        watch,
    };
    records.iter().zip(&sample.cases).map(trial)
}

fn print_stages(swept: &Swept) {
    let Took {
        plan,
        decide,
        tally,
    } = swept.took;
    println!(
        "sweep of {:>7} cells: {:.3} s (plan {plan:.1?}, measure and decide {decide:.1?}, judge and tally {tally:.1?})",
        swept.plan.cells(),
        swept.took.total().as_secs_f64(),
    );
}

/// Whether all ratios are what they should be.
fn print_ratios(best: &[Swept], pair: Duration, sample: &Sample) -> bool {
    let total = |i: usize| best[i].took.total().as_secs_f64();
    let pairs = (best[1].plan.cells() * sample.cases.len()) as f64;
    println!(
        "naive twin: {:.1?} a (cell x transcript), from {} pairs",
        pair,
        twin::PAIRS
    );
    println!(
        "sweep of {} cells: {:.3e} (cell x transcript)/s; the twin: {:.3e}/s",
        best[1].plan.cells(),
        pairs / total(1),
        1.0 / pair.as_secs_f64()
    );
    let fast = verdict(
        "times the naive twin, 10,000 cells",
        pairs * pair.as_secs_f64() / total(1),
        |x| x >= 1000.0,
        "at least 1000",
    );
    let flat = verdict(
        "time of 100,000 cells against 100",
        total(2) / total(0),
        |x| x <= 3.0,
        "at most 3",
    );
    fast && flat
}

fn verdict(what: &str, ratio: f64, holds: fn(f64) -> bool, target: &str) -> bool {
    let held = holds(ratio);
    let word = if held { "holds" } else { "DOES NOT HOLD" };
    println!("{what}: {ratio:.2} (target: {target}): {word}");
    held
}

/// Exact quantiles are no tally; what they cost stands apart.
fn print_quantiles(swept: &Swept, sample: &Sample) {
    let block = &swept.plan.blocks()[0];
    let time = |run: &dyn Fn()| {
        let once = |_| {
            let start = Instant::now();
            run();
            start.elapsed()
        };
        (0..ROUNDS).map(once).min().unwrap_or_default()
    };
    let options = JudgeOptions::default();
    let without = time(&|| {
        let trials = trials(&swept.plan, &swept.records, sample, 0);
        black_box(tallies(&block.shape(), trials, &options, &Count::ALL));
    });
    let with = time(&|| {
        let trials = trials(&swept.plan, &swept.records, sample, 0);
        black_box(tallies_and_latencies(&block.shape(), trials, &options));
    });
    println!(
        "exact latency quantiles of {} cells: {:.1?} on top of the tallies' {without:.1?}",
        block.len(),
        with.saturating_sub(without),
    );
}
