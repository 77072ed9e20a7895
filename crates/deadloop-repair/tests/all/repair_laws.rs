//! Tests of properties of all repairers: valid registry entries, equal results for any chunking, linear work, bounded
//! memory, and unchanged intact streams.
#![allow(clippy::unwrap_used)]

use crate::repairing;

use deadloop_detect::Value;
use deadloop_detect::harness::{ParamRole, Params};
use deadloop_repair::json::MAX_NESTED_LEVELS;
use deadloop_repair::meaning::{Delivery, MeaningParts};
use deadloop_repair::registry::{REPAIRERS, Repairer, RepairerFactory};
use proptest::prelude::*;
use repairing::{below, preset, settings, streamed, text};

/// Returns the repairers that read text.
fn of_text() -> impl Iterator<Item = &'static Repairer> {
    let of_text = |r: &&'static Repairer| matches!(r.make, RepairerFactory::Text(_));
    REPAIRERS.iter().copied().filter(of_text)
}

#[test]
fn the_registry_keeps_what_it_says() {
    for repairer in REPAIRERS {
        assert_eq!(Repairer::find(repairer.name).unwrap().name, repairer.name);
        assert!(repairer.version > 0 && !repairer.about.is_empty() && !repairer.exactly.is_empty());
        assert_eq!(
            repairer.check(&repairer.defaults()),
            Ok(()),
            "{}",
            repairer.name
        );
        for param in repairer.params {
            assert_eq!(param.mark, ParamRole::Structural);
            assert_eq!(
                param.domain.check(&param.default.into()),
                Ok(()),
                "{}",
                param.name
            );
            assert!(!param.doc.is_empty());
            let named = repairer.exactly.contains(&format!("`{}`", param.name));
            let of_lists = [
                "tags", "fields", "known", "tool", "mode", "aliases", "case", "window", "wait",
            ];
            assert!(
                named || of_lists.contains(&param.name),
                "{}.{}",
                repairer.name,
                param.name
            );
        }
        for preset in repairer.presets().unwrap() {
            for name in preset.params.keys() {
                assert!(repairer.param(name).is_some(), "{}: {name}", preset.name);
            }
            let params = repairer.preset(&preset.name).unwrap();
            assert_eq!(repairer.check(&params), Ok(()), "{}", preset.name);
            assert!(!preset.left_out.is_empty() && !preset.source.date.is_empty());
        }
    }
    let error = Repairer::find("think").unwrap().preset("none").unwrap_err();
    assert!(error.to_string().contains("leading"), "{error}");
}

#[test]
fn what_cannot_be_is_refused() {
    let text = |text: &str| Value::Text(text.into());
    let table = |name: &str, value: &str| Value::Table([(name.to_owned(), text(value))].into());
    for (repairer, param, value, what) in [
        (
            "think",
            "tags",
            Value::List(vec![text("<a>"), text("<a>>")]),
            "told apart",
        ),
        (
            "think",
            "tags",
            Value::List(vec![text("<>")]),
            "3 to 64 chars",
        ),
        ("think", "blocks", text("some"), "expected"),
        ("think", "hold", Value::Int(0), "1..1000000"),
        ("tags", "tags", Value::List(vec![text("id")]), "twice"),
        ("tags", "tags", Value::List(vec![text("note1")]), "no name"),
        ("tags", "aliases", table("note", "nothing"), "known"),
        ("tags", "need", table("note", "id"), "`tags`"),
        ("tags", "need", table("confirm", "title"), "number"),
        ("tags", "edits", Value::Int(3), "0..2"),
        (
            "json",
            "control",
            Value::List(vec![text("<|"), text("<|end|>")]),
            "expected",
        ),
        ("filter", "lists", Value::List(vec![]), "nothing out"),
        ("filter", "own", Value::List(vec![text(" x")]), "blanks"),
        ("replay", "window", Value::Int(0), "1..1000000"),
    ] {
        let entry = Repairer::find(repairer).unwrap();
        let mut params = entry.defaults();
        params.set(param, value);
        let refusal = entry.check(&params).unwrap_err();
        assert!(
            refusal.reason.contains(what),
            "{repairer}.{param}: {}",
            refusal.reason
        );
    }
    let think = Repairer::find("think").unwrap();
    let mut params = think.defaults();
    params.set("start", text("open"));
    params.set("orphan", text("split"));
    assert_eq!(think.check(&params).unwrap_err().param, "orphan");
}

