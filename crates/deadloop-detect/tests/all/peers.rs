//! Presets against slow and obvious readings of the guards that they stand for, on texts that loop,
//! nearly loop, or do not. A reading is written from what the guard does, char by char, and shares
//! nothing with the detectors.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use crate::common;

use common::{Dice, alarm, preset};
use deadloop_detect::harness::Member;

/// Where and of which kind a preset fires, in chunks of two sizes.
fn fires(member: &Member, text: &str) -> Option<(usize, &'static str)> {
    let [whole, small] = [usize::MAX, 7].map(|chunk| alarm(member, text, chunk));
    let of = |a: deadloop_detect::Alarm| (usize::try_from(a.exact.count()).unwrap(), a.kind.name());
    let (whole, small) = (whole.map(of), small.map(of));
    assert_eq!(whole, small, "{text:?}");
    whole
}

/// The ports of the design document's detector. Both look at checkpoints alone.
mod ladder {
    use super::*;

    struct Port {
        checkpoints: [usize; 3],
        max_unit: usize,
        /// Whole units counted back from the end; else from any place but the last that fits four.
        aligned: bool,
        /// Matches, and whether only one residue class is compared.
        matches: usize,
        stepped: bool,
        /// Whether lists come first and leave out lines that hold nothing but a number.
        lists_first: bool,
    }

    const TS_1: Port = Port {
        checkpoints: [2000, 3000, 5000],
        max_unit: 50,
        aligned: true,
        matches: 6,
        stepped: false,
        lists_first: false,
    };
    const TS_3: Port = Port {
        checkpoints: [1000, 2000, 4000],
        max_unit: 6,
        aligned: false,
        matches: 5,
        stepped: true,
        lists_first: true,
    };

    impl Port {
        fn alarm(&self, text: &[char]) -> Option<(usize, &'static str)> {
            let [first, second, third] = self.checkpoints;
            if text.len() >= first && self.short(&text[first - 200..first]) {
                return Some((first, "short-sequence"));
            }
            let segments = [(first, second), (second, third)];
            let reached = segments.into_iter().filter(|(_, to)| *to <= text.len());
            let mut kinds = reached.map(|(from, to)| (to, self.periods(&text[from..to])));
            kinds.find_map(|(to, kind)| Some((to, kind?)))
        }

        fn short(&self, window: &[char]) -> bool {
            (2..=self.max_unit).any(|unit| {
                if self.aligned {
                    aligned(window, unit)
                } else {
                    anywhere(window, unit)
                }
            })
        }

        fn periods(&self, segment: &[char]) -> Option<&'static str> {
            let text: String = segment.iter().collect();
            let filled = |block: &&str| !block.trim().is_empty();
            let blocks = text.split(|c| "。.;；！!？?\n".contains(c)).filter(filled);
            let lines = text.split('\n').map(without_number);
            let lines: Vec<&str> = if self.lists_first {
                lines.filter(filled).collect()
            } else {
                lines.collect()
            };
            let paragraph = ("paragraph", self.repeats(&blocks.collect::<Vec<_>>()));
            let list = ("ordered-list", self.repeats(&lines));
            let both = if self.lists_first {
                [list, paragraph]
            } else {
                [paragraph, list]
            };
            both.into_iter().find(|both| both.1).map(|both| both.0)
        }

