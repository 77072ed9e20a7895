//! [`Ending`]: the last events of a response that is cut. A client that sees a connection end without
//! them waits, fails, or takes what it has for a whole answer; with them it sees a response that was too
//! long, in the words of its API.

use serde_json::{Map, Value, json};

/// Longest line that is kept, in bytes: a response that begins with a longer one gets no ending.
const LONGEST: usize = 1 << 20;

/// Remembers of the bytes that were passed on what an ending has to name.
#[derive(Debug, Default)]
pub struct Ending {
    /// The line that is not over yet.
    line: Vec<u8>,
    /// It is longer than [`LONGEST`]: the rest of it is skipped.
    long: bool,
    /// The first and the last line that held an object.
    first: Option<Vec<u8>>,
    last: Vec<u8>,
    /// Whether the lines are fields of events (`data: …`) and not bare objects.
    fields: bool,
    /// Whether the line before the one that is not over was blank: then no event is open.
    blank: bool,
}

impl Ending {
    /// Takes what was passed on.
    pub fn saw(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|b| *b == b'\n') {
            self.long |= self.line.len() + piece.len() > LONGEST;
            if !self.long {
                self.line.extend_from_slice(piece);
            }
            if piece.ends_with(b"\n") {
                self.take();
                self.line.clear();
                self.long = false;
            }
        }
    }

    /// The line is whole: keeps the object in it.
    fn take(&mut self) {
        let line = self.line.trim_ascii();
        self.blank = line.is_empty() && !self.long;
        let data = line.strip_prefix(b"data:");
        let object = data.unwrap_or(line).trim_ascii();
        if self.long || !object.starts_with(b"{") {
            return;
        }
        self.fields = data.is_some();
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
        let mut text = self.gap().to_owned();
        for event in events {
            let kind = event.get("type").and_then(Value::as_str);
            let name = kind
                .map(|kind| format!("event: {kind}\n"))
                .unwrap_or_default();
            text += &match (self.fields, event.as_str()) {
                (true, Some(word)) => format!("data: {word}\n\n"),
                (true, None) => format!("{name}data: {event}\n\n"),
                (false, Some(_)) => String::new(),
                (false, None) => format!("{event}\n"),
            };
        }
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

/// The block that is open, then the message. How many tokens it was is not known: 0 is what the API
/// itself says before it knows.
fn anthropic(last: &Map<String, Value>) -> Vec<Value> {
    let delta = json!({"stop_reason": "max_tokens", "stop_sequence": null});
    let index = last.get("index").and_then(Value::as_u64).unwrap_or(0);
    vec![
        json!({"type": "content_block_stop", "index": index}),
        json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 0}}),
        json!({"type": "message_stop"}),
    ]
}

/// The response as it was announced, now incomplete.
fn responses(last: &Map<String, Value>, first: Option<Map<String, Value>>) -> Vec<Value> {
    let announced = first.and_then(|mut first| first.remove("response"));
    let Some(Value::Object(mut response)) = announced else {
        return Vec::new();
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
    /// The event before is ended where it is open, and no line is left blank where it is not.
    #[test]
    fn what_was_open_is_closed_first() {
        let event = "data: {\"choices\": [{\"index\": 2, \"delta\": {}}], \"usage\": null}";
        let end = "data: {\"choices\":[{\"index\":2,\"delta\":{},\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n";
        for (passed, gap) in [("\n\n", ""), ("\r\n\r\n", ""), ("\n", "\n"), ("\r\n", "\n")] {
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
