//! The meter: what is kept of the stream, when it is looked at, and the facts that are seen then.

use std::sync::Arc;

use regex::Regex;

use super::Bounds;
use super::period::{Match, matches};
use super::segment::{Cut, Elements, Segment};
use super::short::{Run, Units, runs};
use crate::fact::{Bound, Clock, Fact, Meter, Recipe, UNIT_CHARS};
use crate::fence::Fence;
use crate::position::{Chars, Kind};
use crate::setting::Params;

/// Keeps only the chars that the next checkpoint will read: at most the largest of `window`,
/// `segment` and the gaps between checkpoints. Before and between, text is counted and dropped.
struct CheckpointMeter {
    look: Arc<Look>,
    seen: u64,
    next: usize,
    buffer: String,
    fence: Fence,
}

/// What is looked at, and where, from the structural parameters.
struct Look {
    checkpoints: Vec<u64>,
    every: u64,
    /// For each listed checkpoint and the first after them: the first char that it or a later one
    /// reads.
    keep_from: Vec<u64>,
    window: u64,
    short_at_all: bool,
    units: Units,
    /// `None`: from the previous checkpoint.
    segment: Option<u64>,
    stepped: bool,
    drop_tail: bool,
    delimiters: Delimiters,
    marker: Option<Regex>,
    drop_blank_lines: bool,
    order: Order,
    code: Code,
    ignore: Vec<Regex>,
}

/// A set of chars, asked for every char of the text.
struct Delimiters {
    ascii: [bool; 128],
    other: Vec<char>,
}

impl Delimiters {
    fn new(chars: &str) -> Self {
        let ascii = std::array::from_fn(|byte| chars.bytes().any(|b| usize::from(b) == byte));
        let other = chars.chars().filter(|c| !c.is_ascii()).collect();
        Self { ascii, other }
    }

    fn hold(&self, c: char) -> bool {
        let ascii = self.ascii.get(c as usize).copied();
        ascii.unwrap_or_else(|| self.other.contains(&c))
    }
}

/// The kind where both period checks fire.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// The list's where a marker was removed in the repeated part, else the paragraph's.
    Marker,
    Paragraph,
    List,
}

/// What is done with text in code fences.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Code {
    Check,
    Skip,
    /// A `min_matches` of its own.
    Matches(i64),
}

impl Look {
    fn new(params: &Params) -> Self {
        let regex = |value: &crate::Value| value.as_text().and_then(|text| Regex::new(text).ok());
        let word = |name, word| params.text(name) == word;
        let listed = params
            .items("checkpoints")
            .iter()
            .filter_map(crate::Value::as_int);
        let look = Self {
            checkpoints: listed.map(i64::unsigned_abs).collect(),
            every: params.count("every"),
            keep_from: Vec::new(),
            window: params.count("window"),
            short_at_all: word("short_at", "all"),
            units: Units {
                aligned: word("short_align", "end"),
                cjk: word("unit_script", "cjk"),
                one_char: word("one_char", "count"),
            },
            segment: params
                .get("segment")
                .and_then(crate::Value::as_int)
                .map(i64::unsigned_abs),
            stepped: word("period_step", "period"),
            drop_tail: word("partial_tail", "drop"),
            delimiters: Delimiters::new(params.text("delimiters")),
            marker: params.get("list_marker").and_then(regex),
            drop_blank_lines: word("blank_lines", "drop"),
            order: match params.text("order") {
                "paragraph" => Order::Paragraph,
                "list" => Order::List,
                _ => Order::Marker,
            },
            code: match params.get("code").and_then(crate::Value::as_int) {
                Some(n) => Code::Matches(n),
                None if word("code", "skip") => Code::Skip,
                None => Code::Check,
            },
            ignore: params.items("ignore").iter().filter_map(regex).collect(),
        };
        Self {
            keep_from: look.all_keep_from(),
            ..look
        }
    }

    fn all_keep_from(&self) -> Vec<u64> {
        let last = self.checkpoints.len();
        let mut all: Vec<u64> = (0..=last).map(|i| self.reads_from(i)).collect();
        for i in (0..last).rev() {
            all[i] = all[i].min(all[i + 1]);
        }
        all
    }

    fn segment_start(&self, at: u64, previous: u64) -> u64 {
        self.segment.map_or(previous, |n| at.saturating_sub(n))
    }

    /// The position of checkpoint number `index`, if there is one.
    fn checkpoint(&self, index: usize) -> Option<u64> {
        let last = self.checkpoints.last()?;
        match self.checkpoints.get(index) {
            Some(at) => Some(*at),
            None if self.every == 0 => None,
            None => Some(last + self.every * (index + 1 - self.checkpoints.len()) as u64),
        }
    }

    fn previous(&self, index: usize) -> u64 {
        let before = index.checked_sub(1);
        before.and_then(|i| self.checkpoint(i)).unwrap_or(0)
    }

