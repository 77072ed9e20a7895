//! [`Ignore`]: the white list of a text detector.
//!
//! [`LineMeter`] is the meter that leaves out the listed lines.

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

/// The maximum number of chars of a line that are matched against the patterns together. A longer line is cut into
/// pieces of this length, and each piece is a line of its own. At most this much of a text is held back from a
/// detector.
pub const LINE_CHARS: usize = 1000;

/// The number of remembered places at which text was left out. An onset before them is reported too late.
const PLACES: usize = 1024;

/// Example lines. A pattern that matches all of them is rejected, because it would blind the detector.
const ALL_KINDS: [&str; 6] = ["", " ", "so 1", "思考。", "| 2 | x |", "-----"];

/// The white list of a text detector. A line that one of its patterns matches is not read.
///
/// A line ends with a line feed. It is matched without its line end, and is held back while a pattern may still match
/// it. If all patterns begin with `^`, the line waits until the first char after which none can match. Otherwise the
/// line waits until its end, since a match may begin at any char. A line of more than [`LINE_CHARS`] chars is cut into
/// pieces of that length. Lines that are left out count for positions, but not for thresholds. Text after the last line
/// end waits for more text. If no more comes, no detector reads it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ignore {
    set: RegexSet,
    /// The automaton of the same patterns, which follows the beginning of a line. `None` if a pattern may begin
    /// anywhere in the line.
    begins: Option<Arc<DFA>>,
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
            one.is_ok_and(|one| ALL_KINDS.iter().all(|line| one.is_match(line)))
        };
        if let Some(pattern) = kept.iter().find(all) {
            return Err(format!(
                "{pattern:?} matches every line: the detector would read nothing"
            ));
        }
        let begins = follow(&kept).map(Arc::new);
        Ok(Self { set, begins })
    }

    /// Returns whether there is no pattern, so that no line is left out.
    pub(crate) fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    /// Returns whether a line is left out.
    fn leaves_out(&self, line: &str) -> bool {
        let line = line.strip_suffix('\n').unwrap_or(line);
        let line = line.strip_suffix('\r').unwrap_or(line);
        self.set.is_match(line)
    }
}

/// Returns an automaton of patterns that all match only from the beginning of a line. `None` if one may begin anywhere.
fn follow(patterns: &[&str]) -> Option<DFA> {
    let config = DFA::config()
        .cache_capacity(CACHE)
        .skip_cache_capacity_check(true);
    let dfa = DFA::builder().configure(config).build_many(patterns).ok()?;
    dfa.get_nfa().is_always_start_anchored().then_some(dfa)
}

/// The approximate bytes of automaton states that a stream keeps.
const CACHE: usize = 1 << 16;

/// The state of a line, as far as it has been followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineState {
    /// A pattern can match: the state, and whether a carriage return waits for the next char.
    Open(LazyStateID, bool),
    /// The line waits for its end.
    Waits,
    /// No pattern can match.
    Free,
}

/// Automaton that follows lines char by char.
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
        state.map_or(LineState::Waits, |state| LineState::Open(state, false))
    }

    fn step(&mut self, from: LineState, c: char) -> LineState {
        let LineState::Open(mut state, waits) = from else {
            return from;
        };
        let mut bytes = [0; 4];
        let bytes = match c {
            // Before a line feed it is part of the line end.
            '\r' if !waits => return LineState::Open(state, true),
            '\n' => return LineState::Waits,
            _ => c.encode_utf8(&mut bytes).bytes(),
        };
        for byte in waits.then_some(b'\r').into_iter().chain(bytes) {
            match self.dfa.next_state(&mut self.cache, state, byte) {
                Ok(next) if next.is_dead() => return LineState::Free,
                Ok(next) if next.is_match() || next.is_quit() => return LineState::Waits,
                Ok(next) => state = next,
                Err(_) => return LineState::Waits,
            }
        }
        LineState::Open(state, false)
    }
}

