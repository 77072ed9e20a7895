//! [`Counts`]: what is counted for a group of transcripts.

use std::collections::BTreeMap;

use deadloop_detect::{Kind, Unit};
use deadloop_score::{Case, Class, wrong_rate};
use serde_json::{Map, Value, json};

use super::histogram::{Histogram, LENGTHS, PERIODS};
use crate::evidence::Evidence;

/// How often each name occurs.
pub(super) type Names = BTreeMap<String, u64>;

/// What is counted for each group of transcripts.
#[derive(Clone)]
pub(super) struct Counts {
    pub(super) transcripts: u64,
    pub(super) chars: u64,
    pub(super) loops: u64,
    pub(super) clean: u64,
    pub(super) faults: u64,
    pub(super) transient: u64,
    pub(super) unlabelled: u64,
    /// Tool calls of runs.
    pub(super) calls: u64,
    /// Turns of runs.
    pub(super) turns: u64,
    /// What the labels can prove, for each unit that labels can be in.
    pub(super) evidence: [Evidence; 3],
    /// The kinds of the first loop of each transcript; `unnamed` if the label does not name it.
    pub(super) kinds: Names,
    pub(super) languages: Names,
    pub(super) finishes: Names,
    pub(super) lengths: Histogram,
    pub(super) onsets: Histogram,
    pub(super) periods: Histogram,
}

impl Default for Counts {
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
            evidence: Unit::COUNTED.map(Evidence::new),
            kinds: Names::new(),
            languages: Names::new(),
            finishes: Names::new(),
            lengths: Histogram::new(LENGTHS),
            onsets: Histogram::new(LENGTHS),
            periods: Histogram::new(PERIODS),
        }
    }
}

/// Stands for a value that the recording does not have.
pub(super) const NONE: &str = "-";
/// Stands for the kind of a loop that the label does not name.
pub(super) const UNNAMED: &str = "unnamed";

impl Counts {
    /// Adds a case, and the reason why its stream ended.
    pub(super) fn add(&mut self, case: &Case, finish: &str) {
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

    pub(super) fn merge(&mut self, other: &Self) {
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

    pub(super) fn json(&self) -> Value {
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
