//! [`Ignore`]: the white list of a detector of text; and the meter that leaves out what is on it.

use std::collections::VecDeque;

use regex::RegexSet;

use crate::fact::Fact;
use crate::meter::TextMeter;
use crate::stream::Chars;

/// The most chars of a line that are held against the patterns together. A longer line is cut into pieces of this length, and each
/// piece is a line of its own. No more of a text than this waits for a detector.
pub const LINE_CHARS: usize = 1000;

/// Places where text was left out that are remembered, so that an onset before them is told where it is.
const PLACES: usize = 1024;

/// Lines of which a pattern must leave one: it blinds a detector that matches all of them.
const ALL_KINDS: [&str; 6] = ["", " ", "so 1", "思考。", "| 2 | x |", "-----"];

/// The white list of a detector of text: `ignore` in a settings file. A line that one of its patterns matches is not read.
///
/// A line is what ends with a line feed. It is held against the patterns without its line end, and waits for it: a
/// line that is read is known as a whole at its end. A line of more than [`LINE_CHARS`] chars is cut into pieces of that length.
/// Lines that are left out count in no threshold, but positions count them. What follows the last line end waits for the text to
/// go on; if it does not, no detector reads it.
#[derive(Clone, Debug, Default)]
pub struct Ignore(Option<RegexSet>);

impl Ignore {
    /// The list of these patterns.
    ///
    /// # Errors
    /// One of them is no regular expression, is too large, or matches every line.
    pub fn new<S: AsRef<str>>(patterns: &[S]) -> Result<Self, String> {
        let mut kept: Vec<&str> = Vec::new();
        for pattern in patterns.iter().map(AsRef::as_ref) {
            crate::param::pattern(pattern)?;
            if !kept.contains(&pattern) {
                kept.push(pattern);
            }
        }
        let set = RegexSet::new(&kept).map_err(|_| "the patterns are too large together")?;
        let all = |pattern: &&&str| {
            let one = RegexSet::new([**pattern]);
            one.is_ok_and(|one| ALL_KINDS.iter().all(|line| one.is_match(line)))
        };
        if let Some(pattern) = kept.iter().find(all) {
            return Err(format!(
                "{pattern:?} matches every line: the detector would read nothing"
            ));
        }
        Ok(Self((!kept.is_empty()).then_some(set)))
    }

    /// The patterns, in their order, none of them twice.
    pub fn patterns(&self) -> &[String] {
        self.0.as_ref().map_or(&[], RegexSet::patterns)
    }

    /// Whether there is no pattern: nothing is left out.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// These patterns, then those of the other list.
    ///
    /// # Errors
    /// They are too large together.
    pub fn and(&self, other: &Self) -> Result<Self, String> {
        if other.is_empty() {
            return Ok(self.clone());
        }
        let all: Vec<&String> = self.patterns().iter().chain(other.patterns()).collect();
        Self::new(&all)
    }

    /// Whether a line is left out.
    fn leaves_out(&self, line: &str) -> bool {
        let line = line.strip_suffix('\n').unwrap_or(line);
        let line = line.strip_suffix('\r').unwrap_or(line);
        self.0.as_ref().is_some_and(|set| set.is_match(line))
    }
}

/// Two lists are the same if their patterns are.
impl PartialEq for Ignore {
    fn eq(&self, other: &Self) -> bool {
        self.patterns() == other.patterns()
    }
}

/// A meter that reads the lines of a text that are not on a white list.
pub(crate) struct Lines {
    ignore: Ignore,
    meter: Box<dyn TextMeter>,
    /// The line that is read, and its chars.
    line: String,
    chars: usize,
    /// Chars that `meter` has read.
    read: u64,
    left: Left,
}

impl Lines {
    pub(crate) fn new(ignore: Ignore, meter: Box<dyn TextMeter>) -> Self {
        Self {
            ignore,
            meter,
            line: String::new(),
            chars: 0,
            read: 0,
            left: Left::default(),
        }
    }

    /// The line is whole: it is read or left out.
    fn end(&mut self, (line, chars): (&str, usize), facts: &mut Vec<Fact>) {
        let chars = chars as u64;
        if self.ignore.leaves_out(line) {
            self.left.out(self.read, chars);
            return;
        }
        let known = facts.len();
        self.meter.push(line, facts);
        self.read += chars;
        let end = Chars(self.read + self.left.total);
        if facts.len() > known {
            let told: Vec<Fact> = facts.drain(known..).collect();
            facts.extend(told.into_iter().map(|fact| {
                let onset = self.left.place(fact.onset.count());
                fact.known_at(end, Chars(onset))
            }));
        }
    }
}

impl TextMeter for Lines {
    fn push(&mut self, piece: &str, facts: &mut Vec<Fact>) {
        let mut rest = piece;
        while !rest.is_empty() {
            let (part, chars) = up_to(rest, LINE_CHARS - self.chars);
            rest = &rest[part.len()..];
            let chars = self.chars + chars;
            let ends = chars == LINE_CHARS || part.ends_with('\n');
            if ends && self.chars == 0 {
                self.end((part, chars), facts);
                continue;
            }
            self.line.push_str(part);
            self.chars = chars;
            if ends {
                let line = std::mem::take(&mut self.line);
                self.end((&line, chars), facts);
                self.line = line;
                self.line.clear();
                self.chars = 0;
            }
        }
    }
}

/// The beginning of a text up to its first line end, at most `most` chars of it, and how many they are.
fn up_to(text: &str, most: usize) -> (&str, usize) {
    let line = text.find('\n').map_or(text, |end| &text[..=end]);
    if line.len() <= most {
        return (line, line.chars().count());
    }
    let end = line.char_indices().nth(most);
    let part = end.map_or(line, |(end, _)| &line[..end]);
    (part, part.chars().count())
}

/// Where text was left out.
#[derive(Default)]
struct Left {
    /// The chars that were read before a place, and all that was left out up to there; both rise.
    places: VecDeque<(u64, u64)>,
    /// What was left out before the places that are remembered.
    before: u64,
    /// All that was left out.
    total: u64,
}

impl Left {
    fn out(&mut self, read: u64, chars: u64) {
        self.total += chars;
        match self.places.back_mut() {
            Some((at, total)) if *at == read => *total = self.total,
            _ => self.places.push_back((read, self.total)),
        }
        if self.places.len() > PLACES {
            self.before = self.places.pop_front().map_or(0, |(_, total)| total);
        }
    }

    /// The position in the text of the char before which `read` chars were read. Only the newest places are remembered: the
    /// position of an older char comes out too large.
    fn place(&self, read: u64) -> u64 {
        let after = self.places.partition_point(|(at, _)| *at <= read);
        let last = after.checked_sub(1).and_then(|i| self.places.get(i));
        read + last.map_or(self.before, |(_, total)| *total)
    }
}
