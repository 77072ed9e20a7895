//! Tests of programs as detectors, in a guard, in a sweep and after an interruption.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::kit;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use deadloop_replay::detect::{Channel, Kind, Settings};
use deadloop_replay::{Cursor, Plan, Record, RunError};
use kit::{Draw, How, Place, error, guard, no_python, plan, run};
use serde_json::{Value, json};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Returns transcripts of few distinct lines on both channels, cut anywhere, with other events between them.
fn transcripts() -> Vec<(String, Vec<Value>)> {
    let lines = ["思考\n", "a\u{2028}b\n", "😀 \n", "\n", "\r\n", "no end "];
    let one = |i: u64| {
        let mut draw = Draw(i);
        let mut next = |n| draw.below(n);
        let mut events = Vec::new();
        for t_ms in 0..next(9) {
            let channel = ["reasoning", "answer"][next(2) as usize];
            let line = lines[next(6) as usize];
            let text = line.repeat(next(5) as usize) + &"x".repeat(next(3) as usize);
            events.push(match next(5) {
                0 => json!({"type": "tool_call", "name": "f", "arguments": {}}),
                1 => json!({"type": channel, "text": text, "t_ms": t_ms}),
                _ => json!({"type": channel, "text": text}),
            });
        }
        (format!("t{i}"), events)
    };
    (0..60).map(one).collect()
}

/// Applies the rule of example.py: `lines` equal lines in a row, ignoring blank ones. Returns the channel and the
/// number of chars at which it first fires.
fn same_line(events: &[Value], lines: u64) -> Option<(&str, u64)> {
    let mut seen = [("reasoning", String::new()), ("answer", String::new())];
    for event in events {
        for c in event["text"].as_str().unwrap_or("").chars() {
            let channel = seen.iter_mut().find(|(name, _)| event["type"] == *name);
            let (name, text) = channel.unwrap();
            text.push(c);
            let whole = text.split('\n').count() - 1;
            let stripped = text.split('\n').take(whole).map(str::trim);
            let stripped: Vec<&str> = stripped.filter(|l| !l.is_empty()).collect();
            let newest = stripped.iter().rev();
            let last = newest.take_while(|l| Some(*l) == stripped.last());
            // Only the end of a line that is not blank completes one.
            let now = c == '\n' && !text.split('\n').nth(whole - 1).unwrap().trim().is_empty();
            if now && last.count() as u64 >= lines {
                return Some((name, text.chars().count() as u64));
            }
        }
    }
    None
}

#[test]
fn a_program_says_what_its_rule_says() {
    if no_python() {
        return;
    }
    let place = Place::new();
    let transcripts = transcripts();
    let corpus = place.corpus(&transcripts);
    let example = Path::new(ROOT).join("scripts/peers/example.py");
    let plan = plan(&guard(&example, "params = [{ lines = 3 }, { lines = 2 }]"));
    assert_eq!(plan.cells(), 2);
    let mut alarms = 0;
    let mut exact = Vec::new();
    for (threads, chunks) in [(1, 0), (8, 0), (2, 1), (2, 7)] {
        let how = How {
            chunks,
            ..How::on(threads)
        };
        let records = run(&corpus, &plan, &how).unwrap();
        for (record, (id, events)) in records.iter().zip(&transcripts) {
            assert_eq!(*record.transcript, **id);
            for (block, lines) in record.blocks.iter().zip([3, 2]) {
                assert_eq!(block.error, None);
                let stop = block.stop(&[]);
                let seen = stop.map(|s| (s.channel.name(), s.exact.seen.count(s.channel)));
                assert_eq!(seen, same_line(events, lines), "{id} {lines} {events:?}");
                assert!(stop.is_none_or(|s| s.kind == Kind::Paragraph));
                alarms += usize::from(stop.is_some());
            }
        }
        exact.push(records);
    }
    assert!(alarms > 100, "{alarms}");
    assert_eq!(exact[0], exact[1], "threads do not change a byte");
}

