//! [`Ignore`]: the lines that a text detector ignores.
//!
//! [`LineMeter`]: a meter that skips these lines.

use std::collections::VecDeque;
use std::sync::Arc;

use regex::RegexSet;
use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::{Anchored, Input};

use crate::measure::fact::Fact;
use crate::measure::meter::TextMeter;
use crate::settings::param::{Domain, Param};
use crate::settings::value::Literal;
use crate::stream::Chars;

/// The parameter `ignore`, which every detector of repetition in a text has.
pub(crate) const IGNORE: Param = Param::new("ignore", Literal::Texts(&[]), Domain::Regexes)
    .doc("lines that are not read, as patterns (a white list)");

/// The maximum length of a line, in chars. A longer line is cut into pieces, each of which is a line. At most this many
/// chars are held back from a detector.
pub const LINE_CHARS: usize = 1000;

/// The maximum number of stored positions of omitted text. An onset before them is reported too late.
const MAX_OMISSIONS: usize = 1024;

/// Sample lines. A pattern that matches all of them is rejected, since a detector would read nothing.
const SAMPLES: [&str; 6] = ["", " ", "so 1", "思考。", "| 2 | x |", "-----"];

/// The patterns of lines that a text detector ignores.
///
/// A line ends with a line feed, which is not matched. A line is held back while a pattern may still match: if all
/// patterns begin with `^`, up to the first char after which none can match, otherwise up to its end. A line of more
/// than [`LINE_CHARS`] chars is cut into pieces. Ignored lines count for positions, but not for thresholds. Text after
/// the last line feed may be held back for good.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ignore {
    set: RegexSet,
    /// The automaton of the patterns, which matches a line char by char. `None` if a match may begin anywhere in a
    /// line.
    anchored: Option<Arc<DFA>>,
}

impl Ignore {
    /// Compiles a list of patterns.
    ///
    /// # Errors
    /// A pattern is not a regular expression, is too large, or matches every line.
    pub(crate) fn new(patterns: &[&str]) -> Result<Self, String> {
        if patterns.is_empty() {
            return Ok(Self::default());
        }
        let mut kept: Vec<&str> = Vec::new();
        for &pattern in patterns {
            crate::settings::param::pattern(pattern)?;
            if !kept.contains(&pattern) {
                kept.push(pattern);
            }
        }
        let set = RegexSet::new(&kept).map_err(|_| "the patterns are too large together")?;
        let all = |pattern: &&&str| {
            let one = RegexSet::new([**pattern]);
            one.is_ok_and(|one| SAMPLES.iter().all(|line| one.is_match(line)))
        };
        if let Some(pattern) = kept.iter().find(all) {
            return Err(format!(
                "{pattern:?} matches every line: the detector would read nothing"
            ));
        }
        let anchored = anchored_dfa(&kept).map(Arc::new);
        Ok(Self { set, anchored })
    }

    /// Returns whether there are no patterns.
    pub(crate) fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    /// Returns whether a line is ignored.
    fn is_ignored(&self, line: &str) -> bool {
        let line = line.strip_suffix('\n').unwrap_or(line);
        let line = line.strip_suffix('\r').unwrap_or(line);
        self.set.is_match(line)
    }
}

/// Returns an automaton of patterns that match only from the start of a line. `None` if a match may begin anywhere.
fn anchored_dfa(patterns: &[&str]) -> Option<DFA> {
    let config = DFA::config()
        .cache_capacity(CACHE)
        .skip_cache_capacity_check(true);
    let dfa = DFA::builder().configure(config).build_many(patterns).ok()?;
    dfa.get_nfa().is_always_start_anchored().then_some(dfa)
}

/// The approximate size of a stream's cache of automaton states, in bytes.
const CACHE: usize = 1 << 16;

/// The state of a partly read line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineState {
    /// A pattern can still match: the state, and whether the last char is a carriage return.
    Open(LazyStateID, bool),
    /// The line is matched at its end.
    Full,
    /// No pattern can match.
    Free,
}

/// A matcher of lines, char by char.
struct Follower {
    dfa: Arc<DFA>,
    cache: Cache,
}

impl Follower {
    fn new(dfa: Arc<DFA>) -> Self {
        let cache = dfa.create_cache();
        Self { dfa, cache }
    }

    /// Returns the state before the first char of a line.
    fn begin(&mut self) -> LineState {
        let input = Input::new("").anchored(Anchored::Yes);
        let state = self.dfa.start_state_forward(&mut self.cache, &input);
        state.map_or(LineState::Full, |state| LineState::Open(state, false))
    }

    fn step(&mut self, from: LineState, c: char) -> LineState {
        let LineState::Open(mut state, waits) = from else {
            return from;
        };
        let mut bytes = [0; 4];
        let bytes = match c {
            // A carriage return before a line feed is part of the line end.
            '\r' if !waits => return LineState::Open(state, true),
            '\n' => return LineState::Full,
            _ => c.encode_utf8(&mut bytes).bytes(),
        };
        for byte in waits.then_some(b'\r').into_iter().chain(bytes) {
            match self.dfa.next_state(&mut self.cache, state, byte) {
                Ok(next) if next.is_dead() => return LineState::Free,
                Ok(next) if next.is_match() || next.is_quit() => return LineState::Full,
                Ok(next) => state = next,
                Err(_) => return LineState::Full,
            }
        }
        LineState::Open(state, false)
    }
}