    /// The first char that checkpoint number `index` reads.
    fn reads_from(&self, index: usize) -> u64 {
        let Some(at) = self.checkpoint(index) else {
            return u64::MAX;
        };
        let short = self
            .looks_for_short(index)
            .then(|| at.saturating_sub(self.window));
        let period = (index > 0).then(|| self.segment_start(at, self.previous(index)));
        short.into_iter().chain(period).min().unwrap_or(at)
    }

    /// The first char that checkpoint number `index` or a later one reads. Past the listed ones each
    /// reads from further on than the one before, so the next decides.
    fn keep_from(&self, index: usize) -> u64 {
        let listed = self.keep_from.get(index).copied();
        listed.unwrap_or_else(|| self.reads_from(index))
    }

    fn looks_for_short(&self, index: usize) -> bool {
        index == 0 || self.short_at_all
    }
}

/// What checkpoint meters are made from.
pub(super) fn recipe(params: &Params) -> Recipe {
    let look = Arc::new(Look::new(params));
    Recipe::new(move || Box::new(CheckpointMeter::new(Arc::clone(&look))))
}

impl CheckpointMeter {
    fn new(look: Arc<Look>) -> Self {
        Self {
            look,
            seen: 0,
            next: 0,
            buffer: String::new(),
            fence: Fence::default(),
        }
    }

    /// Counts up to `count` chars of `text` without keeping them; gives back the rest.
    fn skip<'t>(&mut self, text: &'t str, count: u64) -> &'t str {
        let (head, rest, taken) = split_at_char(text, count);
        if self.look.code != Code::Check {
            self.fence.read(head);
        }
        self.seen += taken;
        rest
    }

    /// Keeps up to `count` chars of `text`; gives back the rest.
    fn take<'t>(&mut self, text: &'t str, count: u64) -> &'t str {
        let (head, rest, taken) = split_at_char(text, count);
        self.buffer.push_str(head);
        self.seen += taken;
        rest
    }

    /// Drops what no later checkpoint reads.
    fn forget(&mut self) {
        let kept = self.seen.saturating_sub(self.look.keep_from(self.next));
        let cut = self.buffer.len() - last_chars(&self.buffer, kept).len();
        if self.look.code != Code::Check {
            self.fence.read(&self.buffer[..cut]);
        }
        self.buffer.drain(..cut);
    }

    /// Everything that is seen at the checkpoint that was just reached.
    fn look(&self, facts: &mut Vec<Fact>) {
        let look = &self.look;
        if look.looks_for_short(self.next) {
            look.short(&self.last(look.window), facts);
        }
        if self.next > 0 {
            let start = look.segment_start(self.seen, look.previous(self.next));
            look.periods(&self.last(self.seen - start), facts);
        }
    }

    /// The last `count` chars before the checkpoint.
    fn last(&self, count: u64) -> Segment<'_> {
        let text = last_chars(&self.buffer, count);
        let from = self.buffer.len() - text.len();
        let parts = match self.look.code {
            Code::Check => vec![(0..text.len(), false)],
            code => {
                let keep = |(range, fenced): (std::ops::Range<usize>, bool)| {
                    let range = range.start.max(from) - from..range.end.max(from) - from;
                    let dropped = range.is_empty() || fenced && code == Code::Skip;
                    (!dropped).then_some((range, fenced))
                };
                self.fence
                    .parts(&self.buffer)
                    .into_iter()
                    .filter_map(keep)
                    .collect()
            }
        };
        Segment {
            text,
            start: self.seen - Chars::of(text).0,
            parts,
        }
    }
}

impl Meter for CheckpointMeter {
    fn push(&mut self, piece: &str, facts: &mut Vec<Fact>) {
        let mut rest = piece;
        while let (false, Some(at)) = (rest.is_empty(), self.look.checkpoint(self.next)) {
            let keep_from = self.look.keep_from(self.next);
            if self.seen < keep_from {
                rest = self.skip(rest, keep_from.min(at) - self.seen);
            } else {
                rest = self.take(rest, at - self.seen);
            }
            if self.seen == at {
                self.look(facts);
                self.next += 1;
                self.forget();
            }
        }
    }
}

impl Look {
    fn short(&self, window: &Segment<'_>, facts: &mut Vec<Fact>) {
        for (part, _) in &window.parts {
            let chars: Vec<char> = window.text[part.clone()].chars().collect();
            let start = window.start + Chars::of(&window.text[..part.start]).0;
            let at = Chars(window.start + Chars::of(window.text).0);
            let fact = |run| short_fact(run, &chars, start, at);
            facts.extend(runs(&chars, self.units).into_iter().map(fact));
        }
    }

    fn periods(&self, segment: &Segment<'_>, facts: &mut Vec<Fact>) {
        let at = Chars(segment.start + Chars::of(segment.text).0);
        let drop_tail = self.drop_tail;
        let block = Cut {
            marker: None,
            ignore: &self.ignore,
            drop_blank: true,
            drop_tail,
        };
        let line = Cut {
            marker: self.marker.as_ref(),
            drop_blank: self.drop_blank_lines,
            ..block
        };
        let blocks = segment.cut(|c| self.delimiters.hold(c), &block);
        let lines = segment.cut(|c| c == '\n', &line);
        let paragraphs = self.found(&blocks, (Kind::Paragraph, "paragraph", at));
        let lists = self.found(&lines, (Kind::OrderedList, "ordered-list", at));
        facts.extend(
            ordered(paragraphs, lists, self.order)
                .into_iter()
                .map(|f| f.fact()),
        );
    }

