//! Helpers for the tests of repairers: texts full of markers, random parameters within their bounds, and streams in any
//! chunks.
#![allow(clippy::unwrap_used, reason = "in the helpers of tests as in tests")]
#![allow(dead_code, reason = "no test uses all of them")]

use std::collections::BTreeMap;

use deadloop_detect::Value;
use deadloop_detect::harness::{Domain, Params};
use deadloop_repair::meaning::{Meaning, MeaningParts};
use deadloop_repair::registry::Repairer;
use proptest::prelude::*;

/// The fragments of texts: whole and cut markers, similar text, and plain text. The long ones are [`TAGS`].
const MARKS: &[&str] = &[
    "<think>", "</think>", "<Think>", "[THINK]", "[/THINK]", "<|b|>", "<thi", "</", "<", ">",
    "<id>", "</id>", "<b>", "{", "}", "[", "]", "\"a\": ", "\"", ",", ":", "\\", "\\u00e9",
    "\\u12", "1.5", "tru", "true", "null", "'", "// x\n", "/* x */", "<|im_e", "I'm done", "I'm d",
    "word ", " ", "\n", "\u{1c}", "é", "分析", "x", "12",
];

const TAGS: &[&str] = &[
    "<thinking>",
    "</thinking>",
    "<tool_call>",
    "<create_note>",
    "</create_note>",
    "<Create_Note>",
    "<creat_note>",
    "</create_note",
    "<save_material id=\"3\">",
    "</save_material>",
    "<content>",
    "</content>",
    "<confirm1>",
    "</confirm2>",
    "</confirm1>",
    "<call_orcheator>",
    "</call_orchestrator>",
    "<|im_end|>",
    "<|channel|>commentary",
    "好的，收到您的指令",
    "好的，",
    "get_weather",
    "get_wether",
];

/// Strategy for texts made of fragments.
pub(crate) fn text(most: usize) -> impl Strategy<Value = String> {
    let one = prop::sample::select([MARKS, TAGS].concat());
    prop::collection::vec(one, 0..most).prop_map(|parts| parts.concat())
}

/// Returns a preset, or the defaults for an empty name.
pub(crate) fn preset(repairer: &str, name: &str) -> (&'static Repairer, Params) {
    let repairer = Repairer::find(repairer).unwrap();
    let params = match name {
        "" => repairer.defaults(),
        name => repairer.preset(name).unwrap(),
    };
    (repairer, params)
}

/// Returns the defaults, every preset, and some random parameters from a seed, all of them allowed.
pub(crate) fn settings(repairer: &'static Repairer, seed: u64, drawn: usize) -> Vec<Params> {
    let mut all = vec![repairer.defaults()];
    let presets = repairer.presets().unwrap();
    all.extend(presets.iter().map(|p| repairer.preset(&p.name).unwrap()));
    let mut state = seed;
    for _ in 0..drawn {
        let mut params = repairer.defaults();
        for param in repairer.params {
            params.set(param.name, value(param.name, &param.domain, &mut state));
        }
        if repairer.check(&params).is_ok() {
            all.push(params);
        }
    }
    all
}

/// Returns a random number below `end`.
pub(crate) fn below(state: &mut u64, end: usize) -> usize {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize % end.max(1)
}

fn texts(list: &[&str]) -> Value {
    Value::List(list.iter().map(|&text| Value::Text(text.into())).collect())
}

/// Returns a random value of a domain: small numbers, and lists that match the fragments.
fn value(name: &str, domain: &Domain, state: &mut u64) -> Value {
    match domain {
        Domain::Word(words) => Value::Text(words[below(state, words.len())].into()),
        Domain::Int { min, .. } => Value::Int(min + [0, 1, 2, 7, 30, 1000][below(state, 6)]),
        Domain::Words(words) => texts(&words[..below(state, words.len() + 1)]),
        Domain::Texts => {
            let lists: &[&[&str]] = match name {
                "tags" if below(state, 2) == 0 => &[
                    &["create_note", "confirm"],
                    &["create_note", "save_material", "call_orchestrator"],
                ],
                "tags" => &[
                    &["<think>"],
                    &["<think>", "<thinking>", "[THINK]"],
                    &["<think>...<|b|>", "[THINK]...<|b|>"],
                ],
                "tool" => &[&[], &["<tool_call>", "<create_note>"]],
                "control" => &[&[], &["<|im_end|>", "<|channel|>"]],
                "known" => &[&[], &["get_weather", "get_time"]],
                "own" => &[&[], &["I'm done", "aab"], &["分析"]],
                _ => &[&[], &["id", "content"]],
            };
            texts(lists[below(state, lists.len())])
        }
        Domain::Free => {
            let pair = match name {
                "fields" => [("a", "string"), ("a", "integer")][below(state, 2)],
                _ => [
                    ("call_orcheator", "call_orchestrator"),
                    ("note", "create_note"),
                ][below(state, 2)],
            };
            let value = Value::Text(pair.1.into());
            Value::Table(BTreeMap::from([(pair.0.to_owned(), value)]))
        }
        _ => unreachable!("{domain:?}"),
    }
}

/// Returns the output for chunks.
pub(crate) fn streamed<'a>(
    repairer: &Repairer,
    params: &Params,
    chunks: impl IntoIterator<Item = &'a str>,
) -> MeaningParts {
    let mut machine = repairer.text_repairer(params).unwrap();
    let mut pieces = MeaningParts::default();
    for chunk in chunks {
        machine.push(chunk, &mut pieces);
    }
    machine.finish(&mut pieces);
    pieces
}

/// Returns the meaning of a whole text.
pub(crate) fn whole(repairer: &Repairer, params: &Params, text: &str) -> Meaning {
    repairer.mend(params, text).unwrap()
}