/// A meter that skips the ignored lines of a text.
pub(crate) struct LineMeter {
    ignore: Ignore,
    meter: Box<dyn TextMeter>,
    follower: Option<Follower>,
    beginning: LineState,
    /// The held back text of the current line, and the number of all chars of this line.
    line: String,
    chars: usize,
    /// The number of chars that `meter` has read.
    read: u64,
    left: OmittedText,
}

impl LineMeter {
    pub(crate) fn new(ignore: Ignore, meter: Box<dyn TextMeter>) -> Self {
        let mut follower = ignore.anchored.clone().map(Follower::new);
        let beginning = follower.as_mut().map_or(LineState::Full, Follower::begin);
        Self {
            ignore,
            meter,
            follower,
            beginning,
            line: String::new(),
            chars: 0,
            read: 0,
            left: OmittedText::default(),
        }
    }

    /// Reads or skips a complete line, or one that can no longer match a pattern.
    fn end(&mut self, line: &str, facts: &mut Vec<Fact>) {
        let chars = Chars::count(line).0;
        if self.beginning != LineState::Free && self.ignore.is_ignored(line) {
            self.left.omit(self.read, chars);
            return;
        }
        let known = facts.len();
        self.meter.push(line, facts);
        self.read += chars;
        let end = Chars(self.read + self.left.total);
        for fact in &mut facts[known..] {
            let onset = Chars(self.left.position(fact.onset.count()));
            *fact = fact.clone().last_step_at(end, onset);
        }
    }

    /// Reads text of a line that can no longer match a pattern.
    fn pass(&mut self, text: &str, facts: &mut Vec<Fact>) {
        let known = facts.len();
        self.meter.push(text, facts);
        self.read += Chars::count(text).0;
        for fact in &mut facts[known..] {
            let onset = Chars(self.left.position(fact.onset.count()));
            *fact = fact.clone().shifted(Chars(self.left.total));
            fact.onset = onset.into();
        }
    }

    /// Matches a part of a line. Returns the number of bytes after which no pattern can match. `None` if a pattern can
    /// still match.
    fn free_after(&mut self, part: &str) -> Option<usize> {
        let follower = self.follower.as_mut()?;
        for (at, c) in part.char_indices() {
            self.beginning = follower.step(self.beginning, c);
            match self.beginning {
                LineState::Open(..) => {}
                LineState::Full => return None,
                LineState::Free => return Some(at + c.len_utf8()),
            }
        }
        None
    }
}

impl TextMeter for LineMeter {
    fn push(&mut self, piece: &str, facts: &mut Vec<Fact>) {
        let mut rest = piece;
        while !rest.is_empty() {
            let (mut part, chars) = first_line(rest, LINE_CHARS - self.chars);
            rest = &rest[part.len()..];
            self.chars += chars;
            let ends = self.chars == LINE_CHARS || part.ends_with('\n');
            if self.beginning != LineState::Free
                && let Some(bytes) = self.free_after(part)
            {
                let mut line = std::mem::take(&mut self.line);
                line.push_str(&part[..bytes]);
                self.end(&line, facts);
                part = &part[bytes..];
            }
            if self.beginning == LineState::Free {
                if !part.is_empty() {
                    self.pass(part, facts);
                }
            } else {
                self.line.push_str(part);
                if ends {
                    let line = std::mem::take(&mut self.line);
                    self.end(&line, facts);
                    self.line = line;
                    self.line.clear();
                }
            }
            if ends {
                self.chars = 0;
                if let Some(follower) = &mut self.follower {
                    self.beginning = follower.begin();
                }
            }
        }
    }
}

/// Returns the start of a text up to its first line feed, at most `most` chars, and the number of chars.
fn first_line(text: &str, most: usize) -> (&str, usize) {
    let line = text.find('\n').map_or(text, |end| &text[..=end]);
    if line.len() <= most {
        return (line, line.chars().count());
    }
    let end = line.char_indices().nth(most);
    let part = end.map_or(line, |(end, _)| &line[..end]);
    (part, part.chars().count())
}

/// The positions and lengths of omitted text.
#[derive(Default)]
struct OmittedText {
    /// For each omission, the number of chars read before it, and of all chars omitted up to its end. Both rise.
    omissions: VecDeque<(u64, u64)>,
    /// The number of chars omitted before the stored omissions.
    before: u64,
    /// The number of all omitted chars.
    total: u64,
}

impl OmittedText {
    fn omit(&mut self, read: u64, chars: u64) {
        self.total += chars;
        match self.omissions.back_mut() {
            Some((at, total)) if *at == read => *total = self.total,
            _ => self.omissions.push_back((read, self.total)),
        }
        if self.omissions.len() > MAX_OMISSIONS {
            self.before = self.omissions.pop_front().map_or(0, |(_, total)| total);
        }
    }

    /// Returns the position in the text of the char before which `read` chars were read. Before the stored omissions,
    /// the result is too large.
    fn position(&self, read: u64) -> u64 {
        let after = self.omissions.partition_point(|(at, _)| *at <= read);
        let last = after.checked_sub(1).and_then(|i| self.omissions.get(i));
        read + last.map_or(self.before, |(_, total)| *total)
    }
}
