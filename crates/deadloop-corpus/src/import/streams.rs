//! Responses put together from what an API's objects say: the chunks of streams, which may be
//! interleaved, and responses that came whole.
//!
//! A chunk belongs to the open response that it names, else to the one that was spoken of last. A response ends where it says
//! so, at `[DONE]`, or where the file ends; one that ended otherwise is marked `meta.cut`, and one of
//! which a chunk could not be read `meta.gaps`.

use serde_json::{Map, Value};

use super::conversation::parsed;
use super::cut::{Content, Record};
use super::envelope::{self, Opened};
use super::head::{Certainty, Head};
use super::reader::{Out, Reader, entry};
use crate::stream::families::{self, Family};
use crate::stream::said::{Call, Part, Said, Tokens};
use crate::think::{ThinkSplitter, join};
use crate::wire::Fault;
use crate::{Body, Event, Place};

/// Most responses that are finished and may still be told their usage.
const FINISHED: usize = 16;
/// Most responses that are open at once. The one that began first is taken for cut when there are more.
const OPEN: usize = 1024;

/// Whether the first known object of a file is one of this family.
pub(crate) fn knows(head: &Head, family: &'static Family) -> Certainty {
    let known = |object: &_| families::of(object).is_some();
    let first = head
        .objects()
        .find_map(|object| envelope::inner(object, &known));
    let its = first.and_then(families::of);
    Certainty::Certain.when(its.is_some_and(|of| of.name == family.name))
}

/// Reads records of one family.
pub(crate) struct Streams {
    family: &'static Family,
    /// `[DONE]` ends all that is open, and what names a response is who speaks.
    session: bool,
    /// In the order in which they were spoken of last.
    open: Vec<Response>,
}

/// A response that has not ended.
struct Response {
    /// As its chunks name it.
    name: Option<String>,
    /// The id that the recorder gave it.
    id: Option<String>,
    model: Option<String>,
    group: Option<String>,
    /// Where it begins, and where it was spoken of last.
    place: Place,
    last: Place,
    meta: Map<String, Value>,
    tokens: Option<Tokens>,
    /// When its first and its last object were made, and how long it took.
    began: Option<f64>,
    at: Option<f64>,
    took: Option<f64>,
    gaps: u64,
    ended: bool,
    choices: Vec<Choice>,
}

/// One of the answers of a response.
struct Choice {
    index: u64,
    events: Vec<Event>,
    /// For tags in answers; none once thinking came in a field of its own.
    splitter: Option<ThinkSplitter>,
    /// The calls of tools so far: what joins their pieces, and which event they are.
    calls: Vec<(String, usize)>,
    finished: bool,
}

impl Streams {
    /// For responses and streams of responses.
    pub(crate) fn of(family: &'static Family) -> Self {
        Self {
            family,
            session: false,
            open: Vec::new(),
        }
    }

    /// For logs of several speakers, who are told apart by name and end together at `[DONE]`.
    pub(crate) fn session(family: &'static Family) -> Self {
        Self {
            session: true,
            ..Self::of(family)
        }
    }

    /// Takes what an object says, and what its envelope says.
    fn said(&mut self, said: Said, opened: Opened, place: &Place, out: &mut Out) {
        for (path, rest) in &said.rest {
            out.losses.rest(path, rest);
        }
        if said.is_empty() {
            return;
        }
        let at = self.response(&said, place, out);
        let mut response = self.open.remove(at);
        response.add(said, opened, place, out, self.family.tags);
        match response.ended {
            true => self.emit(response, out),
            false => self.open.push(response),
        }
    }

    /// The place in `open` of the response that an object belongs to.
    fn response(&mut self, said: &Said, place: &Place, out: &mut Out) -> usize {
        let found = match said.begins {
            true => None,
            false => self.open.iter().rposition(|response| response.is_of(said)),
        };
        match found {
            Some(at) if self.session || !self.open[at].goes_on_without(said) => at,
            Some(at) => {
                let finished = self.open.remove(at);
                self.emit(finished, out);
                self.begin(said, place, out)
            }
            None => self.begin(said, place, out),
        }
    }

    fn begin(&mut self, said: &Said, place: &Place, out: &mut Out) -> usize {
        if said.begins {
            // Chunks of this family do not name their response: one is open at a time.
            self.emit_all(|_| true, out);
        }
        let finished = self
            .open
            .iter()
            .filter(|response| response.finished())
            .count();
        if finished > FINISHED
            && let Some(at) = self.open.iter().position(Response::finished)
        {
            let response = self.open.remove(at);
            self.emit(response, out);
        }
        if self.open.len() >= OPEN {
            let response = self.open.remove(0);
            self.emit(response, out);
        }
        self.open.push(Response::new(said, place));
        self.open.len() - 1
    }

