//! [`repair`]: repairers over a corpus of streams whose truth is known, into a folder.
//!
//! | to find | look in |
//! |---|---|
//! | a variant on a stream: its result and the verdict | `work` |
//! | real arguments that are not JSON | `broken` |
//! | a live stream, repaired as it arrives | `live` |
//! | what a repairer did, step by step | `steps` |

use deadloop_replay::repairers::Variant;
use deadloop_score::Case;
use deadloop_score::repairs::{MendedStream, ScoredRepairs, repair_rows, write_repairs};

mod broken;
mod live;
mod steps;
mod work;

use broken::{Broken, write_broken};
pub use live::{LiveRepair, idle};
pub use steps::{lines as step_lines, steps};
use work::{Work, mend};

use crate::asking::{Answered, Answers, ask};
use crate::failure::{Code, RunResult};
use crate::replay::Done;
use crate::request::Request;

/// Repairers that were run over a corpus, their tables written.
pub struct RepairRun {
    /// The folder, the corpus as it was looked through, and what the folder will say of the run.
    pub run: Answered<Vec<Case>>,
    /// The variants, in the order of tables.
    pub variants: Vec<Variant>,
    /// How many streams there are whose truth is known.
    pub streams: u64,
    /// The counts.
    pub scored: ScoredRepairs,
    /// How many real arguments are no JSON: what was meant by them is not known.
    pub broken: u64,
}

/// Runs every variant on every stream whose truth is known, judges the results, and writes the tables. `refused`: how many
/// combinations of the grid are impossible.
///
/// # Errors
/// The corpus is not whole, nothing in it can be repaired, the folder holds something else, a program cannot be started,
/// somebody stopped it.
pub fn repair(
    request: &Request<'_>,
    variants: Vec<Variant>,
    refused: usize,
) -> RunResult<Done<RepairRun>> {
    let work = Work::start(variants, request.host)?;
    ask(request, &work, Vec::new())?.then(|Answers { mut run, said }| {
        let (streams, calls): (Vec<_>, Vec<_>) = said
            .into_iter()
            .map(|one| (one.stream, one.calls))
            .unzip();
        let streams = run.surveyed.cases.iter().zip(streams);
        let (cases, outcomes): (Vec<&Case>, Vec<MendedStream>) =
            streams.filter_map(|(case, stream)| Some((case, stream?))).unzip();
        if outcomes.is_empty() && calls.iter().all(Broken::is_whole) {
            let what = format!(
                "{}: no stream in it whose truth is known, and no arguments that are no JSON; make some with deadloop synth (kind = \"fault\")",
                request.corpus.display()
            );
            return Err(run.given_up(Code::TooLittle.error(what)));
        }
        let dir = run.folder.path();
        write_repairs(dir, repair_rows(&work.variants, &outcomes, &cases), request.csv)?;
        let broken = write_broken(dir, &calls, &work.variants, |at, asked| work.ask(at, asked))?;
        if refused > 0 {
            let why = "parameters that are impossible together";
            run.manifest.refused.insert(why.to_owned(), refused as u64);
        }
        run.manifest.cells = work.variants.len() as u64;
        Ok(RepairRun {
            streams: outcomes.len() as u64,
            scored: ScoredRepairs::from_outcomes(&work.variants, &outcomes),
            variants: work.variants,
            run,
            broken,
        })
    })
}
