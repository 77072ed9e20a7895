//! Measures the likeness of two texts, exact or approximate, for checks of labels.

use std::collections::HashSet;
use std::hash::Hash;

use deadloop_score::Span;

/// The copies claimed by a label, as char offsets. The first copy begins at `start`, the second at `onset`.
#[derive(Clone, Copy)]
pub(super) struct ClaimedCopies {
    pub(super) start: usize,
    pub(super) onset: usize,
    pub(super) end: usize,
    /// The length of one copy in chars, at least 1.
    pub(super) period: usize,
}

impl ClaimedCopies {
    /// Returns the copies claimed by a span in a text of `length` chars. `None` if the span has neither a start nor a
    /// period. An error if the first copy would begin before the text.
    pub(super) fn from_span(span: &Span, length: usize) -> Option<Result<Self, String>> {
        let at = |chars: u64| usize::try_from(chars).unwrap_or(usize::MAX).min(length);
        let onset = at(span.onset.count());
        let start = match (span.start, span.period) {
            (Some(start), _) => at(start.count()),
            (None, Some(period)) => match onset.checked_sub(at(period)) {
                Some(start) => start,
                None => {
                    return Some(Err(format!(
                        "a first copy of {period} chars would begin before the text: the second one is said to begin at {onset}"
                    )));
                }
            },
            (None, None) => return None,
        };
        let period = onset.checked_sub(start).filter(|p| *p > 0)?;
        Some(Ok(Self {
            start,
            onset,
            end: at(span.end.count()),
            period,
        }))
    }
}

/// Returns the share of `copy` that is also in `original`, from 0 to 1. It is the larger of two shares, of equal chars
/// at equal offsets, and of short pieces with digits, case and white space folded. Longer texts have longer pieces,
/// because long texts in one language share their short pieces.
pub(super) fn likeness(original: &[char], copy: &[char]) -> f64 {
    let (original, copy) = (compared_beginning(original), compared_beginning(copy));
    exact_share(original, copy).max(piece_share(&fold_text(original), &fold_text(copy)))
}

/// Returns the share of pieces of `copy` that are also in `original`. Nothing is folded, since lists of different
/// numbers are less similar.
pub(super) fn verbatim_likeness(original: &[char], copy: &[char]) -> f64 {
    piece_share(compared_beginning(original), compared_beginning(copy))
}

/// The maximum number of chars compared. The comparison takes a hundred times as much memory.
const MAX_COMPARED_CHARS: usize = 1 << 20;

/// Returns the part of a text to compare.
fn compared_beginning(text: &[char]) -> &[char] {
    &text[..text.len().min(MAX_COMPARED_CHARS)]
}

/// Returns the share of chars of `copy` that equal those of the repeated `original` at the same offset.
fn exact_share(original: &[char], copy: &[char]) -> f64 {
    let same = original.iter().cycle().zip(copy);
    ratio(same.filter(|(a, b)| a == b).count(), copy.len())
}

/// Returns the share of pieces of `copy` that are also in `original`.
fn piece_share(original: &[char], copy: &[char]) -> f64 {
    let width = match original.len() {
        0..40 => 3,
        40..200 => 5,
        _ => 8,
    };
    // Pieces that cross from one copy into the next are in the original too.
    let around = original.iter().cycle().take(width - 1);
    let original: Vec<char> = original.iter().chain(around).copied().collect();
    let width = width.min(copy.len()).max(1);
    let known = collect_set(original.windows(width));
    let wanted = collect_set(copy.windows(width));
    ratio(wanted.intersection(&known).count(), wanted.len())
}

fn collect_set<T: Hash + Eq>(items: impl Iterator<Item = T>) -> HashSet<T> {
    items.collect()
}

fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// Folds a text. A number becomes one `0`, white space one blank, and letters lower case.
fn fold_text(text: &[char]) -> Vec<char> {
    let mut folded = Vec::with_capacity(text.len());
    for char in text {
        let char = match char {
            c if c.is_numeric() => '0',
            c if c.is_whitespace() => ' ',
            c => c.to_lowercase().next().unwrap_or(*c),
        };
        if !matches!(char, '0' | ' ') || folded.last() != Some(&char) {
            folded.push(char);
        }
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn like(a: &str, b: &str) -> f64 {
        let chars = |text: &str| text.chars().collect::<Vec<_>>();
        likeness(&chars(a), &chars(b))
    }

    #[test]
    fn a_copy_is_like_its_original_whatever_its_numbers() {
        assert_eq!(
            like("3. Wait, let me check. ", "3. Wait, let me check. "),
            1.0
        );
        assert_eq!(
            like("9. Wait, let me check.\n", "10. Wait, let me check. "),
            1.0
        );
        assert_eq!(like("ab", "ababab"), 1.0);
        assert!(
            like(
                "Wait, let me check the roads. ",
                "Wait, let me check the bridges. "
            ) > 0.7
        );
    }

    #[test]
    fn other_text_is_not() {
        assert!(
            like(
                "Wait, let me check the roads. ",
                "So the answer is seventeen. "
            ) < 0.2
        );
        let a = "The committee met on a cold morning and spoke for hours about the harbour. ";
        let b = "In the end the fishermen went home with the promise of a new pier in spring. ";
        let both = format!("{a}{b}");
        assert!(
            like(&both, &b.to_uppercase()) > 0.9,
            "case aside it is there"
        );
        assert!(like(a, b) < 0.3);
        assert_eq!(like("", "abc"), 0.0);
        assert_eq!(like("abc", ""), 0.0);
    }
}
