//! The files of a run: the contract's columns, the same bytes twice, and all of it read back.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::kit;
use crate::plan;

use deadloop_score::replay::detect::Unit;
use std::collections::BTreeMap;
use std::path::Path;

use deadloop_score::choose::{ChooseOptions, GridCells, choose};
use deadloop_score::replay::detect::{Channel, Kind};
use deadloop_score::replay::{Decided, Record, Region};
use deadloop_score::{
    Case, Evidence, InUse, JudgeOptions, Manifest, Resampling, Results, Scoring, Worth,
    macro_means, settings_toml, write_choice, write_intervals, write_outcomes, write_scores,
    write_scores_by, write_text,
};
use kit::{case, stop};
use plan::plan;
use serde_json::json;

const LENGTHS: (u64, u64) = (500, 6000);

/// Twenty loops, twenty clean ones, a transient, one without a label, one with an error.
fn world() -> (Vec<Case>, Vec<Record>) {
    let (mut cases, mut records) = (Vec::new(), Vec::new());
    let mut add = |id: String, labels, hi: Option<(u16, u16)>, place| {
        let model = if cases.len() % 3 == 0 {
            "模型, \"b\""
        } else {
            "a"
        };
        cases.push(case(
            &id,
            model,
            &format!("g{}", cases.len() / 2),
            LENGTHS,
            labels,
        ));
        let stops = vec![stop(Channel::Answer, place, Kind::Paragraph, LENGTHS)];
        let region = |(a, b)| Region {
            lo: vec![0, 0],
            hi: vec![a, b],
            stop: 0,
        };
        let regions = hi.map(region).into_iter().collect();
        records.push(Record {
            transcript: id.into(),
            blocks: vec![Decided {
                stops,
                regions,
                error: None,
                details: Vec::new(),
            }],
        });
    };
    for i in 0..20_u64 {
        let kind = ["paragraph", "near-repeat"][i as usize % 2];
        let label =
            json!([{"class": "loop", "kind": kind, "channel": "answer", "onset": 800 + 50 * i}]);
        let found = [Some((1, 2)), Some((2, 1)), None, Some((2, 2))][i as usize % 4];
        add(format!("loop{i}"), label, found, 1200 + 60 * i);
        let fooled = (i % 7 == 0).then_some((1, 1));
        add(
            format!("clean{i}"),
            json!([{"class": "clean"}]),
            fooled,
            2000 + i,
        );
    }
    add(
        "tr".into(),
        json!([{"class": "transient", "channel": "answer", "onset": 5, "end": 50}]),
        None,
        0,
    );
    add("none".into(), json!([]), Some((2, 2)), 700);
    add("broken".into(), json!([{"class": "clean"}]), None, 0);
    if let Some(last) = records.last_mut() {
        last.blocks[0].error = Some("it died: exit code 1".into());
    }
    (cases, records)
}

fn write_all(dir: &Path) {
    let plan = plan();
    let (cases, records) = world();
    let evidence = Evidence::new(&plan, &cases, &records).unwrap();
    let constraints = vec!["fa_per_mchar<=20".parse().unwrap()];
    let options = ChooseOptions {
        constraints,
        ..ChooseOptions::default()
    };
    let (judge, worth) = (JudgeOptions::default(), Worth::default());
    let scoring = Scoring {
        evidence: &evidence,
        judge: &judge,
        units: &[Unit::Chars],
        worth: &worth,
        enough: 10,
        reported: &[1, 3],
        resampling: Resampling {
            replicates: 50,
            seed: 1,
        },
        csv: true,
    };
    let grids = [GridCells {
        name: "checkpoint".into(),
        cells: 0..plan.cells(),
    }];
    let choices = choose(&evidence, &grids, 3, &options).unwrap();
    let scored = write_scores(dir, &scoring).unwrap();
    assert_eq!(
        (scored.rows, scored.left_out.len()),
        (3 * (plan.cells() + 1), 0)
    );
    let cells: Vec<usize> = (0..plan.cells()).collect();
    write_outcomes(dir, &evidence, &cells, &judge, true).unwrap();
    write_scores_by(dir, &scoring, &cells[..2], &["group".to_owned()]).unwrap();
    let subjects = [("*".to_owned(), evidence.all())];
    write_intervals(dir, &scoring, &cells, &subjects).unwrap();
    write_choice(dir, &choices, &options).unwrap();
    let in_use = InUse {
        text: "[[guard]]\ndetector = \"checkpoint\"\n".into(),
        rest: String::new(),
        kept: deadloop_replay::detect::Settings::of(Default::default()),
    };
    let text = settings_toml(&plan, &choices, &in_use, &options);
    write_text(&dir.join("settings.toml"), &text).unwrap();
    let means = macro_means(&evidence, 0, &judge, &worth);
    let manifest = Manifest {
        command: "tune".into(),
        seed: 1,
        macro_means: BTreeMap::from([("x".to_owned(), means)]),
        ..Manifest::default()
    };
    manifest.write(dir).unwrap();
}

fn names(dir: &Path) -> Vec<String> {
    let name =
        |e: std::io::Result<std::fs::DirEntry>| e.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = std::fs::read_dir(dir).unwrap().map(name).collect();
    names.sort();
    names
}

#[test]
fn the_same_input_gives_the_same_bytes_and_no_file_is_left_half_written() {
    let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write_all(a.path());
    write_all(b.path());
    let names = names(a.path());
    assert_eq!(
        names,
        [
            "choice.csv",
            "intervals.csv",
            "manifest.json",
            "outcomes.csv",
            "outcomes.parquet",
            "scores.csv",
            "scores.parquet",
            "scores_by.csv",
            "scores_by.parquet",
            "settings.toml",
        ]
    );
    for name in names {
        let read = |dir: &Path| std::fs::read(dir.join(&name)).unwrap();
        assert_eq!(read(a.path()), read(b.path()), "{name}");
    }
}

