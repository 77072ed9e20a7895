//! A corpus checked: everything that is wrong with it, and what makes numbers lie. Each kind of finding is an
//! entry of `CHECKS`, with why it matters and what to do about it.
//!
//! To add one: a file beside this one with an `ENTRY`, and two lines here.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::Path;

use deadloop_corpus::{Cluster, Corpus, CorpusError, Entry, Place, Problem, Selection, Sketch};
use deadloop_detect::Channel;
use deadloop_score::Case;
use serde_json::{Value, json};

use crate::failure::RunResult;
use crate::host::Host;
use crate::survey::{Surveyed, Wanted, survey_with, unopened};

mod clean;
mod clock;
mod copies;
mod counted_once;
mod counts;
mod duplicates;
mod finished;
mod gaps;
mod label_fields;
mod late_earliest;
mod lead_in;
mod one_class;
mod onset;
mod order;
mod pairs;
mod too_few;
mod torn;
mod whole;
mod wordless;

pub use counts::CorpusCounts;

/// The registry, worst first.
static CHECKS: [&CorpusCheck; 24] = [
    &whole::ENTRY,
    &torn::ENTRY,
    &duplicates::ACROSS_SPLITS,
    &duplicates::ACROSS_GROUPS,
    &counted_once::ENTRY,
    &onset::ENTRY,
    &lead_in::ENTRY,
    &late_earliest::ENTRY,
    &clean::ENTRY,
    &finished::ENTRY,
    &clock::ENTRY,
    &pairs::UNPAIRED,
    &too_few::FOR_A_CLAIM,
    &too_few::FOR_A_MODEL,
    &one_class::ENTRY,
    &duplicates::IN_A_GROUP,
    &wordless::ENTRY,
    &label_fields::ENTRY,
    &pairs::UNSAID,
    &order::ENTRY,
    &gaps::UNLABELLED,
    &gaps::UNGROUPED,
    &gaps::UNSPLIT,
    &gaps::UNTIMED,
];

deadloop_detect::words! {
    /// How bad a finding is.
    pub enum Severity {
        /// The corpus is not whole: nothing is scored on it.
        Error = "error",
        /// Numbers come out, and are wrong.
        Warning = "warning",
        /// What the numbers cannot say.
        Note = "note",
    }
}

/// A kind of finding.
pub struct CorpusCheck {
    /// What it is called in `--json`.
    pub name: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What is found, as a heading.
    pub title: &'static str,
    /// Why it makes numbers lie.
    pub why: &'static str,
    /// What to do about it.
    pub advice: &'static str,
    find: Find,
}

/// How findings of a kind are made.
enum Find {
    /// From one transcript with its text, on any thread.
    Text(fn(&Exhibit<'_>) -> Option<String>),
    /// From all that was seen, without texts.
    Corpus(fn(&CheckSeen) -> Vec<Finding>),
}

/// One thing found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finding {
    /// The file and line, where there is one.
    pub place: Option<Place>,
    /// The transcripts that it is about; may be none.
    pub transcripts: Vec<String>,
    /// What it is.
    pub what: String,
}

impl Finding {
    /// About no transcript in particular.
    fn general(what: String) -> Self {
        Self {
            what,
            ..Self::default()
        }
    }
}

/// A transcript with its text and its label.
struct Exhibit<'a> {
    entry: &'a Entry,
    case: &'a Case,
    /// Made where a check looks into them: they take four times the memory of the text.
    reasoning: OnceCell<Vec<char>>,
    answer: OnceCell<Vec<char>>,
}

impl Exhibit<'_> {
    /// The text of a channel; empty for a channel that is not text.
    fn text(&self, channel: Channel) -> &[char] {
        let said = &self.entry.transcript;
        match channel {
            Channel::Reasoning => self
                .reasoning
                .get_or_init(|| said.reasoning().chars().collect()),
            Channel::Answer => self.answer.get_or_init(|| said.answer().chars().collect()),
            Channel::Arguments | Channel::Tools | Channel::Turns => &[],
        }
    }
}

/// What one look at a transcript's text leaves.
struct Glance {
    place: Place,
    sketch: Option<Sketch>,
    /// What the text checks found, by their place in the registry.
    found: BTreeMap<usize, String>,
}

