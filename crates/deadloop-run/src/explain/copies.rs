//! Finds the copies of a repeated unit in a text.

use std::fmt::Write as _;
use std::ops::Range;

use deadloop_detect::Chars;
use regex::Regex;

use super::near_misses::FactSight;

/// The maximum number of chars before the first copy at which a copy of another length may begin.
const MAX_EARLY_CHARS: u64 = 16;

/// Returns the ranges of the copies of a fact's unit in `text`, up to `end`. Copies may differ in text that the
/// detector folds, such as numbers and list markers.
pub(super) fn find_copies(text: &[char], sight: &FactSight, end: u64) -> Vec<Range<u64>> {
    let (onset, period) = (sight.onset.count(), sight.period.count());
    let start = onset.saturating_sub(period);
    let even = exact_copies(text, start, period, end);
    if even.len() >= 2 {
        return even;
    }
    let alike = similar_copies(text, sight, end);
    if alike.len() >= 2 {
        return alike;
    }
    counted_copies(sight, end)
}

/// Returns as many adjacent ranges as the fact counts copies, each as long as its period. If folded text varies in
/// length, the borders are approximate. Empty if the last range would not end near the fact's position, since such
/// copies are scattered.
fn counted_copies(sight: &FactSight, end: u64) -> Vec<Range<u64>> {
    let (onset, period) = (sight.onset.count(), sight.period.count());
    let (start, count) = (
        onset.saturating_sub(period),
        sight.copies.max(0).unsigned_abs(),
    );
    let stop = start.saturating_add(period.saturating_mul(count));
    if count < 2 || period == 0 || stop.abs_diff(sight.position.count()) > period {
        return Vec::new();
    }
    let starts = (0..count).map(|n| start + n * period);
    let copy = |from: u64| from..(from + period).min(end);
    starts.take_while(|from| *from < end).map(copy).collect()
}

/// Returns the adjacent exact copies of the `period` chars at `start`. The last copy may be cut.
pub(super) fn exact_copies(text: &[char], start: u64, period: u64, end: u64) -> Vec<Range<u64>> {
    let index = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
    let end = end.min(text.len() as u64);
    let Some(unit) = text.get(index(start)..index(start + period)) else {
        return Vec::new();
    };
    let starts = (0..).map(|n| start + n * period.max(1));
    let copy = starts.map(|from| from..(from + period).min(end));
    let is_copy = |copy: &Range<u64>| {
        let piece = text.get(index(copy.start)..index(copy.end));
        piece.is_some_and(|piece| !piece.is_empty() && unit.starts_with(piece))
    };
    copy.take_while(is_copy).collect()
}

/// Returns the copies that differ in numbers and white space. Each begins like the unit and ends where the next one
/// begins.
fn similar_copies(text: &[char], sight: &FactSight, end: u64) -> Vec<Range<u64>> {
    let from = sight
        .onset
        .count()
        .saturating_sub(sight.period.count() + MAX_EARLY_CHARS);
    let range = |at: u64| usize::try_from(at).map_or(text.len(), |at| at.min(text.len()));
    let searched_text: String = text[range(from)..range(end).max(range(from))]
        .iter()
        .collect();
    let Some(pattern) = copy_start_pattern(&sight.unit) else {
        return Vec::new();
    };
    let (mut at, mut counted) = (from, 0);
    let start = |found: regex::Match<'_>| {
        at += Chars::count(&searched_text[counted..found.start()]).0;
        counted = found.start();
        at
    };
    let starts: Vec<u64> = pattern.find_iter(&searched_text).map(start).collect();
    let ends = starts.iter().skip(1).copied().chain([u64::MAX]);
    let length = sight.period.count().max(Chars::count(&sight.unit).0);
    let copy = |(start, next): (&u64, u64)| {
        let far = next > start + 2 * length;
        let stop = if far { start + length } else { next };
        *start..stop.min(end)
    };
    starts.iter().zip(ends).map(copy).collect()
}

