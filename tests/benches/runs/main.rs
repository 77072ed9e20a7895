//! What guards on runs of agents cost, live and in a replay, and what a grid of 100,000 cells adds to one cell.
//!
//! ```sh
//! cargo bench --workspace --bench runs
//! ```
//!
//! One thread; the runs are those beside the project, else `datasets/agents-starter`. Seconds are the thread's own CPU
//! time, the least of [`ROUNDS`] rounds; the works take turns, and the ratio is the median of the rounds. Events are
//! those of the recording. The ratio is what is claimed: beyond its target the bench ends with exit code 1.

#[path = "../turns/mod.rs"]
mod turns;

use std::error::Error;
use std::hint::black_box;
use std::path::Path;

use deadloop_corpus::{Corpus, Transcript};
use deadloop_detect::{Guards, RECOMMENDED_AGENTS, Settings};
use deadloop_replay::{Grid, Plan, decide};
use turns::{least, times, turns};

const ROUNDS: usize = 5;
/// Loom's monitor: 50 x 20 x 5 x 20 thresholds.
const GRID: &str = "
[[guard]]
detector = 'loom'
[guard.params]
max_iterations = { from = 5, to = 250, step = 5 }
duplicate_threshold = { from = 2, to = 21, step = 1 }
loop_detection_window = { from = 2, to = 6, step = 1 }
error_threshold = { from = 0.05, to = 1.0, step = 0.05 }
";
const TARGET: f64 = 3.0;

fn main() -> Result<(), Box<dyn Error>> {
    let runs = recorded()?;
    let events: usize = runs.iter().map(|run| run.events.len()).sum();
    println!("{} runs, {events} events", runs.len());
    let recommended = Settings::parse(RECOMMENDED_AGENTS)?;
    let guards = Guards::new(&recommended)?;
    let mut replayed = Plan::default();
    replayed.add_setting(recommended.guard());
    let replay = |plan: &Plan| {
        for run in &runs {
            black_box(decide(plan, run, None));
        }
    };
    let mut one = Plan::default();
    one.add_setting(Settings::parse("[[guard]]\ndetector = 'loom'")?.guard());
    let mut many = Plan::default();
    let cells = many.add_grid(&Grid::parse(GRID)?)?.len();
    let [alive, whole, once, swept] = turns(
        ROUNDS,
        [
            &mut || live(&guards, &runs),
            &mut || replay(&replayed),
            &mut || replay(&one),
            &mut || replay(&many),
        ],
    );
    for (what, took) in [("live", &alive), ("in a replay", &whole)] {
        let took = least(took);
        let rate = events as f64 / took / 1e6;
        println!("the recommended guard {what}: {took:.3} s, {rate:.2} million events a second");
    }
    let (one, all) = (least(&once), least(&swept));
    println!("loom: replay of one cell {one:.3} s, of {cells} cells {all:.3} s");
    let ratio = times(&swept, &once);
    let held = ratio <= TARGET;
    let word = if held { "holds" } else { "DOES NOT HOLD" };
    println!("  times one cell: {ratio:.2} (target: at most {TARGET}): {word}");
    held.then_some(())
        .ok_or("a ratio is beyond its target".into())
}

/// Every event of each run into a guard of its own, as an agent's loop does; a guard that alarmed is over.
fn live(guards: &Guards, runs: &[Transcript]) {
    for run in runs {
        let mut guard = guards.guard(&run.model);
        for (_, event) in run.stream() {
            let _ = black_box(guard.push(&event));
        }
    }
}

fn recorded() -> Result<Vec<Transcript>, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let real = root.join("../shared/data/agents");
    let path = if real.is_dir() {
        real
    } else {
        root.join("datasets/agents-starter")
    };
    let corpus = Corpus::open(&path)?;
    let entries = corpus.entries();
    entries.map(|entry| Ok(entry?.transcript)).collect()
}
