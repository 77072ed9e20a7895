//! Recognition of a stream's format from as few first bytes as possible.
//!
//! Text must not wait, so a beginning that cannot start a stream of objects is text. An object counts as a chunk only
//! if a family matches its first key and the complete line. For answers that look like chunks, pass `--from`.

use super::StreamFormat;
use super::families;
use super::frames::{DONE, SSE_FIELDS, max_values, object};
use crate::{BOM, MAX_LINE};

/// The maximum number of bytes held back for the end of an object's line. First chunks are shorter.
const MAX_OBJECT_BYTES: usize = 1 << 16;
/// The maximum number of bytes held back as a possible field of server-sent events. Fields before the first data are
/// short.
const MAX_FIELD_BYTES: usize = 1 << 10;
/// The maximum number of bytes held back in total, such as keep-alives before the first data.
const MAX_HEAD_BYTES: usize = 2 * MAX_OBJECT_BYTES;
/// The maximum length of an object's first key that is compared, in bytes.
const MAX_KEY_BYTES: usize = 64;

/// The evidence of one line about the format.
enum LineEvidence {
    /// A blank line, which is no evidence.
    Blank,
    /// A comment or a field without data, which suggests server-sent events.
    Field,
    /// A line that decides the format.
    Format(StreamFormat),
    /// An unfinished line whose end is needed.
    Wait,
}

/// Returns the format of a stream that begins with `head`. `None` if more bytes are needed. If the stream has `ended`,
/// `None` only for an empty one.
pub(super) fn recognize(head: &[u8], ended: bool) -> Option<StreamFormat> {
    if !ended && BOM.starts_with(head) {
        return None;
    }
    // Later bytes are not read, so that the result does not depend on the size of the first chunk.
    let seen = &head[..head.len().min(MAX_HEAD_BYTES)];
    let over = seen.len() < head.len();
    let lines = seen.strip_prefix(BOM).unwrap_or(seen);
    let mut fields = false;
    let ends = |byte: &u8| matches!(byte, b'\n' | b'\r');
    for line in lines.split_inclusive(ends) {
        match classify_line(line, (ended && !over) || line.last().is_some_and(ends)) {
            LineEvidence::Blank => {}
            LineEvidence::Field => fields = true,
            LineEvidence::Format(format) => return Some(format),
            LineEvidence::Wait => break,
        }
    }
    let decided = over || (ended && !head.is_empty());
    decided.then_some(if fields {
        StreamFormat::Sse
    } else {
        StreamFormat::Text
    })
}

fn classify_line(line: &[u8], is_whole: bool) -> LineEvidence {
    let trimmed = line.trim_ascii();
    if trimmed.is_empty() {
        return LineEvidence::Blank;
    }
    if trimmed.starts_with(b"{") {
        return classify_object(trimmed, is_whole);
    }
    if line.starts_with(b":") {
        return await_line_end(LineEvidence::Field, line, is_whole);
    }
    for name in SSE_FIELDS {
        let Some(rest) = line.strip_prefix(name.as_bytes()) else {
            if !is_whole && name.as_bytes().starts_with(line) {
                return LineEvidence::Wait;
            }
            continue;
        };
        return match rest.strip_prefix(b":") {
            Some(value) if name == "data" => classify_data(value.trim_ascii(), line, is_whole),
            Some(_) => await_line_end(LineEvidence::Field, line, is_whole),
            None if rest.is_empty() && !is_whole => LineEvidence::Wait,
            None => LineEvidence::Format(StreamFormat::Text),
        };
    }
    LineEvidence::Format(StreamFormat::Text)
}

/// Returns `evidence` if the line is whole, otherwise [`LineEvidence::Wait`].
fn await_line_end(evidence: LineEvidence, line: &[u8], is_whole: bool) -> LineEvidence {
    match is_whole {
        _ if line.len() > MAX_FIELD_BYTES => LineEvidence::Format(StreamFormat::Text),
        true => evidence,
        false => LineEvidence::Wait,
    }
}

fn classify_data(value: &[u8], line: &[u8], is_whole: bool) -> LineEvidence {
    if value.is_empty() {
        return await_line_end(LineEvidence::Field, line, is_whole);
    }
    if value.starts_with(b"{") || (is_whole && value == DONE.as_bytes()) {
        return LineEvidence::Format(StreamFormat::Sse);
    }
    // Even after the whole word, more text may follow on the line.
    if !is_whole && DONE.as_bytes().starts_with(value) {
        return LineEvidence::Wait;
    }
    LineEvidence::Format(StreamFormat::Text)
}

