//! Streams of events for every detector with its decisions, for the tests of the packages.
//!
//! Each stream is a line of JSON on stdout: `{"name", "settings", "events", "told"}`. `told` has each decision other
//! than to continue, with the number of its event. The streams are the examples of the detector, and random ones with
//! every kind of event.
//!
//! `cargo run --release --example events > events.jsonl`

use std::io::{Write, stdout};

use deadloop_bindings::{Action, Guard, Guards};
use deadloop_detect::harness::{DETECTORS, Detector, Measurement};
use deadloop_detect::{Arguments, Event, TextChannel};
use serde_json::{Value, json};

/// The number of random streams for each detector.
const STREAMS: u64 = 6;
const EVENTS: usize = 90;

/// The size of a chunk of text, in chars.
const CHUNK: usize = 37;

const SENTENCES: [&str; 3] = [
    "Wait, let me check the roads once more. ",
    "等等，我需要重新看一下这条路。😀",
    "1. The river is on the left side of it.\n",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = stdout().lock();
    for detector in DETECTORS.iter().copied() {
        if matches!(detector.measure, Measurement::Program(_)) {
            continue; // no live stream waits for one
        }
        for response in ["stop", "refuse", "warn"] {
            let settings = format!(
                "[[guard]]\ndetector = \"{}\"\nresponse = \"{response}\"\n",
                detector.name
            );
            for (name, events) in streams(detector) {
                let told = told(Guards::parse(&settings, "settings")?.guard(""), &events);
                let name = format!("{} {response}: {name}", detector.name);
                let line =
                    json!({"name": name, "settings": settings, "events": events, "told": told?});
                writeln!(out, "{line}")?;
            }
        }
    }
    Ok(())
}

/// Returns a guard's decisions on `events` until it stops.
fn told(mut guard: Guard, events: &[Value]) -> Result<Vec<Value>, Box<dyn std::error::Error>> {
    let mut told = Vec::new();
    for (number, event) in events.iter().enumerate() {
        let decision = guard.event(&borrowed(event)?);
        if !decision.is_quiet() {
            told.push(json!([
                number,
                serde_json::from_str::<Value>(&decision.json())?
            ]));
        }
        if decision.action == Action::Stop {
            break;
        }
    }
    Ok(told)
}

fn streams(detector: &Detector) -> Vec<(String, Vec<Value>)> {
    let examples = detector.examples().map(|example| {
        let events = example.events().unwrap_or_default();
        let events = match events[..] {
            [Event::Text(_, text), ..] if events.len() > CHUNK => {
                chunks(&text.repeat(events.len()))
            }
            _ => events.iter().filter_map(written).collect(),
        };
        (example.name.to_owned(), events)
    });
    let random = (0..STREAMS).map(|seed| (format!("random {seed}"), random(seed)));
    examples.chain(random).collect()
}

/// Returns events of a text that repeats one piece, cut in several ways.
fn chunks(text: &str) -> Vec<Value> {
    let chars: Vec<char> = text.chars().collect();
    let chunk = |chars: &[char]| said("answer", &chars.iter().collect::<String>());
    chars.chunks(CHUNK).map(chunk).collect()
}

fn said(channel: &str, text: &str) -> Value {
    json!({"type": "text", "channel": channel, "text": text})
}

/// Returns an event as JSON. `None` if the packages have no method for such an event.
fn written(event: &Event<'_>) -> Option<Value> {
    Some(match event {
        Event::Text(channel, text) => said(channel.name(), text),
        Event::Call {
            id,
            name,
            arguments,
        } => {
            json!({"type": "call", "id": id, "name": name, "arguments": arguments.text()})
        }
        Event::Result {
            id, content, error, ..
        } => {
            json!({"type": "result", "id": id, "content": content, "error": error})
        }
        Event::User(text) => json!({"type": "user", "text": text}),
        Event::Turn { agent } => json!({"type": "turn", "agent": agent}),
        Event::Handoff { from, to } => json!({"type": "handoff", "from": from, "to": to}),
        Event::Silence(millis) => json!({"type": "silence", "seconds": *millis as f64 / 1000.0}),
        Event::Finish(reason) => json!({"type": "finish", "reason": reason}),
        Event::Closed => json!({"type": "closed"}),
        Event::System => return None,
    })
}

/// Reads an event that [`written`] wrote.
fn borrowed(json: &Value) -> Result<Event<'_>, String> {
    let text = |name: &str| json[name].as_str().unwrap_or("");
    Ok(match text("type") {
        "text" => {
            let channel = TextChannel::named(text("channel"));
            Event::Text(channel.ok_or("no such channel")?, text("text"))
        }
        "call" => Event::Call {
            id: json["id"].as_str(),
            name: text("name"),
            arguments: Arguments::Raw(text("arguments")),
        },
        "result" => Event::Result {
            id: json["id"].as_str(),
            content: text("content"),
            error: json["error"].as_bool(),
            cut: None,
        },
        "user" => Event::User(text("text")),
        "turn" => Event::Turn {
            agent: json["agent"].as_str(),
        },
        "handoff" => Event::Handoff {
            from: text("from"),
            to: text("to"),
        },
        "silence" => {
            let seconds = json["seconds"].as_f64().unwrap_or(0.0);
            Event::Silence(deadloop_bindings::millis(seconds)?)
        }
        "finish" => Event::Finish(json["reason"].as_str()),
        "closed" => Event::Closed,
        other => return Err(format!("no event is {other}")),
    })
}

/// A generator of pseudo-random numbers, equal on every machine for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
}

/// Returns a random run that repeats a few actions: text and arguments in pieces, parallel calls, results, messages,
/// turns, handoffs and silence.
fn random(seed: u64) -> Vec<Value> {
    let mut dice = Dice(seed + 1);
    let mut events = vec![json!({"type": "user", "text": "Which road?"})];
    while events.len() < EVENTS {
        let agent = ["a", "b"][dice.below(2)];
        events.push(json!({"type": "turn", "agent": agent}));
        for _ in 0..dice.below(5) {
            let channel = ["reasoning", "answer"][dice.below(2)];
            events.push(said(channel, SENTENCES[dice.below(3)]));
        }
        if dice.below(6) == 0 {
            let seconds = dice.below(50_000) as f64 / 1000.0;
            events.push(json!({"type": "silence", "seconds": seconds}));
        }
        let calls: Vec<String> = (0..dice.below(3))
            .map(|i| format!("c{}-{i}", events.len()))
            .collect();
        for id in &calls {
            let arguments = ["{\"path\":\"a\"}", "{\"path\": \"b\"}", "{\"path\""][dice.below(3)];
            if dice.below(2) == 0 {
                let (first, rest) = arguments.split_at(4);
                events.extend([first, rest].map(|piece| said("arguments", piece)));
            }
            let name = ["read", "list"][dice.below(2)];
            events.push(json!({"type": "call", "id": id, "name": name, "arguments": arguments}));
        }
        for id in &calls {
            let content = ["nothing new", "error: no such file"][dice.below(2)];
            let error = [Value::Null, true.into(), false.into()][dice.below(3)].clone();
            events.push(json!({"type": "result", "id": id, "content": content, "error": error}));
        }
        match dice.below(12) {
            0 => events.push(json!({"type": "user", "text": "Go on."})),
            1 => events.push(json!({"type": "handoff", "from": agent, "to": "b"})),
            _ => {}
        }
    }
    events.push(json!({"type": "finish", "reason": "stop"}));
    events.push(json!({"type": "closed"}));
    events
}
