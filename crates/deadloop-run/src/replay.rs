//! [`replay`]: from a plan and a corpus to records, and from records to the files of a result folder ([`Replayed`]).

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use deadloop_detect::{Settings, Unit};
use deadloop_replay::{Job, Journal, JournalError, Plan, Programs, Record, RunError, run_into};
use deadloop_score::{
    About, AnyEvidence, Case, Cases, ChooseOptions, Count, Floor, JudgeOptions, Manifest, Mismatch,
    PackedCases, PackedEvidence, PackedRecords, Resampling, Scored, Scoring, Tally, Worth,
    beside_floors, unpacked, write_cases, write_outcomes, write_scores, write_scores_by,
};

use crate::failure::{Code, Failure, RunResult};
use crate::folder::{Folder, State, fingerprint};
use crate::host::watched;
use crate::looking::find;
use crate::manifest::{manifest, now};
use crate::own_limits;
use crate::programs::{self, Errors};
use crate::request::Request;
use crate::sharding::{self, Written};
use crate::survey::Surveyed;
use crate::units::{of_choice_first, other_unit};

/// How a request ended.
pub enum Done {
    /// The folder holds the result of the same request already.
    Already(Folder, Box<Manifest>),
    /// A part was written, or was there: one shard was asked for.
    Part(Written),
    /// It was replayed.
    Replayed(Box<Replayed>),
}

/// A request that was carried out: everything but the scoring.
pub struct Replayed {
    /// Where the results go.
    pub folder: Folder,
    /// The corpus as it was looked through.
    pub surveyed: Surveyed<PackedCases>,
    /// What every setting said, a record a transcript.
    pub records: PackedRecords,
    /// How alarms are judged.
    pub judge: JudgeOptions,
    /// The units that have rows in the tables of scores, that of choice first.
    units: Vec<Unit>,
    /// What errors cost.
    pub worth: Worth,
    /// What the folder will say of the run. The caller adds what it chose.
    pub manifest: Manifest,
    chunks: Option<u64>,
    journal: Option<Journal>,
    began: Instant,
    /// Why nothing could be scored, where the detectors failed on every transcript.
    failed: Option<Failure>,
}

/// Checks everything, proves the folder writable, reads the corpus, replays it through the plan. `current` is the setting in
/// use: what production knows of itself stands there.
///
/// # Errors
/// The corpus is not whole, nothing is selected, the folder holds something else, a program fails, somebody stopped it.
pub fn replay(request: &Request<'_>, plan: &Plan, current: &Settings) -> RunResult<Done> {
    if let Some(shard) = request.shard {
        return sharding::write(request, plan, shard).map(Done::Part);
    }
    let began = Instant::now();
    let folder = request.folder()?;
    let parts = request.parts.as_deref();
    let (surveyed, limits, known) = find(request, plan)?;
    let judge = request.judging.options_for(&surveyed.cases)?;
    if request.unit.is_some_and(|unit| unit != judge.unit) {
        return Err(other_unit(judge.unit));
    }
    let worth = request.judging.worth(current, &surveyed.cases, judge.unit);
    let running = parts.map_or_else(
        || programs::start(plan, request.host),
        |_| Ok(Programs::default()),
    )?;
    let (told, more) = match parts {
        None => (programs::described(&running), programs::inputs(&running)),
        Some(parts) => parts.programs().clone(),
    };
    let given = (plan, more.as_slice(), &surveyed);
    let inputs = fingerprint(&inputs(request, given, &judge, &worth));
    if let State::Done(manifest) = folder.state(&inputs)? {
        return Ok(Done::Already(folder, manifest));
    }
    surveyed.accept(request.skip_bad, request.host)?;
    surveyed.tell_absent(request.by, request.host);
    for remark in own_limits::remarks(current, &limits) {
        request.host.tell(&remark);
    }
    let given = (plan, &running, &surveyed);
    let (records, errors, journal) = match known {
        Some((records, errors)) => (records, errors, None),
        None => records(request, given, (&folder, &inputs))?,
    };
    errors.tell(request.host);
    unchanged(&surveyed)?;
    let failed = errors.on_all().map(|what| Code::Unexpected.error(what));
    folder.begin()?;
    surveyed.write_rejected(folder.path())?;
    let manifest = Manifest {
        inputs,
        programs: told,
        ..manifest(request, plan, &surveyed, (&judge, &worth))
    };
    Ok(Done::Replayed(Box::new(Replayed {
        units: of_choice_first(&surveyed.cases, judge.unit),
        folder,
        surveyed,
        records,
        judge,
        worth,
        manifest,
        chunks: request.judging.chunks.map(u64::from),
        journal,
        began,
        failed,
    })))
}

