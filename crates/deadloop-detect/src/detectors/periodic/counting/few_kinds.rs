//! [`FewKinds`]: finds text of few different characters in no order, on one line.
//!
//! Such text has no period and no sentences: words, syllables, tags or emoji in any order, or a number without end. A
//! stretch is one piece of a line with at most [`KINDS`] different characters, or [`PICTURES`] different pictures. It
//! begins anew with a line, where a digit meets another character, where a picture does, where a sign or blank stands
//! twice, and with the first character that is one too many. So tables, rulers and lists of numbers are none.

use crate::measure::fact::UNIT_CHARS;
use crate::stream::Chars;
use crate::text::script::is_picture;

/// The maximum number of different characters of a stretch.
const KINDS: usize = 14;
/// The maximum number of different pictures of a stretch.
const PICTURES: usize = 24;

/// A search for stretches of few different characters.
pub(in super::super) struct FewKinds {
    /// The minimum number of characters of a reported stretch.
    least: u64,
    seen: u64,
    /// The number of characters read before the last call of `take`.
    told: u64,
    /// The number of characters before the current stretch.
    start: u64,
    /// The end of its first letter, digit or picture. 0 if there is none.
    named: u64,
    class: KindClass,
    /// The number of different characters of the stretch: the ASCII ones as bits, and the others.
    kinds: usize,
    ascii: u128,
    others: Vec<char>,
    /// The first characters of the stretch.
    unit: [char; UNIT_CHARS],
    /// The last character.
    last: char,
    /// The line so far, not read yet. Only a line that is long enough for a stretch is read.
    line: String,
    /// Whether the line is read.
    reads: bool,
    ended: Vec<FewKindsStretch>,
}

/// A stretch of few different characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct FewKindsStretch {
    /// The number of characters before the stretch.
    pub(in super::super) start: u64,
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
            start: 0,
            named: 0,
            class: KindClass::Others,
            kinds: 0,
            ascii: 0,
            others: Vec::with_capacity(PICTURES),
            unit: ['\n'; UNIT_CHARS],
            last: '\n',
            line: String::new(),
            reads: false,
            ended: Vec::new(),
        }
    }

    /// Reads text. Of a line that is too short for a stretch, the characters are only counted.
    pub(in super::super) fn read(&mut self, text: &str) {
        for part in text.split_inclusive('\n') {
            let ends = part.ends_with('\n');
            if self.reads || (self.line.len() + part.len()) as u64 >= self.least {
                let line = std::mem::take(&mut self.line);
                self.read_chars(&line);
                self.read_chars(part);
                self.reads = !ends;
            } else if ends {
                self.seen += Chars::count(&self.line).0 + Chars::count(part).0;
                self.start = self.seen;
                self.line.clear();
            } else {
                self.line.push_str(part);
            }
        }
    }

    /// Reads text. A character that the stretch has already costs next to nothing, unless it stands twice.
    fn read_chars(&mut self, text: &str) {
        for c in text.chars() {
            if c != self.last && self.is_known_ascii(c) {
                self.add(c);
            } else {
                self.read_new(c);
            }
        }
    }

    #[inline]
    fn is_known_ascii(&self, c: char) -> bool {
        c.is_ascii() && self.ascii >> u32::from(c) & 1 != 0
    }

    /// Adds a character to the stretch.
    #[inline]
    fn add(&mut self, c: char) {
        if let Some(place) = self.unit.get_mut((self.seen - self.start) as usize) {
            *place = c;
        }
        self.seen += 1;
        self.last = c;
    }

    /// Reads a character that may be new, or stand twice.
    fn read_new(&mut self, c: char) {
        if c == '\n' {
            self.begin(KindClass::Others);
            self.add(c);
            self.start = self.seen;
            return;
        }
        let class = match c {
            '0'..='9' => KindClass::Digits,
            _ if is_picture(c) => KindClass::Pictures,
            _ => KindClass::Others,
        };
        let letter = c.is_alphabetic();
        let is_bare = class == KindClass::Others && !letter;
        if class != self.class || is_bare && c == self.last {
            self.begin(class);
        }
        if !self.is_known_ascii(c) && !self.others.contains(&c) {
            self.add_kind(c);
        }
        self.add(c);
        if self.named == 0 && !is_bare {
            self.named = self.seen;
        }
    }

    /// Adds a new kind to the stretch, or begins the next one with it if there are as many as there may be.
    fn add_kind(&mut self, c: char) {
        let most = match self.class {
            KindClass::Pictures => PICTURES,
            _ => KINDS,
        };
        if self.kinds == most {
            self.begin(self.class);
        }
        self.kinds += 1;
        if c.is_ascii() {
            self.ascii |= 1 << u32::from(c);
        } else {
            self.others.push(c);
        }
    }

    /// Begins a stretch with the next character.
    fn begin(&mut self, class: KindClass) {
        self.ended.extend(self.current());
        (self.start, self.named, self.class) = (self.seen, 0, class);
        (self.kinds, self.ascii) = (0, 0);
        self.others.clear();
    }

    /// Returns the current stretch, if it is long enough since stretches were last taken.
    #[inline]
    fn current(&self) -> Option<FewKindsStretch> {
        let until = self.seen;
        let first = self.named.max(self.start + self.least);
        let at = first.max(self.told + 1);
        let length = self.least.min(UNIT_CHARS as u64) as usize;
        (self.named > 0 && at <= until).then(|| FewKindsStretch {
            start: self.start,
            at,
            until,
            unit: self.unit[..length].iter().collect(),
        })
    }

    /// Takes the stretches that ended, and the current one.
    pub(in super::super) fn take(&mut self) -> Vec<FewKindsStretch> {
        let current = self.current();
        self.told = self.seen;
        self.ended.drain(..).chain(current).collect()
    }
}
