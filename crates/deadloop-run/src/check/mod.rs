//! [`check`]: checks a corpus for errors and for causes of misleading figures.
//!
//! Each check is an entry of `CHECKS`, with the reason why it matters and the remedy. To add a check, add a file beside
//! this one with an `ENTRY`, and three lines here.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::path::Path;

use deadloop_corpus::{Body, Cluster, Corpus, CorpusError, Entry, Place, Problem, Sketch};
use deadloop_detect::Channel;
use deadloop_score::Case;
use serde_json::{Value, json};

use crate::corpus::survey::{CorpusSurvey, SurveyRequest, open_failure, survey_with};
use crate::failure::RunResult;
use crate::host::Host;
use crate::option::RunOption;

mod answer;
mod claims;
mod clean;
mod clock;
mod copies;
mod counted_once;
mod counts;
mod duplicates;
mod endless_loops;
mod evidence;
mod fatal_problems;
mod gaps;
mod label_fields;
mod late_earliest;
mod lead_in;
mod listing;
mod numbers;
mod one_class;
mod onset;
mod order;
mod pairs;
mod split_groups;
mod too_few;
mod wordless;

pub use answer::{CheckAnswer, CheckOptions, check};
pub use claims::{ClaimVerdict, JudgedClaim};
pub use counts::CorpusCounts;

/// The registry of checks, the most severe first.
static CHECKS: [&CorpusCheck; 25] = [
    &fatal_problems::ENTRY,
    &split_groups::ENTRY,
    &duplicates::SPLIT_DUPLICATES,
    &duplicates::GROUP_DUPLICATES,
    &counted_once::ENTRY,
    &onset::ENTRY,
    &lead_in::ENTRY,
    &late_earliest::ENTRY,
    &clean::ENTRY,
    &endless_loops::ENTRY,
    &clock::ENTRY,
    &pairs::UNPAIRED_CALLS,
    &too_few::FEW_LABELS,
    &too_few::FEW_MODEL_LABELS,
    &one_class::ENTRY,
    &duplicates::IN_GROUP_DUPLICATES,
    &wordless::ENTRY,
    &numbers::ENTRY,
    &label_fields::ENTRY,
    &pairs::INCOMPLETE_CALLS,
    &order::ENTRY,
    &gaps::UNLABELLED,
    &gaps::UNGROUPED,
    &gaps::UNSPLIT,
    &gaps::UNTIMED,
];

deadloop_detect::words! {
    /// The severity of a finding.
    pub enum Severity {
        /// The corpus cannot be scored.
        Error = "error",
        /// Figures may be wrong.
        Warning = "warning",
        /// Figures are limited in what they can prove.
        Note = "note",
    }
}

/// A check, which reports one kind of finding.
pub struct CorpusCheck {
    /// The name in `--json`.
    pub name: &'static str,
    /// The severity of its findings.
    pub severity: Severity,
    /// The heading of the findings.
    pub title: &'static str,
    /// The reason why a finding of this kind makes figures misleading.
    pub why: &'static str,
    /// The advice to the user.
    pub advice: CheckAdvice,
    find: CheckFn,
}

/// The advice of a check to the user.
pub enum CheckAdvice {
    /// Advice without an option.
    Plain(&'static str),
    /// Advice with an option that implements it.
    With(&'static str, RunOption),
}

impl Display for CheckAdvice {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(advice) => f.write_str(advice),
            Self::With(advice, option) => write!(f, "{advice} ({option})"),
        }
    }
}

/// The function of a check, by its input.
enum CheckFn {
    /// A function of one transcript with its text, called on any thread.
    Text(fn(&CheckedTranscript<'_>) -> Option<String>),
    /// A function of the whole corpus, without texts.
    Corpus(fn(&CheckedCorpus) -> Vec<Finding>),
}

/// A single finding of a check.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finding {
    /// The file and line of the transcript, if the finding has one.
    pub place: Option<Place>,
    /// The ids of the transcripts concerned, possibly none.
    pub transcripts: Vec<String>,
    /// The description of the finding.
    pub what: String,
}

impl Finding {
    /// Returns the finding of a check as a JSON object.
    fn to_json(&self, check: &CorpusCheck) -> Value {
        let place = self.place.as_ref();
        json!({
            "check": check.name, "severity": check.severity.name(),
            "file": place.map(|p| p.file.display().to_string()), "line": place.map(|p| p.line),
            "transcripts": self.transcripts, "what": self.what,
            "why": check.why, "advice": check.advice.to_string(),
        })
    }

    /// Creates a finding about no particular transcript.
    fn without_transcript(what: String) -> Self {
        Self {
            what,
            ..Self::default()
        }
    }
}

/// A transcript under check, with its text and its label.
struct CheckedTranscript<'a> {
    entry: &'a Entry,
    case: &'a Case,
    /// The chars of the reasoning, decoded only if a check reads them, since chars take four times the memory of the
    /// text.
    reasoning: OnceCell<Vec<char>>,
    answer: OnceCell<Vec<char>>,
}

