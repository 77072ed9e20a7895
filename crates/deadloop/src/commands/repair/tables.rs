//! The two tables of `deadloop repair`.

use deadloop_replay::repairers::Variant;
use deadloop_run::repair::RepairRun;
use deadloop_score::repairs::{ALL_FAULTS, BestRepair, INTACT, RepairScore, RepairVerdict};
use serde_json::{Map, Value, json};

use crate::show;

/// Returns the scores of the first table: presets, programs, the unchanged stream and the best variant of each repairer.
fn variant_scores(done: &RepairRun) -> Vec<&RepairScore> {
    let own = |one: &BestRepair| {
        let is_shown = |at: usize| {
            let variant = &done.variants[at];
            variant.repairer() == one.repairer && (variant.shown || one.variant == Some(at))
        };
        let shown = (0..done.variants.len()).filter(|at| is_shown(*at));
        let shown = shown.filter_map(|at| done.scored.total(at));
        shown.collect::<Vec<_>>()
    };
    done.scored.best.iter().flat_map(own).collect()
}

/// Returns the scores of the second table: the best variant of each repairer by fault.
fn fault_scores(done: &RepairRun) -> Vec<&RepairScore> {
    let own = |one: &BestRepair| {
        let scores = done.scored.scores.iter();
        let is_own = |score: &&RepairScore| {
            one.variant == Some(score.variant) && ![ALL_FAULTS, INTACT].contains(&&*score.fault)
        };
        scores.filter(is_own).collect::<Vec<_>>()
    };
    done.scored.best.iter().flat_map(own).collect()
}

/// Returns the result as JSON.
pub(super) fn summary(done: &RepairRun) -> Map<String, Value> {
    let row = |score: &&RepairScore| {
        let variant = &done.variants[score.variant];
        let mut row = Map::new();
        row.insert("repairer".into(), variant.repairer().into());
        row.insert("variant".into(), variant.name.as_str().into());
        row.insert("params".into(), variant.params().into());
        row.insert("fault".into(), score.fault.as_str().into());
        row.insert("damaged".into(), score.tally.damaged().into());
        for verdict in RepairVerdict::ALL {
            row.insert(verdict.name().into(), score.tally.count(verdict).into());
        }
        row.insert("errors".into(), score.errors.into());
        row.insert("waits".into(), json!(score.silence));
        Value::Object(row)
    };
    let best = |one: &BestRepair| {
        let name = one.variant.map(|at| done.variants[at].name.as_str());
        json!({"repairer": one.repairer, "variant": name})
    };
    let mut said = Map::new();
    said.insert("streams".into(), done.streams.into());
    said.insert("broken_arguments".into(), done.broken.into());
    said.insert("variants".into(), done.variants.len().into());
    said.insert("best".into(), done.scored.best.iter().map(best).collect());
    said.insert(
        "repairers".into(),
        variant_scores(done).iter().map(row).collect(),
    );
    said.insert(
        "faults".into(),
        fault_scores(done).iter().map(row).collect(),
    );
    said
}

/// Renders the result for the terminal.
pub(super) fn render(done: &RepairRun) -> String {
    let mut parts = vec![format!(
        "{} streams, {} variants",
        show::count(done.streams),
        done.variants.len()
    )];
    if done.broken > 0 {
        parts.push(format!(
            "{} real arguments that are no JSON: arguments.csv",
            show::count(done.broken)
        ));
    }
    if !done.scored.best.is_empty() {
        parts.extend(show::summary(&done.run.manifest.summary));
        parts.push(best_sentence(done));
    }
    parts.join("\n\n")
}

/// Names the variant of each repairer that does no harm and recovers most.
fn best_sentence(done: &RepairRun) -> String {
    let named = |variant: &Variant| {
        if variant.shown {
            variant.name.clone()
        } else {
            format!("{} ({})", variant.name, variant.params())
        }
    };
    let (mut found, mut none) = (Vec::new(), Vec::new());
    for one in &done.scored.best {
        match one.variant.and_then(|at| done.scored.total(at)) {
            Some(score) => found.push(format!(
                "{} {} of {}",
                named(&done.variants[score.variant]),
                show::count(score.tally.count(RepairVerdict::Recovered)),
                show::count(score.tally.damaged())
            )),
            None => none.push(one.repairer.as_str()),
        }
    }
    let none = match none.as_slice() {
        [] => String::new(),
        none => format!("; no variant of {}", none.join(", ")),
    };
    let found = if found.is_empty() {
        "nothing".to_owned()
    } else {
        found.join(", ")
    };
    format!(
        "Without harm (no damaged stream comes out wrong, no intact one is changed) these recover most: {found}{none}."
    )
}
