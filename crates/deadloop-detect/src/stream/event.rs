//! [`EventOf`]: an event of a stream, generic over its texts.
//!
//! An [`Event`] borrows its texts, and an [`OwnedEvent`] owns them.

use std::borrow::Cow;

use serde_json::Value;

use super::channel::TextChannel;
use crate::text::json_scan::JsonScan;

/// An event with borrowed texts, as a guard takes it.
pub type Event<'a> = EventOf<&'a str, &'a Value>;

/// An event that owns its texts, as readers of streams return it.
pub type OwnedEvent = EventOf<String, Value>;

/// An event of a stream or of a recording. `S` is a text, `V` a JSON value: borrowed in an [`Event`], owned in an
/// [`OwnedEvent`].
///
/// Events have no time. A caller with a clock reports silence (`Silence`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EventOf<S, V> {
    /// A piece of text. In a live stream, the arguments of a call arrive as text before the call.
    Text(TextChannel, S),
    /// A call of a tool, before it runs.
    Call {
        /// The id that joins the call to its result.
        id: Option<S>,
        /// The name of the tool.
        name: S,
        /// The arguments.
        arguments: ArgumentsOf<S, V>,
    },
    /// The result of a call.
    Result {
        /// The id of the call.
        id: Option<S>,
        /// The text of the result.
        content: S,
        /// Whether the call failed. `None` if unknown, which counts as not failed.
        error: Option<bool>,
        /// The length and hash of the whole text, if `content` is cut.
        cut: Option<CutTextOf<S>>,
    },
    /// A user message. The first one is the task.
    User(S),
    /// A system prompt or the definition of a tool.
    System,
    /// The beginning of a turn.
    Turn {
        /// The name of the agent, if there are several.
        agent: Option<S>,
    },
    /// A handoff from one agent to the next.
    Handoff {
        /// The agent that hands off.
        from: S,
        /// The next agent.
        to: S,
    },
    /// A silence of this number of milliseconds.
    Silence(u64),
    /// The end of the stream, with its finish reason.
    Finish(Option<S>),
    /// The end of the connection.
    Closed,
}

/// The arguments of a call: the raw text if available, which may be broken JSON, or else the parsed value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ArgumentsOf<S, V> {
    /// The text that the model wrote.
    Raw(S),
    /// The parsed value.
    Json(V),
}

/// The arguments of an [`Event`].
pub type Arguments<'a> = ArgumentsOf<&'a str, &'a Value>;

impl OwnedEvent {
    /// Returns the event with borrowed texts.
    pub fn borrowed(&self) -> Event<'_> {
        self.map(String::as_str, |value| value)
    }
}

impl Event<'_> {
    /// Returns the event with owned copies of its texts.
    pub fn owned(&self) -> OwnedEvent {
        self.map(|text| (*text).to_owned(), |value| (*value).clone())
    }
}

impl<S, V> EventOf<S, V> {
    /// Converts the texts by `text` and the values by `value`.
    #[inline]
    fn map<'a, T, U>(
        &'a self,
        text: impl Fn(&'a S) -> T,
        value: impl Fn(&'a V) -> U,
    ) -> EventOf<T, U> {
        let optional = |given: &'a Option<S>| given.as_ref().map(&text);
        match self {
            Self::Text(channel, piece) => EventOf::Text(*channel, text(piece)),
            Self::Call {
                id,
                name,
                arguments,
            } => EventOf::Call {
                id: optional(id),
                name: text(name),
                arguments: match arguments {
                    ArgumentsOf::Raw(raw) => ArgumentsOf::Raw(text(raw)),
                    ArgumentsOf::Json(json) => ArgumentsOf::Json(value(json)),
                },
            },
            Self::Result {
                id,
                content,
                error,
                cut,
            } => EventOf::Result {
                id: optional(id),
                content: text(content),
                error: *error,
                cut: cut.as_ref().map(|cut| CutTextOf {
                    length: cut.length,
                    sha256: text(&cut.sha256),
                }),
            },
            Self::User(said) => EventOf::User(text(said)),
            Self::System => EventOf::System,
            Self::Turn { agent } => EventOf::Turn {
                agent: optional(agent),
            },
            Self::Handoff { from, to } => EventOf::Handoff {
                from: text(from),
                to: text(to),
            },
            Self::Silence(millis) => EventOf::Silence(*millis),
            Self::Finish(reason) => EventOf::Finish(optional(reason)),
            Self::Closed => EventOf::Closed,
        }
    }
}

impl<'a> Arguments<'a> {
    /// Returns the text as written, or the value as JSON with its keys in order.
    pub fn text(self) -> Cow<'a, str> {
        match self {
            Self::Raw(text) => Cow::Borrowed(text),
            Self::Json(Value::String(text)) => Cow::Borrowed(text),
            Self::Json(value) => Cow::Owned(value.to_string()),
        }
    }