/// Classifies a line that begins with a brace.
fn classify_object(line: &[u8], is_whole: bool) -> LineEvidence {
    const TEXT: LineEvidence = LineEvidence::Format(StreamFormat::Text);
    let after = line[1..].trim_ascii_start();
    let Some(key) = after.strip_prefix(b"\"") else {
        return if after.is_empty() && !is_whole {
            LineEvidence::Wait
        } else {
            TEXT
        };
    };
    let known = match key.iter().position(|byte| *byte == b'"') {
        Some(end) => families::begins(&key[..end]),
        None => !is_whole && key.len() < MAX_KEY_BYTES,
    };
    if !known || line.len() > MAX_OBJECT_BYTES {
        return TEXT;
    }
    if !is_whole {
        return LineEvidence::Wait;
    }
    let parsed = std::str::from_utf8(line)
        .ok()
        .and_then(|l| object(l, max_values(MAX_LINE)).ok());
    match parsed {
        Some(map) if families::recognize(&map).is_some() => {
            LineEvidence::Format(StreamFormat::Jsonl)
        }
        _ => TEXT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recognized_name(head: &str) -> Option<&'static str> {
        recognize(head.as_bytes(), false).map(StreamFormat::name)
    }

    #[test]
    fn text_does_not_wait() {
        for head in [
            "T",
            "思",
            "dear",
            "data is",
            "data: the numbers",
            "ideas",
            "[1",
            "{ \"sql\"",
            "{\n  \"type\"",
            "{\"sql\": ",
            "{}",
            "{\"id\": 1}\n",
            "{\"type\": \"object\"}\n",
            "event: a\nb",
            " \n x",
            "\u{feff}x",
        ] {
            assert_eq!(recognized_name(head), Some("text"), "{head:?}");
        }
    }

    #[test]
    fn what_may_be_a_stream_of_objects_waits() {
        for head in [
            "",
            "\u{feff}",
            " \n",
            "d",
            "data",
            "data:",
            "data: ",
            "data: [D",
            "data: [DONE]",
            "id: 7\n",
            ": keep-alive\n\n",
            "event: message_start\n",
            "{",
            "{ ",
            "{\"ty",
            "{\"type\":\"answer\"",
            "{\"id\": 1",
        ] {
            assert_eq!(recognized_name(head), None, "{head:?}");
        }
        for head in [
            "data: {",
            "data:{",
            "data: [DONE]\n",
            ": a\nevent: b\r\ndata: {",
        ] {
            assert_eq!(recognized_name(head), Some("sse"), "{head:?}");
        }
        assert_eq!(
            recognized_name("{\"type\":\"answer\",\"text\":\"x\"}\n"),
            Some("jsonl")
        );
    }

    #[test]
    fn nothing_waits_for_ever() {
        let long = |start: &str, n: usize| recognized_name(&(start.to_owned() + &"x".repeat(n)));
        assert_eq!(long("{\"message\": \"", MAX_OBJECT_BYTES), Some("text"));
        assert_eq!(long(":", MAX_FIELD_BYTES), Some("text"));
        assert_eq!(recognized_name(&" \n".repeat(MAX_HEAD_BYTES)), Some("text"));
        assert_eq!(
            recognized_name(&(": wait\n".repeat(MAX_HEAD_BYTES) + ": wa")),
            Some("sse")
        );
        let ended = |head: &str| recognize(head.as_bytes(), true).map(StreamFormat::name);
        for (head, format) in [
            (": a", "sse"),
            ("id", "text"),
            ("{\"type", "text"),
            (" ", "text"),
        ] {
            assert_eq!(ended(head), Some(format), "{head:?}");
        }
        assert_eq!(ended("{\"type\":\"turn\"}"), Some("jsonl"));
        assert_eq!(ended(""), None);
    }

    /// Checks that whole and piecewise input give the same result.
    #[test]
    fn how_much_comes_at_once_makes_no_difference() {
        let object = |n: usize| format!("{{\"type\":\"answer\",\"text\":\"{}\"}}\n", "x".repeat(n));
        let heads = [
            object(MAX_OBJECT_BYTES / 2),
            object(MAX_OBJECT_BYTES),
            format!(":{}\ndata: {{", "x".repeat(MAX_FIELD_BYTES)),
            format!(":{}\ndata: {{", "x".repeat(MAX_FIELD_BYTES / 2)),
            format!("{}data: {{", ": wait\n".repeat(MAX_HEAD_BYTES)),
            format!("{}data: {{", "\n".repeat(MAX_HEAD_BYTES)),
            format!("{{{}\"type\":\"turn\"}}\n", " ".repeat(2 * MAX_KEY_BYTES)),
            "{\"usage\":1,\"choices\":[]}\n".to_owned(),
            "data:[DONE]🔁\r\ndata: []}".to_owned(),
            format!("{{\"{}\":1}}\n", "k".repeat(2 * MAX_KEY_BYTES)),
        ];
        for head in heads {
            let ends = (1..head.len())
                .step_by(head.len().div_ceil(500))
                .chain([head.len()])
                .filter(|end| head.is_char_boundary(*end));
            let first = ends.filter_map(|end| recognized_name(&head[..end])).next();
            assert!(
                first.is_some() && first == recognized_name(&head),
                "{head:.20}"
            );
        }
    }
}
