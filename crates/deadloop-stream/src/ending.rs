//! [`EndingWriter`]: writes the last events of a cut response.
//!
//! Without an end, a client waits, fails, or mistakes the partial answer for the whole one. These events mark the
//! response as one that reached its length limit, in the format of its API.

use serde_json::{Map, Value, json};

use crate::reader::{Frame, Frames};

/// The maximum size of a kept object, in bytes, and of each of its lines. A response that begins with a larger object
/// gets no ending.
const MAX_LINE_BYTES: usize = 1 << 20;

/// Writer of the last events of a cut response. It reads the bytes that were forwarded before the cut.
#[derive(Debug)]
pub struct EndingWriter {
    /// The current line, until its line end arrives.
    line: Vec<u8>,
    /// Whether the current line exceeds [`MAX_LINE_BYTES`]. Its remaining bytes are skipped.
    is_line_too_long: bool,
    /// The parser of lines into objects, shared with the stream reader.
    frames: Frames,
    /// The first object of the response.
    first: Option<Vec<u8>>,
    /// The last object so far.
    last: Vec<u8>,
    /// Whether the objects are the data of server-sent events rather than bare lines.
    is_sse: bool,
    /// Whether the last complete line was blank, so that no event is open.
    is_after_blank_line: bool,
    /// Whether the last byte was a CR. A following LF belongs to the same line end.
    is_after_cr: bool,
}

impl Default for EndingWriter {
    fn default() -> Self {
        Self {
            line: Vec::new(),
            is_line_too_long: false,
            frames: Frames::new(true, MAX_LINE_BYTES),
            first: None,
            last: Vec::new(),
            is_sse: false,
            is_after_blank_line: false,
            is_after_cr: false,
        }
    }
}

impl EndingWriter {
    /// Reads bytes that were forwarded to the client.
    pub fn record(&mut self, bytes: &[u8]) {
        let ends = |byte: &u8| matches!(byte, b'\n' | b'\r');
        for piece in bytes.split_inclusive(ends) {
            let second = std::mem::replace(&mut self.is_after_cr, piece.ends_with(b"\r"));
            if second && piece == b"\n" {
                continue;
            }
            self.is_line_too_long |= self.line.len() + piece.len() > MAX_LINE_BYTES;
            if !self.is_line_too_long {
                self.line.extend_from_slice(piece);
            }
            if piece.last().is_some_and(ends) {
                self.finish_line();
                self.line.clear();
                self.is_line_too_long = false;
            }
        }
    }

    /// Parses the finished line and keeps the object that it completes.
    fn finish_line(&mut self) {
        let line = self.line.trim_ascii();
        self.is_after_blank_line = line.is_empty() && !self.is_line_too_long;
        if self.is_line_too_long {
            return;
        }
        let bare = line.starts_with(b"{");
        let Some(Ok(Frame::Object(object))) = self.frames.read(&self.line) else {
            return;
        };
        let object = object.as_bytes();
        if !object.starts_with(b"{") {
            return;
        }
        self.is_sse = !bare;
        self.last.clear();
        self.last.extend_from_slice(object);
        self.first.get_or_insert_with(|| self.last.clone());
    }

    /// Returns the last events as bytes, in the format of the API. The result is empty if the API is unknown.
    pub fn bytes(&self) -> Vec<u8> {
        let Some(last) = parse_object(&self.last) else {
            return Vec::new();
        };
        let kind = last.get("type").and_then(Value::as_str).unwrap_or_default();
        let events = match kind {
            "" if last.contains_key("choices") => build_chat_end(last),
            "" if last.contains_key("done") => build_ollama_end(last),
            kind if kind.starts_with("response.") => {
                build_responses_end(&last, self.first.as_deref().and_then(parse_object))
            }
            kind if kind.starts_with("content_block_") || kind.starts_with("message_") => {
                build_anthropic_end(&last)
            }
            _ => Vec::new(),
        };
        self.write_events(&events)
    }

    fn write_events(&self, events: &[Value]) -> Vec<u8> {
        if events.is_empty() {
            return Vec::new();
        }
        let text = self.missing_line_ends().to_owned() + &write_objects(events, self.is_sse);
        text.into_bytes()
    }

    /// Returns the line ends that are missing after the open line and the open event.
    fn missing_line_ends(&self) -> &'static str {
        match (self.line.is_empty() && !self.is_line_too_long, self.is_sse) {
            (true, true) if !self.is_after_blank_line => "\n",
            (true, _) => "",
            (false, false) => "\n",
            // One line feed ends the field that is cut, the other its event.
            (false, true) => "\n\n",
        }
    }
}

