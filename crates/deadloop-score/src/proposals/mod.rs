//! The offline loop finder: proposed labels ([`propose`]) and second opinions ([`FinderReading`]).

use std::collections::BTreeSet;

use deadloop_finder::selection::{FoundSpan, TextFindings, find};
use deadloop_finder::steps::{RunFindings, RunSpan, find_run};
use deadloop_replay::corpus::{Benign, Body, RecordedEvent, Transcript};
use deadloop_replay::detect::{Channel, Event};
use deadloop_replay::text_of;

use crate::truth::{Class, LabelRow};

pub use finder_reading::FinderReading;

mod finder_reading;

/// The confidence below which a proposal is called uncertain.
pub const DOUBTFUL: f64 = 0.75;
/// The factor on the confidence in a loop if the model went on in another channel, by itself or because it was made to.
const BROKEN_OFF_FACTOR: f64 = 0.8;
/// The finish reasons of APIs for a response that the model ended itself.
pub const BY_ITSELF: [&str; 5] = ["stop", "end_turn", "eos", "eos_token", "completed"];
/// The text in the finish reasons of servers that end a looping response: vLLM's `repetition_detected`, mlx's
/// `repetition`.
const SERVER_REASON: &str = "repetition";
/// The factor on the doubt about a loop if the server ended the response for it.
const CONFIRMED_FACTOR: f64 = 0.5;

/// The rows proposed for one transcript.
#[derive(Debug, PartialEq)]
pub struct Proposal {
    /// The rows, at least one.
    pub rows: Vec<LabelRow>,
    /// The class of the whole transcript.
    pub class: Class,
    /// The confidence in the class, from 0 to 1.
    pub confidence: f64,
    /// Whether the recording has a finish reason.
    pub finished: bool,
}

impl Proposal {
    /// Returns the transcript's id.
    pub fn transcript(&self) -> &str {
        self.rows.first().map_or("", |row| &row.transcript)
    }
}