    /// Each period of these elements that some setting may accept, shortest first.
    fn found(
        &self,
        elements: &Elements<'_>,
        (kind, check, at): (Kind, &'static str, Chars),
    ) -> Vec<Found> {
        let with = |m: Match| {
            let tail = elements.tail(m.tail, m.period);
            let bounds = Bounds {
                min_matches: self.matches_bound(m, elements.last_fenced)?,
                min_cycles: to_i64(m.cycles),
                max_period: to_i64(m.period),
                ..Bounds::ALWAYS
            };
            Some(Found {
                bounds,
                marked: tail.marked,
                fact: Fact {
                    at: at.0,
                    until: at.0,
                    clock: Clock::Chars,
                    kind,
                    bounds: Vec::new(),
                    check,
                    onset: Chars(tail.onset),
                    period: Chars(tail.period),
                    copies: Bound::Fixed(to_i64(m.cycles)),
                    unit: tail.unit,
                },
            })
        };
        matches(&elements.ids, self.stepped)
            .into_iter()
            .filter_map(with)
            .collect()
    }

    /// The bound on `min_matches`; `None`: inside a fence, and below the number asked for there.
    fn matches_bound(&self, m: Match, fenced: bool) -> Option<i64> {
        match self.code {
            Code::Matches(n) if fenced => (to_i64(m.matches) >= n).then_some(i64::MAX),
            _ => Some(to_i64(m.matches)),
        }
    }
}

/// A fact before its bounds are final.
#[derive(Clone)]
struct Found {
    bounds: Bounds,
    marked: bool,
    fact: Fact,
}

impl Found {
    fn fact(self) -> Fact {
        Fact {
            bounds: self.bounds.to_vec(),
            ..self.fact
        }
    }
}

/// Puts what both period checks found at one checkpoint in the order in which a setting is to try
/// it, so that the first one it accepts carries the right kind.
///
/// With [`Order::Marker`] a list whose repeated part had no marker gives way to a paragraph that
/// fires too: "this list and that paragraph" is accepted by the settings that accept both, so it is
/// a fact of its own, with the stricter of each pair of bounds, and stands before the list.
fn ordered(paragraphs: Vec<Found>, lists: Vec<Found>, order: Order) -> Vec<Found> {
    match order {
        Order::Paragraph => [paragraphs, lists].concat(),
        Order::List => [lists, paragraphs].concat(),
        Order::Marker => {
            let both = |list: &Found| {
                let with = |p: &Found| Found {
                    bounds: p.bounds.both(list.bounds),
                    ..p.clone()
                };
                let yields = if list.marked {
                    &[][..]
                } else {
                    &paragraphs[..]
                };
                let mut found: Vec<Found> = yields.iter().map(with).collect();
                found.push(list.clone());
                found
            };
            let mut all: Vec<Found> = lists.iter().flat_map(both).collect();
            all.extend(paragraphs);
            all
        }
    }
}

fn short_fact(run: Run, chars: &[char], start: u64, at: Chars) -> Fact {
    let bounds = Bounds {
        min_unit: to_i64(run.unit),
        max_unit: to_i64(run.unit),
        min_repeats: to_i64(run.copies),
        ..Bounds::ALWAYS
    };
    Fact {
        at: at.0,
        until: at.0,
        clock: Clock::Chars,
        kind: Kind::ShortSequence,
        bounds: bounds.to_vec(),
        check: "short-sequence",
        onset: Chars(start + (run.start + run.unit) as u64),
        period: Chars(run.unit as u64),
        copies: Bound::Fixed(to_i64(run.copies)),
        unit: chars[run.start..run.start + run.unit]
            .iter()
            .take(UNIT_CHARS)
            .collect(),
    }
}

fn to_i64(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// Cuts `text` after `count` chars, or at its end: head, rest, chars in the head.
fn split_at_char(text: &str, count: u64) -> (&str, &str, u64) {
    let Some(last) = usize::try_from(count).ok().and_then(|n| n.checked_sub(1)) else {
        return ("", text, 0);
    };
    let mut chars = text.chars();
    match chars.nth(last) {
        Some(_) => {
            let rest = chars.as_str();
            (&text[..text.len() - rest.len()], rest, count)
        }
        None => (text, "", Chars::of(text).0),
    }
}

/// The last `count` chars of `text`, or all of it.
fn last_chars(text: &str, count: u64) -> &str {
    let Some(back) = usize::try_from(count).ok().and_then(|n| n.checked_sub(1)) else {
        return "";
    };
    text.char_indices()
        .rev()
        .nth(back)
        .map_or(text, |(byte, _)| &text[byte..])
}
