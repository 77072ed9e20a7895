//! The meter: buffers the chars that checkpoints read.

use std::sync::Arc;

use super::segment::Segment;
use super::structure::{FenceRule, StructuralParams};
use crate::measure::fact::Fact;
use crate::measure::meter::{Recipe, TextMeter};
use crate::settings::params::Params;
use crate::stream::Chars;
use crate::text::fence::Fence;

/// A meter of one stream. It keeps only chars that a later checkpoint reads: at most the largest of `window`, `segment`
/// and the distances between checkpoints.
struct CheckpointMeter {
    params: Arc<StructuralParams>,
    read: u64,
    next: usize,
    buffer: String,
    fence: Fence,
}

/// Returns the recipe of checkpoint meters.
pub(super) fn recipe(params: &Params) -> Recipe {
    let shared = Arc::new(StructuralParams::new(params));
    Recipe::text(params, move || {
        Box::new(CheckpointMeter::new(Arc::clone(&shared)))
    })
}

impl CheckpointMeter {
    fn new(params: Arc<StructuralParams>) -> Self {
        Self {
            params,
            read: 0,
            next: 0,
            buffer: String::new(),
            fence: Fence::default(),
        }
    }

    /// Skips up to `count` chars of `text`. Returns the rest.
    fn skip<'t>(&mut self, text: &'t str, count: u64) -> &'t str {
        let (head, rest, taken) = split_at_char(text, count);
        if self.params.code != FenceRule::Check {
            self.fence.read(head);
        }
        self.read += taken;
        rest
    }

    /// Stores up to `count` chars of `text`. Returns the rest.
    fn take<'t>(&mut self, text: &'t str, count: u64) -> &'t str {
        let (head, rest, taken) = split_at_char(text, count);
        self.buffer.push_str(head);
        self.read += taken;
        rest
    }

    /// Drops the chars that no later checkpoint reads.
    fn drop_unneeded(&mut self) {
        let kept = self.read.saturating_sub(self.params.keep_from(self.next));
        let cut = self.buffer.len() - last_chars(&self.buffer, kept).len();
        if self.params.code != FenceRule::Check {
            self.fence.read(&self.buffer[..cut]);
        }
        self.buffer.drain(..cut);
    }

    /// Reports all facts at the current checkpoint.
    fn report_facts(&self, facts: &mut Vec<Fact>) {
        let params = &self.params;
        if params.reads_short_runs(self.next) {
            params.report_short_runs(&self.last(params.window), facts);
        }
        if self.next > 0 {
            let start = params.segment_start(self.read, params.previous(self.next));
            params.report_periods(&self.last(self.read - start), facts);
        }
    }

    /// Returns the last `count` chars before the checkpoint as a segment.
    fn last(&self, count: u64) -> Segment<'_> {
        let text = last_chars(&self.buffer, count);
        let from = self.buffer.len() - text.len();
        let parts = match self.params.code {
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
            start: self.read - Chars::count(text).0,
            parts,
        }
    }
}

impl TextMeter for CheckpointMeter {
    fn push(&mut self, piece: &str, facts: &mut Vec<Fact>) {
        let mut rest = piece;
        while let (false, Some(at)) = (rest.is_empty(), self.params.checkpoint(self.next)) {
            let keep_from = self.params.keep_from(self.next);
            if self.read < keep_from {
                rest = self.skip(rest, keep_from.min(at) - self.read);
            } else {
                rest = self.take(rest, at - self.read);
            }
            if self.read == at {
                self.report_facts(facts);
                self.next += 1;
                self.drop_unneeded();
            }
        }
    }
}

/// Splits `text` after `count` chars, or at its end. Returns both parts, and the number of chars of the first.
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
