//! Shortening of long results to fit a line of a corpus.

use serde_json::{Map, Value};

use deadloop_corpus::transcript::fingerprint::add_fingerprint;
use deadloop_corpus::{Body, Entry, RecordedEvent};
use deadloop_stream::wire::WireFault;

/// The lengths to which long texts are cut, in bytes, in the order in which they are tried.
const KEPT: [usize; 4] = [1 << 20, 1 << 16, 1 << 12, 1 << 8];

/// The maximum number of bytes in a line for one byte of text: the six of `\u0001`, and some for the surroundings.
const ESCAPED: usize = 8;

/// Cuts results and user messages until the entry fits into a line. Returns the number of cut texts.
///
/// A cut text keeps its beginning, with the `length` of the whole in chars and its `sha256` for comparisons.
///
/// # Errors
/// The rest is still too long. Text of the model and arguments of calls are never cut, since positions refer to them.
pub(crate) fn fit(entry: &mut Entry, most: usize) -> Result<u64, WireFault> {
    if texts(entry) <= most / ESCAPED {
        return Ok(0);
    }
    let mut cut = 0;
    for kept in KEPT {
        if length(entry)? <= most {
            break;
        }
        let events = entry.transcript.events.iter_mut();
        let longer = events.map(|event| u64::from(cut_to(event, kept)));
        cut = cut.max(longer.sum());
    }
    match length(entry)? {
        fits if fits <= most => read_again(entry).map(|()| cut),
        long => Err(WireFault::new(
            format!("a transcript of {long} bytes a line"),
            format!(
                "at most {most}: what the model wrote is never cut; import it as several transcripts of one group"
            ),
        )),
    }
}

/// Estimates the bytes of all texts and values of an entry.
fn texts(entry: &Entry) -> usize {
    let of = |event: &RecordedEvent| match &event.body {
        Body::Reasoning(text) | Body::Answer(text) | Body::User(text) => text.len(),
        Body::ToolResult { content, .. } => content.len(),
        Body::ToolCall { arguments, .. } => size(arguments),
        _ => 0,
    };
    // Unknown fields may be long too.
    let fields = |fields: &Map<String, Value>| {
        let value = |(name, value): (&String, &Value)| name.len() + size(value);
        fields.iter().map(value).sum::<usize>()
    };
    let events = entry.transcript.events.iter();
    let events: usize = events
        .map(|event| of(event) + fields(&event.rest) + 64)
        .sum();
    let labels = entry.labels.as_ref().map_or(0, size);
    events + fields(&entry.transcript.meta) + fields(&entry.rest) + labels
}

/// Estimates the bytes of a value, without escapes.
fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(_) => 25,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => 2 + items.iter().map(|item| size(item) + 1).sum::<usize>(),
        Value::Object(fields) => {
            let fields = fields.iter();
            2 + fields
                .map(|(name, value)| name.len() + 4 + size(value))
                .sum::<usize>()
        }
    }
}

/// Checks that the written line can be read again: a record may hold fewer values than a document.
fn read_again(entry: &Entry) -> Result<(), WireFault> {
    let read = Entry::of_line(line(entry)?.as_bytes(), entry.place.clone(), None);
    read.map(drop)
        .map_err(|problem| WireFault::new(problem.what, problem.expected))
}

fn length(entry: &Entry) -> Result<usize, WireFault> {
    line(entry).map(|line| line.len())
}

/// Returns the line of a corpus.
fn line(entry: &Entry) -> Result<String, WireFault> {
    let fault = |e| WireFault::new(format!("cannot be written: {e}"), "what JSON can say");
    entry.to_line().map_err(fault)
}

/// Cuts the text of an event. Returns `false` if the text is short enough or must not be cut.
fn cut_to(event: &mut RecordedEvent, kept: usize) -> bool {
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
    let end = (0..=kept)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0);
    text.truncate(end);
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
        assert_eq!(fit(&mut long, 100_000).unwrap(), 1);
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
        assert!(length(&long).unwrap() <= 100_000);
        let before = cut.rest["sha256"].clone();
        assert_eq!(fit(&mut long, 1000).unwrap(), 1);
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
        let told = fit(&mut long, 3000).unwrap_err();
        assert!(
            told.at(Place::whole("x"))
                .to_string()
                .contains("several transcripts")
        );
        assert_eq!(long.transcript.events[0], before);
        let mut fits = entry(vec![Body::Answer("x".repeat(900))]);
        let before = fits.transcript.clone();
        assert_eq!(
            (fit(&mut fits, 3000).unwrap(), fits.transcript),
            (0, before)
        );
    }
}