#[test]
fn the_columns_are_those_of_the_contract_in_its_order() {
    let dir = tempfile::tempdir().unwrap();
    write_all(dir.path());
    let header = |name: &str| {
        let text = std::fs::read_to_string(dir.path().join(name)).unwrap();
        text.lines().next().unwrap().to_owned()
    };
    let outcomes = "transcript,model,profile,group,split,setting,class,kind,channel,onset,end,length,verdict,alarm_at,alarm_exact,alarm_kind,detector,latency,latency_ms,latency_tokens,saved,lost,error,";
    assert!(header("outcomes.csv").starts_with(outcomes));
    let scores = header("scores.csv");
    let (params, rest): (Vec<&str>, Vec<&str>) =
        scores.split(',').partition(|c| c.starts_with("p."));
    assert!(params.contains(&"p.checkpoint.min_matches"), "{params:?}");
    let contract = "setting,model,unit,response,transcripts,loops,clean,transient,unlabelled,hit,premature,stale,miss,earlier,false_alarm,quiet,errors,ended,ended_lo,ended_hi,precision,precision_lo,precision_hi,recall,recall_lo,recall_hi,fpr,fpr_lo,fpr_hi,f1,fa_per_mchar,fa_per_kcall,fa_per_kturn,fa_lo,fa_hi,exposure,transient_stop,transient_pass,transient_per_mchar,transient_per_kcall,transient_per_kturn,delay,latency_p50,latency_p90,within_100,within_200,within_500,within_1000,within_2000,within_5000,within_2,within_5,within_10,within_20,in_periods,saved,lost,break_even,";
    assert!(rest.join(",").starts_with(contract), "{rest:?}");
}

#[test]
fn what_was_written_is_read_back() {
    let dir = tempfile::tempdir().unwrap();
    write_all(dir.path());
    let results = Results::read(dir.path()).unwrap();
    assert_eq!(results.manifest.command, "tune");
    let mut parts = Vec::new();
    results.scores.each(&[], |part| parts.push(part)).unwrap();
    let [scores] = &parts[..] else {
        panic!("a few rows are one part");
    };
    let mut named = Vec::new();
    let columns = ["setting", "recall", "no such column"];
    results
        .scores
        .each(&columns, |part| named.push(part))
        .unwrap();
    assert_eq!(named[0].names().collect::<Vec<_>>(), ["setting", "recall"]);
    assert_eq!(named[0].rows(), scores.rows());
    let csv = std::fs::read_to_string(dir.path().join("scores.csv")).unwrap();
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().unwrap().clone();
    for (row, record) in reader.records().enumerate() {
        for (name, cell) in header.iter().zip(&record.unwrap()) {
            assert_eq!(
                scores.shown(name, row).as_deref(),
                Some(cell),
                "{name} {row}"
            );
        }
    }
    let rows: Vec<usize> = (0..scores.rows()).collect();
    let models: Vec<_> = rows
        .iter()
        .take(3)
        .filter_map(|r| scores.text("model", *r))
        .collect();
    assert_eq!(models, ["*", "a", "模型, \"b\""]);
    let never = rows
        .iter()
        .find(|r| scores.text("setting", **r) == Some("never"))
        .unwrap();
    assert_eq!(scores.number("precision", *never), None);
    assert_eq!(scores.number("recall", *never), Some(0.0));
    assert_eq!(scores.number("latency_p50", *never), Some(f64::INFINITY));
    assert_eq!(
        scores.shown("latency_p50", *never).as_deref(),
        Some("never")
    );
    assert_eq!(scores.int("loops", *never), Some(20));
    assert_eq!(scores.int("p.checkpoint.min_matches", 0), Some(3));
    assert_eq!(scores.int("errors", 0), Some(1));
    let outcomes = results.outcomes.unwrap();
    assert_eq!(outcomes.rows(), 6 * 43);
    let last = outcomes.rows() - 1;
    assert_eq!(outcomes.text("verdict", last), Some("error"));
    assert_eq!(outcomes.text("error", last), Some("it died: exit code 1"));
    assert_eq!(outcomes.text("verdict", last - 1), Some("unlabelled"));
    let by = results.scores_by.unwrap();
    assert_eq!(
        (by.text("by", 0), by.text("value", 0)),
        (Some("kind"), Some("near-repeat"))
    );
    let of = |field: &str| -> Vec<Option<&str>> {
        let rows = (0..by.rows()).filter(|row| by.text("by", *row) == Some(field));
        let setting = by.text("setting", 0);
        let rows = rows.filter(|row| by.text("setting", *row) == setting);
        rows.map(|row| by.text("value", row)).collect()
    };
    assert_eq!(of("kind"), [Some("near-repeat"), Some("paragraph")]);
    assert_eq!(
        of("onset"),
        [Some("0-499"), Some("500-999"), Some("1000-1999")]
    );
    assert_eq!(of("channel"), [Some("answer")]);
    assert_eq!((of("lang"), of("source")), (vec![None], vec![None]));
    assert_eq!(of("group").len(), 22);
    assert_eq!(results.choice.unwrap().text("model", 0), Some("*"));
    assert!(results.intervals.unwrap().rows() > 0);
}

#[test]
fn a_folder_without_results_is_an_error_with_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let error = Results::read(dir.path()).unwrap_err().to_string();
    assert!(error.contains("manifest.json"), "{error}");
}
