//! What a reviewer sees of a transcript: what the rows say of it, and the text around where it begins
//! to repeat and where it stops, its copies in alternating tint.

use std::ops::Range;

use deadloop_corpus::Transcript;
use deadloop_corpus::find::copies;
use deadloop_detect::{Channel, Chars, Kind};
use deadloop_score::{Class, LabelRow};

use super::session::Session;
use crate::commands::explain::{Excerpt, Mark, Paint, Source, painted};
use crate::show;
use crate::visible::visible;

/// What is pressed for what, in the order in which it is needed. `desk` reads the same keys.
pub(super) const KEYS: [(&str, &str); 13] = [
    ("Enter", "as proposed"),
    ("l", "loop"),
    ("c", "clean"),
    ("t", "transient"),
    ("u", "unsure"),
    ("< >", "onset by a char"),
    ("[ ]", "onset by a copy"),
    ("v", "the whole text"),
    ("space b", "page down, up"),
    ("z", "undo"),
    ("s", "skip"),
    ("?", "help"),
    ("q", "quit"),
];

/// What a reviewer has to know to answer.
pub(super) const HELP: &str = "\
A loop repeats until the text ends, or until something stops it. A transient repeats and then goes on by itself. Clean text
does neither; a table, a list or code that has to repeat is clean. Unsure is not scored.
The onset is the first char of the second copy: the earliest place where a repetition exists. Move it with < > and [ ].
The copies stand in turns in two tints (in brackets without colours). Each answer is saved at once; z takes it back.
\"not believed\" before a proposal: the finder saw this repetition and thinks that it is none.";

/// The keys as lines of at most `width` columns.
pub(super) fn keys(width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for (key, what) in KEYS {
        let one = format!("{key} {what}");
        let line = lines.last().map_or(0, String::len);
        match lines
            .last_mut()
            .filter(|_| line == 0 || line + 3 + one.len() <= width)
        {
            Some(last) if line == 0 => last.push_str(&one),
            Some(last) => last.push_str(&format!("   {one}")),
            None => lines.push(one),
        }
    }
    lines
}

/// The page about a transcript: its head is always in sight, of its text as much as there is room for.
pub(super) struct Page {
    /// Which transcript, and what is proposed for it.
    pub(super) head: Vec<String>,
    /// The text around the marks, or all of it.
    pub(super) text: String,
}

/// The page about the current transcript. `context`: chars around each mark; `None`: the whole text.
pub(super) fn page(
    transcript: &Transcript,
    session: &Session,
    context: Option<u64>,
    paint: Paint,
) -> Page {
    let (sure, at, of) = session.progress();
    let rows = session.shown();
    let class = session.class().map_or("", Class::name);
    // What is proposed stands first: names may be longer than a line.
    let mut head = vec![format!(
        "{} of {of}   proposed: {class}, confidence {sure:.3}   {}   {}",
        at + 1,
        visible(&transcript.id),
        visible(&transcript.model)
    )];
    for row in &rows {
        let doubted = class == Class::Clean.name() && row.class != Class::Clean;
        let lead = if doubted { "not believed: " } else { "" };
        head.push(format!("  {lead}{}", said(row)));
    }
    let mut text = String::new();
    for excerpt in excerpts(
        transcript,
        rows.first().copied(),
        context.unwrap_or(u64::MAX),
    ) {
        text.push_str(&format!(
            "\n{}, {} of {} chars\n{}",
            excerpt.channel.name(),
            show::count(excerpt.text.chars().count() as u64),
            show::count(excerpt.of),
            painted(&excerpt, paint)
        ));
    }
    Page { head, text }
}

/// A row in words.
fn said(row: &LabelRow) -> String {
    let mut words = vec![row.class.name().to_owned()];
    words.extend(row.kind.map(Kind::name).map(str::to_owned));
    words.extend(row.channel.map(Channel::name).map(str::to_owned));
    let places = [
        ("onset", row.onset),
        ("earliest", row.earliest),
        ("end", row.end),
        ("period", row.period),
    ];
    let told = places
        .iter()
        .filter_map(|(name, at)| Some(format!("{name} {}", show::count((*at)?))));
    words.extend(told);
    words.push(format!("(by {})", visible(&row.by)));
    words.join(" ")
}

