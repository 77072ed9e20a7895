//! A corpus counted: [`CorpusCounts`] of a group of transcripts, of all of them and by what they can be grouped by.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use deadloop_detect::{Kind, Unit};
use deadloop_score::{Case, Class, wrong_rate};
use serde_json::{Map, Value, json};

mod histogram;

pub use histogram::{Histogram, LENGTHS, PERIODS};

use crate::evidence::LabelEvidence;
use crate::failure::RunResult;
use crate::host::Alone;
use crate::survey::{Surveyed, Wanted, open, survey_with};

/// How often each name occurs.
pub type CountedNames = BTreeMap<String, u64>;

/// What is counted for each group of transcripts.
#[derive(Clone)]
pub struct CorpusCounts {
    /// Transcripts.
    pub transcripts: u64,
    /// Chars of reasoning and answer.
    pub chars: u64,
    /// Transcripts that loop.
    pub loops: u64,
    /// Clean transcripts.
    pub clean: u64,
    /// Transcripts with a fault.
    pub faults: u64,
    /// Transcripts with a repetition that ends by itself.
    pub transient: u64,
    /// Transcripts without a label, or with the label unsure.
    pub unlabelled: u64,
    /// Tool calls of runs.
    pub calls: u64,
    /// Turns of runs.
    pub turns: u64,
    /// What the labels can prove, for each unit that labels can be in.
    pub evidence: [LabelEvidence; 3],
    /// The kinds of the first loop of each transcript; `unnamed` if the label does not name it.
    pub kinds: CountedNames,
    /// Their languages.
    pub languages: CountedNames,
    /// Why their streams ended.
    pub finishes: CountedNames,
    /// Their lengths, in chars.
    pub lengths: Histogram,
    /// The onset of the first loop of each.
    pub onsets: Histogram,
    /// The period of that loop.
    pub periods: Histogram,
}

impl Default for CorpusCounts {
    fn default() -> Self {
        Self {
            transcripts: 0,
            chars: 0,
            loops: 0,
            clean: 0,
            faults: 0,
            transient: 0,
            unlabelled: 0,
            calls: 0,
            turns: 0,
            evidence: Unit::ALL.map(LabelEvidence::new),
            kinds: CountedNames::new(),
            languages: CountedNames::new(),
            finishes: CountedNames::new(),
            lengths: Histogram::new(LENGTHS),
            onsets: Histogram::new(LENGTHS),
            periods: Histogram::new(PERIODS),
        }
    }
}

/// Stands for a value that the recording does not have.
pub const NONE: &str = "-";
/// Stands for the kind of a loop that the label does not name.
pub const UNNAMED: &str = "unnamed";

impl CorpusCounts {
    /// Adds a case, and the reason why its stream ended.
    pub fn add(&mut self, case: &Case, finish: &str) {
        let length = case.timeline.length();
        let chars = length.reasoning.0 + length.answer.0;
        self.transcripts += 1;
        self.chars += chars;
        self.lengths.add(chars);
        self.calls += length.tools.0;
        self.turns += length.turns.0;
        self.evidence.iter_mut().for_each(|e| e.add(case));
        match case.class() {
            Some(Class::Transient) => self.transient += 1,
            Some(Class::Unsure) | None => self.unlabelled += 1,
            Some(Class::Loop) => self.loops += 1,
            Some(Class::Clean) => self.clean += 1,
            Some(Class::Fault) => self.faults += 1,
        }
        if let Some(span) = case.truth.as_ref().and_then(|truth| truth.first_loop()) {
            self.onsets.add(span.onset.count());
            span.period.into_iter().for_each(|p| self.periods.add(p));
            let kind = span.kind.map_or(UNNAMED, Kind::name);
            *self.kinds.entry(kind.into()).or_default() += 1;
        }
        let lang = case.lang.as_deref().unwrap_or(NONE);
        *self.languages.entry(lang.into()).or_default() += 1;
        *self.finishes.entry(finish.into()).or_default() += 1;
    }

    /// Adds what another group counted.
    pub fn merge(&mut self, other: &Self) {
        self.transcripts += other.transcripts;
        self.chars += other.chars;
        self.loops += other.loops;
        self.clean += other.clean;
        self.faults += other.faults;
        self.transient += other.transient;
        self.unlabelled += other.unlabelled;
        self.calls += other.calls;
        self.turns += other.turns;
        let evidence = self.evidence.iter_mut().zip(other.evidence);
        evidence.for_each(|(own, more)| own.merge(more));
        let names = [
            (&mut self.kinds, &other.kinds),
            (&mut self.languages, &other.languages),
            (&mut self.finishes, &other.finishes),
        ];
        for (own, more) in names {
            more.iter()
                .for_each(|(name, n)| *own.entry(name.clone()).or_default() += n);
        }
        self.lengths.merge(&other.lengths);
        self.onsets.merge(&other.onsets);
        self.periods.merge(&other.periods);
    }

