//! Formats a transcript for a reviewer.
//!
//! The page has the label rows of the transcript, and the text around the onset and the end, with copies in alternating
//! colours.

use deadloop_corpus::Transcript;
use deadloop_detect::{Channel, Kind};
use deadloop_run::explain::{Excerpt, Paint, render};
use deadloop_score::{Class, LabelRow};
use serde::Serialize;

use crate::show;
use deadloop_run::label::{KEYS, ReviewSession, excerpts};
use deadloop_run::visible::visible;

/// Formats the keys and their help as lines of at most `width` columns.
pub(super) fn key_lines(width: usize) -> Vec<String> {
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

/// The page of a transcript. The head is always visible, the text as far as it fits.
pub(super) struct Page {
    /// The lines on the transcript and its proposed labels.
    pub(super) head: Vec<String>,
    /// The excerpts around the marks, or the whole text.
    pub(super) text: String,
}

/// The head and the excerpts of a transcript, before they are formatted.
#[derive(Default)]
pub(super) struct TranscriptView {
    pub(super) head: Vec<String>,
    pub(super) excerpts: Vec<Excerpt>,
}

/// Returns the head and the excerpts of the current transcript. `context` is the number of chars around each mark, or
/// `None` for the whole text.
pub(super) fn view_of(
    transcript: &Transcript,
    session: &ReviewSession,
    context: Option<u64>,
) -> TranscriptView {
    let (sure, at, of) = session.progress();
    let rows = session.current_rows();
    let class = session.class().map_or("", Class::name);
    // The proposal comes first, since names may be longer than a line.
    let mut head = vec![format!(
        "{} of {of}   proposed: {class}, confidence {sure:.3}   {}   {}",
        at + 1,
        visible(&transcript.id),
        visible(&transcript.model)
    )];
    for row in &rows {
        let doubted = class == Class::Clean.name() && row.class != Class::Clean;
        let lead = if doubted { "not believed: " } else { "" };
        head.push(format!("  {lead}{}", format_row(row)));
    }
    let first = rows.first().copied();
    let excerpts = excerpts(transcript, first, context.unwrap_or(u64::MAX));
    TranscriptView { head, excerpts }
}

/// Formats the page of the current transcript. `context` is the number of chars around each mark, or `None` for the
/// whole text.
pub(super) fn format_page(
    transcript: &Transcript,
    session: &ReviewSession,
    context: Option<u64>,
    paint: Paint,
) -> Page {
    let TranscriptView { head, excerpts } = view_of(transcript, session, context);
    let mut text = String::new();
    for excerpt in excerpts {
        text.push_str(&format!(
            "\n{}\n{}",
            excerpt_heading(&excerpt),
            render(&excerpt, paint)
        ));
    }
    Page { head, text }
}

/// Formats the channel and the lengths of an excerpt.
fn excerpt_heading(excerpt: &Excerpt) -> String {
    format!(
        "{}, {} of {} chars",
        excerpt.channel.name(),
        show::count(excerpt.text.chars().count() as u64),
        show::count(excerpt.of)
    )
}

/// A piece of a text that is entirely inside one copy, or outside of copies.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct TintedText {
    pub(super) text: String,
    /// The background colour of the copy, 0 or 1. `None` outside of copies.
    pub(super) tint: Option<usize>,
    /// The marks at the first char, or an empty text.
    pub(super) marks: String,
}

/// Returns the heading of an excerpt, and its text in pieces with hidden chars escaped.
pub(super) fn tinted_pieces(excerpt: &Excerpt) -> (String, Vec<TintedText>) {
    let mut pieces: Vec<TintedText> = Vec::new();
    let mut last = None;
    for (at, c) in (excerpt.from..).zip(excerpt.text.chars()) {
        // Copies are in order and do not overlap.
        let copy = excerpt.copies.partition_point(|copy| copy.end <= at);
        let copies = excerpt.copies.get(copy);
        let copy = copies.filter(|copy| copy.contains(&at)).map(|_| copy);
        let here = excerpt.marks.iter().filter(|mark| mark.at == at);
        let marks: Vec<String> = here
            .map(|mark| format!("{}: {}", mark.what, show::count(mark.position)))
            .collect();
        if pieces.is_empty() || last != copy || !marks.is_empty() {
            pieces.push(TintedText {
                text: String::new(),
                tint: copy.map(|copy| copy % 2),
                marks: marks.join(", "),
            });
        }
        last = copy;
        if let Some(piece) = pieces.last_mut() {
            piece.text.push_str(&visible(c.encode_utf8(&mut [0; 4])));
            if c == '\n' {
                piece.text.push(c);
            }
        }
    }
    (excerpt_heading(excerpt), pieces)
}

/// Formats a label row in words.
fn format_row(row: &LabelRow) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use deadloop_corpus::{Body, RecordedEvent};
    use deadloop_run::explain::ExcerptMark;

    fn transcript(text: &str) -> Transcript {
        Transcript {
            id: "t\u{1b}[2J".into(),
            events: vec![RecordedEvent::new(Body::Answer(text.into()))],
            ..Transcript::default()
        }
    }

    fn as_shown(text: &str, row: LabelRow, context: u64) -> String {
        let session = ReviewSession::new(vec![row], "ann", None, false);
        let page = format_page(
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
            let lines = key_lines(width);
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
    fn pieces_are_the_text_with_nothing_hidden_cut_where_a_copy_or_a_mark_begins() {
        let excerpt = Excerpt {
            channel: Channel::Answer,
            from: 10,
            text: "ab\u{1b}ab\nab".into(),
            of: 99,
            copies: vec![10..13, 13..16],
            marks: vec![ExcerptMark {
                at: 14,
                position: 14,
                what: "onset",
            }],
        };
        let (place, pieces) = tinted_pieces(&excerpt);
        assert_eq!(place, "answer, 8 of 99 chars");
        let told: Vec<_> = pieces
            .iter()
            .map(|piece| (piece.text.as_str(), piece.tint, piece.marks.as_str()))
            .collect();
        let expected = [
            ("ab\\u{1b}", Some(0), ""),
            ("a", Some(1), ""),
            ("b⏎\n", Some(1), "onset: 14"),
            ("ab", None, ""),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn copies_that_count_are_marked_around_onset_and_end() {
        let text: String = (1..40).map(|n| format!("{n}. again\n")).collect();
        let row = LabelRow {
            channel: Some(Channel::Answer),
            start: Some(0),
            onset: Some(9),
            period: Some(9),
            ..LabelRow::new("t", Class::Loop, "auto")
        };
        let page = as_shown(&text, row, 12);
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
        let row = LabelRow::new("t", Class::Clean, "auto\u{7}");
        let page = as_shown("All is well.\u{1b}[31m", row, 40);
        assert!(page.contains("All is well.\\u{1b}[31m"), "{page}");
        assert!(
            !page.contains('\u{1b}') && !page.contains('\u{7}'),
            "{page:?}"
        );
        assert!(!as_shown("", LabelRow::new("t", Class::Clean, ""), 40).is_empty());
    }
}
