//! Selects the repetitions of a text that a label can name.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use deadloop_detect::Kind;

use super::aperiodic_loops::find_aperiodic;
use super::blanks::{floods, visible_end};
use super::copy_starts::trim_to_copies;
use super::evidence::{
    StretchEnd, confidence, confidence_aperiodic, confidence_near, has_new_numbers, is_data,
    is_long, is_row,
};
use super::exhausted_vocabulary::first_without_news;
use super::known_phrases::known_from;
use super::near_copies::find_near_copies;
use super::views::{EXACT, NumberChange, TextStretch, View, list_number, stretches};
use super::windows::{WINDOW, search_windows};
use deadloop_corpus::Class;

/// The minimum length of a candidate, in chars.
const MIN_CHARS: usize = 100;
/// The minimum number of copies in a candidate.
const MIN_COPIES: f64 = 2.5;
/// The minimum length, in chars, of a candidate whose copies differ.
const NEAR_CHARS: usize = 300;
/// The minimum confidence of a reported repetition.
const MIN_CONFIDENCE: f64 = 0.5;
/// The maximum number of chars after a repetition that still counts as reaching the end: a cut number, or marks.
const MAX_REST: usize = 8;
/// The minimum number of chars by which a lead-in must begin before the repetition.
const MIN_LEAD: usize = 20;
/// The minimum number of chars by which known phrases must begin before the loop to move its beginning.
const MIN_KNOWN: usize = 300;
/// The maximum number of end marks of an ordinary recording. More of them are part of the text.
const MAX_END_MARKS: usize = 3;
/// The ratio to the longest repetition up to which one in a more exact view is preferred.
const LENGTH_RATIO: usize = 4;
/// The number of copies at the end of a text below which they may be equal by chance.
const CHANCE_COPIES: f64 = 8.0;
/// The minimum period, in chars, of a paragraph.
const PARAGRAPH: usize = 40;
/// End marks of recordings. They are not part of the model's text.
const END_MARKS: [&str; 6] = [
    "</s>",
    "<|endoftext|>",
    "<|im_end|>",
    "<|eot_id|>",
    "... (truncated)",
    "...(truncated)",
];

/// A repetition that a label can name. Positions are chars from the start of the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FoundSpan {
    /// The first char of the first copy.
    pub start: usize,
    /// The first char of the second copy.
    pub onset: usize,
    /// The onset of an earlier repetition that leads into this one.
    pub earliest: Option<usize>,
    /// The position after the last char. `None` if the repetition lasts to the end.
    pub end: Option<usize>,
    /// The number of chars from the first copy to the second.
    pub period: usize,
    /// The number of copies. A cut last copy counts in part.
    pub copies: f64,
    /// The kind of loop.
    pub kind: Kind,
    /// The confidence that this is a loop, from 0 to 1.
    pub confidence: f64,
    /// The change of the numbers from copy to copy, list numbers aside.
    pub numbers: NumberChange,
    /// Whether the user may have requested the copies: they differ, or are rows of a table, data or markup.
    pub may_be_requested: bool,
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
    /// Drops the repetitions that may have been requested. It is meant for texts ended by the model itself. If none is
    /// left, the text is clean, with the lowest confidence.
    pub fn drop_requested(&mut self) {
        let likelier = |a: &FoundSpan, b: &FoundSpan| a.confidence.total_cmp(&b.confidence);
        let requested = self.spans.extract_if(.., |span| span.may_be_requested);
        let Some(doubt) = requested.max_by(likelier) else {
            return;
        };
        let best = self.spans.iter().map(|span| span.confidence);
        (self.class, self.confidence) = match self.spans.last() {
            Some(last) if last.end.is_none() => return,
            Some(_) => (Class::Transient, best.fold(0.0, f64::max)),
            None => (Class::Clean, 1.0 - MIN_CONFIDENCE),
        };
        if self.spans.is_empty() {
            self.doubt = Some(doubt);
        }
    }
}

/// Finds the loops of a text. A text of more than 1,048,576 chars is searched in windows of this length, to bound the
/// memory.
pub fn find(text: &str) -> TextFindings {
    search_windows(text, WINDOW, examine)
}

