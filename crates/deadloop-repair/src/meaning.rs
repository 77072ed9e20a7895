//! [`Meaning`]: the reasoning, text and actions of a stream. [`Delivery`]: an event.

/// An action that a text requests from a program by a tag.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Action {
    /// The name of the action, in the spelling of the parameters.
    pub name: String,
    /// The number after the name, such as 2 in `<confirm2>`.
    pub number: Option<u32>,
    /// The names and values of attributes and inner tags, in order.
    pub fields: Vec<(String, String)>,
    /// The text outside of the fields, without surrounding whitespace.
    pub content: String,
}

/// A part of a stream's meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MeaningPart {
    /// Reasoning, which is not shown to the user.
    Reasoning(String),
    /// Text that is passed on: an answer, arguments or a name.
    Text(String),
    /// An action.
    Action(Action),
}

/// Parts in order. Adjacent texts form one part, as do adjacent pieces of reasoning. No part is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MeaningParts(Vec<MeaningPart>);

impl MeaningParts {
    /// Returns the parts so far.
    pub fn parts(&self) -> &[MeaningPart] {
        &self.0
    }

    /// Returns the number of parts and the length of the last part's text in bytes. The result changes whenever
    /// something is added.
    pub fn extent(&self) -> (usize, usize) {
        let last = match self.0.last() {
            Some(MeaningPart::Text(text) | MeaningPart::Reasoning(text)) => text.len(),
            Some(MeaningPart::Action(_)) | None => 0,
        };
        (self.0.len(), last)
    }

    /// Removes the parts so far and returns them.
    pub fn take(&mut self) -> Vec<MeaningPart> {
        std::mem::take(&mut self.0)
    }

    /// Appends text that is passed on.
    pub fn push_text(&mut self, text: &str) {
        match self.0.last_mut() {
            _ if text.is_empty() => {}
            Some(MeaningPart::Text(last)) => last.push_str(text),
            _ => self.0.push(MeaningPart::Text(text.to_owned())),
        }
    }

    /// Appends reasoning text.
    pub fn push_reasoning(&mut self, text: &str) {
        match self.0.last_mut() {
            _ if text.is_empty() => {}
            Some(MeaningPart::Reasoning(last)) => last.push_str(text),
            _ => self.0.push(MeaningPart::Reasoning(text.to_owned())),
        }
    }

    /// Appends an action.
    pub fn push_action(&mut self, action: Action) {
        self.0.push(MeaningPart::Action(action));
    }

    /// Combines all parts into the meaning of the stream.
    pub fn meaning(&self) -> Meaning {
        let mut meaning = Meaning::default();
        meaning.add(self);
        meaning
    }
}

impl Meaning {
    /// Appends parts to the meaning.
    pub fn add(&mut self, parts: &MeaningParts) {
        for piece in &parts.0 {
            match piece {
                MeaningPart::Reasoning(text) => self.reasoning.push_str(text),
                MeaningPart::Text(text) => self.text.push_str(text),
                MeaningPart::Action(action) => self.actions.push(action.clone()),
            }
        }
    }
}

/// The meaning of a whole stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meaning {
    /// All reasoning.
    pub reasoning: String,
    /// The text that is passed on.
    pub text: String,
    /// The actions, in order.
    pub actions: Vec<Action>,
}

/// An event of a stream, in the form in which it is delivered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// The id, if the event has one.
    pub id: Option<String>,
    /// The position in the sequence, if given. The first position may be any number.
    pub position: Option<u64>,
    /// The text of the event.
    pub text: String,
    /// Whether the event is the end marker `[DONE]`.
    pub done: bool,
}
