//! [`Ending`]: the last events of a response that is cut. A client that sees a connection end without
//! them waits, fails, or takes what it has for a whole answer; with them it sees a response that was too
//! long, in the words of its API.

use serde_json::{Map, Value, json};

use crate::reader::{Framed, Frames};

/// Longest line, and longest object in several lines, that is kept, in bytes: a response that begins with a longer one
/// gets no ending.
const LONGEST: usize = 1 << 20;

/// Remembers of the bytes that were passed on what an ending has to name.
#[derive(Debug)]
pub struct Ending {
    /// The line that is not over yet.
    line: Vec<u8>,
    /// It is longer than [`LONGEST`]: the rest of it is skipped.
    long: bool,
    /// Lines into objects, as the reader of streams takes them.
    frames: Frames,
    /// The first and the last object.
    first: Option<Vec<u8>>,
    last: Vec<u8>,
    /// Whether the objects are the data of events (`data: …`) and do not stand bare.
    fields: bool,
    /// Whether the line before the one that is not over was blank: then no event is open.
    blank: bool,
    /// Whether the last byte was a CR: an LF belongs to it.
    cr: bool,
}

impl Default for Ending {
    fn default() -> Self {
        Self {
            line: Vec::new(),
            long: false,
            frames: Frames::new(true, LONGEST),
            first: None,
            last: Vec::new(),
            fields: false,
            blank: false,
            cr: false,
        }
    }
}

impl Ending {
    /// Takes what was passed on.
    pub fn saw(&mut self, bytes: &[u8]) {
        let ends = |byte: &u8| matches!(byte, b'\n' | b'\r');
        for piece in bytes.split_inclusive(ends) {
            let second = std::mem::replace(&mut self.cr, piece.ends_with(b"\r"));
            if second && piece == b"\n" {
                continue;
            }
            self.long |= self.line.len() + piece.len() > LONGEST;
            if !self.long {
                self.line.extend_from_slice(piece);
            }
            if piece.last().is_some_and(ends) {
                self.take();
                self.line.clear();
                self.long = false;
            }
        }
    }

    /// The line is whole: keeps the object that it ends.
    fn take(&mut self) {
        let line = self.line.trim_ascii();
        self.blank = line.is_empty() && !self.long;
        if self.long {
            return;
        }
        let bare = line.starts_with(b"{");
        let Some(Ok(Framed::Object(object))) = self.frames.line(&self.line) else {
            return;
        };
        let object = object.as_bytes();
        if !object.starts_with(b"{") {
            return;
        }
        self.fields = !bare;
        self.last.clear();
        self.last.extend_from_slice(object);
        self.first.get_or_insert_with(|| self.last.clone());
    }

    /// The events; empty where the API is not known.
    pub fn bytes(&self) -> Vec<u8> {
        let Some(last) = object(&self.last) else {
            return Vec::new();
        };
        let kind = last.get("type").and_then(Value::as_str).unwrap_or_default();
        let events = match kind {
            "" if last.contains_key("choices") => chat(last),
            "" if last.contains_key("done") => ollama(last),
            kind if kind.starts_with("response.") => {
                responses(&last, self.first.as_deref().and_then(object))
            }
            kind if kind.starts_with("content_block_") || kind.starts_with("message_") => {
                anthropic(&last)
            }
            _ => Vec::new(),
        };
        self.written(&events)
    }

    fn written(&self, events: &[Value]) -> Vec<u8> {
        if events.is_empty() {
            return Vec::new();
        }
        let text = self.gap().to_owned() + &written(events, self.fields);
        text.into_bytes()
    }

    /// What ends the line and the event that are open.
    fn gap(&self) -> &'static str {
        match (self.line.is_empty() && !self.long, self.fields) {
            (true, true) if !self.blank => "\n",
            (true, _) => "",
            (false, false) => "\n",
            // The field that is cut ends, and its event.
            (false, true) => "\n\n",
        }
    }
}

/// Objects as a stream has them: as the data of events with their names (`fields`), or bare. A word that is no object is
/// left out where they are bare.
fn written(events: &[Value], fields: bool) -> String {
    let mut text = String::new();
    for event in events {
        let kind = event.get("type").and_then(Value::as_str);
        let name = kind
            .map(|kind| format!("event: {kind}\n"))
            .unwrap_or_default();
        text += &match (fields, event.as_str()) {
            (true, Some(word)) => format!("data: {word}\n\n"),
            (true, None) => format!("{name}data: {event}\n\n"),
            (false, Some(_)) => String::new(),
            (false, None) => format!("{event}\n"),
        };
    }
    text
}

fn object(bytes: &[u8]) -> Option<Map<String, Value>> {
    serde_json::from_slice(bytes).ok()
}

/// What a chunk says of its response, and not of itself.
const OF_CHAT: [&str; 5] = ["id", "object", "created", "model", "system_fingerprint"];

/// A chunk like the last one, with a reason in place of text.
fn chat(mut chunk: Map<String, Value>) -> Vec<Value> {
    let choice = |name: &str| chunk.get("choices")?.get(0)?.get(name);
    let index = choice("index").and_then(Value::as_u64).unwrap_or(0);
    let choice = match choice("text") {
        Some(_) => json!({"index": index, "text": "", "finish_reason": "length"}),
        None => json!({"index": index, "delta": {}, "finish_reason": "length"}),
    };
    chunk.retain(|key, _| OF_CHAT.contains(&key.as_str()));
    chunk.insert("choices".to_owned(), json!([choice]));
    vec![Value::Object(chunk), json!("[DONE]")]
}

