//! What `replay`, `sweep` and `tune` share: from a plan and a corpus to records, and from records to
//! the files of a result folder.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use deadloop_corpus::{Entry, Selection};
use deadloop_detect::{Settings, Unit};
use deadloop_replay::{Job, Journal, JournalError, Plan, Programs, Ran, Record, RunError, run};
use deadloop_score::{
    About, Case, ChooseOptions, Class, Count, Evidence, Floor, JudgeOptions, Manifest, Resampling,
    Scored, Scoring, Tally, Worth, beside_floors, write_cases, write_outcomes, write_scores,
    write_scores_by,
};

use crate::args::{self, Global, Judge, Output, Select};
use crate::corpus::{Surveyed, Wanted, drop_sealed, open, survey_with};
use crate::exit::{Code, Failure, Outcome};
use crate::folder::{Folder, State, fingerprint};
use crate::manifest::{already_done, manifest, say};
use crate::noticing::notice;
use crate::own_limits;
use crate::programs;
use crate::progress::watched;
use crate::rendering::render;
use crate::sharding;
use crate::show;
use crate::units::{of_choice_first, other_unit};

/// What a command asks for.
pub(crate) struct Request<'a> {
    pub(crate) command: &'static str,
    pub(crate) corpus: &'a Path,
    pub(crate) out: &'a Path,
    pub(crate) select: &'a Select,
    pub(crate) judge: &'a Judge,
    pub(crate) output: &'a Output,
    pub(crate) global: Global,
    /// The files that are read besides the corpus.
    pub(crate) read: Vec<&'a Path>,
    /// Whatever else the result depends on.
    pub(crate) inputs: Vec<String>,
    /// The text of the grid, where there is one.
    pub(crate) grid: Option<String>,
    /// Splits that must not be looked at.
    pub(crate) sealed: Option<&'static str>,
    /// The unit for which grids and limits were made, where they were made by default.
    pub(crate) unit: Option<Unit>,
    /// The command with its options, for the parts of shards.
    pub(crate) asked: serde_json::Value,
}

impl Request<'_> {
    /// The folder, proven writable.
    pub(crate) fn folder(&self) -> Outcome<Folder> {
        let read = std::iter::once(self.corpus).chain(self.read.iter().copied());
        Folder::prepare(self.out, self.output.force, &read.collect::<Vec<_>>())
    }

    /// Which transcripts are meant.
    ///
    /// # Errors
    /// It is the split that must not be looked at.
    pub(crate) fn selection(&self) -> Outcome<Selection> {
        let selection = self.select.selection()?;
        if let Some(sealed) = self
            .sealed
            .filter(|s| selection.split.as_deref() == Some(*s))
        {
            let what = format!(
                "{} never looks at the split {sealed}; score the choice on it with deadloop replay --split {sealed}",
                self.command
            );
            return Err(Code::Usage.error(what));
        }
        Ok(selection)
    }

    /// Whether its report shows text of transcripts.
    pub(crate) fn opens_transcripts(&self) -> bool {
        self.command != "sweep"
    }
}

/// A request that was carried out: everything but the scoring.
pub(crate) struct Replayed {
    pub(crate) folder: Folder,
    pub(crate) surveyed: Surveyed,
    pub(crate) records: Vec<Record>,
    pub(crate) judge: JudgeOptions,
    /// The units that have rows in the tables of scores, that of choice first.
    units: Vec<Unit>,
    pub(crate) worth: Worth,
    pub(crate) manifest: Manifest,
    chunks: Option<u64>,
    journal: Option<Journal>,
    began: Instant,
    /// Why nothing could be scored, where the detectors failed on every transcript.
    failed: Option<Failure>,
}

impl Judge {
    /// How alarms are judged.
    pub(crate) fn options(&self) -> JudgeOptions {
        JudgeOptions {
            unit: self.unit.map_or_else(Unit::default, args::Unit::unit),
            early: self.early,
            deadline: self.deadline,
            grace: self.grace,
            transient: match self.transient {
                args::Transient::Ignore => deadloop_score::Transient::Ignore,
                args::Transient::Clean => deadloop_score::Transient::Clean,
                args::Transient::Loop => deadloop_score::Transient::Loop,
            },
            at: match self.at {
                args::At::Delivered => deadloop_score::At::Delivered,
                args::At::Exact => deadloop_score::At::Exact,
            },
            horizon: self.horizon,
        }
    }

