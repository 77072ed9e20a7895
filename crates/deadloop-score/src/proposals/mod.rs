//! The offline loop finder: proposed labels ([`propose`]) and second opinions ([`FinderReading`]).

use std::collections::BTreeSet;

use deadloop_finder::selection::{FoundSpan, TextFindings, find};
use deadloop_finder::steps::{RunFindings, RunSpan, find_run};
use deadloop_replay::corpus::{BenignSpan, Body, RecordedEvent, Transcript};
use deadloop_replay::detect::{Channel, Event};
use deadloop_replay::event_text;

use crate::truth::{Class, LabelRow};

pub use finder_reading::FinderReading;

mod finder_reading;

/// The confidence below which a proposed label is uncertain.
pub const DOUBTFUL: f64 = 0.75;
/// The factor on the confidence in a repetition that the model left at the end of a text.
const BROKEN_OFF_FACTOR: f64 = 0.8;
/// The finish reasons of responses that the model ended itself.
pub const BY_ITSELF: [&str; 5] = ["stop", "end_turn", "eos", "eos_token", "completed"];
/// The text in the finish reasons of servers that end a looping response, such as `repetition_detected` of vLLM.
const SERVER_STOP_REASON: &str = "repetition";
/// The factor on the doubt about a loop that the server reported as its reason to end the response.
const CONFIRMED_DOUBT_FACTOR: f64 = 0.5;

/// The labels proposed for one transcript.
#[derive(Debug, PartialEq)]
pub struct Proposal {
    /// The rows of labels, at least one.
    pub rows: Vec<LabelRow>,
    /// The class of the whole transcript.
    pub class: Class,
    /// The confidence in the class, from 0 to 1.
    pub confidence: f64,
    /// Whether the recording has a finish reason.
    pub finished: bool,
}

impl Proposal {
    /// Returns the id of the transcript.
    pub fn transcript(&self) -> &str {
        self.rows.first().map_or("", |row| &row.transcript)
    }
}

/// Proposes the labels of a transcript from a search of its text, its calls and its turns. Existing labels are not
/// used.
///
/// The search covers the text channels, the arguments of an incomplete last call, and the calls and turns of a run.
///
/// A repetition at the end of a channel is no loop if the model continued in another channel, or stopped on its own. If
/// it stopped on its own, copies that differ and rows of a table, data or markup may have been requested. Without other
/// repetitions, the text is then clean and uncertain. If a server ended the response because of a repetition, the
/// repetition at the end is a loop, with more confidence.
pub fn propose(transcript: &Transcript) -> Proposal {
    let run = find_run(transcript);
    let end = ResponseEnd::from_transcript(transcript);
    let is_stopped = end == ResponseEnd::ByItself;
    let texts = searched_texts(transcript, run.is_some());
    let found: Vec<(SearchText, TextFindings)> = texts
        .into_iter()
        .filter(|text| !text.text.is_empty())
        .map(|text| {
            let mut found = find(&text.text);
            if is_stopped {
                found.drop_requested();
            } else if text.is_last && end == ResponseEnd::ByServer {
                raise_confidence(&mut found);
            }
            (text, found)
        })
        .collect();
    let mut rows = Vec::new();
    for (text, found) in &found {
        let is_open = !is_stopped && text.is_last;
        let row = |span| text.make_row(&transcript.id, span, is_open);
        rows.extend(found.spans.iter().map(row));
    }
    let classes = found.iter().map(|(text, found)| {
        let is_left = is_stopped || !text.is_last;
        match (found.class, is_left) {
            (Class::Loop, true) => (Class::Transient, BROKEN_OFF_FACTOR * found.confidence),
            (class, _) => (class, found.confidence),
        }
    });
    let of_run = run.iter().map(|run| (run.class, run.confidence));
    let (class, confidence) = combine_classes(classes.chain(of_run));
    if let Some(run) = &run {
        rows.extend(run.spans.iter().map(|span| run_row(&transcript.id, span)));
    }
    if rows.is_empty() {
        let clean = LabelRow::new(&transcript.id, class, BY);
        let channel = run.as_ref().map(|run| run.channel);
        rows.push(LabelRow {
            note: format_note(confidence) + &run.as_ref().map(format_harmless).unwrap_or_default(),
            // Without calls, a chat is clean in chars and in turns, and so counts like a looping text.
            channel: channel.filter(|channel| *channel == Channel::Tools),
            ..clean
        });
    }
    Proposal {
        rows,
        class,
        confidence,
        finished: transcript.finish_reason().is_some(),
    }
}