/// Searches the text channels of a transcript, the arguments of an incomplete last call, and the calls and turns
/// of a run. Labels are not used.
///
/// A repetition that lasts to the end of a channel is not a loop if the model left the repetition: if the model went on
/// in another channel, or stopped on its own. If the model stopped on its own, copies that differ and rows of a table,
/// data or markup may have been requested: without other repetitions, the text is clean and uncertain. If a server
/// ended the response for a repetition, the repetition at the end is a loop, with more confidence.
pub fn propose(transcript: &Transcript) -> Proposal {
    let run = find_run(transcript);
    let end = ResponseEnd::from_transcript(transcript);
    let stopped = end == ResponseEnd::ByItself;
    let texts = search_texts(transcript, run.is_some());
    let found: Vec<(SearchText, TextFindings)> = texts
        .into_iter()
        .filter(|text| !text.text.is_empty())
        .map(|text| {
            let mut found = find(&text.text);
            if stopped {
                found.ended_by_model();
            } else if text.last && end == ResponseEnd::ByServer {
                raise_confidence(&mut found);
            }
            (text, found)
        })
        .collect();
    let mut rows = Vec::new();
    for (text, found) in &found {
        let open = !stopped && text.last;
        let row = |span| text.make_row(&transcript.id, span, open);
        rows.extend(found.spans.iter().map(row));
    }
    let classes = found.iter().map(|(text, found)| {
        let left = stopped || !text.last;
        match (found.class, left) {
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
            // Without calls it is clean in chars and in turns, so that a chat counts like the text of a loop beside it.
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

/// Returns whether the finder sees a loop at one of these places, each a channel and a position in it.
///
/// The result equals that of [`FinderReading::at`] on all proposals of [`propose`], at a lower cost. A loop in a text
/// lasts to the end of the transcript, so only the last text is searched, and none if the model stopped on its own.
pub(crate) fn sees_loop(transcript: &Transcript, places: &BTreeSet<(Channel, u64)>) -> bool {
    let run = find_run(transcript);
    let stretches = run.iter().flat_map(|run| &run.spans);
    let mut rows: Vec<LabelRow> = stretches
        .map(|span| run_row(&transcript.id, span))
        .collect();
    if ResponseEnd::from_transcript(transcript) != ResponseEnd::ByItself {
        let asked = |text: &SearchText| places.iter().any(|(channel, _)| *channel == text.channel);
        let texts = search_texts(transcript, run.is_some()).into_iter();
        for text in texts.filter(|text| text.last && !text.text.is_empty() && asked(text)) {
            let spans = find(&text.text).spans;
            rows.extend(
                spans
                    .iter()
                    .map(|span| text.make_row(&transcript.id, span, true)),
            );
        }
    }
    is_loop_at(&rows, places)
}

/// Returns whether proposed rows have a loop at one of these places.
pub fn is_loop_at(rows: &[LabelRow], places: &BTreeSet<(Channel, u64)>) -> bool {
    let mut places = places.iter();
    places.any(|place| FinderReading::at(rows, Some(*place)).is_loop())
}

/// Builds the row of a stretch of calls or turns without anything new.
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

/// Formats the harmless repetitions of a clean run, for its note.
fn format_harmless(run: &RunFindings) -> String {
    let one = |benign: &Benign| format!("; {} {}-{}", benign.reason, benign.start, benign.end);
    run.benign.iter().map(one).collect()
}

/// A text that is searched alone.
struct SearchText {
    channel: Channel,
    /// Number of chars of the channel before the text.
    from: usize,
    text: String,
    /// Whether no other channel follows with text or calls.
    last: bool,
    /// Whether another turn follows.
    over: bool,
}

/// Returns the texts of a transcript by channel, or of a run by channel and turn, and the arguments of a last call.
fn search_texts(transcript: &Transcript, run: bool) -> Vec<SearchText> {
    let last = transcript.events.iter().rev().find_map(channel_of);
    let texts = Channel::TEXT.into_iter().flat_map(|channel| {
        let mut texts = split_texts(transcript, channel, run);
        if let Some(text) = texts.last_mut() {
            text.last = last.is_none_or(|last| last == channel);
            text.over = false;
        }
        texts
    });
    texts.chain(open_call_text(transcript)).collect()
}

/// Returns the arguments of the last call if they are not complete: nothing follows them, and they are no JSON.
fn open_call_text(transcript: &Transcript) -> Option<SearchText> {
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
        last: true,
        over: false,
    })
}

fn split_texts(transcript: &Transcript, channel: Channel, run: bool) -> Vec<SearchText> {
    let piece = |from| SearchText {
        channel,
        from,
        text: String::new(),
        last: false,
        over: true,
    };
    let (mut at, mut pieces) = (0, vec![piece(0)]);
    for (_, event) in transcript.stream() {
        match event {
            Event::Turn { .. } if run => pieces.push(piece(at)),
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
    /// Builds the row of a stretch of this text. `open` says that the model did not end the text, so a stretch that
    /// reaches the end of the text was not left.
    fn make_row(&self, id: &str, span: &FoundSpan, open: bool) -> LabelRow {
        let (class, confidence) = match (span.end, open) {
            (None, true) => (Class::Loop, span.confidence),
            (None, false) => (Class::Transient, BROKEN_OFF_FACTOR * span.confidence),
            (Some(_), _) => (Class::Transient, span.confidence),
        };
        let place = |at: usize| (self.from + at) as u64;
        // A turn that is over has an end, even if the run goes on.
        let over = self.over.then(|| self.text.chars().count());
        LabelRow {
            kind: Some(span.kind),
            channel: Some(self.channel),
            start: Some(place(span.start)),
            onset: Some(place(span.onset)),
            earliest: span.earliest.map(place),
            end: span.end.or(over).map(place),
            period: Some(span.period as u64),
            note: format_note(confidence),
            ..LabelRow::new(id, class, BY)
        }
    }
}

/// The value of `by` in a row of labels that no person reviewed.
pub const BY: &str = "auto";

/// Returns the channel of an event with text or a call.
fn channel_of(event: &RecordedEvent) -> Option<Channel> {
    if matches!(event.body, Body::ToolCall { .. }) {
        return Some(Channel::Tools);
    }
    let (channel, text) = text_of(event)?;
    (!text.trim().is_empty()).then_some(channel)
}

/// The party that ended a response, by the stream's finish reason.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ResponseEnd {
    /// The model.
    ByItself,
    /// The server, because of a repetition.
    ByServer,
    /// A limit, a call, or unknown.
    Other,
}

impl ResponseEnd {
    fn from_transcript(transcript: &Transcript) -> Self {
        match transcript.finish_reason() {
            Some(reason) if BY_ITSELF.contains(&reason) => Self::ByItself,
            Some(reason) if reason.contains(SERVER_REASON) => Self::ByServer,
            _ => Self::Other,
        }
    }
}

/// Raises the confidence in the loop at the end of a response that the server ended for it.
fn raise_confidence(found: &mut TextFindings) {
    let surer = |confidence: f64| 1.0 - CONFIRMED_FACTOR * (1.0 - confidence);
    if found.class == Class::Loop {
        found.confidence = surer(found.confidence);
    }
    for span in found.spans.iter_mut().filter(|span| span.end.is_none()) {
        span.confidence = surer(span.confidence);
    }
}

/// Combines the classes of a transcript's channels.
///
/// A loop wins over a passing repetition, and that over no repetition. The confidence is the highest of the winning
/// class; for `clean` it is the lowest.
fn combine_classes(classes: impl Iterator<Item = (Class, f64)>) -> (Class, f64) {
    let all: Vec<(Class, f64)> = classes.collect();
    let of = |class: Class| all.iter().filter(move |c| c.0 == class).map(|c| c.1);
    for class in [Class::Loop, Class::Unsure, Class::Transient] {
        if let Some(confidence) = of(class).reduce(f64::max) {
            return (class, confidence);
        }
    }
    (Class::Clean, of(Class::Clean).fold(1.0, f64::min))
}

/// Returns the likeliest repetition of a transcript, certain or not, as a row to adjust.
pub fn doubt(transcript: &Transcript) -> Option<LabelRow> {
    let texts = search_texts(transcript, find_run(transcript).is_some());
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

/// The prefix of the note of a proposed row. The confidence follows.
pub const CONFIDENCE: &str = "confidence ";

/// Returns the confidence of a proposed row. `None` if the row was not proposed.
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

    /// Rows that are equal, and rows whose numbers differ, were asked for where the model ended the text.
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

    /// Asked for less, the finder says the same at every place.
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
