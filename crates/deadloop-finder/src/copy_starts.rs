//! Moves the starts of copies to the beginnings of their sentences.
//!
//! A repeated stretch of symbols often begins with the end of the sentence before it.

use super::views::{TextStretch, View, ends_sentence};

/// The maximum difference, in chars, between the distances of two copies from the beginnings of their sentences.
const MAX_OFFSET: usize = 12;
/// Three times the maximum length, in chars, of the sentence end that is cut from the start of a stretch.
const MAX_REST: usize = 48;
/// Marks that belong to the text before them.
const CLOSING: &str = ".,;:!?。，、；：！？．…)）]】}」』”’";

/// Returns the stretch with its first two copies starting at sentences. White space, closing marks and the last letters
/// of a sentence belong to the sentence before, even if all copies end with them.
pub(super) fn trim_to_copies(text: &[char], mut stretch: TextStretch) -> TextStretch {
    let unit = &text[stretch.start..stretch.onset];
    if !unit.iter().any(|c| c.is_alphanumeric()) {
        return stretch;
    }
    if stretch.view == View::Near {
        return move_to_sentences(text, stretch);
    }
    let ends = sentence_rest(text, stretch.start, unit.len());
    // A view may ignore blanks, so their number may differ between copies.
    let begins = |from: usize, to: usize| {
        let after = text.get(from + ends..to).unwrap_or_default();
        from + ends + after.iter().take_while(is_closing).count()
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

/// Returns the number of chars after `at` that end the sentence around `at`. Returns 0 if a sentence begins at `at`, or
/// if the rest is long compared with the length `unit` of a copy.
fn sentence_rest(text: &[char], at: usize, unit: usize) -> usize {
    let near = unit.min(MAX_REST + 1) / 3;
    let ends = |chars: &usize| at + chars < text.len() && ends_sentence(text, at + chars);
    if is_in_sentence(text, at) {
        (0..near).find(ends).unwrap_or(0)
    } else {
        0
    }
}

/// Moves the starts of differing copies to the beginnings of their sentences.
fn move_to_sentences(text: &[char], mut stretch: TextStretch) -> TextStretch {
    let after = |at: usize| {
        let at = at + sentence_rest(text, at, stretch.period());
        let rest = text.get(at..stretch.end).unwrap_or_default();
        at + rest.iter().take_while(is_closing).count()
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
    if first.abs_diff(second) <= MAX_OFFSET && 2 * second < stretch.period() {
        stretch.start -= first;
        stretch.onset -= second;
    }
    stretch
}

/// Returns whether a char belongs to the sentence before it.
fn is_closing(c: &&char) -> bool {
    c.is_whitespace() || CLOSING.contains(**c)
}

/// Returns whether the text at `at` continues a sentence that began before.
fn is_in_sentence(text: &[char], at: usize) -> bool {
    let before = (0..at).rev().find(|i| !text[*i].is_whitespace());
    let begins = at > 0 && text[at - 1] == '\n';
    !begins && before.is_some_and(|i| !CLOSING.contains(text[i]))
}