    /// `[DONE]`: what is finished ends; where nothing is, the response that was spoken of last.
    fn done(&mut self, out: &mut Out) {
        if !self.session && self.open.iter().any(Response::finished) {
            return self.emit_all(Response::finished, out);
        }
        let last = self.open.len().saturating_sub(1);
        let from = if self.session { 0 } else { last };
        self.open
            .iter_mut()
            .skip(from)
            .for_each(|response| response.ended = true);
        self.emit_all(|response| response.ended, out);
    }

    fn emit_all(&mut self, which: impl Fn(&Response) -> bool, out: &mut Out) {
        let (ready, open) = std::mem::take(&mut self.open).into_iter().partition(which);
        self.open = open;
        let mut ready: Vec<Response> = ready;
        ready.sort_by(|one, other| one.place.cmp(&other.place));
        ready
            .into_iter()
            .for_each(|response| self.emit(response, out));
    }

    fn emit(&self, mut response: Response, out: &mut Out) {
        if self.session
            && let Some(name) = response.name.take()
        {
            response
                .meta
                .insert("agent".to_owned(), Value::String(name));
        }
        response.emit(self.session, out);
    }
}

impl Reader for Streams {
    fn take(&mut self, record: Record, out: &mut Out) -> Result<(), Fault> {
        if matches!(record.content, Content::Done) {
            self.done(out);
            return Ok(());
        }
        let place = record.place.clone();
        let known = |object: &_| (self.family.knows)(object);
        let think = out.options.think.clone();
        let mut opened = envelope::open(record.object()?, &known, think, &mut out.losses)?;
        let said = (self.family.read)(std::mem::take(&mut opened.object))?;
        self.said(said, opened, &place, out);
        Ok(())
    }

    fn gap(&mut self) {
        let open = self.open.iter_mut().filter(|response| !response.finished());
        open.for_each(|response| response.gaps += 1);
    }

    fn end(&mut self, out: &mut Out) {
        self.emit_all(|_| true, out);
    }
}

impl Response {
    fn new(said: &Said, place: &Place) -> Self {
        Self {
            name: said.response.clone(),
            id: None,
            model: said.model.clone(),
            group: None,
            place: place.clone(),
            last: place.clone(),
            meta: Map::new(),
            tokens: None,
            began: None,
            at: None,
            took: None,
            gaps: 0,
            ended: false,
            choices: Vec::new(),
        }
    }

    /// Whether an object speaks of this response: by its name, else by its model, where either
    /// says one.
    fn is_of(&self, said: &Said) -> bool {
        match (&said.response, &said.model) {
            // One whose beginning was not recorded learns its name at its end.
            (Some(name), _) => match &self.name {
                Some(own) => own == name,
                None => said.ends && !said.has_text(),
            },
            (None, Some(model)) => self.name.is_none() && self.model.as_ref() == Some(model),
            (None, None) => true,
        }
    }

    /// Whether it is finished and the object says more than what is said of a finished one.
    fn goes_on_without(&self, said: &Said) -> bool {
        let new = |(index, part): &(u64, Part)| {
            let finished = self.choices.iter().any(|c| c.index == *index && c.finished);
            let text = match part {
                Part::Event(event) => !matches!(event.body, Body::Finish { .. }),
                Part::Call(_) => true,
            };
            finished && text
        };
        self.finished() && said.parts.iter().any(new)
    }

    fn finished(&self) -> bool {
        !self.choices.is_empty() && self.choices.iter().all(|choice| choice.finished)
    }

    fn add(&mut self, said: Said, opened: Opened, place: &Place, out: &Out, tags: bool) {
        self.last = place.clone();
        self.name = self.name.take().or(said.response);
        self.model = self.model.take().or(said.model).or(opened.model);
        self.id = self.id.take().or(opened.id);
        self.group = self.group.take().or(opened.group);
        self.tokens = said.tokens.or(self.tokens);
        self.took = said.took.or(self.took);
        self.ended |= said.ends;
        let at = opened.at.or(said.at);
        self.began = self.began.or(at);
        self.at = at.or(self.at);
        let passed = self.began.and_then(|began| Some(at? - began));
        let t_ms = opened.since.or(passed);
        for (name, value) in said.about {
            self.about(name, value);
        }
        for (index, part) in said.parts {
            let choice = self.choice(index, out, tags);
            match part {
                Part::Event(event) => choice.event(event, t_ms, out),
                Part::Call(call) => choice.call(call, t_ms, out),
            }
        }
    }

