//! One answer of a response on its way: its events, texts split at their tags, calls of tools put
//! together from their pieces.

use serde_json::Value;

use super::conversation::written;
use super::reader::Out;
use crate::think::{ThinkSplitter, join};
use crate::{Body, RecordedEvent};
use deadloop_stream::reader::said::{Call, Tokens};

/// One of the answers of a response.
pub(super) struct Choice {
    pub(super) index: u64,
    events: Vec<RecordedEvent>,
    /// For tags in answers; none once thinking came in a field of its own.
    splitter: Option<ThinkSplitter>,
    /// The calls of tools so far: what joins their pieces, and which event they are.
    calls: Vec<(String, usize)>,
    pub(super) finished: bool,
}

impl Choice {
    /// `tags`: whether its text may hold `<think>`.
    pub(super) fn new(index: u64, out: &Out, tags: bool) -> Self {
        Self {
            index,
            events: Vec::new(),
            splitter: tags.then(|| ThinkSplitter::new(out.options.think.clone())),
            calls: Vec::new(),
            finished: false,
        }
    }

    /// The next event.
    pub(super) fn event(&mut self, event: RecordedEvent, t_ms: Option<f64>, out: &Out) {
        match (&event.body, &mut self.splitter) {
            (Body::Reasoning(text) | Body::Answer(text), _) if text.is_empty() => return,
            (Body::Answer(text), Some(splitter)) => {
                let mut pieces = Vec::new();
                splitter.push(text, &mut |side, text| join(&mut pieces, side, text));
                let events = pieces
                    .into_iter()
                    .map(|(side, text)| RecordedEvent::at(side.body(text), event.t_ms.or(t_ms)));
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

    /// A piece of a call goes to the call that it continues.
    pub(super) fn call(&mut self, call: Call, t_ms: Option<f64>, out: &Out) {
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
            name.push_str(
                call.name
                    .as_deref()
                    .filter(|more| more != name)
                    .unwrap_or(""),
            );
            text.push_str(&call.arguments);
            return;
        }
        if self.splitter.is_some() {
            self.release(t_ms);
            self.splitter = Some(ThinkSplitter::new(out.options.think.clone()));
        }
        self.calls.push((call.key, self.events.len()));
        let body = Body::ToolCall {
            id: call.id,
            name: call.name.unwrap_or_default(),
            arguments: Value::String(call.arguments),
        };
        self.events.push(RecordedEvent::at(body, t_ms));
    }

    /// No tag is looked for any more: what was held back is text.
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

    /// All of it. `shift`: how long after the request its first object was made.
    pub(super) fn end(mut self, shift: f64, tokens: Option<Tokens>) -> Vec<RecordedEvent> {
        let last = self.events.last().and_then(|event| event.t_ms);
        self.release(last);
        for (_, at) in &self.calls {
            if let Some(Body::ToolCall { arguments, .. }) =
                self.events.get_mut(*at).map(|event| &mut event.body)
            {
                *arguments = written(std::mem::take(arguments));
            }
        }
        // One time for all says nothing.
        let timed = self
            .events
            .iter()
            .any(|e| e.t_ms.is_some_and(|t| t + shift > 0.0));
        for event in &mut self.events {
            event.t_ms = event
                .t_ms
                .filter(|_| timed)
                .and_then(|t_ms| micros(t_ms + shift));
        }
        if let Some(tokens) = tokens {
            count(&mut self.events, tokens);
        }
        self.events
    }
}

/// Differences of times on a clock are known to the microsecond.
fn micros(t_ms: f64) -> Option<f64> {
    let micros = (t_ms.max(0.0) * 1e3).round() / 1e3;
    micros.is_finite().then_some(micros)
}

/// The tokens of texts that came in one piece each.
fn count(events: &mut [RecordedEvent], tokens: Tokens) {
    let is = |wanted: bool| {
        move |event: &&RecordedEvent| match event.body {
            Body::Reasoning(_) => wanted,
            Body::Answer(_) => !wanted,
            _ => false,
        }
    };
    let called = events
        .iter()
        .any(|event| matches!(event.body, Body::ToolCall { .. }));
    let pieces = [true, false].map(|thinking| events.iter().filter(is(thinking)).count());
    let [thinking, answer] = match (pieces, tokens.reasoning) {
        _ if called => return,
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
