//! [`replay`]: replays settings over a corpus into a result folder. [`replay_plan`] replays any plan.

mod command;
pub(crate) mod in_memory;
pub(crate) mod notice;
pub(crate) mod opened_transcripts;
mod output;
mod own_limits;
pub(crate) mod programs;
pub(crate) mod request;
pub(crate) mod second_pass;
pub(crate) mod subject_run;
pub(crate) mod units;

use std::collections::BTreeMap;

pub use command::{ReplayOptions, replay};
use deadloop_corpus::Entry;
use deadloop_detect::{Settings, Unit};
use deadloop_replay::{BlockDecision, JournalEntry, Plan, PlanGuards, Programs, Record};
use deadloop_score::choose::FEWEST_LOOPS;
use deadloop_score::{
    AnyEvidence, Case, JudgeOptions, Manifest, Mismatch, PackedCases, PackedEvidence,
    PackedRecords, Resampling, ScoringRequest, ScoringResult, Stakes, macro_means, unpack,
    write_outcomes, write_scores,
};

use crate::failure::{Code, Failure, RunResult};
use crate::folder::Folder;
use crate::folder::answer::{FolderAnswer, FolderContent};
use crate::host::Host;
use crate::layout::TextDocument;
use crate::option::UNIT;
use crate::replay::notice::noticed_faults;
use crate::replay::programs::DetectorErrors;
use crate::replay::request::Request;
use crate::replay::subject_run::{AnsweredRun, OpenRun};
use crate::replay::units::chosen_unit_first;
use crate::shards::{self, PartSummary};

/// The outcome of a request.
pub enum RunOutcome<R> {
    /// The folder already holds the result of the same request.
    Already(Folder, Box<Manifest>),
    /// The part of a shard was written, or existed already.
    Part(PartSummary),
    /// The request was carried out.
    Ran(Box<R>),
}

impl<R> RunOutcome<R> {
    /// Converts the outcome into the answer of a command. `finish` ends a run that was carried out.
    ///
    /// # Errors
    /// Returns the errors of `finish`.
    pub fn answer(
        self,
        request: &Request<'_>,
        finish: impl FnOnce(R) -> RunResult<FolderAnswer>,
    ) -> RunResult<FolderAnswer> {
        match self {
            Self::Already(folder, manifest) => {
                FolderAnswer::from_earlier_run(&folder, manifest, request.host)
            }
            Self::Part(part) => {
                let content = FolderContent::Part(part);
                Ok(FolderAnswer::new(request.out, content, None))
            }
            Self::Ran(run) => finish(*run),
        }
    }

    /// Applies `f` to a run that was carried out.
    ///
    /// # Errors
    /// Returns the errors of `f`.
    pub(crate) fn try_map<T>(self, f: impl FnOnce(R) -> RunResult<T>) -> RunResult<RunOutcome<T>> {
        Ok(match self {
            Self::Already(folder, manifest) => RunOutcome::Already(folder, manifest),
            Self::Part(part) => RunOutcome::Part(part),
            Self::Ran(run) => RunOutcome::Ran(Box::new(f(*run)?)),
        })
    }
}

/// A finished replay, before scoring.
pub struct ReplayRun {
    /// The folder, the surveyed corpus and the manifest.
    pub run: AnsweredRun<PackedCases>,
    /// The recorded decisions of all settings, one record for each transcript.
    pub records: PackedRecords,
    /// The options for judging alarms.
    pub judge: JudgeOptions,
    /// The units of the score tables. The first is that of the choice of settings.
    units: Vec<Unit>,
    /// The cost of a wrong alarm, and the loop rate in production.
    pub worth: Stakes,
    /// The failure if detectors failed on every transcript, so that nothing can be scored.
    failed: Option<Failure>,
}

/// Checks the request and the folder, reads the corpus and replays it through the plan. `current` is the setting in
/// use, which may state the loop rate in production.
///
/// # Errors
/// Returns an error if the corpus is not whole, nothing is selected, the folder holds another result, a program
/// fails, or the host stops the run.
pub fn replay_plan(
    request: &Request<'_>,
    plan: &Plan,
    current: &Settings,
) -> RunResult<RunOutcome<ReplayRun>> {
    let start = || programs::start_programs(plan, request.host);
    let chunks = request.judging.chunks;
    if let Some(shard) = request.output.folder.shard {
        let guards = |programs| PlanGuards {
            plan,
            programs,
            chunks,
        };
        return shards::write_part(request, shard, &guards(&start()?)).map(RunOutcome::Part);
    }
    let look = |entry: &Entry, _: &Case| own_limits::recorded_limit(entry);
    let (mut opened, limits) = OpenRun::open(request, plan.fingerprint(), &|_| None, look)?;
    let cases: &mut PackedCases = &mut opened.surveyed.cases;
    apply_noticed_faults(cases, plan);
    let judge = request.judging.options_for(cases)?;
    if request.unit.is_some_and(|unit| unit != judge.unit) {
        let unit = judge.unit;
        let what = format!("labels count in {unit}; say so with {UNIT} {unit}");
        return Err(Code::Usage.error(what));
    }
    let worth = request.judging.worth(current, cases, judge.unit);
    let programs = match request.output.folder.parts {
        None => start()?,
        Some(_) => Programs::default(),
    };
    let guards = PlanGuards {
        plan,
        programs: &programs,
        chunks,
    };
    let (mut records, mut errors) = (PackedRecords::default(), DetectorErrors::default());
    let mut keep = |JournalEntry { transcript, said }: JournalEntry<Vec<BlockDecision>>| {
        errors.add(&transcript, &said);
        records.push(&said);
    };
    let more = vec![format!("{judge:?} {worth:?} {chunks:?}")];
    opened.ask(&guards, more, &mut keep)?.try_map(|mut run| {
        for remark in own_limits::limit_remarks(current, &limits) {
            request.host.notify(&remark);
        }
        errors.notify_host(request.host);
        fill_manifest(&mut run.manifest, plan, (judge, worth));
        run.manifest.chunks = chunks.map(u64::from);
        Ok(ReplayRun {
            units: chosen_unit_first(&run.surveyed.cases, judge.unit),
            failed: errors.total_failure().map(|e| Code::Unexpected.error(e)),
            run,
            records,
            judge,
            worth,
        })
    })
}

