//! [`replay`]: the guards of a plan over a corpus, and from what they say to the files of a result folder ([`Replayed`]).

use std::collections::BTreeMap;
use std::path::Path;

use deadloop_corpus::Entry;
use deadloop_detect::harness::DETECTORS;
use deadloop_detect::{Settings, Unit};
use deadloop_replay::{Decided, Entered, Plan, PlanGuards, Programs, Record};
use deadloop_score::choose::FEWEST_LOOPS;
use deadloop_score::{
    About, AnyEvidence, Case, Count, Floor, JudgeOptions, Manifest, Mismatch,
    PackedCases, PackedEvidence, PackedRecords, Prices, Resampling, Scored, Scoring, Tally, Worth,
    beside_floors, macro_means, unpacked, write_cases, write_intervals, write_outcomes,
    write_scores, write_scores_by,
};

use crate::asking::{Answered, Asked, Opened};
use crate::failure::{Code, Failure, RunResult};
use crate::folder::Folder;
use crate::notice::noticed;
use crate::own_limits::{self, OwnLimits};
use crate::programs::{self, Errors};
use crate::request::Request;
use crate::sharding::{self, Written};
use crate::units::{of_choice_first, other_unit};

/// How a request ended.
pub enum Done<R> {
    /// The folder holds the result of the same request already.
    Already(Folder, Box<Manifest>),
    /// A part was written, or was there: one shard was asked for.
    Part(Written),
    /// It was carried out.
    Ran(Box<R>),
}

impl<R> Done<R> {
    /// What is made of a run that was carried out.
    ///
    /// # Errors
    /// Those of `make`.
    pub(crate) fn then<T>(self, make: impl FnOnce(R) -> RunResult<T>) -> RunResult<Done<T>> {
        Ok(match self {
            Self::Already(folder, manifest) => Done::Already(folder, manifest),
            Self::Part(part) => Done::Part(part),
            Self::Ran(run) => Done::Ran(Box::new(make(*run)?)),
        })
    }
}

/// A request that was carried out: everything but the scoring.
pub struct Replayed {
    /// The folder, the corpus as it was looked through, and what the folder will say of the run.
    pub run: Answered<PackedCases>,
    /// What every setting said, a record a transcript.
    pub records: PackedRecords,
    /// How alarms are judged.
    pub judge: JudgeOptions,
    /// The units that have rows in the tables of scores, that of choice first.
    units: Vec<Unit>,
    /// What errors cost.
    pub worth: Worth,
    chunks: Option<u64>,
    /// Why nothing could be scored, where the detectors failed on every transcript.
    failed: Option<Failure>,
}

/// Checks everything, proves the folder writable, reads the corpus, replays it through the plan. `current` is the setting in
/// use: what production knows of itself stands there.
///
/// # Errors
/// The corpus is not whole, nothing is selected, the folder holds something else, a program fails, somebody stopped it.
pub fn replay(request: &Request<'_>, plan: &Plan, current: &Settings) -> RunResult<Done<Replayed>> {
    let start = || programs::start(plan, request.host);
    let chunks = request.judging.chunks;
    if let Some(shard) = request.shard {
        let guards = |programs| PlanGuards {
            plan,
            programs,
            chunks,
        };
        return sharding::write(request, shard, &guards(&start()?)).map(Done::Part);
    }
    let look = |entry: &Entry, _: &Case| own_limits::of(entry);
    let (mut opened, limits) = Opened::of(request, plan.fingerprint(), &|_| None, look)?;
    let cases: &mut PackedCases = &mut opened.surveyed.cases;
    alter(cases, plan, request.judging.prices.as_ref());
    let judge = request.judging.options_for(cases)?;
    if request.unit.is_some_and(|unit| unit != judge.unit) {
        return Err(other_unit(judge.unit));
    }
    let worth = request.judging.worth(current, cases, judge.unit);
    let programs = match request.parts {
        None => start()?,
        Some(_) => Programs::default(),
    };
    let guards = PlanGuards {
        plan,
        programs: &programs,
        chunks,
    };
    let (mut records, mut errors) = (PackedRecords::default(), Errors::default());
    let mut keep = |Entered { transcript, said }: Entered<Vec<Decided>>| {
        errors.add(&transcript, &said);
        records.push(&said);
    };
    let more = vec![
        format!("{judge:?} {worth:?} {chunks:?}"),
        format!("{:?} {:?}", request.judging.price, request.judging.prices),
    ];
    let mut run = match opened.ask(&guards, more, &mut keep)? {
        Asked::Already(folder, manifest) => return Ok(Done::Already(folder, manifest)),
        Asked::Answered(run) => *run,
    };
    for remark in own_limits::remarks(current, &OwnLimits::of(&limits)) {
        request.host.tell(&remark);
    }
    errors.tell(request.host);
    describe(&mut run.manifest, plan, (judge, worth));
    Ok(Done::Ran(Box::new(Replayed {
        units: of_choice_first(&run.surveyed.cases, judge.unit),
        failed: errors.on_all().map(|what| Code::Unexpected.error(what)),
        run,
        records,
        judge,
        worth,
        chunks: chunks.map(u64::from),
    })))
}