/// Looks at one transcript.
fn glance(entry: &Entry, case: &Case) -> Glance {
    let exhibit = Exhibit {
        entry,
        case,
        reasoning: OnceCell::new(),
        answer: OnceCell::new(),
    };
    let found = CHECKS
        .iter()
        .enumerate()
        .filter_map(|(place, check)| match check.find {
            Find::Text(find) => Some((place, find(&exhibit)?)),
            Find::Corpus(_) => None,
        });
    Glance {
        place: entry.place.clone(),
        sketch: duplicates::sketch(entry, case),
        found: found.collect(),
    }
}

/// All that is known of a corpus when every transcript was looked at.
pub struct CheckSeen {
    /// What is known of each transcript.
    pub cases: Vec<Case>,
    /// One a case.
    glances: Vec<Glance>,
    /// What keeps it from being scored.
    pub problems: Vec<Problem>,
    /// Near-duplicates, by the places of their cases.
    clusters: Vec<Cluster>,
}

impl CheckSeen {
    /// A finding about one transcript.
    fn about(&self, case: usize, what: String) -> Finding {
        Finding {
            place: Some(self.glances[case].place.clone()),
            transcripts: vec![self.cases[case].id.to_string()],
            what,
        }
    }

    /// Every finding, by check, in the order of the registry; checks without one are left out.
    pub fn findings(&self) -> Vec<(&'static CorpusCheck, Vec<Finding>)> {
        let all = CHECKS.iter().enumerate().map(|(place, check)| {
            let findings = match check.find {
                Find::Corpus(find) => find(self),
                Find::Text(_) => self.of_texts(place),
            };
            (*check, findings)
        });
        all.filter(|(_, findings)| !findings.is_empty()).collect()
    }

    fn of_texts(&self, check: usize) -> Vec<Finding> {
        let found = self.glances.iter().enumerate();
        let found = found.filter_map(|(case, glance)| Some((case, glance.found.get(&check)?)));
        found
            .map(|(case, what)| self.about(case, what.clone()))
            .collect()
    }
}

/// Reads a corpus, and near-duplicates once more. The cases are in [`CheckSeen`].
///
/// # Errors
/// The corpus cannot be opened, the machine could not read all of it, or the host stopped it.
pub fn look(path: &Path, host: &dyn Host) -> RunResult<(Surveyed, CheckSeen)> {
    let (corpus, mut faults) = Corpus::look(path).map_err(unopened)?;
    if let Some(fault) = faults.iter().position(CorpusError::is_of_machine) {
        return Err(unopened(faults.swap_remove(fault)));
    }
    let wanted = Wanted {
        path,
        selection: Selection::default(),
        by: &[],
        entry: None,
        host,
    };
    let (mut surveyed, mut glances) = survey_with(corpus, wanted, glance)?;
    let cases = std::mem::take(&mut surveyed.cases);
    let clusters = duplicates::near_duplicates(&surveyed.corpus, &cases, &mut glances, host)?;
    let problems: Vec<Problem> = faults.into_iter().map(CorpusError::problem).collect();
    let seen = CheckSeen {
        cases,
        glances,
        problems: [problems, std::mem::take(&mut surveyed.problems)].concat(),
        clusters,
    };
    Ok((surveyed, seen))
}

/// How many findings are of this severity.
pub fn count(checks: &[(&CorpusCheck, Vec<Finding>)], severity: Severity) -> u64 {
    let of = checks.iter().filter(|(c, _)| c.severity == severity);
    of.map(|(_, findings)| findings.len() as u64).sum()
}

/// Every finding as an object.
pub fn json(checks: &[(&CorpusCheck, Vec<Finding>)]) -> Vec<Value> {
    let object = |check: &CorpusCheck, finding: &Finding| {
        let place = finding.place.as_ref();
        json!({
            "check": check.name, "severity": check.severity.name(),
            "file": place.map(|p| p.file.display().to_string()), "line": place.map(|p| p.line),
            "transcripts": finding.transcripts, "what": finding.what,
            "why": check.why, "advice": check.advice,
        })
    };
    let checks = checks.iter();
    checks
        .flat_map(|(check, findings)| findings.iter().map(|finding| object(check, finding)))
        .collect()
}
