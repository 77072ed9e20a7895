//! [`MarkList`]: search for fixed markers, such as tags, in a stream.

/// The result of comparing a text with the markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MarkMatch {
    /// The text cannot become a marker.
    Nothing,
    /// The text may be the beginning of a marker.
    Cut,
    /// The text is the marker with this index.
    Mark(usize),
}

/// Markers to search for. No marker is a prefix of another.
#[derive(Clone, Debug, Default)]
pub(super) struct MarkList {
    marks: Vec<Vec<char>>,
    ignore_case: bool,
}

/// The allowed length of a marker, in chars.
pub(super) const MARK_CHARS: std::ops::RangeInclusive<usize> = 3..=64;

impl MarkList {
    /// Returns a list of markers. With `ignore_case`, the case of ASCII letters is ignored.
    pub(super) fn new(marks: &[String], ignore_case: bool) -> Self {
        let chars = |mark: &String| mark.chars().collect();
        Self {
            marks: marks.iter().map(chars).collect(),
            ignore_case,
        }
    }

    /// Returns whether some marker begins with this char.
    pub(super) fn can_begin_with(&self, c: char) -> bool {
        self.marks
            .iter()
            .any(|mark| mark.first().is_some_and(|first| self.equal(*first, c)))
    }

    /// Compares the held text with the markers. Adds the number of compared chars to `work`.
    pub(super) fn match_held(&self, held: &[char], work: &mut u64) -> MarkMatch {
        let mut cut = false;
        for (at, mark) in self.marks.iter().enumerate() {
            let same = mark
                .iter()
                .zip(held)
                .take_while(|(m, c)| self.equal(**m, **c));
            let same = same.count();
            *work += same as u64 + 1;
            if same == mark.len() && same == held.len() {
                return MarkMatch::Mark(at);
            }
            cut |= same == held.len();
        }
        if cut {
            MarkMatch::Cut
        } else {
            MarkMatch::Nothing
        }
    }

    fn equal(&self, a: char, b: char) -> bool {
        equal_chars(a, b, self.ignore_case)
    }

    /// Returns the reason why these markers cannot be used together, if any. Two markers cannot be distinguished if one
    /// is a prefix of the other.
    pub(super) fn conflict(marks: &[String], ignore_case: bool) -> Option<String> {
        let own = |mark: &String| {
            if ignore_case {
                mark.to_ascii_lowercase()
            } else {
                mark.clone()
            }
        };
        let mut sorted: Vec<String> = marks.iter().map(own).collect();
        sorted.sort_unstable();
        let odd = sorted
            .iter()
            .find(|mark| !MARK_CHARS.contains(&mark.chars().count()));
        if let Some(mark) = odd {
            let (least, most) = (MARK_CHARS.start(), MARK_CHARS.end());
            return Some(format!(
                "{mark:?}: expected a mark of {least} to {most} chars"
            ));
        }
        let alike = sorted
            .windows(2)
            .find(|pair| pair[1].starts_with(&pair[0]))?;
        Some(format!(
            "{:?} and {:?} cannot be told apart; expected none that begins as another does",
            alike[0], alike[1]
        ))
    }
}

/// Returns whether two chars are equal. With `ignore_case`, the case of ASCII letters is ignored.
pub(super) fn equal_chars(a: char, b: char, ignore_case: bool) -> bool {
    a == b || (ignore_case && a.eq_ignore_ascii_case(&b))
}

/// Returns whether a char is Unicode whitespace, or one of the four separators that Python's `\s` matches in addition.
pub(super) fn is_whitespace(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(marks: &[&str]) -> Vec<String> {
        marks.iter().map(|&mark| mark.to_owned()).collect()
    }

    #[test]
    fn a_mark_is_told_as_soon_as_it_is_whole() {
        let known = MarkList::new(&marks(&["<think>", "</think>"]), true);
        let look = |held: &str| known.match_held(&held.chars().collect::<Vec<_>>(), &mut 0);
        assert_eq!(look("<"), MarkMatch::Cut);
        assert_eq!(look("</THI"), MarkMatch::Cut);
        assert_eq!(look("<Think>"), MarkMatch::Mark(0));
        assert_eq!(look("<thinking"), MarkMatch::Nothing);
        assert!(known.can_begin_with('<') && !known.can_begin_with('t'));
    }

    #[test]
    fn marks_that_cannot_be_told_apart_are_refused() {
        assert_eq!(MarkList::conflict(&marks(&["<a>", "<b>"]), false), None);
        for bad in [&["<a>", "<a>>"][..], &["<>"], &["<a>", "<A>"]] {
            assert!(MarkList::conflict(&marks(bad), true).is_some(), "{bad:?}");
        }
        assert_eq!(MarkList::conflict(&marks(&["<a>", "<A>"]), false), None);
    }
}