    /// Returns the arguments as calls are compared: as JSON with sorted keys. Text that is not JSON is only trimmed.
    ///
    /// 1 and 1.0 differ. `-0`, `-0.0`, `0.0` and `0e5` are equal, and differ from `0`. This holds for raw and for
    /// parsed arguments.
    ///
    /// Arguments of more than 16,384 values are compared by their text, since parsed values take fifty times the
    /// memory.
    pub fn canonical(self) -> String {
        let text = match self {
            Self::Raw(text) => text,
            Self::Json(Value::String(text)) => text,
            Self::Json(value) if count(value) > MAX_VALUES => return value.to_string(),
            Self::Json(value) => return sorted(value.clone()).to_string(),
        };
        if estimate_count(text) > MAX_VALUES {
            return text.trim().to_owned();
        }
        match serde_json::from_str::<Value>(text) {
            Ok(value) => sorted(value).to_string(),
            Err(_) => text.trim().to_owned(),
        }
    }
}

/// The maximum number of values of arguments that are compared as JSON.
const MAX_VALUES: usize = 1 << 14;

/// Counts the elements and fields of a value, at every depth.
fn count(value: &Value) -> usize {
    let inner = |items: &mut dyn Iterator<Item = &Value>| items.map(|item| 1 + count(item)).sum();
    match value {
        Value::Array(items) => inner(&mut items.iter()),
        Value::Object(map) => inner(&mut map.values()),
        _ => 0,
    }
}

/// Estimates [`count`] of a JSON text: the same number, or one more for each empty list and object. Meaningless
/// for other text.
fn estimate_count(text: &str) -> usize {
    let mut scan = JsonScan::default();
    let outside = text.chars().filter_map(|c| scan.outside(c));
    outside.filter(|c| matches!(c, ',' | '[' | '{')).count()
}

/// Returns the value with sorted keys in every object. The value must not be deeper than parsed JSON.
fn sorted(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        Value::Object(map) => {
            let mut fields: Vec<(String, Value)> = map.into_iter().collect();
            fields.sort_by(|a, b| a.0.cmp(&b.0));
            let fields = fields.into_iter().map(|(key, value)| (key, sorted(value)));
            Value::Object(fields.collect())
        }
        // JSON parsers read `-0` and `-0.0` as one float, which equals `0.0`.
        Value::Number(n) if n.as_f64() == Some(0.0) && n.is_f64() => 0.0.into(),
        other => other,
    }
}

/// The length and hash of a text that was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutTextOf<S> {
    /// The length of the whole text in chars, if recorded.
    pub length: Option<u64>,
    /// The first hexadecimal digits of the whole text's SHA-256.
    pub sha256: S,
}