/// Formats objects as server-sent events if `is_sse` is set, otherwise as one object per line. Strings such as `[DONE]`
/// are left out of JSON lines.
fn write_objects(events: &[Value], is_sse: bool) -> String {
    let mut text = String::new();
    for event in events {
        let kind = event.get("type").and_then(Value::as_str);
        let name = kind
            .map(|kind| format!("event: {kind}\n"))
            .unwrap_or_default();
        text += &match (is_sse, event.as_str()) {
            (true, Some(word)) => format!("data: {word}\n\n"),
            (true, None) => format!("{name}data: {event}\n\n"),
            (false, Some(_)) => String::new(),
            (false, None) => format!("{event}\n"),
        };
    }
    text
}

fn parse_object(bytes: &[u8]) -> Option<Map<String, Value>> {
    serde_json::from_slice(bytes).ok()
}

/// The fields of a chunk whose values are the same throughout a response.
const CONSTANT_CHAT_FIELDS: [&str; 5] = ["id", "object", "created", "model", "system_fingerprint"];

/// Returns a copy of the last chunk with a finish reason in place of its text, then `[DONE]`.
fn build_chat_end(mut chunk: Map<String, Value>) -> Vec<Value> {
    let choice = |name: &str| chunk.get("choices")?.get(0)?.get(name);
    let index = choice("index").and_then(Value::as_u64).unwrap_or(0);
    let choice = match choice("text") {
        Some(_) => json!({"index": index, "text": "", "finish_reason": "length"}),
        None => json!({"index": index, "delta": {}, "finish_reason": "length"}),
    };
    chunk.retain(|key, _| CONSTANT_CHAT_FIELDS.contains(&key.as_str()));
    chunk.insert("choices".to_owned(), json!([choice]));
    vec![Value::Object(chunk), json!("[DONE]")]
}

fn build_ollama_end(mut line: Map<String, Value>) -> Vec<Value> {
    if line.contains_key("message") {
        line.insert(
            "message".to_owned(),
            json!({"role": "assistant", "content": ""}),
        );
    }
    if line.contains_key("response") {
        line.insert("response".to_owned(), json!(""));
    }
    line.remove("thinking");
    line.insert("done".to_owned(), json!(true));
    line.insert("done_reason".to_owned(), json!("length"));
    vec![Value::Object(line)]
}

/// Returns the end of the open block, if any, and the end of the message. The unknown token count is sent as 0, as in
/// the API's first events.
fn build_anthropic_end(last: &Map<String, Value>) -> Vec<Value> {
    let delta = json!({"stop_reason": "max_tokens", "stop_sequence": null});
    let kind = last.get("type").and_then(Value::as_str);
    let open = matches!(kind, Some("content_block_start" | "content_block_delta"));
    let index = last.get("index").and_then(Value::as_u64).unwrap_or(0);
    let stop = open.then(|| json!({"type": "content_block_stop", "index": index}));
    let message = [
        json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 0}}),
        json!({"type": "message_stop"}),
    ];
    stop.into_iter().chain(message).collect()
}

/// Returns the response object from the first event, with the status `incomplete`. If there was no first event, builds
/// a minimal response, since clients need the status and already have the output.
fn build_responses_end(last: &Map<String, Value>, first: Option<Map<String, Value>>) -> Vec<Value> {
    let mut response = match first.and_then(|mut first| first.remove("response")) {
        Some(Value::Object(response)) => response,
        _ => build_minimal_response(),
    };
    response.insert("status".to_owned(), json!("incomplete"));
    let why = json!({"reason": "max_output_tokens"});
    response.insert("incomplete_details".to_owned(), why);
    let number = last.get("sequence_number").and_then(Value::as_u64);
    vec![json!({
        "type": "response.incomplete",
        "sequence_number": number.unwrap_or(0).saturating_add(1),
        "response": response,
    })]
}

