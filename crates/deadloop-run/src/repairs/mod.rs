//! [`repair`]: repairers over a corpus of streams whose truth is known, into a folder, one of each chosen under a limit on harm.
//!
//! | to find | look in |
//! |---|---|
//! | a variant on a stream: its result and the verdict | `work` |
//! | real arguments that are not JSON | `broken` |
//! | a live stream, repaired as it arrives | `live` |
//! | what a repairer did, step by step | `steps` |

use std::collections::{BTreeMap, BTreeSet};

use deadloop_corpus::Entry;
use deadloop_replay::repairers::Variant;
use deadloop_score::repairs::{
    Fare, KnownStream, Mended, MendedStream, RepairOptions, ScoredRepairs, WrongRepair,
    WrongRepairs, before_and_gold, described_repairs, repair_rows, score_repairs,
    write_repair_scores, write_repairs,
};
use deadloop_score::{About, Case, Manifest, Resampling, write_cases, write_text};

mod broken;
mod live;
mod steps;
mod work;

use broken::{Broken, write_broken};
pub use live::LiveRepair;
pub use steps::{lines as step_lines, steps};
use work::Work;
pub use work::mend;

use crate::asking::{Answered, Answers, ask};
use crate::failure::{Code, RunResult};
use crate::replay::Done;
use crate::request::Request;

/// The most wrong repairs that are opened.
const OPENED: u64 = 5_000;

/// Which repairers are run, and what is chosen among them.
pub struct Repairers<'a> {
    /// The variants that the grid asks for.
    pub variants: Vec<Variant>,
    /// How many of its combinations are impossible.
    pub refused: usize,
    /// The most harm, in per cent.
    pub harm: f64,
    /// Names of the variants in use.
    pub in_use: &'a [String],
}

/// Repairers that were run over a corpus, their tables written: everything but what is drawn from them.
pub struct RepairRun {
    /// The folder, the corpus as it was looked through, and what the folder will say of the run.
    pub run: Answered<Vec<Case>>,
    /// What became of each stream whose truth is known.
    pub outcomes: Vec<MendedStream>,
    /// The counts and the choices.
    pub scored: ScoredRepairs,
    /// How many real arguments are no JSON: what was meant by them is not known.
    pub broken: u64,
    work: Work,
}

/// Runs every variant on every stream whose truth is known, judges the results, chooses, and writes the tables.
///
/// # Errors
/// The corpus is not whole, nothing in it can be repaired, the folder holds something else, a program cannot be started,
/// somebody stopped it.
pub fn repair(request: &Request<'_>, asked: Repairers<'_>) -> RunResult<Done<RepairRun>> {
    let Repairers {
        variants,
        refused,
        harm,
        in_use,
    } = asked;
    let work = Work::start(variants, request.host)?;
    let more = vec![format!("{harm} {in_use:?}")];
    ask(request, &work, more)?.then(|Answers { mut run, said }| {
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
    let options = RepairOptions {
        in_use,
        limit: harm / 100.0,
        resampling: Resampling {
            seed: request.seed,
            ..Resampling::default()
        },
    };
    let scored = score_repairs(&work.variants, &outcomes, &cases, &options);
    let dir = run.folder.path();
    write_repairs(dir, repair_rows(&work.variants, &outcomes, &cases), request.csv)?;
    let about = About {
        settings: described_repairs(&work.variants, &scored),
        ..About::default()
    };
    write_cases(dir, &about, &run.surveyed.cases)?;
    write_repair_scores(dir, &scored.scores, request.csv)?;
    let broken = write_broken(dir, &calls, &work.variants, |at, asked| work.ask(at, asked))?;
    describe(&mut run.manifest, &work, (harm, refused));
    Ok(RepairRun {
        run,
        outcomes,
        scored,
        broken,
        work,
    })
    })
}

/// Adds to a manifest what is true of repairers alone.
fn describe(manifest: &mut Manifest, work: &Work, (harm, refused): (f64, usize)) {
    if refused > 0 {
        let why = "parameters that are impossible together";
        manifest.refused.insert(why.to_owned(), refused as u64);
    }
    manifest.constraints = ["wrong", "false-repair"]
        .map(|what| format!("{what}<={harm} %"))
        .into();
    manifest.cells = work.variants.len() as u64;
}

impl RepairRun {
    /// The variants, in the order of tables.
    pub fn variants(&self) -> &[Variant] {
        &self.work.variants
    }

    /// The wrong repairs of `shown` variants, made again to be opened: none of them where no text may be shown.
    pub fn wrong(&self, shown: &BTreeSet<usize>, texts: bool) -> WrongRepairs {
        let is_wrong =
            |fare: &&Fare| fare.verdict == Some(Mended::Wrong) && shown.contains(&fare.variant);
        let mut asked: BTreeMap<&str, &MendedStream> = BTreeMap::new();
        for stream in &self.outcomes {
            if stream.came.iter().any(|fare| is_wrong(&fare)) {
                asked.insert(stream.id.as_str(), stream);
            }
        }
        let mut found = WrongRepairs::default();
        for entry in self.run.surveyed.corpus.entries() {
            let Ok(Entry { transcript, .. }) = entry else {
                continue;
            };
            let Some(judged) = asked.get(transcript.id.as_str()) else {
                continue;
            };
            let Ok(Some(stream)) = KnownStream::of(&transcript) else {
                continue;
            };
            for Fare { variant: at, .. } in judged.came.iter().filter(is_wrong) {
                if found.opened.len() as u64 >= OPENED || !texts {
                    found.left += 1;
                    continue;
                }
                let variant = &self.work.variants[*at];
                let (before, gold) = before_and_gold(variant, &stream);
                let came = self.work.came(*at, &transcript, &stream);
                found.opened.push(WrongRepair {
                    transcript: transcript.id.clone(),
                    variant: variant.name.clone(),
                    fault: judged.fault.clone().unwrap_or_default(),
                    before,
                    after: came.map(|came| came.after).unwrap_or_default(),
                    gold,
                });
            }
        }
        let order = |one: &WrongRepair| (one.variant.clone(), one.fault.clone());
        found.opened.sort_by_key(order);
        found
    }

    /// Writes the chosen settings, then ends the run as [`Answered::finish`] does.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn finish(self, settings: &str) -> RunResult {
        let dir = self.run.folder.path();
        write_text(&dir.join("settings.toml"), settings)?;
        self.run.finish(Ok(()), |_, _| Ok(()))
    }
}