/// Finds the loops of a text, or of one window. `last` is set if the window is the end of the text.
pub(super) fn examine(chars: &[char], last: bool) -> TextFindings {
    let body = &chars[..model_end(chars)];
    let candidates = find_candidates(body);
    let mut tail = find_tail(body, &candidates);
    let until = tail
        .as_ref()
        .map_or(body.len(), |t| t.earliest.unwrap_or(t.onset));
    let mut spans = ended_repetitions(body, &candidates, until);
    if tail.is_none() && last {
        tail = take_exhausted_tail(body, &candidates, &mut spans)
            .or_else(|| take_aperiodic_tail(body, &mut spans));
    }
    let likeliest = |a: &&RatedStretch, b: &&RatedStretch| a.confidence.total_cmp(&b.confidence);
    let doubt = candidates.iter().max_by(likeliest);
    let best = |all: &[FoundSpan]| all.iter().map(|s| s.confidence).fold(0.0, f64::max);
    let (class, confidence) = match (&tail, spans.is_empty()) {
        (Some(tail), _) => (Class::Loop, tail.confidence),
        (None, false) => (Class::Transient, best(&spans)),
        (None, true) => (
            Class::Clean,
            1.0 - doubt.map_or(0.0, |c| c.confidence.min(MIN_CONFIDENCE)),
        ),
    };
    let doubt = doubt.filter(|_| class == Class::Clean);
    let doubt = doubt.map(|c| to_span(body, c));
    spans.extend(tail);
    TextFindings {
        class,
        confidence,
        spans,
        doubt,
    }
}

/// A repetition, with the confidence that it is a loop.
struct RatedStretch {
    stretch: TextStretch,
    /// Whether the repetition reaches the end of the text.
    reaches_end: bool,
    confidence: f64,
    /// The share of the symbols that match those of the copy before. 1 if the copies are equal in their view.
    likeness: f64,
}

/// Returns all repetitions of a text that are long enough.
fn find_candidates(text: &[char]) -> Vec<RatedStretch> {
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
            reaches_end: ends != StretchEnd::Before,
            confidence,
            likeness: 1.0,
        }
    });
    let near = find_near_copies(text, MIN_COPIES, NEAR_CHARS)
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
                reaches_end: ends != StretchEnd::Before,
                confidence,
                likeness: near.likeness,
            }
        });
    exact.chain(near).collect()
}

