//! [`TurnData`]: data on a turn; [`Usage`]: the tokens of a turn.

use serde_json::{Map, Value};

use crate::reader::keep;
use deadloop_stream::fields::Object;

/// The data on a turn besides its text and calls.
#[derive(Debug, Default)]
pub(crate) struct TurnData {
    /// The recording's name of the model's response. Pieces of one response are one turn.
    pub(crate) response: Option<String>,
    /// The agent, if there are several.
    pub(crate) agent: Option<String>,
    /// The tokens of the turn.
    pub(crate) usage: Usage,
    /// The start, in milliseconds since the start of the run.
    pub(crate) t_ms: Option<f64>,
}

/// The recorded tokens of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Tokens of the request, including cached ones.
    pub(crate) sent: Option<u64>,
    /// Tokens that the model wrote.
    pub(crate) wrote: Option<u64>,
    /// Tokens of the request that came from a cache.
    pub(crate) cached: Option<u64>,
}

impl Usage {
    /// Takes the counts out of a `usage` object of OpenAI, Anthropic or a compatible API.
    ///
    /// Anthropic counts tokens of the cache apart from `input_tokens`. Here they are added to `sent`.
    pub(crate) fn take(usage: &mut Object) -> Self {
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
        // Gemini counts thinking separately.
        let said = take(&["candidatesTokenCount"]);
        let thought = said.and_then(|_| take(&["thoughtsTokenCount"]));
        let wrote = wrote.or(said.map(|said| add_separate(said, thought)));
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
            "cacheReadTokens",
            "cached_tokens",
            "cached",
            "cachedContentTokenCount",
        ]);
        take(&["total_tokens", "totalTokens", "total", "totalTokenCount"]);
        let with_cache = apart.map(|apart| add_separate(add_separate(apart, made), read));
        Self {
            sent: whole.or(with_cache),
            wrote,
            cached: read.or(flat).or_else(|| inner(usage)),
        }
    }

    pub(crate) fn keep(self, fields: &mut Map<String, Value>) {
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

/// Adds tokens that are counted separately. A log may hold any number, so the sum saturates.
pub(crate) fn add_separate(tokens: u64, apart: Option<u64>) -> u64 {
    tokens.saturating_add(apart.unwrap_or(0))
}

/// Takes the cached tokens in the fields of OpenAI's APIs.
fn inner(usage: &mut Object) -> Option<u64> {
    let places = ["prompt_tokens_details", "input_tokens_details"];
    places.into_iter().find_map(|name| {
        let details = usage.get_mut(name)?.as_object_mut()?;
        details.remove("cached_tokens")?.as_u64()
    })
}
