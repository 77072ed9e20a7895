//! [`Turn`]: what a recording says of a turn beside what was said in it; [`Usage`]: its tokens.

use serde_json::{Map, Value};

use super::reader::keep;
use deadloop_stream::take::Object;

/// What a recording says of a turn beside what was said in it.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    /// The recording's name of the model's response: pieces of one are one turn.
    pub(crate) response: Option<String>,
    /// Whose turn it is, where there are several agents.
    pub(crate) agent: Option<String>,
    /// Tokens of the turn.
    pub(crate) usage: Usage,
    /// When it began, in milliseconds since the run began.
    pub(crate) t_ms: Option<f64>,
}

/// Tokens of a turn, as far as they are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Of all that was sent, cached ones included.
    pub(crate) sent: Option<u64>,
    /// Of what the model wrote.
    pub(crate) wrote: Option<u64>,
    /// Of those sent, the ones that a cache had.
    pub(crate) cached: Option<u64>,
}

impl Usage {
    /// Takes the counts out of a `usage` object, as OpenAI, Anthropic and those who follow them write it.
    /// Anthropic counts tokens of the cache apart from `input_tokens`: here they are among those sent.
    pub(crate) fn taken(usage: &mut Object) -> Self {
        let mut take = |names: &[&str]| {
            let found = names.iter().find(|name| {
                usage
                    .iter()
                    .any(|(key, count)| key == **name && count.is_u64())
            });
            usage.remove(*found?)?.as_u64()
        };
        let whole = take(&["prompt_tokens", "promptTokenCount"]);
        let apart = take(&["input_tokens", "inputTokens", "input"]);
        let wrote = take(&[
            "completion_tokens",
            "output_tokens",
            "outputTokens",
            "output",
            "completion",
        ]);
        // Gemini counts what was thought apart.
        let said = take(&["candidatesTokenCount"]);
        let thought = said.and_then(|_| take(&["thoughtsTokenCount"]));
        let wrote = wrote.or(said.map(|said| more(said, thought)));
        let made = take(&[
            "cache_creation_input_tokens",
            "cacheWriteInputTokens",
            "cacheWrite",
        ]);
        let read = take(&[
            "cache_read_input_tokens",
            "cacheReadInputTokens",
            "cacheRead",
        ]);
        let flat = take(&[
            "cached_input_tokens",
            "cached_tokens",
            "cached",
            "cachedContentTokenCount",
        ]);
        take(&["total_tokens", "totalTokens", "total", "totalTokenCount"]);
        let with_cache = apart.map(|apart| more(more(apart, made), read));
        Self {
            sent: whole.or(with_cache),
            wrote,
            cached: read.or(flat).or_else(|| inner(usage)),
        }
    }

    pub(super) fn keep(self, fields: &mut Map<String, Value>) {
        let counts = [
            ("tokens_in", self.sent),
            ("tokens_out", self.wrote),
            ("cached", self.cached),
        ];
        for (name, count) in counts {
            keep(fields, name, count.map(Value::from));
        }
    }
}

/// Tokens with others that are counted apart. A log may say any number: the sum ends at the largest.
pub(crate) fn more(tokens: u64, apart: Option<u64>) -> u64 {
    tokens.saturating_add(apart.unwrap_or(0))
}

/// Cached tokens where OpenAI's APIs put them.
fn inner(usage: &mut Object) -> Option<u64> {
    let places = ["prompt_tokens_details", "input_tokens_details"];
    places.into_iter().find_map(|name| {
        let details = usage.get_mut(name)?.as_object_mut()?;
        details.remove("cached_tokens")?.as_u64()
    })
}