/// Returns a regex that matches the beginnings of copies of a unit.
fn copy_start_pattern(unit: &str) -> Option<Regex> {
    let mut pattern = String::new();
    // The end of the last copy may be followed by the next one's number.
    let mut chars = unit.trim_end().chars().peekable();
    while let Some(c) = chars.next() {
        let number = |c: &char| c.is_numeric() || *c == '#';
        if number(&c) {
            while chars.next_if(number).is_some() {}
            pattern.push_str("[\\p{N}#]+");
        } else if c.is_whitespace() {
            while chars.next_if(|c| c.is_whitespace()).is_some() {}
            pattern.push_str(r"\s+(?:\**[(（]?\p{N}+[.)）、]\**\s*)?");
        } else {
            // Writing into a String cannot fail.
            let _ = write!(pattern, "{}", regex::escape(c.encode_utf8(&mut [0; 4])));
        }
    }
    Regex::new(&pattern)
        .ok()
        .filter(|_| !unit.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadloop_detect::Settings;
    use deadloop_detect::TextChannel;

    use crate::explain::near_misses::facts_in;

    /// Returns the copies that the fact of a periodic detector counts, as text.
    fn marked(text: &str, params: &str) -> Vec<String> {
        let toml = format!("[[guard]]\ndetector = \"periodic\"\n[guard.params]\n{params}");
        let settings = Settings::parse(&toml).unwrap();
        let sights = facts_in(&settings.guard().members[0], TextChannel::Answer, text);
        let sight = sights.iter().find(|s| s.accepted).unwrap();
        let chars: Vec<char> = text.chars().collect();
        let copies = find_copies(&chars, sight, chars.len() as u64).into_iter();
        let piece = |copy: Range<u64>| {
            let (from, to) = (usize::try_from(copy.start), usize::try_from(copy.end));
            chars[from.unwrap()..to.unwrap()].iter().collect()
        };
        copies.map(piece).collect()
    }

    #[test]
    fn copies_go_on_for_as_long_as_they_are_exact() {
        let text = format!("So {}and then.", "再想一想。".repeat(4));
        let copies = marked(&text, "min_copies = 3\nmin_chars = 10");
        assert_eq!(copies, ["再想一想。"; 4]);
    }

    #[test]
    fn numbers_and_list_markers_may_differ() {
        let line = |n: u32| format!("{n}. Check line {n} again.\n");
        let text = format!("A list:\n{}", (8..14).map(line).collect::<String>());
        for params in [
            "fold = \"digits\"\nmin_chars = 30",
            "fold = \"digits\"\non = \"lines\"\nmin_chars = 30",
        ] {
            let copies = marked(&text, params);
            assert!(copies.len() >= 5, "{params}: {copies:?}");
            let one = |c: &String| c.matches("Check").count() == 1;
            assert!(copies.iter().all(one), "{params}: {copies:?}");
        }
    }

    #[test]
    fn what_no_unit_finds_again_is_told_by_onset_period_and_copies() {
        // The fact's unit is cut where a number begins a new line.
        let item =
            |n: u32| format!("Step one is to look at it.\n{n}. Step two, and so on for ever.\n");
        let text: String = (1..9).map(item).collect();
        let toml =
            "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nfold = \"lists\"\nmin_chars = 60";
        let settings = Settings::parse(toml).unwrap();
        let mut sights = facts_in(&settings.guard().members[0], TextChannel::Answer, &text);
        let sight = sights.iter_mut().find(|s| s.accepted).unwrap();
        sight.unit = "a unit that is written otherwise".into();
        let chars: Vec<char> = text.chars().collect();
        let found = find_copies(&chars, sight, chars.len() as u64);
        assert_eq!(found.len() as i64, sight.copies, "{found:?}");
        assert!(found.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert_eq!(found[1].start, sight.onset.count());
        // Copies that lie scattered are not tinted.
        sight.position = Chars(sight.position.count() + 5 * sight.period.count()).into();
        assert!(find_copies(&chars, sight, chars.len() as u64).is_empty());
    }

    #[test]
    fn the_last_copy_may_be_cut() {
        let ends = |text: &str, start, period| {
            let chars: Vec<char> = text.chars().collect();
            let copies = exact_copies(&chars, start, period, chars.len() as u64);
            copies.iter().map(|copy| copy.end).collect::<Vec<_>>()
        };
        assert_eq!(ends("aaaaa", 0, 2), [2, 4, 5]);
        assert_eq!(ends("xababc", 1, 2), [3, 5]);
        assert!(ends("ab", 1, 2).is_empty());
    }
}
