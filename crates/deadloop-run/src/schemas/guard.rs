//! The schema of a guard, with the parameters and presets of every detector.

use deadloop_detect::Response;
use deadloop_detect::harness::{DETECTORS, Detector, Measurement};
use serde_json::{Map, Value as Json, json};

use super::fill_template;
use super::params::params_table;
use crate::failure::{Code, RunResult};

/// Returns the schema of a `[[guard]]`, whose parameters and presets depend on its detector.
pub(super) fn guard_schema(in_grid: bool) -> RunResult<Map<String, Json>> {
    let names: Vec<&str> = DETECTORS.iter().map(|d| d.name).collect();
    let all = DETECTORS.iter().copied();
    let detectors = all.map(|detector| detector_schema(detector, in_grid));
    let detectors: Vec<Json> = detectors.collect::<RunResult<_>>()?;
    let no_tokens = json!({"not": {}, "description": "a grid is in chars"});
    let places = [
        ("/properties/detector/enum", json!(names)),
        ("/properties/response/enum", json!(Response::NAMES)),
        ("/allOf", json!(detectors)),
    ];
    let in_chars = in_grid.then_some(("/properties/chars_per_token", no_tokens));
    fill_template(
        include_str!("guard.json"),
        places.into_iter().chain(in_chars),
    )
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
