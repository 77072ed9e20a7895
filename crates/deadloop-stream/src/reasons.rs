//! Translation of finish reasons into those of OpenAI's API.

/// Finish reasons of other APIs and recorders, each with OpenAI's equivalent.
const USUAL_REASONS: [(&str, &str); 19] = [
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

/// Translates a finish reason to its equivalent in OpenAI's API. An unknown reason is returned unchanged.
pub fn normalize(reason: &str) -> String {
    let known = USUAL_REASONS.iter().find(|(word, _)| *word == reason);
    known.map_or(reason, |(_, usual)| usual).to_owned()
}