    /// What errors cost, and how often production loops, in the unit of `judge`.
    pub(crate) fn worth(&self, settings: &Settings, cases: &[Case], unit: Unit) -> Worth {
        Worth {
            pi: settings.deployment_loop_rate,
            annoyance: self
                .annoyance
                .map_or_else(|| mean_clean(cases, unit), |n| n as f64),
        }
    }
}

/// The mean length of the clean transcripts, in `unit`; 0 where there is none.
fn mean_clean(cases: &[Case], unit: Unit) -> f64 {
    let is_clean = |case: &&Case| case.class_in(unit) == Some(Class::Clean);
    let clean = cases.iter().filter(is_clean);
    let (n, sum) = clean.fold((0_u64, 0_u64), |(n, sum), case| {
        (n + 1, sum + case.timeline.in_unit(unit))
    });
    if n > 0 { sum as f64 / n as f64 } else { 0.0 }
}

/// Checks everything, proves the folder writable, reads the corpus, replays it through the plan.
/// `None`: the folder holds the result of the same request already, and what it says was said again; or a part was
/// written, for one shard was asked for.
pub(crate) fn replay(
    request: &Request<'_>,
    plan: &Plan,
    current: &Settings,
) -> Outcome<Option<Replayed>> {
    if let Some(shard) = request.output.shard {
        return sharding::write(request, plan, shard).map(|()| None);
    }
    let began = Instant::now();
    let folder = request.folder()?;
    let parts = request.output.parts.as_deref();
    let (mut surveyed, limits, known) = match parts {
        None => look_further(request).map(|(s, limits)| (s, limits, None))?,
        Some(parts) => parts
            .look(request, plan)
            .map(|(s, r)| (s, Vec::new(), Some(r)))?,
    };
    notice(&mut surveyed.cases, plan);
    let judge = request.judge.options_for(&surveyed.cases)?;
    if request.unit.is_some_and(|unit| unit != judge.unit) {
        return Err(other_unit(judge.unit));
    }
    let worth = request.judge.worth(current, &surveyed.cases, judge.unit);
    let running = parts.map_or_else(|| programs::start(plan), |_| Ok(Programs::default()))?;
    let (told, more) = match parts {
        None => (programs::described(&running), programs::inputs(&running)),
        Some(parts) => parts.programs().clone(),
    };
    let given = (plan, more.as_slice(), &surveyed);
    let inputs = fingerprint(&inputs(request, given, &judge, &worth));
    if let State::Done(manifest) = folder.state(&inputs)? {
        return already_done(&folder, &manifest, request.global).map(|()| None);
    }
    surveyed.accept(request.select.on_bad, request.global.quiet)?;
    if !request.global.quiet {
        surveyed.tell_absent(&request.output.by);
        let remarks = own_limits::remarks(current, &limits);
        remarks.iter().for_each(|remark| eprintln!("{remark}"));
    }
    let given = (plan, &running, &surveyed);
    let (records, journal) = match known {
        Some(records) => (records, None),
        None => {
            let ran = records(request, given, (&folder, &inputs))?;
            (ran.records, Some(ran.journal))
        }
    };
    programs::tell_errors(&records, request.global.quiet);
    if let Some(file) = surveyed.stamps.changed() {
        let what = format!(
            "the corpus changed while it was read: {} was written to",
            file.display()
        );
        return Err(Code::Usage.error(what));
    }
    let failed = programs::failed_on_all(&records).map(|what| Code::Unexpected.error(what));
    folder.begin()?;
    surveyed.write_rejected(folder.path())?;
    let manifest = Manifest {
        inputs,
        programs: told,
        ..manifest(request, plan, &surveyed, (&judge, &worth))
    };
    Ok(Some(Replayed {
        units: of_choice_first(&surveyed.cases, judge.unit),
        folder,
        surveyed,
        records,
        judge,
        worth,
        manifest,
        chunks: request.judge.chunks.map(u64::from),
        journal: journal.flatten(),
        began,
        failed,
    }))
}

/// The transcripts that are meant, without those that are sealed.
pub(crate) fn look(request: &Request<'_>) -> Outcome<Surveyed> {
    look_further(request).map(|(surveyed, _)| surveyed)
}

/// The same, and the limit on turns that each had.
fn look_further(request: &Request<'_>) -> Outcome<(Surveyed, Vec<Option<u64>>)> {
    let wanted = Wanted {
        path: request.corpus,
        selection: request.selection()?,
        by: &request.output.by,
        entry: None,
        quiet: request.global.quiet,
    };
    let look = |entry: &Entry, _: &Case| own_limits::of(entry);
    let (mut surveyed, limits) = survey_with(open(request.corpus)?, wanted, look)?;
    let limits = drop_sealed(&mut surveyed, limits, request.sealed);
    Ok((surveyed, limits))
}

