//! Measures how good the advice of `deadloop tune` is.
//!
//! Draws of a large labelled corpus are tuned on, and the advised setting is scored on the transcripts not drawn.
//!
//! `cargo run --release -p deadloop-studies --bin advice -- CORPUS STARTER` prints the report `reports/advice.md`,
//! which `scripts/advice` writes. It ends with 1 if a bound of the report is missed. Every transcript is measured once,
//! and a draw chooses among these records by the code of `deadloop tune`. Each draw is tuned for several guards in use,
//! with the labels as they are and with some spoilt on purpose (`spoil.rs`).

mod draws;
mod label_noise;
mod own_grid;
mod study_corpus;
mod verdict;

use std::path::Path;
use std::process::ExitCode;

use draws::AdviceDraw;
use own_grid::OwnGrid;
use study_corpus::StudyCorpus;
use verdict::{AdviceReport, DrawResult};

/// Approximate numbers of transcripts of a draw.
const SIZES: [usize; 3] = [300, 1000, 3000];

/// The number of draws of each size, unless the environment variable `DRAWS` is set.
const DRAWS: u64 = 20;

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: advice CORPUS STARTER");
        return ExitCode::from(2);
    };
    let Some(starter) = std::env::args().nth(2) else {
        eprintln!("usage: advice CORPUS STARTER");
        return ExitCode::from(2);
    };
    match report(Path::new(&path), Path::new(&starter)) {
        Ok(report) => {
            println!("{report}");
            if report.holds() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(error) => {
            eprintln!("advice: {error}");
            ExitCode::from(2)
        }
    }
}

fn report(path: &Path, starter: &Path) -> Result<AdviceReport, Box<dyn std::error::Error>> {
    use rayon::prelude::*;
    let world = StudyCorpus::load(path)?;
    let said = std::env::var("DRAWS").ok();
    let draws = said.and_then(|n| n.parse().ok()).unwrap_or(DRAWS);
    let draws: Vec<(usize, u64)> = SIZES
        .into_iter()
        .rev()
        .flat_map(|size| (0..draws).map(move |seed| (size, seed)))
        .collect();
    let trials = draws.into_par_iter().map(|(size, seed)| {
        let draw = AdviceDraw::sample(&world, size, seed);
        let mut trials: Vec<DrawResult> = Vec::new();
        for spoilt in [false, true] {
            trials.extend(draw.trials(&world, spoilt));
        }
        eprintln!("{size} transcripts, draw {seed}: done");
        trials
    });
    let mut own = OwnGrid::default();
    own.add(&StudyCorpus::load(starter)?, "starter");
    own.add_draws(&world);
    Ok(AdviceReport {
        own,
        trials: trials.flatten_iter().collect(),
        transcripts: world.cases.len(),
        settings: world.plan.cells(),
    })
}
