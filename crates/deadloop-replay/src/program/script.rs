//! [`Script`]: the lines sent to a program for one transcript.

use std::borrow::Cow;
use std::num::NonZeroU64;
use std::sync::Arc;

use deadloop_corpus::{Body, RecordedEvent, Transcript};
use deadloop_detect::{Channel, ChannelLengths, Chars, Kind, Unit};

use super::protocol::{ProgramMessage, RawAlarm, write_line};
use crate::arrivals::event_text;

/// The size at which a block of lines is sent, in bytes. After a verdict, at most one more block is sent.
const BLOCK_BYTES: usize = 16 << 10;

/// The lines of one transcript, and the range of each event, to which the program's alarms refer.
pub(super) struct Script {
    pub(super) transcript: String,
    pub(super) blocks: Arc<[Vec<u8>]>,
    /// The range of each sent event. `None` if the event is not counted in any channel.
    ranges: Vec<Option<EventRange>>,
}

/// The range of an event in its channel: start and end in chars for text, the counts before and after for a call, a
/// result or a turn.
struct EventRange {
    channel: Channel,
    from: u64,
    to: u64,
    /// The number of earlier events that are not text. `None` for text.
    event: Option<usize>,
}

impl EventRange {
    /// Returns the range of the next event, and adds it to the counts `seen`. `others` is the number of earlier events
    /// that are not text.
    fn from_event(event: &RecordedEvent, seen: &mut ChannelLengths, others: usize) -> Option<Self> {
        let (channel, count) = match (event_text(event), &event.body) {
            (Some((channel, text)), _) => (channel, Chars::count(text).0),
            (None, Body::ToolCall { .. }) => (Channel::Tools, 1),
            (None, Body::ToolResult { .. }) => (Channel::Tools, 0),
            (None, Body::Turn) => (Channel::Turns, 1),
            (None, _) => return None,
        };
        let from = seen.count(channel);
        *seen = seen.plus(channel, count);
        Some(Self {
            channel,
            from,
            to: seen.count(channel),
            event: (channel.unit() != Unit::Chars).then_some(others),
        })
    }
}

/// A validated alarm of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProgramAlarm {
    pub(crate) channel: Channel,
    /// The position of the alarm in its channel, in the channel's unit.
    pub(crate) at: u64,
    pub(crate) kind: Kind,
    /// The program's explanation.
    pub(crate) detail: Option<String>,
    /// The index of the event among the recorded events that are not text. `None` for an alarm on text.
    pub(crate) event: Option<usize>,
}

impl Script {
    /// Returns the script of a transcript. With a `channel`, text of other channels is left out. Text is cut into
    /// chunks of `chunks` chars. If `None`, the recorded chunks are kept.
    pub(super) fn new(
        transcript: &Transcript,
        channel: Option<Channel>,
        chunks: Option<NonZeroU64>,
    ) -> Result<Self, String> {
        let events: Cow<'_, [RecordedEvent]> = match chunks {
            None => Cow::Borrowed(&transcript.events),
            Some(size) => Cow::Owned(cut_text(&transcript.events, size)),
        };
        let (mut blocks, mut block) = (Vec::new(), Vec::new());
        let start = ProgramMessage::Start {
            transcript: &transcript.id,
            model: &transcript.model,
        };
        write_line(&start, &mut block)?;
        let mut ranges = Vec::new();
        let mut seen = ChannelLengths::default();
        let mut others = 0;
        for event in events.iter() {
            let range = EventRange::from_event(event, &mut seen, others);
            let text = event_text(event).map(|(channel, _)| channel);
            others += usize::from(text.is_none());
            let other = channel.is_some_and(|wanted| text.is_some_and(|text| text != wanted));
            if other {
                continue;
            }
            ranges.push(range);
            write_line(event, &mut block)?;
            if block.len() >= BLOCK_BYTES {
                blocks.push(std::mem::take(&mut block));
            }
        }
        write_line(&ProgramMessage::End, &mut block)?;
        blocks.push(block);
        Ok(Self {
            transcript: transcript.id.clone(),
            blocks: blocks.into(),
            ranges,
        })
    }

    /// Validates and converts the alarm of an answer.
    ///
    /// # Errors
    ///
    /// Returns an error if the alarm names an event that was not sent or is not counted, or a position outside of its
    /// event. An earlier position would understate the program's latency.
    pub(super) fn convert_alarm(&self, raw: &RawAlarm) -> Result<ProgramAlarm, String> {
        let RawAlarm { event, at, .. } = *raw;
        let sent = self.ranges.len();
        let range = self
            .ranges
            .get(event)
            .ok_or_else(|| format!("it alarmed at event {event} of {sent}, counted from 0"))?;
        let EventRange {
            channel,
            from,
            to,
            event: nth,
        } = range.as_ref().ok_or_else(|| {
            format!("it alarmed at event {event}, which is no text, call, result or turn")
        })?;
        if !(*from..=*to).contains(&at) {
            let unit = channel.unit();
            return Err(format!(
                "it alarmed at {at}; event {event} is {unit} {from} to {to} of {channel}"
            ));
        }
        Ok(ProgramAlarm {
            channel: *channel,
            at,
            kind: Kind::named(&raw.kind).unwrap_or(Kind::Other),
            detail: raw.detail(),
            event: *nth,
        })
    }
}

