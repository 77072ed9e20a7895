//! A result folder as the contract describes it, read back and rendered.
#![allow(clippy::unwrap_used)]

use deadloop_report::{ALL_MODELS, Role, Verdict, load, render};
use deadloop_score::{CorpusInfo, Manifest};
use polars::prelude::{Column, DataFrame, NamedFrom, Series};
use polars_io::parquet::write::ParquetWriter;
use std::fs::File;
use std::path::Path;

fn parquet(dir: &Path, name: &str, columns: Vec<Column>) {
    let height = columns[0].len();
    let mut table = DataFrame::new(height, columns).unwrap();
    ParquetWriter::new(File::create(dir.join(name)).unwrap())
        .finish(&mut table)
        .unwrap();
}

fn words(name: &str, values: &[Option<&str>]) -> Column {
    Series::new(name.into(), values).into()
}

fn counts(name: &str, values: &[Option<i64>]) -> Column {
    Series::new(name.into(), values).into()
}

fn numbers(name: &str, values: &[Option<f64>]) -> Column {
    Series::new(name.into(), values).into()
}

/// Three settings (in use, chosen, the floor `never`) on two models.
fn write_folder(dir: &Path) {
    let manifest = Manifest {
        deadloop: "0.1.0".into(),
        command: "tune".into(),
        corpus: CorpusInfo {
            path: "/data/starter".into(),
            hash: "beef".into(),
            transcripts: 6,
            ..CorpusInfo::default()
        },
        constraints: vec!["fa_per_mchar<=1".into()],
        objective: Some("saved".into()),
        settings: [
            (
                "aa".to_owned(),
                vec!["current".to_owned(), "document".to_owned()],
            ),
            ("bb".to_owned(), vec!["chosen".to_owned()]),
        ]
        .into(),
        ..Manifest::default()
    };
    manifest.write(dir).unwrap();
    let all = |value| vec![Some(value); 9];
    let settings: Vec<_> = ["aa", "bb", "never"]
        .iter()
        .flat_map(|id| [Some(*id); 3])
        .collect();
    let models: Vec<_> = [Some(ALL_MODELS), Some("a"), Some("模型")].repeat(3);
    let by_setting = |values: [Option<f64>; 3]| {
        values
            .iter()
            .flat_map(|value| [*value; 3])
            .collect::<Vec<_>>()
    };
    let hits: Vec<_> = [1, 3, 0].iter().flat_map(|hits| [Some(*hits); 3]).collect();
    parquet(
        dir,
        "scores.parquet",
        vec![
            words("setting", &settings),
            words("model", &models),
            counts(
                "p.checkpoint.min_repeats",
                &[
                    Some(6),
                    Some(6),
                    Some(6),
                    Some(4),
                    Some(4),
                    Some(4),
                    None,
                    None,
                    None,
                ],
            ),
            counts("transcripts", &all(6)),
            counts("loops", &all(4)),
            counts("clean", &all(2)),
            counts("hit", &hits),
            counts("false_alarm", &all(0)),
            numbers("recall", &by_setting([Some(0.25), Some(0.75), Some(0.0)])),
            numbers(
                "fa_per_mchar",
                &by_setting([Some(0.0), Some(0.0), Some(0.0)]),
            ),
            counts("exposure", &all(4_000_000)),
            numbers(
                "latency_p50",
                &by_setting([Some(f64::INFINITY), Some(700.0), Some(f64::INFINITY)]),
            ),
            numbers("saved", &by_setting([Some(0.2), Some(0.7), Some(0.0)])),
        ],
    );
    parquet(
        dir,
        "outcomes.parquet",
        vec![
            words("transcript", &[Some("t1"), Some("t1")]),
            words("model", &[Some("a"), Some("a")]),
            words("setting", &[Some("aa"), Some("bb")]),
            words("kind", &[Some("paragraph"), Some("paragraph")]),
            counts("onset", &[Some(2310), Some(2310)]),
            counts("length", &[Some(9000), Some(9000)]),
            words("verdict", &[Some("miss"), Some("hit")]),
            counts("alarm_at", &[None, Some(3000)]),
            counts("latency", &[None, Some(690)]),
        ],
    );
    let choice = "model,setting,why,reason,thin,loops,exposure,held_out_recall,held_out_fa_per_mchar,held_out_delay,optimism,held_out_exposure,held_out_fa_lo,held_out_fa_hi,margins\n\
                  *,bb,pooled,because,1,4,4000000,0.5,0,812.5,0.2,3000000,0,1.2296,fa_per_mchar<=1: -23.9526 (estimate 24.9526); recall>=0.1: 0.4 (bound 0.5)\n";
    std::fs::write(dir.join("choice.csv"), choice).unwrap();
    std::fs::write(dir.join("settings.toml"), "[[guard]]\n").unwrap();
}

