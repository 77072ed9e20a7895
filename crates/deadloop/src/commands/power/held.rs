//! How much of the data that a claim or a difference needs is in a corpus.

use std::collections::BTreeSet;
use std::path::Path;

use deadloop_detect::Unit;
use deadloop_run::{Wanted, survey};
use deadloop_score::measure::{FPR, PRECISION};
use deadloop_score::power::{Claim, MOST_ERRORS};
use deadloop_score::{Case, Class, Metric, wrong_rate};
use serde_json::{Value, json};

use crate::args::{Global, Select};
use crate::evidence::LabelEvidence;
use crate::exit::Outcome;
use crate::host::Terminal;
use crate::show;

/// What the labels of a corpus amount to, counted in each unit in which wrong alarms can be counted.
pub(super) struct Held {
    units: Vec<InUnit>,
}

/// The labels, counted in one unit.
struct InUnit {
    evidence: LabelEvidence,
    /// Number of groups with at least one loop.
    looping: usize,
    /// Number of groups with at least one clean transcript.
    clean: usize,
}

/// How much data the corpus has: the number of things counted (loops, clean transcripts, clean
/// chars), and the number of groups they lie in.
#[derive(Clone, Copy)]
pub(super) struct Has {
    size: u64,
    groups: usize,
}

impl Held {
    /// Reads a corpus and counts its labels.
    pub(super) fn of(corpus: &Path, select: &Select, global: Global) -> Outcome<Self> {
        let wanted = Wanted {
            path: corpus,
            selection: select.selection()?,
            by: &[],
            entry: None,
            host: &Terminal::of(global),
        };
        let found = survey(wanted)?;
        found.accept(select.skips(), &Terminal::silent())?;
        let units = Unit::COUNTED.map(|unit| InUnit::of(&found.cases, unit));
        Ok(Self {
            units: units.into(),
        })
    }

    /// Whether the corpus has any label.
    pub(super) fn labelled(&self) -> bool {
        self.units.iter().any(|of| of.evidence.labelled() > 0)
    }

    /// How much data the corpus has for this metric. `None` for precision: it is counted on alarms,
    /// and their number depends on the guard.
    pub(super) fn has(&self, metric: Metric) -> Option<Has> {
        if metric == &PRECISION {
            return None;
        }
        let of_rate = |of: &&InUnit| wrong_rate(of.evidence.unit) == metric;
        if metric.is_wrong_rate() {
            return self.units.iter().find(of_rate).map(|of| Has {
                size: of.evidence.exposure,
                groups: of.clean,
            });
        }
        let most = self
            .units
            .iter()
            .rev()
            .max_by_key(|of| of.evidence.labelled())?;
        Some(if metric == &FPR {
            Has {
                size: most.evidence.clean,
                groups: most.clean,
            }
        } else {
            Has {
                size: most.evidence.loops,
                groups: most.looping,
            }
        })
    }
}

impl InUnit {
    fn of(cases: &[Case], unit: Unit) -> Self {
        let groups = |class: Class| {
            let of_class = cases
                .iter()
                .filter(|case| case.class_in(unit) == Some(class));
            of_class.map(Case::cluster).collect::<BTreeSet<_>>().len()
        };
        Self {
            evidence: LabelEvidence::of(cases, unit),
            looping: groups(Class::Loop),
            clean: groups(Class::Clean),
        }
    }
}

impl Has {
    /// The largest number of errors with which this much data still supports a claim. `None` if it is
    /// too little even without an error.
    fn errors(self, claim: Claim) -> Option<u64> {
        let enough = |errors| claim.need(errors).is_some_and(|size| size <= self.size);
        let (mut most, mut too_many) = (enough(0).then_some(0)?, MOST_ERRORS);
        while most + 1 < too_many {
            let middle = most.midpoint(too_many);
            if enough(middle) {
                most = middle
            } else {
                too_many = middle
            }
        }
        Some(most)
    }

    /// Whether this much data supports a claim, as a sentence and as JSON.
    pub(super) fn of_claim(self, claim: Claim, things: &str, errors: &str) -> (String, Value) {
        let allowed = self.errors(claim);
        let missing = claim.need(0).map(|size| size.saturating_sub(self.size));
        let verdict = match (allowed, missing) {
            (Some(most), _) => format!("enough with at most {} {errors}", show::count(most)),
            (None, Some(more)) => format!("at least {} more are needed", show::count(more)),
            (None, None) => "no corpus is large enough".into(),
        };
        (
            self.sentence(things, &verdict),
            json!({"has": self.size, "groups": self.groups, "errors": allowed, "missing": missing}),
        )
    }

    /// Whether this much data shows a difference, which needs between `least` and `most` things, as a
    /// sentence and as JSON.
    pub(super) fn of_difference(
        self,
        [least, most]: [Option<u64>; 2],
        things: &str,
    ) -> (String, Value) {
        let missing = least.map(|size| size.saturating_sub(self.size));
        let verdict = match (missing, most) {
            (Some(0), Some(most)) if most <= self.size => "enough".to_owned(),
            (Some(0), _) => {
                "enough only if the new setting errs nowhere but where the old one does".to_owned()
            }
            (Some(more), _) => format!("at least {} more are needed", show::count(more)),
            (None, _) => "not enough".to_owned(),
        };
        (
            self.sentence(things, &verdict),
            json!({"has": self.size, "groups": self.groups, "missing": missing}),
        )
    }

    fn sentence(self, things: &str, verdict: &str) -> String {
        let groups = match self.groups {
            1 => "1 group".to_owned(),
            n => format!("{} groups", show::count(n as u64)),
        };
        format!(
            "The corpus has {} {things}, in {groups}: {verdict}.",
            show::count(self.size)
        )
    }
}
