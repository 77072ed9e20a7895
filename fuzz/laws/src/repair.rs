//! Laws of the repairers.
//!
//! The input is `repairer, preset, chunking, length of the parameter bytes, parameter bytes, text`. Bytes of the text
//! from 14 to 31 stand for [`MARKS`].

use arbitrary::Unstructured;
use deadloop_detect::Fault;
use deadloop_detect::harness::{Domain, Params};
use deadloop_repair::meaning::{Delivery, MeaningParts};
use deadloop_repair::registry::{REPAIRERS, Repairer, RepairerFactory};
use deadloop_score::repairs::judge_events;
use deadloop_synth::damage::{damage, damage_events};

use crate::members::value;
use crate::text::{chars, chunks, marked, text};

/// The marks for the bytes from 14 on, some of them cut.
const MARKS: [&str; 18] = [
    "<think>",
    "</think>",
    "<tool_call>",
    "<create_note>",
    "</create_note>",
    "<Craete_note id=\"1\">",
    "<id>",
    "</id>",
    "<confirm1>",
    "</confirm2>",
    "<|im_end|>",
    "{\"a\": [",
    "\"b\": \"",
    "\\u00e9",
    "]}",
    "好的，收到您的指令",
    "I'm done",
    "</",
];

/// The maximum number of steps for each char. Every text is credited 100 chars for its beginning.
const STEPS: u64 = 1_000;

/// Checks the laws of one repairer.
pub fn repair(data: &[u8]) {
    let [which, preset, chunking, drawn, rest @ ..] = data else {
        return;
    };
    let (drawn, rest) = rest.split_at(rest.len().min(usize::from(*drawn)));
    let text = marked(&text(rest), &MARKS);
    let repairer = REPAIRERS[usize::from(*which) % REPAIRERS.len()];
    let Some(params) = params(repairer, usize::from(*preset), drawn) else {
        return;
    };
    faults(&text, u64::from(*chunking));
    match repairer.make {
        RepairerFactory::Text(_) => mends(repairer, &params, &text, *chunking),
        RepairerFactory::Events(_) => delivers(repairer, &params, &text),
    }
}

/// Draws parameters: a preset or the defaults, some of whose words and numbers are replaced. `None` if they are
/// impossible together or `drawn` is too short.
fn params(repairer: &'static Repairer, preset: usize, drawn: &[u8]) -> Option<Params> {
    let presets = repairer.presets().expect("presets");
    let mut params = match presets.get(preset % (presets.len() + 1)) {
        Some(preset) => repairer.preset(&preset.name).expect("a preset"),
        None => repairer.defaults(),
    };
    let mut bytes = Unstructured::new(drawn);
    for param in repairer.params {
        if let Domain::Word(_) | Domain::Int { .. } = param.domain
            && bytes.ratio(1, 2).ok()?
        {
            params.set(param.name, value(param.domain, &mut bytes).ok()?);
        }
    }
    repairer.check(&params).is_ok().then_some(params)
}

/// Checks a repairer of text: chunks do not change its output, its work is linear, and repaired JSON is JSON.
fn mends(repairer: &Repairer, params: &Params, text: &str, chunking: u8) {
    let whole = streamed(repairer, params, &[text]);
    for chunks in [chunks(text, chunking), chars(text)] {
        assert_eq!(streamed(repairer, params, &chunks), whole, "{chunks:?}");
    }
    let json = whole.meaning().text;
    let asks = repairer.name == "json" && ["strict", "tolerant"].contains(&params.text("mode"));
    if asks && !json.is_empty() {
        let value: serde_json::Result<serde_json::Value> = serde_json::from_str(&json);
        assert!(value.is_ok(), "{json}");
    }
}

fn streamed(repairer: &Repairer, params: &Params, chunks: &[&str]) -> MeaningParts {
    let mut machine = repairer.text_repairer(params).expect("it reads text");
    let (mut pieces, mut read) = (MeaningParts::default(), 0);
    for chunk in chunks {
        machine.push(chunk, &mut pieces);
        read += chunk.chars().count();
        assert!(machine.held_len() <= read, "more waits than came");
    }
    machine.finish(&mut pieces);
    let (work, most) = (machine.work(), STEPS * (read as u64 + 100));
    assert!(work <= most, "{work} steps for {read} chars");
    pieces
}

/// Checks a repairer of events. The words of the text are events, delivered twice and out of order. If the repairer
/// sorts by position, it passes each on once and in order.
fn delivers(repairer: &Repairer, params: &Params, text: &str) {
    let word = |(place, word): (usize, &str)| Delivery {
        id: Some(format!("e{place}")),
        position: Some(place as u64),
        text: word.to_owned(),
        done: false,
    };
    let gold: Vec<Delivery> = text.split(' ').enumerate().map(word).collect();
    let order = damage_events(Fault::ReplayOrder, 3, text.len() as u64, &gold).events;
    let events = damage_events(Fault::ReplayDoubled, 3, text.len() as u64, &order).events;
    let mut machine = repairer.event_repairer(params).expect("it reads events");
    let mut given = Vec::new();
    for event in events {
        machine.push(event, &mut given);
    }
    machine.finish(&mut given);
    let replayed = judge_events(&gold, &given);
    let in_order = params.text("by") == "position" && params.int("first") == 0;
    if in_order && params.int("wait") > 20 {
        assert_eq!((replayed.lost, replayed.doubled), (0, 0));
        assert_eq!(replayed.disordered, 0);
    }
    if params.text("done") == "always" {
        assert!(replayed.ended);
    }
}

/// Checks that damage begins at its reported onset.
fn faults(text: &str, seed: u64) {
    for fault in Fault::ALL {
        let severity = u8::try_from(seed % 4).expect("below 4");
        let damaged = damage(fault, severity, seed, text);
        assert_eq!(damaged.onset.is_some(), damaged.text != text, "{fault}");
        let both = text.chars().zip(damaged.text.chars());
        let same = both.take_while(|(a, b)| a == b).count() as u64;
        assert!(damaged.onset.is_none_or(|onset| onset == same), "{fault}");
    }
}
