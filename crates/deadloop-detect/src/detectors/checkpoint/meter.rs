//! The meter: buffers the chars that checkpoints read.

use std::sync::Arc;

use super::segment::Segment;
use super::structure::{FenceRule, StructuralParams};
use crate::measure::fact::Fact;
use crate::measure::meter::{Recipe, TextMeter};
use crate::settings::params::Params;
use crate::stream::Chars;
use crate::text::fence::Fence;

/// A meter of one stream. It keeps only the chars that the next checkpoint will read: at most the largest of `window`,
/// `segment` and the gaps between checkpoints. Other text is counted and dropped.
struct CheckpointMeter {
    look: Arc<StructuralParams>,
    seen: u64,
    next: usize,
    buffer: String,
    fence: Fence,
}

/// Returns the recipe of checkpoint meters.
pub(super) fn recipe(params: &Params) -> Recipe {
    let look = Arc::new(StructuralParams::new(params));
    Recipe::text(params, move || {
        Box::new(CheckpointMeter::new(Arc::clone(&look)))
    })
}

impl CheckpointMeter {
    fn new(look: Arc<StructuralParams>) -> Self {
        Self {
            look,
            seen: 0,
            next: 0,
            buffer: String::new(),
            fence: Fence::default(),
        }
    }

    /// Counts up to `count` chars of `text` without keeping them. Returns the rest.
    fn skip<'t>(&mut self, text: &'t str, count: u64) -> &'t str {
        let (head, rest, taken) = split_at_char(text, count);
        if self.look.code != FenceRule::Check {
            self.fence.read(head);
        }
        self.seen += taken;
        rest
    }

    /// Keeps up to `count` chars of `text`. Returns the rest.
    fn take<'t>(&mut self, text: &'t str, count: u64) -> &'t str {
        let (head, rest, taken) = split_at_char(text, count);
        self.buffer.push_str(head);
        self.seen += taken;
        rest
    }

    /// Drops the chars that no later checkpoint reads.
    fn forget(&mut self) {
        let kept = self.seen.saturating_sub(self.look.keep_from(self.next));
        let cut = self.buffer.len() - last_chars(&self.buffer, kept).len();
        if self.look.code != FenceRule::Check {
            self.fence.read(&self.buffer[..cut]);
        }
        self.buffer.drain(..cut);
    }

    /// Reports all facts at the checkpoint that was just reached.
    fn report_facts(&self, facts: &mut Vec<Fact>) {
        let look = &self.look;
        if look.looks_for_short(self.next) {
            look.short(&self.last(look.window), facts);
        }
        if self.next > 0 {
            let start = look.segment_start(self.seen, look.previous(self.next));
            look.periods(&self.last(self.seen - start), facts);
        }
    }

    /// Returns the last `count` chars before the checkpoint as a segment.
    fn last(&self, count: u64) -> Segment<'_> {
        let text = last_chars(&self.buffer, count);
        let from = self.buffer.len() - text.len();
        let parts = match self.look.code {
            FenceRule::Check => vec![(0..text.len(), false)],
            code => {
                let keep = |(range, fenced): (std::ops::Range<usize>, bool)| {
                    let range = range.start.max(from) - from..range.end.max(from) - from;
                    let dropped = range.is_empty() || fenced && code == FenceRule::Skip;
                    (!dropped).then_some((range, fenced))
                };
                self.fence
                    .parts(&self.buffer)
                    .into_iter()
                    .filter_map(keep)
                    .collect()
            }
        };
        Segment {
            text,
            start: self.seen - Chars::count(text).0,
            parts,
        }
    }
}

impl TextMeter for CheckpointMeter {
    fn push(&mut self, piece: &str, facts: &mut Vec<Fact>) {
        let mut rest = piece;
        while let (false, Some(at)) = (rest.is_empty(), self.look.checkpoint(self.next)) {
            let keep_from = self.look.keep_from(self.next);
            if self.seen < keep_from {
                rest = self.skip(rest, keep_from.min(at) - self.seen);
            } else {
                rest = self.take(rest, at - self.seen);
            }
            if self.seen == at {
                self.report_facts(facts);
                self.next += 1;
                self.forget();
            }
        }
    }
}

/// Cuts `text` after `count` chars, or at its end. Returns the head, the rest, and the number of chars in the head.
fn split_at_char(text: &str, count: u64) -> (&str, &str, u64) {
    let Some(last) = usize::try_from(count).ok().and_then(|n| n.checked_sub(1)) else {
        return ("", text, 0);
    };
    let mut chars = text.chars();
    match chars.nth(last) {
        Some(_) => {
            let rest = chars.as_str();
            (&text[..text.len() - rest.len()], rest, count)
        }
        None => (text, "", Chars::count(text).0),
    }
}

/// Returns the last `count` chars of `text`, or all of `text` if it is shorter.
fn last_chars(text: &str, count: u64) -> &str {
    let Some(back) = usize::try_from(count).ok().and_then(|n| n.checked_sub(1)) else {
        return "";
    };
    text.char_indices()
        .rev()
        .nth(back)
        .map_or(text, |(byte, _)| &text[byte..])
}