/// Cuts text into chunks of `size` chars, beginning anew with each uninterrupted run of a channel, whose last chunk may
/// be shorter.
///
/// A chunk has the time of the event that holds its last char, and no token count.
fn cut_text(events: &[RecordedEvent], size: NonZeroU64) -> Vec<RecordedEvent> {
    let mut cut: Vec<RecordedEvent> = Vec::new();
    let mut last = None;
    // Chars in the chunk that is being filled, and whether it is the last event.
    let (mut filled, mut open) = (0, false);
    for event in events {
        let Some((channel, mut text)) = event_text(event) else {
            cut.push(event.clone());
            open = false;
            continue;
        };
        if last.replace(channel) != Some(channel) {
            (filled, open) = (0, false);
        }
        while !text.is_empty() {
            let room = usize::try_from(size.get() - filled).unwrap_or(usize::MAX);
            let end = text.char_indices().nth(room).map_or(text.len(), |(i, _)| i);
            let (piece, rest) = text.split_at(end);
            match cut.last_mut().filter(|_| open) {
                Some(chunk) => extend_chunk(chunk, piece, event.t_ms),
                None => cut.push(make_chunk(channel, piece, event.t_ms)),
            }
            filled = (filled + Chars::count(piece).0) % size.get();
            open = filled > 0;
            text = rest;
        }
    }
    cut
}

fn make_chunk(channel: Channel, text: &str, t_ms: Option<f64>) -> RecordedEvent {
    let body = match channel {
        Channel::Reasoning => Body::Reasoning(text.into()),
        _ => Body::Answer(text.into()),
    };
    RecordedEvent {
        t_ms,
        ..RecordedEvent::new(body)
    }
}

fn extend_chunk(chunk: &mut RecordedEvent, piece: &str, t_ms: Option<f64>) {
    if let Body::Reasoning(text) | Body::Answer(text) = &mut chunk.body {
        text.push_str(piece);
    }
    chunk.t_ms = t_ms;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transcript() -> Transcript {
        let text = |body, t_ms| RecordedEvent {
            t_ms: Some(t_ms),
            tokens: Some(1),
            ..RecordedEvent::new(body)
        };
        let events = vec![
            text(Body::Reasoning("思考\u{2028}x".into()), 1.0),
            text(Body::Reasoning("yz".into()), 2.0),
            RecordedEvent::new(Body::Turn),
            text(Body::Answer("😀bc".into()), 3.0),
            text(Body::Answer(String::new()), 4.0),
        ];
        Transcript {
            id: "t\n1".into(),
            model: "m".into(),
            events,
            ..Transcript::default()
        }
    }

    fn sent(channel: Option<Channel>, chunks: u64) -> (Script, Vec<String>) {
        let script = Script::new(&transcript(), channel, NonZeroU64::new(chunks)).unwrap();
        let text = String::from_utf8(script.blocks.concat()).unwrap();
        let lines = text.split_terminator('\n').map(str::to_owned).collect();
        (script, lines)
    }

    #[test]
    fn events_are_sent_as_they_were_recorded() {
        let (_, lines) = sent(None, 0);
        assert_eq!(
            lines,
            [
                r#"{"type":"start","transcript":"t\n1","model":"m"}"#,
                "{\"type\":\"reasoning\",\"text\":\"思考\u{2028}x\",\"t_ms\":1,\"tokens\":1}",
                r#"{"type":"reasoning","text":"yz","t_ms":2,"tokens":1}"#,
                r#"{"type":"turn"}"#,
                r#"{"type":"answer","text":"😀bc","t_ms":3,"tokens":1}"#,
                r#"{"type":"answer","text":"","t_ms":4,"tokens":1}"#,
                r#"{"type":"end"}"#,
            ]
        );
        assert_eq!(sent(Some(Channel::Answer), 0).1.len(), 5);
    }

    #[test]
    fn chunks_are_cut_anew() {
        let (_, lines) = sent(None, 5);
        assert_eq!(
            lines[1..5],
            [
                "{\"type\":\"reasoning\",\"text\":\"思考\u{2028}xy\",\"t_ms\":2}",
                r#"{"type":"reasoning","text":"z","t_ms":2}"#,
                r#"{"type":"turn"}"#,
                r#"{"type":"answer","text":"😀bc","t_ms":3}"#,
            ]
        );
        assert_eq!(sent(None, 1).1.len(), 6 + 1 + 3 + 2);
    }

    #[test]
    fn an_alarm_lies_in_the_event_at_which_it_was_raised() {
        let (script, _) = sent(None, 0);
        let heard = |event, at, kind: &str| {
            script.convert_alarm(&RawAlarm::new(event, at, kind, Some("so it is")))
        };
        let alarm = |channel, at, kind| ProgramAlarm {
            channel,
            at,
            kind,
            detail: Some("so it is".into()),
            event: None,
        };
        let paragraph = alarm(Channel::Reasoning, 5, Kind::Paragraph);
        assert_eq!(heard(1, 5, "paragraph"), Ok(paragraph));
        let other = alarm(Channel::Answer, 3, Kind::Other);
        assert_eq!(heard(3, 3, "babble"), Ok(other));
        let turn = heard(2, 1, "monologue").map(|heard| (heard.channel, heard.event));
        assert_eq!(turn, Ok((Channel::Turns, Some(0))));
        for (event, at, place) in [
            (1, 3, "chars 4 to 6"),
            (3, 4, "0 to 3 of answer"),
            (2, 2, "turns 0 to 1"),
            (5, 0, "event 5 of 5"),
        ] {
            let refused = heard(event, at, "other").unwrap_err();
            assert!(refused.contains(place), "{refused}");
        }
        let (answers, _) = sent(Some(Channel::Answer), 0);
        let raw = RawAlarm::new(1, 2, "other", Some("so it is"));
        let other = alarm(Channel::Answer, 2, Kind::Other);
        assert_eq!(answers.convert_alarm(&raw), Ok(other));
    }
}
