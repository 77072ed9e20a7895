//! [`PromptFilter`]: removes facts about text that the user wrote.

use crate::measure::fact::{Bound, Fact};
use crate::settings::param::Param;
use crate::stream::Chars;

/// The parameter `prompt` of the detectors of repeated text.
pub(crate) const PROMPT: Param = Param::word("prompt", "check", &["check", SKIP])
    .doc("skip: repetition counts only beyond what the user wrote");

/// The value of [`PROMPT`] that ignores repetition of the user's own text. There is no alarm while the whole
/// repetition, from the first copy to the end of the last one, occurs verbatim in the last [`PROMPT_CHARS`] chars of
/// the user's text.
pub(crate) const SKIP: &str = "skip";

/// The maximum number of chars of the user's text that are kept. Older text is dropped.
pub const PROMPT_CHARS: usize = 32_768;

/// The maximum distance, in chars, from the last copy to a checkpoint that reports it.
const MAX_AFTER: usize = 2048;

/// The user's text, and the end of the current text, which is searched in it.
#[derive(Default)]
pub(crate) struct PromptFilter {
    /// The user's messages, with a line feed after each.
    user_text: TextWindow,
    /// The end of the current text, and the number of chars read of this text.
    text: TextWindow,
    read: u64,
}

impl PromptFilter {
    /// Adds a user message.
    pub(crate) fn add_message(&mut self, message: &str) {
        // Text that does not fit is not copied.
        let before = message.chars().count().saturating_sub(PROMPT_CHARS);
        let kept = &message[first_chars(message, before as u64).len()..];
        self.user_text.push(kept, PROMPT_CHARS);
        self.user_text.push("\n", PROMPT_CHARS);
    }

    /// Begins a new text.
    pub(crate) fn restart(&mut self) {
        self.text = TextWindow::default();
        self.read = 0;
    }

    /// Reads a piece of the text. Reduces its facts, which follow the first `known` ones, to the parts beyond the
    /// user's text.
    pub(crate) fn reduce_facts(&mut self, piece: &str, facts: &mut Vec<Fact>, known: usize) {
        self.read += Chars::count(piece).0;
        if self.user_text.chars == 0 {
            return;
        }
        // Longer text than the user's cannot occur in it, so one more char is enough. Some chars may follow the last
        // copy.
        let most = self.user_text.chars + 1 + MAX_AFTER + Chars::count(piece).0 as usize;
        self.text.push(piece, most);
        let new: Vec<Fact> = facts.drain(known..).collect();
        facts.extend(new.into_iter().filter_map(|fact| self.remainder(fact)));
    }

    /// Returns the part of a fact from the step at which the repetition no longer occurs in the user's text.
    fn remainder(&self, fact: Fact) -> Option<Fact> {
        let start = fact.onset.count().saturating_sub(fact.period.count());
        let Some(tail) = self.text.last(self.read.saturating_sub(start)) else {
            return Some(fact);
        };
        let stands = |chars: u64| self.user_text.text.contains(first_chars(tail, chars));
        let known = fact.position(fact.at).count().saturating_sub(start);
        // Other text may follow the copies at a checkpoint.
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
        // Bisection: `low` chars occur in the user's text, and `high` chars do not.
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
