//! [`cases`]: checks pinned cases against settings, and writes a recording as a case.

mod recorded_case;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

use deadloop_corpus::Transcript;
use deadloop_detect::Settings;
use deadloop_replay::{Plan, PlanGuards, Stop, Subject, event_text};
use deadloop_score::{
    Case, CaseEntry, CaseInput, CaseMarks, FiredAlarm, LabelsFile, describe_alarm, parse_pinned,
};
use rayon::prelude::*;
use serde::Serialize;
use serde_json::json;

use crate::corpus::survey::{SurveyRequest, open, survey};
use crate::failure::{Code, Failure, RunResult};
use crate::host::Host;
use crate::option::CORPUS;
use crate::replay::programs;
use crate::settings::SettingsReader;
use crate::visible::visible;
use recorded_case::recorded_case;

/// A pinned case with the file that holds it.
pub(crate) struct PinnedCase {
    /// The path of the file.
    pub file: String,
    /// The case as parsed.
    pub pinned: CaseEntry,
}

options! {
    /// The options of pinned cases.
    pub struct CasesOptions {
        /// Files of cases
        #[arg(required_unless_present = "add", value_name = "FILE")]
        pub files: Vec<PathBuf>,
        /// Write a recording as a case, on stdout
        #[arg(long, num_args = 2, value_names = ["CORPUS", "ID"], conflicts_with_all = ["files", "corpus"])]
        pub add: Vec<String>,
        /// The settings for expectations that do not name their own [default: the recommended guard]
        #[arg(long, value_name = "FILE")]
        pub settings: Option<PathBuf>,
        /// Change a parameter of the settings, as guard.params.NAME=VALUE; may be repeated
        #[arg(long = "set", value_name = "KEY=VALUE")]
        pub set: Vec<String>,
        /// The corpus, for cases that name transcripts
        #[arg(long, value_name = "CORPUS")]
        pub corpus: Option<PathBuf>,
    }
}

/// The answer of [`cases`].
pub enum CasesAnswer {
    /// Every expectation with its result.
    Checked(Vec<CheckedCase>),
    /// A recording written as a case.
    Written {
        /// The id of the recording.
        name: String,
        /// The case as TOML.
        case: String,
    },
}

/// An expectation, compared with the answer of the settings.
#[derive(Debug, Serialize)]
pub struct CheckedCase {
    /// The file of the case.
    pub file: String,
    /// The line of the case.
    pub line: usize,
    /// The name of the case.
    pub case: String,
    /// The name of the settings, or their id if the expectation has its own settings.
    pub settings: String,
    /// The result of the comparison.
    pub finding: PinFinding,
    /// The answer of the settings, in words.
    pub said: String,
    /// The expectation, in words.
    pub expected: String,
    /// The reason why the expectation may fail, if it is a todo.
    pub todo: Option<String>,
    /// The text around the alarm, or else around its expected position.
    pub around: String,
}

/// The answer of settings on a text: the alarm if there is one, or the error of the detector.
pub(crate) type PinnedAnswer = Result<Option<FiredAlarm>, String>;

deadloop_detect::words! {
    /// The result of an expectation.
    pub enum PinFinding {
        /// The expectation holds.
        Pass = "pass",
        /// The expectation fails.
        Fail = "fail",
        /// The expectation fails, and is marked as a todo.
        Todo = "todo",
        /// The expectation holds although it is marked as a todo.
        Mended = "mended",
    }
}

/// Checks the pinned cases of files, or writes a recording as a case.
///
/// # Errors
/// Returns an error if the settings or a file are bad, a transcript is missing, the files hold no expectation, or the
/// host stopped it.
pub fn cases(options: &CasesOptions, host: &dyn Host) -> RunResult<CasesAnswer> {
    let path = options.settings.as_deref();
    let general = SettingsReader::new(host).settings(path, &options.set)?;
    if let [corpus, id] = &options.add[..] {
        let found = survey(SurveyRequest {
            entry: Some(id),
            ..SurveyRequest::all(corpus.as_ref(), host)
        })?;
        let (entry, case) = found.one(id, false, host)?;
        return Ok(CasesAnswer::Written {
            name: id.clone(),
            case: recorded_case(entry, case, &general, host)?,
        });
    }
    let name = path.map_or("the recommended guard".into(), |path| {
        path.display().to_string()
    });
    let pinned = read_cases(&options.files)?;
    let checked = check_expectations(&pinned, &name, &general, options.corpus.as_deref(), host)?;
    if checked.is_empty() {
        return Err(Code::NothingSelected.error("the files hold no expectation"));
    }
    Ok(CasesAnswer::Checked(checked))
}

impl CasesAnswer {
    /// Returns the failure if an expectation does not hold.
    pub fn failure(&self) -> Option<Failure> {
        let (failed, all) = (self.count(PinFinding::Fail), self.cases().len());
        let what = format!("{failed} of {all} expectations do not hold");
        (failed > 0).then(|| Code::GateFailed.error(what))
    }

    fn cases(&self) -> &[CheckedCase] {
        match self {
            Self::Checked(checked) => checked,
            Self::Written { .. } => &[],
        }
    }

    fn count(&self, finding: PinFinding) -> usize {
        let of = self.cases().iter();
        of.filter(|one| one.finding == finding).count()
    }
}

serialize_as_json!(CasesAnswer, this => {
    match this {
        Self::Checked(checked) => {
            json!({"failed": this.count(PinFinding::Fail), "expectations": checked})
        }
        Self::Written { name, case } => json!({"name": name, "case": case}),
    }
});

