//! Random ids and dates in results.
//!
//! APIs often add such values to every answer, so that no two answers are equal.

use serde_json::Value as Json;

use crate::planted_loops::Rng;
use crate::spec::Volatile;
use deadloop_corpus::{Body, RecordedEvent};

/// Adds an id and a date to every result, as fields of an object or as final lines.
pub(super) fn add_volatile_values(kinds: &[Volatile], events: &mut [RecordedEvent], rng: &mut Rng) {
    // Seconds of a day, from some time in the morning.
    let mut clock = rng.uniform(25_000, 40_000);
    for event in events {
        let Body::ToolResult { content, .. } = &mut event.body else {
            continue;
        };
        clock += rng.uniform(1, 40);
        let mut fields = Vec::new();
        if kinds.contains(&Volatile::Ids) {
            fields.push(("request_id", format!("req-{}", draw_id(rng))));
        }
        if kinds.contains(&Volatile::Dates) {
            fields.push(("date", format_date(clock)));
        }
        *content = append_fields(content, &fields);
    }
}

/// Draws eight hexadecimal digits, with at least one letter and one digit. Otherwise they would be a word or a number.
fn draw_id(rng: &mut Rng) -> String {
    loop {
        let id = format!("{:08x}", rng.next_u64() >> 32);
        let letters = id.bytes().filter(u8::is_ascii_alphabetic).count();
        if (1..8).contains(&letters) {
            return id;
        }
    }
}

/// Formats the date for a second of the day, in the HTTP format.
fn format_date(clock: usize) -> String {
    const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    let (at, second) = (clock / 86_400 % WEEKDAYS.len(), clock % 86_400);
    let (name, day) = (WEEKDAYS[at], 23 + at);
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!(
        "{name}, {day} Nov 2026 {hour:02}:{minute:02}:{:02} GMT",
        second % 60
    )
}

/// Appends fields to a result.
fn append_fields(content: &str, fields: &[(&str, String)]) -> String {
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
