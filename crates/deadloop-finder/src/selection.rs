//! Chooses the repetitions of a text that a label can name.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use deadloop_detect::Kind;

use super::aperiodic_loops::soup;
use super::blanks::{before_blanks, floods};
use super::copy_starts::trim_to_copies;
use super::evidence::{
    StretchEnd, confidence, confidence_near, confidence_of_recycled, has_new_numbers, is_data,
    is_long, is_row,
};
use super::exhausted_vocabulary::gone_since;
use super::known_phrases::stale_since;
use super::near_copies::find_recycled;
use super::views::{EXACT, NumberChange, TextStretch, View, list_number, stretches};
use super::windows::{WINDOW, windows};
use deadloop_corpus::Class;

/// The minimum number of chars of a stretch that is considered.
const MIN_CHARS: usize = 100;
/// The minimum number of copies in a stretch that is considered.
const MIN_COPIES: f64 = 2.5;
/// The minimum number of chars of a stretch whose copies differ.
const NEAR_CHARS: usize = 300;
/// The minimum confidence of a reported stretch.
const LIKELY: f64 = 0.5;
/// The maximum number of chars that may follow a repetition that reaches the end: a cut number, or marks.
const SLACK: usize = 8;
/// The minimum number of chars by which a repetition must begin earlier to lead into another.
const LEAD: usize = 20;
/// The minimum number of chars by which stale text must begin earlier to lead into a loop.
const STALE: usize = 300;
/// The maximum number of end marks of an ordinary recording. More of them are a loop.
const MARKS: usize = 3;
/// A stretch in a more exact view is preferred if the longest one is at most this many times longer.
const MOST: usize = 4;
/// The number of copies at the end of a text below which their likeness may be chance.
const FEW: f64 = 8.0;
/// The minimum period, in chars, of a paragraph.
const PARAGRAPH: usize = 40;
/// End marks of recordings, which are not part of the model's text.
const END_MARKS: [&str; 6] = [
    "</s>",
    "<|endoftext|>",
    "<|im_end|>",
    "<|eot_id|>",
    "... (truncated)",
    "...(truncated)",
];

/// A stretch that a label can name. Positions are chars from the start of the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FoundSpan {
    /// The first char of the first copy.
    pub start: usize,
    /// The first char of the second copy.
    pub onset: usize,
    /// If another repetition leads into this one, the first char of its second copy.
    pub earliest: Option<usize>,
    /// The position after the last char. `None` if the stretch lasts to the end.
    pub end: Option<usize>,
    /// The number of chars from the first copy to the second.
    pub period: usize,
    /// The number of copies. A cut last copy counts in part.
    pub copies: f64,
    /// The kind of loop.
    pub kind: Kind,
    /// The confidence that this is a relevant repetition, from 0 to 1.
    pub confidence: f64,
    /// The differences between the numbers in the copies, list numbers aside.
    pub numbers: NumberChange,
    /// Whether the copies may have been requested: they differ and do not recur, or are rows of a table, data or markup.
    pub asked: bool,
}

/// The repetitions found in a text.
#[derive(Clone, Debug, PartialEq)]
pub struct TextFindings {
    /// The class of the text.
    pub class: Class,
    /// The confidence in the class, from 0 to 1.
    pub confidence: f64,
    /// The repetitions, in order. One that reaches the end is last.
    pub spans: Vec<FoundSpan>,
    /// The likeliest rejected repetition, if the text was found clean.
    pub doubt: Option<FoundSpan>,
}

impl TextFindings {
    /// Drops the repetitions that may have been requested, since the model ended the text itself. A text without others
    /// is clean, with the least confidence.
    pub fn ended_by_model(&mut self) {
        let likelier = |a: &FoundSpan, b: &FoundSpan| a.confidence.total_cmp(&b.confidence);
        let asked = self.spans.extract_if(.., |span| span.asked);
        let Some(doubt) = asked.max_by(likelier) else {
            return;
        };
        let best = self.spans.iter().map(|span| span.confidence);
        (self.class, self.confidence) = match self.spans.last() {
            Some(last) if last.end.is_none() => return,
            Some(_) => (Class::Transient, best.fold(0.0, f64::max)),
            None => (Class::Clean, 1.0 - LIKELY),
        };
        if self.spans.is_empty() {
            self.doubt = Some(doubt);
        }
    }
}

/// Finds the loops of a text. A text of over 1,048,576 chars is searched in windows of that length, so that memory
/// has a bound.
pub fn find(text: &str) -> TextFindings {
    windows(text, WINDOW, examine)
}

