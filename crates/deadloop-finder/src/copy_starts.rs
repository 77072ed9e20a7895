//! Moves the starts of copies to the places at which a reader sees them.
//!
//! A repetition of symbols often includes the end of the sentence before it.

use super::views::{TextStretch, View, ends_sentence};

/// The maximum number of chars by which the starts of two differing copies may be apart.
const ASIDE: usize = 12;
/// Three times the maximum length, in chars, of the rest of a sentence that a stretch may include before its first
/// copy.
const PICKED: usize = 48;
/// Marks that belong to the text before them.
const CLOSING: &str = ".,;:!?。，、；：！？．…)）]】}」』”’";

/// Returns a stretch whose copies begin at the places at which a reader sees them. White space and closing marks belong
/// to the sentence before them, and so do its last letters, even if the copies happen to end alike.
pub(super) fn trim_to_copies(text: &[char], mut stretch: TextStretch) -> TextStretch {
    let unit = &text[stretch.start..stretch.onset];
    if !unit.iter().any(|c| c.is_alphanumeric()) {
        return stretch;
    }
    if stretch.view == View::Near {
        return at_sentences(text, stretch);
    }
    let ends = sentence_ends(text, stretch.start, unit.len());
    // If a view squeezes blanks, there may be more of them before one copy than before the other.
    let begins = |from: usize, to: usize| {
        let after = text.get(from + ends..to).unwrap_or_default();
        from + ends + after.iter().take_while(closes).count()
    };
    let (start, onset) = (
        begins(stretch.start, stretch.onset),
        begins(stretch.onset, stretch.end),
    );
    if start < onset && onset < stretch.end {
        (stretch.start, stretch.onset) = (start, onset);
    }
    stretch
}

/// Returns the number of chars after `at` that belong to a sentence that began before `at`. Returns 0 if that sentence
/// does not end soon, compared with the length `unit` of a copy.
fn sentence_ends(text: &[char], at: usize, unit: usize) -> usize {
    let near = unit.min(PICKED + 1) / 3;
    let ends = |chars: &usize| at + chars < text.len() && ends_sentence(text, at + chars);
    if within_sentence(text, at) {
        (0..near).find(ends).unwrap_or(0)
    } else {
        0
    }
}

/// Moves the starts of differing copies to the beginning of their sentences.
fn at_sentences(text: &[char], mut stretch: TextStretch) -> TextStretch {
    let after = |at: usize| {
        let at = at + sentence_ends(text, at, stretch.period());
        let rest = text.get(at..stretch.end).unwrap_or_default();
        at + rest.iter().take_while(closes).count()
    };
    let (start, onset) = (after(stretch.start), after(stretch.onset));
    if start < onset && onset < stretch.end {
        (stretch.start, stretch.onset) = (start, onset);
    }
    let since = |at: usize| {
        let before = (0..at).rev();
        let words = before.take_while(|i| !ends_sentence(text, *i)).count();
        let blanks = text[at - words..at]
            .iter()
            .take_while(|c| c.is_whitespace());
        words - blanks.count()
    };
    let (first, second) = (since(stretch.start), since(stretch.onset));
    if first.abs_diff(second) <= ASIDE && 2 * second < stretch.period() {
        stretch.start -= first;
        stretch.onset -= second;
    }
    stretch
}

/// Returns whether a char after a sentence belongs to it.
fn closes(c: &&char) -> bool {
    c.is_whitespace() || CLOSING.contains(**c)
}

/// Returns whether the text at `at` continues a sentence that began before.
fn within_sentence(text: &[char], at: usize) -> bool {
    let before = (0..at).rev().find(|i| !text[*i].is_whitespace());
    let begins = at > 0 && text[at - 1] == '\n';
    !begins && before.is_some_and(|i| !CLOSING.contains(text[i]))
}
