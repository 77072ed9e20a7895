//! `deadloop detectors`: the registry, as a user reads it: all on one screen, one in full, or the grid to
//! start from.

use std::path::{Path, PathBuf};

use clap::Args;
use deadloop_detect::Value;
use deadloop_detect::harness::{DETECTORS, Detector, Mark, Measuring, Param, Preset, meant};
use deadloop_score::explained;
use serde_json::{Value as Json, json};

use crate::args::Global;
use crate::exit::{Code, Outcome};
use crate::{settings, show};
use deadloop_run::visible::visible_lines;

pub(crate) const HELP: &str = "Examples:\n  deadloop detectors\n  deadloop detectors periodic\n  deadloop detectors --explain tuned/settings.toml\n  deadloop detectors periodic --grid > grid.toml\n  deadloop tune CORPUS --grid grid.toml";

#[derive(Debug, Args)]
pub(crate) struct Detectors {
    /// The detector to describe in full [default: all of them, a line each]
    name: Option<String>,
    /// Print its default grid, as TOML for `tune --grid`
    #[arg(long, requires = "name")]
    grid: bool,
    /// Say in plain sentences what a settings file, `recommended` or a preset asks for
    #[arg(long, value_name = "SETTINGS", conflicts_with_all = ["name", "grid"])]
    explain: Option<PathBuf>,
}

/// How wide the one screen is, in columns.
const WIDTH: u16 = 100;

pub(super) fn run(args: &Detectors, global: Global) -> Outcome {
    if let Some(path) = &args.explain {
        return explain(path, global);
    }
    match &args.name {
        Some(name) if args.grid => grid(find(name)?, global),
        Some(name) => one(find(name)?, global),
        None => all(global),
    }
}

/// A settings file in sentences: the guard of all models, then those of particular ones.
fn explain(path: &Path, global: Global) -> Outcome {
    let settings = settings::settings(Some(path), &[])?;
    let own = settings.overrides().map(|(glob, guard)| {
        let who = format!("Models that match {glob}:");
        (who, explained(guard))
    });
    let who = "Every model that has no guard of its own:".to_owned();
    let parts: Vec<(String, Vec<String>)> = std::iter::once((who, explained(settings.guard())))
        .chain(own)
        .collect();
    if global.json {
        let parts = parts
            .iter()
            .map(|(who, lines)| json!({"models": who, "says": lines}));
        return show::print(&Json::from_iter(parts).to_string());
    }
    let told: Vec<String> = parts
        .into_iter()
        .map(|(who, lines)| format!("{who}\n{}", lines.join("\n")))
        .collect();
    show::print(&visible_lines(&told.join("\n\n")))
}

fn find(name: &str) -> Outcome<&'static Detector> {
    Detector::find(name).ok_or_else(|| {
        let names: Vec<&str> = DETECTORS.iter().map(|d| d.name).collect();
        Code::Usage.error(format!(
            "unknown detector \"{name}\"{}; expected one of: {}",
            meant(name, names.iter().copied()),
            names.join(", ")
        ))
    })
}

fn presets_of(detector: &'static Detector) -> Outcome<Vec<Preset>> {
    detector.presets().map_err(|e| Code::Unexpected.error(e))
}

fn grid(detector: &Detector, global: Global) -> Outcome {
    let text = detector.grid;
    if global.json {
        show::print(&json!({"name": detector.name, "grid": text}).to_string())
    } else {
        show::print(text.trim_end())
    }
}

fn one(detector: &'static Detector, global: Global) -> Outcome {
    let presets = presets_of(detector)?;
    if global.json {
        return show::print(&as_json(detector, &presets).to_string());
    }
    show::print(&show::prose(&listing(detector, &presets)))?;
    let name = detector.name;
    show::next(
        &[
            &format!("deadloop detectors {name} --grid > {name}.toml"),
            &format!("deadloop tune CORPUS --grid {name}.toml"),
        ],
        global,
    )
}

fn all(global: Global) -> Outcome {
    let mut rows = Vec::new();
    let mut every = Vec::new();
    for detector in DETECTORS.iter().copied() {
        let presets = presets_of(detector)?;
        every.push(as_json(detector, &presets));
        rows.push(vec![
            detector.name.to_owned(),
            in_short(detector.about).to_owned(),
            watches(detector).to_owned(),
            on_alarm(detector).to_owned(),
            presets.len().to_string(),
        ]);
    }
    if global.json {
        return show::print(&Json::from(every).to_string());
    }
    let header = [
        "detector",
        "what it finds",
        "watches",
        "on alarm",
        "presets",
    ];
    show::print(&show::wrapped(&header, &rows, WIDTH))?;
    let next = [
        "deadloop detectors periodic",
        "deadloop detectors periodic --grid > grid.toml",
    ];
    show::next(&next, global)
}

/// What it does, up to the colon; the rest is shown where one detector is described in full.
fn in_short(about: &str) -> &str {
    about.split(": ").next().unwrap_or(about)
}

/// What a guard does when it alarms.
fn on_alarm(detector: &Detector) -> &'static str {
    detector.response.name()
}

/// The channels that a guard watches where its settings name none.
fn watches(detector: &Detector) -> &'static str {
    match detector.measure {
        Measuring::Text(_) => "reasoning, answer",
        Measuring::Run(channel, _) => channel.name(),
        Measuring::Program(_) => "all events",
    }
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
        "exactly": detector.exactly, "examples": detector.examples,
        "watches": watches(detector), "on_alarm": on_alarm(detector),
        "live": matches!(detector.measure, Measuring::Text(_)),
        "params": detector.params.iter().map(param).collect::<Vec<_>>(),
        "presets": presets.iter().map(preset).collect::<Vec<_>>(),
    })
}
