//! Excerpts around the explained places, with their marks and copies.

use std::ops::Range;

use deadloop_detect::Channel;
use deadloop_score::{ExcerptPart, Span};
use serde::Serialize;

use super::copies::{copies, exact_copies};
use super::near_misses::FactSight;

/// A part of a channel's text.
#[derive(Clone, Debug, Serialize)]
pub struct Excerpt {
    /// The channel of the text.
    pub channel: Channel,
    /// The index of the first char in the channel.
    pub from: u64,
    /// The chars of the excerpt.
    pub text: String,
    /// The length of the whole channel, in chars.
    pub of: u64,
    /// The copies of the repeated unit, as ranges of the channel. The first and the last may reach beyond the
    /// excerpt.
    pub copies: Vec<Range<u64>>,
    /// The marked events inside the excerpt.
    pub marks: Vec<ExcerptMark>,
}

/// An event at a char.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ExcerptMark {
    /// The index of the marked char. For an event that begins at a char this is `position`. For an event that follows
    /// `position` chars it is the last of them.
    pub at: u64,
    /// The printed position, in chars of the channel.
    pub position: u64,
    /// The description of the event.
    pub what: &'static str,
}

/// The input for the excerpts of a channel.
pub struct ExcerptSource<'a> {
    /// The channel.
    pub channel: Channel,
    /// The whole text.
    pub text: &'a str,
    /// The marks around which excerpts are cut.
    pub marks: Vec<ExcerptMark>,
    /// The fact whose copies are shown.
    pub sight: Option<&'a FactSight>,
    /// The labelled loop, whose copies are shown if the fact has no copies.
    pub span: Option<&'a Span>,
}

impl ExcerptSource<'_> {
    /// Cuts the text around the marks, `context` chars before and after each. Excerpts that touch are joined.
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
            copies: self.copies(&chars, &part),
            marks,
        };
        parts.into_iter().map(excerpt).collect()
    }

    fn copies(&self, chars: &[char], part: &Range<u64>) -> Vec<Range<u64>> {
        let seen = |copies: Vec<Range<u64>>| {
            let overlaps = |c: &Range<u64>| c.start < part.end && part.start < c.end;
            copies.into_iter().filter(overlaps).collect::<Vec<_>>()
        };
        let of_fact = self.sight.map(|sight| {
            // A unit is seen by its return, so the copies go on to where the fact was seen or the excerpt ends.
            let end = part.end.max(sight.position.count());
            seen(copies(chars, sight, end))
        });
        if let Some(found) = of_fact.filter(|found| !found.is_empty()) {
            return found;
        }
        let labelled = self.span.and_then(|span| {
            let start = span.onset.count().saturating_sub(span.period?);
            let copies = exact_copies(chars, start, span.period?, part.end.min(span.end.count()));
            (copies.len() >= 2).then(|| seen(copies))
        });
        labelled.unwrap_or_default()
    }
}

impl Excerpt {
    /// Returns the first `chars` chars, with up to `copies` of the copies.
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
