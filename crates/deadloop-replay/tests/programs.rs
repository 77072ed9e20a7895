//! Programs as detectors: what a good one says is what comes out, and whatever a bad one does is an
//! error of its transcript and no more.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod kit;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use deadloop_replay::detect::{Kind, Settings};
use deadloop_replay::{Plan, Programs, Record, RunError, StartError};
use kit::{How, NEVER, Place, error, guard, no_python, plan, run};
use serde_json::{Value, json};

const EXAMPLE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../scripts/peers/example.py"
);

/// Numbers in an order that does not repeat.
fn numbers(mut state: u64) -> impl FnMut(u64) -> u64 {
    move |below| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    }
}

/// Texts of few different lines on both channels, cut anywhere, with other events between.
fn transcripts() -> Vec<(String, Vec<Value>)> {
    let lines = ["思考\n", "a\u{2028}b\n", "😀 \n", "\n", "\r\n", "no end "];
    let one = |i: u64| {
        let mut next = numbers(i);
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

/// The rule of example.py: `lines` equal lines in a row, blank ones aside. The channel and the chars
/// after which it fires first.
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
            let last = stripped
                .iter()
                .rev()
                .take_while(|l| Some(*l) == stripped.last());
            // Only the end of a line that is not blank completes one.
            let now = c == '\n' && !text.split('\n').nth(whole - 1).unwrap().trim().is_empty();
            if now && last.count() as u64 >= lines {
                return Some((name, text.chars().count() as u64));
            }
        }
    }
    None
}

fn json_of(records: &[Record]) -> String {
    serde_json::to_string(records).unwrap()
}

#[test]
fn a_program_says_what_its_rule_says() {
    if no_python() {
        return;
    }
    let place = Place::new();
    let transcripts = transcripts();
    let corpus = place.corpus(&transcripts);
    let plan = plan(&guard(
        Path::new(EXAMPLE),
        "params = [{ lines = 3 }, { lines = 2 }]",
    ));
    assert_eq!(plan.cells(), 2);
    let mut alarms = 0;
    let mut exact = Vec::new();
    for (threads, chunks) in [(1, 0), (8, 0), (2, 1), (2, 7)] {
        let how = How {
            threads,
            chunks,
            ..How::default()
        };
        let records = run(&corpus, &plan, &how).unwrap();
        for (record, (id, events)) in records.iter().zip(&transcripts) {
            assert_eq!(&record.transcript, id);
            for (block, lines) in record.blocks.iter().zip([3, 2]) {
                assert_eq!(block.error, None);
                let stop = block.stop(&[]);
                let seen = stop.map(|s| (s.channel.name(), s.exact.seen.of(s.channel).0));
                assert_eq!(seen, same_line(events, lines), "{id} {lines} {events:?}");
                assert!(stop.is_none_or(|s| s.kind == Kind::Paragraph));
                alarms += usize::from(stop.is_some());
            }
        }
        exact.push(json_of(&records));
    }
    assert!(alarms > 100, "{alarms}");
    assert_eq!(exact[0], exact[1], "threads do not change a byte");
}

