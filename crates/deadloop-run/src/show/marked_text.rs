//! Formats a long text with marks, and folds the parts far from its ends and marks.

use crate::visible::visible_lines;
use crate::words;

/// A mark in a text, shown before the char with index `at`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TextMark {
    at: usize,
    label: &'static str,
}

impl TextMark {
    pub(super) fn new(at: usize, label: &'static str) -> Self {
        Self { at, label }
    }
}

/// The minimum number of chars to fold. The note that replaces them is about as long.
const MIN_FOLDED: usize = 80;

/// Formats a text with its marks, safe for a terminal. `context` is the number of chars shown at each end and on each
/// side of a mark, or `None` to fold nothing.
pub(super) fn fold_text(text: &str, mut marks: Vec<TextMark>, context: Option<usize>) -> String {
    marks.sort_unstable();
    let length = text.chars().count();
    let shown = shown_ranges(length, &marks, context);
    let mut page = String::new();
    let (mut mark, mut at) = (marks.iter().peekable(), 0);
    let mut chars = text.chars();
    for (i, (from, to)) in shown.iter().enumerate() {
        if i > 0 || *from > 0 {
            let hidden = words::count((from - at) as u64);
            page.push_str(&format!("\n   [{hidden} chars folded]\n"));
            chars.by_ref().take(from - at).for_each(drop);
            at = *from;
        }
        let mut piece = String::new();
        while at <= *to {
            while let Some(next) = mark.next_if(|next| next.at <= at) {
                page.push_str(&visible_lines(&piece));
                page.push_str(&format!("⟦{}⟧", next.label));
                piece.clear();
            }
            if at == *to {
                break;
            }
            piece.extend(chars.next());
            at += 1;
        }
        page.push_str(&visible_lines(&piece));
    }
    page
}

/// Returns the parts of the text to show, as disjoint ranges of chars in order.
fn shown_ranges(length: usize, marks: &[TextMark], context: Option<usize>) -> Vec<(usize, usize)> {
    let Some(context) = context else {
        return vec![(0, length)];
    };
    let around = marks.iter().map(|mark| {
        (
            mark.at.saturating_sub(context),
            mark.at.saturating_add(context),
        )
    });
    let mut wanted: Vec<(usize, usize)> = std::iter::once((0, context))
        .chain(around)
        .chain([(length.saturating_sub(context), length)])
        .map(|(from, to)| (from.min(length), to.min(length)))
        .collect();
    wanted.sort_unstable();
    let mut shown: Vec<(usize, usize)> = Vec::new();
    for (from, to) in wanted {
        match shown.last_mut() {
            Some((_, last)) if from <= last.saturating_add(MIN_FOLDED) => *last = to.max(*last),
            _ => shown.push((from, to)),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_stand_before_their_char_and_the_rest_is_folded() {
        let text: String = (0..1000)
            .map(|n| char::from(b'a' + (n % 26) as u8))
            .collect();
        let shown = fold_text(
            &text,
            vec![TextMark::new(500, "onset"), TextMark::new(1000, "end")],
            Some(10),
        );
        assert_eq!(
            shown,
            format!(
                "{}\n   [480 chars folded]\n{}⟦onset⟧{}\n   [480 chars folded]\n{}⟦end⟧",
                &text[..10],
                &text[490..500],
                &text[500..510],
                &text[990..]
            )
        );
        assert_eq!(
            fold_text("思想", vec![TextMark::new(1, "onset")], Some(0)),
            "思⟦onset⟧想"
        );
        assert_eq!(fold_text(&text, Vec::new(), None), text);
        assert_eq!(fold_text("", Vec::new(), Some(5)), "");
    }

    #[test]
    fn nothing_in_it_is_obeyed() {
        assert_eq!(
            fold_text("a\u{1b}[2J\nb", Vec::new(), None),
            "a\\u{1b}[2J\nb"
        );
    }
}
