//! Compares run detectors with vectors of a slow reference, and tests their laws.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "in the helpers of tests as in tests"
)]

use crate::common::{TURN, call};
use crate::running;

use deadloop_detect::{Channel, Event, TextChannel};
use proptest::prelude::*;
use running::{Expect, alarm, event, setting, vectors};

#[test]
fn every_vector_alarms_where_the_reference_does() {
    let all = vectors();
    assert_eq!(all.len(), 209);
    for (i, vector) in all.into_iter().enumerate() {
        let setting = setting(&vector.guard, &vector.params);
        let found = alarm(&setting, vector.events.iter().map(event));
        let (guard, params) = (&vector.guard, &vector.params);
        let found = found.map(Expect::from);
        assert_eq!(found, vector.expect, "{i}: {guard} {params:?}");
    }
}

/// A run that is cut after the event of the alarm has the same alarm, and one cut before it has none.
#[test]
fn what_comes_later_changes_nothing() {
    for vector in vectors() {
        let setting = setting(&vector.guard, &vector.params);
        let Some(whole) = alarm(&setting, vector.events.iter().map(event)) else {
            continue;
        };
        let upto = |n: u64| vector.events.iter().take(usize::try_from(n).unwrap());
        let cut = alarm(&setting, upto(whole.event + 1).map(event));
        assert_eq!(cut.as_ref(), Some(&whole));
        assert_eq!(alarm(&setting, upto(whole.event).map(event)), None);
    }
}

/// The onset is the call of the second copy, and the message names the loop.
#[test]
fn an_alarm_of_a_run_counts_calls() {
    let (call, other) = (call("ls", "{}"), call("cat", "{}"));
    let events = [other, TURN, call, call, call];
    let setting = setting("duplicate", &serde_json::Map::new());
    let told = alarm(&setting, events).unwrap();
    assert_eq!(told.channel, Channel::Tools);
    assert_eq!((told.exact.count(), told.onset.count()), (4, 2));
    assert_eq!((told.event, told.calls.0, told.turns.0), (4, 4, 1));
    assert_eq!(told.what(), "3 copies of 1 call");
    let line = told.log_line();
    let wanted = "identical-call in tools, calls 2..4 (known at 4), 3 copies of 1 call: \"ls({})\"";
    assert!(line.contains(wanted), "{line}");
    let said = told.user_message();
    let same = "the same tool call again and again";
    assert!(said.contains(same), "{said}");
}

/// A limit is no loop. Its messages report the remaining steps, or that none remain.
#[test]
fn a_limit_says_what_remains_of_it() {
    let said = |more: &str| {
        let text = format!("[[guard]]\ndetector = \"iterations\"\n{more}");
        let settings = deadloop_detect::Settings::parse(&text).unwrap();
        let mut guard = deadloop_detect::Guard::new(settings.guard()).unwrap();
        let told = (0..30).find_map(|_| {
            let pushed = guard.push(&TURN);
            pushed.first().or(pushed.warnings.first()).cloned()
        });
        told.unwrap()
    };
    let stopped = said("[guard.params]\nlimit = 10\n");
    let used = "The model had used all the steps that it is allowed, so the run was stopped.";
    assert_eq!(stopped.user_message(), used);
    let line = stopped.log_line();
    assert!(
        line.starts_with("limit reached: iterations in tools"),
        "{line}"
    );
    let warns = "[guard.params]\nlimit = 25\ntells = \"warning\"\nwarn_at = 0.8\n";
    let warned = said(&format!("response = \"warn\"\n{warns}"));
    let near = "The model is approaching its limit of 25 steps (5 remaining).";
    assert_eq!(warned.user_message(), near);
    let line = warned.log_line();
    assert!(line.starts_with("limit near: iterations"), "{line}");
}

/// An answer that begins like JSON must be one value, aside from blanks.
#[test]
fn an_answer_of_json_ends_with_its_value() {
    let toml = "[[guard]]\ndetector = \"ending\"\n[guard.params]\nneed = [\"json\"]\n";
    let settings = deadloop_detect::Settings::parse(toml).unwrap();
    for (answer, kind) in [
        ("{\"a\": 1}", None),
        (" [1, {\"a\": \"}\"}] \n", None),
        ("No JSON at all.", None),
        ("{\"a\": 1} Hope this helps!", Some("broken-json")),
        ("{\"a\": 1}}", Some("broken-json")),
        ("{\"a\": 1} {\"a\": 1}", Some("broken-json")),
        ("{\"a\": 1", Some("cut")),
    ] {
        let mut guard = deadloop_detect::Guard::new(settings.guard()).unwrap();
        let _ = guard.push_text(TextChannel::Answer, answer);
        let ended = guard.push(&Event::Finish(Some("stop")));
        let told = ended.first().map(|alarm| alarm.kind.to_string());
        assert_eq!(told.as_deref(), kind, "{answer}");
    }
}

