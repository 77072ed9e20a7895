//! [`ResponseChoice`]: one answer of an unfinished response.
//!
//! Text is split at `<think>` tags, and tool calls are joined from their pieces.

use serde_json::Value;

use crate::reader::Output;
use crate::sessions::conversation::null_if_empty;
use deadloop_corpus::{Body, RecordedEvent, tool_call};
use deadloop_stream::reader::content::{CallPiece, TokenCounts};
use deadloop_stream::think::{ThinkSplitter, add_piece};

/// An answer (choice) of an unfinished response.
pub(crate) struct ResponseChoice {
    pub(crate) index: u64,
    events: Vec<RecordedEvent>,
    /// Splitter of `<think>` tags. `None` if the answer has no tags.
    splitter: Option<ThinkSplitter>,
    /// Tool calls so far, each with the key that joins its pieces and its index in `events`.
    calls: Vec<(String, usize)>,
    pub(crate) finished: bool,
}

impl ResponseChoice {
    /// Creates an empty answer. If `has_tags`, its text may contain `<think>` tags.
    pub(crate) fn new(index: u64, out: &Output, has_tags: bool) -> Self {
        Self {
            index,
            events: Vec::new(),
            splitter: has_tags.then(|| ThinkSplitter::new(out.options.think.clone())),
            calls: Vec::new(),
            finished: false,
        }
    }

    /// Adds the next event of the answer. `t_ms` is the time of an event that has none.
    pub(crate) fn add_event(&mut self, event: RecordedEvent, t_ms: Option<f64>, out: &Output) {
        match (&event.body, &mut self.splitter) {
            (Body::Reasoning(text) | Body::Answer(text), _) if text.is_empty() => return,
            (Body::Answer(text), Some(splitter)) => {
                let mut pieces = Vec::new();
                splitter.push(text, &mut |side, text| add_piece(&mut pieces, side, text));
                let t_ms = event.t_ms.or(t_ms);
                let pieces = pieces.into_iter();
                let events = pieces.map(|(side, text)| RecordedEvent::at(side.body(text), t_ms));
                self.events.extend(events);
                return;
            }
            (Body::Reasoning(_), _) => self.flush_splitter(t_ms),
            (Body::Finish { .. }, _) => {
                let has_tags = self.splitter.is_some();
                self.flush_splitter(t_ms);
                self.splitter = has_tags.then(|| ThinkSplitter::new(out.options.think.clone()));
                self.finished = true;
            }
            _ => {}
        }
        let t_ms = event.t_ms.or(t_ms);
        self.events.push(RecordedEvent { t_ms, ..event });
    }

    /// Adds a piece of a tool call to the call with the same key, or begins a call.
    pub(crate) fn add_call(&mut self, call: CallPiece, t_ms: Option<f64>, out: &Output) {
        let is_same_call = |key: &String| !key.is_empty() && *key == call.key;
        let open_call = self.calls.iter().rfind(|(key, _)| is_same_call(key));
        if let Some((_, at)) = open_call
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
            self.flush_splitter(t_ms);
            self.splitter = Some(ThinkSplitter::new(out.options.think.clone()));
        }
        self.calls.push((call.key, self.events.len()));
        let body = tool_call(call.id, call.name.unwrap_or_default(), call.arguments);
        self.events.push(RecordedEvent::at(body, t_ms));
    }

    /// Ends the search for tags. The text held by the splitter becomes an event.
    fn flush_splitter(&mut self, t_ms: Option<f64>) {
        let Some(splitter) = self.splitter.take() else {
            return;
        };
        let events = &mut self.events;
        splitter.finish(&mut |side, text| {
            let body = side.body(text.to_owned());
            events.push(RecordedEvent::at(body, t_ms));
        });
    }

    /// Converts the answer to events. `shift_ms` is the time from the request to the first object, in milliseconds.
    pub(crate) fn into_events(
        mut self,
        shift_ms: f64,
        tokens: Option<TokenCounts>,
    ) -> Vec<RecordedEvent> {
        let last = self.events.last().and_then(|event| event.t_ms);
        self.flush_splitter(last);
        for (_, at) in &self.calls {
            if let Body::ToolCall { arguments, .. } = &mut self.events[*at].body {
                *arguments = null_if_empty(std::mem::take(arguments));
            }
        }
        // A single time for all events carries no information.
        let mut times = self.events.iter().filter_map(|event| event.t_ms);
        let timed = times.any(|t_ms| t_ms + shift_ms > 0.0);
        for event in &mut self.events {
            let t_ms = event.t_ms.filter(|_| timed);
            event.t_ms = t_ms.and_then(|t_ms| round_to_micros(t_ms + shift_ms));
        }
        if let Some(tokens) = tokens {
            set_tokens(&mut self.events, tokens);
        }
        self.events
    }
}

/// Rounds a time difference to microseconds, the precision of recorded clocks.
fn round_to_micros(t_ms: f64) -> Option<f64> {
    let micros = (t_ms.max(0.0) * 1e3).round() / 1e3;
    micros.is_finite().then_some(micros)
}

/// Sets the token counts of reasoning and answer if each is a single event.
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
