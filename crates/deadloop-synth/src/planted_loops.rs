//! Planted loops: repetition inserted into a clean text at a known place.
//!
//! The functions are pure: the result depends only on the text and a [`LoopPlan`]. Positions are chars (Unicode
//! scalar values) from the start of the text, as everywhere.

use std::fmt;

use deadloop_detect::Kind;

/// The kinds of planted repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PlantKind {
    /// A short unit without breaks: `我需要思考我需要思考…`.
    ShortSequence,
    /// Whole sentences or paragraphs.
    Paragraph,
    /// The lines of the unit as list items, whose numbers continue from copy to copy.
    OrderedList,
    /// Paragraphs that differ by a word in each copy.
    NearRepeat,
}

impl PlantKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [
        Self::ShortSequence,
        Self::Paragraph,
        Self::OrderedList,
        Self::NearRepeat,
    ];

    /// Returns the kind of loop that the planting makes.
    pub fn kind(self) -> Kind {
        match self {
            Self::ShortSequence => Kind::ShortSequence,
            Self::Paragraph => Kind::Paragraph,
            Self::OrderedList => Kind::OrderedList,
            Self::NearRepeat => Kind::NearRepeat,
        }
    }

    /// Returns the name of the kind.
    pub fn name(self) -> &'static str {
        self.kind().name()
    }
}

impl fmt::Display for PlantKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The styles of numbers of list items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NumberStyle {
    /// `12. item`
    #[default]
    Dot,
    /// `12) item`
    Bracket,
    /// `12、item`
    Chinese,
}

impl NumberStyle {
    fn mark(self, number: u64) -> String {
        match self {
            Self::Dot => format!("{number}. "),
            Self::Bracket => format!("{number}) "),
            Self::Chinese => format!("{number}、"),
        }
    }
}

/// The parameters of a planted loop.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopPlan {
    /// The kind of repetition.
    pub kind: PlantKind,
    /// The text that is repeated, with the blank or line break at its end. In an
    /// [`OrderedList`](PlantKind::OrderedList) each line is an item.
    pub unit: String,
    /// The texts that replace `{}` in the unit. The copies take them in turn. In a
    /// [`NearRepeat`](PlantKind::NearRepeat) they make the copies differ.
    pub fillers: Vec<String>,
    /// The style of the numbers of list items.
    pub numbering: NumberStyle,
    /// The number of the first list item.
    pub first_number: u64,
    /// The wanted number of chars before the **second** copy. The clean text is cut so that the first copy ends
    /// there, or up to 400 chars earlier if a sentence or word ends there.
    pub onset: usize,
    /// The minimum number of copies.
    pub copies: usize,
    /// The minimum number of chars after the onset. The last copy is cut there, like a stream that reaches its token
    /// limit.
    pub tail: usize,
}

/// A text that ends in a planted loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlantedText {
    /// The whole text.
    pub text: String,
    /// The position of the first copy.
    pub start: usize,
    /// The position of the second copy.
    pub onset: usize,
    /// The number of chars from the first copy to the second.
    pub period: usize,
}

/// The maximum number of chars by which a cut moves back to the end of a sentence.
const REACH: usize = 400;

/// Plants a loop. `None` if the clean text is too short for the onset, or the unit is empty.
pub fn plant(clean: &str, plan: &LoopPlan) -> Option<PlantedText> {
    let first = plan.copy(0);
    let period = first.chars().count();
    let room = plan.onset.checked_sub(period)?;
    let clean: Vec<char> = clean.chars().take(room + 1).collect();
    if period == 0 || clean.len() <= room {
        return None;
    }
    let start = cut_place(&clean[..room]);
    let mut text: String = clean[..start].iter().collect();
    let start = start + begin_line(plan.kind, &mut text);
    text.push_str(&first);
    let onset = start + period;
    text.extend(tail(plan));
    Some(PlantedText {
        text,
        start,
        onset,
        period,
    })
}

/// Begins a new line if the kind is a list. Returns the number of chars added.
fn begin_line(kind: PlantKind, text: &mut String) -> usize {
    let needed = kind == PlantKind::OrderedList && !text.is_empty() && !text.ends_with('\n');
    if needed {
        text.push('\n');
    }
    usize::from(needed)
}

/// Returns the text from the onset on.
fn tail(plan: &LoopPlan) -> Vec<char> {
    let mut chars = Vec::new();
    let mut number = 1;
    while number < plan.copies || chars.len() < plan.tail {
        chars.extend(plan.copy(number).chars());
        number += 1;
    }
    let whole = (1..plan.copies).map(|number| plan.copy(number).chars().count());
    chars.truncate(plan.tail.max(whole.sum()));
    chars
}

/// Returns the place of the cut: after the last line break or end of a Chinese sentence within reach of the end, else
/// after the last blank, else the end.
fn cut_place(clean: &[char]) -> usize {
    let near = clean.len().saturating_sub(REACH);
    let after = |ends: fn(&char) -> bool| clean[near..].iter().rposition(ends);
    let sentence = after(|c| matches!(c, '\n' | '。' | '！' | '？'));
    let last = sentence.or_else(|| after(|c| *c == ' '));
    last.map_or(clean.len(), |at| near + at + 1)
}