/// Returns whether the finder finds a loop at one of `positions`, each a channel and a position in it.
///
/// The result equals that of [`FinderReading::at`] on the rows of [`propose`], at a lower cost. A loop in a text lasts
/// to the end of the transcript, so only the last text is searched. No text is searched if the model stopped on its
/// own.
pub(crate) fn sees_loop(transcript: &Transcript, positions: &BTreeSet<(Channel, u64)>) -> bool {
    let run = find_run(transcript);
    let spans = run.iter().flat_map(|run| &run.spans);
    let mut rows: Vec<LabelRow> = spans.map(|span| run_row(&transcript.id, span)).collect();
    if ResponseEnd::from_transcript(transcript) != ResponseEnd::ByItself {
        let channels: Vec<Channel> = positions.iter().map(|(channel, _)| *channel).collect();
        let texts = searched_texts(transcript, run.is_some()).into_iter();
        let texts = texts.filter(|text| text.is_last && !text.text.is_empty());
        for text in texts.filter(|text| channels.contains(&text.channel)) {
            let spans = find(&text.text).spans;
            rows.extend(
                spans
                    .iter()
                    .map(|span| text.make_row(&transcript.id, span, true)),
            );
        }
    }
    is_loop_at(&rows, positions)
}

/// Returns whether proposed rows have a loop at one of `positions`.
pub fn is_loop_at(rows: &[LabelRow], positions: &BTreeSet<(Channel, u64)>) -> bool {
    let mut positions = positions.iter();
    positions.any(|position| FinderReading::at(rows, Some(*position)).is_loop())
}

/// Builds the row of a span of repeated calls or turns.
fn run_row(id: &str, span: &RunSpan) -> LabelRow {
    LabelRow {
        kind: Some(span.kind),
        channel: Some(span.channel),
        start: Some(span.start),
        onset: Some(span.onset),
        end: span.end,
        period: span.period,
        note: format_note(span.confidence),
        ..LabelRow::new(id, span.class, BY)
    }
}

/// Formats the harmless repetitions of a run, to be added to a note.
fn format_harmless(run: &RunFindings) -> String {
    let one = |benign: &BenignSpan| format!("; {} {}-{}", benign.reason, benign.start, benign.end);
    run.benign.iter().map(one).collect()
}

/// A text of one channel, or of one turn of a channel, that is searched on its own.
struct SearchText {
    channel: Channel,
    /// Number of chars of the channel before the text.
    from: usize,
    text: String,
    /// Whether no text or call of another channel follows.
    is_last: bool,
    /// Whether another turn follows in the same channel.
    is_finished_turn: bool,
}

/// Returns the texts of a transcript that are searched. The texts of a run are split by turn.
fn searched_texts(transcript: &Transcript, is_run: bool) -> Vec<SearchText> {
    let last = transcript.events.iter().rev().find_map(output_channel);
    let texts = Channel::TEXT.into_iter().flat_map(|channel| {
        let mut texts = split_texts(transcript, channel, is_run);
        if let Some(text) = texts.last_mut() {
            text.is_last = last.is_none_or(|last| last == channel);
            text.is_finished_turn = false;
        }
        texts
    });
    texts.chain(incomplete_call_text(transcript)).collect()
}

/// Returns the arguments of the last call if they are incomplete: nothing follows them, and they are not valid JSON.
fn incomplete_call_text(transcript: &Transcript) -> Option<SearchText> {
    let mut events = transcript.events.iter().rev();
    let last = events.find(|event| !matches!(event.body, Body::Finish { .. }))?;
    matches!(last.body, Body::ToolCall { .. }).then_some(())?;
    let calls = transcript.stream().filter_map(|(_, event)| match event {
        Event::Call { arguments, .. } => Some(arguments.text().into_owned()),
        _ => None,
    });
    let mut calls: Vec<String> = calls.collect();
    let text = calls.pop()?;
    if serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok() {
        return None;
    }
    Some(SearchText {
        channel: Channel::Arguments,
        from: calls.iter().map(|call| call.chars().count()).sum(),
        text,
        is_last: true,
        is_finished_turn: false,
    })
}