/// Makes fault labels the truth for detectors that notice faults.
fn apply_noticed_faults(cases: &mut PackedCases, plan: &Plan) {
    if let Some(kinds) = noticed_faults(cases, plan) {
        cases.alter(|case| case.notice(&kinds));
    }
}

/// Fills the fields of a manifest that concern guards.
fn fill_manifest(manifest: &mut Manifest, plan: &Plan, (judge, worth): (JudgeOptions, Stakes)) {
    manifest.detectors = shards::detector_versions();
    manifest.judge = judge;
    manifest.worth = worth;
    manifest.cells = plan.cells() as u64;
    let refused = plan.refused_cells();
    let refused = refused.iter();
    manifest.refused = refused
        .map(|r| (format!("{}: {}", r.param, r.reason), r.cells as u64))
        .collect();
}

impl ReplayRun {
    /// Returns the labels and records in packed form, for tables that are computed case by case.
    ///
    /// # Errors
    /// Returns an error if `plan` is not that of the run.
    pub fn evidence<'a>(&'a self, plan: &'a Plan) -> Result<PackedEvidence<'a>, Mismatch> {
        PackedEvidence::new(plan, &self.run.surveyed.cases, &self.records)
    }

    /// Returns the cases and records in plain form, one of each for each transcript. Plain records take some kilobytes
    /// each and are quicker to read repeatedly.
    pub fn unpack(&self, plan: &Plan) -> (Vec<Case>, Vec<Record>) {
        let cases = self.run.surveyed.cases.unpack_all();
        let records = unpack(&cases, &self.records, plan);
        (cases, records)
    }

    /// Writes the scores of every cell, and the scores and outcomes of the `reported` cells by slices of the corpus and
    /// by each `--by` field.
    pub fn score(
        &self,
        evidence: &impl AnyEvidence,
        reported: &[usize],
        by: &[String],
        csv: bool,
    ) -> RunResult<ScoringResult> {
        let scoring = ScoringRequest {
            evidence,
            judge: &self.judge,
            units: &self.units,
            worth: &self.worth,
            enough: FEWEST_LOOPS,
            reported,
            by,
            resampling: Resampling {
                seed: self.run.manifest.seed,
                ..Resampling::default()
            },
            csv,
        };
        let dir = self.run.folder.path();
        let scored = write_scores(dir, &scoring)?;
        if !reported.is_empty() {
            write_outcomes(dir, evidence, reported, by, &self.judge, csv)?;
        }
        Ok(scored)
    }

    /// Returns the means over models of the metrics of some cells.
    pub fn means(&self, evidence: &impl AnyEvidence, cells: &[usize]) -> MacroMeans {
        let means = |cell: &usize| {
            let means = macro_means(evidence, *cell, &self.judge, &self.worth);
            (evidence.plan().id(*cell), means)
        };
        cells.iter().map(means).collect()
    }

    /// Records in the manifest the models that the tables left out, and the means over models.
    pub fn note(&mut self, scored: ScoringResult, means: MacroMeans) {
        self.run.manifest.models_left_out = scored.left_out;
        self.run.manifest.macro_means = means;
    }

    /// Ends the run like [`AnsweredRun::finish`].
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    pub fn finish(
        self,
        result: RunResult,
        text: TextDocument,
        host: &dyn Host,
    ) -> RunResult<FolderAnswer> {
        let Self {
            mut run, failed, ..
        } = self;
        // The report reads only files, so the cases are freed first.
        run.surveyed.cases = PackedCases::default();
        run.finish(result.and(failed.map_or(Ok(()), Err)), text, host)
    }
}

/// The mean of each metric over models, by setting id and metric name.
pub type MacroMeans = BTreeMap<String, BTreeMap<String, f64>>;

/// Adds a name for a cell to the manifest. A cell may have several names.
pub fn name(manifest: &mut Manifest, plan: &Plan, cell: usize, name: &str) {
    let names: &mut BTreeMap<String, Vec<String>> = &mut manifest.settings;
    let of = names.entry(plan.id(cell)).or_default();
    if !of.iter().any(|known| known == name) {
        of.push(name.into());
    }
}