    /// What was said before is replaced; of usage only the counts that are said again.
    fn about(&mut self, name: &'static str, value: Value) {
        match (self.meta.get_mut(name), value) {
            (Some(Value::Object(known)), Value::Object(more)) => known.extend(more),
            (Some(known), value) => *known = value,
            (None, value) => {
                self.meta.insert(name.to_owned(), value);
            }
        }
    }

    fn choice(&mut self, index: u64, out: &Out, tags: bool) -> &mut Choice {
        let found = self.choices.iter().position(|choice| choice.index == index);
        let at = found.unwrap_or_else(|| {
            let after = self.choices.partition_point(|choice| choice.index < index);
            let splitter = tags.then(|| ThinkSplitter::new(out.options.think.clone()));
            self.choices.insert(
                after,
                Choice {
                    index,
                    events: Vec::new(),
                    splitter,
                    calls: Vec::new(),
                    finished: false,
                },
            );
            after
        });
        &mut self.choices[at]
    }

    /// Each choice is a transcript.
    fn emit(mut self, session: bool, out: &mut Out) {
        if !self.ended && (session || !self.finished()) {
            let expected = "a finish reason or [DONE]: taken as it is, marked meta.cut";
            out.warn(&self.last, "the stream ends here", expected);
            self.meta.insert("cut".to_owned(), Value::Bool(true));
        }
        if self.gaps > 0 {
            self.meta.insert("gaps".to_owned(), self.gaps.into());
        }
        let shift = match (self.began, self.at, self.took) {
            (Some(began), Some(at), Some(took)) => (began - (at - took)).max(0.0),
            _ => 0.0,
        };
        let id = self.id.take().or(self.name.take());
        let several = self.choices.len() > 1;
        if self.choices.is_empty() {
            self.choice(0, out, false);
        }
        for choice in std::mem::take(&mut self.choices) {
            let index = choice.index;
            let tokens = self.tokens.filter(|_| !several);
            let mut entry = entry(self.place.clone(), choice.end(shift, tokens));
            let transcript = &mut entry.transcript;
            transcript.id = match &id {
                Some(id) if several => format!("{id}/{index}"),
                id => id.clone().unwrap_or_default(),
            };
            transcript.model = self.model.clone().unwrap_or_default();
            transcript.group = self.group.clone();
            transcript.meta = self.meta.clone();
            out.emit(entry);
        }
    }
}

impl Choice {
    fn event(&mut self, event: Event, t_ms: Option<f64>, out: &Out) {
        match (&event.body, &mut self.splitter) {
            (Body::Reasoning(text) | Body::Answer(text), _) if text.is_empty() => return,
            (Body::Answer(text), Some(splitter)) => {
                let mut pieces = Vec::new();
                splitter.push(text, &mut |side, text| join(&mut pieces, side, text));
                let events = pieces.into_iter().map(|(side, text)| Event {
                    t_ms: event.t_ms.or(t_ms),
                    ..Event::of(side.body(text))
                });
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
        self.events.push(Event { t_ms, ..event });
    }

    /// A piece of a call goes to the call that it continues.
    fn call(&mut self, call: Call, t_ms: Option<f64>, out: &Out) {
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
        self.events.push(Event {
            t_ms,
            ..Event::of(body)
        });
    }

    /// No tag is looked for any more: what was held back is text.
    fn release(&mut self, t_ms: Option<f64>) {
        let Some(splitter) = self.splitter.take() else {
            return;
        };
        let events = &mut self.events;
        splitter.finish(&mut |side, text| {
            let body = side.body(text.to_owned());
            events.push(Event {
                t_ms,
                ..Event::of(body)
            });
        });
    }

    /// All of it. `shift`: how long after the request its first object was made.
    fn end(mut self, shift: f64, tokens: Option<Tokens>) -> Vec<Event> {
        let last = self.events.last().and_then(|event| event.t_ms);
        self.release(last);
        for (_, at) in &self.calls {
            if let Some(Body::ToolCall { arguments, .. }) =
                self.events.get_mut(*at).map(|event| &mut event.body)
            {
                *arguments = match std::mem::take(arguments) {
                    Value::String(text) if text.is_empty() => Value::Null,
                    other => parsed(other),
                };
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
                .map(|t_ms| micros(t_ms + shift));
        }
        if let Some(tokens) = tokens {
            count(&mut self.events, tokens);
        }
        self.events
    }
}

/// Differences of times on a clock are known to the microsecond.
fn micros(t_ms: f64) -> f64 {
    (t_ms.max(0.0) * 1e3).round() / 1e3
}

/// The tokens of texts that came in one piece each.
fn count(events: &mut [Event], tokens: Tokens) {
    let is = |wanted: bool| {
        move |event: &&Event| match event.body {
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
