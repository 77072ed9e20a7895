//! [`ResponseChoice`]: one answer of a response that has not ended.
//!
//! Texts are split at their tags, and calls of tools are joined from their pieces.

use serde_json::Value;

use crate::reader::Intake;
use crate::sessions::conversation::written_arguments;
use deadloop_corpus::{Body, RecordedEvent, tool_call};
use deadloop_stream::reader::content::{CallPiece, TokenCounts};
use deadloop_stream::think::{ThinkSplitter, join};

/// An answer of a response.
pub(crate) struct ResponseChoice {
    pub(crate) index: u64,
    events: Vec<RecordedEvent>,
    /// The splitter of tags in answers. `None` after thinking in a field of its own.
    splitter: Option<ThinkSplitter>,
    /// The calls of tools so far: the key that joins their pieces, and the index of the event.
    calls: Vec<(String, usize)>,
    pub(crate) finished: bool,
}

impl ResponseChoice {
    /// Creates an empty answer. With `tags`, the text may hold `<think>`.
    pub(crate) fn new(index: u64, out: &Intake, tags: bool) -> Self {
        Self {
            index,
            events: Vec::new(),
            splitter: tags.then(|| ThinkSplitter::new(out.options.think.clone())),
            calls: Vec::new(),
            finished: false,
        }
    }

    /// Adds the next event.
    pub(crate) fn add_event(&mut self, event: RecordedEvent, t_ms: Option<f64>, out: &Intake) {
        match (&event.body, &mut self.splitter) {
            (Body::Reasoning(text) | Body::Answer(text), _) if text.is_empty() => return,
            (Body::Answer(text), Some(splitter)) => {
                let mut pieces = Vec::new();
                splitter.push(text, &mut |side, text| join(&mut pieces, side, text));
                let t_ms = event.t_ms.or(t_ms);
                let pieces = pieces.into_iter();
                let events = pieces.map(|(side, text)| RecordedEvent::at(side.body(text), t_ms));
                self.events.extend(events);
                return;
            }
            (Body::Reasoning(_), _) => self.release(t_ms),
            (Body::Finish { .. }, _) => {
                let tags = self.splitter.is_some();
                self.release(t_ms);
                self.splitter = tags.then(|| ThinkSplitter::new(out.options.think.clone()));
                self.finished = true;
            }
            _ => {}
        }
        let t_ms = event.t_ms.or(t_ms);
        self.events.push(RecordedEvent { t_ms, ..event });
    }

    /// Adds a piece of a call to the call with the same key, or starts a call.
    pub(crate) fn add_call(&mut self, call: CallPiece, t_ms: Option<f64>, out: &Intake) {
        let joins = |key: &String| !key.is_empty() && *key == call.key;
        let known = self.calls.iter().rfind(|(key, _)| joins(key));
        if let Some((_, at)) = known
            && let Some(event) = self.events.get_mut(*at)
            && let Body::ToolCall {
                id,
                name,
                arguments: Value::String(text),
            } = &mut event.body
            && (call.id.is_none() || id.is_none() || *id == call.id)
        {
            *id = id.take().or(call.id);
            let more = call.name.as_deref().filter(|more| more != name);
            name.push_str(more.unwrap_or(""));
            text.push_str(&call.arguments);
            return;
        }
        if self.splitter.is_some() {
            self.release(t_ms);
            self.splitter = Some(ThinkSplitter::new(out.options.think.clone()));
        }
        self.calls.push((call.key, self.events.len()));
        let body = tool_call(call.id, call.name.unwrap_or_default(), call.arguments);
        self.events.push(RecordedEvent::at(body, t_ms));
    }

    /// Ends the search for tags. The text that the splitter holds back becomes an event.
    fn release(&mut self, t_ms: Option<f64>) {
        let Some(splitter) = self.splitter.take() else {
            return;
        };
        let events = &mut self.events;
        splitter.finish(&mut |side, text| {
            let body = side.body(text.to_owned());
            events.push(RecordedEvent::at(body, t_ms));
        });
    }

    /// Converts the answer to its events. `shift` is the time from the request to the first object, in milliseconds.
    pub(crate) fn into_events(
        mut self,
        shift: f64,
        tokens: Option<TokenCounts>,
    ) -> Vec<RecordedEvent> {
        let last = self.events.last().and_then(|event| event.t_ms);
        self.release(last);
        for (_, at) in &self.calls {
            if let Body::ToolCall { arguments, .. } = &mut self.events[*at].body {
                *arguments = written_arguments(std::mem::take(arguments));
            }
        }
        // A single time for all events carries no information.
        let mut times = self.events.iter().filter_map(|event| event.t_ms);
        let timed = times.any(|t_ms| t_ms + shift > 0.0);
        for event in &mut self.events {
            let t_ms = event.t_ms.filter(|_| timed);
            event.t_ms = t_ms.and_then(|t_ms| round_to_micros(t_ms + shift));
        }
        if let Some(tokens) = tokens {
            set_tokens(&mut self.events, tokens);
        }
        self.events
    }
}

/// Rounds a difference of times to the microsecond, the precision of recorded clocks.
fn round_to_micros(t_ms: f64) -> Option<f64> {
    let micros = (t_ms.max(0.0) * 1e3).round() / 1e3;
    micros.is_finite().then_some(micros)
}

/// Sets the token counts of texts that came in one piece each.
fn set_tokens(events: &mut [RecordedEvent], tokens: TokenCounts) {
    let is = |wanted: bool| {
        move |event: &&RecordedEvent| match event.body {
            Body::Reasoning(_) => wanted,
            Body::Answer(_) => !wanted,
            _ => false,
        }
    };
    let is_call = |event: &RecordedEvent| matches!(event.body, Body::ToolCall { .. });
    let pieces = [true, false].map(|thinking| events.iter().filter(is(thinking)).count());
    let [thinking, answer] = match (pieces, tokens.reasoning) {
        _ if events.iter().any(is_call) => return,
        ([1, 0], _) => [tokens.all, 0],
        ([0, 1], None | Some(0)) => [0, tokens.all],
        ([1, 1], Some(reasoning)) => [reasoning, tokens.all.saturating_sub(reasoning)],
        _ => return,
    };
    for event in events {
        match event.body {
            Body::Reasoning(_) => event.tokens = Some(thinking),
            Body::Answer(_) => event.tokens = Some(answer),
            _ => {}
        }
    }
}
