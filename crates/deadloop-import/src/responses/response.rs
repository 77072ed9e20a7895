//! [`PartialResponse`]: an unfinished response with its answers.
//!
//! A response that ended without a finish reason is marked `meta.cut`. A response with unreadable chunks is marked
//! `meta.gaps`.

use serde_json::{Map, Value};

use crate::reader::{Output, new_entry};
use crate::responses::choice::ResponseChoice;
use crate::responses::envelope::Payload;
use deadloop_corpus::{Body, Place, RecordedEvent};
use deadloop_stream::reader::content::{ObjectContent, ObjectPart, TokenCounts};

/// A response that has not ended.
pub(crate) struct PartialResponse {
    /// Response id, from its chunks.
    pub(crate) response_id: Option<String>,
    /// Request id, from the envelope.
    request_id: Option<String>,
    model: Option<String>,
    group: Option<String>,
    /// User messages, if the request is recorded.
    user: Vec<String>,
    /// Place of the first record.
    pub(crate) place: Place,
    /// Place of the last record.
    last_place: Place,
    pub(crate) meta: Map<String, Value>,
    tokens: Option<TokenCounts>,
    /// Time of the first object, in milliseconds since 1970.
    first_at: Option<f64>,
    /// Time of the last object, in milliseconds since 1970.
    last_at: Option<f64>,
    /// Duration of the response, in milliseconds.
    duration: Option<f64>,
    /// Number of unreadable records while the response was open.
    pub(crate) gaps: u64,
    pub(crate) ended: bool,
    /// Whether every chunk has a different id.
    pub(crate) ids_differ: bool,
    choices: Vec<ResponseChoice>,
}

impl PartialResponse {
    /// Creates a response that begins with an object.
    pub(crate) fn new(content: &ObjectContent, place: &Place) -> Self {
        Self {
            response_id: content.response.clone(),
            request_id: None,
            model: content.model.clone(),
            group: None,
            user: Vec::new(),
            place: place.clone(),
            last_place: place.clone(),
            meta: Map::new(),
            tokens: None,
            first_at: None,
            last_at: None,
            duration: None,
            gaps: 0,
            ended: false,
            ids_differ: false,
            choices: Vec::new(),
        }
    }

    /// Returns whether an object belongs to this response, by its id, otherwise by its model.
    pub(crate) fn contains(&self, content: &ObjectContent) -> bool {
        match (&content.response, &content.model) {
            (Some(_), _) if self.ids_differ && content.goes_on => self.may_share_model(content),
            // A response whose beginning was not recorded gets its id from its end.
            (Some(name), _) => match &self.response_id {
                Some(own) => own == name,
                None => content.ends && !content.has_text(),
            },
            // llama.cpp names its model only at the end.
            (None, Some(model)) => {
                let own = self.model.as_ref();
                self.response_id.is_none() && own.map_or(content.ends, |own| own == model)
            }
            (None, None) => true,
        }
    }

    /// Returns whether an object may come from the same model as this response.
    pub(crate) fn may_share_model(&self, content: &ObjectContent) -> bool {
        let both = self.model.as_ref().zip(content.model.as_ref());
        both.is_none_or(|(own, other)| own == other)
    }

    /// Returns whether the response is finished, but the object would add text or calls to it.
    pub(crate) fn is_reopened_by(&self, content: &ObjectContent) -> bool {
        let adds = |(index, part): &(u64, ObjectPart)| {
            let mut choices = self.choices.iter();
            choices.any(|choice| choice.index == *index && choice.finished)
                && match part {
                    ObjectPart::Event(event) => !matches!(event.body, Body::Finish { .. }),
                    ObjectPart::Call(_) => true,
                    ObjectPart::CallEnd(_) => false,
                }
        };
        self.is_done() && content.parts.iter().any(adds)
    }

    /// Returns whether an object finishes an answer.
    pub(crate) fn finishes_answer(content: &ObjectContent) -> bool {
        let mut parts = content.parts.iter().map(|(_, part)| part);
        parts.any(
            |part| matches!(part, ObjectPart::Event(e) if matches!(e.body, Body::Finish { .. })),
        )
    }

