//! `deadloop detectors`: the registry, as a user reads it.

use deadloop_detect::{DETECTORS, Detector, Mark, Measure, Param, Preset, Value, presets};
use serde_json::{Value as Json, json};

use crate::args::Global;
use crate::exit::{Code, Outcome};
use crate::show;

pub(super) fn run(global: Global) -> Outcome {
    let with_presets = |d: &&'static Detector| {
        let presets = presets(d).map_err(|e| Code::Unexpected.error(e))?;
        Ok((*d, presets))
    };
    let all: Vec<(&Detector, Vec<Preset>)> =
        DETECTORS.iter().map(with_presets).collect::<Outcome<_>>()?;
    if global.json {
        let all: Vec<Json> = all.iter().map(|(d, presets)| as_json(d, presets)).collect();
        return show::print(&Json::from(all).to_string());
    }
    for (detector, presets) in &all {
        show::print(&listing(detector, presets))?;
    }
    Ok(())
}

fn mark(param: &Param) -> &'static str {
    match param.mark {
        Mark::Structural => "S",
        Mark::Threshold(_) => "T",
    }
}

fn listing(detector: &Detector, presets: &[Preset]) -> String {
    let row = |p: &Param| {
        let default = Value::from(p.default).to_string();
        vec![
            p.name.into(),
            mark(p).into(),
            default,
            p.domain.to_string(),
            p.unit.into(),
            p.doc.into(),
        ]
    };
    let rows: Vec<Vec<String>> = detector.params.iter().map(row).collect();
    let params = show::table(
        &["parameter", "S/T", "default", "allowed", "unit", "meaning"],
        &rows,
        9,
    );
    let exactly = match detector.exactly {
        "" => String::new(),
        text => format!("{text}\n"),
    };
    let preset = |p: &Preset| {
        let changes: Vec<String> = p
            .params
            .iter()
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        let source = format!(
            "{}, {}, {}",
            p.source.project, p.source.version, p.source.date
        );
        let memory = match p.megabytes {
            1 => String::new(),
            most => format!("\n    memory: up to {most} MB a stream"),
        };
        format!(
            "  {}: {}\n    from: {source}\n    changes: {}{memory}",
            p.name,
            p.about,
            changes.join(", ")
        )
    };
    let presets: Vec<String> = presets.iter().map(preset).collect();
    let presets = match presets.is_empty() {
        true => String::new(),
        false => format!("\n\npresets\n{}", presets.join("\n")),
    };
    format!(
        "{} (version {}): {}\n\n{}{params}\n\nS changes what is measured, T only what is accepted.{presets}",
        detector.name, detector.version, detector.about, exactly,
    )
}

fn as_json(detector: &Detector, presets: &[Preset]) -> Json {
    let param = |p: &Param| {
        json!({
            "name": p.name, "mark": mark(p), "default": Value::from(p.default),
            "allowed": p.domain.to_string(), "unit": p.unit, "doc": p.doc,
        })
    };
    let preset = |p: &Preset| {
        json!({
            "name": p.name, "about": p.about, "params": p.params, "left_out": p.left_out,
            "megabytes": p.megabytes,
            "source": {
                "project": p.source.project, "file": p.source.file,
                "version": p.source.version, "date": p.source.date,
            },
        })
    };
    json!({
        "name": detector.name, "version": detector.version, "about": detector.about,
        "exactly": detector.exactly,
        "live": matches!(detector.measure, Measure::Text(_)),
        "params": detector.params.iter().map(param).collect::<Vec<_>>(),
        "presets": presets.iter().map(preset).collect::<Vec<_>>(),
    })
}