/// Checks that the result is the same for whole, cut and empty chunks.
fn same_in_any_chunks(repairer: &Repairer, params: &Params, text: &str) {
    let whole = streamed(repairer, params, [text]);
    let ends: Vec<usize> = text
        .char_indices()
        .map(|(at, _)| at)
        .chain([text.len()])
        .collect();
    for at in &ends {
        let (a, b) = text.split_at(*at);
        assert_eq!(
            streamed(repairer, params, [a, "", b]),
            whole,
            "{a:?} | {b:?} {params:?}"
        );
        let third = ends[ends.len() / 3].min(*at);
        let (c, d) = a.split_at(third);
        assert_eq!(
            streamed(repairer, params, [c, d, b]),
            whole,
            "{c:?} | {d:?} | {b:?} {params:?}"
        );
    }
    let chars = ends.windows(2).map(|pair| &text[pair[0]..pair[1]]);
    assert_eq!(
        streamed(repairer, params, chars),
        whole,
        "{text:?} {params:?}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn whole_is_streamed(text in text(14), seed: u64) {
        for repairer in of_text() {
            for params in settings(repairer, seed, 6) {
                same_in_any_chunks(repairer, &params, &text);
            }
        }
    }

    #[test]
    fn any_chars_are_read(text in ".{0,60}", seed: u64) {
        for repairer in of_text() {
            for params in settings(repairer, seed, 3) {
                same_in_any_chunks(repairer, &params, &text);
            }
        }
    }

    /// Checks that text without markers passes unchanged. Of JSON, only valid JSON does.
    #[test]
    fn plain_text_passes(text in "[a-z 0-9.,\n中文é]{0,80}") {
        for repairer in of_text().filter(|r| r.name != "json") {
            for preset in repairer.presets().unwrap() {
                let meaning = repairer.mend(&repairer.preset(&preset.name).unwrap(), &text).unwrap();
                // A text that begins as reasoning is reasoning; llama.cpp takes blanks off it.
                let all = meaning.reasoning + &meaning.text;
                prop_assert_eq!(&all, &text, "{} {}", repairer.name, preset.name);
            }
        }
    }

    #[test]
    fn json_passes_as_it_is(values in prop::collection::vec((".{0,12}", any::<f64>()), 0..5), pretty: bool) {
        let finite = |x: f64| if x.is_finite() { x } else { 0.0 };
        let value = serde_json::json!({ "a": values.iter().map(|(text, x)| serde_json::json!({ text: finite(*x), "t": text })).collect::<Vec<_>>() });
        let text = if pretty { serde_json::to_string_pretty(&value).unwrap() + "\n" } else { value.to_string() };
        let repairer = Repairer::find("json").unwrap();
        for mode in ["strict", "control", "close", "tolerant"] {
            let mut params = repairer.defaults();
            params.set("mode", Value::Text(mode.into()));
            prop_assert_eq!(&repairer.mend(&params, &text).unwrap().text, &text, "{}", mode);
        }
    }

    /// Checks that a repair gives JSON or nothing, and that its result passes unchanged.
    #[test]
    fn tolerant_gives_json_or_nothing(text in text(14), seed: u64) {
        let repairer = Repairer::find("json").unwrap();
        for mut params in settings(repairer, seed, 4) {
            params.set("mode", Value::Text("tolerant".into()));
            params.set("hold", Value::Int(10_000));
            let json = repairer.mend(&params, &text).unwrap().text;
            if !json.is_empty() {
                prop_assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok(), "{}", json);
                prop_assert_eq!(repairer.mend(&params, &json).unwrap().text, json);
            }
        }
    }

    #[test]
    fn events_come_once_and_in_order(seed: u64, count in 1_usize..30) {
        let (repairer, params) = preset("replay", "in-order");
        let mut state = seed;
        // Delivered in any order, some of them twice, the mark anywhere.
        let mut events: Vec<Delivery> = (0..count).map(event).collect();
        (0..3).for_each(|_| events.push(event(below(&mut state, count))));
        events.push(Delivery { done: true, ..Delivery::default() });
        for i in 0..events.len() {
            let j = below(&mut state, events.len());
            events.swap(i, j);
        }
        let given = delivered(repairer, &params, &events);
        let mut expected: Vec<Delivery> = (0..count).map(event).collect();
        expected.push(Delivery { done: true, ..Delivery::default() });
        prop_assert_eq!(given, expected);
    }
}