/// Returns a response with only the fields that the API requires.
fn build_minimal_response() -> Map<String, Value> {
    let required = [
        ("id", json!("resp_deadloop")),
        ("object", json!("response")),
        ("created_at", json!(0)),
        ("model", json!("unknown")),
        ("output", json!([])),
        ("parallel_tool_calls", json!(true)),
        ("tool_choice", json!("auto")),
        ("tools", json!([])),
    ];
    let required = required.map(|(name, value)| (name.to_owned(), value));
    required.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{StreamFormat, StreamReader, ThinkOptions};
    use deadloop_detect::OwnedEvent;
    use std::path::Path;

    fn ending(bytes: &[u8], size: usize) -> String {
        let mut ending = EndingWriter::default();
        bytes.chunks(size).for_each(|piece| ending.record(piece));
        String::from_utf8(ending.bytes()).unwrap()
    }

    /// Checks that a sample cut after any line gets an end, and the stream reader recognises its reason.
    #[test]
    fn a_sample_that_is_cut_ends_as_its_api_ends() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/formats");
        let cuts = [
            ("chat.sse", "delta\":{\"", "length"),
            ("anthropic.sse", "content_block_delta\",", "max_tokens"),
            ("responses.sse", ".delta\",", "incomplete"),
            ("ollama-chat.jsonl", "\"done\":false", "length"),
        ];
        for (name, mark, reason) in cuts {
            let text = std::fs::read_to_string(folder.join(name)).unwrap();
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            let has = |line: &&str| line.replace(": ", ":").contains(mark);
            let cut = lines.iter().rposition(has);
            let cut = cut.unwrap_or_else(|| panic!("{name} has no line with {mark}"));
            let mut bytes = lines[..=cut].concat().into_bytes();
            let end = ending(&bytes, 5);
            assert!(end.contains(reason), "{name}: {end}");
            bytes.extend_from_slice(end.as_bytes());
            let last = last(Some(StreamFormat::Sse), &bytes);
            let ended = matches!(last, Some(OwnedEvent::Finish(Some(_))));
            assert!(ended, "{name}: {last:?}");
        }
    }

    /// Returns the last event of the stream reader. Asserts that it finds no bad lines.
    fn last(format: Option<StreamFormat>, bytes: &[u8]) -> Option<OwnedEvent> {
        let mut reader = StreamReader::new("x", format, ThinkOptions::default());
        reader.feed(bytes);
        reader.end();
        let events = std::iter::from_fn(|| reader.next_event());
        let last = events.last().map(|arrival| arrival.event);
        assert_eq!(reader.bad_lines(), 0, "{:?}", reader.problems());
        last
    }

    #[test]
    fn nothing_is_made_up_for_what_is_not_known() {
        for text in [
            "",
            "so\nand so\n",
            "{\"a\": 1}\n",
            "data: {\"type\": \"ping\"}\n",
            "data: {\"choices\"\n",
        ] {
            assert_eq!(ending(text.as_bytes(), 3), "", "{text}");
        }
        let long = "x".repeat(MAX_LINE_BYTES);
        let long = format!("data: {{\"choices\": [], \"x\": \"{long}\"}}\n");
        assert_eq!(ending(long.as_bytes(), 4096), "");
    }

    #[test]
    fn a_line_that_was_passed_in_part_is_not_read() {
        let text = "data: {\"choices\": [{\"text\": \"a\"}], \"id\": 7}\n\ndata: {\"choi";
        let end = "\n\ndata: {\"id\":7,\"choices\":[{\"index\":0,\"text\":\"\",\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n";
        assert_eq!(ending(text.as_bytes(), 1000), end);
    }

    /// Checks that an object in several `data` lines is read like one in a single line, and an incomplete one is
    /// ignored.
    #[test]
    fn an_event_of_several_lines_is_ended() {
        let event =
            "data: {\"id\": 7,\ndata: \"choices\": [\ndata: {\"index\": 0, \"delta\": {}}]}\n";
        let end = "data: {\"id\":7,\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n";
        for size in [1, 7, 1000] {
            assert_eq!(ending(format!("{event}\n").as_bytes(), size), end);
            // The reader parses an object of several lines only when its event ends.
            assert_eq!(ending(event.as_bytes(), size), "");
            let crlf = format!("{event}\n").replace('\n', "\r\n");
            assert_eq!(ending(crlf.as_bytes(), size), end);
        }
        let two = format!("{event}\ndata: {{\"id\": 8,\n");
        assert_eq!(ending(two.as_bytes(), 1000), format!("\n{end}"));
    }

    /// Checks a stream of the Responses API without its beginning: the stream reader finds an end, and the sequence
    /// number continues.
    #[test]
    fn a_response_that_was_not_announced_is_ended() {
        let event = "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":4,\"delta\":\"so \"}\n\n";
        let end = ending(event.as_bytes(), 9);
        assert!(end.starts_with("event: response.incomplete\n"), "{end}");
        assert!(end.contains("\"sequence_number\":5"), "{end}");
        let last = last(None, format!("{event}{end}").as_bytes());
        let reason = Some("max_output_tokens".to_owned());
        assert_eq!(last, Some(OwnedEvent::Finish(reason)));
    }

    /// Checks that an open event is ended first, and no blank line is added after a closed one.
    #[test]
    fn what_was_open_is_closed_first() {
        let event = "data: {\"choices\": [{\"index\": 2, \"delta\": {}}], \"usage\": null}";
        let end = "data: {\"choices\":[{\"index\":2,\"delta\":{},\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n";
        for line in ["\n", "\r\n", "\r"] {
            for (passed, gap) in [(line.repeat(2), ""), (line.to_owned(), "\n")] {
                let told = ending(format!("{event}{passed}").as_bytes(), 4);
                assert_eq!(told, format!("{gap}{end}"), "{passed:?}");
            }
        }
        let line = "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"x\"},\"done\":false}\n";
        let end = "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"length\"}\n";
        assert_eq!(ending(line.as_bytes(), 9), end);
    }
}
