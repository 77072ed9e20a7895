//! Formats a transcript as text for a reader.
//!
//! Channels and events are in order, with marks where labels begin and end. Long text is folded. In a run, turns and
//! calls are numbered, and results are folded to a few lines.

mod marked_text;
pub mod outline;
mod run;

use crate::corpus::blocks::{TextBlock, blocks};
use crate::show::outline::lengths;
use deadloop_corpus::{Body, Entry, RecordedEvent};
use deadloop_detect::{Arguments, Channel, Kind};
use deadloop_score::LabelRow;

use crate::visible::{visible, visible_lines};
use crate::words;

use marked_text::{TextMark, fold_text};
use run::RunNumbering;

/// Formats a transcript and its labels. `context` is the number of chars shown at both ends of a long text and on each
/// side of a mark, or `None` to show all text.
pub fn transcript(entry: &Entry, labels: &[LabelRow], context: Option<usize>) -> String {
    let mut page = format_heading(entry);
    for row in labels {
        page.push_str(&format!("label      {}\n", describe_label(row)));
    }
    let mut seen = [0, 0];
    let mut numbers = RunNumbering::new(&entry.transcript, labels);
    for (number, block) in blocks(&entry.transcript.events) {
        page.extend(numbers.unrecorded_turn(number));
        let part = match block {
            TextBlock::Text(channel, text) => {
                let at = &mut seen[usize::from(channel == Channel::Answer)];
                let from = *at;
                *at += text.chars().count();
                format_text((channel, &text, from), labels, context)
            }
            TextBlock::Other(event) => format_event(event, &mut numbers, context),
        };
        page.push_str(&part);
    }
    page.trim_end().to_owned()
}

fn format_heading(entry: &Entry) -> String {
    let t = &entry.transcript;
    let mut lines = vec![("transcript", t.id.clone()), ("model", t.model.clone())];
    let named = [
        ("profile", &t.profile),
        ("group", &t.group),
        ("language", &t.lang),
        ("split", &entry.split),
    ];
    lines.extend(
        named
            .into_iter()
            .filter_map(|(name, value)| Some((name, value.clone()?))),
    );
    if !t.meta.is_empty() {
        lines.push((
            "meta",
            serde_json::Value::Object(t.meta.clone()).to_string(),
        ));
    }
    let [reasoning, answer] = lengths(t);
    let count = |n: u64| words::count(n);
    lines.push((
        "chars",
        format!(
            "{} of reasoning, {} of answer",
            count(reasoning),
            count(answer)
        ),
    ));
    let line = |(name, value): (&str, String)| format!("{name:<11}{}\n", visible(&value));
    lines.into_iter().map(line).collect()
}

/// Formats a label in words.
fn describe_label(row: &LabelRow) -> String {
    let mut words = vec![row.class.name().to_owned()];
    words.extend(row.kind.map(Kind::name).map(str::to_owned));
    words.extend(row.channel.map(|channel| format!("in {}", channel.name())));
    let places = [
        ("start", row.start),
        ("onset", row.onset),
        ("earliest", row.earliest),
        ("end", row.end),
        ("period", row.period),
    ];
    let told = places.iter();
    words.extend(told.filter_map(|(name, at)| Some(format!("{name} {}", words::count((*at)?)))));
    if !row.by.is_empty() {
        words.push(format!("(by {})", visible(&row.by)));
    }
    if !row.note.is_empty() {
        words.push(format!("- {}", visible(&row.note)));
    }
    words.join(" ")
}

/// Formats a block of text with its marks. The block begins at char `from` of its channel.
fn format_text(
    (channel, text, from): (Channel, &str, usize),
    labels: &[LabelRow],
    context: Option<usize>,
) -> String {
    let length = text.chars().count();
    let mut marks = Vec::new();
    for row in labels
        .iter()
        .filter(|row| row.channel.is_none_or(|c| c == channel))
    {
        let named = [
            ("start", row.start),
            ("onset", row.onset),
            ("earliest", row.earliest),
            ("end", row.end),
        ];
        for (name, position) in named {
            let offset = position
                .and_then(|position| usize::try_from(position).ok())
                .and_then(|position| position.checked_sub(from))
                .filter(|at| *at <= length);
            marks.extend(offset.map(|at| TextMark::new(at, name)));
        }
    }
    let count = |n: usize| words::count(n as u64);
    format!(
        "\n-- {}, chars {} to {}\n{}\n",
        channel.name(),
        count(from),
        count(from + length),
        fold_text(text, marks, context)
    )
}

/// The maximum number of chars shown at each end of a tool result. Results were written for the model, so readers need
/// little of them.
const MAX_RESULT: usize = 160;

fn format_event<'a>(
    event: &'a RecordedEvent,
    numbers: &mut RunNumbering<'a>,
    context: Option<usize>,
) -> String {
    let text = |text: &str, context| fold_text(text, Vec::new(), context);
    let id = |id: &Option<String>| match id {
        Some(id) => format!(" ({})", visible(id)),
        None => String::new(),
    };
    match &event.body {
        Body::ToolCall {
            id: call,
            name,
            arguments,
        } => {
            let written = Arguments::Json(arguments).text();
            format!(
                "\n-- call {}{}: {}\n{}\n",
                numbers.call_number(call.as_deref()),
                id(call),
                visible(name),
                text(&written, context)
            )
        }
        Body::ToolResult {
            id: call,
            content,
            error,
        } => format!(
            "\n-- result {}{}{}{}\n{}\n",
            numbers.call_of_result(call.as_deref()),
            id(call),
            if *error == Some(true) {
                ", an error"
            } else {
                ""
            },
            full_length(event),
            text(content, context.map(|context| context.min(MAX_RESULT)))
        ),
        Body::Turn => numbers.turn_heading(event),
        Body::User(said) => format!("\n-- user{}\n{}\n", full_length(event), text(said, context)),
        Body::System => format!("\n-- system{}\n", full_length(event)),
        Body::Handoff { from, to } => {
            format!("\n-- handoff: {} to {}\n", visible(from), visible(to))
        }
        Body::Finish { reason } => {
            let reason = reason.as_deref().map(|r| format!(": {}", visible_lines(r)));
            format!("\n-- finish{}\n", reason.unwrap_or_default())
        }
        Body::Reasoning(_) | Body::Answer(_) => String::new(),
    }
}

/// Formats the original length of a text that the recording holds only in part.
fn full_length(event: &RecordedEvent) -> String {
    let length = event.rest.get("length").and_then(serde_json::Value::as_u64);
    length.map_or_else(String::new, |n| {
        format!(", of {} in all", words::several(n, "char"))
    })
}
