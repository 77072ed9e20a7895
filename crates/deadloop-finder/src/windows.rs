//! Searches a very long text in overlapping windows.
//!
//! A window begins at the middle of the window before it. Only one window is in memory.
//!
//! A repetition is reported by the window that has its start in the first half, and extended by later windows. Two
//! cases are missed: a unit longer than half a window, and words that recur after the end of a window.

use super::selection::{FoundSpan, TextFindings};
use deadloop_corpus::Class;

/// The length of a window, in chars: several times the longest context of a model. A search of one window takes some
/// 130 MB.
pub(super) const WINDOW: usize = 1 << 20;

/// Searches a text with `search`, in windows of `width` chars. The second argument of `search` is set if the window is
/// the end of the text.
pub(super) fn search_windows(
    text: &str,
    width: usize,
    search: impl Fn(&[char], bool) -> TextFindings,
) -> TextFindings {
    let half = width / 2;
    let mut rest = text.chars();
    let mut window: Vec<char> = rest.by_ref().take(width).collect();
    let mut whole = WindowFindings::default();
    let mut from = 0;
    loop {
        let last = rest.as_str().is_empty();
        let found = search(&window, last);
        match (from, last) {
            (0, true) => return found,
            (_, true) => {
                whole.add(found, from, None);
                return whole.into_findings();
            }
            (_, false) => whole.add(found, from, Some((from + half, from + window.len()))),
        }
        window.drain(..half);
        window.extend(rest.by_ref().take(half));
        from += half;
    }
}

/// The merged findings of all windows so far.
#[derive(Default)]
struct WindowFindings {
    spans: Vec<FoundSpan>,
    doubt: Option<FoundSpan>,
    /// The highest doubt of a window that it is clean, from 0 to 1.
    clean_doubt: f64,
}

impl WindowFindings {
    /// Adds the findings of a window that begins at `from`. `next` is the start of the next window and the end of this
    /// one, or `None` for the last window.
    fn add(&mut self, found: TextFindings, from: usize, next: Option<(usize, usize)>) {
        for span in found.spans {
            let span = to_text_span(span, from, next.map(|(_, end)| end));
            match self.spans.last_mut() {
                Some(before) if before.end.is_none_or(|end| span.onset < end) => {
                    extend(before, &span);
                }
                before if next.is_none_or(|(begins, _)| span.start < begins) => {
                    if let Some(end) = before.and_then(|before| before.end.as_mut()) {
                        *end = span.start.min(*end);
                    }
                    self.spans.push(span);
                }
                // The next window reports it.
                _ => {}
            }
        }
        if found.class == Class::Clean {
            self.clean_doubt = self.clean_doubt.max(1.0 - found.confidence);
        }
        let best = self.doubt.as_ref().map_or(0.0, |doubt| doubt.confidence);
        if let Some(doubt) = found.doubt.filter(|doubt| doubt.confidence > best) {
            self.doubt = Some(to_text_span(doubt, from, None));
        }
    }

    fn into_findings(self) -> TextFindings {
        let best = self.spans.iter().map(|s| s.confidence).fold(0.0, f64::max);
        let (class, confidence) = match self.spans.last() {
            Some(tail) if tail.end.is_none() => (Class::Loop, tail.confidence),
            Some(_) => (Class::Transient, best),
            None => (Class::Clean, 1.0 - self.clean_doubt),
        };
        TextFindings {
            class,
            confidence,
            spans: self.spans,
            doubt: self.doubt.filter(|_| class == Class::Clean),
        }
    }
}

/// Converts a span of a window that begins at `from` to positions of the text. A span without an end gets the end
/// `open`.
fn to_text_span(span: FoundSpan, from: usize, open: Option<usize>) -> FoundSpan {
    FoundSpan {
        start: span.start + from,
        onset: span.onset + from,
        earliest: span.earliest.map(|at| at + from),
        end: span.end.map(|at| at + from).or(open),
        ..span
    }
}

/// Extends a span by its continuation in a later window.
fn extend(span: &mut FoundSpan, later: &FoundSpan) {
    let chars = |from: usize, to: usize| to.saturating_sub(from) as f64;
    let period = span.period.max(1) as f64;
    let copies = match later.end {
        Some(end) => chars(span.start, end) / period,
        None => (chars(span.start, later.start) + later.copies * later.period as f64) / period,
    };
    span.copies = span.copies.max(copies);
    span.confidence = span.confidence.max(later.confidence);
    span.end = span.end.zip(later.end).map(|(a, b)| a.max(b));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selection::{examine, find};

    /// Returns pseudorandom words.
    fn prose(mut seed: u64, chars: usize) -> String {
        let mut text = String::new();
        while text.len() < chars {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let word = seed >> 33;
            text += &format!(
                "{}{} ",
                ["ka", "lo", "mi", "ter"][(word % 4) as usize],
                word % 1009
            );
        }
        text.truncate(chars);
        text
    }

    fn by_windows(text: &str, width: usize) -> TextFindings {
        search_windows(text, width, examine)
    }

    #[test]
    fn windows_find_the_same_as_one_search() {
        let unit = "Wait, let me look at the north road once more. ";
        let prose = |n| prose(n, 3_000);
        for text in [
            prose(1),
            prose(1) + &unit.repeat(400),
            prose(1) + &unit.repeat(20) + &prose(2),
            prose(1) + &unit.repeat(300) + &prose(2),
            unit.repeat(500),
            prose(1)
                + &"I will check it again, slowly. ".repeat(30)
                + &prose(2)
                + &unit.repeat(100),
        ] {
            let (whole, parts) = (find(&text), by_windows(&text, 4_000));
            assert_eq!(whole.class, parts.class);
            let places = |found: &TextFindings| -> Vec<(usize, Option<usize>, usize)> {
                let place = |s: &FoundSpan| (s.onset, s.end, s.period);
                found.spans.iter().map(place).collect()
            };
            assert_eq!(places(&whole), places(&parts), "{} chars", text.len());
            for (a, b) in whole.spans.iter().zip(&parts.spans) {
                assert!((a.copies - b.copies).abs() < 1.0, "{a:?} {b:?}");
            }
        }
    }
}
