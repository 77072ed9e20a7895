//! Compares presets with slow references of the original guards.
//!
//! The texts loop, nearly loop, or do not. A reference follows the original guard char by char, and shares no code with
//! the detectors.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use crate::common;

use common::{Dice, alarm, preset};
use deadloop_detect::harness::Member;

/// Returns the position and the kind of a preset's alarm, for chunks of two sizes.
fn fires(member: &Member, text: &str) -> Option<(usize, &'static str)> {
    let [whole, small] = [usize::MAX, 7].map(|chunk| alarm(member, text, chunk));
    let of = |a: deadloop_detect::Alarm| (usize::try_from(a.exact.count()).unwrap(), a.kind.name());
    let (whole, small) = (whole.map(of), small.map(of));
    assert_eq!(whole, small, "{text:?}");
    whole
}

/// A reference of guards that count copies of a unit at the end of a text.
mod tails {
    use super::*;

    /// Returns the number of last chars that equal the char `period` earlier.
    fn matches(text: &[char], period: usize) -> usize {
        let places = (period..text.len()).rev();
        places.take_while(|i| text[*i] == text[*i - period]).count()
    }

    /// Returns the first position at which a rule accepts a period.
    fn first(
        text: &[char],
        longest: usize,
        rule: impl Fn(usize, &[char]) -> bool,
    ) -> Option<usize> {
        (1..=text.len()).find(|at| {
            let read = &text[..*at];
            (1..=longest.min(at / 2)).any(|period| rule(period, read))
        })
    }

    /// Returns whether a period is no multiple of a shorter one.
    fn is_primitive(period: usize, read: &[char]) -> bool {
        let unit = &read[read.len() - period..];
        (1..period)
            .all(|p| !period.is_multiple_of(p) || unit.chunks(p).any(|part| part != &unit[..p]))
    }

    /// Generates copies of units of a few letters or emoji, with other text before and between.
    fn texts(units: std::ops::Range<u64>, copies: u64) -> impl Iterator<Item = Vec<char>> {
        let mut dice = Dice(27);
        let text = move || {
            let mut text: Vec<char> = Vec::new();
            for _ in 0..=dice.below(2) {
                let letters = match dice.below(4) {
                    0 => ["1", "2", "-", "7"],
                    1 => ["😀", "🎉", " ", "!"],
                    _ => ["a", "b", "思", " "],
                };
                let noise = dice.below(60);
                let long = units.start + dice.below(units.end - units.start);
                let unit = (0..long).flat_map(|_| dice.pick(&letters).chars());
                let unit: Vec<char> = unit.collect();
                let before = (0..noise).filter_map(|i| char::from_u32(0xac00 + i as u32));
                text.extend(before);
                let len = long * (1 + dice.below(copies)) + dice.below(long);
                text.extend(unit.iter().cycle().take(len as usize));
            }
            text
        };
        std::iter::repeat_with(text).take(60)
    }

    fn compare(
        name: &str,
        texts: impl Iterator<Item = Vec<char>>,
        reading: impl Fn(&[char]) -> Option<usize>,
    ) {
        let member = preset("periodic", name);
        let (mut found, mut quiet) = (0, 0);
        for chars in texts {
            let text: String = chars.iter().collect();
            let expected = reading(&chars);
            let seen = fires(&member, &text).map(|seen| seen.0);
            assert_eq!(seen, expected, "{name}: {text:?}");
            found += usize::from(seen.is_some());
            quiet += usize::from(seen.is_none());
        }
        let both = found > 5 && quiet > 5;
        assert!(both, "{name}: {found} fire, {quiet} do not");
    }

    #[test]
    fn oh_my_pi_counts_whole_copies_of_units_with_a_letter_or_emoji() {
        let named = |c: &char| c.is_alphabetic() || ('\u{1f300}'..'\u{1fb00}').contains(c);
        let rule = |period: usize, read: &[char]| {
            let copies = 1 + matches(read, period) / period;
            let (least, chars) = if period <= 60 { (4, 180) } else { (3, 1024) };
            let unit = &read[read.len() - period..];
            copies >= least && period * copies >= chars && unit.iter().any(named)
        };
        // The shortest unit has two chars, which may be equal. The longest one is a third of the text.
        let reading = |text: &[char]| {
            first(text, 1024, |period, read| {
                (period > 1 && 3 * period <= read.len()) && rule(period, read)
            })
        };
        compare("oh-my-pi", texts(1..70, 12), reading);
        compare("oh-my-pi", texts(61..300, 9), reading);
    }

    #[test]
    fn rapid_mlx_asks_for_the_copies_that_hold_its_tokens() {
        const TOKEN: usize = 4;
        let rule = |period: usize, read: &[char]| {
            let tokens = if period < 6 * TOKEN { 256 } else { 72 };
            let copies = (tokens * TOKEN).div_ceil(period).max(3);
            matches(read, period) >= (copies - 1) * period && is_primitive(period, read)
        };
        let reading = |text: &[char]| first(text, 128 * TOKEN, rule);
        compare("rapid-mlx", texts(20..130, 12), reading);
        compare("rapid-mlx", texts(1..24, 120), reading);
    }

    #[test]
    fn repguard_asks_for_tokens_after_the_first_copy() {
        const TOKEN: usize = 4;
        let rule = |period: usize, read: &[char]| {
            let after = matches(read, period);
            if period <= TOKEN {
                period + after >= 32 * TOKEN
            } else {
                after >= 33 * TOKEN && after >= 5 * period
            }
        };
        let reading = |text: &[char]| first(text, 255 * TOKEN, rule);
        compare("repguard", texts(1..60, 12), reading);
        compare("repguard", texts(1015..1030, 9), reading);
    }

    #[test]
    fn llm7shi_asks_for_the_copies_of_its_table() {
        // A longer unit needs at least as many chars.
        let mut table = vec![0, 340];
        for unit in 2..=20 {
            let before: usize = table[unit - 1] * (unit - 1);
            table.push(before.div_ceil(unit));
        }
        assert_eq!(table[5], 69);
        assert_eq!(table[20], 21);
        let rule = |period: usize, read: &[char]| {
            let copies = table.get(period).copied().unwrap_or(20);
            matches(read, period) >= (copies - 1) * period
        };
        let reading = |text: &[char]| first(text, 400, rule);
        compare("llm7shi", texts(1..40, 60), reading);
        compare("llm7shi", texts(1..8, 400), reading);
    }
}
