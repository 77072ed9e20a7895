//! Tests `recommended-agents` on synthetic runs in the shape of reported ones.
//!
//! If it misses a loop, the test names a preset that finds it.

#![allow(clippy::unwrap_used, reason = "in the helpers of tests as in tests")]

use crate::common::{self, TURN};

use deadloop_detect::{
    CutText, Event, Guard, Guards, RECOMMENDED_AGENTS, Setting, Settings, TextChannel,
};

/// A turn: its text, and at most one call with its result.
#[derive(Clone, Default)]
struct Turn {
    said: String,
    /// The tool, the arguments, the result, and whether it is an error.
    call: Option<(&'static str, String, String, bool)>,
    /// A user message before the turn.
    user: bool,
}

fn call(tool: &'static str, arguments: impl Into<String>, result: impl Into<String>) -> Turn {
    Turn {
        call: Some((tool, arguments.into(), result.into(), false)),
        ..Turn::default()
    }
}

fn failed(tool: &'static str, arguments: impl Into<String>, result: impl Into<String>) -> Turn {
    let mut turn = call(tool, arguments, result);
    turn.call.iter_mut().for_each(|call| call.3 = true);
    turn
}

fn say(text: impl Into<String>) -> Turn {
    Turn {
        said: text.into(),
        ..Turn::default()
    }
}

/// Returns a token as a server generates it, with other digits each time.
fn drawn(n: u64) -> String {
    let token = 0x1a2b_3c4d_u64.wrapping_add(n.wrapping_mul(0x9e37_79b1));
    format!("{:08x}", token & 0xffff_ffff)
}

/// Returns a response of a server: an id, a date and a body.
fn response(n: u64, body: &str) -> String {
    let (request, id) = (drawn(2 * n + 1), drawn(2 * n));
    let date = format!("Mon, 30 Jun 2026 04:{:02}:{:02} GMT", n / 60 % 60, n % 60);
    format!(r#"{{"ref": "req-{request}/resp-{id}", "date": "{date}", "body": {body}}}"#)
}

/// Returns the call and the turn of the stop.
fn stopped(mut guard: Guard, turns: &[Turn]) -> Option<(u64, u64)> {
    for turn in turns {
        let user = turn.user.then_some(Event::User("and now this"));
        let said = Event::Text(TextChannel::Answer, &turn.said);
        let mut events = vec![TURN, said];
        if let Some((name, arguments, content, error)) = &turn.call {
            events.push(common::call(name, arguments));
            events.push(common::result(content, Some(*error)));
        }
        for event in user.into_iter().chain(events) {
            if let Some(alarm) = guard.push(&event).into_alarm() {
                return Some((alarm.calls.0, alarm.turns.0));
            }
        }
    }
    None
}

/// Returns the call at which `recommended-agents` stops a run.
fn recommended(turns: &[Turn]) -> Option<u64> {
    stopped(guard(RECOMMENDED_AGENTS), turns).map(|(calls, _)| calls)
}

fn guard(settings: &str) -> Guard {
    let guards = Guards::new(&Settings::parse(settings).unwrap()).unwrap();
    guards.guard("m")
}

/// Returns the turn after which a preset stops a run.
fn preset(detector: &str, name: &str, turns: &[Turn]) -> Option<u64> {
    let setting = Setting {
        members: vec![common::preset(detector, name)],
    };
    stopped(Guard::new(&setting).unwrap(), turns).map(|(_, turns)| turns)
}

fn times(count: u64, turn: impl Fn(u64) -> Turn) -> Vec<Turn> {
    (0..count).map(turn).collect()
}

#[test]
fn one_request_whose_response_has_an_id_and_a_date() {
    let url = r#"{"method": "GET", "url": "/v3/plans/7/confirm"}"#;
    let bodies: [fn(u64) -> String; 3] = [
        |n| response(n, r#"{"status": "checking"}"#),
        |n| format!("resp-{} checking", drawn(n)),
        |n| format!("2026-06-30T04:33:{:02}Z checking", n + 17),
    ];
    for body in bodies {
        let poll = times(40, |n| call("execute", url, body(n)));
        assert_eq!(recommended(&poll), Some(3), "{}", body(0));
    }
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
            let [before, after] = [n, 24 - n].map(|n| ".".repeat(n as usize));
            format!(r#"{{"board": "{before}x{after}"}}"#)
        },
    ];
    for body in bodies {
        let poll = times(24, |n| call("execute", url, response(n, &body(n))));
        assert_eq!(recommended(&poll), None, "{}", body(3));
    }
    // An id that changes only sometimes is a version, and another version is a new result.
    let tag = |n| format!("etag {}", drawn(n / 2));
    let versions = times(7, |n| call("execute", url, tag(n)));
    assert_eq!(recommended(&versions), None);
}

#[test]
fn rings_between_which_ids_differ() {
    for length in 3..=8 {
        let ring = times(60, |n| {
            let step = n % length;
            let url = format!(r#"{{"url": "/v3/part/{step}"}}"#);
            call(
                "execute",
                url,
                response(n, &format!("{{\"part\": {step}}}")),
            )
        });
        let at = recommended(&ring);
        // A ring of more than six is known once four of the last sixteen results are new: the others stand before them.
        let by = 16.max(length + 12);
        assert!(at.is_some_and(|at| at <= by), "{length}: {at:?}");
    }
}

#[test]
fn reworded_writes_with_the_same_answer() {
    let body = r#"{"error": "422: field zone_id is missing"}"#;
    let post = |n| format!(r#"{{"post": "work order in words {n}"}}"#);
    let writes = times(83, |n| call("execute", post(n), response(n, body)));
    assert_eq!(recommended(&writes), Some(8));
    let post = |n| format!(r#"{{"post": {n}}}"#);
    let errors = times(83, |n| failed("execute", post(n), response(n, body)));
    assert_eq!(recommended(&errors), Some(7));
}

#[test]
fn windows_that_wrap_are_read_again() {
    let windows = [(1, 120), (30, 100), (100, 200), (1, 150)];
    let read = times(48, |n| {
        let (offset, limit) = windows[n as usize % windows.len()];
        let text = format!("{offset}: the text of the window from {offset} on, {limit} lines");
        let window = format!(r#"{{"offset": {offset}, "limit": {limit}}}"#);
        call("read_file", window, text)
    });
    assert_eq!(recommended(&read), Some(8));
}

#[test]
fn a_command_that_grows_by_a_copy_of_itself() {
    let grown = |n: u64| vec!["python check.py"; n as usize + 1].join(" && ");
    let none = "python: can't open file 'check.py'";
    let failing = times(30, |n| failed("bash", grown(n), none));
    assert_eq!(recommended(&failing), Some(7));
    let passed = "all checks have passed, nothing to do";
    let quiet = times(30, |n| call("bash", grown(n), passed));
    assert_eq!(recommended(&quiet), Some(8));
    // If the output grows as well, each result is new, and the loop is missed.
    let all = |n: u64| "all checks have passed\n".repeat(n as usize + 1);
    let growing = times(30, |n| call("bash", grown(n), all(n)));
    assert_eq!(recommended(&growing), None);
}

#[test]
fn what_is_known_is_kept_across_a_compaction_and_dropped_at_a_user() {
    let after = |between: Event<'static>| {
        let plan = "The plan: read it, change it, test it.";
        let content = "def parse(text): return text.split()";
        let events = [
            TURN,
            Event::Text(TextChannel::Answer, plan),
            common::call("read", "{}"),
            common::result(content, Some(false)),
            between,
        ];
        let mut guard = guard(RECOMMENDED_AGENTS);
        let mut alarms = events.iter().cycle().take(20);
        let alarm = alarms.find_map(|event| guard.push(event).into_alarm());
        alarm.map(|alarm| alarm.calls.0)
    };
    assert_eq!(after(Event::System), Some(3));
    // A repeated message comes from a program.
    let said = Event::User("Go on, this is what came before.");
    assert_eq!(after(said), Some(4));
}

#[test]
fn results_that_say_nothing_count_from_the_tenth_on() {
    let mute = [("press_key", "ok"), ("undo", "undone")];
    for (tool, result) in mute.into_iter().chain([("shot", "[image omitted]")]) {
        let row = |count| times(count, |_| call(tool, r#"{"key": "ArrowDown"}"#, result));
        assert_eq!(recommended(&row(9)), None, "{tool}");
        assert_eq!(recommended(&row(12)), Some(10), "{tool}");
    }
    // An empty result answers a question.
    let none = ["", "<output>\n</output>", "No matches found", "[]"];
    for result in none.into_iter().chain(["not found"]) {
        let row = times(9, |_| call("grep", r#"{"q": "needle"}"#, result));
        assert_eq!(recommended(&row), Some(3), "{result}");
    }
    // Named ids and dates add no information.
    let named = |n| {
        let date = format!("date: Mon, 30 Jun 2026 04:10:{:02} GMT", n + 10);
        let result = format!("ok\nrequest_id: req-{}\n{date}", drawn(n));
        call("scroll", "{}", result)
    };
    assert_eq!(recommended(&times(9, named)), None);
    assert_eq!(recommended(&times(12, named)), Some(10));
    let field = |n| format!(r#"{{"field": "f{n}"}}"#);
    let form = times(24, |n| call("fill", field(n), "ok"));
    assert_eq!(recommended(&form), None);
    let word = |n| format!(r#"{{"q": "word {n}"}}"#);
    let searches = times(24, |n| call("search", word(n), "[]"));
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
    // Two edits that undo each other.
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
    // The guard warns once, at the tenth call.
    let mut watching = guard(RECOMMENDED_AGENTS);
    let warned: Vec<u64> = (0..29)
        .flat_map(|_| {
            let asked = common::call("get_build_status", r#"{"id": 77}"#);
            let events = [TURN, asked, common::result(body, None)];
            events.map(|event| watching.push(&event).warnings)
        })
        .flatten()
        .map(|warning| warning.calls.0)
        .collect();
    assert_eq!(warned, [10]);
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
            let (took, expected) = (n % 5 + 1, n % 3);
            format!("Tests: 48 passed\nTime: {took}.5 s, estimated {expected} s")
        },
        |n| format!("[1] started, pid {}\nfailed to bind", 6700 + 31 * n),
        |n| {
            let port = 40_000 + 97 * n % 9000;
            format!("client 127.0.0.1:{port} refused the connection")
        },
        |n| {
            let (took, at) = (3 * n, 77 * n + 4096);
            format!("took {took}ms at 0x7ffe{at:04x}, see /tmp/run.{n}")
        },
        |n| format!(r#"{{"error":"not found","request_id":"req_{}"}}"#, drawn(n)),
    ];
    for result in result {
        let run = times(30, |n| call("run_tests", "{}", result(n)));
        assert_eq!(recommended(&run), Some(3), "{}", result(3));
    }
    // A call counter is distinguished from progress by the length of the series.
    let counted: [fn(u64) -> String; 3] = [
        |n| format!("[1]<button>Search</button>\nCurrent step: {n}/20"),
        |n| format!("needs a name\n[loop notice: count={n}; failed {n} times]"),
        |n| format!("Replaced text in a (rev {})", 1403 + n),
    ];
    for result in counted {
        let run = times(16, |n| call("switch_tab", "{}", result(n)));
        assert_eq!(recommended(&run), Some(6), "{}", result(3));
        let door = |n| format!("a door {} steps ahead", 5 - n);
        let nearer = times(5, |n| call("go", "{}", door(n)));
        assert_eq!(recommended(&nearer), None);
    }
}

/// A program sends the same user message each time. Short answers and polls are no loop.
#[test]
fn the_same_answer_to_the_same_message() {
    let asked = |turn: Turn| {
        times(20, |_| Turn {
            user: true,
            ..turn.clone()
        })
    };
    let stop = |turn| stopped(guard(RECOMMENDED_AGENTS), &asked(turn)).map(|(_, turns)| turns);
    assert_eq!(
        stop(say("The project is a small checker for code.")),
        Some(3)
    );
    assert_eq!(stop(say("HEARTBEAT_OK")), None);
    let said = "The build is running, I look at it once more.".to_owned();
    let poll = call("status", "{}", "in_progress");
    assert_eq!(stop(Turn { said, ..poll }), None);
}

#[test]
fn one_error_with_other_numbers() {
    let tries: [fn(u64) -> Turn; 2] = [
        |n| {
            failed(
                "save",
                "{}",
                format!("Refused (try {n} of 14): no such book"),
            )
        },
        |n| {
            let cut = format!(r#"{{"recap": "{}"#, "x".repeat(n as usize % 7));
            failed(
                "finish",
                cut,
                format!("unterminated string at column {}", 9 + n % 7),
            )
        },
    ];
    for one in tries {
        assert_eq!(recommended(&times(14, one)), Some(12));
        assert_eq!(recommended(&times(11, one)), None);
    }
}

/// Polls without a result are stopped at the thirtieth, even if they contain a time.
#[test]
fn waits_without_end() {
    let waits: [fn(u64) -> Turn; 3] = [
        |_| call("wait_for", "{}", "still running since 12 s"),
        |_| call("wait_agent", "{}", "No agents completed yet"),
        |n| {
            let up = 61 * n + n % 3;
            let state = format!(r#"{{"running": true, "uptime_s": {up}, "new_output": ""}}"#);
            call("process", r#"{"action": "poll"}"#, state)
        },
    ];
    for wait in waits {
        assert_eq!(recommended(&times(29, wait)), None);
        assert_eq!(recommended(&times(40, wait)), Some(30));
    }
}

/// The hash of a cut result is no id: pages that begin alike and differ later are new results.
#[test]
fn results_that_differ_in_what_was_cut_are_news() {
    let clicks = |hash: fn(u64) -> String| {
        let mut guard = guard(RECOMMENDED_AGENTS);
        (0..6).find_map(|n| {
            let sha256 = hash(n);
            let cut = Some(CutText {
                length: Some(9000 + n),
                sha256: &sha256,
            });
            let page = Event::Result {
                id: None,
                content: "Hotels: 2 adults",
                error: None,
                cut,
            };
            let events = [TURN, common::call("click", r#"{"id": "B9"}"#), page];
            let mut alarms = events.iter();
            let alarm = alarms.find_map(|event| guard.push(event).into_alarm());
            alarm.map(|alarm| alarm.calls.0)
        })
    };
    assert_eq!(clicks(|n| format!("{}{}", drawn(n), drawn(n + 9))), None);
    assert_eq!(clicks(|_| "c52ad11aacc86050".into()), Some(3));
}

/// Ids are recognised even if numbers are folded.
#[test]
fn numbers_that_are_folded_hide_no_id() {
    let folded = RECOMMENDED_AGENTS.replace(r#"["durations","#, r#"["numbers", "durations","#);
    let body: [fn(u64) -> String; 3] = [
        |n| format!(r#"{{"error":"not found","request_id":"req_{}"}}"#, drawn(n)),
        |_| r#"{"error":"not found"}"#.into(),
        |n| format!(r#"{{"error":"not found","took": {}}}"#, n * n % 61),
    ];
    for body in body {
        let run = times(10, |n| call("get", r#"{"id": 7}"#, body(n)));
        let at = stopped(guard(&folded), &run);
        assert_eq!(at.map(|(calls, _)| calls), Some(3));
    }
}

#[test]
fn equal_calls_of_one_message_are_stopped_in_it() {
    let of = |names: &[&'static str]| {
        let mut guard = guard(RECOMMENDED_AGENTS);
        let calls = names.iter().cycle().take(40);
        let calls = calls.map(|name| common::call(name, "{}"));
        let mut events = [TURN].into_iter().chain(calls);
        let alarm = events.find_map(|event| guard.push(&event).into_alarm());
        alarm.map(|alarm| alarm.calls.0)
    };
    assert_eq!(of(&["execute"]), Some(3));
    assert_eq!(of(&["a", "b", "c"]), Some(7));
    let all: Vec<&'static str> = (0..40).map(|n| &*format!("tool{n}").leak()).collect();
    assert_eq!(of(&all), None);
}

#[test]
fn a_program_that_speaks_as_the_user_resets_nothing() {
    let poll = |said: fn(u64) -> String| {
        let mut guard = guard(RECOMMENDED_AGENTS);
        (0..20).find_map(|n| {
            let said = said(n);
            let call = common::call("memory", "{}");
            let result = common::result("persona\nhuman\ntrip\n", None);
            let events = [Event::User(&said), TURN, call, result];
            let mut alarms = events.iter();
            let alarm = alarms.find_map(|event| guard.push(event).into_alarm());
            alarm.map(|alarm| alarm.calls.0)
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
    let read = times(26, |n| {
        let path = format!(r#"{{"path": "t_{n}.py"}}"#);
        let test = format!("def test_{n}(): assert f({n}) == {}", n * n);
        Turn {
            said: text.into(),
            ..call("read_file", path, test)
        }
    });
    assert_eq!(recommended(&read), None);
    assert_eq!(preset("narration", "weave-narration", &read), Some(3));
    // The same answer after each summary, and to each user message. The messages are equal, so the run is stopped.
    let again = times(8, |n| Turn {
        user: n > 0,
        ..say("Here is the plan again: 1. read the module, 2. change the parser.")
    });
    assert_eq!(
        stopped(guard(RECOMMENDED_AGENTS), &again).map(|(_, turns)| turns),
        Some(4)
    );
    assert_eq!(preset("narration", "weave-narration", &again), Some(3));
    // Only numbers and a word change.
    let gates = times(8, |n| {
        let green = format!("{} are green, {} remain open here", n + 1, 9 - n);
        say(format!(
            "I read this as continue waiting on the gates: {green}"
        ))
    });
    let at = preset("narration", "senpi-repetitive-turns", &gates);
    assert_eq!(at, Some(3));
    // Screens with different pixels.
    let shots = times(8, |n| Turn {
        said: "Starting".into(),
        ..call("screenshot", "{}", format!("{n} pixels differ"))
    });
    assert_eq!(preset("narration", "hermes-turns", &shots), Some(3));
    let parts = ["the reader", "a parser", "this check", "our writer"];
    let work = times(12, |n| {
        let done = parts[n as usize % 4].repeat(1 + n as usize);
        say(format!(
            "Step {n}: {done} is done, and I go on with the next part of it."
        ))
    });
    assert_eq!(preset("narration", "weave-narration", &work), None);
}