#[test]
fn in_a_guard_the_first_alarm_wins() {
    if no_python() {
        return;
    }
    let place = Place::new();
    let program = place.server(
        "at.py",
        r#"
if transcript == "dies":
    sys.exit(1)
last = len(events) - 1
at = sum(len(e["text"]) for e in events)
wanted = 0 if transcript == "early" else last
alarm = {"event": wanted, "at": 100 * (wanted + 1), "kind": "babble"}
verdict(transcript, None if transcript == "quiet" else alarm)
"#,
    );
    let thought = json!({"type": "reasoning", "text": "ab".repeat(50), "t_ms": 1});
    let mut events = vec![thought; 5];
    events.push(json!({"type": "answer", "text": "not sent"}));
    let ids = ["early", "late", "quiet", "dies"];
    let corpus = place.corpus(&ids.map(|id| (id.to_owned(), events.clone())));
    let checkpoint = "[[guard]]\ndetector = \"checkpoint\"\nchannel = \"reasoning\"\n[guard.params]\n\
                      checkpoints = [250]\nwindow = 100\nmin_repeats = [4, 99]\n";
    let own =
        guard(&program, "").replace("[guard.params]", "channel = \"reasoning\"\n[guard.params]");
    let plan = plan(&format!("{checkpoint}{own}"));
    let records = run(&corpus, &plan, &How::default()).unwrap();
    let stop = |i: usize, cell: u16| {
        let stop = records[i].blocks[0].stop(&[cell])?;
        let at = |m: deadloop_replay::Moment| m.seen.count(stop.channel);
        Some((stop.member, at(stop.exact), at(stop.delivered), stop.kind))
    };
    let theirs = |at| Some((1, at, at, Kind::Other));
    let ours = Some((0, 250, 300, Kind::ShortSequence));
    assert_eq!((stop(0, 0), stop(0, 1)), (theirs(100), theirs(100)));
    assert_eq!((stop(1, 0), stop(1, 1)), (ours, theirs(500)));
    assert_eq!((stop(2, 0), stop(2, 1)), (ours, None));
    assert!(error(&records[3]).contains("it ended") && stop(3, 0).is_none());
    // Without its program a setting is an error, not quiet.
    let entry = corpus.entries().next().unwrap().unwrap();
    let alone = deadloop_replay::decide(&plan, &entry.transcript, None);
    assert_eq!(error(&alone), "its program does not run");
}

#[test]
fn a_program_hears_only_of_the_models_that_it_guards() {
    if no_python() {
        return;
    }
    let place = Place::new();
    let program = place.server("other.py", "sys.exit('asked about ' + transcript)");
    let text = guard(&program, "").replace("[guard", "[model.guard");
    let text = format!("[[model]]\nmatch = \"other*\"\n{text}");
    let mut plan = Plan::default();
    plan.add_settings(&Settings::parse(&text).unwrap());
    let records = run(&place.ids(&["a"]), &plan, &How::default()).unwrap();
    assert_eq!(error(&records[0]), "");
}

#[test]
fn the_journal_keeps_what_was_said_and_errors_are_tried_again() {
    if no_python() {
        return;
    }
    let place = Place::new();
    let program = place.server(
        "flaky.py",
        r#"
mark = sys.argv[0] + "." + transcript
if os.path.exists(mark) == (transcript == "kept"):
    open(mark, "w").close()
    print("flaky", flush=True)
    sys.exit()
open(mark, "w").close()
verdict(transcript)
"#,
    );
    std::fs::write(place.path().join("flaky.py.first"), "").unwrap();
    std::fs::write(place.path().join("flaky.py.last"), "").unwrap();
    let corpus = place.ids(&["first", "flaky", "kept", "last"]);
    let plan = plan(&guard(&program, ""));
    let journal = place.path().join("journal");
    let how = How {
        journal: Some(&journal),
        ..How::default()
    };
    let errors = |records: Vec<Record>| {
        let failed = records.iter().filter(|r| !error(r).is_empty());
        let failed: Vec<String> = failed.map(|r| r.transcript.to_string()).collect();
        let order: Vec<&str> = records.iter().map(|r| &*r.transcript).collect();
        assert_eq!(order, ["first", "flaky", "kept", "last"]);
        failed
    };
    assert_eq!(errors(run(&corpus, &plan, &how).unwrap()), ["flaky"]);
    // `kept` would fail if it were asked again.
    assert!(errors(run(&corpus, &plan, &how).unwrap()).is_empty());
}