/// Makes faults the truth for detectors that notice them, and applies prices.
fn alter(cases: &mut PackedCases, plan: &Plan, prices: Option<&Prices>) {
    if let Some(kinds) = noticed(cases, plan) {
        cases.alter(|case| case.notice(&kinds));
    }
    if let Some(prices) = prices {
        cases.alter(|case| case.price(prices));
    }
}

/// Adds to a manifest what is true of guards alone.
fn describe(manifest: &mut Manifest, plan: &Plan, (judge, worth): (JudgeOptions, Worth)) {
    let versions = DETECTORS.iter();
    manifest.detectors = versions
        .map(|d| (d.name.into(), u64::from(d.version)))
        .collect();
    manifest.judge = judge;
    manifest.worth = worth;
    manifest.cells = plan.listed_cells() as u64;
    let refused = plan.refused();
    let refused = refused.iter();
    manifest.refused = refused
        .map(|r| (format!("{}: {}", r.param, r.reason), r.cells as u64))
        .collect();
}

impl Replayed {
    /// What is true and what every setting said, as it is held: for tables that are made case by case.
    ///
    /// # Errors
    /// `plan` is another one than that of the run.
    pub fn evidence<'a>(&'a self, plan: &'a Plan) -> Result<PackedEvidence<'a>, Mismatch> {
        PackedEvidence::new(plan, &self.run.surveyed.cases, &self.records)
    }

    /// The same as a case and a record a transcript, to be held side by side: for whoever looks at them again and
    /// again. Some kilobytes a transcript.
    pub fn unpacked(&self, plan: &Plan) -> (Vec<Case>, Vec<Record>) {
        let cases = self.run.surveyed.cases.unpacked();
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
                seed: self.run.manifest.seed,
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
            enough: FEWEST_LOOPS,
            reported,
            resampling: Resampling {
                seed: self.run.manifest.seed,
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
        by: &[String],
        csv: bool,
    ) -> RunResult<Scored> {
        let floors = self.floors(evidence, current);
        let scoring = self.scoring(evidence, &floors, reported, csv);
        let dir = self.run.folder.path();
        let mut scored = write_scores(dir, &scoring)?;
        scored.beside_floors = beside_floors(&scoring, reported);
        if !reported.is_empty() {
            write_scores_by(dir, &scoring, reported, by)?;
            write_outcomes(dir, evidence, reported, &self.judge, csv)?;
            let names = &self.run.manifest.settings;
            let about = About {
                judge: self.judge,
                chunks: self.chunks,
                ..About::of(evidence.plan(), reported, evidence.cases(), names)
            };
            write_cases(dir, &about, evidence.cases())?;
        }
        Ok(scored)
    }

    /// Writes the intervals that have to be resampled; returns the means over models.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn intervals(&self, evidence: &impl AnyEvidence, cells: &[usize]) -> RunResult<MacroMeans> {
        let scoring = self.scoring(evidence, &[], cells, false);
        let all = [("*".to_owned(), evidence.every())];
        write_intervals(self.run.folder.path(), &scoring, cells, &all)?;
        let means = |cell: &usize| {
            let means = macro_means(evidence, *cell, &self.judge, &self.worth);
            (evidence.plan().id(*cell), means)
        };
        Ok(cells.iter().map(means).collect())
    }

    /// Notes in the manifest what the tables left out, and what stands beside them.
    pub fn note(&mut self, scored: Scored, means: MacroMeans) {
        self.run.manifest.models_left_out = scored.left_out;
        self.run.manifest.beside_floors = scored.beside_floors;
        self.run.manifest.macro_means = means;
    }

    /// What `--json` will say, besides the folder.
    pub fn sum_up(&mut self, summary: serde_json::Value) {
        if let serde_json::Value::Object(summary) = summary {
            self.run.manifest.summary = summary;
        }
    }

    /// Ends the run as [`Answered::finish`] does.
    ///
    /// # Errors
    /// `result`, or the detectors failed on every transcript; a file cannot be written.
    pub fn finish(
        self,
        result: RunResult,
        report: impl FnOnce(&Path, &Manifest) -> RunResult,
    ) -> RunResult {
        let Self {
            mut run, failed, ..
        } = self;
        // The report works from the files: what they were made from need not be there twice.
        run.surveyed.cases = PackedCases::default();
        run.finish(result.and(failed.map_or(Ok(()), Err)), report)
    }
}

/// Means over models: setting, then metric.
pub type MacroMeans = BTreeMap<String, BTreeMap<String, f64>>;

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
