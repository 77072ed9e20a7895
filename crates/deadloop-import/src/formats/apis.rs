//! Responses and recorded streams of APIs, bare or in an [`envelope`].
//!
//! Each family of `reader::families` of deadloop-stream, where the APIs are described, is a row.
//!
//! [`envelope`]: crate::responses::envelope

use crate::reader::{ForeignFormat, FormatReader};
use crate::responses::streams::{ResponseStreams, rate_certainty};
use deadloop_stream::reader::families::{
    agent, ai_sdk, anthropic, bedrock, chat, gemini, llama_cpp, ollama, responses, tgi,
};

/// Defines the registry entry of each API family.
macro_rules! api_entries {
    ($($entry:ident = $family:ident, $begin:ident, $name:literal, $help:literal;)*) => {$(
        pub(crate) const $entry: ForeignFormat = ForeignFormat {
            name: $name,
            help: $help,
            format_reader: FormatReader::Code { certainty: |head| rate_certainty(head, &$family::ENTRY), reader: || Box::new(ResponseStreams::$begin(&$family::ENTRY)) },
            shape: None,
            whole_folder: false,
        };
    )*};
}

api_entries! {
    OPENAI_CHAT_ENTRY = chat, new, "openai-chat", "OpenAI chat completions and their streams, of any server that speaks them; batches; rows of LiteLLM, Helicone";
    OPENAI_RESPONSES_ENTRY = responses, new, "openai-responses", "OpenAI Responses and their streams";
    ANTHROPIC_ENTRY = anthropic, new, "anthropic", "Anthropic messages and their streams; batches";
    OLLAMA_ENTRY = ollama, new, "ollama", "Ollama's chat and generate, streamed or not";
    GEMINI_ENTRY = gemini, new, "gemini", "Gemini API (generateContent) and its streams; batches of Vertex AI";
    BEDROCK_ENTRY = bedrock, new, "bedrock", "Amazon Bedrock's Converse and ConverseStream; invocation logs";
    TGI_ENTRY = tgi, new, "tgi", "text-generation-inference: generate and generate_stream";
    LLAMA_CPP_ENTRY = llama_cpp, new, "llama-cpp", "llama.cpp's own /completion, streamed or not";
    AI_SDK_ENTRY = ai_sdk, new, "ai-sdk", "UI message streams of Vercel's AI SDK";
    AGENT_ENTRY = agent, session_log, "agent", "an agent server's events (event_type, agent_source, payload), ending in [DONE]";
}
