//! [`PromptFilter`]: a filter of facts about copies of the user's text.

use crate::measure::fact::{Bound, Fact};
use crate::settings::param::Param;
use crate::stream::Chars;

/// The parameter `prompt`, which every detector of repetition in a text has.
pub(crate) const PROMPT: Param = Param::word("prompt", "check", &["check", SKIP])
    .doc("skip: repetition counts only beyond what the user wrote");

/// The value of [`PROMPT`] that delays alarms about text of the user. An alarm waits while the whole repetition, from
/// the first copy to the end of the last one, occurs verbatim in the last [`PROMPT_CHARS`] chars of the user's text.
pub(crate) const SKIP: &str = "skip";

/// The number of chars of the user's text that are kept if it is skipped, counted from the end.
pub const PROMPT_CHARS: usize = 32_768;

/// The maximum number of chars after the last copy at which a checkpoint is expected.
const AFTER: usize = 2048;

/// The user's text, and the part of the current text to search for in that text.
#[derive(Default)]
pub(crate) struct PromptFilter {
    /// The user's messages, with a line feed after each.
    said: TextWindow,
    /// The end of the current text, and the number of its chars that have been read.
    text: TextWindow,
    read: u64,
}

impl PromptFilter {
    /// Adds a message of the user.
    pub(crate) fn hear(&mut self, message: &str) {
        // Text that would be dropped at once is not copied.
        let before = message.chars().count().saturating_sub(PROMPT_CHARS);
        let kept = &message[first_chars(message, before as u64).len()..];
        self.said.push(kept, PROMPT_CHARS);
        self.said.push("\n", PROMPT_CHARS);
    }

    /// Begins another text.
    pub(crate) fn begin_anew(&mut self) {
        self.text = TextWindow::default();
        self.read = 0;
    }

    /// Reads a piece of the text. Reduces the facts about it, those after the first `known`, to the parts that go
    /// beyond the user's text.
    pub(crate) fn reduce_facts(&mut self, piece: &str, facts: &mut Vec<Fact>, known: usize) {
        self.read += Chars::count(piece).0;
        if self.said.chars == 0 {
            return;
        }
        // A text longer than all of the user's text cannot be found in it, so one char more is enough. Some chars may
        // follow the last copy.
        let most = self.said.chars + 1 + AFTER + Chars::count(piece).0 as usize;
        self.text.push(piece, most);
        let told: Vec<Fact> = facts.drain(known..).collect();
        facts.extend(told.into_iter().filter_map(|fact| self.rest(fact)));
    }

    /// Returns the part of a fact at which the repeated text is no longer found in the user's text.
    fn rest(&self, fact: Fact) -> Option<Fact> {
        let start = fact.onset.count().saturating_sub(fact.period.count());
        let Some(tail) = self.text.last(self.read.saturating_sub(start)) else {
            return Some(fact);
        };
        let stands = |chars: u64| self.said.text.contains(first_chars(tail, chars));
        let known = fact.position(fact.at).count().saturating_sub(start);
        // Copies counted at a checkpoint may be followed by other text.
        let copies = match fact.copies {
            Bound::Fixed(copies) => u64::try_from(copies).unwrap_or(0) * fact.period.count(),
            _ => 0,
        };
        if (1..known).contains(&copies) {
            return (!stands(copies)).then_some(fact);
        }
        if !stands(known) {
            return Some(fact);
        }
        // Bisection: `low` chars are found in the user's text, and `high` chars are not.
        let (mut low, mut high) = (known, Chars::count(tail).0 + 1);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if stands(middle) {
                low = middle
            } else {
                high = middle
            }
        }
        fact.after_chars(Chars(start + low))
    }
}

/// Returns the first chars of a text.
fn first_chars(text: &str, chars: u64) -> &str {
    let chars = usize::try_from(chars).unwrap_or(usize::MAX);
    let end = text
        .char_indices()
        .nth(chars)
        .map_or(text.len(), |(at, _)| at);
    &text[..end]
}

/// The last chars of a growing text.
#[derive(Default)]
struct TextWindow {
    text: String,
    chars: usize,
}

impl TextWindow {
    /// Adds a piece, and keeps the last `most` chars.
    fn push(&mut self, piece: &str, most: usize) {
        self.text.push_str(piece);
        self.chars += piece.chars().count();
        if self.chars > most {
            let gone = self.chars - most;
            let end = first_chars(&self.text, gone as u64).len();
            self.text.drain(..end);
            self.chars = most;
        }
    }

    /// Returns the last `chars` chars. `None` if fewer are kept.
    fn last(&self, chars: u64) -> Option<&str> {
        let before = (self.chars as u64).checked_sub(chars)?;
        Some(&self.text[first_chars(&self.text, before).len()..])
    }
}
