//! [`Chunks`]: a guard on the JSON chunks of a streamed response.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::{Decision, Guards, Live, Utf16Decoder};

/// The guard of one streamed response that a client library has parsed into chunks. Each of several answers (`n = 2`)
/// has a guard of its own.
#[derive(Debug)]
pub struct Chunks {
    guards: Guards,
    model: Option<String>,
    /// The guards by number of the answer.
    answers: BTreeMap<u64, Live>,
    /// The state of plain text in UTF-16.
    lane: Utf16Decoder,
}

/// The part of a chunk that identifies its answers.
#[derive(Deserialize)]
struct ChunkHead {
    #[serde(default)]
    choices: Option<Vec<ChunkChoice>>,
}

#[derive(Deserialize)]
struct ChunkChoice {
    #[serde(default)]
    index: Option<u64>,
    #[serde(flatten)]
    _rest: IgnoredAny,
}

impl Chunks {
    pub(crate) fn new(guards: &Guards, model: Option<&str>) -> Self {
        Self {
            guards: guards.clone(),
            model: model.map(str::to_owned),
            answers: BTreeMap::new(),
            lane: Utf16Decoder::default(),
        }
    }

    /// Takes the next chunk, a JSON object of any supported API. Returns the decisions that need an action or a report.
    /// Usually there are none. Other input is ignored.
    pub fn feed(&mut self, chunk: &str) -> Vec<Decision> {
        let chunk = &*whole_chars(chunk);
        let head = serde_json::from_str::<ChunkHead>(chunk).ok();
        let choices = head.and_then(|head| head.choices).unwrap_or_default();
        let first = choices.iter().all(|choice| choice.index.unwrap_or(0) == 0);
        if first {
            return self.one(0, chunk);
        }
        let Ok(Value::Object(mut whole)) = serde_json::from_str::<Value>(chunk) else {
            return Vec::new();
        };
        let Some(Value::Array(parts)) = whole.remove("choices") else {
            return Vec::new();
        };
        let mut decisions = Vec::new();
        for (choice, mut part) in choices.iter().zip(parts) {
            part["index"] = 0.into();
            whole.insert("choices".to_owned(), Value::Array(vec![part]));
            let chunk = serde_json::to_string(&whole).unwrap_or_default();
            decisions.extend(self.one(choice.index.unwrap_or(0), &chunk));
        }
        decisions
    }

    /// Takes a piece of plain text: the answer, with thinking between `<think>` and `</think>`.
    pub fn text(&mut self, text: &str) -> Vec<Decision> {
        let chunk = json!({"choices": [{"index": 0, "delta": {"content": text}}]});
        self.one(0, &chunk.to_string())
    }

    /// Takes a piece of plain text in UTF-16, which may end inside a char.
    pub fn text_utf16(&mut self, units: &[u16]) -> Vec<Decision> {
        let text = self.lane.text(units);
        self.text(&text)
    }

    fn one(&mut self, answer: u64, chunk: &str) -> Vec<Decision> {
        let Self {
            guards,
            model,
            answers,
            ..
        } = self;
        let fresh = || guards.live(model.as_deref());
        let live = answers.entry(answer).or_insert_with(fresh);
        live.feed(chunk.as_bytes());
        live.feed(b"\n");
        live.decisions()
    }

    /// Takes a silence of this number of milliseconds.
    pub fn silence(&mut self, millis: u64) -> Vec<Decision> {
        if self.answers.is_empty() {
            self.answers
                .insert(0, self.guards.live(self.model.as_deref()));
        }
        let told = |live: &mut Live| {
            live.silence(millis);
            live.decisions()
        };
        self.answers.values_mut().flat_map(told).collect()
    }

    /// Ends the response. Text that was held back is judged too.
    pub fn end(&mut self) -> Vec<Decision> {
        let told = |live: &mut Live| {
            live.end();
            live.decisions()
        };
        self.answers.values_mut().flat_map(told).collect()
    }
}