/// Returns the end of the model's text, without trailing white space, broken chars and end marks.
fn model_end(text: &[char]) -> usize {
    let mut end = text.len();
    for left in (0..=MAX_END_MARKS).rev() {
        end = visible_end(&text[..end]);
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

/// Returns how a stretch ends.
fn stretch_end(text: &[char], stretch: &TextStretch) -> StretchEnd {
    let rest = &text[stretch.end..];
    let rest = &rest[list_number(rest)..];
    if rest.len() > MAX_REST || rest.iter().any(|c| c.is_alphabetic()) {
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

/// Selects the loop at the end of the text. Of the likely repetitions that are not short compared with the longest, the
/// one in the most exact view is preferred.
fn find_tail(text: &[char], candidates: &[RatedStretch]) -> Option<FoundSpan> {
    let likely = || {
        candidates
            .iter()
            .filter(|c| c.reaches_end && c.confidence >= MIN_CONFIDENCE)
    };
    let exact = || likely().filter(|c| c.stretch.view != View::Near);
    let near = likely().find(|c| c.stretch.view == View::Near);
    let longest = exact().map(|c| c.stretch.length()).max().unwrap_or(0);
    let most = exact().filter(|c| c.stretch.length() * LENGTH_RATIO >= longest);
    let best = most.min_by_key(|c| (c.stretch.view, c.stretch.start));
    let list = |c: &RatedStretch| loop_kind(text, &c.stretch) == Kind::OrderedList;
    let best = match (best, near) {
        (Some(best), Some(near)) if !list(best) && is_part_of(&near.stretch, &best.stretch) => near,
        (Some(best), _) => best,
        (None, near) => near?,
    };
    let mut span = to_span(text, best);
    span.end = None;
    span.earliest = lead_in_onset(candidates, (best.stretch.start, best.stretch.onset));
    // The search for known phrases begins at the lead-in, whose onset is exact.
    let begins = span.earliest.unwrap_or(span.onset);
    let known = known_from(text, begins);
    if known + MIN_KNOWN <= begins {
        span.earliest = Some(known);
    }
    Some(span)
}

/// Returns the first repetition after which the text has no new words, as a loop. It and all later repetitions are
/// removed from `spans`.
fn take_exhausted_tail(
    text: &[char],
    candidates: &[RatedStretch],
    spans: &mut Vec<FoundSpan>,
) -> Option<FoundSpan> {
    let first = first_without_news(text, spans)?;
    let mut tail = spans.drain(first..).next()?;
    tail.end = None;
    // The spans are disjoint, so a lead-in that overlaps the loop is only among the candidates.
    tail.earliest = lead_in_onset(candidates, (tail.start, tail.onset));
    Some(tail)
}

/// Returns the loop without a period at the end of the text, if there is one. Spans that begin in it are removed.
fn take_aperiodic_tail(text: &[char], spans: &mut Vec<FoundSpan>) -> Option<FoundSpan> {
    let found = find_aperiodic(text)?;
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
        confidence: confidence_aperiodic(length, found.times),
        numbers: NumberChange::Same,
        may_be_requested: true,
    })
}

/// Returns whether the equal copies `alike` at the end are only a part of `near`, a repetition whose copies differ. A
/// few copies may be equal by chance, and copies that alternate are equal again after a few copies. With enough equal
/// copies, these are the loop, and the repetition before is its lead-in.
fn is_part_of(near: &TextStretch, alike: &TextStretch) -> bool {
    let before = alike.onset.saturating_sub(near.onset);
    let turns = near.start + alike.period() > alike.start && near.copies >= 1.9 * alike.copies;
    // A view that ignores differences may miss the first copy.
    let late = alike.view != View::Chars && near.start + 2 * alike.period() > alike.start;
    before > 0 && (alike.copies < CHANCE_COPIES && (turns || before > alike.length()) || late)
}

/// Returns the onset of the first repetition that leads into the repetition with this start and onset.
fn lead_in_onset(candidates: &[RatedStretch], (start, onset): (usize, usize)) -> Option<usize> {
    let leads = |c: &&RatedStretch| {
        let s = &c.stretch;
        let touches = s.end + MAX_REST >= start && s.onset + MIN_LEAD <= onset;
        // A lead-in has a complete second copy before the repetition begins.
        let before = (onset - s.onset.min(onset)) as f64;
        touches && c.likeness >= 0.9 && c.confidence >= 0.4 && before >= s.period() as f64
    };
    candidates
        .iter()
        .filter(leads)
        .map(|c| c.stretch.onset)
        .min()
}

/// Returns the likely repetitions that ended, up to `until`. Of several that overlap, the longest is returned.
fn ended_repetitions(text: &[char], candidates: &[RatedStretch], until: usize) -> Vec<FoundSpan> {
    let over = |c: &&RatedStretch| {
        c.confidence >= MIN_CONFIDENCE
            && !c.reaches_end
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
                ..to_span(text, candidate)
            };
            taken.insert(start, ended);
        }
    }
    taken.into_values().collect()
}

/// Converts a candidate to a span that ends.
fn to_span(text: &[char], candidate: &RatedStretch) -> FoundSpan {
    let s = &candidate.stretch;
    FoundSpan {
        start: s.start,
        onset: s.onset,
        earliest: None,
        end: Some(s.end),
        period: s.period(),
        copies: s.copies,
        kind: loop_kind(text, s),
        confidence: candidate.confidence,
        numbers: s.numbers,
        may_be_requested: s.view == View::Near
            || is_row(text, s)
            || s.numbers != NumberChange::Same && has_new_numbers(text, s),
    }
}

/// Returns the kind of loop.
fn loop_kind(text: &[char], stretch: &TextStretch) -> Kind {
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
