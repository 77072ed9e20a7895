//! [`PromptInfo`]: the request that a response answers.

use serde_json::Value;

use crate::fields::Object;
use crate::wire::parse;

/// The maximum number of JSON values in a request. A long conversation has some thousands.
const MAX_VALUES: u32 = 65_536;

/// The task and the user's texts of the request that a response answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptInfo {
    /// The name of the task, by which settings may select the guard. Empty if unknown.
    pub task: String,
    /// The user's texts, one per message.
    pub user: Vec<String>,
}

/// The fields in which APIs send the user's input: a text, a list of texts, or a list of messages.
///
/// `messages` of chat completions, Anthropic, Bedrock and Ollama's chat, `input` of OpenAI's responses, `contents` of
/// Gemini, `prompt` of completions, llama.cpp and Ollama's generate, `inputs` of TGI.
const INPUT_FIELDS: &[&str] = &["messages", "input", "contents", "prompt", "inputs"];

impl PromptInfo {
    /// Returns the user's texts in the body of a request to any supported API. `None` if the body is not JSON, or has
    /// more than 65,536 values.
    ///
    /// These are the texts of messages with the role `user`, and texts outside messages. Images, tool results, and the
    /// texts of the system and the model are left out.
    ///
    /// ```
    /// use deadloop_stream::PromptInfo;
    ///
    /// let body = br#"{"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Sing."}]}"#;
    /// assert_eq!(PromptInfo::user_texts(body), Some(vec!["Sing.".to_owned()]));
    /// assert_eq!(PromptInfo::user_texts(b"name=value"), None);
    /// ```
    pub fn user_texts(body: &[u8]) -> Option<Vec<String>> {
        let body = std::str::from_utf8(body).ok()?;
        match parse(body, MAX_VALUES).ok()? {
            Value::Object(body) => Some(Self::in_request(&body)),
            _ => None,
        }
    }

    /// Returns the user's texts in a parsed request. See [`user_texts`](Self::user_texts).
    pub fn in_request(body: &Object) -> Vec<String> {
        let mut all = Vec::new();
        for field in INPUT_FIELDS {
            match body.get(*field) {
                Some(Value::String(text)) => all.push(text.clone()),
                Some(Value::Array(items)) => {
                    items.iter().for_each(|item| add_user_text(item, &mut all))
                }
                _ => {}
            }
        }
        all.retain(|text| !text.is_empty());
        all
    }
}

/// Adds the user's text in one item of a request, which is a text or a message, to `texts`.
fn add_user_text(item: &Value, texts: &mut Vec<String>) {
    match item {
        Value::String(text) => texts.push(text.clone()),
        Value::Object(message) => {
            // Gemini takes a message without a role for one of the user.
            let role = message.get("role").map_or(Some("user"), Value::as_str);
            if role == Some("user") {
                texts.extend(message_text(message));
            }
        }
        _ => {}
    }
}

/// Returns the text of a message, its parts separated by line ends.
fn message_text(message: &Object) -> Option<String> {
    match message.get("content").or_else(|| message.get("parts"))? {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| match part {
                Value::String(text) => Some(text.as_str()),
                // Parts of any type: OpenAI has `text` and `input_text`, Bedrock and Gemini have no type.
                part => part.get("text")?.as_str(),
            });
            Some(texts.collect::<Vec<_>>().join("\n"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks requests of each API, from its reference, with texts of other roles beside the user's.
    #[test]
    fn what_the_user_wrote_is_found_in_every_api() {
        let long = "x".repeat(100_000);
        let long = format!(r#"{{"prompt":"{long}"}}"#);
        let cases: &[(&str, &str, &[&str])] = &[
            (
                "chat completions",
                r#"{"model":"m","stream":true,"messages":[{"role":"system","content":"s"},{"role":"user","content":"one"},
                 {"role":"assistant","content":"a","tool_calls":[]},{"role":"tool","tool_call_id":"1","content":"t"},
                 {"role":"user","content":[{"type":"text","text":"two"},{"type":"image_url","image_url":{"url":"data:,"}},{"type":"text","text":"three"}]}]}"#,
                &["one", "two\nthree"],
            ),
            (
                "completions, several prompts",
                r#"{"model":"m","prompt":["one","two",7,[1,2]]}"#,
                &["one", "two"],
            ),
            (
                "responses, a text",
                r#"{"model":"m","instructions":"s","input":"one"}"#,
                &["one"],
            ),
            (
                "responses, items",
                r#"{"input":[{"role":"developer","content":"s"},{"type":"message","role":"user","content":[{"type":"input_text","text":"one"}]},
                 {"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]},{"type":"function_call_output","role":"tool","output":"t"}]}"#,
                &["one"],
            ),
            (
                "anthropic messages",
                r#"{"system":"s","messages":[{"role":"user","content":"one"},{"role":"assistant","content":[{"type":"text","text":"a"}]},
                 {"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"t"},{"type":"text","text":"two"}]}]}"#,
                &["one", "two"],
            ),
            (
                "bedrock",
                r#"{"system":[{"text":"s"}],"messages":[{"role":"user","content":[{"text":"one"}]},{"role":"assistant","content":[{"text":"a"}]}]}"#,
                &["one"],
            ),
            (
                "gemini",
                r#"{"systemInstruction":{"parts":[{"text":"s"}]},"contents":[{"parts":[{"text":"one"}]},{"role":"model","parts":[{"text":"a"}]},
                 {"role":"user","parts":[{"inlineData":{}},{"text":"two"}]}]}"#,
                &["one", "two"],
            ),
            (
                "ollama chat",
                r#"{"model":"m","messages":[{"role":"user","content":"one","images":["aGk="]}]}"#,
                &["one"],
            ),
            (
                "ollama generate",
                r#"{"model":"m","system":"s","prompt":"one"}"#,
                &["one"],
            ),
            ("tgi", r#"{"inputs":"one","parameters":{}}"#, &["one"]),
            ("nothing of the kind", r#"{"model":"m"}"#, &[]),
            (
                "words of another type",
                r#"{"messages":{"role":"user"},"input":null,"prompt":3,"contents":[null,[],{"role":7,"parts":[{"text":"x"}]},{"role":"user","parts":[3,{"text":3}]},{"role":"user"}]}"#,
                &[],
            ),
        ];
        for (name, body, expected) in cases {
            let expected = expected.iter().map(|text| (*text).to_owned()).collect();
            assert_eq!(
                PromptInfo::user_texts(body.as_bytes()),
                Some(expected),
                "{name}"
            );
        }
        let long = PromptInfo::user_texts(long.as_bytes()).unwrap();
        assert_eq!(long[0].len(), 100_000);
    }

    #[test]
    fn what_is_no_request_or_too_large_is_not_read() {
        let many = format!("[{}0]", "0,".repeat(MAX_VALUES as usize));
        let many = format!(r#"{{"messages":[],"x":{many}}}"#);
        let cut = r#"{"messages":[{"role":"user","content":"one"#;
        let deep = "[".repeat(100_000);
        for body in ["", "[]", "\"text\"", "name=value", cut, &many, &deep] {
            assert_eq!(PromptInfo::user_texts(body.as_bytes()), None);
        }
        assert_eq!(PromptInfo::user_texts(b"{\"input\":\"\xff\"}"), None);
    }
}
