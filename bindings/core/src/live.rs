//! [`Live`]: the bytes of a streamed response through a guard, as they arrive.

use std::sync::Arc;

use deadloop_detect::Alarm;
use deadloop_stream::{StreamFormat, StreamReader, WatchStep, WatchedResponse};

use crate::{Action, Decision, Guards};

/// The name of a model without a known name.
const UNNAMED: &str = "unknown";

/// A guard on the bytes of one streamed response: server-sent events or JSON lines of any API that `deadloop watch`
/// reads. Pass it the arriving bytes by [`feed`](Self::feed), and pass on the bytes that it allows. At an
/// [`alarm`](Self::alarm), also pass on the [`ending`](Self::ending) and close the connection.
///
/// It is a [`WatchedResponse`] that keeps its alarms until the caller takes them. Its clock moves when the caller
/// reports a [`silence`](Self::silence), since the packages have clocks of their own.
#[derive(Debug)]
pub struct Live {
    watched: WatchedResponse,
    /// The sum of all silences before the current one, in milliseconds.
    now: u64,
    /// The length of the current silence, in milliseconds.
    silent: u64,
    warnings: Vec<Alarm>,
    refusals: Vec<Alarm>,
}

impl Live {
    pub(crate) fn new(guards: &Guards, model: Option<&str>) -> Self {
        let said = model.unwrap_or(UNNAMED);
        let format = Some(StreamFormat::Sse); // bare lines of JSON are taken too
        let reader = StreamReader::new("response", format, guards.think.options(said));
        let think = Arc::clone(&guards.think);
        let watched = match model {
            Some(_) => WatchedResponse::with(guards.compiled(said), reader),
            None => {
                let reader = reader.splitting_by(move |model| think.options(model));
                let watched = WatchedResponse::with(guards.compiled.guard(said), reader);
                let by_model = watched.by_model(guards.compiled.clone());
                by_model.answering(guards.asked().clone())
            }
        };
        Self {
            watched,
            now: 0,
            silent: 0,
            warnings: Vec::new(),
            refusals: Vec::new(),
        }
    }

    /// Takes the next bytes of the response. Returns the number of bytes that may be passed on: all of them. At the
    /// alarm these are the bytes up to the end of its event, and after the alarm none.
    pub fn feed(&mut self, bytes: &[u8]) -> usize {
        self.now += std::mem::take(&mut self.silent);
        let step = self.watched.feed(bytes, self.now);
        let kept = step.kept;
        self.keep(step);
        kept
    }

    /// Takes a silence of this number of milliseconds since the last bytes, not since the last silence.
    pub fn silence(&mut self, millis: u64) {
        self.silent = self.silent.max(millis);
        let step = self.watched.silent(self.now.saturating_add(self.silent));
        self.keep(step);
    }

    /// Ends the response. Text that was held back is judged too.
    pub fn end(&mut self) {
        self.now += std::mem::take(&mut self.silent);
        let step = self.watched.end(self.now);
        self.keep(step);
    }

    fn keep(&mut self, step: WatchStep) {
        self.warnings.extend(step.warnings);
        let refused = step.refused.into_iter().map(|refused| refused.alarm);
        self.refusals.extend(refused);
    }

    /// Returns the alarm that cuts the response, if there is one.
    pub fn alarm(&self) -> Option<&Alarm> {
        self.watched.alarm()
    }

    /// Takes the alarms that only warn or observe and have not been returned yet, in order.
    pub fn warnings(&mut self) -> Vec<Alarm> {
        std::mem::take(&mut self.warnings)
    }

    /// Takes the alarms that refuse a call and have not been returned yet, in order. They do not cut the response.
    pub fn refusals(&mut self) -> Vec<Alarm> {
        std::mem::take(&mut self.refusals)
    }

    /// Takes the decisions that have not been returned yet. The alarm that cuts the response is returned each time.
    pub(crate) fn decisions(&mut self) -> Vec<Decision> {
        let mut decisions = Vec::new();
        let warnings = self.warnings();
        if !warnings.is_empty() {
            decisions.push(Decision {
                warnings,
                ..Decision::default()
            });
        }
        let decided = |action, alarm| Decision {
            action,
            alarm: Some(Box::new(alarm)),
            warnings: Vec::new(),
        };
        let refused = self.refusals().into_iter();
        decisions.extend(refused.map(|alarm| decided(Action::Refuse, alarm)));
        let stopped = self.alarm().cloned();
        decisions.extend(stopped.map(|alarm| decided(Action::Stop, alarm)));
        decisions
    }

    /// Returns the bytes that end a response which is cut here, in the format of its API. The client then sees a
    /// response that reached its length limit, and does not wait. Empty if the API is unknown.
    pub fn ending(&self) -> Vec<u8> {
        self.watched.ending()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a response with `text` in each of its events.
    fn response(text: &str, events: usize) -> Vec<u8> {
        let chunk = serde_json::json!({
            "id": "c1", "object": "chat.completion.chunk", "model": "m",
            "choices": [{"index": 0, "delta": {"reasoning_content": text}}],
        });
        format!("data: {chunk}\n\n").repeat(events).into_bytes()
    }

    /// Returns the bytes that are passed on of a response in pieces of `size` bytes, and the alarm.
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

    #[test]
    fn each_silence_counts_from_the_last_bytes() {
        let settings =
            "[[guard]]\ndetector = \"stall\"\n[guard.params]\nidle_ms = 5000\nfirst_ms = 60000";
        let mut live = Guards::parse(settings, "settings").unwrap().live(None);
        let event = response("So. ", 1);
        for _ in 0..3 {
            assert_eq!(live.feed(&event), event.len());
            live.silence(3000);
            live.silence(4900);
            assert_eq!(live.alarm(), None);
        }
        live.feed(&event);
        live.silence(5000);
        assert_eq!(live.alarm().map(|alarm| alarm.detector), Some("stall"));
    }

    #[test]
    fn a_refused_call_cuts_nothing_and_is_told_once() {
        let call = |id: &str| {
            let chunk = serde_json::json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "delta": {"tool_calls": [
                {"index": 0, "id": id, "function": {"name": "ls", "arguments": "{}"}},
                {"index": 1, "id": "b", "function": {"name": "ls", "arguments": "{}"}},
                {"index": 2, "id": "c", "function": {"name": "ls", "arguments": "{}"}},
            ]}}]});
            format!("data: {chunk}\n\n").into_bytes()
        };
        for (response, refusals, stops) in [("refuse", 1, false), ("stop", 0, true)] {
            let settings = format!(
                "[[guard]]\ndetector = \"duplicate\"\nresponse = \"{response}\"\n[guard.params]\nn = 3"
            );
            let mut live = Guards::parse(&settings, "settings").unwrap().live(None);
            live.feed(&call("a"));
            live.end();
            assert_eq!(
                (live.refusals().len(), live.alarm().is_some()),
                (refusals, stops),
                "{response}"
            );
            assert!(live.refusals().is_empty());
        }
    }
}
