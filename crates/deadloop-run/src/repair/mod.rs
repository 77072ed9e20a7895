//! [`repair`]: measures repairers on a corpus of streams with known truth.
//!
//! | to find | look in |
//! |---|---|
//! | the repair of a stream by a variant, and its verdict | `variant_programs` |
//! | recorded arguments that are not JSON | `broken_arguments` |
//! | repair of a live stream | `live` |
//! | an explanation of a repairer, step by step | `steps` |

use std::path::PathBuf;

use deadloop_replay::repairers::{DEFAULT_GRID, RepairGrid, Variant};
use deadloop_score::Case;
use deadloop_score::repairs::{ScoredRepairs, StreamVerdicts, repair_rows, write_repairs};

mod broken_arguments;
mod live;
mod steps;
mod tables;
mod variant_programs;

use broken_arguments::{BrokenCalls, write_broken};
pub use live::{LiveRepair, idle};
pub(crate) use steps::{explain_steps, format_steps};
use variant_programs::{VariantPrograms, mend_and_judge};

use crate::failure::{Code, RunResult};
use crate::folder::answer::FolderAnswer;
use crate::host::Host;
use crate::options::{FolderOptions, OutputOptions, SelectionOptions};
use crate::replay::request::{Request, record};
use crate::replay::subject_run::{Answers, ask};

options! {
    /// The options of a measurement of repairers.
    pub struct RepairOptions {
        /// A corpus that deadloop synth damaged (`kind = "fault"`), or one with calls whose arguments are not JSON
        #[serde(skip)]
        pub corpus: PathBuf,
        /// The grid of repairers [default: every preset, and a grid of each repairer]
        #[arg(long, value_name = "FILE")]
        pub grid: Option<PathBuf>,
        /// The filters that select transcripts.
        #[command(flatten)]
        pub select: SelectionOptions,
        /// The options for the folder.
        #[command(flatten)]
        #[serde(flatten)]
        pub folder: FolderOptions,
        /// The folder of the results
        #[arg(long, value_name = "DIR", help_heading = "Writing")]
        #[serde(skip)]
        pub out: PathBuf,
    }
}

/// The counts of a measurement of repairers on a corpus.
struct RepairRun {
    /// The variants of repairers, in the order of tables.
    variants: Vec<Variant>,
    /// The number of streams with a known truth.
    streams: u64,
    /// The counts of verdicts.
    scored: ScoredRepairs,
    /// The number of recorded calls whose arguments are not JSON.
    broken: u64,
}

/// Repairs every stream of known truth with every variant of the grid, judges the results, and writes the tables and
/// the report.
///
/// # Errors
/// Returns an error if the grid is invalid, the corpus is not whole, nothing in it can be repaired, the folder holds
/// another result, a program cannot be started, or the host stopped it.
pub fn repair(options: &RepairOptions, host: &dyn Host) -> RunResult<FolderAnswer> {
    let grid = options.grid.as_deref();
    let (text, name) = options.folder.grid_text(grid, DEFAULT_GRID, host)?;
    let RepairGrid { variants, refused } =
        RepairGrid::parse(&text).map_err(|e| Code::Usage.error(format!("{name}:{e}")))?;
    let request = &Request {
        command: "repair",
        select: options.select.clone(),
        output: OutputOptions {
            folder: options.folder.clone(),
            ..OutputOptions::default()
        },
        read: grid.into_iter().collect(),
        grid: Some(text),
        asked: record("repair", options)?,
        ..Request::new(&options.corpus, &options.out, host)
    };
    let work = VariantPrograms::start(variants, request.host)?;
    ask(request, &work, Vec::new())?.answer(request, |Answers { mut run, said }| {
        let (streams, calls): (Vec<_>, Vec<_>) = said
            .into_iter()
            .map(|one| (one.stream, one.calls))
            .unzip();
        let streams = run.surveyed.cases.iter().zip(streams);
        let (cases, outcomes): (Vec<&Case>, Vec<StreamVerdicts>) =
            streams.filter_map(|(case, stream)| Some((case, stream?))).unzip();
        if outcomes.is_empty() && calls.iter().all(BrokenCalls::is_whole) {
            let what = format!(
                "{}: no stream in it whose truth is known, and no arguments that are no JSON; make some with deadloop synth (kind = \"fault\")",
                request.corpus.display()
            );
            return Err(run.give_up(Code::TooLittle.error(what)));
        }
        let dir = run.folder.path();
        write_repairs(dir, repair_rows(&work.variants, &outcomes, &cases), request.output.folder.csv)?;
        let broken = write_broken(dir, &calls, &work.variants, |at, asked| work.run(at, asked))?;
        if refused > 0 {
            let why = "parameters that are impossible together";
            run.manifest.refused.insert(why.to_owned(), refused as u64);
        }
        run.manifest.cells = work.variants.len() as u64;
        let done = RepairRun {
            streams: outcomes.len() as u64,
            scored: ScoredRepairs::from_outcomes(&work.variants, &outcomes),
            variants: work.variants,
            broken,
        };
        run.sum_up(tables::summary_json(&done));
        let text = tables::format_text(&done, &run.manifest.summary);
        run.finish(Ok(()), text, host)
    })
}