/// A meter that reads the lines of a text that are not on the white list.
pub(crate) struct LineMeter {
    ignore: Ignore,
    meter: Box<dyn TextMeter>,
    follower: Option<Follower>,
    beginning: LineState,
    /// The held back text of the current line, and the number of all its chars.
    line: String,
    chars: usize,
    /// The number of chars that `meter` has read.
    read: u64,
    left: OmittedText,
}

impl LineMeter {
    pub(crate) fn new(ignore: Ignore, meter: Box<dyn TextMeter>) -> Self {
        let mut follower = ignore.begins.clone().map(Follower::new);
        let beginning = follower.as_mut().map_or(LineState::Waits, Follower::begin);
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

    /// Reads a line, or leaves it out. The line is whole, or can no longer match a pattern.
    fn end(&mut self, line: &str, facts: &mut Vec<Fact>) {
        let chars = Chars::count(line).0;
        if self.beginning != LineState::Free && self.ignore.leaves_out(line) {
            self.left.leave_out(self.read, chars);
            return;
        }
        let known = facts.len();
        self.meter.push(line, facts);
        self.read += chars;
        let end = Chars(self.read + self.left.total);
        for fact in &mut facts[known..] {
            let onset = Chars(self.left.place(fact.onset.count()));
            *fact = fact.clone().known_at(end, onset);
        }
    }

    /// Reads text of a line that can no longer match a pattern.
    fn pass(&mut self, text: &str, facts: &mut Vec<Fact>) {
        let known = facts.len();
        self.meter.push(text, facts);
        self.read += Chars::count(text).0;
        for fact in &mut facts[known..] {
            let onset = Chars(self.left.place(fact.onset.count()));
            *fact = fact.clone().move_by(Chars(self.left.total));
            fact.onset = onset.into();
        }
    }

    /// Follows a part of a line until no pattern can match it. Returns the number of bytes up to that point. `None` if
    /// a pattern can still match.
    fn free_after(&mut self, part: &str) -> Option<usize> {
        let follower = self.follower.as_mut()?;
        for (at, c) in part.char_indices() {
            self.beginning = follower.step(self.beginning, c);
            match self.beginning {
                LineState::Open(..) => {}
                LineState::Waits => return None,
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
            let (mut part, chars) = up_to(rest, LINE_CHARS - self.chars);
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

/// Returns the beginning of a text up to its first line end, at most `most` chars, and the number of chars.
fn up_to(text: &str, most: usize) -> (&str, usize) {
    let line = text.find('\n').map_or(text, |end| &text[..=end]);
    if line.len() <= most {
        return (line, line.chars().count());
    }
    let end = line.char_indices().nth(most);
    let part = end.map_or(line, |(end, _)| &line[..end]);
    (part, part.chars().count())
}

/// The places at which text was left out.
#[derive(Default)]
struct OmittedText {
    /// For each place, the chars read before it and all chars left out up to it. Both rise.
    places: VecDeque<(u64, u64)>,
    /// The chars that were left out before the remembered places.
    before: u64,
    /// The chars that were left out in all.
    total: u64,
}

impl OmittedText {
    fn leave_out(&mut self, read: u64, chars: u64) {
        self.total += chars;
        match self.places.back_mut() {
            Some((at, total)) if *at == read => *total = self.total,
            _ => self.places.push_back((read, self.total)),
        }
        if self.places.len() > PLACES {
            self.before = self.places.pop_front().map_or(0, |(_, total)| total);
        }
    }

    /// Returns the position in the text of the char before which `read` chars were read. Only the newest places are
    /// remembered, so the position of an older char is too large.
    fn place(&self, read: u64) -> u64 {
        let after = self.places.partition_point(|(at, _)| *at <= read);
        let last = after.checked_sub(1).and_then(|i| self.places.get(i));
        read + last.map_or(self.before, |(_, total)| *total)
    }
}
