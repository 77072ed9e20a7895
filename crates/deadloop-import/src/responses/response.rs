//! [`PartialResponse`]: a response in progress, with its answers.
//!
//! A response that ended without a finish reason is marked `meta.cut`. A response with unreadable chunks is marked
//! `meta.gaps`.

use serde_json::{Map, Value};

use crate::reader::{Intake, new_entry};
use crate::responses::choice::ResponseChoice;
use crate::responses::envelope::Payload;
use deadloop_corpus::{Body, Place, RecordedEvent};
use deadloop_stream::reader::content::{ObjectContent, ObjectPart, TokenCounts};

/// A response that has not ended.
pub(crate) struct PartialResponse {
    /// The id of the response in its chunks.
    pub(crate) name: Option<String>,
    /// The id of the request in its envelope.
    id: Option<String>,
    model: Option<String>,
    group: Option<String>,
    /// The user's messages, if the request is recorded.
    user: Vec<String>,
    /// The place of the response's first record. `last` is the place of its last one.
    pub(crate) place: Place,
    last: Place,
    pub(crate) meta: Map<String, Value>,
    tokens: Option<TokenCounts>,
    /// The times of the first and the last object, and the duration of the response.
    began: Option<f64>,
    at: Option<f64>,
    took: Option<f64>,
    /// The number of records that could not be read while the response was open.
    pub(crate) gaps: u64,
    pub(crate) ended: bool,
    /// Whether each chunk has an id of its own.
    pub(crate) renamed: bool,
    choices: Vec<ResponseChoice>,
}

impl PartialResponse {
    /// Creates the response that an object begins.
    pub(crate) fn new(said: &ObjectContent, place: &Place) -> Self {
        Self {
            name: said.response.clone(),
            id: None,
            model: said.model.clone(),
            group: None,
            user: Vec::new(),
            place: place.clone(),
            last: place.clone(),
            meta: Map::new(),
            tokens: None,
            began: None,
            at: None,
            took: None,
            gaps: 0,
            ended: false,
            renamed: false,
            choices: Vec::new(),
        }
    }

    /// Returns whether an object belongs to this response, by its name, or without a name by its model.
    pub(crate) fn contains(&self, said: &ObjectContent) -> bool {
        match (&said.response, &said.model) {
            (Some(_), _) if self.renamed && said.goes_on => self.may_share_model(said),
            // A response whose beginning was not recorded gets its name at its end.
            (Some(name), _) => match &self.name {
                Some(own) => own == name,
                None => said.ends && !said.has_text(),
            },
            // llama.cpp names its model only at the end.
            (None, Some(model)) => {
                let own = self.model.as_ref();
                self.name.is_none() && own.map_or(said.ends, |own| own == model)
            }
            (None, None) => true,
        }
    }

    /// Returns whether an object may be from the model of this response.
    pub(crate) fn may_share_model(&self, said: &ObjectContent) -> bool {
        let both = self.model.as_ref().zip(said.model.as_ref());
        both.is_none_or(|(own, other)| own == other)
    }

    /// Returns whether the response is finished and the object adds text or calls to it.
    pub(crate) fn is_done_before(&self, said: &ObjectContent) -> bool {
        let adds = |(index, part): &(u64, ObjectPart)| {
            let mut choices = self.choices.iter();
            choices.any(|choice| choice.index == *index && choice.finished)
                && match part {
                    ObjectPart::Event(event) => !matches!(event.body, Body::Finish { .. }),
                    ObjectPart::Call(_) => true,
                    ObjectPart::Over(_) => false,
                }
        };
        self.is_done() && said.parts.iter().any(adds)
    }

    /// Returns whether an object finishes an answer.
    pub(crate) fn is_end(said: &ObjectContent) -> bool {
        let mut parts = said.parts.iter().map(|(_, part)| part);
        parts.any(
            |part| matches!(part, ObjectPart::Event(e) if matches!(e.body, Body::Finish { .. })),
        )
    }

    /// Returns whether all answers are finished.
    pub(crate) fn is_done(&self) -> bool {
        !self.choices.is_empty() && self.choices.iter().all(|choice| choice.finished)
    }

    /// Adds an object and the data of its envelope.
    pub(crate) fn add(
        &mut self,
        said: ObjectContent,
        opened: Payload,
        place: &Place,
        out: &Intake,
        tags: bool,
    ) {
        self.last = place.clone();
        self.name = self.name.take().or(said.response);
        self.model = self.model.take().or(said.model).or(opened.model);
        self.id = self.id.take().or(opened.id);
        self.group = self.group.take().or(opened.group);
        if self.user.is_empty() {
            self.user = opened.user;
        }
        self.tokens = said.tokens.or(self.tokens);
        self.took = said.took.or(self.took);
        self.ended |= said.ends;
        let at = opened.at.or(said.at);
        self.began = self.began.or(at);
        self.at = at.or(self.at);
        let passed = self.began.and_then(|began| Some(at? - began));
        let t_ms = opened.since.or(passed);
        for (name, value) in said.about {
            self.set_metadata(name, value);
        }
        for (index, part) in said.parts {
            match part {
                ObjectPart::Event(event) => {
                    self.choice_at(index, out, tags).add_event(event, t_ms, out);
                }
                ObjectPart::Call(call) => {
                    self.choice_at(index, out, tags).add_call(call, t_ms, out)
                }
                // All pieces of a call are joined, in any order.
                ObjectPart::Over(_) => {}
            }
        }
    }

    /// Updates data on the response. Later values replace earlier ones. Usage is merged count by count.
    fn set_metadata(&mut self, name: &'static str, value: Value) {
        match (self.meta.get_mut(name), value) {
            (Some(Value::Object(known)), Value::Object(more)) => known.extend(more),
            (Some(known), value) => *known = value,
            (None, value) => {
                self.meta.insert(name.to_owned(), value);
            }
        }
    }

    /// Returns the choice with this index. A new choice is empty.
    fn choice_at(&mut self, index: u64, out: &Intake, tags: bool) -> &mut ResponseChoice {
        let found = self.choices.iter().position(|choice| choice.index == index);
        let at = found.unwrap_or_else(|| {
            let after = self.choices.partition_point(|choice| choice.index < index);
            let choice = ResponseChoice::new(index, out, tags);
            self.choices.insert(after, choice);
            after
        });
        &mut self.choices[at]
    }

    /// Emits each choice as a transcript.
    pub(crate) fn emit(mut self, session: bool, out: &mut Intake) {
        if !self.ended && (session || !self.is_done()) {
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
            self.choice_at(0, out, false);
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