impl CheckedTranscript<'_> {
    /// Returns the text of a channel. Empty for a channel that is not text.
    fn text(&self, channel: Channel) -> &[char] {
        let text = &self.entry.transcript;
        match channel {
            Channel::Reasoning => self
                .reasoning
                .get_or_init(|| text.reasoning().chars().collect()),
            Channel::Answer => self.answer.get_or_init(|| text.answer().chars().collect()),
            Channel::Arguments | Channel::Tools | Channel::Turns => &[],
        }
    }
}

/// The findings on one transcript, and its sketch.
struct TranscriptFindings {
    place: Place,
    sketch: Option<Sketch>,
    /// The findings of the text checks, by the index of the check in the registry.
    found: BTreeMap<usize, String>,
    /// The number of chars in texts with recorded tokens, and the number of these tokens.
    chars_and_tokens: [u64; 2],
}

/// Runs the text checks on one transcript.
fn check_texts(entry: &Entry, case: &Case) -> TranscriptFindings {
    let checked_text = CheckedTranscript {
        entry,
        case,
        reasoning: OnceCell::new(),
        answer: OnceCell::new(),
    };
    let found = CHECKS
        .iter()
        .enumerate()
        .filter_map(|(place, check)| match check.find {
            CheckFn::Text(find) => Some((place, find(&checked_text)?)),
            CheckFn::Corpus(_) => None,
        });
    let mut counted = [0, 0];
    for event in &entry.transcript.events {
        if let (Body::Reasoning(text) | Body::Answer(text), Some(n)) = (&event.body, event.tokens) {
            counted[0] += text.chars().count() as u64;
            counted[1] += n;
        }
    }
    TranscriptFindings {
        place: entry.place.clone(),
        sketch: duplicates::sketch_if_long(entry, case),
        found: found.collect(),
        chars_and_tokens: counted,
    }
}

/// The cases of a checked corpus, with the findings on them.
pub(crate) struct CheckedCorpus {
    /// The cases of the corpus.
    pub cases: Vec<Case>,
    /// The findings on each case.
    checked: Vec<TranscriptFindings>,
    /// The problems that keep the corpus from being scored.
    pub problems: Vec<Problem>,
    /// The clusters of near-duplicates, which hold case indices.
    clusters: Vec<Cluster>,
}

impl CheckedCorpus {
    /// Creates a finding about the case with index `case`.
    fn finding_on(&self, case: usize, what: String) -> Finding {
        Finding {
            place: Some(self.checked[case].place.clone()),
            transcripts: vec![self.cases[case].id.to_string()],
            what,
        }
    }

    /// Returns the mean number of chars in a token by language, from texts with recorded tokens.
    fn chars_per_token(&self) -> BTreeMap<String, f64> {
        let mut sums = BTreeMap::<&str, [u64; 2]>::new();
        for (case, glance) in self.cases.iter().zip(&self.checked) {
            let lang = case.lang.as_deref().unwrap_or("unknown");
            let [chars, tokens] = sums.entry(lang).or_default();
            *chars += glance.chars_and_tokens[0];
            *tokens += glance.chars_and_tokens[1];
        }
        sums.retain(|_, [_, tokens]| *tokens > 0);
        let ratio = |[chars, tokens]: [u64; 2]| chars as f64 / tokens as f64;
        sums.into_iter()
            .map(|(lang, of)| (lang.to_owned(), ratio(of)))
            .collect()
    }

    /// Returns the findings of each check, in the order of the registry. Checks without a finding are left out.
    fn findings(&self) -> Vec<(&'static CorpusCheck, Vec<Finding>)> {
        let all = CHECKS.iter().enumerate().map(|(place, check)| {
            let findings = match check.find {
                CheckFn::Corpus(find) => find(self),
                CheckFn::Text(_) => self.text_findings(place),
            };
            (*check, findings)
        });
        all.filter(|(_, findings)| !findings.is_empty()).collect()
    }

    fn text_findings(&self, check: usize) -> Vec<Finding> {
        let found = self.checked.iter().enumerate();
        let found = found.filter_map(|(case, glance)| Some((case, glance.found.get(&check)?)));
        found
            .map(|(case, what)| self.finding_on(case, what.clone()))
            .collect()
    }
}

/// Reads and checks a corpus. Possible near-duplicates are read a second time. The cases are moved from the survey to
/// the [`CheckedCorpus`].
///
/// # Errors
/// Returns an error if the corpus cannot be opened, the machine could not read all of it, or the host stopped it.
fn check_corpus(path: &Path, host: &dyn Host) -> RunResult<(CorpusSurvey, CheckedCorpus)> {
    let (corpus, mut faults) = Corpus::open_damaged(path).map_err(open_failure)?;
    if let Some(fault) = faults.iter().position(CorpusError::is_of_machine) {
        return Err(open_failure(faults.swap_remove(fault)));
    }
    let wanted = SurveyRequest::all(path, host);
    let (mut surveyed, mut checked) = survey_with(corpus, wanted, check_texts)?;
    let cases = std::mem::take(&mut surveyed.cases);
    let clusters = duplicates::near_duplicates(&surveyed.corpus, &cases, &mut checked, host)?;
    let problems: Vec<Problem> = faults.into_iter().map(CorpusError::problem).collect();
    let seen = CheckedCorpus {
        cases,
        checked,
        problems: [problems, std::mem::take(&mut surveyed.problems)].concat(),
        clusters,
    };
    Ok((surveyed, seen))
}
