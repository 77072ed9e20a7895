//! Grids of repairers (`repair --grid`, `watch --repair`) and of context budgets (`budget --grid`).

use deadloop_detect::repair::{REPAIRERS, Repairer};
use deadloop_replay::budget::{SPEC, presets};
use serde_json::{Map, Value as Json, json};

use super::object;
use super::params::{Ways, table};
use crate::failure::{Code, RunResult};

/// What `repair` searches, and `watch --repair` takes one of.
pub(super) fn repairers() -> RunResult<Map<String, Json>> {
    let names = REPAIRERS.iter().map(|repairer| repairer.name);
    let names: Vec<&str> = names.chain(["command"]).collect();
    let mut own: Vec<Json> = REPAIRERS.iter().map(|r| of(r)).collect::<RunResult<_>>()?;
    let streams: Vec<&str> = REPAIRERS.iter().map(|r| r.stream.name()).collect();
    let text = json!({"type": "string"});
    let program = json!({
        "if": {"properties": {"name": {"const": "command"}}},
        "then": {
            "properties": {"preset": false, "presets": false},
            "required": ["command", "stream"],
        },
        "else": {"properties": {"command": false, "stream": false, "timeout_ms": false}},
    });
    own.push(program);
    let repairer = json!({
        "type": "object",
        "properties": {
            "name": {"enum": names},
            "preset": {"type": "string", "description": "parameters to start from; params override"},
            "presets": {"type": "boolean", "description": "each preset too"},
            "params": {"type": "object"},
            "command": {"type": "array", "items": text, "minItems": 1, "description": "a program and its arguments"},
            "stream": {"enum": streams, "description": "what the program reads"},
            "timeout_ms": {"type": "integer", "minimum": 0},
        },
        "required": ["name"], "additionalProperties": false,
        "allOf": own,
    });
    Ok(rows("repairer", &repairer))
}

fn of(repairer: &Repairer) -> RunResult<Json> {
    let presets = repairer.presets().map_err(|e| Code::Unexpected.error(e))?;
    let presets: Vec<&str> = presets.iter().map(|p| p.name.as_str()).collect();
    Ok(json!({
        "if": {"properties": {"name": {"const": repairer.name}}},
        "then": {"properties": {
            "preset": {"enum": presets}, "params": table(repairer.params, Ways::Lists),
        }},
    }))
}

/// What `budget` sweeps.
pub(super) fn budgets() -> Map<String, Json> {
    let presets: Vec<&str> = presets()
        .iter()
        .map(|preset| preset.name.as_str())
        .collect();
    let budget = json!({
        "type": "object",
        "properties": {
            "preset": {"enum": presets, "description": "parameters to start from; params override"},
            "params": table(SPEC.params, Ways::Grid),
        },
        "additionalProperties": false,
    });
    rows("budget", &budget)
}

/// A file of tables of one name.
fn rows(name: &str, row: &Json) -> Map<String, Json> {
    object(json!({
        "type": "object",
        "properties": {name: {"type": "array", "items": row, "minItems": 1}},
        "required": [name], "additionalProperties": false,
    }))
}