    /// All of it, for programs.
    pub fn json(&self) -> Value {
        let [chars, ..] = self.evidence;
        let by_unit = self.evidence.iter().filter(|e| e.labelled() > 0).map(|e| {
            let provable = json!({
                "loops": e.loops, "clean": e.clean, "exposure": e.exposure,
                "provable_recall": e.recall(), format!("provable_{}", wrong_rate(e.unit).name): e.rate(),
            });
            (e.unit.name().to_owned(), provable)
        });
        json!({
            "transcripts": self.transcripts, "chars": self.chars, "calls": self.calls, "turns": self.turns,
            "units": by_unit.collect::<Map<_, _>>(),
            "loops": self.loops, "clean": self.clean, "faults": self.faults, "clean_chars": chars.exposure,
            "transient": self.transient, "unlabelled": self.unlabelled,
            "kinds": self.kinds, "languages": self.languages, "finishes": self.finishes,
            "lengths": self.lengths.json(), "onsets": self.onsets.json(),
            "periods": self.periods.json(), "provable_recall": chars.recall(),
            "provable_fa_per_mchar": chars.rate(),
        })
    }
}

/// A way of grouping transcripts: its name, and a function that returns the group of a transcript.
type Grouping = (&'static str, fn(&Case) -> Option<Arc<str>>);

const GROUPINGS: [Grouping; 4] = [
    ("model", |case| Some(case.model.clone())),
    ("language", |case| case.lang.clone()),
    ("split", |case| case.split.clone()),
    ("profile", |case| case.profile.clone()),
];

/// Groups, the largest first.
pub type Groups = Vec<(String, CorpusCounts)>;

/// A corpus counted.
pub struct CountedCorpus {
    /// What is in it.
    pub found: Surveyed,
    /// All of it.
    pub all: CorpusCounts,
    /// By model, language, split and profile.
    pub groups: [(&'static str, Groups); 4],
}

/// Counts a corpus. `skips`: bad lines are left out.
///
/// # Errors
/// The corpus cannot be read, is not whole and nothing skips that, or nothing is selected.
pub fn counted(wanted: Wanted<'_>, skips: bool) -> RunResult<CountedCorpus> {
    let corpus = open(wanted.path)?;
    let (found, finishes) = survey_with(corpus, wanted, |entry, _| {
        entry.transcript.finish_reason().unwrap_or(NONE).to_owned()
    })?;
    found.accept(skips, &Alone::default())?;
    let mut all = CorpusCounts::default();
    let cases = found.cases.iter().zip(&finishes);
    cases.for_each(|(case, finish)| all.add(case, finish));
    let groups = GROUPINGS.map(|(name, of)| (name, grouped(&found.cases, &finishes, of)));
    Ok(CountedCorpus { found, all, groups })
}

impl CountedCorpus {
    /// All of it, for programs.
    pub fn json(&self) -> Value {
        let Self { found, all, groups } = self;
        let of = |groups: &Groups| -> Map<String, Value> {
            let rows = groups.iter();
            rows.map(|(name, c)| (name.clone(), c.json())).collect()
        };
        let by: Map<String, Value> = groups
            .iter()
            .map(|(name, groups)| ((*name).into(), of(groups).into()))
            .collect();
        json!({"hash": found.hash, "all": all.json(), "by": by})
    }
}

fn grouped(cases: &[Case], finishes: &[String], of: fn(&Case) -> Option<Arc<str>>) -> Groups {
    let mut groups: BTreeMap<Arc<str>, CorpusCounts> = BTreeMap::new();
    for (case, finish) in cases.iter().zip(finishes) {
        let group = of(case).unwrap_or_else(|| NONE.into());
        groups.entry(group).or_default().add(case, finish);
    }
    let named = |(name, counts): (Arc<str>, CorpusCounts)| (name.to_string(), counts);
    let mut groups: Groups = groups.into_iter().map(named).collect();
    groups.sort_by_key(|(_, counts)| Reverse(counts.transcripts));
    groups
}
