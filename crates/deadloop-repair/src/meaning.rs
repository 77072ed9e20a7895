//! [`Meaning`]: a stream's reasoning, text and actions. [`Delivery`]: an event.

/// An action that a text requests from a program: a tag with its fields and content.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Action {
    /// The action: the name of the tag, in its known spelling.
    pub name: String,
    /// The number after the name, as in `<confirm2>`.
    pub number: Option<u32>,
    /// The attributes and the tags inside, as names and values, in order.
    pub fields: Vec<(String, String)>,
    /// The text outside of the fields, without blanks around it.
    pub content: String,
}

/// A part of a stream's meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MeaningPart {
    /// Thinking: not for the user.
    Reasoning(String),
    /// Text that is passed on: text for the user, arguments, a name.
    Text(String),
    /// An action for the program.
    Action(Action),
}

/// Parts in order. Neighbouring texts are joined into one part, and so is neighbouring thinking. No part is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MeaningParts(Vec<MeaningPart>);

impl MeaningParts {
    /// Returns the parts so far.
    pub fn parts(&self) -> &[MeaningPart] {
        &self.0
    }

    /// Returns the number of parts, and the bytes of the last one's text. Both are unchanged as long as nothing is
    /// added.
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

    /// Adds text that is passed on.
    pub fn text(&mut self, more: &str) {
        match self.0.last_mut() {
            _ if more.is_empty() => {}
            Some(MeaningPart::Text(text)) => text.push_str(more),
            _ => self.0.push(MeaningPart::Text(more.to_owned())),
        }
    }

    /// Adds thinking.
    pub fn reasoning(&mut self, more: &str) {
        match self.0.last_mut() {
            _ if more.is_empty() => {}
            Some(MeaningPart::Reasoning(text)) => text.push_str(more),
            _ => self.0.push(MeaningPart::Reasoning(more.to_owned())),
        }
    }

    /// Adds an action.
    pub fn action(&mut self, action: Action) {
        self.0.push(MeaningPart::Action(action));
    }

    /// Returns all parts together.
    pub fn meaning(&self) -> Meaning {
        let mut meaning = Meaning::default();
        meaning.add(self);
        meaning
    }
}

impl Meaning {
    /// Adds parts that came later.
    pub fn add(&mut self, more: &MeaningParts) {
        for piece in &more.0 {
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
    /// All thinking.
    pub reasoning: String,
    /// The text that is passed on.
    pub text: String,
    /// The actions, in their order.
    pub actions: Vec<Action>,
}

/// An event of a stream, as it is delivered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// The id, if the event has one.
    pub id: Option<String>,
    /// The position in the row, if it is given. Rows count from 0 or from any other number.
    pub position: Option<u64>,
    /// The text of the event.
    pub text: String,
    /// Whether the event is the end mark, `[DONE]`.
    pub done: bool,
}