/// The text around the marks of a row; of one without an onset, the end of what the model wrote.
fn excerpts(transcript: &Transcript, row: Option<&LabelRow>, context: u64) -> Vec<Excerpt> {
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
    let length = Chars::of(&text).0;
    let source = Source {
        channel,
        text: &text,
        marks: marks(row, length),
        sight: None,
        span: None,
    };
    let places = row.map_or(Vec::new(), |row| copies_of(row, &text, length));
    let mut excerpts = source.excerpts(context);
    for excerpt in &mut excerpts {
        let to = excerpt.from + Chars::of(&excerpt.text).0;
        let seen = places
            .iter()
            .filter(|place| place.start < to && excerpt.from < place.end);
        excerpt.copies = seen.cloned().collect();
    }
    excerpts
}

/// The positions that a row names, and the end of what repeats or of the text.
fn marks(row: Option<&LabelRow>, length: u64) -> Vec<Mark> {
    let last = length.saturating_sub(1);
    let looped = row.and_then(|row| Some((row.onset?, row)));
    let end = looped.and_then(|(_, row)| row.end).unwrap_or(length);
    let mut marks = vec![Mark {
        // The char before: an end is the first that does not belong.
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
            Some(Mark {
                at: position.min(last),
                position,
                what,
            })
        };
        marks.extend(named.into_iter().filter_map(mark));
    }
    marks
}

/// Where the copies of a labelled loop are in the text.
fn copies_of(row: &LabelRow, text: &str, length: u64) -> Vec<Range<u64>> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use deadloop_corpus::{Body, RecordedEvent};

    fn transcript(text: &str) -> Transcript {
        Transcript {
            id: "t\u{1b}[2J".into(),
            events: vec![RecordedEvent::of(Body::Answer(text.into()))],
            ..Transcript::default()
        }
    }

    fn shown(text: &str, row: LabelRow, context: u64) -> String {
        let session = Session::new(vec![row], "ann", (None, false));
        let page = page(
            &transcript(text),
            &session,
            Some(context),
            Paint::new(false, None),
        );
        page.head.join("\n") + &page.text
    }

    #[test]
    fn keys_fit_the_width_and_none_is_left_out() {
        for width in [20, 60, 80, 120] {
            let lines = keys(width);
            assert!(
                lines.iter().all(|line| line.len() <= width.max(24)),
                "{lines:?}"
            );
            let all = lines.join("   ");
            assert!(
                KEYS.iter()
                    .all(|(key, what)| all.contains(&format!("{key} {what}")))
            );
        }
    }

    #[test]
    fn copies_that_count_are_marked_around_onset_and_end() {
        let text: String = (1..40).map(|n| format!("{n}. again\n")).collect();
        let row = LabelRow {
            channel: Some(Channel::Answer),
            start: Some(0),
            onset: Some(9),
            period: Some(9),
            ..LabelRow::of("t", Class::Loop, "auto")
        };
        let page = shown(&text, row, 12);
        assert!(page.contains("⟦1. again⏎⟧"), "{page}");
        assert!(page.contains("⟦39. again⏎⟧"), "{page}");
        assert!(page.contains("onset: 9"), "{page}");
        assert!(
            page.contains("loop answer onset 9 period 9 (by auto)"),
            "{page}"
        );
    }

    #[test]
    fn a_clean_text_is_shown_at_its_end_and_nothing_in_it_is_obeyed() {
        let row = LabelRow::of("t", Class::Clean, "auto\u{7}");
        let page = shown("All is well.\u{1b}[31m", row, 40);
        assert!(page.contains("All is well.\\u{1b}[31m"), "{page}");
        assert!(
            !page.contains('\u{1b}') && !page.contains('\u{7}'),
            "{page:?}"
        );
        assert!(!shown("", LabelRow::of("t", Class::Clean, ""), 40).is_empty());
    }
}