impl LoopPlan {
    /// Returns the copy with this number, from 0.
    pub(crate) fn copy(&self, number: usize) -> String {
        let unit = fill(&self.unit, &self.fillers, number);
        match self.kind {
            PlantKind::OrderedList => items(self, &unit, number),
            _ => unit,
        }
    }
}

fn fill(unit: &str, fillers: &[String], number: usize) -> String {
    match fillers {
        [] => unit.to_owned(),
        _ => unit.replace("{}", &fillers[number % fillers.len()]),
    }
}

fn items(plan: &LoopPlan, unit: &str, number: usize) -> String {
    let lines = unit.lines();
    let before = number as u64 * unit.lines().count() as u64;
    let item = |(at, line)| {
        let mark = plan.numbering.mark(plan.first_number + before + at as u64);
        format!("{mark}{line}\n")
    };
    lines.enumerate().map(item).collect()
}

/// A small random number generator for corpora: splitmix64. The same seed gives the same numbers on every machine. It
/// is not secure.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// Returns a generator with this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `bound`, or 0 if `bound` is 0. The tiny bias of the remainder does not matter here.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next_u64() % bound.max(1) as u64) as usize
    }

    /// Returns a number from `low` to `high`, both included.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// Draws whether an event of probability `share`, from 0 to 1, occurs.
    pub fn chance(&mut self, share: f64) -> bool {
        // A float holds exactly these upper 53 bits.
        ((self.next_u64() >> 11) as f64) < share * (1_u64 << 53) as f64
    }

    /// Draws one item. `None` if the slice is empty.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len()))
    }

    /// Shuffles the items.
    pub(crate) fn shuffle<T>(&mut self, all: &mut [T]) {
        for last in (1..all.len()).rev() {
            all.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    fn plan(kind: PlantKind, unit: &str) -> LoopPlan {
        LoopPlan {
            kind,
            unit: unit.to_owned(),
            fillers: vec!["one".into(), "two".into(), "six".into()],
            numbering: NumberStyle::Dot,
            first_number: 1,
            onset: 60,
            copies: 4,
            tail: 50,
        }
    }

    const CLEAN: &str = "A clean sentence.\nAnother one, 还有中文。And then it goes on and on for a good while longer.";

    fn slice(text: &str, from: usize, to: usize) -> String {
        text.chars().skip(from).take(to - from).collect()
    }

    #[test]
    fn the_positions_are_where_they_say() {
        let planted = plant(CLEAN, &plan(PlantKind::Paragraph, "我需要思考。")).unwrap();
        assert_eq!(planted.period, 6);
        assert_eq!(planted.onset, planted.start + 6);
        assert_eq!(
            slice(&planted.text, 0, planted.start),
            "A clean sentence.\nAnother one, 还有中文。"
        );
        assert_eq!(
            slice(&planted.text, planted.start, planted.onset + 6),
            "我需要思考。我需要思考。"
        );
        assert_eq!(
            planted.text.chars().count(),
            planted.onset + 50,
            "cut at the limit"
        );
    }

    #[test]
    fn items_are_numbered_on() {
        let planted = plant(CLEAN, &plan(PlantKind::OrderedList, "a\nb")).unwrap();
        assert!(
            planted.text.contains("。\n1. a\n2. b\n3. a\n4. b\n5. a\n"),
            "{}",
            planted.text
        );
        assert_eq!(planted.period, 10);
        let chinese = LoopPlan {
            numbering: NumberStyle::Chinese,
            first_number: 9,
            ..plan(PlantKind::OrderedList, "甲")
        };
        assert!(
            plant(CLEAN, &chinese)
                .unwrap()
                .text
                .contains("9、甲\n10、甲\n")
        );
    }

    #[test]
    fn near_copies_differ_by_their_filler() {
        let planted = plant(CLEAN, &plan(PlantKind::NearRepeat, "Let us try {}. ")).unwrap();
        assert!(
            planted
                .text
                .contains("Let us try one. Let us try two. Let us try six. Let us try one. ")
        );
    }

    #[test]
    fn too_little_clean_text_is_no_plant() {
        assert_eq!(plant("short", &plan(PlantKind::Paragraph, "abc ")), None);
        assert_eq!(plant(CLEAN, &plan(PlantKind::Paragraph, "")), None);
    }

    #[test]
    fn the_numbers_are_those_of_splitmix64() {
        let mut rng = Rng::new(1234567);
        assert_eq!(rng.next_u64(), 6457827717110365317);
        assert_eq!(rng.next_u64(), 3203168211198807973);
        assert_eq!(Rng::new(1).below(0), 0);
    }

    proptest! {
        #[test]
        fn exact_kinds_repeat_with_their_period(onset in 30usize..90, copies in 2usize..9, tail in 0usize..200) {
            let wanted = LoopPlan { onset, copies, tail, ..plan(PlantKind::ShortSequence, "环ab") };
            let planted = plant(CLEAN, &wanted).unwrap();
            let chars: Vec<char> = planted.text.chars().collect();
            prop_assert!(planted.onset <= onset);
            prop_assert!(planted.start + planted.period == planted.onset);
            prop_assert!(chars.len() >= planted.start + copies * planted.period);
            prop_assert!(chars.len() >= planted.onset + tail);
            for at in planted.onset..chars.len() {
                prop_assert_eq!(chars[at], chars[at - planted.period]);
            }
        }
    }
}
