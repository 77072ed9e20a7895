//! The alarms of inputs, for the tests of the packages.
//!
//! It reads `inputs.jsonl` on stdin, which `tests/inputs.py` makes. For each input it writes a line of JSON on stdout:
//! whether its settings were refused, and the alarm for each size of chunk.
//!
//! `cargo run --release --example alarms < inputs.jsonl > alarms.jsonl`

use std::io::{BufRead, Write, stdin, stdout};

use deadloop_bindings::{Guards, lane};
use serde::Deserialize;
use serde_json::{Value, json};

/// The sizes of chunks, in chars. 0: each piece is one chunk.
const SIZES: [usize; 4] = [1, 7, 50, 0];

#[derive(Deserialize)]
struct Input {
    settings: Option<String>,
    model: String,
    pieces: Vec<(String, String)>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = stdout().lock();
    for line in stdin().lock().lines() {
        let input: Input = serde_json::from_str(&line?)?;
        let guards = match &input.settings {
            Some(text) => Guards::parse(text, "settings"),
            None => Guards::recommended(),
        };
        let told = match guards {
            Err(e) => json!({"refused": e.to_string()}),
            Ok(guards) => {
                let alarms = SIZES.map(|size| alarm(&guards, &input, size));
                let alarms: Vec<Value> = alarms.into_iter().collect::<Result<_, _>>()?;
                json!({"id": guards.id(), "alarms": alarms})
            }
        };
        writeln!(out, "{told}")?;
    }
    Ok(())
}

/// Returns the alarm on the pieces in chunks of `size` chars, or null.
fn alarm(guards: &Guards, input: &Input, size: usize) -> Result<Value, Box<dyn std::error::Error>> {
    let mut guard = guards.guard(&input.model);
    for (name, text) in &input.pieces {
        let chars: Vec<char> = text.chars().collect();
        let size = if size == 0 { chars.len().max(1) } else { size };
        for chunk in chars.chunks(size) {
            let chunk: String = chunk.iter().collect();
            let decision = guard.push(lane(name, String::new)?, &chunk);
            if let Some(alarm) = &decision.alarm {
                return Ok(serde_json::from_str(&guard.alarm_json(alarm))?);
            }
        }
    }
    Ok(Value::Null)
}
