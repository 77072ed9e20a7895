//! [`TurnData`]: data on a turn. [`Usage`]: its token counts.

use serde_json::{Map, Value};

use crate::reader::set_field;
use deadloop_stream::fields::{Object, ReadFields};

/// Data on a turn besides its text and calls.
#[derive(Debug, Default)]
pub(crate) struct TurnData {
    /// Recorded id of the model's response. Events of the same response are one turn.
    pub(crate) response: Option<String>,
    /// Name of the agent, if there are several.
    pub(crate) agent: Option<String>,
    /// Token counts of the turn.
    pub(crate) usage: Usage,
    /// Start time, in milliseconds since the start of the run.
    pub(crate) t_ms: Option<f64>,
}

/// Recorded token counts of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Tokens of the request, including cached ones.
    pub(crate) input: Option<u64>,
    /// Tokens written by the model.
    pub(crate) output: Option<u64>,
    /// Tokens of the request that came from a cache.
    pub(crate) cached: Option<u64>,
}

impl TurnData {
    /// Creates the data on a turn with a start time and nothing else.
    pub(crate) fn starting_at(t_ms: Option<f64>) -> Self {
        Self {
            t_ms,
            ..Self::default()
        }
    }
}

impl Usage {
    /// Removes the token counts from a `usage` object of OpenAI, Anthropic or a compatible API, and returns them.
    ///
    /// Anthropic counts cached tokens separately from `input_tokens`. Here `input` includes them.
    pub(crate) fn take_from(usage: &mut Object) -> Self {
        let mut take = |names: &str| {
            let is_count = |name: &&str| usage.get_field(name).is_some_and(Value::is_u64);
            let found = names.split(' ').find(is_count)?;
            usage.remove(found)?.as_u64()
        };
        let prompt = take("prompt_tokens promptTokenCount");
        let input = take("input_tokens inputTokens input");
        let output = take("completion_tokens output_tokens outputTokens output completion");
        // Gemini counts thinking separately.
        let answer = take("candidatesTokenCount");
        let thinking = answer.and_then(|_| take("thoughtsTokenCount"));
        let output = output.or(answer.map(|answer| add_separate(answer, thinking)));
        let created = take("cache_creation_input_tokens cacheWriteInputTokens cacheWrite");
        let read = take("cache_read_input_tokens cacheReadInputTokens cacheRead");
        let flat =
            "cached_input_tokens cacheReadTokens cached_tokens cached cachedContentTokenCount";
        let flat = take(flat);
        take("total_tokens totalTokens total totalTokenCount");
        let with_cache = input.map(|input| add_separate(add_separate(input, created), read));
        Self {
            input: prompt.or(with_cache),
            output,
            cached: read.or(flat).or_else(|| take_cached_details(usage)),
        }
    }

    /// Writes the counts to the fields of a turn event.
    pub(crate) fn write_fields(self, fields: &mut Map<String, Value>) {
        let counts = [
            ("tokens_in", self.input),
            ("tokens_out", self.output),
            ("cached", self.cached),
        ];
        for (name, count) in counts {
            set_field(fields, name, count.map(Value::from));
        }
    }
}

/// Adds a separate token count. The sum saturates, since a log may contain any number.
pub(crate) fn add_separate(tokens: u64, separate: Option<u64>) -> u64 {
    tokens.saturating_add(separate.unwrap_or(0))
}

/// Takes the cached tokens out of the token details of OpenAI's APIs.
fn take_cached_details(usage: &mut Object) -> Option<u64> {
    let places = ["prompt_tokens_details", "input_tokens_details"];
    places.into_iter().find_map(|name| {
        let details = usage.get_mut(name)?.as_object_mut()?;
        details.remove("cached_tokens")?.as_u64()
    })
}
