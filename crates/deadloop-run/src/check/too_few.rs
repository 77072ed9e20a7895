//! The checks for classes with too few labels for a claim.

use std::collections::BTreeMap;

use deadloop_detect::Unit;
use deadloop_score::{Case, units};

use super::{CheckAdvice, CheckFn, CheckedCorpus, CorpusCheck, Finding, Severity};
use crate::check::evidence::LabelEvidence;

pub(super) static FEW_LABELS: CorpusCheck = CorpusCheck {
    name: "too-few-labels",
    severity: Severity::Warning,
    title: "too few labels for any claim",
    why: "a bad detector can reach a perfect score on so few labels by luck",
    advice: CheckAdvice::Plain("label more of that class, and quote figures with their intervals"),
    find: CheckFn::Corpus(find_few_labels),
};

pub(super) static FEW_MODEL_LABELS: CorpusCheck = CorpusCheck {
    name: "model-with-few-labels",
    severity: Severity::Note,
    title: "models with too few labels for a claim of their own",
    why: "their figures are mostly chance. tune gives them the setting chosen on all models",
    advice: CheckAdvice::Plain("use the figures of all models, or label more"),
    find: CheckFn::Corpus(find_few_labels_of_model),
};

fn find_few_labels(seen: &CheckedCorpus) -> Vec<Finding> {
    let labelled = seen.cases.iter().filter(|case| case.truth.is_some());
    if labelled.count() == 0 {
        // The check for unlabelled transcripts reports these.
        return Vec::new();
    }
    let mut scopes: Vec<(String, LabelEvidence)> = Vec::new();
    for unit in units_of(seen) {
        scopes.push((
            "the corpus".into(),
            LabelEvidence::from_cases(&seen.cases, unit),
        ));
        let splits = counts_by(seen, unit, |case| case.split.as_deref());
        scopes.extend(
            splits
                .into_iter()
                .map(|(split, e)| (format!("split {split}"), e)),
        );
    }
    let found = scopes.iter().flat_map(|(scope, evidence)| {
        let lacks = [evidence.lack_of_loops(), evidence.lack_of_clean()];
        lacks
            .into_iter()
            .flatten()
            .map(move |lack| Finding::without_transcript(format!("{scope}: {lack}")))
    });
    found.collect()
}

fn find_few_labels_of_model(seen: &CheckedCorpus) -> Vec<Finding> {
    let of = |unit| counts_by(seen, unit, |case| Some(&case.model));
    let mut models: Vec<(&str, LabelEvidence)> = units_of(seen).into_iter().flat_map(of).collect();
    models.retain(|(_, evidence)| evidence.labelled() > 0);
    models.sort_by_key(|(model, evidence)| (std::cmp::Reverse(evidence.labelled()), *model));
    let lack = |(model, evidence): &(&str, LabelEvidence)| {
        let lacks: Vec<String> = [evidence.lack_of_loops(), evidence.lack_of_clean()]
            .into_iter()
            .flatten()
            .collect();
        (!lacks.is_empty())
            .then(|| Finding::without_transcript(format!("{model}: {}", lacks.join("; "))))
    };
    models.iter().filter_map(lack).collect()
}

/// Returns the units of the labels, or chars if they name no channel.
fn units_of(seen: &CheckedCorpus) -> Vec<Unit> {
    units(&seen.cases)
}

/// Returns the label counts in a unit for each value of `part`, such as the split of a case. Cases without a value are
/// left out.
fn counts_by(
    seen: &CheckedCorpus,
    unit: Unit,
    part: fn(&Case) -> Option<&str>,
) -> BTreeMap<&str, LabelEvidence> {
    let mut parts: BTreeMap<&str, Vec<&Case>> = BTreeMap::new();
    for case in &seen.cases {
        if let Some(part) = part(case) {
            parts.entry(part).or_default().push(case);
        }
    }
    let of = |(part, cases): (_, Vec<&Case>)| (part, LabelEvidence::from_cases(cases, unit));
    parts.into_iter().map(of).collect()
}