fn ollama(mut line: Map<String, Value>) -> Vec<Value> {
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

/// The block that is open, if one is, then the message. How many tokens it was is not known: 0 is what the API
/// itself says before it knows.
fn anthropic(last: &Map<String, Value>) -> Vec<Value> {
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

/// The response as it was announced, now incomplete. Where its beginning was not passed on, a response of which no more
/// is known than that: clients read its status, and its output, which they have.
fn responses(last: &Map<String, Value>, first: Option<Map<String, Value>>) -> Vec<Value> {
    let mut response = match first.and_then(|mut first| first.remove("response")) {
        Some(Value::Object(response)) => response,
        _ => unannounced(),
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

/// What the API requires of a response.
fn unannounced() -> Map<String, Value> {
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
        let mut ending = Ending::default();
        bytes.chunks(size).for_each(|piece| ending.saw(piece));
        String::from_utf8(ending.bytes()).unwrap()
    }

    /// Cut after any line of the samples, the reader of streams sees an end with a reason.
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
            let cut = lines
                .iter()
                .rposition(|line| line.replace(": ", ":").contains(mark));
            let cut = cut.unwrap_or_else(|| panic!("{name} has no line with {mark}"));
            let mut bytes = lines[..=cut].concat().into_bytes();
            let end = ending(&bytes, 5);
            assert!(end.contains(reason), "{name}: {end}");
            bytes.extend_from_slice(end.as_bytes());
            let mut reader =
                StreamReader::new(name, Some(StreamFormat::Sse), ThinkOptions::default());
            reader.feed(&bytes);
            reader.end();
            let events = std::iter::from_fn(|| reader.next_event());
            let last = events.last().map(|arrival| arrival.event);
            assert!(
                matches!(last, Some(OwnedEvent::Finish(Some(_)))),
                "{name}: {last:?}"
            );
            assert_eq!(reader.bad_lines(), 0, "{name}: {:?}", reader.problems());
        }
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
        let long = format!(
            "data: {{\"choices\": [], \"x\": \"{}\"}}\n",
            "x".repeat(LONGEST)
        );
        assert_eq!(ending(long.as_bytes(), 4096), "");
    }

    #[test]
    fn a_line_that_was_passed_in_part_is_not_read() {
        let text = "data: {\"choices\": [{\"text\": \"a\"}], \"id\": 7}\n\ndata: {\"choi";
        let end = ending(text.as_bytes(), 1000);
        assert_eq!(
            end,
            "\n\ndata: {\"id\":7,\"choices\":[{\"index\":0,\"text\":\"\",\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n"
        );
    }

    /// An object in several `data` lines is as good as one in one, and one that was cut is not read.
    #[test]
    fn an_event_of_several_lines_is_ended() {
        let event =
            "data: {\"id\": 7,\ndata: \"choices\": [\ndata: {\"index\": 0, \"delta\": {}}]}\n";
        let end = "data: {\"id\":7,\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n";
        for size in [1, 7, 1000] {
            assert_eq!(ending(format!("{event}\n").as_bytes(), size), end);
            // The reader takes an object that goes on in further lines when its event ends, no sooner.
            assert_eq!(ending(event.as_bytes(), size), "");
            let crlf = format!("{event}\n").replace('\n', "\r\n");
            assert_eq!(ending(crlf.as_bytes(), size), end);
        }
        let two = format!("{event}\ndata: {{\"id\": 8,\n");
        assert_eq!(ending(two.as_bytes(), 1000), format!("\n{end}"));
    }

    /// A stream of the Responses API that was joined late: the reader of streams sees it end, and the number goes on.
    #[test]
    fn a_response_that_was_not_announced_is_ended() {
        let event = "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":4,\"delta\":\"so \"}\n\n";
        let end = ending(event.as_bytes(), 9);
        assert!(end.starts_with("event: response.incomplete\n"), "{end}");
        assert!(end.contains("\"sequence_number\":5"), "{end}");
        let mut reader = StreamReader::new("x", None, ThinkOptions::default());
        reader.feed(event.as_bytes());
        reader.feed(end.as_bytes());
        reader.end();
        let events = std::iter::from_fn(|| reader.next_event());
        let last = events.last().map(|arrival| arrival.event);
        let reason = Some("max_output_tokens".to_owned());
        assert_eq!(last, Some(OwnedEvent::Finish(reason)));
        assert_eq!(reader.bad_lines(), 0);
    }

    /// The event before is ended where it is open, and no line is left blank where it is not.
    #[test]
    fn what_was_open_is_closed_first() {
        let event = "data: {\"choices\": [{\"index\": 2, \"delta\": {}}], \"usage\": null}";
        let end = "data: {\"choices\":[{\"index\":2,\"delta\":{},\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n";
        let ends = [
            ("\n\n", ""),
            ("\r\n\r\n", ""),
            ("\r\r", ""),
            ("\n", "\n"),
            ("\r\n", "\n"),
            ("\r", "\n"),
        ];
        for (passed, gap) in ends {
            assert_eq!(
                ending((event.to_owned() + passed).as_bytes(), 4),
                gap.to_owned() + end
            );
        }
        let line = "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"x\"},\"done\":false}\n";
        assert_eq!(
            ending(line.as_bytes(), 9),
            "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"length\"}\n"
        );
    }
}
