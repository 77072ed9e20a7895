//! [`Example`]: a stream that demonstrates and tests a detector's behaviour.
//!
//! ```text
//! fires
//!   400 times say "So it is. "
//!
//! quiet: the second result is news
//!   2 times turn; call ls {}; result a.txt
//!
//! min_chars: a loop of few chars
//!   with min_chars = 40
//!   10 times say "So it is. "
//! ```

use crate::stream::{Arguments, Event, TextChannel};

/// A stream that demonstrates a detector or a parameter. The defaults alarm on [`FIRES`](Self::FIRES) and not on
/// [`QUIET`](Self::QUIET). Any other example has the name of a parameter. Without this parameter, its settings alarm
/// elsewhere or not at all.
#[derive(Clone, Debug)]
pub struct Example {
    /// The name of the example.
    pub name: &'static str,
    /// The settings of the example, as fields of a TOML table. Empty for the defaults.
    pub params: &'static str,
    /// The lines of the example.
    pub lines: &'static str,
}

impl Example {
    /// The name of the example on which the defaults alarm.
    pub const FIRES: &'static str = "fires";
    /// The name of the example on which the defaults do not alarm.
    pub const QUIET: &'static str = "quiet";

    /// Parses the examples of a file.
    pub(super) fn all(text: &'static str) -> impl Iterator<Item = Self> {
        let parts = text.split("\n\n").filter_map(|part| part.split_once('\n'));
        parts.map(|(head, lines)| {
            let with = lines.trim_start().strip_prefix("with ");
            let (params, lines) = with
                .and_then(|with| with.split_once('\n'))
                .unwrap_or(("", lines));
            let name = head.split(':').next().unwrap_or(head);
            Self {
                name,
                params,
                lines,
            }
        })
    }

    /// Returns the events of the example. `None` if a line is not an event.
    pub fn events(&self) -> Option<Vec<Event<'static>>> {
        let mut all = Vec::new();
        for line in self.lines.lines().map(str::trim_start) {
            let (times, line) = match line.split_once(" times ") {
                Some((times, line)) => (times.parse().ok()?, line),
                None => (1, line),
            };
            let events = line.split("; ").map(event).collect::<Option<Vec<_>>>()?;
            all.extend(std::iter::repeat_n(events, times).flatten());
        }
        Some(all)
    }
}

fn event(line: &'static str) -> Option<Event<'static>> {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let (id, content) = match rest.strip_prefix('#').and_then(|rest| rest.split_once(' ')) {
        Some((id, content)) => (Some(id), content),
        None => (None, rest),
    };
    let text = |channel| {
        Some(Event::Text(
            channel,
            content.strip_prefix('"')?.strip_suffix('"')?,
        ))
    };
    let result = |error| Event::Result {
        id,
        content,
        error,
        cut: None,
    };
    Some(match word {
        "say" => text(TextChannel::Answer)?,
        "think" => text(TextChannel::Reasoning)?,
        "break" => Event::Text(TextChannel::Answer, "\n"),
        "call" => {
            let (name, arguments) = content.split_once(' ').unwrap_or((content, ""));
            Event::Call {
                id,
                name,
                arguments: Arguments::Raw(arguments),
            }
        }
        "result" => result(None),
        "error" => result(Some(true)),
        "user" => Event::User(content),
        "turn" => Event::Turn { agent: None },
        "silence" => Event::Silence(content.parse().ok()?),
        "finish" => Event::Finish((!content.is_empty()).then_some(content)),
        "closed" => Event::Closed,
        _ => return None,
    })
}
