//! The gate on pinned cases, whose results must not get worse.

use deadloop_detect::{Channel, Kind, Settings};
use deadloop_score::{
    CaseInput, CaseMarks, Expectation, FiredAlarm, Gate, GateName, Side, SideOutcome, Verdict,
};
use serde::Serialize;

use super::pinned_comparison::PinnedComparison;
use crate::cases::{PinnedAnswer, PinnedCase, describe_answer, run_settings};
use crate::failure::{Code, RunResult};
use crate::host::Host;

/// The results of both sides on the expectation of a pinned case.
#[derive(Debug, Serialize)]
pub struct PinComparison {
    /// The name of the case.
    pub case: String,
    /// The file of the case.
    pub file: String,
    base: PinResult,
    new: PinResult,
    todo: Option<String>,
    /// The answers and the expectation, in words.
    pub what: String,
}

deadloop_detect::words! {
    enum PinResult {
        Pass = "pass",
        Fail = "fail",
        /// The case could not be run.
        Unknown = "unknown",
    }
}

impl PinComparison {
    /// Returns whether the gate fails on this case. It fails if NEW fails, unless the case is a todo that BASE fails
    /// too.
    pub(super) fn fails_gate(&self) -> bool {
        self.new == PinResult::Fail && (self.todo.is_none() || self.base == PinResult::Pass)
    }

    /// Returns whether the case is worth reporting.
    pub(super) fn is_notable(&self) -> bool {
        self.fails_gate() || self.base != self.new || self.new == PinResult::Unknown
    }
}

/// Checks both sides against every expectation without its own settings, and adds the gate. Adds no gate if there are
/// no cases.
pub(super) fn check_pins(
    cases: &[PinnedCase],
    compared: &mut PinnedComparison,
    host: &dyn Host,
) -> RunResult {
    if cases.is_empty() {
        return Ok(());
    }
    let base = run_side(cases, &compared.base, host)?;
    let new = run_side(cases, &compared.new, host)?;
    for (case, (base, new)) in cases.iter().zip(base.iter().zip(&new)) {
        let own = case.pinned.expect.iter().filter(|e| e.settings.is_none());
        let compare = own.map(|expect| compare_case(case, expect, (base, new)));
        compared.pinned.extend(compare);
    }
    let gate = pinned_gate(&compared.pinned);
    compared.comparison.add_gate(gate);
    Ok(())
}

/// Returns the answer of a side on each case, with the marks of the case.
fn run_side(cases: &[PinnedCase], side: &Side, host: &dyn Host) -> RunResult<Vec<MarkedAnswer>> {
    let texts: Vec<_> = cases.iter().map(|case| case.pinned.transcript()).collect();
    let texts: Vec<_> = texts.iter().flatten().collect();
    let mut said = Vec::new().into_iter();
    if let Some(toml) = &side.toml {
        let settings = Settings::parse(toml).map_err(|e| Code::Unexpected.because(e))?;
        said = run_settings(&settings, &texts, host)?.into_iter();
    }
    let answer = |case: &PinnedCase| match &case.pinned.input {
        CaseInput::Text(_, marks) | CaseInput::Run(_, marks) | CaseInput::Recording(_, marks) => {
            let said = said.next();
            let unknown = || Err("the settings of this side are not known".into());
            (said.unwrap_or_else(unknown), *marks)
        }
        CaseInput::Transcript(id) => recorded_answer(side, id),
    };
    Ok(cases.iter().map(answer).collect())
}

type MarkedAnswer = (PinnedAnswer, CaseMarks);

/// Returns the answer of a side on a transcript from its recorded outcomes, with the marks of the label.
fn recorded_answer(side: &Side, id: &str) -> MarkedAnswer {
    let Some((said, span)) = side.judged_alarm(id) else {
        return (
            Err("the transcript is not among them".into()),
            CaseMarks::default(),
        );
    };
    let channel = |name: &Option<String>| {
        let all = Channel::ALL.into_iter();
        all.into_iter().find(|c| Some(c.name()) == name.as_deref())
    };
    let marks = CaseMarks {
        channel: span.onset.and_then(|_| channel(&span.channel)),
        onset: span.onset,
        alarm: None,
        end: span.end,
    };
    let SideOutcome {
        verdict,
        alarm_at,
        alarm_channel,
        alarm_kind,
        alarm_seen,
        ..
    } = said;
    let kind = Kind::ALL
        .into_iter()
        .find(|k| Some(k.name()) == alarm_kind.as_deref());
    let fired = match (alarm_at, channel(&alarm_channel), kind) {
        (Some(at), Some(channel), Some(kind)) => Some(FiredAlarm {
            channel,
            at,
            seen: alarm_seen,
            kind,
        }),
        _ => None,
    };
    match verdict {
        Verdict::Error => (Err("the detector failed on it".into()), marks),
        _ => (Ok(fired), marks),
    }
}

fn compare_case(
    case: &PinnedCase,
    expect: &Expectation,
    (base, new): (&MarkedAnswer, &MarkedAnswer),
) -> PinComparison {
    let result = |(said, marks): &MarkedAnswer| match said {
        Ok(said) if expect.holds(marks, *said) => PinResult::Pass,
        Ok(_) => PinResult::Fail,
        Err(_) => PinResult::Unknown,
    };
    let (file, line, name) = (&case.file, case.pinned.line, &case.pinned.name);
    let wanted = expect.describe(&new.1);
    let todo = expect
        .todo
        .as_ref()
        .map_or(String::new(), |why| format!(" (todo: {why})"));
    PinComparison {
        case: name.clone(),
        file: file.clone(),
        base: result(base),
        new: result(new),
        todo: expect.todo.clone(),
        what: format!(
            "{file}:{line}: {name}: BASE {}, NEW {}, expected {wanted}{todo}",
            describe_answer(&base.0),
            describe_answer(&new.0)
        ),
    }
}

fn pinned_gate(pins: &[PinComparison]) -> Gate {
    let count = |what: fn(&PinComparison) -> bool| pins.iter().filter(|pin| what(pin)).count();
    let failed = count(PinComparison::fails_gate);
    let unknown = count(|pin| pin.new == PinResult::Unknown || pin.base == PinResult::Unknown);
    let (passed, why) = match (failed, unknown) {
        _ if pins.is_empty() => (None, "every expectation names settings of its own".into()),
        (0, 0) => (Some(true), format!("{} expectations hold", pins.len())),
        (0, n) => (
            None,
            format!("{n} of {} could not be looked at", pins.len()),
        ),
        (n, _) => (Some(false), format!("{n} of {} do not hold", pins.len())),
    };
    Gate {
        gate: GateName::Pinned,
        passed,
        why,
    }
}
