//! The two summary tables of repairers.

use deadloop_replay::repairers::Variant;
use deadloop_score::repairs::{ALL_FAULTS, BestRepair, INTACT, RepairScore, RepairVerdict};
use serde_json::{Map, Value, json};

use super::RepairRun;
use crate::layout::{TextDocument, with_summary_tables};
use crate::words::count;

/// Returns the scores of the first table, which lists presets, programs, the unchanged stream and the best variant of
/// each repairer.
fn variant_scores(done: &RepairRun) -> Vec<&RepairScore> {
    let own = |best: &BestRepair| {
        let is_shown = |at: usize| {
            let variant = &done.variants[at];
            variant.repairer() == best.repairer && (variant.shown || best.variant == Some(at))
        };
        let shown = (0..done.variants.len()).filter(|at| is_shown(*at));
        let shown = shown.filter_map(|at| done.scored.total(at));
        shown.collect::<Vec<_>>()
    };
    done.scored.best.iter().flat_map(own).collect()
}

/// Returns the scores of the second table, which lists the best variant of each repairer for each fault.
fn fault_scores(done: &RepairRun) -> Vec<&RepairScore> {
    let own = |best: &BestRepair| {
        let scores = done.scored.scores.iter();
        let is_own = |score: &&RepairScore| {
            best.variant == Some(score.variant) && ![ALL_FAULTS, INTACT].contains(&&*score.fault)
        };
        scores.filter(is_own).collect::<Vec<_>>()
    };
    done.scored.best.iter().flat_map(own).collect()
}

/// Returns the summary of a measurement as JSON.
pub(super) fn summary_json(done: &RepairRun) -> Value {
    let row = |score: &&RepairScore| {
        let variant = &done.variants[score.variant];
        let mut row = json!({
            "repairer": variant.repairer(), "variant": variant.name, "params": variant.params(),
            "fault": score.fault, "damaged": score.tally.damaged(),
        });
        for verdict in RepairVerdict::ALL {
            row[verdict.name()] = score.tally.count(verdict).into();
        }
        row["errors"] = score.errors.into();
        row["waits"] = json!(score.silence);
        row
    };
    let best = |best: &BestRepair| {
        let name = best.variant.map(|at| done.variants[at].name.as_str());
        json!({"repairer": best.repairer, "variant": name})
    };
    json!({
        "streams": done.streams, "broken_arguments": done.broken, "variants": done.variants.len(),
        "best": done.scored.best.iter().map(best).collect::<Vec<_>>(),
        "repairers": variant_scores(done).iter().map(row).collect::<Vec<_>>(),
        "faults": fault_scores(done).iter().map(row).collect::<Vec<_>>(),
    })
}

/// Formats a measurement as text. `summary` is the value returned by [`summary_json`].
pub(super) fn format_text(done: &RepairRun, summary: &Map<String, Value>) -> TextDocument {
    let (streams, variants) = (count(done.streams), done.variants.len());
    let mut text = TextDocument::default().lines(format!("{streams} streams, {variants} variants"));
    if done.broken > 0 {
        let broken = count(done.broken);
        text = text.lines(format!(
            "\n{broken} real arguments that are no JSON: arguments.csv"
        ));
    }
    if done.scored.best.is_empty() {
        return text;
    }
    with_summary_tables(text, summary).lines(format!("\n{}", best_sentence(done)))
}

/// Formats a sentence with the variant of each repairer that recovers most without harm.
fn best_sentence(done: &RepairRun) -> String {
    let named = |variant: &Variant| {
        if variant.shown {
            variant.name.clone()
        } else {
            format!("{} ({})", variant.name, variant.params())
        }
    };
    let (mut found, mut none) = (Vec::new(), Vec::new());
    for best in &done.scored.best {
        match best.variant.and_then(|at| done.scored.total(at)) {
            Some(score) => found.push(format!(
                "{} {} of {}",
                named(&done.variants[score.variant]),
                count(score.tally.count(RepairVerdict::Recovered)),
                count(score.tally.damaged())
            )),
            None => none.push(best.repairer.as_str()),
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
