//! A settings file with a guard for each of two models is one setting: under its name, each case
//! seen by the guard of its model.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::kit;

use deadloop_score::replay::detect::Unit;
use std::path::Path;

use deadloop_score::choose::{ChooseOptions, ReadyGuard, choose};
use deadloop_score::replay::detect::{Channel, Kind, Settings};
use deadloop_score::replay::{Plan, Record};
use deadloop_score::{
    Case, Evidence, JudgeOptions, Resampling, ScoringRequest, SettingsInUse, Stakes, settings_toml,
    write_choice, write_outcomes, write_scores,
};
use kit::{case, stop};
use serde_json::json;

const LENGTHS: (u64, u64) = (500, 6000);

/// `a` is watched in its reasoning by one member, `b` in its answer by two.
const SETTINGS: &str = "
[[guard]]
detector = \"checkpoint\"
channel = \"reasoning\"
[[model]]
match = \"b*\"
[[model.guard]]
detector = \"checkpoint\"
channel = \"answer\"
[[model.guard]]
detector = \"checkpoint\"
channel = \"answer\"
[model.guard.params]
min_repeats = 9
";

/// A clean one of each model; a loop of `b`, stopped by the second member of its guard.
fn world() -> (Plan, Vec<Case>, Vec<Record>) {
    let mut plan = Plan::default();
    plan.add_settings(&Settings::parse(SETTINGS).unwrap());
    let clean = || json!([{"class": "clean"}]);
    let looping =
        json!([{"class": "loop", "channel": "answer", "kind": "paragraph", "onset": 1000}]);
    let cases = vec![
        case("a/clean", "a", "", LENGTHS, clean()),
        case("b/clean", "b1", "", LENGTHS, clean()),
        case("b/loop", "b1", "", LENGTHS, looping),
    ];
    let mut second = stop(Channel::Answer, 1400, Kind::Paragraph, LENGTHS);
    second.member = 1;
    let stops = [None, None, Some(Vec::new())];
    let record = |(case, hi): (&Case, _)| kit::record(&case.id, second, hi);
    let records = cases.iter().zip(stops).map(record).collect();
    (plan, cases, records)
}

/// The cells of some columns of a CSV file, row by row.
fn column(dir: &Path, file: &str, names: &[&str]) -> Vec<Vec<String>> {
    let mut reader = csv::Reader::from_path(dir.join(file)).unwrap();
    let header = reader.headers().unwrap().clone();
    let at = |name: &&str| header.iter().position(|h| h == *name).unwrap();
    let at: Vec<usize> = names.iter().map(at).collect();
    let row = |row: Result<csv::StringRecord, csv::Error>| {
        let row = row.unwrap();
        at.iter().map(|i| row[*i].to_owned()).collect()
    };
    reader.records().map(row).collect()
}

#[test]
fn exposure_counts_the_channels_of_the_models_guard_and_the_detector_is_its_member() {
    let (plan, cases, records) = world();
    let evidence = Evidence::new(&plan, &cases, &records).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let options = JudgeOptions::default();
    write_outcomes(dir.path(), &evidence, &[0], &[], &options, true).unwrap();
    let rows = column(dir.path(), "outcomes.csv", &["exposure", "detector"]);
    // Reasoning of a, the answers of b.
    let right = [["500", ""], ["6000", ""], ["1000", "checkpoint-2"]];
    assert_eq!(rows, right);
    let tally = evidence.tally(0, &evidence.all(), &options);
    assert_eq!(tally.get(deadloop_score::Count::Exposure), 7500);
}

/// The setting in use is the only one that is ready.
fn options() -> ChooseOptions {
    ChooseOptions {
        ready: vec![ReadyGuard {
            cell: 0,
            name: "mine".into(),
        }],
        ..ChooseOptions::default()
    }
}

#[test]
fn every_file_names_the_setting_as_the_settings_file() {
    let (plan, cases, records) = world();
    let evidence = Evidence::new(&plan, &cases, &records).unwrap();
    let (judge, worth) = (JudgeOptions::default(), Stakes::default());
    let scoring = ScoringRequest {
        evidence: &evidence,
        judge: &judge,
        units: &[Unit::Chars],
        worth: &worth,
        enough: 0,
        reported: &[0],
        by: &[],
        resampling: Resampling::default(),
        csv: true,
    };
    let dir = tempfile::tempdir().unwrap();
    write_scores(dir.path(), &scoring).unwrap();
    write_outcomes(dir.path(), &evidence, &[0], &[], &judge, true).unwrap();
    let options = options();
    let choices = choose(&evidence, &[], 0, &options).unwrap();
    write_choice(dir.path(), &choices, &options).unwrap();
    let id = Settings::parse(SETTINGS).unwrap().id();
    for file in ["scores", "outcomes", "choice"] {
        let rows = column(dir.path(), &format!("{file}.csv"), &["setting"]);
        assert!(!rows.is_empty(), "{file}");
        // The guard that never stops has its row in every table of scores.
        let mut named = rows.iter().filter(|row| row[0] != deadloop_score::NEVER);
        assert!(named.all(|row| *row == [id.clone()]), "{file}: {rows:?}");
    }
    let mut rows = column(dir.path(), "scores.csv", &["by", "value", "exposure"]);
    rows.retain(|row| row[0] == "total" || row[0] == "model");
    let exposures = rows.iter().map(|row| format!("{}={}", row[1], row[2]));
    let exposures: Vec<String> = exposures.collect();
    // Nothing is cut by the guard that never stops, whose rows are the last.
    let right = "=7500 a=500 b1=7000 =14500 a=6500 b1=8000";
    assert_eq!(exposures.join(" "), right);
}

#[test]
fn a_kept_settings_file_keeps_its_guards() {
    let (plan, cases, records) = world();
    let evidence = Evidence::new(&plan, &cases, &records).unwrap();
    let options = options();
    let choices = choose(&evidence, &[], 0, &options).unwrap();
    let in_use = SettingsInUse {
        text: SETTINGS.into(),
        rest: String::new(),
        kept: deadloop_replay::detect::Settings::from_guard(Default::default()),
    };
    let written = Settings::parse(&settings_toml(&plan, &choices, &in_use, &options)).unwrap();
    let was = Settings::parse(SETTINGS).unwrap();
    for model in ["a", "b1"] {
        assert_eq!(written.for_model(model), was.for_model(model), "{model}");
    }
}