/// Returns the texts of a channel. The texts of a run are split by turn.
fn split_texts(transcript: &Transcript, channel: Channel, is_run: bool) -> Vec<SearchText> {
    let piece = |from| SearchText {
        channel,
        from,
        text: String::new(),
        is_last: false,
        is_finished_turn: true,
    };
    let (mut at, mut pieces) = (0, vec![piece(0)]);
    for (_, event) in transcript.stream() {
        match event {
            Event::Turn { .. } if is_run => pieces.push(piece(at)),
            Event::Text(of, text) if of == channel => {
                at += text.chars().count();
                if let Some(piece) = pieces.last_mut() {
                    piece.text.push_str(text);
                }
            }
            _ => {}
        }
    }
    pieces
}

impl SearchText {
    /// Builds the row of a span of this text. If `is_open`, the model did not end the text.
    fn make_row(&self, id: &str, span: &FoundSpan, is_open: bool) -> LabelRow {
        let (class, confidence) = match (span.end, is_open) {
            (None, true) => (Class::Loop, span.confidence),
            (None, false) => (Class::Transient, BROKEN_OFF_FACTOR * span.confidence),
            (Some(_), _) => (Class::Transient, span.confidence),
        };
        let position = |at: usize| (self.from + at) as u64;
        // A repetition cannot last beyond a finished turn.
        let turn_end = self.is_finished_turn.then(|| self.text.chars().count());
        LabelRow {
            kind: Some(span.kind),
            channel: Some(self.channel),
            start: Some(position(span.start)),
            onset: Some(position(span.onset)),
            earliest: span.earliest.map(position),
            end: span.end.or(turn_end).map(position),
            period: Some(span.period as u64),
            note: format_note(confidence),
            ..LabelRow::new(id, class, BY)
        }
    }
}

/// The value of `by` in a row of labels that no person reviewed.
pub const BY: &str = "auto";

/// Returns the channel of an event with text or a call. `None` for other events.
fn output_channel(event: &RecordedEvent) -> Option<Channel> {
    if matches!(event.body, Body::ToolCall { .. }) {
        return Some(Channel::Tools);
    }
    let (channel, text) = event_text(event)?;
    (!text.trim().is_empty()).then_some(channel)
}

/// The party that ended a response, according to the finish reason.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ResponseEnd {
    /// The model ended it.
    ByItself,
    /// The server ended it because of a repetition.
    ByServer,
    /// A limit or a call ended it, or the party is unknown.
    Other,
}

impl ResponseEnd {
    fn from_transcript(transcript: &Transcript) -> Self {
        match transcript.finish_reason() {
            Some(reason) if BY_ITSELF.contains(&reason) => Self::ByItself,
            Some(reason) if reason.contains(SERVER_STOP_REASON) => Self::ByServer,
            _ => Self::Other,
        }
    }
}

/// Raises the confidence in the loop at the end of a response, if the server reported the loop.
fn raise_confidence(found: &mut TextFindings) {
    let raise = |confidence: f64| 1.0 - CONFIRMED_DOUBT_FACTOR * (1.0 - confidence);
    if found.class == Class::Loop {
        found.confidence = raise(found.confidence);
    }
    for span in found.spans.iter_mut().filter(|span| span.end.is_none()) {
        span.confidence = raise(span.confidence);
    }
}

/// Combines the classes of a transcript's channels with their confidences.
///
/// A loop wins over a transient repetition, which wins over no repetition. The confidence is the highest of the winning
/// class. For `clean` it is the lowest.
fn combine_classes(classes: impl Iterator<Item = (Class, f64)>) -> (Class, f64) {
    let all: Vec<(Class, f64)> = classes.collect();
    let confidences = |class: Class| all.iter().filter(move |c| c.0 == class).map(|c| c.1);
    for class in [Class::Loop, Class::Unsure, Class::Transient] {
        if let Some(confidence) = confidences(class).reduce(f64::max) {
            return (class, confidence);
        }
    }
    (Class::Clean, confidences(Class::Clean).fold(1.0, f64::min))
}