/// Refuses a corpus that somebody wrote to in the meantime.
fn unchanged(surveyed: &Surveyed<PackedCases>) -> RunResult {
    let Some(file) = surveyed.stamps.changed() else {
        return Ok(());
    };
    let what = format!(
        "the corpus changed while it was read: {} was written to",
        file.display()
    );
    Err(Code::Usage.error(what))
}

/// Everything that the bytes of a result depend on.
fn inputs(
    request: &Request<'_>,
    (plan, programs, surveyed): (&Plan, &[String], &Surveyed<PackedCases>),
    judge: &JudgeOptions,
    worth: &Worth,
) -> Vec<String> {
    let mut parts = vec![
        format!("{} {}", env!("CARGO_PKG_VERSION"), request.command),
        surveyed.hash.clone(),
        plan.fingerprint(),
        format!(
            "{:?} {} {} {judge:?} {worth:?} {:?} {:?}",
            request.selection, request.skip_bad, request.seed, request.judging.chunks, request.by
        ),
        format!("{:?} {:?}", request.judging.price, request.judging.prices),
        format!("{} {}", request.csv, !request.excerpts),
    ];
    parts.extend(request.inputs.clone());
    parts.extend_from_slice(programs);
    parts
}

/// What every setting says, packed as it is said.
fn records(
    request: &Request<'_>,
    (plan, running, surveyed): (&Plan, &Programs, &Surveyed<PackedCases>),
    (folder, inputs): (&Folder, &str),
) -> RunResult<(PackedRecords, Errors, Option<Journal>)> {
    let job = Job {
        corpus: &surveyed.corpus,
        ids: &surveyed.places,
        plan,
        programs: running,
        chunks: request.judging.chunks,
    };
    let opened = Journal::open(&folder.journal(), inputs, folder.force());
    let journal = opened.map_err(|e| match e {
        JournalError::OtherInputs(_) | JournalError::Busy(_) => Code::Usage.because(e),
        JournalError::Io(..) => Code::Unexpected.because(e),
    })?;
    let (mut records, mut errors) = (PackedRecords::default(), Errors::default());
    let mut other = false;
    let mut keep = |record: Record| {
        let is_its = |case: &Case| case.id == record.transcript;
        let next = records.number();
        other |= next >= surveyed.cases.number() || !surveyed.cases.on(next, is_its);
        errors.add(&record);
        records.push(&record.blocks);
    };
    let ran = watched(request.host, "replaying", |watch| {
        run_into(&job, Some(journal), watch, &mut keep)
    });
    let journal = ran.map_err(failed)?;
    if other {
        let what = "other transcripts stand where those were that were checked";
        return Err(failed(RunError::Changed(what.into())));
    }
    Ok((records, errors, journal))
}

/// The exit code of a run that ended early.
pub fn failed(error: RunError) -> Failure {
    match error {
        RunError::Interrupted { .. } => {
            Code::Interrupted.error(format!("{error}; the same command goes on from there"))
        }
        RunError::Journal(_) | RunError::Program(_) | RunError::Machine(_) => {
            Code::Unexpected.because(error)
        }
        RunError::Changed(_) => Code::Usage.because(error),
    }
}

impl Replayed {
    /// What is true and what every setting said, as it is held: for tables that are made case by case.
    ///
    /// # Errors
    /// `plan` is another one than that of the run.
    pub fn evidence<'a>(&'a self, plan: &'a Plan) -> Result<PackedEvidence<'a>, Mismatch> {
        PackedEvidence::new(plan, &self.surveyed.cases, &self.records)
    }

    /// The same as a case and a record a transcript, to be held side by side: for whoever looks at them again and
    /// again. Some kilobytes a transcript.
    pub fn unpacked(&self, plan: &Plan) -> (Vec<Case>, Vec<Record>) {
        let cases = self.surveyed.cases.unpacked();
        let records = unpacked(&cases, &self.records, plan);
        (cases, records)
    }

