//! Runs pinned cases and compares the verdicts with the expected ones.

pub(crate) mod recorded_case;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use deadloop_corpus::Transcript;
use deadloop_detect::Settings;
use deadloop_replay::{Plan, PlanGuards, Stop, Subject, text_of};
use deadloop_score::{
    Case, CaseEntry, CaseInput, CaseMarks, Expectation, FiredAlarm, LabelsFile, alarm_words,
    parse_pinned,
};
use rayon::prelude::*;

use crate::corpus::survey::open;
use crate::failure::{Code, RunResult};
use crate::host::Host;
use crate::option::CORPUS;
use crate::replay::programs;
use crate::visible::visible;

/// A case and its file.
pub struct PinnedCase {
    /// The file.
    pub file: String,
    /// The case.
    pub pinned: CaseEntry,
}

/// An expectation, compared with the answer of the settings.
pub struct CheckedCase<'a> {
    /// The case.
    pub case: &'a PinnedCase,
    /// The expectation.
    pub expect: &'a Expectation,
    /// The name of the settings, or their id if the expectation names them.
    pub settings: String,
    /// The answer of the settings.
    pub said: PinnedAnswer,
    /// The places in the text.
    pub marks: CaseMarks,
    /// The text around the alarm, or around its expected place.
    pub around: String,
}

/// The alarm, `None` without one, or the error of the detector.
pub type PinnedAnswer = Result<Option<FiredAlarm>, String>;

/// The result of an expectation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PinFinding {
    /// The expectation holds.
    Pass,
    /// The expectation fails.
    Fail,
    /// The expectation fails, and is marked as a todo.
    Todo,
    /// The expectation holds although it is marked as a todo.
    Mended,
}

impl CheckedCase<'_> {
    /// Returns whether the answer meets the expectation.
    pub fn holds(&self) -> bool {
        let holds = |said: &Option<FiredAlarm>| self.expect.holds(&self.marks, *said);
        self.said.as_ref().is_ok_and(holds)
    }

    /// Returns the result of the expectation.
    pub fn finding(&self) -> PinFinding {
        match (self.holds(), self.expect.todo.is_some()) {
            (true, false) => PinFinding::Pass,
            (false, false) => PinFinding::Fail,
            (false, true) => PinFinding::Todo,
            (true, true) => PinFinding::Mended,
        }
    }

    /// Returns the answer in words.
    pub fn describe(&self) -> String {
        describe_answer(&self.said)
    }
}

/// Returns an answer in words.
pub fn describe_answer(said: &PinnedAnswer) -> String {
    match said {
        Ok(fired) => alarm_words(*fired),
        Err(what) => format!("an error: {what}"),
    }
}

/// Reads files of cases.
///
/// # Errors
/// Returns an error if a file cannot be read or is wrong, or if no file holds a case.
pub fn read(files: &[PathBuf]) -> RunResult<Vec<PinnedCase>> {
    let mut all = Vec::new();
    for path in files {
        let file = path.display().to_string();
        let text =
            std::fs::read_to_string(path).map_err(|e| Code::Usage.error(format!("{file}: {e}")))?;
        let cases = parse_pinned(&text).map_err(|e| Code::Usage.error(format!("{file}:{e}")))?;
        let written = |pinned| PinnedCase {
            file: file.clone(),
            pinned,
        };
        all.extend(cases.into_iter().map(written));
    }
    if all.is_empty() && !files.is_empty() {
        return Err(Code::NothingSelected.error("the files hold no [[case]]"));
    }
    Ok(all)
}

/// Checks every expectation of every case. `general` holds the settings for expectations that name none, under the
/// name `name`.
///
/// # Errors
/// Returns an error if a transcript is missing, and the errors of [`answers`].
pub fn check<'a>(
    cases: &'a [PinnedCase],
    name: &str,
    general: &Settings,
    corpus: Option<&Path>,
    host: &dyn Host,
) -> RunResult<Vec<CheckedCase<'a>>> {
    let found = inputs(cases, corpus)?;
    // Each settings file runs once over all the texts that are checked with it.
    let mut groups: BTreeMap<String, (&Settings, Vec<usize>)> = BTreeMap::new();
    for (i, case) in cases.iter().enumerate() {
        for expect in &case.pinned.expect {
            let settings = expect.settings.as_ref().unwrap_or(general);
            let of = groups
                .entry(settings.id())
                .or_insert((settings, Vec::new()));
            if of.1.last() != Some(&i) {
                of.1.push(i);
            }
        }
    }
    let mut said: BTreeMap<(String, usize), PinnedAnswer> = BTreeMap::new();
    for (id, (settings, wanted)) in groups {
        let texts: Vec<&Transcript> = wanted.iter().map(|i| &found[*i].0).collect();
        let all = wanted.iter().zip(answers(settings, &texts, host)?);
        said.extend(all.map(|(i, said)| ((id.clone(), *i), said)));
    }
    let mut checked = Vec::new();
    for (i, case) in cases.iter().enumerate() {
        for expect in &case.pinned.expect {
            let id = expect.settings.as_ref().unwrap_or(general).id();
            let said = said.get(&(id.clone(), i)).cloned();
            let said = said.unwrap_or_else(|| Err("it was not run".into()));
            let (transcript, marks) = &found[i];
            checked.push(CheckedCase {
                case,
                expect,
                settings: if expect.settings.is_some() {
                    id
                } else {
                    name.into()
                },
                around: text_around(transcript, marks, &said),
                said,
                marks: *marks,
            });
        }
    }
    Ok(checked)
}

