//! A text that is longer than can be looked at as a whole: looked at in windows, each half over the next, so that
//! the memory is that of one window. What repeats is found in the first window that holds its beginning, and goes on
//! as far as the windows after it see the same.

use super::choose::{Class, Found, Span};

/// Chars that are looked at as a whole: several times the longest context of a model, and some 130 MB.
pub(super) const WINDOW: usize = 1 << 20;

/// Looks through a text with `look`, in windows of so many chars.
pub(super) fn windows(text: &[char], width: usize, look: impl Fn(&[char]) -> Found) -> Found {
    let mut spans: Vec<Span> = Vec::new();
    let mut doubt: Option<Span> = None;
    let mut clean: f64 = 1.0;
    let mut from = 0;
    loop {
        let to = (from + width).min(text.len());
        let found = look(&text[from..to]);
        let last = to == text.len();
        for span in found.spans {
            join(&mut spans, moved(span, from, (!last).then_some(to)));
        }
        if found.class == Class::Clean {
            clean = clean.min(found.confidence);
        }
        let likelier = |a: &Span| doubt.as_ref().is_none_or(|b| b.confidence < a.confidence);
        doubt = found
            .doubt
            .filter(likelier)
            .map(|d| moved(d, from, None))
            .or(doubt);
        if last {
            break;
        }
        from += width / 2;
    }
    let (class, confidence) = match spans.last() {
        Some(tail) if tail.end.is_none() => (Class::Loop, tail.confidence),
        Some(_) => {
            let best = spans.iter().map(|s| s.confidence).fold(0.0, f64::max);
            (Class::Transient, best)
        }
        None => (Class::Clean, clean),
    };
    Found {
        class,
        confidence,
        spans,
        doubt: doubt.filter(|_| class == Class::Clean),
    }
}

/// A span of a window that begins at `from`; `open`: where it ends that goes on to the window's end.
fn moved(span: Span, from: usize, open: Option<usize>) -> Span {
    Span {
        start: span.start + from,
        onset: span.onset + from,
        earliest: span.earliest.map(|at| at + from),
        end: span.end.map(|at| at + from).or(open),
        ..span
    }
}

/// Adds a span in its order. One that lies over the last is that one again, as the next window sees it.
fn join(spans: &mut Vec<Span>, span: Span) {
    let Some(before) = spans.last_mut() else {
        return spans.push(span);
    };
    if before.end.is_some_and(|end| end <= span.start) {
        return spans.push(span);
    }
    before.end = match (before.end, span.end) {
        (Some(a), Some(b)) => Some(a.max(b)),
        _ => None,
    };
    before.confidence = before.confidence.max(span.confidence);
    let end = before.end.map_or(
        span.start as f64 + span.copies * span.period as f64,
        |end| end as f64,
    );
    before.copies = (end - before.start as f64) / before.period as f64;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::find;

    /// Words in an order of chance, the same for the same seed.
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

    fn by_windows(text: &str, width: usize) -> Found {
        let chars: Vec<char> = text.chars().collect();
        windows(&chars, width, |part| find(&part.iter().collect::<String>()))
    }

    #[test]
    fn what_is_found_in_windows_is_what_is_found_in_the_whole() {
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
            let places = |found: &Found| -> Vec<(usize, Option<usize>, usize)> {
                let place = |s: &Span| (s.onset, s.end, s.period);
                found.spans.iter().map(place).collect()
            };
            assert_eq!(places(&whole), places(&parts), "{} chars", text.len());
            for (a, b) in whole.spans.iter().zip(&parts.spans) {
                assert!((a.copies - b.copies).abs() < 1.0, "{a:?} {b:?}");
            }
        }
    }
}
