//! The text of a transcript as runs of one style, without invisible chars.

use super::calls;
use crate::data::ReportData;
use crate::numbers::count;
use crate::visible::in_lines;
use deadloop_score::ExcerptPart;
use serde::Serialize;

/// A part of a transcript's text, prepared for the page.
#[derive(Debug, Clone, Serialize)]
pub(super) struct TextView {
    place: String,
    runs: Vec<StyledRun>,
}

/// A run of chars of one style.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct StyledRun {
    /// The annotations right before the run.
    pins: Vec<String>,
    /// The tint: `a` or `b` in turn for copies, otherwise empty.
    tint: &'static str,
    text: String,
}

/// Prepares a part of a transcript's text for the page.
pub(super) fn text_view(part: &ExcerptPart) -> TextView {
    let place = match part.channel.as_str() {
        // Positions of calls and turns do not count chars.
        channel @ ("tools" | "turns") => format!("{channel}, as text"),
        channel => format!(
            "{channel}, chars {} to {} of {}",
            count(part.from),
            count(part.from + part.text.chars().count() as u64),
            count(part.of)
        ),
    };
    TextView {
        place,
        runs: split_runs(part),
    }
}

/// Splits a part of a text into runs at its copies and annotations.
fn split_runs(part: &ExcerptPart) -> Vec<StyledRun> {
    let mut runs: Vec<StyledRun> = Vec::new();
    let mut copy = 0;
    for (at, c) in (part.from..).zip(part.text.chars()) {
        while part.copies.get(copy).is_some_and(|range| range[1] <= at) {
            copy += 1;
        }
        let inside = part.copies.get(copy).is_some_and(|range| range[0] <= at);
        let tint = match (inside, copy % 2) {
            (false, _) => "",
            (true, 0) => "a",
            (true, _) => "b",
        };
        let here = part.marks.iter().filter(|mark| mark.0 == at);
        let pins: Vec<String> = here
            .map(|(_, position, what)| format!("{what} {}", count(*position)))
            .collect();
        let starts = part.copies.get(copy).is_some_and(|range| range[0] == at);
        match runs
            .last_mut()
            .filter(|run| run.tint == tint && pins.is_empty() && !starts)
        {
            Some(run) => run.text.push_str(&in_lines(c)),
            None => runs.push(StyledRun {
                pins,
                tint,
                text: in_lines(c).into_owned(),
            }),
        }
    }
    runs
}

/// Hides the texts of transcripts. Letters become `x` or `X`, and digits become `0`.
///
/// White space, punctuation and copies are kept. Redacting twice is the same as once.
pub(crate) fn redact(data: &mut ReportData) {
    data.redacted = true;
    let Some((head, opened)) = &mut data.opened else {
        return;
    };
    head.redacted = true;
    for one in opened.iter_mut() {
        one.why = redact_quotes(&one.why, '"');
        one.remedy = redact_quotes(&one.remedy, '\'');
        for part in &mut one.parts {
            part.text = redact_text(&part.text);
        }
        one.calls.iter_mut().for_each(calls::redact);
    }
}

/// Hides every letter and digit of a text.
pub(super) fn redact_text(text: &str) -> String {
    text.chars().map(redact_char).collect()
}

fn redact_char(c: char) -> char {
    match c {
        c if c.is_numeric() => '0',
        c if c.is_uppercase() => 'X',
        c if c.is_alphabetic() => 'x',
        c => c,
    }
}

/// Hides the quoted text of a sentence, from the first quotation mark to the last.
///
/// A quotation mark inside the quoted text so cannot reveal a part of it.
fn redact_quotes(sentence: &str, mark: char) -> String {
    let (Some(first), Some(last)) = (sentence.find(mark), sentence.rfind(mark)) else {
        return sentence.to_owned();
    };
    let (before, rest) = sentence.split_at(first);
    let (quoted, after) = rest.split_at(last - first);
    let quoted: String = quoted.chars().map(redact_char).collect();
    format!("{before}{quoted}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadloop_score::{CallRecord, Group, OpenCase, RunCalls};

    fn part(text: &str) -> ExcerptPart {
        ExcerptPart {
            channel: "answer".into(),
            from: 10,
            of: 99,
            text: text.into(),
            copies: vec![[11, 13], [13, 15]],
            marks: vec![(13, 14, "second copy".into())],
        }
    }

    #[test]
    fn copies_alternate_and_pins_stand_before_their_char() {
        let shown = text_view(&part("xababy\u{202e}"));
        let runs: Vec<(&str, &str, usize)> = shown
            .runs
            .iter()
            .map(|run| (run.tint, run.text.as_str(), run.pins.len()))
            .collect();
        assert_eq!(
            runs,
            [
                ("", "x", 0),
                ("a", "ab", 0),
                ("b", "ab", 1),
                ("", "y\\u{202e}", 0)
            ]
        );
        assert_eq!(shown.place, "answer, chars 10 to 17 of 99");
    }

    #[test]
    fn redaction_keeps_the_structure() {
        let mut data = ReportData::default();
        let opened = OpenCase {
            transcript: "t".into(),
            group: Group::Miss,
            setting: String::new(),
            labels: Vec::new(),
            why: "3 copies of \"Ab \"1\"\", 4 asked for".into(),
            parts: vec![part("1. Ab想, cd\n")],
            looks_like: String::new(),
            unlabelled_loop: false,
            lang: None,
            remedy: "ignore = ['^Ab$'] lets it pass: 3 -> 1.".into(),
            calls: Some(RunCalls {
                list: vec![CallRecord {
                    arguments: "{\"q\":7}".into(),
                    result: "Ok".into(),
                    ..CallRecord::default()
                }],
                ..RunCalls::default()
            }),
        };
        data.opened = Some((Default::default(), vec![opened]));
        redact(&mut data);
        let (head, opened) = data.opened.unwrap();
        assert_eq!(opened[0].parts[0].text, "0. Xxx, xx\n");
        assert_eq!(opened[0].why, "3 copies of \"Xx \"0\"\", 4 asked for");
        assert_eq!(opened[0].remedy, "ignore = ['^Xx$'] lets it pass: 3 -> 1.");
        let call = &opened[0].calls.as_ref().unwrap().list[0];
        assert_eq!(
            (call.arguments.as_str(), call.result.as_str()),
            ("{\"x\":0}", "Xx")
        );
        assert!(head.redacted);
    }
}
