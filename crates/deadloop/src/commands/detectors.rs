//! `deadloop detectors`: lists the detectors, or describes one.
//!
//! It also prints the default grid of a detector, and settings in plain sentences.

use std::path::Path;

use clap::Args;
use deadloop_detect::harness::{
    DETECTORS, Detector, Measurement, Param, ParamRole, Preset, did_you_mean,
};
use deadloop_detect::{Settings, Value};
use deadloop_score::explain_setting;
use serde_json::{Value as Json, json};

use crate::args::GlobalArgs;
use crate::exit::{Code, Failure, Outcome};
use crate::host::Terminal;
use crate::show;
use deadloop_run::settings::SettingsReader;
use deadloop_run::visible::visible_lines;

pub(crate) const HELP: &str = "Examples:\n  deadloop detectors\n  deadloop detectors periodic\n  deadloop detectors tuned/settings.toml    # its guards in plain sentences; also recommended, or a preset\n  deadloop detectors periodic --grid > grid.toml\n  deadloop tune CORPUS --grid grid.toml";

#[derive(Debug, Args)]
pub(crate) struct DetectorsArgs {
    /// The detector to describe in full; or a settings file, `recommended` or a preset, whose guards are said in plain
    /// sentences [default: all detectors, a line each]
    name: Option<String>,
    /// Print its default grid, as TOML for `tune --grid`
    #[arg(long, requires = "name")]
    grid: bool,
}

/// The maximum width of the list, in columns.
const MAX_LIST_COLUMNS: usize = 100;

pub(super) fn run(args: &DetectorsArgs, global: GlobalArgs) -> Outcome {
    let Some(name) = &args.name else {
        return print_list(global);
    };
    let host = &Terminal::new(global);
    let reader = SettingsReader::new(host);
    match (Detector::find(name), args.grid) {
        (Some(detector), true) => print_grid(detector, global),
        (Some(detector), false) => print_detector(detector, global),
        (None, true) => Err(unknown_name(name)),
        (None, false) => match reader.settings(Some(Path::new(name)), &[]) {
            Ok(settings) => print_sentences(&settings, global),
            Err(error) if name.contains(['/', '\\', '.']) => Err(error),
            Err(_) => Err(unknown_name(name)),
        },
    }
}

/// Prints settings in plain sentences: the guard of all models, then those of particular ones.
fn print_sentences(settings: &Settings, global: GlobalArgs) -> Outcome {
    let own = settings.overrides().map(|(glob, guard)| {
        let who = format!("Models that match {glob}:");
        (who, explain_setting(guard))
    });
    let who = "Every model that has no guard of its own:".to_owned();
    let parts: Vec<(String, Vec<String>)> =
        std::iter::once((who, explain_setting(settings.guard())))
            .chain(own)
            .collect();
    if global.json {
        let parts = parts
            .iter()
            .map(|(who, lines)| json!({"models": who, "says": lines}));
        return show::print_json(&Json::from_iter(parts));
    }
    let told: Vec<String> = parts
        .into_iter()
        .map(|(who, lines)| format!("{who}\n{}", lines.join("\n")))
        .collect();
    show::print(&visible_lines(&told.join("\n\n")))
}

/// Returns the error for a name that is neither a detector nor settings.
fn unknown_name(name: &str) -> Failure {
    let names: Vec<&str> = DETECTORS.iter().map(|d| d.name).collect();
    Code::Usage.error(format!(
        "unknown detector \"{name}\"{}; expected a settings file, a preset, or one of: {}",
        did_you_mean(name, names.iter().copied()),
        names.join(", ")
    ))
}

fn read_presets(detector: &'static Detector) -> Outcome<Vec<Preset>> {
    detector.presets().map_err(|e| Code::Unexpected.error(e))
}

fn print_grid(detector: &Detector, global: GlobalArgs) -> Outcome {
    let text = detector.grid;
    if global.json {
        show::print_json(&json!({"name": detector.name, "grid": text}))
    } else {
        show::print(text.trim_end())
    }
}

fn print_detector(detector: &'static Detector, global: GlobalArgs) -> Outcome {
    let presets = read_presets(detector)?;
    if global.json {
        return show::print_json(&detector_json(detector, &presets));
    }
    show::print(&show::fold(&describe_detector(detector, &presets)))?;
    let name = detector.name;
    show::print_next(
        &[
            &format!("deadloop detectors {name} --grid > {name}.toml"),
            &format!("deadloop tune CORPUS --grid {name}.toml"),
        ],
        global,
    )
}

fn print_list(global: GlobalArgs) -> Outcome {
    let mut rows = Vec::new();
    let mut every = Vec::new();
    for detector in DETECTORS.iter().copied() {
        let presets = read_presets(detector)?;
        every.push(detector_json(detector, &presets));
        rows.push(vec![
            detector.name.to_owned(),
            // The rest is shown when the detector is described in full.
            detector
                .about
                .split(": ")
                .next()
                .unwrap_or_default()
                .to_owned(),
            watched_channels(detector).to_owned(),
            detector.response.name().to_owned(),
            presets.len().to_string(),
        ]);
    }
    if global.json {
        return show::print_json(&Json::from(every));
    }
    let header = [
        "detector",
        "what it finds",
        "watches",
        "on alarm",
        "presets",
    ];
    show::print(&show::table_within(&header, &rows, MAX_LIST_COLUMNS))?;
    let next = [
        "deadloop detectors periodic",
        "deadloop detectors periodic --grid > grid.toml",
    ];
    show::print_next(&next, global)
}

/// Returns the channels that a guard watches by default.
fn watched_channels(detector: &Detector) -> &'static str {
    match detector.measure {
        Measurement::Text(_) => "reasoning, answer",
        Measurement::Run(channel, _) => channel.name(),
        Measurement::Program(_) => "all events",
    }
}

/// Returns `S` for a structural parameter, `T` for a threshold.
fn role_letter(param: &Param) -> &'static str {
    match param.mark {
        ParamRole::Structural => "S",
        ParamRole::Threshold(_) => "T",
    }
}

fn describe_detector(detector: &Detector, presets: &[Preset]) -> String {
    let row = |p: &Param| {
        let default = Value::from(p.default).to_string();
        vec![
            p.name.into(),
            role_letter(p).into(),
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
    let presets = if presets.is_empty() {
        String::new()
    } else {
        format!("\n\npresets\n{}", presets.join("\n"))
    };
    let examples = match detector.examples.trim_end() {
        "" => String::new(),
        text => format!("\n\nexamples\n{text}"),
    };
    format!(
        "{} (version {}): {}\n\n{}{params}\n\nS changes what is measured, T only what is accepted.{presets}{examples}",
        detector.name, detector.version, detector.about, exactly,
    )
}

fn detector_json(detector: &Detector, presets: &[Preset]) -> Json {
    let param = |p: &Param| {
        json!({
            "name": p.name, "mark": role_letter(p), "default": Value::from(p.default),
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
        "exactly": detector.exactly, "examples": detector.examples,
        "watches": watched_channels(detector), "on_alarm": detector.response.name(),
        "live": matches!(detector.measure, Measurement::Text(_)),
        "params": detector.params.iter().map(param).collect::<Vec<_>>(),
        "presets": presets.iter().map(preset).collect::<Vec<_>>(),
    })
}
