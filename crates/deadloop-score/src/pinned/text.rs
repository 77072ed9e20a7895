//! The text of a case: a string, or a list of parts.
//!
//! Each part is one of these:
//! - a string, or `{ literal = "…" }`;
//! - `{ repeat = "…", times = N }`;
//! - `{ numbered = ["…", "…"], items = N }`: list items with rising numbers, from these lines in turn;
//! - `{ lines = "… {n} … {word} …", words = ["…"], times = N }`: lines from a template with a rising number and with
//!   the words in turn (`{word}`) or in no order (`{any}`);
//! - `{ filler = N }`: N letters and blanks that do not repeat.
//!
//! Any part may have `channel = "answer"`; the default is `reasoning`. Marks are written in the text and removed from
//! it. If a mark occurs several times, the first counts.

use deadloop_replay::detect::{Channel, Chars};
use serde::Deserialize;
use toml::Value;

use super::CaseMarks;

/// The mark before the first char of the second copy.
const ONSET_MARK: &str = "⟦onset⟧";
/// The mark at which the alarm is due.
const ALARM_MARK: &str = "⟦alarm⟧";

/// The maximum length of a case in chars. It rejects a mistyped `times` at once.
pub(super) const MAX_CHARS: usize = 50_000_000;

/// A part of a text, as written in the file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseTextPart {
    literal: Option<String>,
    repeat: Option<String>,
    times: Option<usize>,
    numbered: Option<Vec<String>>,
    items: Option<usize>,
    filler: Option<usize>,
    lines: Option<String>,
    #[serde(default)]
    words: Vec<String>,
    channel: Option<String>,
}

/// Texts with their channels, in order.
type ChannelTexts = Vec<(Channel, String)>;

/// Parses the parts of a text. Returns the texts by channel and the marks. Adjacent parts of one channel are joined.
pub(super) fn parse_parts(value: Value) -> Result<(ChannelTexts, CaseMarks), String> {
    let items = match value {
        Value::Array(items) => items,
        single => vec![single],
    };
    let (mut pieces, mut marks): (ChannelTexts, CaseMarks) = Default::default();
    for item in items {
        let part = match item {
            Value::String(literal) => CaseTextPart {
                literal: Some(literal),
                ..CaseTextPart::default()
            },
            table => table
                .try_into()
                .map_err(|e: toml::de::Error| e.message().to_owned())?,
        };
        let (channel, text) = (part.parse_channel()?, part.expand()?);
        let before = count_chars(&pieces, channel);
        let text = marks.extract(&text, (channel, before));
        match pieces.last_mut() {
            Some((last, all)) if *last == channel => *all += &text,
            _ => pieces.push((channel, text)),
        }
    }
    let last = pieces.last().map(|(channel, _)| *channel);
    marks.channel = marks.channel.or(last);
    marks.end = marks.channel.map(|channel| count_chars(&pieces, channel));
    Ok((pieces, marks))
}

fn count_chars(pieces: &ChannelTexts, channel: Channel) -> u64 {
    let own = pieces.iter().filter(|(c, _)| *c == channel);
    own.map(|(_, text)| Chars::count(text).0).sum()
}

impl CaseMarks {
    /// Records the positions of the marks in a text, and returns the text without them.
    ///
    /// `before` is the number of chars of the channel before the text. Marks in another channel than that of the first
    /// mark are ignored.
    pub(super) fn extract(&mut self, marked: &str, (channel, before): (Channel, u64)) -> String {
        let is_mark_channel = self.channel.is_none_or(|known| known == channel);
        let position = |mark: &str, other: &str| {
            let (start, _) = marked.split_once(mark).filter(|_| is_mark_channel)?;
            Some(before + Chars::count(&start.replace(other, "")).0)
        };
        self.onset = self.onset.or(position(ONSET_MARK, ALARM_MARK));
        self.alarm = self.alarm.or(position(ALARM_MARK, ONSET_MARK));
        if self.onset.or(self.alarm).is_some() {
            self.channel = self.channel.or(Some(channel));
        }
        marked.replace(ONSET_MARK, "").replace(ALARM_MARK, "")
    }
}

impl CaseTextPart {
    fn parse_channel(&self) -> Result<Channel, String> {
        match self.channel.as_deref() {
            None | Some("reasoning") => Ok(Channel::Reasoning),
            Some("answer") => Ok(Channel::Answer),
            Some(other) => Err(format!(
                "unknown channel {other:?}; expected reasoning or answer"
            )),
        }
    }

    /// Returns the text that the part describes.
    fn expand(&self) -> Result<String, String> {
        let times = |unit: usize| {
            let n = self.times.ok_or("times is missing beside it")?;
            check_size(n.checked_mul(unit))?;
            Ok::<usize, String>(n)
        };
        match (
            &self.literal,
            &self.repeat,
            &self.numbered,
            &self.lines,
            self.filler,
        ) {
            (Some(text), None, None, None, None) => Ok(text.clone()),
            (None, Some(unit), None, None, None) => Ok(unit.repeat(times(unit.len())?)),
            (None, None, Some(lines), None, None) if !lines.is_empty() => self.number_lines(lines),
            (None, None, None, Some(template), None) => {
                let longest = self.words.iter().map(String::len).max().unwrap_or(0);
                let n = times(template.len() + longest)?;
                Ok((0..n).map(|n| self.fill_template(template, n)).collect())
            }
            (None, None, None, None, Some(chars)) => check_size(Some(chars)).map(make_filler),
            _ => {
                Err("expected one of literal, repeat, numbered, lines, filler in each part".into())
            }
        }
    }

    fn number_lines(&self, lines: &[String]) -> Result<String, String> {
        let longest = lines.iter().map(String::len).max().unwrap_or(0);
        let items = self.items.ok_or("items is missing beside numbered")?;
        check_size(items.checked_mul(longest + 20))?;
        let item = |i: usize| format!("{}. {}\n", i + 1, lines[i % lines.len()]);
        Ok((0..items).map(item).collect())
    }

    fn fill_template(&self, template: &str, n: usize) -> String {
        let words = self.words.len().max(1);
        let word = |i: usize| self.words.get(i % words).map_or("", String::as_str);
        let any = (n as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
        let line = template.replace("{n}", &(n + 1).to_string());
        let line = line.replace("{word}", word(n));
        line.replace("{any}", word((any ^ (any >> 7)) as usize))
    }
}

fn check_size(chars: Option<usize>) -> Result<usize, String> {
    let small = chars.filter(|chars| *chars <= MAX_CHARS);
    small.ok_or_else(|| format!("more than {MAX_CHARS} chars; expected a smaller number"))
}

/// Returns letters and blanks in an order that does not repeat, by a linear congruential generator.
fn make_filler(chars: usize) -> String {
    let mut state = 1_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        char::from(b"abcdefghijklmnopqrstuvwxyz      "[(state >> 59) as usize])
    };
    (0..chars).map(|_| next()).collect()
}
