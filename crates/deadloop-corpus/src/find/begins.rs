//! Where the copies of a stretch begin for a reader: what repeats symbol by symbol often takes in the end
//! of the sentence before it.

use super::views::{Stretch, View, ends_sentence};

/// Chars by which the beginnings of two copies that differ may differ.
const ASIDE: usize = 12;
/// Thrice the chars of a sentence that a stretch may have picked up before its first copy.
const PICKED: usize = 48;
/// Marks that close what is before them.
const CLOSING: &str = ".,;:!?。，、；：！？．…)）]】}」』”’";

/// A stretch with its copies where a reader sees them begin. White space and marks that close a
/// sentence follow that sentence, and so do its last letters, even where the copies happen to end alike.
pub(super) fn trimmed(text: &[char], mut stretch: Stretch) -> Stretch {
    let unit = &text[stretch.start..stretch.onset];
    if !unit.iter().any(|c| c.is_alphanumeric()) {
        return stretch;
    }
    if stretch.view == View::Near {
        return at_sentences(text, stretch);
    }
    let ends = sentence_ends(text, stretch.start, unit.len());
    // Where blanks are seen as one, there may be more of them before one copy than before the other.
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

/// How many chars after `at` still belong to a sentence that began before `at`. 0 if that sentence does not end
/// soon; a unit of `unit` chars says what is soon.
fn sentence_ends(text: &[char], at: usize, unit: usize) -> usize {
    let near = unit.min(PICKED + 1) / 3;
    let ends = |chars: &usize| at + chars < text.len() && ends_sentence(text, at + chars);
    if within_sentence(text, at) {
        (0..near).find(ends).unwrap_or(0)
    } else {
        0
    }
}

/// Copies that differ begin with their sentence, not with what first comes back in it.
fn at_sentences(text: &[char], mut stretch: Stretch) -> Stretch {
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

/// What follows a sentence and belongs to it.
fn closes(c: &&char) -> bool {
    c.is_whitespace() || CLOSING.contains(**c)
}

/// Whether what is at `at` goes on with a sentence that has begun before.
fn within_sentence(text: &[char], at: usize) -> bool {
    let before = (0..at).rev().find(|i| !text[*i].is_whitespace());
    let begins = at > 0 && text[at - 1] == '\n';
    !begins && before.is_some_and(|i| !CLOSING.contains(text[i]))
}
