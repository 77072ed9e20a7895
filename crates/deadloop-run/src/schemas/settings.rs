//! The schemas of settings and grids, with the parameters and presets of every detector.

use deadloop_detect::harness::{DETECTORS, Detector, Measurement};
use deadloop_detect::{Lang, Response};
use serde_json::{Map, Value as Json, json};

use super::into_object;
use super::params::params_table;
use crate::failure::{Code, RunResult};

/// Returns the schema of settings files.
pub(super) fn settings_schema() -> RunResult<Map<String, Json>> {
    let guards = json!({"type": "array", "items": {"$ref": "#/$defs/guard"}});
    let some = json!({"type": "array", "items": {"$ref": "#/$defs/guard"}, "minItems": 1});
    let model = json!({
        "type": "object",
        "properties": {
            "match": {"type": "string", "description": "glob on the whole name of a model; the first that matches wins"},
            "task": {"type": "string", "description": "glob on the whole name of a task; without match: of every model"},
            "guard": some,
        },
        "required": ["guard"], "anyOf": [{"required": ["match"]}, {"required": ["task"]}],
        "additionalProperties": false,
    });
    Ok(into_object(json!({
        "type": "object",
        "properties": {
            "guard": guards,
            "model": {"type": "array", "items": model, "description": "guards of some models; the whole list replaces"},
            "deployment_loop_rate": {
                "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1,
                "description": "the share of production's responses that loop",
            },
            "ignore": ignore_schema("lines that no guard reads of a text: patterns"),
            "prompt": prompt_schema(),
            "messages": {"type": "object", "additionalProperties": false, "properties": {"lang": {
                "enum": Lang::NAMES, "description": "of what an alarm says to people and models; default: that of the text that repeats",
            }}},
            "think": think_schema(),
        },
        "anyOf": [
            {"properties": {"guard": {"minItems": 1}}, "required": ["guard"]},
            {"properties": {"model": {"minItems": 1}}, "required": ["model"]},
        ],
        "additionalProperties": false,
        "$defs": {"guard": guard_schema(false)?},
    })))
}

/// Returns the schema of grids, which `tune` and `sweep` search.
pub(super) fn grid_schema() -> RunResult<Map<String, Json>> {
    let on = json!({"properties": {"enabled": {"const": true}}});
    Ok(into_object(json!({
        "type": "object",
        "properties": {
            "guard": {
                "type": "array", "items": {"$ref": "#/$defs/guard"}, "contains": on,
                "description": "a grid of several guards is the product of all",
            },
            "ignore": ignore_schema("lines that no guard reads of a text: patterns"),
            "prompt": prompt_schema(),
        },
        "required": ["guard"], "additionalProperties": false,
        "$defs": {"guard": guard_schema(true)?},
    })))
}

/// Returns the schema of a list of patterns for ignored lines.
fn ignore_schema(words: &str) -> Json {
    json!({"type": "array", "items": {"type": "string"}, "description": words})
}

/// Returns the schema of `prompt`, which controls whether repetition of the prompt's text counts.
fn prompt_schema() -> Json {
    let words = "skip: repetition in a text counts only beyond what the user wrote; default: check";
    json!({"enum": ["check", "skip"], "description": words})
}

/// Returns the schema of a `[[guard]]`, whose parameters and presets depend on its detector.
fn guard_schema(in_grid: bool) -> RunResult<Json> {
    let names: Vec<&str> = DETECTORS.iter().map(|d| d.name).collect();
    let tokens = if in_grid {
        json!({"not": {}, "description": "a grid is in chars"})
    } else {
        json!({
            "type": "number", "minimum": 0.1, "maximum": 100,
            "description": "what stands in params in chars is meant in tokens of so many chars",
        })
    };
    Ok(json!({
        "type": "object",
        "properties": {
            "detector": {"enum": names},
            "chars_per_token": tokens,
            "preset": {"type": "string", "description": "parameters to start from; params override"},
            "channel": {"type": "string", "description": "default: reasoning and answer, each by itself; of a detector of runs its own"},
            "response": {"enum": Response::NAMES, "description": "what an alarm does; default: what the detector says"},
            "enabled": {"type": "boolean", "default": true},
            "params": {"type": "object"},
        },
        "required": ["detector"], "additionalProperties": false,
        "allOf": guard_schemas(in_grid)?,
    }))
}

/// Returns, for each detector, the schema of its parameters, presets and channels.
fn guard_schemas(in_grid: bool) -> RunResult<Vec<Json>> {
    let all = DETECTORS.iter().copied();
    all.map(|detector| detector_schema(detector, in_grid))
        .collect()
}

fn detector_schema(detector: &'static Detector, in_grid: bool) -> RunResult<Json> {
    let presets = detector.presets().map_err(|e| Code::Unexpected.error(e))?;
    let presets: Vec<&str> = presets.iter().map(|p| p.name.as_str()).collect();
    let channels: Vec<&str> = detector.all_channels().iter().map(|c| c.name()).collect();
    let mut own = json!({
        "properties": {
            "preset": {"enum": presets},
            "channel": {"enum": channels},
            "params": params_table(detector.params, in_grid),
        },
    });
    // A program has no default.
    if let (Measurement::Program(_), Some(own)) = (detector.measure, own.as_object_mut()) {
        own.insert("required".into(), json!(["params"]));
        if let Some(params) = own
            .get_mut("properties")
            .and_then(|all| all.get_mut("params"))
            .and_then(Json::as_object_mut)
        {
            params.insert("required".into(), json!(["command"]));
        }
    }
    Ok(json!({
        "if": {"properties": {"detector": {"const": detector.name}}, "required": ["detector"]},
        "then": own,
    }))
}

/// Returns the schema of `think`, the rules for splitting a text at `<think>`.
fn think_schema() -> Json {
    let blocks =
        json!({"enum": ["first", "all"], "description": "the block at the start, or every one"});
    let tags = json!({
        "type": "array", "items": {"type": "string", "minLength": 1},
        "description": "the tags that count, as <think>, <|a|>...<|b|>, harmony",
    });
    json!({
        "type": "object", "additionalProperties": false,
        "description": "how a text is split at <think> before a guard sees it",
        "properties": {
            "blocks": blocks, "tags": tags,
            "opened_in_prompt": {
                "type": "array", "items": {"type": "string"},
                "description": "globs: models whose template opens the tag in the prompt",
            },
            "model": {
                "type": "array", "description": "rules for some models; the first that matches counts",
                "items": {
                    "type": "object", "additionalProperties": false, "required": ["match"],
                    "properties": {
                        "match": {"type": "string"}, "blocks": blocks, "tags": tags,
                        "opened": {"type": "boolean", "description": "whether the prompt opens the tag"},
                    },
                },
            },
        },
    })
}
