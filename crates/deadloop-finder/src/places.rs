//! Finds the copies of a repeated unit, for display.

use std::ops::Range;

use super::views::{EXACT, view_symbols};

/// Returns the ranges of the consecutive copies of a unit, up to `end`. The first copy begins at `start` and the second
/// at `onset`. The last one may be cut. Copies may differ in parts that a view ignores, such as numbers. Copies with
/// larger differences are found by their first chars.
pub fn copies(text: &[char], start: usize, onset: usize, end: usize) -> Vec<Range<usize>> {
    let end = end.min(text.len());
    let Some(part) = text
        .get(start..end)
        .filter(|_| start < onset && onset < end)
    else {
        return Vec::new();
    };
    let starts = EXACT
        .iter()
        .map(|view| equal_starts(part, &view_symbols(*view, part), onset - start));
    let longest = starts.max_by_key(|starts| starts.last().copied());
    let starts = match longest {
        Some(starts) if starts.len() > 2 => starts,
        _ => unit_starts(part, onset - start),
    };
    let stops = starts.iter().skip(1).copied().chain([part.len()]);
    let copy =
        |(from, to): (&usize, usize)| start + from..start + to.min(from + 2 * (onset - start));
    starts.iter().zip(stops).map(copy).collect()
}

/// Returns the starts of consecutive copies that are equal in a view.
fn equal_starts(
    part: &[char],
    (symbols, starts): &(Vec<u32>, Vec<usize>),
    period: usize,
) -> Vec<usize> {
    // The view may ignore the first chars of each copy.
    let Some(step) = starts
        .iter()
        .position(|at| *at >= period)
        .filter(|step| *step > 0)
    else {
        return Vec::new();
    };
    let same = symbols
        .iter()
        .zip(symbols.iter().skip(step))
        .take_while(|(a, b)| a == b)
        .count();
    let mut found: Vec<usize> = starts
        .iter()
        .take(step + same)
        .step_by(step)
        .copied()
        .collect();
    if let Some(first) = found.first_mut() {
        *first = 0;
    }
    found.retain(|at| *at < part.len());
    found
}

/// Returns the positions of the first chars of the unit, at least half a period apart.
fn unit_starts(part: &[char], period: usize) -> Vec<usize> {
    let head = &part[..period.min(HEAD)];
    let mut found = vec![0];
    let mut from = period / 2 + 1;
    while let Some(next) = part[from.min(part.len())..]
        .windows(head.len())
        .position(|w| w == head)
    {
        found.push(from + next);
        from += next + period / 2 + 1;
    }
    found
}

/// The number of chars at the start of a copy that identify it.
const HEAD: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    fn places(text: &str, start: usize, onset: usize) -> Vec<String> {
        let chars: Vec<char> = text.chars().collect();
        let copies = copies(&chars, start, onset, chars.len()).into_iter();
        copies.map(|copy| chars[copy].iter().collect()).collect()
    }

    #[test]
    fn exact_copies_and_a_cut_one() {
        assert_eq!(places("xx我想。我想。我", 2, 5), ["我想。", "我想。", "我"]);
        assert_eq!(places("aaa", 0, 1), ["a", "a", "a"]);
    }

    #[test]
    fn numbers_may_differ_and_be_longer() {
        let wanted = ["9. go on\n", "10. go on\n", "11. go on\n"];
        assert_eq!(places("9. go on\n10. go on\n11. go on\n", 0, 9), wanted);
    }

    #[test]
    fn differing_copies_are_found_by_their_beginnings() {
        let text = "Let us then try one. Let us then try the second. Let us then try six. ";
        let wanted = [
            "Let us then try one. ",
            "Let us then try the second. ",
            "Let us then try six. ",
        ];
        assert_eq!(places(text, 0, 21), wanted);
    }

    #[test]
    fn invalid_positions_have_no_copies() {
        assert!(places("abab", 2, 2).is_empty());
        assert!(places("abab", 3, 9).is_empty());
        assert!(places("", 0, 0).is_empty());
    }
}
