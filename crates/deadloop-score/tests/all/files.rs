//! The files of a run: the contract's columns, the same bytes twice, and all of it read back.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::kit;
use crate::plan;

use deadloop_score::replay::detect::Unit;
use std::collections::BTreeMap;
use std::path::Path;

use deadloop_score::choose::{ChooseOptions, GridCells, choose};
use deadloop_score::replay::Record;
use deadloop_score::replay::detect::{Channel, Kind};
use deadloop_score::tables::{floats, ints, read_csv, texts};
use deadloop_score::{
    Case, Evidence, JudgeOptions, Manifest, Resampling, ResultFolder, ScoringRequest,
    SettingsInUse, Stakes, macro_means, settings_toml, write_choice, write_outcomes, write_scores,
    write_text,
};
use deadloop_score::{ColumnDoc, FORMAT, Type, read_outcomes};
use kit::{case, stop};
use plan::plan;
use serde_json::json;

const LENGTHS: (u64, u64) = (500, 6000);

/// Twenty loops, twenty clean ones, a transient, one without a label, one with an error.
fn world() -> (Vec<Case>, Vec<Record>) {
    let (mut cases, mut records) = (Vec::new(), Vec::new());
    let mut add = |id: String, labels, hi: Option<(u16, u16)>, place| {
        let model = ["模型, \"b\"", "a", "a"][cases.len() % 3];
        let group = format!("g{}", cases.len() / 2);
        cases.push(case(&id, model, &group, LENGTHS, labels));
        let stop = stop(Channel::Answer, place, Kind::Paragraph, LENGTHS);
        records.push(kit::record(&id, stop, hi.map(|(a, b)| vec![a, b])));
    };
    let clean = || json!([{"class": "clean"}]);
    for i in 0..20_u64 {
        let kind = ["paragraph", "near-repeat"][i as usize % 2];
        let label =
            json!([{"class": "loop", "kind": kind, "channel": "answer", "onset": 800 + 50 * i}]);
        let found = [Some((1, 2)), Some((2, 1)), None, Some((2, 2))][i as usize % 4];
        add(format!("loop{i}"), label, found, 1200 + 60 * i);
        let fooled = (i % 7 == 0).then_some((1, 1));
        add(format!("clean{i}"), clean(), fooled, 2000 + i);
    }
    let passing = json!([{"class": "transient", "channel": "answer", "onset": 5, "end": 50}]);
    add("tr".into(), passing, None, 0);
    add("none".into(), json!([]), Some((2, 2)), 700);
    add("broken".into(), clean(), None, 0);
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
    let (judge, worth) = (JudgeOptions::default(), Stakes::default());
    let scoring = ScoringRequest {
        evidence: &evidence,
        judge: &judge,
        units: &[Unit::Chars],
        worth: &worth,
        enough: 10,
        reported: &[0, 1],
        by: &["group".to_owned()],
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
    assert!(scored.rows > 3 * (plan.cells() + 1) && scored.left_out.is_empty());
    let cells: Vec<usize> = (0..plan.cells()).collect();
    write_outcomes(dir, &evidence, &cells, scoring.by, &judge, true).unwrap();
    write_choice(dir, &choices, &options).unwrap();
    let in_use = SettingsInUse {
        text: "[[guard]]\ndetector = \"checkpoint\"\n".into(),
        rest: String::new(),
        kept: deadloop_replay::detect::Settings::from_guard(Default::default()),
    };
    let text = settings_toml(&plan, &choices, &in_use, &options);
    write_text(&dir.join("settings.toml"), &text).unwrap();
    let means = macro_means(&evidence, 0, &judge, &worth);
    let manifest = Manifest {
        command: "tune".into(),
        format: FORMAT,
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
    let names = names(a.path()).join(" ");
    let tables = "outcomes.csv outcomes.parquet scores.csv scores.parquet";
    assert_eq!(
        names,
        format!("choice.csv manifest.json {tables} settings.toml")
    );
    for name in names.split(' ') {
        let read = |dir: &Path| std::fs::read(dir.join(name)).unwrap();
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
    let outcomes = "transcript,model,profile,group,split,lang,source,task,setting,class,kind,channel,onset,end,length,verdict,alarm_at,alarm_exact,alarm_kind,detector,latency,latency_ms,latency_tokens,saved,lost,error,";
    assert!(header("outcomes.csv").starts_with(outcomes));
    let scores = header("scores.csv");
    let (params, rest): (Vec<&str>, Vec<&str>) =
        scores.split(',').partition(|c| c.starts_with("p."));
    assert!(params.contains(&"p.checkpoint.min_matches"), "{params:?}");
    let contract = "setting,by,value,unit,response,settings,loops,clean,transcripts,unlabelled,errors,hit,earlier,premature,stale,miss,false_alarm,transient_stop,transient_pass,exposure,loop_chars,lost_chars,cut_chars,false_chars,ended,ended_lo,ended_hi,precision,recall,recall_lo,recall_hi,fa_per_mchar,fa_lo,fa_hi,transient_per_mchar,delay,delay_lo,delay_hi,latency_p50,latency_p90,within_1000,saved,saved_lo,saved_hi,break_even";
    assert_eq!(rest.join(","), contract);
    // Group has its column already.
    assert!(header("outcomes.csv").ends_with(",copy_of,label"));
}

#[test]
fn what_was_written_is_read_back() {
    let dir = tempfile::tempdir().unwrap();
    write_all(dir.path());
    let results = ResultFolder::read(dir.path()).unwrap();
    assert_eq!(results.manifest.command, "tune");
    let scores = &results.scores;
    let csv = std::fs::File::open(dir.path().join("scores.csv")).unwrap();
    let types: Vec<_> = (scores.columns().iter())
        .map(|column| ColumnDoc {
            name: column.name().to_string(),
            cell_type: match column.dtype().to_string().as_str() {
                "i64" => Type::Int,
                "f64" => Type::Float,
                _ => Type::Text,
            },
            unit: String::new(),
            about: String::new(),
        })
        .collect();
    assert!(read_csv(csv, &types).unwrap().equals_missing(scores));
    let slices: Vec<_> = texts(scores, "by").zip(texts(scores, "value")).collect();
    let models = [
        (Some("total"), None),
        (Some("model"), Some("a")),
        (Some("model"), Some("模型, \"b\"")),
    ];
    assert_eq!(slices[..3], models);
    let last = scores.height() - 3;
    assert_eq!(texts(scores, "setting").nth(last), Some(Some("never")));
    assert_eq!(slices[last..], models);
    let number = |name: &str| floats(scores, name).nth(last).unwrap();
    let numbers = ["precision", "recall", "latency_p50"].map(number);
    assert_eq!(numbers, [None, Some(0.0), Some(f64::INFINITY)]);
    assert_eq!(ints(scores, "loops").nth(last), Some(Some(20)));
    let mut params = ints(scores, "p.checkpoint.min_matches");
    assert_eq!(params.next(), Some(Some(3)));
    assert_eq!(ints(scores, "errors").next(), Some(Some(1)));
    let settings: Vec<_> = texts(scores, "setting").collect();
    let of = |field: &str| -> Vec<Option<&str>> {
        let own = slices.iter().zip(&settings);
        let own = own.filter(|((by, _), setting)| *by == Some(field) && **setting == settings[0]);
        own.map(|((_, value), _)| *value).collect()
    };
    assert_eq!(of("kind"), [Some("near-repeat"), Some("paragraph")]);
    let onsets = ["0-499", "500-999", "1000-1999"];
    assert_eq!(of("onset"), onsets.map(Some));
    assert_eq!(of("channel"), [Some("answer")]);
    assert_eq!((of("lang"), of("source")), (vec![None], vec![None]));
    assert_eq!(of("group").len(), 22);
    let outcomes = read_outcomes(dir.path(), &["verdict", "error"]).unwrap();
    let outcomes = outcomes.unwrap();
    assert_eq!((outcomes.width(), outcomes.height()), (2, 6 * 43));
    let end = |name| texts(&outcomes, name).skip(6 * 43 - 2).collect::<Vec<_>>();
    assert_eq!(end("verdict"), [Some("unlabelled"), Some("error")]);
    assert_eq!(end("error"), [None, Some("it died: exit code 1")]);
    let choice = results.choice.unwrap();
    assert_eq!(texts(&choice, "model").next(), Some(Some("*")));
}

#[test]
fn results_of_another_version_are_refused_with_the_command() {
    let dir = tempfile::tempdir().unwrap();
    let args = ["tune", "corpus"].map(str::to_owned).to_vec();
    let manifest = Manifest {
        args,
        ..Manifest::default()
    };
    manifest.write(dir.path()).unwrap();
    let error = ResultFolder::read(dir.path()).unwrap_err().to_string();
    let right = "expected version 2: run `deadloop tune corpus --force` again";
    assert!(error.ends_with(right), "{error}");
}

#[test]
fn a_folder_without_results_is_an_error_with_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let error = ResultFolder::read(dir.path()).unwrap_err().to_string();
    assert!(error.contains("manifest.json"), "{error}");
}
