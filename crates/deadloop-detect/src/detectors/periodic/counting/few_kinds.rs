//! [`FewKinds`]: finds text of few different characters in no order, on one line.
//!
//! Such text has no period and no sentences: words, syllables, tags or emoji in any order, or a number without end. A
//! stretch is one piece of a line with at most [`KINDS`] different characters, or [`PICTURES`] different pictures. It
//! begins anew with a line, where a digit meets another character, where a picture does, where a sign or blank stands
//! twice, and with the first character that is one too many. So tables, rulers and lists of numbers are none.

use crate::measure::fact::UNIT_CHARS;
use crate::text::script::is_picture;

/// The maximum number of different characters of a stretch.
const KINDS: usize = 14;
/// The maximum number of different pictures of a stretch.
const PICTURES: usize = 24;
/// The length of the ring of the last characters, which holds the beginning of a unit.
const RING: usize = UNIT_CHARS.next_power_of_two();

/// The current stretch, and the ended ones.
pub(in super::super) struct FewKinds {
    /// The minimum number of characters of a reported stretch.
    least: u64,
    seen: u64,
    /// The number of characters read before the last call of `take`.
    told: u64,
    stretch: FewKindsStretch,
    class: KindClass,
    /// The ASCII characters of the stretch, as bits, and its other characters.
    ascii: u128,
    others: Vec<char>,
    /// The last characters, as a ring buffer.
    last: [char; RING],
    ended: Vec<FewKindsStretch>,
}

/// A stretch of few different characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct FewKindsStretch {
    /// The number of characters before the stretch.
    pub(in super::super) start: u64,
    /// The end of its first letter, digit or picture. 0 if there is none.
    named: u64,
    /// The number of characters from which its facts are new.
    pub(in super::super) at: u64,
    /// The number of characters at its end.
    pub(in super::super) until: u64,
    /// The beginning of its text.
    pub(in super::super) unit: String,
}

/// The class of all characters of a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KindClass {
    Digits,
    Pictures,
    Others,
}

impl FewKinds {
    /// Returns an empty search for stretches of at least `least` characters.
    pub(in super::super) fn new(least: u64) -> Self {
        Self {
            least,
            seen: 0,
            told: 0,
            stretch: FewKindsStretch::default(),
            class: KindClass::Others,
            ascii: 0,
            others: Vec::with_capacity(PICTURES),
            last: ['\n'; RING],
            ended: Vec::new(),
        }
    }

    pub(in super::super) fn read(&mut self, text: &str) {
        text.chars().for_each(|c| self.char(c));
    }

    #[inline]
    fn char(&mut self, c: char) {
        let class = match c {
            '0'..='9' => KindClass::Digits,
            _ if !c.is_ascii() && is_picture(c) => KindClass::Pictures,
            _ => KindClass::Others,
        };
        if c == '\n' {
            // The stretch ends before the line end.
            self.begin(KindClass::Others);
            self.seen += 1;
            self.last[self.seen as usize % RING] = c;
            self.stretch.start = self.seen;
            return;
        }
        let letter = c.is_alphabetic();
        let before = self.last[self.seen as usize % RING];
        let twice = c == before && class == KindClass::Others && !letter;
        if class != self.class || twice || self.is_one_too_many(c) {
            self.begin(class);
        }
        if c.is_ascii() {
            self.ascii |= 1 << u32::from(c);
        } else if !self.others.contains(&c) {
            self.others.push(c);
        }
        self.seen += 1;
        self.last[self.seen as usize % RING] = c;
        if self.stretch.named == 0 && (letter || class != KindClass::Others) {
            self.stretch.named = self.seen;
        }
        if self.seen - self.stretch.start == self.least.min(UNIT_CHARS as u64) {
            let unit = self.stretch.start + 1..=self.seen;
            self.stretch.unit = unit.map(|at| self.last[at as usize % RING]).collect();
        }
    }

    /// Returns whether a character is new in a stretch that has as many different ones as it may.
    #[inline]
    fn is_one_too_many(&self, c: char) -> bool {
        let known = if c.is_ascii() {
            self.ascii >> u32::from(c) & 1 != 0
        } else {
            self.others.contains(&c)
        };
        let most = match self.class {
            KindClass::Pictures => PICTURES,
            _ => KINDS,
        };
        !known && self.ascii.count_ones() as usize + self.others.len() >= most
    }

    /// Begins a stretch with the next character.
    fn begin(&mut self, class: KindClass) {
        self.ended.extend(self.current());
        self.stretch = FewKindsStretch {
            start: self.seen,
            ..FewKindsStretch::default()
        };
        (self.class, self.ascii) = (class, 0);
        self.others.clear();
    }

    /// Returns the current stretch, if it is long enough since stretches were last taken.
    fn current(&self) -> Option<FewKindsStretch> {
        let (stretch, until) = (&self.stretch, self.seen);
        let first = stretch.named.max(stretch.start + self.least);
        let at = first.max(self.told + 1);
        (stretch.named > 0 && at <= until).then(|| FewKindsStretch {
            at,
            until,
            ..stretch.clone()
        })
    }

    /// Takes the stretches that ended, and the current one.
    pub(in super::super) fn take(&mut self) -> Vec<FewKindsStretch> {
        let current = self.current();
        self.told = self.seen;
        self.ended.drain(..).chain(current).collect()
    }
}