/// Everything that the bytes of a result depend on.
fn inputs(
    request: &Request<'_>,
    (plan, programs, surveyed): (&Plan, &[String], &Surveyed),
    judge: &JudgeOptions,
    worth: &Worth,
) -> Vec<String> {
    let select = &request.select;
    let mut parts = vec![
        format!("{} {}", env!("CARGO_PKG_VERSION"), request.command),
        surveyed.hash.clone(),
        plan.fingerprint(),
        format!(
            "{select:?} {judge:?} {worth:?} {:?} {:?}",
            request.judge.chunks, request.output.by
        ),
        format!("{:?}", request.judge.price),
        format!("{} {}", request.output.csv, request.output.no_excerpts),
    ];
    parts.extend(request.inputs.clone());
    parts.extend_from_slice(programs);
    parts
}

fn records(
    request: &Request<'_>,
    (plan, running, surveyed): (&Plan, &Programs, &Surveyed),
    (folder, inputs): (&Folder, &str),
) -> Outcome<Ran> {
    let job = Job {
        corpus: &surveyed.corpus,
        ids: &surveyed.ids(),
        plan,
        programs: running,
        chunks: request.judge.chunks,
    };
    let opened = Journal::open(&folder.journal(), inputs, folder.force());
    let journal = opened.map_err(|e| match e {
        JournalError::OtherInputs(_) | JournalError::Busy(_) => Code::Usage.because(e),
        JournalError::Io(..) => Code::Unexpected.because(e),
    })?;
    let ran = watched("replaying", request.global.quiet, |watch| {
        run(&job, Some(journal), watch)
    });
    ran.map_err(failed)
}

/// The exit code of a run that ended early.
pub(crate) fn failed(error: RunError) -> Failure {
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
    /// The floors: what `current` has to beat.
    fn floors(&self, evidence: &Evidence<'_>, current: Option<usize>) -> Vec<Floor> {
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
        };
        if let Some(current) = current {
            let tally = evidence.tally(current, &evidence.all(), &self.judge);
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
    pub(crate) fn scoring<'a>(
        &'a self,
        evidence: &'a Evidence<'a>,
        floors: &'a [Floor],
        reported: &'a [usize],
        csv: bool,
    ) -> Scoring<'a> {
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
    pub(crate) fn score(
        &self,
        evidence: &Evidence<'_>,
        current: Option<usize>,
        reported: &[usize],
        (by, csv): (&[String], bool),
    ) -> Outcome<Scored> {
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
                ..About::of(evidence.plan, reported, evidence.cases, names)
            };
            write_cases(dir, &about, evidence.cases)?;
        }
        Ok(scored)
    }

    /// What `--json` will say, besides the folder.
    pub(crate) fn sum_up(&mut self, summary: serde_json::Value) {
        if let serde_json::Value::Object(summary) = summary {
            self.manifest.summary = summary;
        }
    }

    /// The manifest last: a folder with one is finished. Then the report, and the journal goes.
    /// `result`: how the command has ended but for that.
    pub(crate) fn finish(mut self, result: Outcome, global: Global) -> Outcome {
        let result = result.and(self.failed.map_or(Ok(()), Err));
        self.manifest.ended = result.as_ref().err().map(Failure::ended);
        self.manifest.files = self.folder.files();
        self.manifest.seconds = self.began.elapsed().as_secs_f64();
        let now = humantime::format_rfc3339_seconds(std::time::SystemTime::now());
        self.manifest.time = now.to_string();
        self.manifest.write(self.folder.path())?;
        // The report works from the files: what they were made from need not be there twice.
        self.surveyed.cases = Vec::new();
        self.records = Vec::new();
        render(
            self.folder.path(),
            &deadloop_report::Options::default(),
            global,
        )?;
        if let Some(journal) = self.journal {
            journal.remove()?;
        }
        let rejected = self.manifest.corpus.rejected;
        if rejected > 0 && !global.quiet && !global.json {
            show::print(&format!(
                "{} rejected: see {}",
                show::several(rejected, "problem"),
                self.folder.path().join("rejected.jsonl").display()
            ))?;
        }
        say(self.folder.path(), &self.manifest, global)?;
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
pub(crate) fn name(manifest: &mut Manifest, plan: &Plan, cell: usize, name: &str) {
    let names: &mut BTreeMap<String, Vec<String>> = &mut manifest.settings;
    let of = names.entry(plan.id(cell)).or_default();
    if !of.iter().any(|known| known == name) {
        of.push(name.into());
    }
}