    /// Returns whether all answers are finished.
    pub(crate) fn is_done(&self) -> bool {
        !self.choices.is_empty() && self.choices.iter().all(|choice| choice.finished)
    }

    /// Adds an object and the data from its envelope.
    pub(crate) fn add(
        &mut self,
        content: ObjectContent,
        payload: Payload,
        place: &Place,
        out: &Output,
        has_tags: bool,
    ) {
        self.last_place = place.clone();
        self.response_id = self.response_id.take().or(content.response);
        self.model = self.model.take().or(content.model).or(payload.model);
        self.request_id = self.request_id.take().or(payload.id);
        self.group = self.group.take().or(payload.group);
        if self.user.is_empty() {
            self.user = payload.user;
        }
        self.tokens = content.tokens.or(self.tokens);
        self.duration = content.took.or(self.duration);
        self.ended |= content.ends;
        let at = payload.clock.or(content.at);
        self.first_at = self.first_at.or(at);
        self.last_at = at.or(self.last_at);
        let passed = self.first_at.and_then(|began| Some(at? - began));
        let t_ms = payload.elapsed.or(passed);
        for (name, value) in content.about {
            self.set_metadata(name, value);
        }
        for (index, part) in content.parts {
            match part {
                ObjectPart::Event(event) => {
                    self.choice(index, out, has_tags)
                        .add_event(event, t_ms, out);
                }
                ObjectPart::Call(call) => {
                    self.choice(index, out, has_tags).add_call(call, t_ms, out)
                }
                // All pieces of a call are joined, in any order.
                ObjectPart::CallEnd(_) => {}
            }
        }
    }

    /// Sets metadata of the response. Later values replace earlier ones. Objects, such as token usage, are merged.
    fn set_metadata(&mut self, name: &'static str, value: Value) {
        match (self.meta.get_mut(name), value) {
            (Some(Value::Object(known)), Value::Object(more)) => known.extend(more),
            (Some(known), value) => *known = value,
            (None, value) => {
                self.meta.insert(name.to_owned(), value);
            }
        }
    }

    /// Returns the choice with this index, which is created if necessary.
    fn choice(&mut self, index: u64, out: &Output, has_tags: bool) -> &mut ResponseChoice {
        let found = self.choices.iter().position(|choice| choice.index == index);
        let at = found.unwrap_or_else(|| {
            let after = self.choices.partition_point(|choice| choice.index < index);
            let choice = ResponseChoice::new(index, out, has_tags);
            self.choices.insert(after, choice);
            after
        });
        &mut self.choices[at]
    }

    /// Emits each choice as a transcript.
    pub(crate) fn emit(mut self, is_session: bool, out: &mut Output) {
        if !self.ended && (is_session || !self.is_done()) {
            let expected = "a finish reason or [DONE]: taken as it is, marked meta.cut";
            out.warn(&self.last_place, "the stream ends here", expected);
            self.meta.insert("cut".to_owned(), Value::Bool(true));
        }
        if self.gaps > 0 {
            self.meta.insert("gaps".to_owned(), self.gaps.into());
        }
        let shift = match (self.first_at, self.last_at, self.duration) {
            (Some(began), Some(at), Some(took)) => (began - (at - took)).max(0.0),
            _ => 0.0,
        };
        let id = self.request_id.take().or(self.response_id.take());
        let several = self.choices.len() > 1;
        if self.choices.is_empty() {
            self.choice(0, out, false);
        }
        for choice in std::mem::take(&mut self.choices) {
            let index = choice.index;
            let tokens = self.tokens.filter(|_| !several);
            let user = self.user.iter().cloned().map(Body::User);
            let user = user.map(RecordedEvent::new);
            let events = user.chain(choice.into_events(shift, tokens)).collect();
            let mut entry = new_entry(self.place.clone(), events);
            let transcript = &mut entry.transcript;
            transcript.id = match &id {
                Some(id) if several => format!("{id}/{index}"),
                id => id.clone().unwrap_or_default(),
            };
            transcript.model = self.model.clone().unwrap_or_default();
            transcript.group = self.group.clone();
            transcript.meta = if several {
                self.meta.clone()
            } else {
                std::mem::take(&mut self.meta)
            };
            out.emit(entry);
        }
    }
}