/// Returns the text of each case with its marks, from the text or from the label of the corpus.
fn inputs(cases: &[PinnedCase], corpus: Option<&Path>) -> RunResult<Vec<(Transcript, CaseMarks)>> {
    let wanted = cases.iter().filter_map(|case| match &case.pinned.input {
        CaseInput::Transcript(id) => Some(id.as_str()),
        CaseInput::Text(..) | CaseInput::Run(..) | CaseInput::Recording(..) => None,
    });
    let wanted: BTreeSet<&str> = wanted.collect();
    let known = match (wanted.is_empty(), corpus) {
        (true, _) => BTreeMap::new(),
        (false, Some(corpus)) => read_recorded(&wanted, corpus)?,
        (false, None) => {
            let what = format!("some cases are transcripts of a corpus; name it with {CORPUS}");
            return Err(Code::Usage.error(what));
        }
    };
    let input = |case: &PinnedCase| match (&case.pinned.input, case.pinned.transcript()) {
        (
            CaseInput::Text(_, marks) | CaseInput::Run(_, marks) | CaseInput::Recording(_, marks),
            Some(text),
        ) => Ok((text, *marks)),
        (CaseInput::Transcript(id), _) => known.get(id.as_str()).cloned().ok_or_else(|| {
            let (file, line) = (&case.file, case.pinned.line);
            let id = visible(id);
            Code::Usage.error(format!("{file}:{line}: the corpus has no transcript {id}"))
        }),
        _ => Err(Code::Unexpected.error("a case without a text")),
    };
    cases.iter().map(input).collect()
}

/// Reads transcripts of a corpus, with the marks of their first loop.
fn read_recorded(
    wanted: &BTreeSet<&str>,
    path: &Path,
) -> RunResult<BTreeMap<String, (Transcript, CaseMarks)>> {
    let corpus = open(path)?;
    let labels = corpus.labels_csv().map(|path| LabelsFile::read(path).0);
    let mut found = BTreeMap::new();
    for entry in corpus.entries() {
        let entry = entry.map_err(|problem| Code::Usage.error(problem))?;
        if wanted.contains(entry.transcript.id.as_str()) {
            let (case, _) = Case::from_entry(&entry, labels.as_ref(), &[]);
            let marks = CaseMarks::of_loop(&case);
            found.insert(entry.transcript.id.clone(), (entry.transcript, marks));
        }
    }
    Ok(found)
}

/// Returns the answer of settings on each text, programs included.
///
/// # Errors
/// Returns an error if a program cannot be started or fails too often, or if the host stopped it.
pub fn answers(
    settings: &Settings,
    texts: &[&Transcript],
    host: &dyn Host,
) -> RunResult<Vec<PinnedAnswer>> {
    let mut plan = Plan::default();
    let cell = plan.add_settings(settings);
    let running = programs::start(&plan, host)?;
    let guards = PlanGuards {
        plan: &plan,
        programs: &running,
        chunks: None,
    };
    let place = plan.cell(cell);
    let _heeded = host.begin(None);
    let said = |text: &&Transcript| {
        let blocks = guards.compute(text, host.cancel());
        let blocks = blocks.map_err(|e| Code::Interrupted.because(e))?;
        let decided = &blocks[place.block];
        Ok(match &decided.error {
            Some(error) => Err(error.clone()),
            None => Ok(decided.stop(&place.at).map(fired_alarm)),
        })
    };
    let said = texts.par_iter().map(said).collect::<RunResult<_>>()?;
    match guards.failure() {
        Some(what) => Err(Code::Unexpected.error(what)),
        None => Ok(said),
    }
}

fn fired_alarm(stop: &Stop) -> FiredAlarm {
    FiredAlarm {
        channel: stop.channel,
        at: stop.exact.seen.count(stop.channel),
        seen: stop.exact.seen,
        kind: stop.kind,
    }
}

/// The chars shown before a place and after it.
const CONTEXT: usize = 60;

/// Returns the text around the alarm, else around its expected place, else around the start.
fn text_around(transcript: &Transcript, marks: &CaseMarks, said: &PinnedAnswer) -> String {
    let fired = said.as_ref().ok().copied().flatten();
    let channel = fired.map(|f| f.channel).or(marks.channel);
    let texts = transcript.events.iter().filter_map(text_of);
    let own = texts.filter(|(c, _)| channel.is_none_or(|wanted| wanted == *c));
    let chars: Vec<char> = own.flat_map(|(_, text)| text.chars()).collect();
    let due = marks.alarm.or(marks.onset).or(marks.end);
    let at = fired.map(|f| f.at).or(due).unwrap_or(0);
    let at = usize::try_from(at).unwrap_or(usize::MAX).min(chars.len());
    let part = |from: usize, to: usize| visible(&chars[from..to].iter().collect::<String>());
    let (from, to) = (at.saturating_sub(CONTEXT), chars.len().min(at + CONTEXT));
    let mark = if fired.is_some() {
        "⟦alarm⟧"
    } else {
        "⟦here⟧"
    };
    let [before, after] = [(from > 0), (to < chars.len())].map(|cut| if cut { "…" } else { "" });
    format!("{before}{}{mark}{}{after}", part(from, at), part(at, to))
}
