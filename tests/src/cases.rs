//! The cases of `tests/cases/`: texts with the answer written inside them, live and replayed.

use std::path::PathBuf;

use deadloop_corpus::Transcript;
use deadloop_detect::{Alarm, Channel, ChannelLengths, Guard, Kind, Response, Setting, Settings};
use deadloop_replay::{Plan, Stop, decide};
use deadloop_score::{CaseEntry, CaseInput, CaseMarks, Expectation, FiredAlarm, parse_pinned};

use crate::replayed_alarm::{ReplayedAlarm, live, replay};

/// Runs every case of every file in `tests/cases/`, at least one each; gives back how many
/// expectations there were.
pub fn run_all() -> usize {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the cases are committed")
        .map(|entry| entry.expect("a readable folder").path())
        .collect();
    paths.sort();
    let mut failures = Vec::new();
    let mut count = 0;
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("readable");
        let cases = parse_pinned(&text).unwrap_or_else(|e| panic!("{}:{e}", path.display()));
        assert!(!cases.is_empty(), "{}: no case", path.display());
        for case in &cases {
            count += case.expect.len();
            let failed = |expect| match &case.input {
                CaseInput::Text(pieces, marks) => failure(case, expect, (pieces, marks)),
                CaseInput::Run(_, marks) | CaseInput::Recording(_, marks) => {
                    run_failure(case, expect, marks)
                }
                CaseInput::Transcript(_) => panic!("{}: a case of the kit is whole", case.name),
            };
            failures.extend(case.expect.iter().filter_map(failed));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    count
}

fn failure(
    case: &CaseEntry,
    expect: &Expectation,
    (pieces, marks): (&Vec<(Channel, String)>, &CaseMarks),
) -> Option<String> {
    let settings = expect.settings.clone().unwrap_or_default();
    let setting = settings.for_model(&case.model);
    let seen = replay(setting, pieces);
    for size in [1, 17, usize::MAX] {
        if live(setting, pieces, size) != seen {
            return Some(format!(
                "{}: live in chunks of {size} is not replay",
                case.name
            ));
        }
    }
    judged(case, expect, marks, seen.as_ref().map(fired))
}

/// The same of a run, event by event.
fn run_failure(case: &CaseEntry, expect: &Expectation, marks: &CaseMarks) -> Option<String> {
    let settings = expect.settings.clone().unwrap_or_default();
    let whole = settings.for_model(&case.model);
    // Guards that warn are an operating point of their own.
    let stops = whole.filter(|member| member.response.level() == Response::Stop);
    let setting = if stops.members.is_empty() {
        whole
    } else {
        &stops
    };
    let run = case.transcript().expect("a run of its own");
    let mut plan = Plan::default();
    let cell = plan.add_setting(setting);
    let place = plan.cell(cell);
    let record = decide(&plan, &run, None);
    let replayed = record.blocks[place.block].stop(&place.at).map(stopped);
    if live_run(setting, &run) != replayed {
        return Some(format!("{}: live is not replay", case.name));
    }
    judged(case, expect, marks, replayed)
}

fn live_run(setting: &Setting, run: &Transcript) -> Option<FiredAlarm> {
    let mut guard = Guard::new(setting).expect("it reads events");
    let alarm = run.stream().find_map(|(_, event)| {
        let pushed = guard.push(&event);
        pushed.first().or(pushed.warnings.first()).cloned()
    });
    alarm.map(|alarm: Alarm| FiredAlarm {
        channel: alarm.channel,
        at: alarm.exact.count(),
        seen: ChannelLengths::default()
            .plus(Channel::Tools, alarm.calls.0)
            .plus(Channel::Turns, alarm.turns.0),
        kind: alarm.kind,
    })
}

fn stopped(stop: &Stop) -> FiredAlarm {
    FiredAlarm {
        channel: stop.channel,
        at: stop.exact.seen.count(stop.channel),
        seen: ChannelLengths::default()
            .plus(Channel::Tools, stop.exact.seen.tools.0)
            .plus(Channel::Turns, stop.exact.seen.turns.0),
        kind: stop.kind,
    }
}

/// What is wrong with what was said, in words.
fn judged(
    case: &CaseEntry,
    expect: &Expectation,
    marks: &CaseMarks,
    said: Option<FiredAlarm>,
) -> Option<String> {
    let who = who(expect.settings.as_ref().unwrap_or(&Settings::default()));
    match (expect.holds(marks, said), &expect.todo) {
        (true, None) | (false, Some(_)) => None,
        (true, Some(_)) => Some(format!(
            "{}: no longer a todo: take the mark off",
            case.name
        )),
        (false, None) => {
            let wanted = expect.describe(marks);
            Some(format!("{}: {who}: {said:?}, expected {wanted}", case.name))
        }
    }
}

fn fired(seen: &ReplayedAlarm) -> FiredAlarm {
    let kind = Kind::ALL.into_iter().find(|kind| kind.name() == seen.kind);
    FiredAlarm {
        channel: seen.channel,
        at: seen.at,
        seen: ChannelLengths::default(),
        kind: kind.expect("an alarm has a kind of the list"),
    }
}

fn who(settings: &Settings) -> String {
    settings.guard().member_names().join(" + ")
}
