//! Tests of misbehaving programs: an error affects only its transcript, and a run that a program cannot serve ends with
//! the program's name.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::kit;

use std::sync::atomic::AtomicBool;

use deadloop_replay::{Programs, RunError, StartError};
use kit::{How, NEVER, Place, error, guard, no_python, plan, run};
use serde_json::json;

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
    "no-turn": lambda: verdict(transcript, alarm | {"event": 0, "at": 7}),
    "no-alarm": lambda: say({"type": "verdict", "transcript": transcript}),
    "no-at": lambda: verdict(transcript, {"event": 1, "kind": "other"}),
    "twice": lambda: (sys.stdout.write("{}\n" * 2), sys.stdout.flush()),
    "flood": lambda: (sys.stdout.write("x" * 10**7), sys.stdout.flush()),
    "half": lambda: (sys.stdout.write('{"type":'), sys.stdout.flush(), os._exit(0)),
    "hangs": lambda: time.sleep(100),
    "fine-short": lambda: say({"alarm": alarm}),
    "typeless": lambda: say({"transcript": transcript}),
    "chatty": lambda: (sys.stderr.write("noise\n" * 10**6), verdict(transcript)),
}
bad.get(transcript, lambda: verdict(transcript, alarm))()
"#,
    );
    let dies = "it ended (exit status: 3); its stderr ends: |about dies";
    let hangs = "no answer within 5000 ms; its stderr ends: |about hangs";
    let wrong = "its verdict is of \"fine-1\", \"wrong-id\" was asked";
    let turn = "it alarmed at 7; event 0 is turns 0 to 1 of turns";
    let expected = [
        ("fine-1", ""),
        ("dies", dies),
        ("nonsense", "not of the protocol: expected ident"),
        ("fine-2", ""),
        ("blank", "not of the protocol: EOF"),
        ("other", "unknown variant `opinion`"),
        ("list", "not of the protocol"),
        ("ready", "its answer is no verdict"),
        ("wrong-id", wrong),
        ("past", "it alarmed at 2; event 1 is chars 0 to 1 of answer"),
        ("fine-3", ""),
        ("range", "it alarmed at event 2 of 2, counted from 0"),
        ("negative", "invalid value: integer `-1`"),
        ("no-turn", turn),
        ("no-alarm", "missing field `alarm`"),
        ("no-at", "missing field `at`"),
        ("twice", "it gave more than one answer"),
        ("flood", "longer than 65536 bytes"),
        ("half", "it ended (exit status: 0)"),
        ("hangs", hangs),
        ("fine-short", ""),
        ("typeless", "missing field `type`"),
        ("chatty", ""),
        ("fine-4", ""),
    ];
    let corpus = place.ids(&expected.map(|(id, _)| id));
    let plan = plan(&guard(&program, "timeout_ms = 5000\nmax_errors = 50"));
    for threads in [1, 8] {
        let records = run(&corpus, &plan, &How::on(threads)).unwrap();
        for (record, (id, said)) in records.iter().zip(expected) {
            assert_eq!(*record.transcript, *id);
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

/// Checks a program that has ended before the next question, or has that question in its pipe.
#[test]
fn a_program_that_ends_after_a_good_answer_makes_no_error_of_the_next() {
    if no_python() {
        return;
    }
    let place = Place::new();
    let ids: Vec<String> = (0..8).map(|i| format!("t{i}")).collect();
    let corpus = place.ids(&ids.iter().map(String::as_str).collect::<Vec<_>>());
    let third = "asked = globals().get('asked', 0) + 1\nif asked == 3: os._exit(0)";
    for (name, ending) in [
        ("now.py", "sys.exit(0)"),
        ("soon.py", "time.sleep(0.02)\nsys.exit(3)"),
        ("third.py", third),
    ] {
        let program = place.server(name, &format!("verdict(transcript)\n{ending}"));
        for threads in [1, 4] {
            let plan = plan(&guard(&program, "max_errors = 0"));
            let records = run(&corpus, &plan, &How::on(threads)).unwrap();
            let said: String = records.iter().map(error).collect();
            assert_eq!(said, "", "{name} {threads}");
        }
    }
}

#[test]
fn nothing_is_sent_after_a_verdict_and_one_that_does_not_read_is_no_deadlock() {
    if no_python() {
        return;
    }
    let place = Place::new();
    let piece = json!({"type": "answer", "text": "one piece of the stream "});
    let events = vec![piece; 20_000];
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
        # The run may end with the last verdict, and the program with it: the file is written first.
        if transcript == "b":
            open(sys.argv[0] + ".got", "w").write(str(got["a"]))
        verdict(transcript, None)
        # Nothing is read meanwhile: what still comes is what the pipe held.
        time.sleep(2)
    else:
        got[transcript] += 1
"#,
    );
    let corpus = place.corpus(&[("a".into(), events.clone()), ("b".into(), events)]);
    let one = How::on(1);
    let records = run(&corpus, &plan(&guard(&early, "")), &one).unwrap();
    assert!(records.iter().all(|r| error(r).is_empty()));
    let got = std::fs::read_to_string(early.with_extension("py.got")).unwrap();
    assert!(got.parse::<usize>().unwrap() < 10_000, "{got} events came");

    let deaf = place.program("deaf.py", "ready()\ntime.sleep(100)\n");
    let plan = plan(&guard(&deaf, "timeout_ms = 300"));
    let records = run(&corpus, &plan, &one).unwrap();
    assert!(records.iter().all(|r| error(r).contains("within 300 ms")));
}

#[test]
fn a_slow_start_is_no_error_and_a_second_answer_later_is_one() {
    if no_python() {
        return;
    }
    let place = Place::new();
    let slow = place.server("slow.py", "verdict(transcript)");
    let text = std::fs::read_to_string(&slow).unwrap();
    let text = text.replacen("def say", "time.sleep(3)\ndef say", 1);
    std::fs::write(&slow, text).unwrap();
    let corpus = place.ids(&["a", "b", "c", "d"]);
    let waits = plan(&guard(&slow, "timeout_ms = 2500"));
    let records = run(&corpus, &waits, &How::default());
    assert!(records.unwrap().iter().all(|r| error(r).is_empty()));

    let again = "verdict(transcript)\ntime.sleep(0.2)\nverdict(transcript)";
    let twice = place.server("later.py", again);
    let one = How::on(1);
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
    let body = "print('unknown parameter lines', file=sys.stderr)\nsys.exit(2)\n";
    let refuses = place.program("refuses.py", body);
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
