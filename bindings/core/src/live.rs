//! [`Live`]: the bytes of a streamed response through a guard, as they arrive.

use deadloop_corpus::{Ending, StreamFormat, StreamReader};
use deadloop_detect::{Alarm, Guard, Pushed};

use crate::Guards;

/// What stands for the model's name where none is known.
const UNNAMED: &str = "unknown";

/// A guard on the bytes of one streamed response: server-sent events or JSON lines of any API that
/// `deadloop watch` reads. [`feed`](Self::feed) it what arrived and pass on what it allows; at its
/// [`alarm`](Self::alarm) pass on its [`ending`](Self::ending) too, and close the connection.
///
/// It never fails: what cannot be read is passed on unread. It holds one line and the guard's window,
/// never the stream. Of several choices in one response the first is watched.
pub struct Live {
    guard: Guard,
    /// The guards of all models, where the stream says which one it comes from.
    by_model: Option<deadloop_detect::Guards>,
    reader: StreamReader,
    model: Option<String>,
    fed: u64,
    alarm: Option<Alarm>,
    warnings: Vec<Alarm>,
    ending: Ending,
}

impl Live {
    pub(crate) fn new(guards: &Guards, model: Option<&str>) -> Self {
        let said = model.unwrap_or(UNNAMED);
        let format = Some(StreamFormat::Sse); // bare lines of JSON are taken too
        let reader = StreamReader::new("response", format, guards.think.options(said));
        let think = std::sync::Arc::clone(&guards.think);
        let (reader, by_model) = match model {
            Some(_) => (reader, None),
            None => {
                let reader = reader.splitting_by(move |model| think.options(model));
                (reader, Some(guards.compiled.clone()))
            }
        };
        Self {
            guard: guards.guard(said),
            by_model,
            reader,
            model: None,
            fed: 0,
            alarm: None,
            warnings: Vec::new(),
            ending: Ending::default(),
        }
    }

    /// Takes the next bytes of the response. How many of them may be passed on: all, or at the alarm
    /// those up to the end of the event that raised it; after it none.
    pub fn feed(&mut self, bytes: &[u8]) -> usize {
        if self.alarm.is_some() {
            return 0;
        }
        let start = self.fed;
        self.fed += bytes.len() as u64;
        self.reader.feed(bytes);
        let keep = match self.judge() {
            None => bytes.len(),
            Some(end) => {
                let end = usize::try_from(end.saturating_sub(start)).unwrap_or(bytes.len());
                // With an event goes the blank line that ends it, where that is here already.
                let end = end.min(bytes.len());
                let blank = match &bytes[end..] {
                    [b'\n', ..] => 1,
                    [b'\r', b'\n', ..] => 2,
                    _ => 0,
                };
                end + blank
            }
        };
        self.ending.saw(&bytes[..keep]);
        keep
    }

    /// The response is over: what was held back is judged too.
    pub fn end(&mut self) {
        if self.alarm.is_none() {
            self.reader.end();
            self.judge();
        }
    }

    /// Why the response has to be cut, once it has.
    pub fn alarm(&self) -> Option<&Alarm> {
        self.alarm.as_ref()
    }

    /// Takes the alarms that only warn or observe and have not been asked for yet, in their order.
    pub fn warnings(&mut self) -> Vec<Alarm> {
        std::mem::take(&mut self.warnings)
    }

    /// The bytes that end a response which is cut here, in the words of its API: its client sees a
    /// response that was too long, and does not wait. Empty where the API is not known.
    pub fn ending(&self) -> Vec<u8> {
        self.ending.bytes()
    }

    /// Judges the events that are known now; at an alarm the byte of the stream after its event.
    fn judge(&mut self) -> Option<u64> {
        while let Some(arrival) = self.reader.next_event() {
            self.follow();
            let Pushed { decision, warnings } = self.guard.push(&arrival.event.seen());
            self.warnings.extend(warnings);
            if let Some(alarm) = decision.into_alarm() {
                self.alarm = Some(alarm);
                return Some(arrival.end);
            }
        }
        None
    }

    /// Another model than before is watched by a guard of its own, a fresh one.
    fn follow(&mut self) {
        let named = self.reader.model();
        if named.is_none() || named == self.model.as_deref() {
            return;
        }
        self.model = named.map(str::to_owned);
        if let (Some(guards), Some(model)) = (&self.by_model, named) {
            self.guard = guards.guard(model);
        }
    }
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live")
            .field("guard", &self.guard)
            .field("fed", &self.fed)
            .field("alarm", &self.alarm)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A response that says `text` in each of its events.
    fn response(text: &str, events: usize) -> Vec<u8> {
        let chunk = serde_json::json!({
            "id": "c1", "object": "chat.completion.chunk", "model": "m",
            "choices": [{"index": 0, "delta": {"reasoning_content": text}}],
        });
        format!("data: {chunk}\n\n").repeat(events).into_bytes()
    }

    /// What is passed on of a response that comes in pieces of `size` bytes, and the alarm.
    fn passed(bytes: &[u8], size: usize) -> (Vec<u8>, Option<Alarm>) {
        let mut live = Guards::recommended().unwrap().live(None);
        let mut out = Vec::new();
        for piece in bytes.chunks(size) {
            let keep = live.feed(piece);
            out.extend_from_slice(&piece[..keep]);
            if live.alarm().is_some() {
                assert_eq!(live.feed(piece), 0, "nothing after the alarm");
                break;
            }
        }
        live.end();
        (out, live.alarm().cloned())
    }

    #[test]
    fn what_does_not_loop_passes_unchanged() {
        let text = b"data: {\"choices\":[]}\n\n: comment\nnonsense\xff\n{\"done\":true}\n";
        for size in [1, 3, 1000] {
            assert_eq!(passed(text, size), (text.to_vec(), None));
        }
    }

    #[test]
    fn what_only_warns_is_told_once_and_cuts_nothing() {
        let bytes = response("Let me look at it from the other side again.\n", 100);
        let settings = "[[guard]]\ndetector = \"periodic\"\nresponse = \"warn\"";
        let mut live = Guards::parse(settings, "settings").unwrap().live(None);
        let passed: usize = bytes.chunks(7).map(|piece| live.feed(piece)).sum();
        live.end();
        assert_eq!((passed, live.alarm()), (bytes.len(), None));
        assert_eq!(live.warnings().len(), 1);
        assert!(live.warnings().is_empty());
    }

    #[test]
    fn a_loop_is_cut_at_the_end_of_an_event_however_it_came() {
        let bytes = response("Let me look at it from the other side again.\n", 100);
        let event = bytes.len() / 100;
        let whole = passed(&bytes, usize::MAX);
        assert_eq!(whole.0.len() % event, 0);
        assert!(whole.0.len() < bytes.len() / 2);
        for size in [1, 2, 7, 100, 1000] {
            let (out, alarm) = passed(&bytes, size);
            assert_eq!(alarm, whole.1, "pieces of {size}");
            let blanks = whole.0.len() - out.len();
            assert!(blanks <= 1 && bytes.starts_with(&out), "pieces of {size}");
        }
    }
}
