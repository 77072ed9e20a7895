//! Settings that warn, refuse and stop, and a scripted model with its tools.

use crate::agent::{Model, Reply, Toolbox};

/// Settings in which the third equal call warns, the fourth and each later one is refused, and the seventh ends the
/// run. A user's message restarts these counts. A limit of 30 turns warns at the 24th.
pub(crate) const SETTINGS: &str = r#"
[[guard]]
detector = "duplicate"
response = "warn"
[guard.params]
n     = 3
reset = "user"

[[guard]]
detector = "duplicate"
response = "stop"
[guard.params]
n     = 7
reset = "user"

[[guard]]
detector = "duplicate"
response = "refuse"
[guard.params]
n     = 4
reset = "user"

[[guard]]
detector = "iterations"
response = "warn"
[guard.params]
limit   = 30
tells   = "warning"
warn_at = 0.8

[[guard]]
detector = "iterations"
[guard.params]
limit = 30
"#;

/// A model that replies from a script, one for each message of the user.
pub(crate) struct ScriptedModel {
    tasks: Vec<Vec<Reply>>,
    seen: Vec<Vec<String>>,
}

impl ScriptedModel {
    pub(crate) fn new(tasks: Vec<Vec<Reply>>) -> Self {
        Self {
            tasks,
            seen: Vec::new(),
        }
    }

    /// Returns the conversations that the model was called with, in order.
    #[allow(dead_code, reason = "the test looks")]
    pub(crate) fn inputs(&self) -> &[Vec<String>] {
        &self.seen
    }
}

impl Model for ScriptedModel {
    fn reply(&mut self, conversation: &[String]) -> Reply {
        self.seen.push(conversation.to_vec());
        let users = conversation
            .iter()
            .filter(|line| line.starts_with("user: "));
        let task = self.tasks.get_mut(users.count().saturating_sub(1));
        match task {
            Some(replies) if !replies.is_empty() => replies.remove(0),
            _ => message("I have nothing to say."),
        }
    }

    fn summary(&mut self, old: &[String], tokens: u64) -> String {
        let told = format!("{} messages about a search", old.len());
        told.chars()
            .take(usize::try_from(4 * tokens).unwrap_or(usize::MAX))
            .collect()
    }
}

/// Tools that never find anything.
pub(crate) struct Tools;

impl Toolbox for Tools {
    fn run(&mut self, name: &str, _: &str) -> Result<String, String> {
        match name {
            "search" => Ok("nothing found".into()),
            other => Err(format!("there is no tool {other}")),
        }
    }
}

pub(crate) fn call(name: &str, arguments: &str) -> Reply {
    Reply::Call {
        name: name.into(),
        arguments: arguments.into(),
    }
}

pub(crate) fn message(text: &str) -> Reply {
    Reply::Message(text.into())
}
