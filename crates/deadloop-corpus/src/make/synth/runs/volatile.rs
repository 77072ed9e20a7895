//! Ids and dates that each result has, drawn anew: what APIs put around every answer, so that no two are equal.

use serde_json::Value as Json;

use crate::make::plant::Rng;
use crate::make::synth::spec::{Volatile, Word};
use crate::{Body, RecordedEvent};

/// Puts an id and a date into every result: as fields of an object, else as lines after it.
pub(super) fn put(wanted: &[Word<Volatile>], events: &mut [RecordedEvent], rng: &mut Rng) {
    // A day of seconds, from some morning on.
    let mut clock = rng.between(25_000, 40_000);
    for event in events {
        let Body::ToolResult { content, .. } = &mut event.body else {
            continue;
        };
        clock += rng.between(1, 40);
        let mut fields = Vec::new();
        if wanted.contains(&Word(Volatile::Ids)) {
            fields.push(("request_id", format!("req-{}", drawn(rng))));
        }
        if wanted.contains(&Word(Volatile::Dates)) {
            fields.push(("date", date(clock)));
        }
        *content = with(content, &fields);
    }
}

/// Eight digits of base 16, one of them a letter and one of them none: a stretch without is a word or a number.
fn drawn(rng: &mut Rng) -> String {
    loop {
        let id = format!("{:08x}", rng.next_u64() >> 32);
        let letters = id.bytes().filter(u8::is_ascii_alphabetic).count();
        if (1..8).contains(&letters) {
            return id;
        }
    }
}

/// The date of a second of that day, as HTTP writes it.
fn date(clock: usize) -> String {
    const NAMES: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    let (at, second) = (clock / 86_400 % NAMES.len(), clock % 86_400);
    let (name, day) = (NAMES[at], 23 + at);
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!(
        "{name}, {day} Nov 2026 {hour:02}:{minute:02}:{:02} GMT",
        second % 60
    )
}

/// A result with more fields.
fn with(content: &str, fields: &[(&str, String)]) -> String {
    if fields.is_empty() {
        return content.to_owned();
    }
    if let Ok(Json::Object(mut object)) = serde_json::from_str(content) {
        for (name, value) in fields {
            object.insert((*name).to_owned(), value.clone().into());
        }
        return Json::Object(object).to_string();
    }
    let lines = fields
        .iter()
        .map(|(name, value)| format!("{name}: {value}"));
    let whole = (!content.is_empty()).then(|| content.to_owned());
    let all: Vec<String> = whole.into_iter().chain(lines).collect();
    all.join("\n")
}
