//! Shapes of runs that people reported, made up again: what `recommended-agents` says of each, and at which call. Where it
//! leaves a loop, a preset that finds it stands beside.

#![allow(clippy::unwrap_used, reason = "in the helpers of tests as in tests")]

use deadloop_detect::harness::{Detector, Member, Params};
use deadloop_detect::{
    Arguments, Event, Guard, Guards, RECOMMENDED_AGENTS, Setting, Settings, TextChannel,
};

/// A turn: what is said, and at most one call with its result.
#[derive(Clone, Default)]
struct Turn {
    said: String,
    /// Tool, arguments, result, whether it is an error.
    call: Option<(&'static str, String, String, bool)>,
    /// A user speaks before it.
    user: bool,
}

fn call(tool: &'static str, arguments: impl Into<String>, result: impl Into<String>) -> Turn {
    Turn {
        call: Some((tool, arguments.into(), result.into(), false)),
        ..Turn::default()
    }
}

fn failed(tool: &'static str, arguments: impl Into<String>, result: impl Into<String>) -> Turn {
    Turn {
        call: Some((tool, arguments.into(), result.into(), true)),
        ..Turn::default()
    }
}

fn say(text: impl Into<String>) -> Turn {
    Turn {
        said: text.into(),
        ..Turn::default()
    }
}

/// A token as a server draws it: other digits each time.
fn drawn(n: u64) -> String {
    format!(
        "{:08x}",
        0x1a2b_3c4d_u64.wrapping_add(n.wrapping_mul(0x9e37_79b1)) & 0xffff_ffff
    )
}

/// A response of a server: an id and a date around a body.
fn response(n: u64, body: &str) -> String {
    let (request, id) = (drawn(2 * n + 1), drawn(2 * n));
    let date = format!("Mon, 30 Jun 2026 04:{:02}:{:02} GMT", n / 60 % 60, n % 60);
    format!(r#"{{"ref": "req-{request}/resp-{id}", "date": "{date}", "body": {body}}}"#)
}

/// The call and the turn at which it is stopped.
fn stopped(mut guard: Guard, turns: &[Turn]) -> Option<(u64, u64)> {
    for turn in turns {
        let user = turn.user.then_some(Event::User("and now this"));
        let said = Event::Text(TextChannel::Answer, &turn.said);
        let mut events = vec![Event::Turn { agent: None }, said];
        if let Some((name, arguments, content, error)) = &turn.call {
            events.push(Event::Call {
                id: None,
                name,
                arguments: Arguments::Raw(arguments),
            });
            events.push(Event::Result {
                id: None,
                content,
                error: Some(*error),
                cut: None,
            });
        }
        for event in user.into_iter().chain(events) {
            if let Some(alarm) = guard.push(&event).into_alarm() {
                return Some((alarm.calls.0, alarm.turns.0));
            }
        }
    }
    None
}

/// The call at which `recommended-agents` stops a run.
fn recommended(turns: &[Turn]) -> Option<u64> {
    let guards = Guards::new(&Settings::parse(RECOMMENDED_AGENTS).unwrap()).unwrap();
    stopped(guards.guard("m"), turns).map(|(calls, _)| calls)
}

/// The turn after which a preset stops a run.
fn preset(detector: &str, name: &str, turns: &[Turn]) -> Option<u64> {
    let detector = Detector::find(detector).unwrap();
    let preset = detector.presets().unwrap();
    let preset = preset.into_iter().find(|p| p.name == name).unwrap();
    let mut params = Params::defaults(detector.params);
    for (name, value) in preset.params {
        params.set(&name, value);
    }
    let setting = Setting {
        members: vec![Member::new(detector, params)],
    };
    stopped(Guard::new(&setting).unwrap(), turns).map(|(_, turns)| turns)
}

fn times(count: u64, turn: impl Fn(u64) -> Turn) -> Vec<Turn> {
    (0..count).map(turn).collect()
}

#[test]
fn one_request_whose_response_has_an_id_and_a_date() {
    let url = r#"{"method": "GET", "url": "/v3/plans/7/confirm"}"#;
    let poll = times(1000, |n| {
        call("execute", url, response(n, r#"{"status": "checking"}"#))
    });
    assert_eq!(recommended(&poll), Some(3));
    let only_id = times(12, |n| {
        call("execute", url, format!("resp-{} checking", drawn(n)))
    });
    assert_eq!(recommended(&only_id), Some(3));
    let only_date = times(12, |n| {
        call(
            "execute",
            url,
            format!("2026-06-30T04:33:{:02}Z checking", n + 17),
        )
    });
    assert_eq!(recommended(&only_date), Some(3));
}

#[test]
fn a_poll_that_makes_progress_goes_on() {
    let url = r#"{"url": "/v3/jobs/7"}"#;
    let bodies: [fn(u64) -> String; 5] = [
        |n| format!(r#"{{"progress": "{} %"}}"#, 4 * n),
        |n| format!(r#"{{"queue": {}}}"#, 900 - 7 * n),
        |n| format!(r#"{{"bytes": {}}}"#, 1_000_003 * n),
        |n| format!(r#"{{"step": "step-{n}", "of": 24}}"#),
        |n| {
            format!(
                r#"{{"board": "{}x{}"}}"#,
                ".".repeat(n as usize),
                ".".repeat(24 - n as usize)
            )
        },
    ];
    for body in bodies {
        let poll = times(24, |n| call("execute", url, response(n, &body(n))));
        assert_eq!(recommended(&poll), None, "{}", body(3));
    }
    // An id that does not change every time is a version, and another version is news.
    let versions = times(7, |n| {
        call("execute", url, format!("etag {}", drawn(n / 2)))
    });
    assert_eq!(recommended(&versions), None);
}

#[test]
fn rings_between_which_ids_differ() {
    for length in 3..=8 {
        let ring = times(60, |n| {
            let step = n % length;
            call(
                "execute",
                format!(r#"{{"url": "/v3/part/{step}"}}"#),
                response(n, &format!("{{\"part\": {step}}}")),
            )
        });
        let at = recommended(&ring);
        // With seven and eight different results among sixteen it goes on: max_distinct 8 would find them, at four
        // times the false stops.
        match length {
            3..=6 => assert!(at.is_some_and(|at| at <= 16), "{length}: {at:?}"),
            _ => assert_eq!(at, None, "{length}"),
        }
    }
}

#[test]
fn reworded_writes_with_the_same_answer() {
    let body = r#"{"error": "422: field zone_id is missing"}"#;
    let writes = times(83, |n| {
        call(
            "execute",
            format!(r#"{{"post": "work order in words {n}"}}"#),
            response(n, body),
        )
    });
    assert_eq!(recommended(&writes), Some(8));
    let errors = times(83, |n| {
        failed("execute", format!(r#"{{"post": {n}}}"#), response(n, body))
    });
    assert_eq!(recommended(&errors), Some(7));
}

#[test]
fn windows_that_wrap_are_read_again() {
    let windows = [(1, 120), (30, 100), (100, 200), (1, 150)];
    let read = times(48, |n| {
        let (offset, limit) = windows[n as usize % windows.len()];
        let text = format!("{offset}: the text of the window from {offset} on, {limit} lines");
        call(
            "read_file",
            format!(r#"{{"offset": {offset}, "limit": {limit}}}"#),
            text,
        )
    });
    assert_eq!(recommended(&read), Some(8));
}

#[test]
fn a_command_that_grows_by_a_copy_of_itself() {
    let grown = |n: u64| vec!["python check.py"; n as usize + 1].join(" && ");
    let failing = times(30, |n| {
        failed("bash", grown(n), "python: can't open file 'check.py'")
    });
    assert_eq!(recommended(&failing), Some(7));
    let quiet = times(30, |n| {
        call("bash", grown(n), "all checks have passed, nothing to do")
    });
    assert_eq!(recommended(&quiet), Some(8));
    // Where the output grows with it, each is new, and nothing here sees it.
    let growing = times(30, |n| {
        call(
            "bash",
            grown(n),
            "all checks have passed\n".repeat(n as usize + 1),
        )
    });
    assert_eq!(recommended(&growing), None);
}

#[test]
fn what_is_known_is_kept_across_a_compaction_and_dropped_at_a_user() {
    let guards = Guards::new(&Settings::parse(RECOMMENDED_AGENTS).unwrap()).unwrap();
    let after = |between: Event<'static>| {
        let mut guard = guards.guard("m");
        for _ in 0..4 {
            let events = [
                Event::Turn { agent: None },
                Event::Text(
                    TextChannel::Answer,
                    "The plan: read it, change it, test it.",
                ),
                Event::Call {
                    id: None,
                    name: "read",
                    arguments: Arguments::Raw("{}"),
                },
                Event::Result {
                    id: None,
                    content: "def parse(text): return text.split()",
                    error: Some(false),
                    cut: None,
                },
                between,
            ];
            for event in events {
                if let Some(alarm) = guard.push(&event).into_alarm() {
                    return Some(alarm.calls.0);
                }
            }
        }
        None
    };
    assert_eq!(after(Event::System), Some(3));
    // A message that stood before, word for word, is that of a program.
    let said = Event::User("Go on, this is what came before.");
    assert_eq!(after(said), Some(4));
}

#[test]
fn results_that_say_nothing_count_from_the_tenth_on() {
    for (tool, result) in [
        ("press_key", "ok"),
        ("undo", "undone"),
        ("shot", "[image omitted]"),
    ] {
        let row = |count| times(count, |_| call(tool, r#"{"key": "ArrowDown"}"#, result));
        assert_eq!(recommended(&row(9)), None, "{tool}");
        assert_eq!(recommended(&row(12)), Some(10), "{tool}");
    }
    // What answers a question says that nothing is there.
    for result in [
        "",
        "<output>\n</output>",
        "No matches found",
        "not found",
        "[]",
    ] {
        let row = times(9, |_| call("grep", r#"{"q": "needle"}"#, result));
        assert_eq!(recommended(&row), Some(3), "{result}");
    }
    // Beside an id and a date that have names it says as little.
    let named = |n| {
        call(
            "scroll",
            "{}",
            format!(
                "ok\nrequest_id: req-{}\ndate: Mon, 30 Jun 2026 04:10:{:02} GMT",
                drawn(n),
                n + 10
            ),
        )
    };
    assert_eq!(recommended(&times(9, named)), None);
    assert_eq!(recommended(&times(12, named)), Some(10));
    let wait = times(50, |_| call("wait_for", "{}", "still running since 12 s"));
    assert_eq!(recommended(&wait), None);
    let form = times(24, |n| {
        call("fill", format!(r#"{{"field": "f{n}"}}"#), "ok")
    });
    assert_eq!(recommended(&form), None);
    let searches = times(24, |n| {
        call("search", format!(r#"{{"q": "word {n}"}}"#), "[]")
    });
    assert_eq!(recommended(&searches), None);
}

#[test]
fn edits_in_a_row_and_answers_that_only_acknowledge() {
    for done in [
        "The file /r/plan.md has been updated successfully.",
        "Success. Updated the following files:\nM app/mailer.py\n",
        "Exit code: 0\nWall time: 1.3 seconds\nOutput:\n",
        r#"{"success":true,"updatedRows":1}"#,
        "UPDATE 1",
        r#"{"verdict":"ALLOW","reason":"NONE"}"#,
        "Command: git mv\nOutput: (empty)\nExit Code: 0",
    ] {
        let edits = times(40, |n| call("any", format!(r#"{{"n": {n}}}"#), done));
        assert_eq!(recommended(&edits), None, "{done}");
    }
    // The same two edits, to and fro.
    let toggle = times(20, |n| {
        let edit = format!(r#"{{"old": "{}", "new": "{}"}}"#, n % 2, (n + 1) % 2);
        call("edit_file", edit, "The file a.py has been updated.")
    });
    assert_eq!(recommended(&toggle), Some(8));
}

#[test]
fn a_poll_has_a_bound_of_its_own() {
    let body = r#"{"status":"in_progress","stage":"tests","runner":"linux-2"}"#;
    let poll = |count| times(count, |_| call("get_build_status", r#"{"id": 77}"#, body));
    assert_eq!(recommended(&poll(29)), None);
    assert_eq!(recommended(&poll(40)), Some(30));
    let sleeps = times(56, |n| match n % 2 {
        0 => call("get_build_status", r#"{"id": 77}"#, body),
        _ => call("bash", "sleep 30", ""),
    });
    assert_eq!(recommended(&sleeps), None);
}

#[test]
fn what_makes_results_differ_for_nothing() {
    let result: [fn(u64) -> String; 6] = [
        |n| format!("FAILED test_empty\n3 passed, 2 failed in {}.{}s", n % 7, n),
        |n| {
            format!(
                "Tests: 48 passed\nTime: {}.5 s, estimated {} s",
                n % 5 + 1,
                n % 3
            )
        },
        |n| format!("[1] started, pid {}\nfailed to bind", 6700 + 31 * n),
        |n| {
            format!(
                "client 127.0.0.1:{} refused the connection",
                40_000 + 97 * n % 9000
            )
        },
        |n| {
            format!(
                "took {}ms at 0x7ffe{:04x}, see /tmp/run.{}",
                3 * n,
                77 * n + 4096,
                n
            )
        },
        |n| format!(r#"{{"error":"not found","request_id":"req_{}"}}"#, drawn(n)),
    ];
    for result in result {
        let run = times(30, |n| call("run_tests", "{}", result(n)));
        assert_eq!(recommended(&run), Some(3), "{}", result(3));
    }
    // A number that counts the calls is told from progress by its length.
    let counted: [fn(u64) -> String; 3] = [
        |n| format!("[1]<button>Search</button>\nCurrent step: {n}/20"),
        |n| format!("needs a name\n[loop notice: count={n}; failed {n} times]"),
        |n| format!("Replaced text in a (rev {})", 1403 + n),
    ];
    for result in counted {
        let run = times(16, |n| call("switch_tab", "{}", result(n)));
        assert_eq!(recommended(&run), Some(6), "{}", result(3));
        let nearer = times(5, |n| {
            call("go", "{}", format!("a door {} steps ahead", 5 - n))
        });
        assert_eq!(recommended(&nearer), None);
    }
}

/// Folding numbers switches no id off.
#[test]
fn numbers_that_are_folded_hide_no_id() {
    let folded = RECOMMENDED_AGENTS.replace(r#"["durations","#, r#"["numbers", "durations","#);
    let guards = Guards::new(&Settings::parse(&folded).unwrap()).unwrap();
    let body: [fn(u64) -> String; 3] = [
        |n| format!(r#"{{"error":"not found","request_id":"req_{}"}}"#, drawn(n)),
        |_| r#"{"error":"not found"}"#.into(),
        |n| format!(r#"{{"error":"not found","took": {}}}"#, n * n % 61),
    ];
    for body in body {
        let run = times(10, |n| call("get", r#"{"id": 7}"#, body(n)));
        assert_eq!(
            stopped(guards.guard("m"), &run).map(|(calls, _)| calls),
            Some(3)
        );
    }
}

#[test]
fn equal_calls_of_one_message_are_stopped_in_it() {
    let guards = Guards::new(&Settings::parse(RECOMMENDED_AGENTS).unwrap()).unwrap();
    let of = |names: &[&'static str]| {
        let mut guard = guards.guard("m");
        let begun = guard.push(&Event::Turn { agent: None });
        assert!(begun.into_alarm().is_none());
        let calls = names.iter().cycle().take(40);
        calls.into_iter().find_map(|name| {
            let arguments = Arguments::Raw("{}");
            let call = Event::Call {
                id: None,
                name,
                arguments,
            };
            Some(guard.push(&call).into_alarm()?.calls.0)
        })
    };
    assert_eq!(of(&["execute"]), Some(3));
    assert_eq!(of(&["a", "b", "c"]), Some(7));
    let all: Vec<&'static str> = (0..40).map(|n| &*format!("tool{n}").leak()).collect();
    assert_eq!(of(&all), None);
}

#[test]
fn a_program_that_speaks_as_the_user_resets_nothing() {
    let poll = |said: fn(u64) -> String| {
        let guards = Guards::new(&Settings::parse(RECOMMENDED_AGENTS).unwrap()).unwrap();
        let mut guard = guards.guard("m");
        (0..20).find_map(|n| {
            let said = said(n);
            let events = [
                Event::User(&said),
                Event::Turn { agent: None },
                Event::Call {
                    id: None,
                    name: "memory",
                    arguments: Arguments::Raw("{}"),
                },
                Event::Result {
                    id: None,
                    content: "persona\nhuman\ntrip\n",
                    error: None,
                    cut: None,
                },
            ];
            let mut alarms = events
                .iter()
                .filter_map(|event| guard.push(event).into_alarm());
            alarms.next().map(|alarm| alarm.calls.0)
        })
    };
    assert_eq!(poll(|_| "[loop] Continue the next task.".into()), Some(3));
    assert_eq!(poll(|n| format!("and now the part {n}")), None);
}

#[test]
fn tests_that_stay_green_after_each_change() {
    let tdd = times(12, |n| match n % 2 {
        0 => call("edit", format!(r#"{{"path": "f{n}.go"}}"#), "edited"),
        _ => call("bash", "go test ./...", "ok  \tpkg\t0.01s"),
    });
    assert_eq!(recommended(&tdd), None);
}

#[test]
fn what_is_said_again_is_left_to_narration() {
    let text = "I'll read the test file and then write the implementation.";
    let read = times(26, |n| Turn {
        said: text.into(),
        ..call(
            "read_file",
            format!(r#"{{"path": "t_{n}.py"}}"#),
            format!("def test_{n}(): assert f({n}) == {}", n * n),
        )
    });
    assert_eq!(recommended(&read), None);
    assert_eq!(preset("narration", "weave-narration", &read), Some(3));
    // The same after each summary, and the same to every user.
    let again = times(8, |n| Turn {
        user: n > 0,
        ..say("Here is the plan again: 1. read the module, 2. change the parser.")
    });
    assert_eq!(recommended(&again), None);
    assert_eq!(preset("narration", "weave-narration", &again), Some(3));
    // Only numbers move, and a word.
    let gates = times(8, |n| {
        say(format!(
            "I read this as continue waiting on the gates: {} are green, {} remain open here",
            n + 1,
            9 - n
        ))
    });
    assert_eq!(
        preset("narration", "senpi-repetitive-turns", &gates),
        Some(3)
    );
    // One screen after the other, each with other pixels.
    let shots = times(8, |n| Turn {
        said: "Starting".into(),
        ..call("screenshot", "{}", format!("{n} pixels differ"))
    });
    assert_eq!(preset("narration", "hermes-turns", &shots), Some(3));
    let work = times(12, |n| {
        say(format!(
            "Step {n}: {} is done, and I go on with the next part of it.",
            ["the reader", "a parser", "this check", "our writer"][n as usize % 4]
                .repeat(1 + n as usize)
        ))
    });
    assert_eq!(preset("narration", "weave-narration", &work), None);
}
