//! [`Excerpt`]: the text around marked positions, with the copies of the repeated unit.

use std::ops::Range;

use deadloop_detect::Channel;
use deadloop_score::{ExcerptPart, Span};
use serde::Serialize;

use super::copies::{exact_copies, find_copies};
use super::near_misses::FactSight;

/// A part of the text of a channel.
#[derive(Clone, Debug, Serialize)]
pub struct Excerpt {
    /// The channel of the text.
    pub channel: Channel,
    /// The index in the channel of the first char of the excerpt.
    pub from: u64,
    /// The text of the excerpt.
    pub text: String,
    /// The length of the whole channel, in chars.
    pub of: u64,
    /// The copies of the repeated unit, as char ranges of the channel. The first and the last may reach beyond the
    /// excerpt.
    pub copies: Vec<Range<u64>>,
    /// The marked events inside the excerpt.
    pub marks: Vec<ExcerptMark>,
}

/// A mark at a char of an excerpt, such as an onset or an alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ExcerptMark {
    /// The index of the marked char: `position` for a start, or the last char before `position` for an end.
    pub at: u64,
    /// The position to print, in chars of the channel.
    pub position: u64,
    /// The description of the event.
    pub what: &'static str,
}

/// The text of a channel, and the marks and copies to show in its excerpts.
pub struct ExcerptSource<'a> {
    /// The channel.
    pub channel: Channel,
    /// The whole text of the channel.
    pub text: &'a str,
    /// The marks around which excerpts are cut.
    pub marks: Vec<ExcerptMark>,
    /// The fact whose copies are shown, if any.
    pub sight: Option<&'a FactSight>,
    /// The labelled loop. Its copies are shown if the fact has none.
    pub span: Option<&'a Span>,
}

impl ExcerptSource<'_> {
    /// Returns an excerpt around each mark, with `context` chars before and after it. Excerpts that touch are joined.
    pub fn excerpts(&self, context: u64) -> Vec<Excerpt> {
        let chars: Vec<char> = self.text.chars().collect();
        let length = chars.len() as u64;
        let mut marks = self.marks.clone();
        marks.sort();
        marks.dedup();
        let mut parts: Vec<(Range<u64>, Vec<ExcerptMark>)> = Vec::new();
        for mark in marks {
            let end = mark.at.saturating_add(context).saturating_add(1);
            let around = mark.at.saturating_sub(context)..end.min(length);
            match parts
                .last_mut()
                .filter(|(part, _)| around.start <= part.end)
            {
                Some((part, marks)) => {
                    part.end = part.end.max(around.end);
                    marks.push(mark);
                }
                None => parts.push((around, vec![mark])),
            }
        }
        let excerpt = |(part, marks): (Range<u64>, Vec<ExcerptMark>)| Excerpt {
            channel: self.channel,
            from: part.start,
            text: slice(&chars, &part).iter().collect(),
            of: length,
            copies: self.copies_within(&chars, &part),
            marks,
        };
        parts.into_iter().map(excerpt).collect()
    }

    fn copies_within(&self, chars: &[char], part: &Range<u64>) -> Vec<Range<u64>> {
        let visible = |copies: Vec<Range<u64>>| {
            let overlaps = |c: &Range<u64>| c.start < part.end && part.start < c.end;
            copies.into_iter().filter(overlaps).collect::<Vec<_>>()
        };
        let of_fact = self.sight.map(|sight| {
            // A unit is recognised when it returns, so its copies go on to the position of the fact or to the end of
            // the excerpt.
            let end = part.end.max(sight.position.count());
            visible(find_copies(chars, sight, end))
        });
        if let Some(found) = of_fact.filter(|found| !found.is_empty()) {
            return found;
        }
        let labelled = self.span.and_then(|span| {
            let start = span.onset.count().saturating_sub(span.period?);
            let copies = exact_copies(chars, start, span.period?, part.end.min(span.end.count()));
            (copies.len() >= 2).then(|| visible(copies))
        });
        labelled.unwrap_or_default()
    }
}

impl Excerpt {
    /// Returns the first `chars` chars of the excerpt, with at most `copies` of its copies.
    pub fn part(&self, chars: usize, copies: usize) -> ExcerptPart {
        let copies = self.copies.iter().take(copies);
        let end = self.from + chars as u64;
        let marks = self.marks.iter().filter(|mark| mark.at < end);
        ExcerptPart {
            channel: self.channel.to_string(),
            from: self.from,
            of: self.of,
            text: self.text.chars().take(chars).collect(),
            copies: copies.map(|copy| [copy.start, copy.end]).collect(),
            marks: marks
                .map(|mark| (mark.at, mark.position, mark.what.into()))
                .collect(),
        }
    }
}

fn slice<'c>(chars: &'c [char], part: &Range<u64>) -> &'c [char] {
    let index = |at: u64| usize::try_from(at).map_or(chars.len(), |at| at.min(chars.len()));
    &chars[index(part.start)..index(part.end)]
}
