//! [`repair`]: repairers over a corpus of streams whose truth is known, into a folder, one of each chosen under a limit on harm.
//!
//! | to find | look in |
//! |---|---|
//! | a variant on a stream: its result and the verdict | `work` |
//! | real arguments that are not JSON | `broken` |

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use deadloop_corpus::{Entry, Selection, Transcript};
use deadloop_replay::repairers::Variant;
use deadloop_score::repairs::{
    Fare, KnownStream, Mended, MendedStream, ScoredRepairs, before_and_gold, repair_rows,
    score_repairs, write_repair_scores, write_repairs,
};
use deadloop_score::{CorpusInfo, Manifest, write_text};

mod broken;
mod work;

use broken::{Broken, broken_of, write_broken};
use work::Work;
pub use work::mend;

use crate::failure::{Code, RunResult};
use crate::folder::{Folder, State, fingerprint};
use crate::host::Host;
use crate::survey::{Surveyed, Wanted, open, survey_with};

/// The most wrong repairs that are opened.
const OPENED: u64 = 5_000;

/// Repairers, a corpus, and where the results go.
pub struct RepairRequest<'a> {
    /// A folder, or one file.
    pub corpus: &'a Path,
    /// Where the results go.
    pub out: &'a Path,
    /// The text of the grid, and its file if it is one.
    pub grid: (&'a str, Option<&'a Path>),
    /// The variants that the grid asks for.
    pub variants: Vec<Variant>,
    /// How many of its combinations are impossible.
    pub refused: usize,
    /// Which transcripts are meant.
    pub selection: Selection,
    /// Whether bad lines are left out and listed.
    pub skip_bad: bool,
    /// The seed of every random draw, for the manifest.
    pub seed: u64,
    /// The most harm, in per cent.
    pub harm: f64,
    /// Names of the variants in use.
    pub in_use: &'a [String],
    /// Whether tables go out as CSV too.
    pub csv: bool,
    /// Whether a folder that holds something else is written over.
    pub force: bool,
    /// The words that it was asked with, for the manifest.
    pub args: Vec<String>,
    /// Whatever else the result depends on.
    pub inputs: String,
    /// Who asked.
    pub host: &'a dyn Host,
}

/// Repairers that were run over a corpus, their tables written: everything but what is drawn from them.
pub struct RepairRun {
    /// Where the results go.
    pub folder: Folder,
    /// What became of each stream whose truth is known.
    pub outcomes: Vec<MendedStream>,
    /// The counts and the choices.
    pub scored: ScoredRepairs,
    /// How many real arguments are no JSON: what was meant by them is not known.
    pub broken: u64,
    surveyed: Surveyed,
    work: Work,
    manifest: Manifest,
}

/// A wrong repair, opened: what arrived, what came out, what was meant.
pub struct WrongRepair {
    /// The id of the transcript.
    pub transcript: String,
    /// The name of the variant.
    pub variant: String,
    /// The fault; empty for an intact stream.
    pub fault: String,
    /// What arrived.
    pub before: String,
    /// What came out.
    pub after: String,
    /// What was meant.
    pub gold: String,
}

/// Wrong repairs: those that were opened, and how many more there are.
#[derive(Default)]
pub struct WrongRepairs {
    /// The opened ones, by variant and fault.
    pub opened: Vec<WrongRepair>,
    /// How many more there are.
    pub left: u64,
}

/// Runs every variant on every stream whose truth is known, judges the results, chooses, and writes the tables. `None` if the
/// folder holds the result of the same request already.
///
/// # Errors
/// The corpus is not whole, nothing in it can be repaired, the folder holds something else, a program cannot be started.
pub fn repair(request: RepairRequest<'_>) -> RunResult<Option<RepairRun>> {
    let mut read: Vec<&Path> = vec![request.corpus];
    read.extend(request.grid.1);
    let folder = Folder::prepare((request.out, request.force), &read, request.host)?;
    let work = Work::start(request.variants.clone(), request.host)?;
    let (surveyed, seen) = seen(&request, &work)?;
    surveyed.accept(request.skip_bad, request.host)?;
    let inputs = inputs(&request, &work, &surveyed);
    if let State::Done(_) = folder.state(&inputs)? {
        return Ok(None);
    }
    folder.begin()?;
    let (outcomes, broken): (Vec<_>, Vec<Broken>) = seen.into_iter().unzip();
    let outcomes: Vec<MendedStream> = outcomes
        .into_iter()
        .flatten()
        .collect::<RunResult<Vec<_>>>()?;
    if outcomes.is_empty() && broken.iter().all(Broken::is_whole) {
        return Err(Code::TooLittle.error(format!(
            "{}: no stream in it whose truth is known, and no arguments that are no JSON; make some with deadloop synth (kind = \"fault\")",
            request.corpus.display()
        )));
    }
    let harm = request.harm / 100.0;
    let scored = score_repairs(&work.variants, &outcomes, request.in_use, harm);
    let dir = folder.path();
    write_repairs(dir, repair_rows(&work.variants, &outcomes), request.csv)?;
    write_repair_scores(dir, &scored.scores, request.csv)?;
    let ask = |at: usize, asked: &Transcript| work.ask(at, asked);
    let broken = write_broken(dir, &broken, &work.variants, ask)?;
    Ok(Some(RepairRun {
        manifest: manifest(&request, &work, &surveyed, inputs),
        folder,
        outcomes,
        scored,
        broken,
        surveyed,
        work,
    }))
}