        fn repeats(&self, elements: &[&str]) -> bool {
            let n = elements.len();
            (1..=(n / 2).min(50)).any(|period| {
                let step = if self.stepped { period } else { 1 };
                let places = (period..n).rev().step_by(step);
                let equal = |i: &usize| elements[*i] == elements[*i - period];
                places.take_while(equal).count() >= self.matches
            })
        }
    }

    fn ideograph(unit: &[char]) -> bool {
        unit.iter().any(|c| ('\u{4e00}'..='\u{9fa5}').contains(c))
    }

    /// Four equal units among those that end at the window's end.
    fn aligned(window: &[char], unit: usize) -> bool {
        let units: Vec<&[char]> = window.rchunks_exact(unit).collect();
        let equal = |four: &[&[char]]| four.iter().all(|u| *u == four[0]) && ideograph(four[0]);
        units.windows(4).any(equal)
    }

    /// Four equal units, and a char behind them.
    fn anywhere(window: &[char], unit: usize) -> bool {
        let four = |at: usize| window[at..at + 4 * unit].chunks(unit).collect::<Vec<_>>();
        let equal = |at: usize| four(at).iter().all(|u| *u == four(at)[0]);
        (0..window.len() - 4 * unit).any(|at| ideograph(four(at)[0]) && equal(at))
    }

    fn without_number(line: &str) -> &str {
        let number = line.trim_start();
        let rest = number.trim_start_matches(|c: char| c.is_ascii_digit());
        match rest.strip_prefix('.') {
            Some(rest) if rest.len() + 1 < number.len() => rest.trim_start(),
            _ => line,
        }
    }

    /// Stretches of units over few chars, of lists and of bare numbers; the first is cut so that
    /// checkpoints fall anywhere.
    fn text(dice: &mut Dice) -> String {
        let parts = [
            "思",
            "考",
            "思考",
            "我们。",
            "a",
            "b。",
            "\n",
            "一二三",
            "重启服务器\n",
            ". ",
            "x! ",
        ];
        let mut text = String::new();
        while text.chars().count() < 5200 {
            let unit: String = (0..=dice.below(5)).map(|_| dice.pick(&parts)).collect();
            let (times, form) = (1 + dice.below(90), dice.below(6));
            for i in 0..times {
                match form {
                    0 => text += &format!("{i}. {unit}\n"),
                    1 => text += &format!("{i}.\n"),
                    2 if i % 4 == 0 => text += &format!("{i}{unit}"),
                    _ => text += &unit,
                }
            }
        }
        let cut = dice.below(150) as usize;
        text.chars().skip(cut).collect()
    }

    #[test]
    fn ports_fire_where_their_originals_do() {
        for (name, port) in [("ts-1", TS_1), ("ts-3", TS_3)] {
            let member = preset("checkpoint", name);
            let mut dice = Dice(14);
            let mut kinds = std::collections::BTreeMap::new();
            for i in 0..crate::common::drawn(3000) {
                let text = text(&mut dice);
                let chars: Vec<char> = text.chars().collect();
                let expected = port.alarm(&chars);
                assert_eq!(fires(&member, &text), expected, "{name} {i}: {text:?}");
                *kinds.entry(expected.map(|e| e.1)).or_insert(0) += 1;
            }
            assert!(
                kinds.len() == 4 && kinds.values().all(|n| *n > crate::common::drawn(50)),
                "{name}: {kinds:?}"
            );
        }
    }
}

/// Guards that ask how often a unit stands at the end.
mod tails {
    use super::*;

    /// The chars that equal the one `period` before, counted back from the end.
    fn matches(text: &[char], period: usize) -> usize {
        let places = (period..text.len()).rev();
        places.take_while(|i| text[*i] == text[*i - period]).count()
    }

    /// The first place at which a rule, asked of each period, says yes.
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

    /// A period that is no multiple of a shorter one.
    fn is_primitive(period: usize, read: &[char]) -> bool {
        let unit = &read[read.len() - period..];
        (1..period)
            .all(|p| !period.is_multiple_of(p) || unit.chunks(p).any(|part| part != &unit[..p]))
    }

    /// Two copies and a part, of units of a few letters or emoji, with other text before and between.
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
                let unit: Vec<char> = (0..long)
                    .flat_map(|_| dice.pick(&letters).chars())
                    .collect();
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
            *(if seen.is_some() {
                &mut found
            } else {
                &mut quiet
            }) += 1;
        }
        assert!(
            found > 5 && quiet > 5,
            "{name}: {found} fire, {quiet} do not"
        );
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
        // It begins with units of two chars, of which one char twice is one; it looks no further than
        // a third of the text.
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
        // Each longer unit has no fewer chars than the one before.
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
