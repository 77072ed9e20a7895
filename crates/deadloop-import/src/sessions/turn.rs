//! [`TurnData`]: data on a turn; [`Usage`]: the tokens of a turn.

use serde_json::{Map, Value};

use crate::reader::keep;
use deadloop_stream::fields::{self, Object};

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
    pub(crate) input: Option<u64>,
    /// Tokens that the model wrote.
    pub(crate) output: Option<u64>,
    /// Tokens of the request that came from a cache.
    pub(crate) cached: Option<u64>,
}

impl TurnData {
    /// Returns a turn with a start and nothing else.
    pub(crate) fn at(t_ms: Option<f64>) -> Self {
        Self {
            t_ms,
            ..Self::default()
        }
    }
}

impl Usage {
    /// Takes the counts out of a `usage` object of OpenAI, Anthropic or a compatible API.
    ///
    /// Anthropic counts tokens of the cache apart from `input_tokens`. Here they are added to `input`.
    pub(crate) fn take(usage: &mut Object) -> Self {
        let mut take = |names: &str| {
            let is_count = |name: &&str| fields::get(usage, name).is_some_and(Value::is_u64);
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

    /// Adds the counts to the fields of a turn.
    pub(crate) fn keep(self, fields: &mut Map<String, Value>) {
        let counts = [
            ("tokens_in", self.input),
            ("tokens_out", self.output),
            ("cached", self.cached),
        ];
        for (name, count) in counts {
            keep(fields, name, count.map(Value::from));
        }
    }
}

/// Adds tokens that are counted separately. The sum saturates, since a log may hold any number.
pub(crate) fn add_separate(tokens: u64, separate: Option<u64>) -> u64 {
    tokens.saturating_add(separate.unwrap_or(0))
}

/// Takes the cached tokens out of the details of OpenAI's APIs.
fn take_cached_details(usage: &mut Object) -> Option<u64> {
    let places = ["prompt_tokens_details", "input_tokens_details"];
    places.into_iter().find_map(|name| {
        let details = usage.get_mut(name)?.as_object_mut()?;
        details.remove("cached_tokens")?.as_u64()
    })
}