/// Examines a text, or a window of a longer one. `last` is set if the window ends with the text.
pub(super) fn examine(chars: &[char], last: bool) -> TextFindings {
    let body = &chars[..body(chars)];
    let candidates = candidates(body);
    let mut tail = tail(body, &candidates);
    let until = tail
        .as_ref()
        .map_or(body.len(), |t| t.earliest.unwrap_or(t.onset));
    let mut spans = ended_repetitions(body, &candidates, until);
    if tail.is_none() && last {
        tail = never_back(body, &candidates, &mut spans).or_else(|| take_drawn(body, &mut spans));
    }
    let likeliest = |a: &&RatedStretch, b: &&RatedStretch| a.confidence.total_cmp(&b.confidence);
    let doubt = candidates.iter().max_by(likeliest);
    let best = |all: &[FoundSpan]| all.iter().map(|s| s.confidence).fold(0.0, f64::max);
    let (class, confidence) = match (&tail, spans.is_empty()) {
        (Some(tail), _) => (Class::Loop, tail.confidence),
        (None, false) => (Class::Transient, best(&spans)),
        (None, true) => (
            Class::Clean,
            1.0 - doubt.map_or(0.0, |c| c.confidence.min(LIKELY)),
        ),
    };
    let doubt = doubt.filter(|_| class == Class::Clean);
    let doubt = doubt.map(|c| span(body, c));
    spans.extend(tail);
    TextFindings {
        class,
        confidence,
        spans,
        doubt,
    }
}

/// A repetition, with the confidence that it is relevant.
struct RatedStretch {
    stretch: TextStretch,
    /// Whether it reaches the end of the text.
    reaches: bool,
    confidence: f64,
    /// The share of a copy that occurs in the copy before. 1 if the copies are alike in their view.
    alike: f64,
}

fn candidates(text: &[char]) -> Vec<RatedStretch> {
    let exact = EXACT
        .iter()
        .flat_map(|view| stretches(*view, text, 2.0, MIN_CHARS))
        .filter(|stretch| stretch.copies >= MIN_COPIES || is_long(stretch));
    let exact = exact.chain(floods(text)).map(|stretch| {
        let stretch = trim_to_copies(text, stretch);
        let ends = stretch_end(text, &stretch);
        let confidence = confidence(text, &stretch, ends);
        RatedStretch {
            stretch,
            reaches: ends != StretchEnd::Before,
            confidence,
            alike: 1.0,
        }
    });
    let near = find_recycled(text, MIN_COPIES, NEAR_CHARS)
        .into_iter()
        .map(|mut near| {
            near.stretch = trim_to_copies(text, near.stretch);
            if is_data(text, &near.stretch) {
                near.stretch.numbers = NumberChange::Data;
            }
            let ends = stretch_end(text, &near.stretch);
            let confidence = confidence_near(text, &near, ends);
            RatedStretch {
                stretch: near.stretch,
                reaches: ends != StretchEnd::Before,
                confidence,
                alike: near.alike,
            }
        });
    exact.chain(near).collect()
}

/// Returns the position at which the model's text ends, before trailing white space, broken chars and end marks.
fn body(text: &[char]) -> usize {
    let mut end = text.len();
    for left in (0..=MARKS).rev() {
        end = before_blanks(&text[..end]);
        let mark = END_MARKS.iter().find(|mark| {
            let mut chars = mark.chars().rev();
            let mut text = text[..end].iter().rev();
            chars.all(|c| text.next() == Some(&c))
        });
        match mark {
            Some(_) if left == 0 => return text.len(),
            Some(mark) => end -= mark.chars().count(),
            None => break,
        }
    }
    end
}

fn stretch_end(text: &[char], stretch: &TextStretch) -> StretchEnd {
    let rest = &text[stretch.end..];
    let rest = &rest[list_number(rest)..];
    if rest.len() > SLACK || rest.iter().any(|c| c.is_alphabetic()) {
        return StretchEnd::Before;
    }
    let over = stretch.length() % stretch.period();
    let slack = stretch.period() / 20 + 1;
    if over <= slack || over + slack >= stretch.period() {
        StretchEnd::Whole
    } else {
        StretchEnd::Cut
    }
}

/// Chooses a repetition that lasts to the end. It must be likely and not short compared with the longest. Of several
/// views, the most exact one is preferred.
fn tail(text: &[char], candidates: &[RatedStretch]) -> Option<FoundSpan> {
    let likely = || {
        candidates
            .iter()
            .filter(|c| c.reaches && c.confidence >= LIKELY)
    };
    let exact = || likely().filter(|c| c.stretch.view != View::Near);
    let near = likely().find(|c| c.stretch.view == View::Near);
    let longest = exact().map(|c| c.stretch.length()).max().unwrap_or(0);
    let most = exact().filter(|c| c.stretch.length() * MOST >= longest);
    let best = most.min_by_key(|c| (c.stretch.view, c.stretch.start));
    let list = |c: &RatedStretch| kind(text, &c.stretch) == Kind::OrderedList;
    let best = match (best, near) {
        (Some(best), Some(near)) if !list(best) && is_part_of(&near.stretch, &best.stretch) => near,
        (Some(best), _) => best,
        (None, near) => near?,
    };
    let mut span = span(text, best);
    span.end = None;
    span.earliest = lead(candidates, (best.stretch.start, best.stretch.onset));
    // A repetition that leads into the loop determines its beginning to the char.
    let begins = span.earliest.unwrap_or(span.onset);
    let stale = stale_since(text, begins);
    if stale + STALE <= begins {
        span.earliest = Some(stale);
    }
    Some(span)
}