/// What is seen of one transcript: the verdicts, if its truth is known, and its calls.
type Seen = (Option<RunResult<MendedStream>>, Broken);

fn seen(request: &RepairRequest<'_>, work: &Work) -> RunResult<(Surveyed, Vec<Seen>)> {
    let wanted = Wanted {
        path: request.corpus,
        selection: request.selection.clone(),
        by: &[],
        entry: None,
        host: request.host,
    };
    survey_with(open(request.corpus)?, wanted, |entry, _| {
        (work.judged(entry), broken_of(&entry.transcript))
    })
}

fn inputs(request: &RepairRequest<'_>, work: &Work, surveyed: &Surveyed) -> String {
    let mut parts = vec![
        format!("{} repair", env!("CARGO_PKG_VERSION")),
        surveyed.hash.clone(),
        request.grid.0.to_owned(),
        request.inputs.clone(),
    ];
    parts.extend(work.inputs());
    fingerprint(&parts)
}

fn manifest(
    request: &RepairRequest<'_>,
    work: &Work,
    surveyed: &Surveyed,
    inputs: String,
) -> Manifest {
    let refused = (request.refused > 0).then(|| {
        let why = "parameters that are impossible together".to_owned();
        (why, request.refused as u64)
    });
    Manifest {
        deadloop: env!("CARGO_PKG_VERSION").into(),
        command: "repair".into(),
        args: request.args.clone(),
        inputs,
        programs: work.programs(),
        corpus: CorpusInfo {
            path: request.corpus.display().to_string(),
            name: surveyed.corpus.card().and_then(|card| card.name.clone()),
            hash: surveyed.hash.clone(),
            transcripts: surveyed.cases.len() as u64,
            filtered: surveyed.filtered,
            rejected: surveyed.problems.len() as u64,
            ..CorpusInfo::default()
        },
        grid: Some(request.grid.0.to_owned()),
        seed: request.seed,
        constraints: ["wrong", "false-repair"]
            .map(|harm| format!("{harm}<={} %", request.harm))
            .into(),
        cells: work.variants.len() as u64,
        refused: refused.into_iter().collect(),
        threads: rayon::current_num_threads() as u64,
        ..Manifest::default()
    }
}

impl RepairRun {
    /// The variants, in the order of tables.
    pub fn variants(&self) -> &[Variant] {
        &self.work.variants
    }

    /// The wrong repairs of `shown` variants, made again to be opened: none of them where no text may be shown.
    ///
    /// # Errors
    /// The corpus cannot be opened again.
    pub fn wrong(&self, shown: &BTreeSet<usize>, texts: bool) -> RunResult<WrongRepairs> {
        let is_wrong =
            |fare: &&Fare| fare.verdict == Some(Mended::Wrong) && shown.contains(&fare.variant);
        let mut asked: BTreeMap<&str, &MendedStream> = BTreeMap::new();
        for stream in &self.outcomes {
            if stream.came.iter().any(|fare| is_wrong(&fare)) {
                asked.insert(stream.id.as_str(), stream);
            }
        }
        let mut found = WrongRepairs::default();
        for entry in open(Path::new(&self.manifest.corpus.path))?.entries() {
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
        Ok(found)
    }

    /// Writes the chosen settings, what was left out, and the manifest, which makes the folder a finished result.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn finish(&self, settings: &str) -> RunResult {
        let dir = self.folder.path();
        write_text(&dir.join("settings.toml"), settings)?;
        self.surveyed.write_rejected(dir)?;
        let manifest = Manifest {
            files: self.folder.files(),
            ..self.manifest.clone()
        };
        manifest.write(dir)?;
        Ok(())
    }
}