/// Messages are in the language of the repeated text, or in that of the settings.
#[test]
fn messages_are_in_english_and_in_chinese() {
    let alarm = |toml: &str, piece: &str| {
        let settings = deadloop_detect::Settings::parse(toml).unwrap();
        let guards = deadloop_detect::Guards::new(&settings).unwrap();
        let mut guard = guards.guard("m").fresh();
        let mut told = (0..2000).map(|_| guard.push_text(TextChannel::Reasoning, piece));
        told.find_map(|pushed| pushed.first().cloned()).unwrap()
    };
    let english = "The model was repeating itself in its thinking and could not get out of it, so the response was stopped.";
    let chinese = "模型思考时一直在重复，无法自行跳出，本次回复已停止。";
    let periodic = "[[guard]]\ndetector = \"periodic\"\n";
    for (piece, lang, said) in [
        ("Let me check. ", "", english),
        ("让我再想想 road 12。", "", chinese),
        ("もう一度考えてみよう。", "", english),
        ("让我再想想。", "[messages]\nlang = \"en\"\n", english),
        ("Let me check. ", "[messages]\nlang = \"zh\"\n", chinese),
    ] {
        let told = alarm(&format!("{periodic}{lang}"), piece);
        assert_eq!(told.user_message(), said, "{piece} {lang}");
    }
    let told = alarm(&format!("{periodic}[messages]\nlang = \"zh\"\n"), "a b ");
    let refused = "该调用未执行：模型一直在重复。请换一种做法，或者说明还缺什么。";
    assert_eq!(told.refusal(), refused);
    let wrong = format!("{periodic}[messages]\nlang = \"fr\"\n");
    let told = deadloop_detect::Settings::parse(&wrong).unwrap_err();
    assert!(told.to_string().starts_with("4:8: "), "{told}");
    // Every kind, channel and message has both languages.
    let kinds = deadloop_detect::Kind::ALL.map(|kind| kind.name());
    let texts = include_str!("../../src/guard/messages.txt").lines();
    let texts: Vec<Vec<&str>> = texts.map(|line| line.split('|').collect()).collect();
    for name in kinds
        .iter()
        .chain(&["stall", "fault", "in answer", "in arguments", "limit"])
    {
        let found = texts.iter().find(|cells| cells[0] == *name).unwrap();
        assert!(
            found.len() == 3 && found.iter().all(|cell| !cell.is_empty()),
            "{name}"
        );
    }
}

/// The arguments of each call are a separate text, and positions continue over the run.
#[test]
fn a_text_detector_reads_the_arguments_of_each_call_anew() {
    let toml = "[[guard]]\ndetector = \"periodic\"\nchannel = \"arguments\"\n[guard.params]\nmin_chars = 40\nmin_single = 40\n";
    let settings = deadloop_detect::Settings::parse(toml).unwrap();
    let piece = "ab".repeat(15);
    let call = |arguments| call("write", arguments);
    let text = |piece| Event::Text(TextChannel::Arguments, piece);
    // 30 chars in each of two calls are not 40 consecutive chars.
    let apart = [text(&piece), call(&piece), text(&piece), call(&piece)];
    assert_eq!(alarm(settings.guard(), apart), None);
    let events = [text(&piece), call(&piece), text(&piece), text(&piece)];
    let told = alarm(settings.guard(), events).unwrap();
    assert_eq!((told.channel, told.calls.0), (Channel::Arguments, 1));
    assert_eq!((told.exact.count(), told.onset.count()), (70, 32));
}

#[test]
fn a_detector_is_asked_for_a_channel_that_it_reads() {
    let refused = |detector: &str, channel: &str| {
        let toml = format!("[[guard]]\ndetector = \"{detector}\"\nchannel = \"{channel}\"\n");
        deadloop_detect::Settings::parse(&toml).map_err(|e| e.to_string())
    };
    assert!(refused("duplicate", "tools").is_ok());
    assert!(refused("periodic", "arguments").is_ok());
    let told = refused("periodic", "tools").unwrap_err();
    let right = "3:11: periodic does not read channel \"tools\"; expected one of: reasoning, answer, arguments";
    assert_eq!(told, right);
    let told = refused("duplicate", "answer").unwrap_err();
    assert!(told.contains("expected one of: tools"), "{told}");
    let told = refused("duplicate", "tool").unwrap_err();
    assert!(told.contains("has no channel \"tool\""), "{told}");
}

proptest! {
    /// Neither names of ids nor the order of keys matter, unless the raw text is compared.
    #[test]
    fn ids_and_the_order_of_keys_do_not_matter(
        picks in prop::collection::vec((0..3_u8, 0..2_u8, any::<bool>()), 0..24),
        pair in any::<bool>(),
    ) {
        let run = |name: fn(usize) -> String, swapped: bool| {
            let mut events = Vec::new();
            for (i, (which, answer, fails)) in picks.iter().enumerate() {
                let arguments = if swapped { format!("{{\"b\": {which}, \"a\": 1}}") } else { format!("{{\"a\":1,\"b\":{which}}}") };
                events.push(serde_json::json!({"type": "tool_call", "id": name(i), "name": "t", "arguments": arguments}));
                events.push(serde_json::json!({"type": "tool_result", "id": name(i), "content": format!("{answer}"), "error": fails}));
            }
            let detector = if pair { "same-pair" } else { "duplicate" };
            alarm(&setting(detector, &serde_json::Map::new()), events.iter().map(event))
        };
        let plain = run(|i| format!("c{i}"), false).map(Expect::from);
        prop_assert_eq!(&run(|i| format!("x{}", 1000 - i), false).map(Expect::from), &plain);
        prop_assert_eq!(&run(|i| format!("c{i}"), true).map(Expect::from), &plain);
    }
}
