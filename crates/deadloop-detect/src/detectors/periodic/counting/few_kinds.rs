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
    /// The different characters of the stretch.
    kinds: Vec<char>,
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
            kinds: Vec::with_capacity(PICTURES),
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
            let mut line = std::mem::take(&mut self.line) + part;
            let ends = line.ends_with('\n');
            if self.reads || line.len() as u64 >= self.least {
                line.chars().for_each(|c| self.read_char(c));
                self.reads = !ends;
                line.clear();
            } else if ends {
                self.seen += Chars::count(&line).0;
                self.start = self.seen;
                line.clear();
            }
            self.line = line;
        }
    }

    fn read_char(&mut self, c: char) {
        if c == '\n' {
            self.begin(KindClass::Others);
            self.seen += 1;
            (self.start, self.last) = (self.seen, c);
            return;
        }
        let class = match c {
            '0'..='9' => KindClass::Digits,
            _ if is_picture(c) => KindClass::Pictures,
            _ => KindClass::Others,
        };
        let is_bare = class == KindClass::Others && !c.is_alphabetic();
        if class != self.class || is_bare && c == self.last {
            self.begin(class);
        }
        if !self.kinds.contains(&c) {
            let most = match class {
                KindClass::Pictures => PICTURES,
                _ => KINDS,
            };
            if self.kinds.len() == most {
                self.begin(class);
            }
            self.kinds.push(c);
        }
        if let Some(place) = self.unit.get_mut((self.seen - self.start) as usize) {
            *place = c;
        }
        self.seen += 1;
        self.last = c;
        if self.named == 0 && !is_bare {
            self.named = self.seen;
        }
    }

    /// Begins a stretch with the next character.
    fn begin(&mut self, class: KindClass) {
        self.ended.extend(self.current());
        (self.start, self.named, self.class) = (self.seen, 0, class);
        self.kinds.clear();
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