fn event(place: usize) -> Delivery {
    Delivery {
        id: Some(format!("e{place}")),
        position: Some(place as u64),
        text: format!("part {place}"),
        done: false,
    }
}

fn delivered(repairer: &Repairer, params: &Params, events: &[Delivery]) -> Vec<Delivery> {
    let mut machine = repairer.event_repairer(params).unwrap();
    let mut given = Vec::new();
    for event in events {
        machine.push(event.clone(), &mut given);
    }
    machine.finish(&mut given);
    given
}

/// Returns texts on which a careless parser reads the same chars again and again.
fn adversaries() -> Vec<&'static str> {
    let marks = [
        "<", "</", "<think", "<think>", "</think>", "<id>", "{", "[", "[1,", "{\"a\":", "\"",
        "\"\\u12", "\\", "[}", "{]", "'", "/*", "// ", "I'm don", "aab", " ", "\n ",
    ];
    let tags = [
        "<think></think>",
        "<|im_end|",
        "<create_note>",
        "</create_note>",
        "<create_note></save_material>",
        "<craete_noet>",
        "<confirm1>",
        "<confirm1></confirm2>",
        "<a b=\"c\" ",
        "<create_note id=\"1\">",
        "好的，收到您的指",
    ];
    [&marks[..], &tags].concat()
}

#[test]
fn work_is_linear() {
    for repairer in of_text() {
        for params in settings(repairer, 7, 6) {
            for unit in adversaries() {
                let work = |chars: usize| {
                    let text: String = unit.chars().cycle().take(chars).collect();
                    let mut machine = repairer.text_repairer(&params).unwrap();
                    let mut pieces = MeaningParts::default();
                    machine.push(&text, &mut pieces);
                    machine.finish(&mut pieces);
                    machine.work()
                };
                let (once, often) = (work(2_000), work(16_000));
                assert!(
                    often <= 9 * once + 1_000,
                    "{} {unit:?}: {once}, {often} {params:?}",
                    repairer.name
                );
                assert!(
                    often <= 16_000 * 500,
                    "{} {unit:?}: {often} {params:?}",
                    repairer.name
                );
            }
        }
    }
}

#[test]
fn what_waits_is_bounded() {
    for repairer in of_text() {
        for mut params in settings(repairer, 11, 6) {
            for name in ["hold", "max_open"] {
                params.set(name, Value::Int(1_000));
            }
            for unit in adversaries() {
                let text: String = unit.chars().cycle().take(8_000).collect();
                let mut machine = repairer.text_repairer(&params).unwrap();
                let mut pieces = MeaningParts::default();
                let held = text.chars().map(|c| {
                    machine.push(c.encode_utf8(&mut [0; 4]), &mut pieces);
                    machine.held_len()
                });
                let most = held.max().unwrap();
                // Beside what the parameter allows: a tag, a mark, a name, blanks behind a block.
                assert!(
                    most <= 2_000 + 256 + 64,
                    "{} {unit:?}: {most} {params:?}",
                    repairer.name
                );
            }
        }
    }
}

#[test]
fn deep_json_is_no_danger() {
    for (unit, mode) in [("[", "tolerant"), ("{\"a\":", "tolerant"), ("[", "close")] {
        let repairer = Repairer::find("json").unwrap();
        let mut params = repairer.defaults();
        params.set("mode", Value::Text(mode.into()));
        params.set("partial", Value::Text("drop".into()));
        for deep in [MAX_NESTED_LEVELS, MAX_NESTED_LEVELS + 1, 100_000] {
            let json = repairer.mend(&params, &unit.repeat(deep)).unwrap().text;
            let parses = serde_json::from_str::<serde_json::Value>(&json).is_ok();
            assert_eq!(
                parses,
                deep == MAX_NESTED_LEVELS,
                "{unit} {mode} {deep}: {json:.40}"
            );
        }
    }
}
