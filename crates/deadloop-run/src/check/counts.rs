//! The counts of a corpus, and the results that its labels can prove.

use std::collections::{BTreeMap, BTreeSet};

use deadloop_detect::Unit;
use deadloop_score::{Case, Class, wrong_rate};
use serde_json::{Map, Value, json};

use crate::check::evidence::LabelEvidence;
use crate::words::{count, number, per, percent, several};

/// The counts of a corpus.
#[derive(Default)]
pub struct CorpusCounts {
    transcripts: u64,
    groups: u64,
    models: u64,
    chars: u64,
    calls: u64,
    turns: u64,
    /// Number of transcripts of each class. `None` is unlabelled or unsure.
    classes: BTreeMap<Option<Class>, u64>,
    /// The label counts of each unit that has labels, with the number of groups of loops and the number of groups of
    /// clean transcripts.
    units: Vec<(LabelEvidence, u64, u64)>,
}

impl CorpusCounts {
    /// Counts the cases of a corpus.
    pub fn from_cases(cases: &[Case]) -> Self {
        let distinct = |of: &dyn Fn(&Case) -> Option<String>| {
            cases.iter().filter_map(of).collect::<BTreeSet<_>>().len() as u64
        };
        let cluster = |case: &Case| case.cluster().to_owned();
        let mut counts = Self {
            transcripts: cases.len() as u64,
            groups: distinct(&|case| Some(cluster(case))),
            models: distinct(&|case| Some(case.model.to_string())),
            ..Self::default()
        };
        for case in cases {
            let length = case.timeline.length();
            counts.chars += length.reasoning.0 + length.answer.0;
            counts.calls += length.tools.0;
            counts.turns += length.turns.0;
            let class = case.class().filter(|class| *class != Class::Unsure);
            *counts.classes.entry(class).or_default() += 1;
        }
        let units = Unit::ALL.map(|unit| {
            let of = |class| {
                distinct(&|case| (case.class_in(unit) == Some(class)).then(|| cluster(case)))
            };
            (
                LabelEvidence::from_cases(cases, unit),
                of(Class::Loop),
                of(Class::Clean),
            )
        });
        let labelled = |(evidence, ..): &(LabelEvidence, u64, u64)| evidence.labelled() > 0;
        counts.units = units.into_iter().filter(labelled).collect();
        counts
    }

    fn class_count(&self, class: Option<Class>) -> u64 {
        self.classes.get(&class).copied().unwrap_or(0)
    }

    /// Formats the totals, and the results that the labels of each unit can prove.
    pub fn lines(&self) -> String {
        let mut lines = vec![format!(
            "{} in {} of {}: {}{}{}",
            several(self.transcripts, "transcript"),
            several(self.groups, "group"),
            several(self.models, "model"),
            several(self.chars, "char"),
            format_count(self.calls, "call"),
            format_count(self.turns, "turn"),
        )];
        let classes = [
            (Some(Class::Loop), "loop"),
            (Some(Class::Clean), "clean"),
            (Some(Class::Transient), "transient"),
            (Some(Class::Fault), "with a fault"),
            (None, "unlabelled"),
        ];
        let classes = classes.map(|(class, word)| (self.class_count(class), word));
        let there = classes.iter().filter(|(n, _)| *n > 0);
        let there: Vec<String> = there
            .map(|(n, word)| format!("{} {word}", count(*n)))
            .collect();
        lines.push(format!("labels: {}", there.join(", ")));
        lines.extend(self.units.iter().map(|(evidence, loops, clean)| {
            let unit = evidence.unit;
            format!(
                "a guard without an error would prove, at 95 % in {unit} (copies count once): recall >= {} ({} in {}), wrong alarms <= {} {} ({} clean {unit} in {})",
                percent(evidence.provable_recall()),
                several(evidence.loops, "loop"),
                several(*loops, "group"),
                number(evidence.provable_rate(), 2),
                per(unit),
                count(evidence.exposure),
                several(*clean, "group"),
            )
        }));
        lines.join("\n")
    }

    /// Returns the counts as JSON.
    pub fn json(&self) -> Value {
        let units = self.units.iter().map(|(evidence, loops, clean)| {
            let counts = json!({
                "loops": evidence.loops, "loop_groups": loops, "clean": evidence.clean, "clean_groups": clean,
                "exposure": evidence.exposure, "provable_recall": evidence.provable_recall(),
                format!("provable_{}", wrong_rate(evidence.unit).name): evidence.provable_rate(),
            });
            (evidence.unit.name().to_owned(), counts)
        });
        json!({
            "groups": self.groups, "models": self.models, "chars": self.chars, "calls": self.calls, "turns": self.turns,
            "loops": self.class_count(Some(Class::Loop)), "clean": self.class_count(Some(Class::Clean)),
            "transient": self.class_count(Some(Class::Transient)), "faults": self.class_count(Some(Class::Fault)),
            "unlabelled": self.class_count(None), "units": units.collect::<Map<_, _>>(),
        })
    }
}

/// Formats a count as `, 3 calls`, or as an empty string for 0.
fn format_count(n: u64, what: &str) -> String {
    match n {
        0 => String::new(),
        n => format!(", {}", several(n, what)),
    }
}
