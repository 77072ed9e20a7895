//! Why a model stopped, in the words of OpenAI's API where a recorder has words of its own.

/// Words of recorders for the ends that every API knows.
const WORDS: [(&str, &str); 19] = [
    ("STOP", "stop"),
    ("end", "stop"),
    ("word", "stop"),
    ("stop_sequence", "stop"),
    ("stopStringFound", "stop"),
    ("eosFound", "stop"),
    ("finished_successfully", "stop"),
    ("MAX_TOKENS", "length"),
    ("max_tokens", "length"),
    ("max_length", "length"),
    ("limit", "length"),
    ("maxPredictedTokensReached", "length"),
    ("contextLengthReached", "length"),
    ("model_length", "length"),
    ("FINISH_REASON_MAX_TOKENS", "length"),
    ("FINISH_REASON_STOP", "stop"),
    ("userStopped", "cancelled"),
    ("toolUse", "tool_calls"),
    ("tool-calls", "tool_calls"),
];

/// The reason in the usual word, or as it is where it has none.
pub fn usual(reason: &str) -> String {
    let known = WORDS.iter().find(|(word, _)| *word == reason);
    known.map_or(reason, |(_, usual)| usual).to_owned()
}
