//! A result folder as the contract describes it, read back and rendered.
#![allow(clippy::unwrap_used)]

use deadloop_report::{ALL_MODELS, Role, Verdict, load, render};
use deadloop_score::choose::{Advice, Ruling};
use deadloop_score::measure::{DELAY, FA_PER_MCHAR, RECALL, SAVED, WITHIN_1000};
use deadloop_score::{CorpusInfo, FORMAT, Manifest};
use deadloop_tables::{ColumnDoc, DataFrame, ParquetWriter, schema};
use std::fs::File;
use std::path::Path;

/// A column as a frame, with its description.
type Column = (DataFrame, Vec<ColumnDoc>);

fn parquet(dir: &Path, name: &str, columns: Vec<Column>) {
    let docs: Vec<ColumnDoc> = columns.iter().flat_map(|(_, docs)| docs.clone()).collect();
    let mut frames = columns.into_iter().map(|(frame, _)| frame);
    let first = frames.next().unwrap();
    let frame = frames.fold(first, |all, one| all.hstack(one.columns()).unwrap());
    let mut file = ParquetWriter::new(File::create(dir.join(name)).unwrap(), &docs).unwrap();
    file.write(&frame).unwrap();
    file.finish().unwrap();
}

fn words(name: &str, values: &[Option<&'static str>]) -> Column {
    let schema = schema![Option<&'static str>; (name, Text, "A word.", |value| *value)];
    (schema.frame(values), schema.docs())
}

fn counts(name: &str, values: &[Option<i64>]) -> Column {
    let schema = schema![Option<i64>; (name, Int, "A count.", |value| *value)];
    (schema.frame(values), schema.docs())
}

fn numbers(name: &str, values: &[Option<f64>]) -> Column {
    let schema = schema![Option<f64>; (name, Float, "A number.", |value| *value)];
    (schema.frame(values), schema.docs())
}

/// A value for each setting, on its three rows.
fn each<T: Copy>(values: [T; 3]) -> Vec<T> {
    values.map(|value| [value; 3]).concat()
}

const IN_USE: &str = "[[guard]]\ndetector = \"checkpoint\"\n[guard.params]\nmin_repeats = 6\npartial_tail = \"drop\"\n";
const CHOSEN: &str = "[[guard]]\ndetector = \"checkpoint\"\n[guard.params]\nmin_repeats = 5\npartial_tail = \"drop\"\n";

/// Three settings (in use, chosen, the floor `never`) on two models.
fn write_folder(dir: &Path) {
    let manifest = Manifest {
        deadloop: "0.1.0".into(),
        format: FORMAT,
        command: "tune".into(),
        corpus: CorpusInfo {
            path: "/data/starter".into(),
            hash: "beef".into(),
            transcripts: 6,
            ..CorpusInfo::default()
        },
        constraints: vec!["fa_per_mchar<=1".into()],
        objective: Some("saved".into()),
        advice: Some(Advice {
            verdict: Ruling::Ship,
            reason: "Ship a setting of the grid: it is better.".into(),
            ..Advice::default()
        }),
        settings: [
            (
                "aa".to_owned(),
                vec!["in use".to_owned(), "document".to_owned()],
            ),
            ("bb".to_owned(), vec!["chosen".to_owned()]),
        ]
        .into(),
        ..Manifest::default()
    };
    manifest.write(dir).unwrap();
    let all = |value| vec![Some(value); 9];
    let by: Vec<_> = [Some("total"), Some("model"), Some("model")].repeat(3);
    let models: Vec<_> = [None, Some("a"), Some("模型")].repeat(3);
    let never = f64::INFINITY;
    parquet(
        dir,
        "scores.parquet",
        vec![
            words("setting", &each([Some("aa"), Some("bb"), Some("never")])),
            words("by", &by),
            words("value", &models),
            words("unit", &[Some("chars"); 9]),
            counts("p.checkpoint.min_repeats", &each([Some(6), Some(4), None])),
            words("settings", &each([Some(IN_USE), Some(CHOSEN), None])),
            counts("transcripts", &all(6)),
            counts("hit", &each([1, 3, 0].map(Some))),
            counts("miss", &each([3, 1, 4].map(Some))),
            counts("false_alarm", &all(0)),
            counts("loops", &all(4)),
            counts("clean", &all(2)),
            counts("exposure", &all(4_000_000)),
            numbers("latency_p50", &each([never, 700.0, never].map(Some))),
            numbers("within_1000", &[Some(0.25); 9]),
            numbers("saved", &each([0.2, 0.7, 0.0].map(Some))),
            numbers("saved_lo", &each([0.1, 0.5, 0.0].map(Some))),
            numbers("saved_hi", &each([0.3, 0.9, 0.0].map(Some))),
            counts("loop_chars", &all(1000)),
            numbers("recall", &each([0.25, 0.75, 0.0].map(Some))),
            numbers("fa_per_mchar", &each([0.0, 0.0, 0.0].map(Some))),
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
    let choice = "model,verdict,in_use,gets,setting,from,why,ships,difference,difference_lo,difference_hi,objective,limits,transcripts,loops,clean,in_use_recall,held_out_recall,in_sample_recall,in_use_fa_per_mchar,held_out_fa_per_mchar,in_sample_fa_per_mchar,in_use_wrong,held_out_wrong,in_sample_wrong,in_use_transient,held_out_transient,in_sample_transient,test_openings\n\
                  *,ship,the setting in use,a setting of the grid,bb,grid,because,better,25,10,40,saved,fa_per_mchar<=1,6,4,2,0.25,0.5,0.75,,0,0,0,1,0,2,3,4,0\n\
                  a,ship,the setting in use,the setting in use,aa,in use,because,better,25,10,40,saved,fa_per_mchar<=1,3,2,1,0.25,0.25,0.25,0,0,0,0,0,0,0,0,0,0\n";
    std::fs::write(dir.join("choice.csv"), choice).unwrap();
    std::fs::write(dir.join("settings.toml"), "[[guard]]\n").unwrap();
}

#[test]
fn a_setting_of_several_members_says_whose_each_value_is() {
    let dir = tempfile::tempdir().unwrap();
    write_folder(dir.path());
    let used = "[[guard]]\ndetector = \"periodic\"\n[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmin_copies = 5\n";
    let other = "[[guard]]\ndetector = \"periodic\"\n[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmin_copies = 7\n";
    let alone = "[[guard]]\ndetector = \"novelty\"\n[guard.params]\nhold = 49\n";
    parquet(
        dir.path(),
        "scores.parquet",
        vec![
            words("setting", &[Some("aa"), Some("bb"), Some("cc")]),
            words("by", &[Some("total"); 3]),
            words("value", &[None; 3]),
            words("unit", &[Some("chars"); 3]),
            words("settings", &[Some(used), Some(other), Some(alone)]),
            counts("transcripts", &[Some(6); 3]),
            counts("miss", &[Some(4); 3]),
            counts("clean", &[Some(2); 3]),
        ],
    );
    let data = load(dir.path()).unwrap();
    assert_eq!(data.describe(1), "periodic-2: 7 copies in a row");
    assert_eq!(data.describe(2), "novelty with 49 samples in a row");
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
            ("aa", Role::InUse),
            ("bb", Role::Cell),
            ("never", Role::Never)
        ]
    );
    assert_eq!(data.settings[0].name(), "document");
    assert_eq!(data.settings[1].params, [Some("4".into())]);
    assert_eq!(data.describe(1), "5 copies in a row");
    assert_eq!(
        (data.run.corpus.as_str(), data.run.limit),
        ("starter", Some(1.0))
    );
    let chosen = data.score(1, ALL_MODELS).unwrap();
    let value = |measure| chosen.value(measure);
    assert_eq!(
        (value(&RECALL), value(&WITHIN_1000)),
        (Some(0.75), Some(0.25))
    );
    assert_eq!(value(&DELAY), Some(0.0), "the folder has no such column");
    let saved = chosen.estimate(&SAVED);
    assert_eq!(
        (saved.value, saved.low, saved.high),
        (Some(0.7), Some(0.5), Some(0.9))
    );
    assert!(chosen.meets, "no wrong alarm in 4 million chars");
    let median = data.score(0, "模型").unwrap().scores.latency.p50;
    assert_eq!(median, Some(f64::INFINITY));
    let choice = &data.choices[0];
    assert_eq!((choice.setting, choice.loops), (Some(1), 4));
    assert_eq!(choice.reason, "because");
    assert_eq!(data.chosen(), Some(1));
    assert_eq!(
        (data.held_for("a"), data.held_for("模型")),
        (Some(0), Some(1))
    );
    let sides = [&choice.in_use, &choice.held_out, &choice.in_sample];
    assert_eq!(
        sides.map(|of| of.value(&RECALL)),
        [Some(0.25), Some(0.5), Some(0.75)]
    );
    assert_eq!(
        sides.map(|of| (of.wrong, of.transient)),
        [(0, 2), (1, 3), (0, 4)]
    );
    assert_eq!(choice.in_use.value(&FA_PER_MCHAR), None, "n/a is no 0");
    assert_eq!(data.outcomes[1].verdict, Verdict::Hit);
}

#[test]
fn a_folder_gets_its_report() {
    let dir = tempfile::tempdir().unwrap();
    write_folder(dir.path());
    let report = render(dir.path(), &Default::default()).unwrap();
    assert!(report.files.iter().all(|file| file.exists()));
    assert!(!dir.path().join("charts/heatmap.svg").exists());
    let markdown = std::fs::read_to_string(dir.path().join("report.md")).unwrap();
    assert!(markdown.contains("**ship**: Ship a setting of the grid: it is better."));
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
            "outcomes.parquet: row 1: unknown verdict \"perhaps\"; expected one of hit, premature"
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
