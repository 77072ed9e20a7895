//! Texts of programs with output of a model.
//!
//! | entry | written by |
//! |---|---|
//! | `captions` | subtitles of a model of speech: SubRip (`.srt`) and WebVTT (`.vtt`) |
//! | `vllm-log` | the log of `vllm serve` 0.10 with `--enable-log-requests --enable-log-outputs` |

use std::collections::HashMap;

use crate::reader::{Intake, RecordReader, entry, head_entry};
use crate::sessions::conversation::group_of;
use crate::source::records::{FileShape, SourceRecord};
use deadloop_corpus::{Body, Place, RecordedEvent};
use deadloop_stream::reasons::usual;
use deadloop_stream::wire::WireFault;

head_entry! { CAPTIONS_ENTRY: Captions = |head| head.text().is_some_and(is_captions), Some(FileShape::Text),
"captions", "subtitles (.srt, .vtt): the text of all cues is one answer"; }
head_entry! { VLLM_LOG_ENTRY: VllmLog = |head| head.text().is_some_and(has_output), Some(FileShape::Text),
"vllm-log", "logs of vLLM's server that hold outputs (--enable-log-outputs)"; }

fn has_output(text: &str) -> bool {
    text.lines().any(|line| parse_output(line).is_some())
}

fn is_captions(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    match lines.next() {
        Some(first) if first.starts_with("WEBVTT") => true,
        Some(first) => {
            let numbered = first.bytes().all(|byte| byte.is_ascii_digit());
            numbered && lines.next().is_some_and(|line| line.contains(" --> "))
        }
        None => false,
    }
}

#[derive(Default)]
struct Captions;

impl RecordReader for Captions {
    fn take(&mut self, record: SourceRecord, out: &mut Intake) -> Result<(), WireFault> {
        let (place, text) = record.text()?;
        let mut said = Vec::new();
        // The lines of a cue are between its times and an empty line.
        let mut inside = false;
        for line in text.lines() {
            match (inside, line.contains(" --> "), line.trim().is_empty()) {
                (_, true, _) => inside = true,
                (true, _, false) => said.push(line),
                _ => inside = false,
            }
        }
        out.emit(answer(place, &said.join("\n"), out));
        Ok(())
    }
}

/// Creates a transcript of one answer, named after its file.
fn answer(place: Place, text: &str, out: &Intake) -> deadloop_corpus::Entry {
    let events = out.split_thinking(text).map(RecordedEvent::new);
    let mut made = entry(place, events.collect());
    made.transcript.id = out.stem().to_owned();
    made
}

#[derive(Default)]
struct VllmLog;

impl RecordReader for VllmLog {
    fn take(&mut self, record: SourceRecord, out: &mut Intake) -> Result<(), WireFault> {
        let (place, text) = record.text()?;
        let mut prompts: HashMap<&str, String> = HashMap::new();
        for (at, line) in text.lines().enumerate() {
            if let Some((id, rest)) = id_after(line, "Received request ") {
                let prompt = rest.split_once("prompt: ").and_then(|(_, p)| parse_repr(p));
                prompts.extend(prompt.map(|(prompt, _)| (id, group_of(&prompt))));
            }
            let Some((id, said, rest)) = parse_output(line) else {
                continue;
            };
            let place = Place::new(place.file.clone(), at as u64 + 1);
            let mut made = answer(place, &said, out);
            let reason = rest.split_once("finish_reason: ").map(|(_, reason)| reason);
            let reason = reason.and_then(|reason| reason.split([',', ' ']).next());
            if let Some(reason) = reason.filter(|reason| *reason != "None") {
                let reason = Some(usual(reason));
                let event = RecordedEvent::new(Body::Finish { reason });
                made.transcript.events.push(event);
            }
            made.transcript.id = id.to_owned();
            made.transcript.group = prompts.remove(id);
            out.emit(made);
        }
        Ok(())
    }
}

/// Returns the id after a phrase, and the rest of the line.
fn id_after<'a>(line: &'a str, phrase: &str) -> Option<(&'a str, &'a str)> {
    let (_, after) = line.split_once(phrase)?;
    let (id, rest) = after.split_once([':', ' '])?;
    Some((id, rest))
}

/// Reads a whole output: the id of its request, its text, and the rest of the line.
fn parse_output(line: &str) -> Option<(&str, String, &str)> {
    let (id, rest) = id_after(line, "Generated response ")?;
    let (before, output) = rest.split_once("output: ")?;
    // The pieces of a stream are logged too, before the whole.
    if before.contains("delta") {
        return None;
    }
    let (text, rest) = parse_repr(output)?;
    Some((id, text, rest))
}

/// Parses a text in Python's notation (`repr`), and returns the rest.
fn parse_repr(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let mut said = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            c if c == quote => return Some((said, &text[at + 1..])),
            '\\' => match chars.next()?.1 {
                'n' => said.push('\n'),
                't' => said.push('\t'),
                'r' => said.push('\r'),
                kind @ ('x' | 'u' | 'U') => {
                    let digits = match kind {
                        'x' => 2,
                        'u' => 4,
                        _ => 8,
                    };
                    let code: String = chars.by_ref().take(digits).map(|(_, c)| c).collect();
                    let code = u32::from_str_radix(&code, 16).ok()?;
                    said.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                other => said.push(other),
            },
            c => said.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_python_is_read_to_its_end() {
        for (text, said, rest) in [
            (r"'a', x", "a", ", x"),
            (r#""it's", y"#, "it's", ", y"),
            (r"'it\'s\n\\n \x41\u00e9\U0001f501'", "it's\n\\n Aé🔁", ""),
        ] {
            assert_eq!(parse_repr(text), Some((said.to_owned(), rest)));
        }
        for broken in ["", "a", "'a", r"'a\", r"'\xzz'"] {
            assert_eq!(parse_repr(broken), None, "{broken}");
        }
    }
}