#[test]
fn what_a_bad_program_does_is_an_error_of_its_transcript() {
    if no_python() {
        return;
    }
    let place = Place::new();
    let program = place.server(
        "bad.py",
        r#"
print("about", transcript, file=sys.stderr, flush=True)
alarm = {"event": 1, "at": 1, "kind": "other", "detail": "d"}
bad = {
    "dies": lambda: sys.exit(3),
    "nonsense": lambda: print("no JSON", flush=True),
    "blank": lambda: print(flush=True),
    "other": lambda: say({"type": "opinion"}),
    "list": lambda: say([1]),
    "ready": ready,
    "wrong-id": lambda: verdict("fine-1"),
    "past": lambda: verdict(transcript, alarm | {"at": 2}),
    "range": lambda: verdict(transcript, alarm | {"event": 2}),
    "negative": lambda: verdict(transcript, alarm | {"at": -1}),
    "no-text": lambda: verdict(transcript, alarm | {"event": 0}),
    "no-alarm": lambda: say({"type": "verdict", "transcript": transcript}),
    "no-at": lambda: verdict(transcript, {"event": 1, "kind": "other"}),
    "twice": lambda: (sys.stdout.write("{}\n" * 2), sys.stdout.flush()),
    "flood": lambda: (sys.stdout.write("x" * 10**7), sys.stdout.flush()),
    "half": lambda: (sys.stdout.write('{"type":'), sys.stdout.flush(), os._exit(0)),
    "hangs": lambda: time.sleep(100),
    "chatty": lambda: (sys.stderr.write("noise\n" * 10**6), verdict(transcript)),
}
bad.get(transcript, lambda: verdict(transcript, alarm))()
"#,
    );
    let expected = [
        ("fine-1", ""),
        (
            "dies",
            "it ended (exit status: 3); its stderr ends: |about dies",
        ),
        ("nonsense", "not of the protocol: expected ident"),
        ("fine-2", ""),
        ("blank", "not of the protocol: EOF"),
        ("other", "unknown variant `opinion`"),
        ("list", "not of the protocol"),
        ("ready", "its answer is no verdict"),
        (
            "wrong-id",
            "its verdict is of \"fine-1\", \"wrong-id\" was asked",
        ),
        ("past", "it alarmed at 2; event 1 is chars 0 to 1 of answer"),
        ("fine-3", ""),
        ("range", "it alarmed at event 2 of 2, counted from 0"),
        ("negative", "invalid value: integer `-1`"),
        ("no-text", "event 0, which is no text"),
        ("no-alarm", "missing field `alarm`"),
        ("no-at", "missing field `at`"),
        ("twice", "it gave more than one answer"),
        ("flood", "longer than 65536 bytes"),
        ("half", "it ended (exit status: 0)"),
        (
            "hangs",
            "no answer within 1500 ms; its stderr ends: |about hangs",
        ),
        ("chatty", ""),
        ("fine-4", ""),
    ];
    let corpus = place.ids(&expected.map(|(id, _)| id));
    let plan = plan(&guard(&program, "timeout_ms = 1500\nmax_errors = 50"));
    for threads in [1, 8] {
        let how = How {
            threads,
            ..How::default()
        };
        let records = run(&corpus, &plan, &how).unwrap();
        for (record, (id, said)) in records.iter().zip(expected) {
            assert_eq!(record.transcript, id);
            let error = error(record);
            // What was said about an earlier transcript may still be on its way.
            let all = said.split('|').all(|part| error.contains(part));
            assert!(all, "{id}: {error}");
            assert_eq!(error.is_empty(), said.is_empty(), "{id}: {error}");
            assert!(error.is_empty() || error.starts_with("test 1: "), "{error}");
            assert!(error.len() < 3000, "{id}: {} bytes", error.len());
            let alarm = record.blocks[0].stop(&[]).is_some();
            assert_eq!(alarm, id.starts_with("fine"), "{id}");
        }
    }
}