/// The length and hash of a borrowed [`Event`]'s text that was cut.
pub type CutText<'a> = CutTextOf<&'a str>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_compared_as_json_values() {
        let same = |a, b| Arguments::Raw(a).canonical() == Arguments::Raw(b).canonical();
        let zeros = ["-0", "-0.0", "0.0", "0e5", "-0E-3"];
        assert!(zeros.iter().all(|zero| same(zero, "0.0")), "one value");
        assert!(same(r#"{"a": [-0]}"#, r#"{"a": [0.0]}"#));
        assert!(!same("-0", "0"), "a float is no integer, zero or not");
        assert!(!same("-1.0", "1.0"));
        for zero in zeros {
            let value: Value = serde_json::from_str(zero).expect("JSON");
            assert_eq!(
                Arguments::Json(&value).canonical(),
                "0.0",
                "{zero} as an object's value"
            );
        }
        assert!(same(
            r#"{"a": 1, "b": {"y": 2, "x": 3}}"#,
            r#"{"b":{"x":3,"y":2},"a":1}"#
        ));
        assert!(
            same(r#"{"a": 1, "a": 2}"#, r#"{"a":2}"#),
            "the last of doubled keys"
        );
        assert!(!same(r#"{"a": 1}"#, r#"{"a": 1.0}"#));
        assert!(same("  ls -l\n", "ls -l"), "what is no JSON is trimmed");
        assert!(!same("ls -l", "ls  -l"));
        let value = serde_json::json!({"b": 1, "a": 2});
        let raw = Arguments::Raw(r#"{"a":2,"b":1}"#);
        assert_eq!(Arguments::Json(&value).canonical(), raw.canonical());
        assert_eq!(Arguments::Json(&value).text(), r#"{"b":1,"a":2}"#);
    }

    #[test]
    fn many_values_are_compared_by_their_text() {
        let list = |n: usize, space: &str| format!("[{}0]", format!("0,{space}").repeat(n - 1));
        let same =
            |a: &str, b: &str| Arguments::Raw(a).canonical() == Arguments::Raw(b).canonical();
        assert!(same(&list(MAX_VALUES, ""), &list(MAX_VALUES, " ")));
        assert!(!same(&list(MAX_VALUES + 1, ""), &list(MAX_VALUES + 1, " ")));
        assert!(same(
            &list(MAX_VALUES + 1, ""),
            &(list(MAX_VALUES + 1, "") + "\n")
        ));
        let value: Value = serde_json::from_str(&list(MAX_VALUES + 1, " ")).expect("JSON");
        let raw = list(MAX_VALUES + 1, "");
        assert_eq!(
            Arguments::Json(&value).canonical(),
            Arguments::Raw(&raw).canonical()
        );
        // Commas in strings are no values.
        let text = format!(
            r#"{{"b": "{}\" ,", "a": [1, {{"c": 2}}]}}"#,
            ",".repeat(99_999)
        );
        let value: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!((estimate_count(&text), count(&value)), (5, 5));
        assert_eq!(
            Arguments::Json(&value).canonical(),
            Arguments::Raw(&text).canonical()
        );
    }

    #[test]
    fn both_forms_are_equal() {
        let value = serde_json::json!({"a": [1]});
        let call = |arguments| Event::Call {
            id: Some("1"),
            name: "ls",
            arguments,
        };
        let cut = Some(CutText {
            length: Some(9),
            sha256: "ab",
        });
        let texts = TextChannel::ALL.map(|channel| Event::Text(channel, "x"));
        let others = [
            call(Arguments::Raw("{")),
            call(Arguments::Json(&value)),
            Event::Result {
                id: None,
                content: "y",
                error: Some(true),
                cut,
            },
            Event::User("u"),
            Event::System,
            Event::Turn { agent: Some("a") },
            Event::Handoff { from: "a", to: "b" },
            Event::Silence(5),
            Event::Finish(Some("stop")),
            Event::Closed,
        ];
        for event in texts.into_iter().chain(others) {
            assert_eq!(event.owned().borrowed(), event);
        }
    }
}
