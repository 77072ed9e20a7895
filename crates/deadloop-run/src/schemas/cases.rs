//! Pinned cases (`check-cases`), and presets as the file beside their detector or repairer has them.

use deadloop_detect::Kind;
use deadloop_detect::harness::DETECTORS;
use deadloop_detect::repair::REPAIRERS;
use serde_json::{Map, Value as Json, json};

use super::object;
use super::params::{Ways, table};
use super::settings;
use crate::failure::RunResult;

/// A file of cases.
pub(super) fn cases() -> RunResult<Map<String, Json>> {
    let text = json!({"type": "string"});
    let case = json!({
        "type": "object",
        "properties": {
            "name": text,
            "why": text,
            "model": {"type": "string", "description": "whose setting is asked; default: unknown"},
            "text": one_or_more(&json!({"anyOf": [text, part()]})),
            "events": {"type": "array", "items": {"$ref": "#/$defs/step"}, "description": "the steps of a run"},
            "transcript": {"type": "string", "description": "the id of one of a corpus"},
            "expect": one_or_more(&expect()?),
        },
        "required": ["name", "expect"], "additionalProperties": false,
        "oneOf": [{"required": ["text"]}, {"required": ["events"]}, {"required": ["transcript"]}],
    });
    Ok(object(json!({
        "type": "object",
        "properties": {"case": {"type": "array", "items": case}},
        "additionalProperties": false,
        "$defs": {"step": step()},
    })))
}

/// A step of a run: an event as a transcript has it, or a short one.
fn step() -> Json {
    let (text, yes) = (json!({"type": "string"}), json!({"type": "boolean"}));
    let ways = [
        "call",
        "result",
        "user",
        "answer",
        "reasoning",
        "turn",
        "repeat",
    ];
    let way = |way: &str| {
        let others = ways.iter().filter(|other| **other != way);
        // A call may have its result beside it.
        let others = others.filter(|other| (way, **other) != ("call", "result"));
        let none: Map<String, Json> = others
            .map(|other| ((*other).into(), false.into()))
            .collect();
        let needs = match way {
            "result" => vec!["result", "id"],
            "repeat" => vec!["repeat", "times"],
            way => vec![way],
        };
        json!({"required": needs, "properties": none})
    };
    let short = json!({
        "type": "object",
        "properties": {
            "call": text, "arguments": {}, "result": text, "error": yes, "id": text,
            "user": text, "answer": text, "reasoning": text,
            "turn": {"anyOf": [{"const": true}, text]},
            "repeat": {"type": "array", "items": {"$ref": "#/$defs/step"}},
            "times": {"type": "integer", "minimum": 0},
            "onset": yes, "alarm": yes,
        },
        "additionalProperties": false,
        "oneOf": ways.map(way),
    });
    let whole = json!({
        "type": "object",
        "properties": {"type": {"enum": deadloop_corpus::EVENT_TYPES}, "onset": yes, "alarm": yes},
        "required": ["type"],
    });
    json!({"if": {"type": "object", "required": ["type"]}, "then": whole, "else": short})
}

/// A piece of a text: one of five ways to say it.
fn part() -> Json {
    let (text, count) = (
        json!({"type": "string"}),
        json!({"type": "integer", "minimum": 0}),
    );
    let ways = [
        ("literal", vec!["literal"]),
        ("repeat", vec!["repeat", "times"]),
        ("numbered", vec!["numbered", "items"]),
        ("lines", vec!["lines", "times"]),
        ("filler", vec!["filler"]),
    ];
    let ways = ways.map(|(name, needs)| {
        let others = ["literal", "repeat", "numbered", "lines", "filler"];
        let others = others.into_iter().filter(|other| *other != name);
        let none: Map<String, Json> = others.map(|other| (other.into(), false.into())).collect();
        json!({"required": needs, "properties": none})
    });
    json!({
        "type": "object",
        "properties": {
            "literal": text, "repeat": text, "times": count,
            "numbered": {"type": "array", "items": text, "minItems": 1}, "items": count,
            "filler": {"type": "integer", "minimum": 0, "maximum": 50_000_000},
            "lines": {"type": "string", "description": "{n}, {word} and {any} are filled in"},
            "words": {"type": "array", "items": text},
            "channel": {"enum": ["reasoning", "answer"]},
        },
        "additionalProperties": false,
        "oneOf": ways,
    })
}

/// What a guard must say.
fn expect() -> RunResult<Json> {
    let place = json!({"anyOf": [
        {"type": "integer"},
        {"type": "string", "pattern": "^\\s*(onset|alarm|end)\\s*([+-]\\s*[0-9]+)?\\s*$"},
    ]});
    let kinds = Kind::NAMES.to_vec();
    let names: Vec<&str> = DETECTORS.iter().map(|d| d.name).collect();
    let alarm = "false, true, or the char at which it is due";
    Ok(json!({
        "type": "object",
        "properties": {
            "detector": {"enum": names}, "preset": {"type": "string"}, "params": {"type": "object"},
            "ignore": settings::ignore("lines that the detector does not read: patterns"),
            "prompt": settings::prompt(),
            "guard": {"enum": ["recommended", "recommended-agents"], "description": "a guard that ships"},
            "alarm": {"type": ["boolean", "integer"], "description": alarm},
            "between": {"type": "array", "items": place, "minItems": 2, "maxItems": 2},
            "kind": {"enum": kinds},
            "todo": {"type": "string", "description": "known to be otherwise, and why"},
        },
        "additionalProperties": false,
        "dependentRequired": {
            "preset": ["detector"], "params": ["detector"], "ignore": ["detector"], "prompt": ["detector"],
        },
        "not": {"anyOf": [
            {"required": ["alarm", "between"], "properties": {"alarm": {"not": {"const": true}}}},
            {"required": ["guard", "detector"]},
        ]},
        "allOf": settings::each(false)?,
    }))
}

fn one_or_more(one: &Json) -> Json {
    json!({"anyOf": [one, {"type": "array", "items": one}]})
}

/// The presets of a detector or a repairer: tables by name. Whose they are the file does not say.
pub(super) fn presets() -> Map<String, Json> {
    let text = json!({"type": "string"});
    let detectors = DETECTORS.iter().map(|detector| detector.params);
    let all = detectors.chain(REPAIRERS.iter().map(|repairer| repairer.params));
    let params: Vec<Json> = all.map(|params| table(params, Ways::One)).collect();
    object(json!({
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "properties": {
                "about": text, "project": text, "file": text, "version": text, "date": text,
                "left_out": {"type": "string", "description": "what of the original is not carried, and why"},
                "megabytes": {"type": "integer", "minimum": 0, "default": 1},
                "params": {"anyOf": params},
            },
            "required": ["about", "project", "file", "version", "date", "left_out", "params"],
            "additionalProperties": false,
        },
    }))
}