/// Returns whether a process exists and is not a zombie.
#[cfg(target_os = "linux")]
fn lives(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    stat.is_ok_and(|stat| !stat.contains(") Z"))
}

/// Waits until the condition holds. The time limit only keeps a failing test from hanging.
#[cfg(target_os = "linux")]
fn until(so: impl Fn() -> bool) {
    let began = Instant::now();
    while !so() {
        assert!(began.elapsed() < Duration::from_secs(60), "it never is so");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_interruption_waits_for_no_program_and_nothing_is_left_running() {
    if no_python() {
        return;
    }
    let place = Place::new();
    // The program is a child of a shell that has another child.
    let program = place.server("sleeps.py", "time.sleep(100)");
    let pids = place.path().join("pids");
    let (to, path) = (pids.display(), program.display());
    let script = format!("sleep 300 & echo $$ $! >> {to}; python3 {path}; true");
    let command = toml::Value::from(vec!["sh", "-c", &script]);
    let text = format!("[[guard]]\ndetector = \"command\"\n[guard.params]\ncommand = {command}\n");
    let corpus = place.ids(&["a", "b", "c"]);
    let cancel = AtomicBool::new(false);
    let how = How {
        cancel: &cancel,
        ..How::default()
    };
    let plan = plan(&text);
    let ended = std::thread::scope(|scope| {
        let run = scope.spawn(|| run(&corpus, &plan, &how));
        // Two programs, with two numbers each.
        let asked = || std::fs::read_to_string(&pids).is_ok_and(|all| all.lines().count() >= 2);
        until(asked);
        cancel.store(true, Ordering::Relaxed);
        // The program would take longer than this waits.
        until(|| run.is_finished());
        run.join().unwrap()
    });
    let interrupted = matches!(ended, Err(RunError::Interrupted { done: 0, of: 3 }));
    assert!(interrupted);
    let pids = std::fs::read_to_string(pids).unwrap();
    let all: Vec<&str> = pids.split_whitespace().collect();
    assert!(all.len() >= 4, "two at least: {pids}");
    for pid in all {
        until(|| !lives(pid));
    }
}

/// Checks that a program may raise an alarm at a call, before it runs, and at a result. Positions are then counted in
/// calls.
#[test]
fn a_program_alarms_at_a_call_and_at_a_result() {
    if no_python() {
        return;
    }
    let place = Place::new();
    let program = place.server(
        "calls.py",
        r#"
kinds = [e["type"] for e in events]
wanted = {"call": "tool_call", "result": "tool_result"}.get(transcript)
alarm = None
if wanted:
    at = len(kinds) - 1 - kinds[::-1].index(wanted)
    calls = kinds[:at + 1].count("tool_call")
    alarm = {"event": at, "at": calls, "kind": "tool-repeat"}
verdict(transcript, alarm)
"#,
    );
    let step = [
        json!({"type": "answer", "text": "so"}),
        json!({"type": "tool_call", "id": "c", "name": "f", "arguments": {}}),
        json!({"type": "tool_result", "id": "c", "content": "", "error": false}),
    ];
    let events = [&step[..], &step, &step].concat();
    let ids = ["call", "result", "none"];
    let corpus = place.corpus(&ids.map(|id| (id.to_owned(), events.clone())));
    let records = run(&corpus, &plan(&guard(&program, "")), &How::default()).unwrap();
    let told = |i: usize| {
        let stop = records[i].blocks[0].stop(&[])?;
        let Cursor { event, .. } = stop.exact.place;
        let seen = stop.exact.seen;
        Some((stop.channel, stop.kind, event, seen.tools.0, seen.answer.0))
    };
    let at = |event| Some((Channel::Tools, Kind::IdenticalCall, event, 3, 6));
    assert_eq!([told(0), told(1), told(2)], [at(7), at(8), None]);
}