#[test]
fn a_setting_of_several_members_says_whose_each_value_is() {
    let dir = tempfile::tempdir().unwrap();
    write_folder(dir.path());
    parquet(
        dir.path(),
        "scores.parquet",
        vec![
            words("setting", &[Some("aa"), Some("bb"), Some("cc")]),
            words("model", &[Some(ALL_MODELS); 3]),
            counts("p.periodic.min_copies", &[Some(3), Some(4), None]),
            counts("p.periodic-2.min_copies", &[Some(5), None, None]),
            counts("p.novelty.stride", &[None, None, Some(250)]),
            counts("p.novelty.hold", &[None, None, Some(99)]),
            counts("transcripts", &[Some(6); 3]),
            counts("loops", &[Some(4); 3]),
            counts("clean", &[Some(2); 3]),
        ],
    );
    let data = load(dir.path()).unwrap();
    assert_eq!(data.describe(1), "periodic: min_copies=4");
    assert_eq!(
        data.describe(2),
        "novelty: hold=99",
        "a stride of 250 is the detector's default"
    );
}

#[test]
fn a_folder_is_read_as_the_contract_says() {
    let dir = tempfile::tempdir().unwrap();
    write_folder(dir.path());
    let data = load(dir.path()).unwrap();
    let roles: Vec<_> = data
        .settings
        .iter()
        .map(|setting| (setting.id.as_str(), setting.role))
        .collect();
    assert_eq!(
        roles,
        [
            ("aa", Role::Current),
            ("bb", Role::Cell),
            ("never", Role::Floor)
        ]
    );
    assert_eq!(data.settings[0].name(), "document");
    assert_eq!(data.settings[1].params, [Some("4".to_owned())]);
    assert_eq!(data.describe(1), "min_repeats=4");
    assert_eq!(
        (data.run.corpus.as_str(), data.run.limit),
        ("starter", Some(1.0))
    );
    let chosen = data.score(1, ALL_MODELS).unwrap();
    assert_eq!(
        (chosen.hit, chosen.recall.value, chosen.delay.value),
        (3, Some(0.75), None)
    );
    assert!(chosen.meets, "no false alarm in 4 million chars");
    assert_eq!(
        data.score(0, "模型").unwrap().latency_p50,
        Some(f64::INFINITY)
    );
    assert_eq!(
        (
            data.choices[0].setting,
            data.choices[0].thin,
            data.choices[0].loops
        ),
        (Some(1), true, 4)
    );
    assert_eq!(
        (data.choices[0].fa.high, data.choices[0].clean_chars),
        (Some(1.2296), 3_000_000),
        "held out, not in sample"
    );
    let over = &data.choices[0].over;
    assert_eq!((over.len(), over[0].compared), (1, Some(24.9526)));
    assert_eq!(data.outcomes[1].verdict, Verdict::Hit);
}

#[test]
fn a_folder_gets_its_report() {
    let dir = tempfile::tempdir().unwrap();
    write_folder(dir.path());
    let report = render(dir.path(), &Default::default()).unwrap();
    assert!(
        report.files.iter().all(|file| file.exists())
            && report.absent.iter().any(|absent| absent.0 == "heatmap")
    );
    let markdown = std::fs::read_to_string(dir.path().join("report.md")).unwrap();
    assert!(markdown.contains("finds 50 % of the loops"), "{markdown}");
    assert!(markdown.contains("4.0 million clean chars"));
}

#[test]
fn an_unknown_verdict_is_named() {
    let dir = tempfile::tempdir().unwrap();
    write_folder(dir.path());
    parquet(
        dir.path(),
        "outcomes.parquet",
        vec![words("verdict", &[Some("perhaps")])],
    );
    let error = load(dir.path()).unwrap_err().to_string();
    assert!(
        error.starts_with(
            "outcomes.parquet: row 1: unknown verdict \"perhaps\"; expected one of hit, late"
        ),
        "{error}"
    );
}

#[test]
fn a_folder_without_results_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    assert!(
        load(dir.path())
            .unwrap_err()
            .to_string()
            .contains("manifest.json")
    );
}
