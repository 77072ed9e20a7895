//! Excerpts of a transcript for a reviewer, around the onset and the end of a label.

use std::ops::Range;

use deadloop_corpus::Transcript;
use deadloop_detect::{Channel, Chars};
use deadloop_finder::places::copies;
use deadloop_score::LabelRow;

use crate::explain::{Excerpt, ExcerptMark, ExcerptSource};

/// Returns excerpts around the marks of a label row, or the end of the text if the row has no onset.
pub fn excerpts(transcript: &Transcript, row: Option<&LabelRow>, context: u64) -> Vec<Excerpt> {
    let channel = row.and_then(|row| row.channel).unwrap_or({
        if transcript.answer().is_empty() {
            Channel::Reasoning
        } else {
            Channel::Answer
        }
    });
    let text = match channel {
        Channel::Reasoning => transcript.reasoning(),
        Channel::Answer => transcript.answer(),
        Channel::Arguments | Channel::Tools | Channel::Turns => return Vec::new(),
    };
    let length = Chars::count(&text).0;
    let source = ExcerptSource {
        channel,
        text: &text,
        marks: row_marks(row, length),
        sight: None,
        span: None,
    };
    let places = row.map_or(Vec::new(), |row| labelled_copies(row, &text, length));
    let mut excerpts = source.excerpts(context);
    for excerpt in &mut excerpts {
        let to = excerpt.from + Chars::count(&excerpt.text).0;
        let seen = places
            .iter()
            .filter(|place| place.start < to && excerpt.from < place.end);
        excerpt.copies = seen.cloned().collect();
    }
    excerpts
}

/// Returns the marks of a label row, and one at the end of the repetition or of the text.
fn row_marks(row: Option<&LabelRow>, length: u64) -> Vec<ExcerptMark> {
    let last = length.saturating_sub(1);
    let looped = row.and_then(|row| Some((row.onset?, row)));
    let end = looped.and_then(|(_, row)| row.end).unwrap_or(length);
    let mut marks = vec![ExcerptMark {
        // `end` is the first char after the repetition, so the char before it is marked.
        at: end.saturating_sub(1).min(last),
        position: end,
        what: if end < length {
            "end"
        } else {
            "end of the text"
        },
    }];
    if let Some((onset, row)) = looped {
        let named = [
            ("onset", Some(onset)),
            ("start", row.start),
            ("earliest", row.earliest),
        ];
        let mark = |(what, position): (&'static str, Option<u64>)| {
            let position = position?;
            Some(ExcerptMark {
                at: position.min(last),
                position,
                what,
            })
        };
        marks.extend(named.into_iter().filter_map(mark));
    }
    marks
}

/// Returns the copies of a labelled loop, as char ranges of the text.
fn labelled_copies(row: &LabelRow, text: &str, length: u64) -> Vec<Range<u64>> {
    let found = row.onset.and_then(|onset| {
        let start = row.start.or(onset.checked_sub(row.period?))?;
        Some((start, onset))
    });
    let Some((start, onset)) = found else {
        return Vec::new();
    };
    let index = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
    let chars: Vec<char> = text.chars().collect();
    let end = row.end.unwrap_or(length);
    let places = copies(&chars, index(start), index(onset), index(end)).into_iter();
    places
        .map(|place| place.start as u64..place.end as u64)
        .collect()
}
