//! The phrases of pseudo answers and confirmations, in lists by language.

use std::collections::BTreeMap;

use crate::settings::params::Params;
use crate::settings::value::Value;

/// The names of the lists of phrases, which are the tables in `phrases.toml`.
pub const PHRASE_LISTS: &[&str] = &["zh", "en", "zh-done", "en-done"];

/// Returns the phrases of the parameter `lists`, then those of `own`.
pub fn phrases(params: &Params) -> Vec<String> {
    let shipped: BTreeMap<String, Vec<String>> =
        toml::from_str(include_str!("phrases.toml")).unwrap_or_default();
    let texts = |name| params.items(name).iter().filter_map(Value::as_text);
    let of = |name: &str| shipped.get(name).cloned().unwrap_or_default();
    let mut phrases: Vec<String> = texts("lists").flat_map(of).collect();
    phrases.extend(texts("own").map(str::to_owned));
    phrases
}