#[test]
fn nothing_is_sent_after_a_verdict_and_one_that_does_not_read_is_no_deadlock() {
    if no_python() {
        return;
    }
    let place = Place::new();
    let events: Vec<Value> = (0..20_000)
        .map(|_| json!({"type": "answer", "text": "one piece of the stream "}))
        .collect();
    let early = place.program(
        "early.py",
        r#"
got = {}
for message in told():
    if message["type"] == "hello":
        ready()
    elif message["type"] == "start":
        transcript = message["transcript"]
        got[transcript] = 0
        verdict(transcript, None)
        if transcript == "b":
            open(sys.argv[0] + ".got", "w").write(str(got["a"]))
    else:
        got[transcript] += 1
"#,
    );
    let corpus = place.corpus(&[("a".into(), events.clone()), ("b".into(), events)]);
    let one = How {
        threads: 1,
        ..How::default()
    };
    let records = run(&corpus, &plan(&guard(&early, "")), &one).unwrap();
    assert!(records.iter().all(|r| error(r).is_empty()));
    let got = std::fs::read_to_string(early.with_extension("py.got")).unwrap();
    assert!(got.parse::<usize>().unwrap() < 10_000, "{got} events came");

    let deaf = place.program("deaf.py", "ready()\ntime.sleep(100)\n");
    let began = Instant::now();
    let plan = plan(&guard(&deaf, "timeout_ms = 300"));
    let records = run(&corpus, &plan, &one).unwrap();
    assert!(records.iter().all(|r| error(r).contains("within 300 ms")));
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_slow_start_is_no_error_and_a_second_answer_later_is_one() {
    if no_python() {
        return;
    }
    let place = Place::new();
    let body = "time.sleep(2)\n";
    let slow = place.server("slow.py", "verdict(transcript)");
    let text = std::fs::read_to_string(&slow).unwrap();
    std::fs::write(
        &slow,
        text.replacen("def say", &format!("{body}def say"), 1),
    )
    .unwrap();
    let corpus = place.ids(&["a", "b", "c", "d"]);
    let records = run(
        &corpus,
        &plan(&guard(&slow, "timeout_ms = 1500")),
        &How::default(),
    );
    assert!(records.unwrap().iter().all(|r| error(r).is_empty()));

    let twice = place.server(
        "later.py",
        "verdict(transcript)\ntime.sleep(0.2)\nverdict(transcript)",
    );
    let one = How {
        threads: 1,
        ..How::default()
    };
    let records = run(&corpus, &plan(&guard(&twice, "")), &one).unwrap();
    let said: Vec<&str> = records.iter().map(error).collect();
    // Which of them is blamed is a matter of time; that one is, is not.
    let blamed = |e: &&str| e.contains("its verdict is of") || e.contains("more than one answer");
    assert!(said.iter().any(blamed), "{said:?}");
}

#[test]
fn a_program_that_cannot_be_used_is_named_before_any_work() {
    if no_python() {
        return;
    }
    let place = Place::new();
    let start = |text: &str| match Programs::start(&plan(text), &NEVER) {
        Err(StartError::Refused { command, what }) => format!("{command}: {what}"),
        Err(StartError::Interrupted) => panic!("nobody interrupts"),
        Ok(_) => panic!("it starts"),
    };
    let missing =
        "[[guard]]\ndetector = \"command\"\n[guard.params]\ncommand = [\"no-such-program\"]\n";
    assert!(start(missing).starts_with("no-such-program: it cannot be started: "));
    let refuses = place.program(
        "refuses.py",
        "print('unknown parameter lines', file=sys.stderr)\nsys.exit(2)\n",
    );
    let said = start(&guard(&refuses, ""));
    let wanted = "it ended (exit status: 2), after hello; its stderr ends: unknown parameter lines";
    assert!(said.ends_with(wanted), "{said}");
    let rude = place.program("rude.py", "next(told())\nverdict('x')\n");
    assert!(start(&guard(&rude, "")).contains("no ready"));
    let nameless = place.program("nameless.py", "say({'type': 'ready', 'name': 'x'})\n");
    assert!(start(&guard(&nameless, "")).contains("missing field `version`"));
    let raised = AtomicBool::new(true);
    let sleeps = place.program("sleeps.py", "time.sleep(100)\n");
    let interrupted = Programs::start(&plan(&guard(&sleeps, "")), &raised);
    assert!(matches!(interrupted, Err(StartError::Interrupted)));
}

#[test]
fn too_many_errors_end_the_run() {
    if no_python() {
        return;
    }
    let place = Place::new();
    let program = place.server("dies.py", "sys.exit('I broke on ' + transcript)");
    let ids: Vec<String> = (0..300).map(|i| format!("t{i}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let corpus = place.ids(&ids);
    let text = guard(&program, "max_errors = 2");
    let failed = run(&corpus, &plan(&text), &How::default());
    match failed {
        Err(RunError::Program(what)) => {
            assert!(what.contains("max_errors = 2"), "{what}");
            assert!(what.contains("its stderr ends: I broke on t"), "{what}");
        }
        other => panic!("{other:?}"),
    }
    let few = place.ids(&ids[..2]);
    let records = run(&few, &plan(&text), &How::default()).unwrap();
    assert!(records.iter().all(|r| error(r).contains("I broke on")));
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
    let events: Vec<Value> = (0..5)
        .map(|_| json!({"type": "reasoning", "text": "ab".repeat(50), "t_ms": 1}))
        .chain([json!({"type": "answer", "text": "not sent"})])
        .collect();
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
        let at = |m: deadloop_replay::Moment| m.seen.of(stop.channel).0;
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
    let text = text.replace(
        "[[model.guard]]",
        "[[model]]\nmatch = \"other*\"\n[[model.guard]]",
    );
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
    sys.exit("flaky")
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
        let failed: Vec<String> = failed.map(|r| r.transcript.clone()).collect();
        let order: Vec<&str> = records.iter().map(|r| r.transcript.as_str()).collect();
        assert_eq!(order, ["first", "flaky", "kept", "last"]);
        failed
    };
    assert_eq!(errors(run(&corpus, &plan, &how).unwrap()), ["flaky"]);
    // `kept` would fail if it were asked again.
    assert!(errors(run(&corpus, &plan, &how).unwrap()).is_empty());
}

/// Whether a process is there and no zombie.
#[cfg(target_os = "linux")]
fn lives(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    stat.is_ok_and(|stat| !stat.contains(") Z"))
}

#[cfg(target_os = "linux")]
#[test]
fn an_interruption_is_quick_and_nothing_is_left_running() {
    if no_python() {
        return;
    }
    let place = Place::new();
    // The program is a child of a shell that has another child.
    let program = place.server("sleeps.py", "time.sleep(100)");
    let pids = place.path().join("pids");
    let script = format!(
        "sleep 300 & echo $$ $! >> {0}; python3 {1}; true",
        pids.display(),
        program.display()
    );
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
        std::thread::sleep(Duration::from_secs(2));
        cancel.store(true, Ordering::Relaxed);
        let raised = Instant::now();
        let ended = run.join().unwrap();
        assert!(raised.elapsed() < Duration::from_millis(500));
        ended
    });
    assert!(matches!(
        ended,
        Err(RunError::Interrupted { done: 0, of: 3 })
    ));
    let pids = std::fs::read_to_string(pids).unwrap();
    let all: Vec<&str> = pids.split_whitespace().collect();
    assert!(all.len() >= 4, "two at least: {pids}");
    for pid in all {
        let until = Instant::now() + Duration::from_secs(5);
        while lives(pid) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(!lives(pid), "{pid} is left");
    }
}
