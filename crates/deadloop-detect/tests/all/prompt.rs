//! Tests `prompt = "skip"`: repetition of the user's text does not count.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use deadloop_detect::harness::{Bound, Member, PROMPT_CHARS};
use deadloop_detect::{Channel, Event, Guard, Setting, Settings, TextChannel, Value};
use proptest::prelude::*;

use crate::common::{facts, member, preset, word};

fn skipping(base: &Member) -> Member {
    let mut skipping = base.clone();
    skipping.params.set("prompt", word("skip"));
    skipping
}

/// Returns the alarm on a text after user messages, and the start of the tail.
fn fast(member: &Member, (said, text): (&str, &str), chunk: usize) -> Option<u64> {
    let members = vec![member.clone()];
    let mut guard = Guard::new(&Setting { members }).unwrap();
    assert!(guard.push(&Event::User(said)).into_alarm().is_none());
    let chars: Vec<char> = text.chars().collect();
    let mut chunks = chars.chunks(chunk.clamp(1, chars.len().max(1)));
    let alarm = chunks.find_map(|chunk| {
        let chunk: String = chunk.iter().collect();
        guard.push_text(TextChannel::Answer, &chunk).into_alarm()
    });
    alarm.map(|alarm| alarm.exact.count())
}

/// Returns the alarm by the definition: the first char at which the rule accepts a fact whose tail does not occur in
/// the user's text.
fn slow(member: &Member, (said, text): (&str, &str)) -> Option<u64> {
    let said: Vec<char> = format!("{said}\n").chars().collect();
    let kept = &said[said.len().saturating_sub(PROMPT_CHARS)..];
    let said = String::from_iter(kept);
    let chars: Vec<char> = text.chars().collect();
    let rule = member.rule();
    let mut found = None;
    for fact in facts(member, text) {
        let start = fact.onset.count().saturating_sub(fact.period.count());
        for step in fact.at..=fact.until {
            let at = fact.position(step).count();
            // The last copy may end before the position of such a fact.
            let end = match fact.copies {
                Bound::Fixed(copies) if copies > 0 && fact.period.count() > 0 => {
                    at.min(start + copies as u64 * fact.period.count())
                }
                _ => at,
            };
            let tail: String = chars[start as usize..end as usize].iter().collect();
            let accepts = rule.alarm(&fact).is_some_and(|first| first <= step);
            if accepts && !said.contains(&tail) {
                found = Some(found.map_or(at, |known: u64| known.min(at)));
            }
        }
    }
    found
}

fn guards() -> Vec<Member> {
    let few = [("min_copies", Value::Int(3)), ("min_chars", Value::Int(40))];
    let sentences = [few.as_slice(), &[("on", word("sentences"))]].concat();
    let counters = [sentences.as_slice(), &[("fold", word("counters"))]].concat();
    let checkpoints = Value::List(vec![Value::Int(100), Value::Int(200)]);
    vec![
        member("periodic", &few),
        member("periodic", &sentences),
        member("periodic", &counters),
        member("recurrence", &[("min_count", Value::Int(4))]),
        member("checkpoint", &[("checkpoints", checkpoints)]),
        preset("novelty", "mlx-serve-fuzzy"),
    ]
}

fn stretch() -> impl Strategy<Value = String> {
    let long = ["3. we count on\n", "思考。", "and so it is\n"];
    let words = [["ha ", "go on. ", "b"], long].concat();
    let unit = prop::collection::vec(prop::sample::select(words), 1..4);
    (unit, 1..12_usize).prop_map(|(unit, n)| unit.concat().repeat(n))
}

/// Generates user messages, and a text that mostly repeats a part of them.
fn both() -> impl Strategy<Value = (String, String)> {
    let parts = prop::collection::vec(stretch(), 1..4);
    let more = prop::collection::vec(stretch(), 1..4);
    (parts, more, 0..6_usize, 0..40_usize).prop_map(|(parts, more, at, cut)| {
        let said = parts.concat();
        let own = more.concat();
        let mut text: String = own.chars().take(cut).collect();
        let taken = if at < 5 { said.clone() } else { String::new() };
        text.push_str(&taken.repeat(1 + usize::from(at == 4)));
        (said, text + &own)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::common::drawn(1500), ..ProptestConfig::default() })]

    #[test]
    fn it_is_what_it_says(
        guard in prop::sample::select(guards()),
        (said, text) in both(),
        chunk in 1..50_usize,
    ) {
        let want = slow(&guard, (&said, &text));
        for chunk in [1, chunk, usize::MAX] {
            let found = fast(&skipping(&guard), (&said, &text), chunk);
            prop_assert_eq!(found, want, "chunks of {}", chunk);
        }
    }

    /// Without such a user message, `prompt` has no effect.
    #[test]
    fn without_a_message_it_is_the_plain_guard(
        guard in prop::sample::select(guards()),
        (_, text) in both(),
        chunk in 1..50_usize,
    ) {
        let plain = fast(&guard, ("", &text), chunk);
        prop_assert_eq!(fast(&skipping(&guard), ("@", &text), chunk), plain);
    }
}

#[test]
fn generated_texts_alarm_later_or_not_at_all() {
    let drawn = || prop::sample::select(guards());
    let pair = || both().prop_map(|(said, text)| format!("{said}\0{text}"));
    let moved = crate::common::how_often((drawn(), pair()), |guard, pair| {
        let both = pair.split_once('\0').unwrap();
        let plain = fast(guard, both, usize::MAX);
        plain.is_some() && plain != slow(guard, both)
    });
    assert!((20..290).contains(&moved), "{moved} of 300");
    let alarms = crate::common::how_often((drawn(), pair()), |guard, pair| {
        slow(guard, pair.split_once('\0').unwrap()).is_some()
    });
    assert!((60..290).contains(&alarms), "{alarms} of 300");
}