    /// The floors: what `current` has to beat.
    fn floors(&self, evidence: &impl AnyEvidence, current: Option<usize>) -> Vec<Floor> {
        let mut floors = match self.judge.unit {
            Unit::Chars => vec![
                Floor::Never,
                Floor::FirstCheckpoint {
                    chars: FIRST_CHECKPOINT,
                },
            ],
            Unit::Calls | Unit::Turns => {
                let limits = [10, 25].map(|most| Floor::Limit { most });
                [vec![Floor::Never], limits.to_vec()].concat()
            }
            // Where in tokens or time a floor would alarm is not known.
            Unit::Tokens | Unit::Ms | Unit::Money => return vec![Floor::Never],
        };
        if let Some(current) = current {
            let tally = evidence.tally_of(current, &evidence.every(), &self.judge);
            // Of the transcripts that are scored: alarms on others are not among these.
            let scored = tally.get(Count::Transcripts)
                - tally.get(Count::Unlabelled)
                - tally.get(Count::Errors);
            let rate = alarms(&tally) as f64 / scored.max(1) as f64;
            floors.push(Floor::Random {
                rate,
                seed: self.manifest.seed,
            });
        }
        floors
    }

    /// What the tables of scores are made from.
    pub fn scoring<'a, E: AnyEvidence>(
        &'a self,
        evidence: &'a E,
        floors: &'a [Floor],
        reported: &'a [usize],
        csv: bool,
    ) -> Scoring<'a, E> {
        Scoring {
            evidence,
            judge: &self.judge,
            units: &self.units,
            worth: &self.worth,
            floors,
            enough: ChooseOptions::default().min_loops,
            reported,
            resampling: Resampling {
                seed: self.manifest.seed,
                ..Resampling::default()
            },
            csv,
        }
    }

    /// Scores of every cell, and of the reported ones by kind and `--by` field.
    pub fn score(
        &self,
        evidence: &impl AnyEvidence,
        current: Option<usize>,
        reported: &[usize],
        (by, csv): (&[String], bool),
    ) -> RunResult<Scored> {
        let floors = self.floors(evidence, current);
        let scoring = self.scoring(evidence, &floors, reported, csv);
        let dir = self.folder.path();
        let mut scored = write_scores(dir, &scoring)?;
        scored.beside_floors = beside_floors(&scoring, reported);
        if !reported.is_empty() {
            write_scores_by(dir, &scoring, reported, by)?;
            write_outcomes(dir, evidence, reported, &self.judge, csv)?;
            let names = &self.manifest.settings;
            let about = About {
                judge: self.judge,
                chunks: self.chunks,
                ..About::of(evidence.plan(), reported, evidence.cases(), names)
            };
            write_cases(dir, &about, evidence.cases())?;
        }
        Ok(scored)
    }

    /// What `--json` will say, besides the folder.
    pub fn sum_up(&mut self, summary: serde_json::Value) {
        if let serde_json::Value::Object(summary) = summary {
            self.manifest.summary = summary;
        }
    }

    /// Writes the manifest, which makes the folder a finished result, then what `report` makes of the folder; then the journal
    /// goes. `result`: how whoever asked has ended but for that.
    ///
    /// # Errors
    /// `result`, or the detectors failed on every transcript; a file cannot be written.
    pub fn finish(
        mut self,
        result: RunResult,
        report: impl FnOnce(&Path, &Manifest) -> RunResult,
    ) -> RunResult {
        let result = result.and(self.failed.map_or(Ok(()), Err));
        self.manifest.ended = result.as_ref().err().map(Failure::ended);
        self.manifest.files = self.folder.files();
        self.manifest.seconds = self.began.elapsed().as_secs_f64();
        self.manifest.time = now();
        self.manifest.write(self.folder.path())?;
        // The report works from the files: what they were made from need not be there twice.
        self.surveyed.cases = PackedCases::default();
        self.records = PackedRecords::default();
        report(self.folder.path(), &self.manifest)?;
        if let Some(journal) = self.journal {
            journal.remove()?;
        }
        result
    }
}

/// Where the floor `first-checkpoint` alarms: the document's first checkpoint.
const FIRST_CHECKPOINT: u64 = 2000;

fn alarms(tally: &Tally) -> u64 {
    let stops = [
        Count::Hit,
        Count::Late,
        Count::Premature,
        Count::Stale,
        Count::FalseAlarm,
        Count::TransientStop,
    ];
    stops.into_iter().map(|count| tally.get(count)).sum()
}

/// Names for the cells of settings: a cell may have several.
pub fn name(manifest: &mut Manifest, plan: &Plan, cell: usize, name: &str) {
    let names: &mut BTreeMap<String, Vec<String>> = &mut manifest.settings;
    let of = names.entry(plan.id(cell)).or_default();
    if !of.iter().any(|known| known == name) {
        of.push(name.into());
    }
}