/// Writes the failing cases, the todos that now hold, and the counts.
impl Display for CasesAnswer {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Self::Written { case, .. } = self {
            return f.write_str(case.trim_end());
        }
        for c in self.cases() {
            let what = match (c.finding, &c.todo) {
                (PinFinding::Fail, _) => format!(
                    "{}, expected {}\n  {}",
                    visible(&c.said),
                    c.expected,
                    c.around
                ),
                (PinFinding::Mended, Some(todo)) => {
                    format!("holds now: take off todo = {:?}", visible(todo))
                }
                _ => continue,
            };
            let (file, line, name) = (&c.file, c.line, visible(&c.case));
            writeln!(f, "{file}:{line}: {name}: {}: {what}", c.settings)?;
        }
        let mended = self.count(PinFinding::Mended);
        write!(
            f,
            "{} hold, {} do not, {} are known not to, {mended} of those hold now",
            self.count(PinFinding::Pass) + mended,
            self.count(PinFinding::Fail),
            self.count(PinFinding::Todo) + mended,
        )
    }
}

/// Formats an answer in words.
pub(crate) fn describe_answer(said: &PinnedAnswer) -> String {
    match said {
        Ok(fired) => describe_alarm(*fired),
        Err(what) => format!("an error: {what}"),
    }
}

/// Reads the cases of files.
///
/// # Errors
/// Returns an error if a file cannot be read or is wrong, or if no file holds a case.
pub(crate) fn read_cases(files: &[PathBuf]) -> RunResult<Vec<PinnedCase>> {
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

/// Checks every expectation of every case. Expectations without settings are checked with `general`, under the name
/// `name`.
///
/// # Errors
/// Returns an error if a transcript is missing, and the errors of [`run_settings`].
fn check_expectations(
    cases: &[PinnedCase],
    name: &str,
    general: &Settings,
    corpus: Option<&Path>,
    host: &dyn Host,
) -> RunResult<Vec<CheckedCase>> {
    let found = resolve_inputs(cases, corpus)?;
    // Each of the settings runs once over all texts that are checked with it.
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
        let all = wanted.iter().zip(run_settings(settings, &texts, host)?);
        said.extend(all.map(|(i, said)| ((id.clone(), *i), said)));
    }
    let mut checked = Vec::new();
    for (i, case) in cases.iter().enumerate() {
        for expect in &case.pinned.expect {
            let id = expect.settings.as_ref().unwrap_or(general).id();
            let said = said.get(&(id.clone(), i)).cloned();
            let said = said.unwrap_or_else(|| Err("it was not run".into()));
            let (transcript, marks) = &found[i];
            let holds = said.as_ref().is_ok_and(|said| expect.holds(marks, *said));
            checked.push(CheckedCase {
                file: case.file.clone(),
                line: case.pinned.line,
                case: case.pinned.name.clone(),
                settings: match &expect.settings {
                    Some(_) => id,
                    None => name.into(),
                },
                finding: match (holds, expect.todo.is_some()) {
                    (true, false) => PinFinding::Pass,
                    (false, false) => PinFinding::Fail,
                    (false, true) => PinFinding::Todo,
                    (true, true) => PinFinding::Mended,
                },
                around: text_around(transcript, marks, &said),
                said: describe_answer(&said),
                expected: expect.describe(marks),
                todo: expect.todo.clone(),
            });
        }
    }
    Ok(checked)
}

/// Returns the transcript of each case with the marks of its loop, from the case or from the corpus.
fn resolve_inputs(
    cases: &[PinnedCase],
    corpus: Option<&Path>,
) -> RunResult<Vec<(Transcript, CaseMarks)>> {
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

/// Reads the `wanted` transcripts of a corpus, with the marks of their first loop.
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

/// Runs settings, including their programs, on each text.
///
/// # Errors
/// Returns an error if a program cannot be started or fails too often, or if the host stopped it.
pub(crate) fn run_settings(
    settings: &Settings,
    texts: &[&Transcript],
    host: &dyn Host,
) -> RunResult<Vec<PinnedAnswer>> {
    let mut plan = Plan::default();
    let cell = plan.add_settings(settings);
    let running = programs::start_programs(&plan, host)?;
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

/// The number of chars shown on each side of the marked position.
const PER_SIDE: usize = 60;

/// Returns the text around the alarm, else around its expected position, else at the start.
fn text_around(transcript: &Transcript, marks: &CaseMarks, said: &PinnedAnswer) -> String {
    let fired = said.as_ref().ok().copied().flatten();
    let channel = fired.map(|f| f.channel).or(marks.channel);
    let texts = transcript.events.iter().filter_map(event_text);
    let own = texts.filter(|(c, _)| channel.is_none_or(|wanted| wanted == *c));
    let chars: Vec<char> = own.flat_map(|(_, text)| text.chars()).collect();
    let expected_at = marks.alarm.or(marks.onset).or(marks.end);
    let at = fired.map(|f| f.at).or(expected_at).unwrap_or(0);
    let at = usize::try_from(at).unwrap_or(usize::MAX).min(chars.len());
    let text = |from: usize, to: usize| visible(&chars[from..to].iter().collect::<String>());
    let (from, to) = (at.saturating_sub(PER_SIDE), chars.len().min(at + PER_SIDE));
    let mark = if fired.is_some() {
        "⟦alarm⟧"
    } else {
        "⟦here⟧"
    };
    let [before, after] = [(from > 0), (to < chars.len())].map(|cut| if cut { "…" } else { "" });
    format!("{before}{}{mark}{}{after}", text(from, at), text(at, to))
}
