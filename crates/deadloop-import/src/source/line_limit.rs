//! [`fit_to_line`]: shortening of a transcript to the length of a line of a corpus.

use serde_json::{Map, Value};

use deadloop_corpus::transcript::fingerprint::add_fingerprint;
use deadloop_corpus::{Body, Entry, RecordedEvent};
use deadloop_stream::wire::{WireFault, WireResult};

/// Lengths to which long texts are cut, in bytes, in the order of the attempts.
const KEPT_BYTES: [usize; 4] = [1 << 20, 1 << 16, 1 << 12, 1 << 8];

/// The maximum length of one text byte in a line: six bytes for `\u0001`, plus overhead.
const MAX_ESCAPED_BYTES: usize = 8;

/// Cuts tool results and user messages until the entry fits into a line of `max_bytes`. Returns the number of cut
/// texts.
///
/// A cut text keeps its beginning. The event gets the `length` of the whole text in chars, and its `sha256`.
///
/// # Errors
/// The line is still too long. Text and call arguments of the model are never cut, since positions refer to them.
pub(crate) fn fit_to_line(entry: &mut Entry, max_bytes: usize) -> WireResult<u64> {
    if entry_size(entry) <= max_bytes / MAX_ESCAPED_BYTES {
        return Ok(0);
    }
    let mut cut = 0;
    for kept in KEPT_BYTES {
        if line_length(entry)? <= max_bytes {
            break;
        }
        let events = entry.transcript.events.iter_mut();
        let shortened = events.map(|event| u64::from(shorten_text(event, kept)));
        cut = cut.max(shortened.sum());
    }
    match line_length(entry)? {
        fits if fits <= max_bytes => check_readable(entry).map(|()| cut),
        long => Err(WireFault::new(
            format!("a transcript of {long} bytes a line"),
            format!(
                "at most {max_bytes}: what the model wrote is never cut; import it as several transcripts of one group"
            ),
        )),
    }
}

/// Estimates the total size of an entry's texts and values, in bytes.
fn entry_size(entry: &Entry) -> usize {
    let body_size = |event: &RecordedEvent| match &event.body {
        Body::Reasoning(text) | Body::Answer(text) | Body::User(text) => text.len(),
        Body::ToolResult { content, .. } => content.len(),
        Body::ToolCall { arguments, .. } => value_size(arguments),
        _ => 0,
    };
    // Unknown fields may be long too.
    let fields = |fields: &Map<String, Value>| {
        let value = |(name, value): (&String, &Value)| name.len() + value_size(value);
        fields.iter().map(value).sum::<usize>()
    };
    let events = entry.transcript.events.iter();
    let events: usize = events
        .map(|event| body_size(event) + fields(&event.rest) + 64)
        .sum();
    let labels = entry.labels.as_ref().map_or(0, value_size);
    events + fields(&entry.transcript.meta) + fields(&entry.rest) + labels
}

/// Estimates the size of a JSON value in bytes, without escapes.
fn value_size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(_) => 25,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => 2 + items.iter().map(|item| value_size(item) + 1).sum::<usize>(),
        Value::Object(fields) => {
            let fields = fields.iter();
            let sizes = fields.map(|(name, value)| name.len() + 4 + value_size(value));
            2 + sizes.sum::<usize>()
        }
    }
}

/// Checks that the written line can be read again, since a line may hold fewer values than a document.
fn check_readable(entry: &Entry) -> WireResult {
    let read = Entry::from_line(entry_line(entry)?.as_bytes(), entry.place.clone(), None);
    read.map(drop)
        .map_err(|problem| WireFault::new(problem.what, problem.expected))
}

fn line_length(entry: &Entry) -> WireResult<usize> {
    entry_line(entry).map(|line| line.len())
}

/// Returns the corpus line of an entry.
fn entry_line(entry: &Entry) -> WireResult<String> {
    let fault = |e| WireFault::new(format!("cannot be written: {e}"), "what JSON can say");
    entry.to_line().map_err(fault)
}

/// Cuts the text of an event to `kept` bytes. Returns `false` if the text is short enough or must not be cut.
fn shorten_text(event: &mut RecordedEvent, kept: usize) -> bool {
    let (Body::ToolResult { content: text, .. } | Body::User(text)) = &mut event.body else {
        return false;
    };
    if text.len() <= kept {
        return false;
    }
    // A text that was cut before keeps the hash of its original.
    if !event.rest.contains_key("sha256") {
        add_fingerprint(text, &mut event.rest);
    }
    text.truncate(text.floor_char_boundary(kept));
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadloop_corpus::{Place, Transcript};

    fn entry(bodies: Vec<Body>) -> Entry {
        Entry {
            transcript: Transcript {
                id: "t".into(),
                model: "m".into(),
                events: bodies.into_iter().map(RecordedEvent::new).collect(),
                ..Transcript::default()
            },
            labels: None,
            rest: Default::default(),
            split: None,
            place: Place::whole("x"),
        }
    }

    fn result(content: String) -> Body {
        Body::ToolResult {
            id: Some("a".into()),
            content,
            error: None,
        }
    }

    #[test]
    fn long_results_are_cut_and_say_what_they_were() {
        let whole = "思\n".repeat(50_000);
        let short = result("fine".into());
        let mut long = entry(vec![
            Body::Answer("x".into()),
            result(whole.clone()),
            short.clone(),
        ]);
        assert_eq!(fit_to_line(&mut long, 100_000).unwrap(), 1);
        let [_, cut, left] = &long.transcript.events[..] else {
            panic!("three events");
        };
        let Body::ToolResult { content, .. } = &cut.body else {
            panic!("a result");
        };
        assert!(whole.starts_with(content.as_str()) && content.len() <= 1 << 16);
        assert_eq!(cut.rest["length"], 100_000);
        assert_eq!(cut.rest["sha256"].as_str().map(str::len), Some(16));
        assert_eq!((&left.body, left.rest.len()), (&short, 0));
        assert!(line_length(&long).unwrap() <= 100_000);
        let before = cut.rest["sha256"].clone();
        assert_eq!(fit_to_line(&mut long, 1000).unwrap(), 1);
        assert_eq!(
            long.transcript.events[1].rest["sha256"], before,
            "of the whole, cut twice"
        );
    }

    #[test]
    fn what_the_model_wrote_is_never_cut() {
        let mut long = entry(vec![
            Body::Answer("x".repeat(5000)),
            result("y".repeat(5000)),
        ]);
        let before = long.transcript.events[0].clone();
        let told = fit_to_line(&mut long, 3000).unwrap_err();
        assert!(
            told.at(Place::whole("x"))
                .to_string()
                .contains("several transcripts")
        );
        assert_eq!(long.transcript.events[0], before);
        let mut fits = entry(vec![Body::Answer("x".repeat(900))]);
        let before = fits.transcript.clone();
        assert_eq!(
            (fit_to_line(&mut fits, 3000).unwrap(), fits.transcript),
            (0, before)
        );
    }
}
