//! Tests `per`: text detectors that read each turn, or the whole run, as one text.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use deadloop_detect::{Alarm, Event, Guard, Settings, TextChannel, Units};
use proptest::prelude::*;

const SAID: &str = "Let me look at the file again. ";

fn alarm(per: &str, channel: TextChannel, turns: &[String]) -> Option<Alarm> {
    let text = format!("[[guard]]\ndetector = \"periodic\"\n{per}[guard.params]\nmin_chars = 60\n");
    let settings = Settings::parse(&text).unwrap();
    let mut guard = Guard::new(settings.guard()).unwrap();
    let mut events = turns
        .iter()
        .flat_map(|text| [Event::Turn { agent: None }, Event::Text(channel, text)]);
    events.find_map(|event| guard.push(&event).into_alarm())
}

#[test]
fn a_sentence_a_turn_is_no_loop_of_a_turn() {
    let turns = vec![SAID.to_owned(); 40];
    for channel in [TextChannel::Reasoning, TextChannel::Answer] {
        assert!(alarm("", channel, &turns).is_none());
        assert!(alarm("per = \"turn\"\n", channel, &turns).is_none());
        assert!(alarm("per = \"run\"\n", channel, &turns).is_some());
    }
}

#[test]
fn settings_tell_one_per_from_another() {
    let id = |per: &str| {
        let text = format!("[[guard]]\ndetector = \"periodic\"\n{per}");
        Settings::parse(&text).map(|s| (s.guard().id(), s.guard().to_toml("guard")))
    };
    let [plain, turn, run] = ["", "per = \"turn\"", "per = \"run\""].map(|per| id(per).unwrap());
    assert_eq!(plain, turn);
    assert_ne!(plain.0, run.0);
    assert_eq!(Settings::parse(&run.1).unwrap().guard().id(), run.0);
    let refused = id("per = \"runs\"").unwrap_err().to_string();
    assert_eq!(refused, "3:7: per: \"runs\": expected \"turn\" | \"run\"");
    let calls = Settings::parse("[[guard]]\ndetector = \"duplicate\"\nper = \"run\"");
    let calls = calls.unwrap_err().to_string();
    assert!(calls.contains("unknown parameter \"per\""), "{calls}");
}

proptest! {
    /// The alarm on a looping turn is that on the same text alone, at its position in the run.
    #[test]
    fn a_turn_is_told_as_a_text_of_its_own(before in proptest::collection::vec(0..6_usize, 0..5), copies in 0..30_usize) {
        let mut turns: Vec<String> = before.iter().map(|n| SAID.repeat(*n)).collect();
        turns.push(format!("{}and on.", SAID.repeat(copies)));
        let alone: Vec<Option<u64>> = turns
            .iter()
            .map(|turn| alarm("", TextChannel::Answer, std::slice::from_ref(turn)))
            .map(|alarm| alarm.map(|a| a.exact.count()))
            .collect();
        let mut so_far = 0;
        let mut wanted = None;
        for (turn, at) in turns.iter().zip(&alone) {
            wanted = wanted.or(at.map(|at| so_far + at));
            so_far += turn.chars().count() as u64;
        }
        let found = alarm("", TextChannel::Answer, &turns);
        prop_assert_eq!(found.map(|a| match a.exact { Units::Chars(chars) => chars.0, _ => 0 }), wanted);
    }
}
