//! From everything that repeats in a text to what a label says of it.

use super::recycled::{Recycled, recycled};
use super::views::{EXACT, Stretch, View, list_number, stretches};

/// Chars that have to repeat, the first copy included.
const MIN_CHARS: usize = 200;
/// Copies that there have to be.
const MIN_COPIES: f64 = 3.0;
/// Chars that may follow a repetition that reaches the end: a number or an end mark that was cut.
const SLACK: usize = 8;
/// From this period on, in chars, the unit is a paragraph.
const PARAGRAPH: usize = 40;

/// What a text is, seen as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// It repeats itself to its end.
    Loop,
    /// It repeated itself, and went on to something else.
    Transient,
    /// Nothing repeats that matters.
    Clean,
}

impl Class {
    /// The name, as in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Loop => "loop",
            Self::Transient => "transient",
            Self::Clean => "clean",
        }
    }
}

/// What is repeated, and how the copies differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A unit of a few words.
    ShortSequence,
    /// A unit of a sentence or more.
    Paragraph,
    /// Items of a list whose numbers run on.
    OrderedList,
    /// Copies that differ by more than their numbers.
    NearRepeat,
}

impl Kind {
    /// The name, as in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::ShortSequence => "short-sequence",
            Self::Paragraph => "paragraph",
            Self::OrderedList => "ordered-list",
            Self::NearRepeat => "near-repeat",
        }
    }
}

/// A stretch that a label can name; positions in chars from the start of the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// The first char of the first copy.
    pub start: usize,
    /// The first char of the second copy.
    pub onset: usize,
    /// Where another repetition leads into this one: the first char of its second copy.
    pub earliest: Option<usize>,
    /// One past its last char; none: it goes on to the end.
    pub end: Option<usize>,
    /// Chars from the first copy to the second.
    pub period: usize,
    /// How often the unit stands in it, a cut last copy counted in part.
    pub copies: f64,
    /// What is repeated.
    pub kind: Kind,
    /// How sure it is that this is a repetition that matters, from 0 to 1.
    pub confidence: f64,
}

/// What was found in a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// What the text is.
    pub class: Class,
    /// How sure that is, from 0 to 1.
    pub confidence: f64,
    /// What repeats in it, in order; one that reaches the end is the last.
    pub spans: Vec<Span>,
}

/// Looks through a text.
pub fn find(text: &str) -> Found {
    let chars: Vec<char> = text.chars().collect();
    let blanks = chars.iter().rev().take_while(|c| c.is_whitespace()).count();
    let body = &chars[..chars.len() - blanks];
    let exact: Vec<Stretch> = EXACT
        .iter()
        .flat_map(|view| stretches(*view, body, MIN_COPIES, MIN_CHARS))
        .filter(|s| says(body, s))
        .collect();
    let near = recycled(body, MIN_CHARS);
    let tail = tail(body, &exact, &near);
    let until = tail
        .as_ref()
        .map_or(body.len(), |t| t.earliest.unwrap_or(t.onset));
    let mut spans = escaped(body, &exact, until);
    let class = match (&tail, spans.is_empty()) {
        (Some(_), _) => Class::Loop,
        (None, false) => Class::Transient,
        (None, true) => Class::Clean,
    };
    spans.extend(tail);
    Found {
        class,
        confidence: 1.0,
        spans,
    }
}

/// Whether a unit that was seen with numbers folded has words: rows of numbers are data.
fn says(text: &[char], stretch: &Stretch) -> bool {
    let unit = &text[stretch.start..stretch.onset];
    let letters = unit.iter().filter(|c| c.is_alphabetic()).count();
    stretch.view == View::Chars || letters >= 3
}

fn tail(text: &[char], exact: &[Stretch], near: &[Recycled]) -> Option<Span> {
    let reaches = |s: &&Stretch| s.end + SLACK >= text.len();
    let best = exact
        .iter()
        .filter(reaches)
        .min_by_key(|s| (s.start, s.view));
    let best = match best {
        Some(s) => {
            let r = s.start + s.period();
            exact
                .iter()
                .filter(reaches)
                .filter(|o| o.start <= r)
                .min_by_key(|o| (o.view, o.start))
                .copied()
        }
        None => {
            let n = near.iter().rfind(|n| n.stretch.end + SLACK >= text.len())?;
            (n.stretch.length() >= 600 && n.share > 0.85 && n.stretch.copies >= 4.0)
                .then_some(n.stretch)
        }
    }?;
    let mut span = span(text, &best);
    span.end = None;
    let lead = exact
        .iter()
        .chain(near.iter().filter(|n| n.share > 0.85).map(|n| &n.stretch))
        .filter(|s| s.onset < best.onset && s.end >= best.start)
        .map(|s| s.onset)
        .min();
    span.earliest = lead.filter(|l| *l + 20 < best.onset);
    Some(span)
}

fn escaped(text: &[char], exact: &[Stretch], until: usize) -> Vec<Span> {
    let mut all: Vec<&Stretch> = exact
        .iter()
        .filter(|s| s.end <= until + s.period() && s.onset < until)
        .collect();
    all.sort_by_key(|s| (std::cmp::Reverse(s.length()), s.view));
    let mut taken: Vec<Span> = Vec::new();
    for s in all {
        let free = taken
            .iter()
            .all(|t| s.end <= t.start || t.end.is_some_and(|e| e <= s.start));
        if free {
            taken.push(span(text, s));
        }
    }
    taken.sort_by_key(|t| t.start);
    taken
}

fn span(text: &[char], s: &Stretch) -> Span {
    Span {
        start: s.start,
        onset: s.onset,
        earliest: None,
        end: Some(s.end),
        period: s.period(),
        copies: s.copies,
        kind: kind(text, s),
        confidence: 1.0,
    }
}

fn kind(text: &[char], s: &Stretch) -> Kind {
    let lists = (s.start..s.end)
        .filter(|at| (*at == s.start || text[*at - 1] == '\n') && list_number(&text[*at..]) > 0)
        .count();
    match s.view {
        View::Near => Kind::NearRepeat,
        _ if lists as f64 >= s.copies * 0.8 => Kind::OrderedList,
        _ if s.period() < PARAGRAPH => Kind::ShortSequence,
        _ => Kind::Paragraph,
    }
}
