//! `tune --budget` on a corpus without loops: which settings its clean text supports, and how much
//! of it is missing.

use std::ops::Range;

use deadloop_score::{Calibration, Evidence, Supported, calibrate, write_budget, write_setting};
use serde_json::{Value, json};

use crate::args::Global;
use crate::exit::{Code, Outcome};
use crate::show;
use deadloop_run::Replayed;

/// Groups that clean text has to be in, as for every other claim.
const GROUPS: usize = 10;

/// What the budget demands of the clean text.
pub(crate) struct Asked {
    /// The cells that are searched.
    pub(crate) candidates: Range<usize>,
    /// The current setting.
    pub(crate) current: usize,
    /// False alarms allowed per million chars.
    pub(crate) budget: f64,
}

/// Holds all settings against the budget, writes `budget.csv`, and `settings.toml` where a setting
/// is supported; returns the chosen cell, and what `--json` says of it.
pub(crate) fn calibrated(
    done: &Replayed,
    evidence: &Evidence<'_>,
    asked: &Asked,
    global: Global,
) -> Outcome<(usize, Value)> {
    let Asked {
        candidates,
        current,
        budget,
    } = asked;
    let found = calibrate(evidence, candidates.clone(), *current, *budget, &done.judge);
    let dir = done.run.folder.path();
    write_budget(dir, evidence.plan, &found)?;
    if found.groups < GROUPS {
        return Err(Code::TooLittle.error(format!(
            "the clean text stands in {}: a claim about text that nobody has seen takes {GROUPS} or more; set `group` to what belongs together, usually the prompt",
            show::several(found.groups as u64, "group")
        )));
    }
    let Some(chosen) = &found.chosen else {
        return Err(none(&found, *budget));
    };
    let comment = format!(
        "chosen by deadloop tune from clean text alone: at most {} false alarms per million chars ({} in {} clean chars), budget {budget}; how many loops it finds is not known",
        show::number(chosen.bound, 3),
        chosen.wrong,
        chosen.exposure
    );
    write_setting(dir, evidence.plan, chosen.cell, &comment)?;
    let summary = summary(&found, chosen, candidates.len(), global)?;
    Ok((chosen.cell, summary))
}

/// No setting is supported: for want of text, or because all of them alarm.
fn none(found: &Calibration, budget: f64) -> crate::exit::Failure {
    let nearest = found.nearest.as_ref().unwrap_or(&found.current);
    let Supported {
        wrong,
        exposure,
        missing,
        setting,
        ..
    } = nearest;
    let missing = show::count(*missing);
    let chars = show::count(*exposure);
    if *wrong == 0 {
        return Code::TooLittle.error(format!(
            "{chars} clean chars are too few to claim at most {budget} false alarms per million chars: without a false alarm {missing} more are missing"
        ));
    }
    Code::Infeasible.error(format!(
        "no setting keeps to {budget} false alarms per million chars; the nearest setting is {setting}: {wrong} in {chars} clean chars, {missing} more without one would do"
    ))
}

fn json(found: &Calibration, chosen: &Supported, candidates: usize) -> Value {
    let one = |s: &Supported| {
        json!({"setting": s.setting, "wrong": s.wrong, "exposure": s.exposure,
               "fa_bound": s.bound, "missing_chars": s.missing})
    };
    json!({
        "current": one(&found.current), "chosen": one(chosen), "candidates": candidates,
        "supported": found.supported, "loosest": found.loosest.iter().map(one).collect::<Vec<_>>(),
    })
}

fn summary(
    found: &Calibration,
    chosen: &Supported,
    candidates: usize,
    global: Global,
) -> Outcome<Value> {
    let summary = json(found, chosen, candidates);
    if global.json || global.quiet {
        return Ok(summary);
    }
    let row = |(name, s): (&str, &Supported)| {
        vec![
            name.to_owned(),
            s.setting.clone(),
            show::count(s.wrong),
            show::count(s.exposure),
            show::number(s.bound, 2),
            show::count(s.missing),
        ]
    };
    let models = found.models.iter().map(|(model, s)| (model.as_str(), s));
    let rows: Vec<Vec<String>> = [("current", &found.current), ("chosen", chosen)]
        .into_iter()
        .chain(models)
        .map(row)
        .collect();
    let header = [
        "setting of",
        "setting",
        "false alarms",
        "clean chars",
        "at most, per Mchar",
        "chars missing",
    ];
    show::print(&show::table(&header, &rows, 2))?;
    show::print(&format!(
        "{} of {} settings are supported, {} of them the loosest of their kind: see budget.csv. Without loops nobody can say which finds most.",
        show::count(found.supported as u64),
        show::count(candidates as u64),
        found.loosest.len()
    ))?;
    Ok(summary)
}
