//! What the examples of the guards on runs are made of.

use crate::stream::{Arguments, Event, TextChannel};

/// A turn of an unnamed agent begins.
pub(crate) const TURN: Event<'static> = Event::Turn { agent: None };

/// A call.
pub(crate) const fn call(name: &'static str, arguments: &'static str) -> Event<'static> {
    Event::Call {
        id: None,
        name,
        arguments: Arguments::Raw(arguments),
    }
}

/// The result of the oldest call without a result.
pub(crate) const fn result(content: &'static str) -> Event<'static> {
    told(content, None)
}

/// The same, an error.
pub(crate) const fn error(content: &'static str) -> Event<'static> {
    told(content, Some(true))
}

const fn told(content: &'static str, error: Option<bool>) -> Event<'static> {
    Event::Result {
        id: None,
        content,
        error,
        cut: None,
    }
}

/// An answer.
pub(crate) const fn say(text: &'static str) -> Event<'static> {
    Event::Text(TextChannel::Answer, text)
}
