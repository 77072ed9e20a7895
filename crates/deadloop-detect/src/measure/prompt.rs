//! [`Said`]: what the user wrote, which a detector of text may skip.

use crate::measure::fact::{Bound, Fact};
use crate::settings::param::Param;
use crate::stream::Chars;

/// The parameter of every detector of repetition in a text.
pub(crate) const PROMPT: Param = Param::word("prompt", "check", &["check", SKIP])
    .doc("skip: repetition counts only beyond what the user wrote");

/// The value of [`PROMPT`] with which an alarm waits as long as all that repeats, from the first copy to the end of the
/// last one, stands word for word in the last [`PROMPT_CHARS`] of what the user wrote.
pub(crate) const SKIP: &str = "skip";

/// How much of what the user wrote is kept where it is skipped, in chars: the last of it.
pub const PROMPT_CHARS: usize = 32_768;

/// The most chars after the last copy at which a checkpoint is, as far as that matters here.
const AFTER: usize = 2048;

/// What the user wrote, and as much of the text that is read as could stand in it.
#[derive(Default)]
pub(crate) struct Said {
    /// The messages, a line feed after each.
    said: Window,
    /// The end of the text, and how many chars of it have been read.
    text: Window,
    read: u64,
}

impl Said {
    /// A message of the user.
    pub(crate) fn hear(&mut self, message: &str) {
        // What would be dropped at once is not copied.
        let before = message.chars().count().saturating_sub(PROMPT_CHARS);
        let kept = &message[beginning(message, before as u64).len()..];
        self.said.push(kept, PROMPT_CHARS);
        self.said.push("\n", PROMPT_CHARS);
    }

    /// Another text begins.
    pub(crate) fn begin_anew(&mut self) {
        self.text = Window::default();
        self.read = 0;
    }

    /// Reads a piece of the text, and keeps of the facts that were told of it what goes beyond what the user wrote.
    pub(crate) fn beyond(&mut self, piece: &str, facts: &mut Vec<Fact>, known: usize) {
        self.read += Chars::of(piece).0;
        if self.said.chars == 0 {
            return;
        }
        // Nothing longer than all that was said stands in it: one char more shows that. Some may follow the last copy.
        let most = self.said.chars + 1 + AFTER + Chars::of(piece).0 as usize;
        self.text.push(piece, most);
        let told: Vec<Fact> = facts.drain(known..).collect();
        facts.extend(told.into_iter().filter_map(|fact| self.rest(fact)));
    }

    /// What is left of a fact: its steps after the longest beginning of its tail that the user wrote too.
    fn rest(&self, fact: Fact) -> Option<Fact> {
        let start = fact.onset.count().saturating_sub(fact.period.count());
        let Some(tail) = self.text.last(self.read.saturating_sub(start)) else {
            return Some(fact);
        };
        let stands = |chars: u64| self.said.text.contains(beginning(tail, chars));
        let known = fact.position(fact.at).count().saturating_sub(start);
        // Where copies were counted once, as at a checkpoint, other text may follow the last of them.
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
        // It stands there up to `low` chars, and not with `high`.
        let (mut low, mut high) = (known, Chars::of(tail).0 + 1);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if stands(middle) {
                low = middle
            } else {
                high = middle
            }
        }
        fact.beyond(Chars(start + low))
    }
}

/// The first chars of a text.
fn beginning(text: &str, chars: u64) -> &str {
    let chars = usize::try_from(chars).unwrap_or(usize::MAX);
    let end = text
        .char_indices()
        .nth(chars)
        .map_or(text.len(), |(at, _)| at);
    &text[..end]
}

/// The last chars of a text that is written on.
#[derive(Default)]
struct Window {
    text: String,
    chars: usize,
}

impl Window {
    /// Adds a piece, and keeps the last `most` chars.
    fn push(&mut self, piece: &str, most: usize) {
        self.text.push_str(piece);
        self.chars += piece.chars().count();
        if self.chars > most {
            let gone = self.chars - most;
            let end = beginning(&self.text, gone as u64).len();
            self.text.drain(..end);
            self.chars = most;
        }
    }

    /// The last chars, as many as asked for. `None`: fewer are kept.
    fn last(&self, chars: u64) -> Option<&str> {
        let before = (self.chars as u64).checked_sub(chars)?;
        Some(&self.text[beginning(&self.text, before).len()..])
    }
}