/// As many copies as the user wrote do not count. One more does.
#[test]
fn a_loop_counts_beyond_what_the_user_wrote() {
    let periodic = skipping(&member("periodic", &[]));
    let unit = "Please look at the list again. ";
    let said = format!("Translate this: {}", unit.repeat(20));
    let told = |copies: usize| fast(&periodic, (&said, &unit.repeat(copies)), 9);
    assert_eq!(told(20), None);
    assert_eq!(told(40), Some(20 * unit.len() as u64 + 1));
    // Text that differs from the user's counts.
    let quoted = "> Please look at the list again. ".repeat(20);
    assert!(fast(&periodic, (&said, &quoted), 9).is_some());
}

/// The last chars of a long message are kept. Messages are not joined.
#[test]
fn what_is_kept_of_messages() {
    let periodic = skipping(&member("periodic", &[]));
    let copies = "so it is ".repeat(60);
    let late = format!("{}{copies}", "x".repeat(2 * PROMPT_CHARS));
    assert_eq!(fast(&periodic, (&late, &copies), 50), None);
    let early = format!("{copies}{}", "x".repeat(PROMPT_CHARS));
    assert!(fast(&periodic, (&early, &copies), 50).is_some());

    let members = vec![periodic];
    let mut guard = Guard::new(&Setting { members }).unwrap();
    let half = "so it is ".repeat(15);
    for message in [&half, &half] {
        assert!(guard.push(&Event::User(message)).into_alarm().is_none());
    }
    let alarm = guard.push_text(TextChannel::Answer, &copies).into_alarm();
    assert!(alarm.is_some(), "no message has so many");
}

/// Each channel and each turn may repeat the user's text.
#[test]
fn each_turn_is_held_against_all_messages() {
    let periodic = skipping(&member("periodic", &[]));
    let members = vec![periodic];
    let mut guard = Guard::new(&Setting { members }).unwrap();
    let copies = "so it is ".repeat(60);
    let events = [
        Event::User(&copies),
        Event::Turn { agent: None },
        Event::Text(TextChannel::Reasoning, &copies),
        Event::Text(TextChannel::Answer, &copies),
        Event::User("go on"),
        Event::Turn { agent: None },
        Event::Text(TextChannel::Answer, &copies),
    ];
    for event in &events {
        assert!(guard.push(event).into_alarm().is_none());
    }
    let own = "and then what ".repeat(60);
    let alarm = guard.push_text(TextChannel::Answer, &own).into_alarm();
    let alarm = alarm.unwrap();
    assert_eq!(alarm.channel, Channel::Answer);
    assert!(alarm.onset.count() > 2 * copies.len() as u64);
}

const GUARD: &str = "[[guard]]\ndetector = \"periodic\"\n";

#[test]
fn it_is_said_for_a_guard_or_for_all_of_a_file() {
    let text = format!(
        "prompt = \"skip\"\n{GUARD}\n{GUARD}prompt = \"check\"\n[[guard]]\ndetector = \"duplicate\"\n"
    );
    let settings = Settings::parse(&text).unwrap();
    let members = settings.guard().members.iter();
    let said: Vec<&str> = members.map(|m| m.params.text("prompt")).collect();
    assert_eq!(said, ["skip", "check", ""]);
    let own = settings.guard();
    let again = Settings::parse(&own.to_toml("guard")).unwrap();
    assert_eq!((again.guard(), again.guard().id()), (own, own.id()));
    let read = |key| Settings::parse(&format!("{GUARD}{key}"));
    let [plain, check, skip] = ["", "prompt = \"check\"\n", "prompt = \"skip\"\n"]
        .map(|key| read(key).unwrap().guard().id());
    assert_eq!(plain, check);
    assert_ne!(plain, skip);
    let refused = |text: &str| Settings::parse(text).unwrap_err().to_string();
    let wrong = refused(&format!("{GUARD}prompt = \"skipp\"\n"));
    let right = "3:10: prompt: \"skipp\": expected \"check\" | \"skip\"";
    assert_eq!(wrong, right);
    let calls = refused("[[guard]]\ndetector = \"duplicate\"\nprompt = \"skip\"\n");
    assert!(calls.contains("unknown parameter \"prompt\""), "{calls}");
}

/// Text after the last copy may differ from the user's, since a checkpoint comes later than the copies.
#[test]
fn copies_that_the_user_wrote_are_skipped_at_a_checkpoint_after_them() {
    let document = preset("checkpoint", "document");
    let said = format!("What does {} mean?", "ok ok? ".repeat(6));
    let mut dice = crate::common::Dice(5);
    let mut letter = |_| char::from(b'a' + dice.below(26) as u8);
    let own: String = (0..2000).map(&mut letter).collect();
    let before = &own[..1900];
    let text = format!("{before}{}{}", "ok ok? ".repeat(6), &own[..300]);
    assert_eq!(fast(&document, (&said, &text), 7), Some(2000));
    assert_eq!(fast(&skipping(&document), (&said, &text), 7), None);
    assert_eq!(fast(&skipping(&document), ("Hm?", &text), 7), Some(2000));
}