/// Returns the likeliest repetition of a transcript, even if it is improbable, as a row for a person to adjust.
pub fn doubt(transcript: &Transcript) -> Option<LabelRow> {
    let texts = searched_texts(transcript, find_run(transcript).is_some());
    let spans = texts.iter().flat_map(|text| {
        let found = find(&text.text);
        let spans = found.spans.into_iter().chain(found.doubt);
        spans.map(move |span| (text, span))
    });
    let likeliest = spans.max_by(|a, b| a.1.confidence.total_cmp(&b.1.confidence));
    likeliest.map(|(text, span)| text.make_row(&transcript.id, &span, true))
}

fn format_note(confidence: f64) -> String {
    format!("{CONFIDENCE}{confidence:.3}")
}

/// The beginning of the note of a proposed row, before the confidence.
pub const CONFIDENCE: &str = "confidence ";

/// Returns the confidence in a proposed row. `None` for other rows.
pub fn confidence(row: &LabelRow) -> Option<f64> {
    let rest = row.note.strip_prefix(CONFIDENCE)?;
    rest.split(';').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transcript(bodies: Vec<Body>) -> Transcript {
        Transcript {
            id: "t".into(),
            events: bodies.into_iter().map(RecordedEvent::new).collect(),
            ..Transcript::default()
        }
    }

    fn looping() -> String {
        format!(
            "A start. {}",
            "Let me think about it once more. ".repeat(20)
        )
    }

    #[test]
    fn a_loop_is_proposed_with_its_place_and_confidence() {
        let found = propose(&transcript(vec![Body::Answer(looping())]));
        assert_eq!(found.class, Class::Loop);
        let [row] = &found.rows[..] else {
            panic!("{:?}", found.rows)
        };
        assert_eq!((row.start, row.onset, row.end), (Some(9), Some(42), None));
        assert_eq!(row.period, Some(33));
        assert_eq!(row.by, "auto");
        let told = confidence(row).unwrap();
        assert!((told - found.confidence).abs() < 0.001 && told > 0.9);
    }

    #[test]
    fn a_model_that_went_on_to_answer_broke_off() {
        let bodies = vec![Body::Reasoning(looping()), Body::Answer("42".into())];
        let found = propose(&transcript(bodies));
        assert_eq!(found.class, Class::Transient);
        assert_eq!(found.rows[0].class, Class::Transient);
        assert_eq!(found.rows[0].channel, Some(Channel::Reasoning));
        let blank = vec![Body::Reasoning(looping()), Body::Answer(" \n".into())];
        assert_eq!(propose(&transcript(blank)).class, Class::Loop);
    }

    #[test]
    fn a_model_that_stopped_by_itself_got_out_and_one_that_was_cut_did_not() {
        let ended = |reason: &str| {
            let reason = Some(reason.to_owned());
            propose(&transcript(vec![
                Body::Answer(looping()),
                Body::Finish { reason },
            ]))
        };
        let found = ended("stop");
        assert_eq!(
            (found.class, found.rows[0].class),
            (Class::Transient, Class::Transient)
        );
        assert_eq!(found.rows[0].onset, Some(42));
        let cut = ended("length");
        assert_eq!(cut.class, Class::Loop);
        for verdict in ["repetition", "repetition_detected"] {
            let by_server = ended(verdict);
            assert_eq!(
                (by_server.class, by_server.rows[0].class),
                (Class::Loop, Class::Loop)
            );
            assert!(by_server.confidence > cut.confidence, "{verdict}");
            assert!(confidence(&by_server.rows[0]) > confidence(&cut.rows[0]));
        }
    }

    /// Checks that equal rows, and rows with different numbers, count as requested if the model ended the text.
    #[test]
    fn rows_of_a_text_that_the_model_ended_are_clean_and_uncertain() {
        let of = |text: &str, reason: &str| {
            let reason = Some(reason.to_owned());
            propose(&transcript(vec![
                Body::Answer(text.into()),
                Body::Finish { reason },
            ]))
        };
        let equal = format!("The plan:\n\n{}", "| open | open | open |\n".repeat(30));
        let row = |n: u32| format!("Sample {n} weighs {} grams.\n", n * 7919 % 900 + 100);
        let numbers = (100..220).map(row).collect::<String>() + "Sample";
        for text in [equal, numbers] {
            let found = of(&text, "stop");
            assert_eq!(found.class, Class::Clean, "{text}");
            assert!(found.confidence < DOUBTFUL);
            assert_eq!(of(&text, "length").class, Class::Loop, "{text}");
        }
    }

    #[test]
    fn a_loop_in_the_arguments_of_a_last_call_is_proposed() {
        let call = |arguments: String| Body::ToolCall {
            id: None,
            name: "write".into(),
            arguments: arguments.into(),
        };
        let begun = r#"{"path": "a.txt", "text": ""#;
        let looped = begun.to_owned() + &"The gate is closed. ".repeat(60);
        let found = propose(&transcript(vec![call("{}".into()), call(looped.clone())]));
        assert_eq!(found.class, Class::Loop);
        let row = &found.rows[0];
        let start = Some(2 + begun.len() as u64);
        assert_eq!((row.channel, row.start), (Some(Channel::Arguments), start));
        let closed = propose(&transcript(vec![call(looped + "\"}")]));
        assert_eq!(closed.class, Class::Clean);
    }

    /// Checks that a search of fewer positions has the same result at each position.
    #[test]
    fn a_loop_is_seen_where_all_that_is_proposed_has_one() {
        let text = |text: String| Body::Answer(text);
        let ended = |reason: &str| Body::Finish {
            reason: Some(reason.to_owned()),
        };
        let call = || Body::ToolCall {
            id: None,
            name: "look".into(),
            arguments: "{}".into(),
        };
        let prose = || "The sea is wide, and the hill above it stands alone.".to_owned();
        let left = || looping() + &prose();
        let all = [
            vec![],
            vec![text(looping())],
            vec![text(left())],
            vec![text(looping()), ended("stop")],
            vec![text(looping()), ended("length")],
            vec![text(looping()), ended("repetition")],
            vec![Body::Reasoning(looping()), text(prose())],
            vec![Body::Reasoning(prose()), text(looping())],
            vec![Body::Reasoning(looping())],
            vec![text(looping()), Body::Turn, text(prose())],
            vec![text(prose()), Body::Turn, text(looping())],
            (0..9).map(|_| call()).collect(),
        ];
        let mut seen = [0, 0];
        for bodies in all {
            let transcript = transcript(bodies);
            let rows = propose(&transcript).rows;
            for channel in Channel::ALL {
                for at in [0, 5, 41, 42, 300, 5_000] {
                    let says = sees_loop(&transcript, &BTreeSet::from([(channel, at)]));
                    let whole = FinderReading::at(&rows, Some((channel, at))).is_loop();
                    assert_eq!(says, whole, "{channel:?} {at} {rows:?}");
                    seen[usize::from(says)] += 1;
                }
            }
        }
        assert!(seen[0] > 50 && seen[1] > 10, "{seen:?}");
    }

    /// A server's word alone makes no loop of a text in which nothing repeats.
    #[test]
    fn a_verdict_about_nothing_is_no_loop() {
        let reason = Some("repetition".to_owned());
        let text = "The sea is wide, and the hill above it stands alone.".into();
        let bodies = vec![Body::Answer(text), Body::Finish { reason }];
        assert_eq!(propose(&transcript(bodies)).class, Class::Clean);
    }

    /// A corpus of chats has loops in chars. Its clean chats must count in chars too.
    #[test]
    fn a_clean_chat_counts_in_chars_and_in_turns() {
        let user = || Body::User("And then?".to_owned());
        let answer = || Body::Answer("The sea is wide.".to_owned());
        let chat = vec![user(), answer(), user(), answer()];
        let rows = propose(&transcript(chat.clone())).rows;
        assert_eq!((rows[0].class, rows[0].channel), (Class::Clean, None));
        let call = Body::ToolCall {
            id: None,
            name: "ls".into(),
            arguments: "{}".into(),
        };
        let run = chat.into_iter().chain([call]).collect();
        let rows = propose(&transcript(run)).rows;
        assert_eq!(rows[0].channel, Some(Channel::Tools));
    }

    #[test]
    fn nothing_is_clean_and_sure() {
        let found = propose(&transcript(Vec::new()));
        assert_eq!((found.class, found.confidence), (Class::Clean, 1.0));
        assert_eq!(found.rows[0].note, "confidence 1.000");
    }
}
