//! The facts about a run, as read from its manifest.

use crate::data::{Objective, RunInfo};
use deadloop_score::replay::detect::Unit;
use deadloop_score::{Constraint, JudgeOptions, Manifest, Measure};
use std::path::Path;

/// Returns the facts in a manifest. `unlabelled` and `errors` are numbers of transcripts, from the scores.
pub(super) fn run_info(manifest: &Manifest, unlabelled: u64, errors: u64) -> RunInfo {
    let constraints = manifest.constraints.iter();
    let constraints: Vec<Constraint> = constraints.filter_map(|text| text.parse().ok()).collect();
    let objective = manifest.objective.as_deref().and_then(Measure::named);
    let is_limit = |one: &&Constraint| one.metric.is_wrong_rate() && one.at_most;
    let limit = constraints.iter().find(is_limit).map(|limit| limit.bound);
    let corpus = &manifest.corpus;
    let file_name = || {
        Path::new(&corpus.path).file_name().map_or_else(
            || corpus.path.clone(),
            |name| name.to_string_lossy().into_owned(),
        )
    };
    let detectors = manifest
        .detectors
        .iter()
        .map(|(name, version)| (name.clone(), version.to_string()));
    RunInfo {
        command: manifest.command.clone(),
        corpus: corpus.name.clone().unwrap_or_else(&file_name),
        corpus_file: file_name(),
        chars: corpus.chars,
        corpus_hash: Some(corpus.hash.clone()).filter(|hash| !hash.is_empty()),
        versions: std::iter::once(("deadloop".to_owned(), manifest.deadloop.clone()))
            .chain(detectors)
            .collect(),
        worth: manifest.worth,
        seed: Some(manifest.seed),
        unit: manifest.judge.unit,
        judge: judge_options(&manifest.judge),
        constraints,
        limit,
        objective: objective.map(Objective).unwrap_or_default(),
        counts: transcript_counts(manifest, unlabelled, errors),
        models_left_out: manifest.models_left_out.len() as u64,
    }
}

/// Returns the options for judging alarms, by their names in `reports/METHOD.md`.
fn judge_options(options: &JudgeOptions) -> Vec<(String, String)> {
    let pair = |name: &str, value: String| (name.to_owned(), value);
    let mut named = vec![pair("transient", options.transient.name().to_owned())];
    if options.unit != Unit::Chars {
        named.insert(0, pair("unit", options.unit.to_string()));
    }
    named
}

/// Returns the numbers of records that were read and left out, with their names on the page.
fn transcript_counts(manifest: &Manifest, unlabelled: u64, errors: u64) -> Vec<(String, u64)> {
    // `tune` keeps the split `test` out of its choice.
    let filtered = if manifest.command == "tune" {
        "left out by filters, and by tune for a test"
    } else {
        "left out by filters"
    };
    let mut counts = vec![
        ("transcripts", manifest.corpus.transcripts),
        ("chars", manifest.corpus.chars),
        (filtered, manifest.corpus.filtered),
        ("rejected", manifest.corpus.rejected),
        ("unlabelled", unlabelled),
        ("errors", errors),
        ("cells", manifest.cells),
    ];
    // In another unit the chars of the corpus are irrelevant.
    counts.retain(|(name, _)| *name != "chars" || manifest.judge.unit == Unit::Chars);
    let refused: u64 = manifest.refused.values().sum();
    let left_out = manifest.models_left_out.len() as u64;
    counts.extend(
        [
            ("impossible cells", refused),
            ("models without rows of their own", left_out),
        ]
        .into_iter()
        .filter(|count| count.1 > 0),
    );
    counts
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