/// Returns the first repetition after which a text does not return to prose, if there is one. It and all later ones are
/// removed from `spans`.
fn never_back(
    text: &[char],
    candidates: &[RatedStretch],
    spans: &mut Vec<FoundSpan>,
) -> Option<FoundSpan> {
    let first = gone_since(text, spans)?;
    let mut tail = spans.drain(first..).next()?;
    tail.end = None;
    // Repetitions that overlap it are not among the spans.
    tail.earliest = lead(candidates, (tail.start, tail.onset));
    Some(tail)
}

/// Returns the stretch of a few words in any order at the end of a text, if there is one. Spans that begin in it are
/// removed.
fn take_drawn(text: &[char], spans: &mut Vec<FoundSpan>) -> Option<FoundSpan> {
    let found = soup(text)?;
    let length = text.len() - found.start;
    let period = ((length as f64 / found.times) as usize).clamp(1, length - 1);
    spans.retain(|span| span.start < found.start);
    for span in spans.iter_mut() {
        span.end = span.end.map(|end| end.min(found.start.max(span.onset + 1)));
    }
    Some(FoundSpan {
        start: found.start,
        onset: found.start + period,
        earliest: None,
        end: None,
        period,
        copies: found.times,
        kind: Kind::NearRepeat,
        confidence: confidence_of_recycled(length, found.times),
        numbers: NumberChange::Same,
        asked: true,
    })
}

/// Returns whether equal copies at the end are only a part of a repetition whose copies differ. A few copies may be
/// equal by chance, and copies that alternate are equal again after a few copies. If there are enough equal copies,
/// they are the loop, and the repetition before them is its lead-in.
fn is_part_of(near: &TextStretch, alike: &TextStretch) -> bool {
    let before = alike.onset.saturating_sub(near.onset);
    let turns = near.start + alike.period() > alike.start && near.copies >= 1.9 * alike.copies;
    // A view that ignores the differences may find the first copy too late.
    let late = alike.view != View::Chars && near.start + 2 * alike.period() > alike.start;
    before > 0 && (alike.copies < FEW && (turns || before > alike.length()) || late)
}

/// Returns the onset of the first repetition that leads into the one with this start and onset.
fn lead(candidates: &[RatedStretch], (start, onset): (usize, usize)) -> Option<usize> {
    let leads = |c: &&RatedStretch| {
        let s = &c.stretch;
        let touches = s.end + SLACK >= start && s.onset + LEAD <= onset;
        // A repetition that leads into another repeats by itself before it.
        let before = (onset - s.onset.min(onset)) as f64;
        touches && c.alike >= 0.9 && c.confidence >= 0.4 && before >= s.period() as f64
    };
    candidates
        .iter()
        .filter(leads)
        .map(|c| c.stretch.onset)
        .min()
}

/// Returns the likely repetitions before `until` that ended. If some overlap, the longest is returned.
fn ended_repetitions(text: &[char], candidates: &[RatedStretch], until: usize) -> Vec<FoundSpan> {
    let over = |c: &&RatedStretch| {
        c.confidence >= LIKELY
            && !c.reaches
            && c.stretch.onset < until
            && c.stretch.view != View::Near
    };
    let mut all: Vec<&RatedStretch> = candidates.iter().filter(over).collect();
    all.sort_by_key(|c| (Reverse(c.stretch.length()), c.stretch.view));
    let mut taken: BTreeMap<usize, FoundSpan> = BTreeMap::new();
    for candidate in all {
        let (start, end) = (candidate.stretch.start, candidate.stretch.end.min(until));
        let before = taken.range(..end).next_back();
        let free = before.is_none_or(|(_, t)| t.end.is_some_and(|e| e <= start));
        if free && end > candidate.stretch.onset {
            let ended = FoundSpan {
                end: Some(end),
                ..span(text, candidate)
            };
            taken.insert(start, ended);
        }
    }
    taken.into_values().collect()
}

fn span(text: &[char], candidate: &RatedStretch) -> FoundSpan {
    let s = &candidate.stretch;
    FoundSpan {
        start: s.start,
        onset: s.onset,
        earliest: None,
        end: Some(s.end),
        period: s.period(),
        copies: s.copies,
        kind: kind(text, s),
        confidence: candidate.confidence,
        numbers: s.numbers,
        asked: s.view == View::Near
            || is_row(text, s)
            || s.numbers != NumberChange::Same && has_new_numbers(text, s),
    }
}

fn kind(text: &[char], stretch: &TextStretch) -> Kind {
    let begins = |at: &usize| *at == 0 || text[at - 1] == '\n';
    let numbered = |at: &usize| list_number(&text[*at..]) > 0;
    let items = (stretch.start..stretch.end)
        .filter(begins)
        .filter(numbered)
        .count();
    let exact = stretch.view == View::Chars;
    match stretch.period() {
        _ if !exact && (items as f64 >= 0.8 * stretch.copies || numbered(&stretch.start)) => {
            Kind::OrderedList
        }
        _ if !exact => Kind::NearRepeat,
        ..PARAGRAPH => Kind::ShortSequence,
        _ => Kind::Paragraph,
    }
}