/// Replaces each escaped half of a surrogate pair by U+FFFD. JavaScript writes such halves, and other JSON parsers
/// reject them.
fn whole_chars(json: &str) -> Cow<'_, str> {
    let half = |at: usize| -> Option<u16> {
        let digits = json.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        let unit = u16::from_str_radix(digits, 16).ok()?;
        (0xD800..0xE000).contains(&unit).then_some(unit)
    };
    let mut out = String::new();
    let (mut from, mut at) = (0, 0);
    while let Some(next) = json[at..].find('\\') {
        at += next;
        match (half(at), half(at + 6)) {
            (Some(0xD800..0xDC00), Some(0xDC00..)) => at += 12,
            (Some(_), _) => {
                out.push_str(&json[from..at]);
                out.push_str("\\ufffd");
                at += 6;
                from = at;
            }
            // The backslash and the char that it escapes, which may be a backslash too.
            (None, _) => at += 1 + json[at + 1..].chars().next().map_or(0, char::len_utf8),
        }
    }
    match from {
        0 => Cow::Borrowed(json),
        _ => Cow::Owned(out + &json[from..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Action;

    const SENTENCE: &str = "Wait, let me check the roads once more. ";

    fn chunks() -> Chunks {
        Guards::recommended().unwrap().chunks(None)
    }

    fn chunk(index: u64) -> String {
        json!({"choices": [{"index": index, "delta": {"content": SENTENCE}}]}).to_string()
    }

    /// Returns the number of chunks after which it stops.
    fn stops(mut chunks: Chunks, each: impl Fn(&mut Chunks) -> Vec<Decision>) -> Option<usize> {
        (0..50).find(|_| each(&mut chunks).iter().any(|d| d.action == Action::Stop))
    }

    #[test]
    fn each_answer_has_a_guard_of_its_own() {
        assert_eq!(stops(chunks(), |c| c.feed(&chunk(0))), Some(4));
        assert_eq!(stops(chunks(), |c| c.feed(&chunk(3))), Some(4));
        let both = json!({"choices": [
            {"index": 0, "delta": {"content": SENTENCE}},
            {"index": 1, "delta": {"content": SENTENCE}},
        ]});
        assert_eq!(stops(chunks(), |c| c.feed(&both.to_string())), Some(4));
        let mut turns = chunks();
        for i in 0..8 {
            assert!(turns.feed(&chunk(i % 2)).is_empty());
        }
        assert_eq!(turns.feed(&chunk(1)).len(), 1);
    }

    #[test]
    fn text_and_thinking_in_tags() {
        assert_eq!(stops(chunks(), |c| c.text(SENTENCE)), Some(4));
        let mut thinking = chunks();
        assert!(thinking.text("<think>").is_empty());
        let found: Vec<Decision> = (0..50).flat_map(|_| thinking.text(SENTENCE)).collect();
        let alarm = found[0].alarm.as_ref().unwrap();
        assert_eq!(alarm.channel, deadloop_detect::Channel::Reasoning);
        for what in ["", "nonsense", "[1]", "{\"choices\": 3}", "{}"] {
            assert!(chunks().feed(what).is_empty(), "{what}");
        }
    }

    #[test]
    fn halves_of_pairs_are_taken_out_and_nothing_else() {
        let pieces = [r"\ud83d", r"\uDE00", r"\u00e9", r"\\", r"\n", "a", "é"];
        // Every text of four of these: what serde_json reads after, and UTF-16 says of it.
        for i in 0..pieces.len().pow(4) {
            let parts: Vec<&str> = (0..4)
                .map(|k| pieces[i / pieces.len().pow(k) % pieces.len()])
                .collect();
            let unit = |part: &&str| match *part {
                r"\ud83d" => vec![0xD83D],
                r"\uDE00" => vec![0xDE00],
                other => serde_json::from_str::<String>(&format!("\"{other}\""))
                    .unwrap()
                    .encode_utf16()
                    .collect(),
            };
            let wanted =
                String::from_utf16_lossy(&parts.iter().flat_map(unit).collect::<Vec<u16>>());
            let json = format!("\"{}\"", parts.concat());
            let found: String = serde_json::from_str(&whole_chars(&json)).unwrap();
            assert_eq!(found, wanted, "{json}");
        }
        for odd in ["\\", "\\u", "\\ud8", "\\ud83d\\", "\\é"] {
            let _ = whole_chars(odd);
        }
    }
}
