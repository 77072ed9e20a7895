//! Shards merged are the whole: byte for byte what one machine leaves, or refused with what to do. The slow obvious twin
//! of `merge` is the same command without `--shard`.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Output;

use deadloop_corpus::{Corpus, CorpusWriter};
use program::{Place, Ran, code, result, stderr, stdout};
use proptest::prelude::*;
use serde_json::{Value, json};

const LABELS: &str = "transcript,class,kind,channel,start,onset,earliest,end,period,by,note\n";

const GRID: &str = "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmin_copies = [3, 5, 9]\nmin_chars = [40, 120]\n";

/// A transcript whose answer is prose, or prose and then a loop.
fn line(id: &str, model: &str, loops: bool) -> String {
    let prose: String = (0..60)
        .map(|n| format!("{} walked past {} of the {id}. ", n * n % 97, n * 31 % 89))
        .collect();
    let onset = prose.chars().count() + 12;
    let answer = if loops {
        prose + &"once again, ".repeat(40)
    } else {
        prose
    };
    let label = if loops {
        json!({"class": "loop", "kind": "short-sequence", "channel": "answer",
                       "start": onset - 12, "onset": onset})
    } else {
        json!({"class": "clean"})
    };
    let meta = json!({"source": if loops { "made" } else { "found" }});
    json!({"id": id, "model": model, "answer": answer, "labels": [label], "meta": meta}).to_string()
        + "\n"
}

/// A corpus with these files of lines.
fn corpus(place: &Place, files: &[String]) {
    for (nth, lines) in files.iter().enumerate() {
        place.file(&format!("corpus/transcripts/f{nth:02}.jsonl"), lines);
    }
}

/// Five files, one of them empty, of two models, with splits; and a grid.
fn five() -> Place {
    let place = Place::new();
    let of = |from: usize, to: usize| -> String {
        let one = |n: usize| line(&format!("t{n}"), ["a", "b"][n % 2], n.is_multiple_of(3));
        (from..to).map(one).collect()
    };
    corpus(
        &place,
        &[of(0, 9), of(9, 10), String::new(), of(10, 16), of(16, 24)],
    );
    let splits: String = (0..24)
        .map(|n| format!("t{n},{}\n", if n % 5 == 0 { "test" } else { "dev" }))
        .collect();
    place.file("corpus/splits.csv", format!("transcript,split\n{splits}"));
    place.file("grid.toml", GRID);
    place
}

/// The corpus and the exit as the manifest has them.
fn manifest(dir: &Path) -> (Value, Value, Value) {
    let text = std::fs::read_to_string(dir.join("manifest.json")).expect("a finished result");
    let mut manifest: Value = serde_json::from_str(&text).expect("JSON");
    (
        manifest["corpus"].take(),
        manifest["ended"].take(),
        manifest["inputs"].take(),
    )
}

/// Makes the parts of `of` shards, in folders whose names begin so; their names.
fn parts(place: &Place, begin: &str, line: &str, of: usize) -> Vec<String> {
    let one = |nth: usize| {
        let out = format!("{begin}-{nth}-of-{of}");
        let run = place.run(format!("{line} -q --shard {nth}/{of} --out {out}"));
        run.ends(0);
        out
    };
    (1..=of).map(one).collect()
}

fn merge(place: &Place, parts: &[String], out: &str) -> Output {
    place.run(format!("merge -q --out {out} {}", parts.join(" ")))
}

/// Holds the merged parts of each number of shards against one machine; gives back its exit code.
#[track_caller]
fn same(place: &Place, line: &str, shards: &[usize]) -> Option<i32> {
    let one = place.run(format!("{line} -q --out whole"));
    for of in shards {
        let mut parts = parts(place, "part", line, *of);
        parts.rotate_left(of / 2);
        let out = format!("merged-{of}");
        let merged = merge(place, &parts, &out);
        let (told, wanted) = (stderr(&merged), stderr(&one));
        assert_eq!(code(&merged), code(&one), "{line}: {told} {wanted}");
        assert_eq!(
            stdout(&merged).replace(&out, "whole"),
            stdout(&one),
            "{line}"
        );
        let (merged, one) = (place.path(&out), place.path("whole"));
        if !one.join("manifest.json").exists() {
            continue;
        }
        let (left, right) = (result(&one), result(&merged));
        let names = |files: &BTreeMap<PathBuf, _>| files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&left), names(&right), "{line} of {of}");
        let differs = |(name, bytes): &(&PathBuf, &Vec<u8>)| right.get(*name) != Some(bytes);
        let other: Vec<_> = left.iter().filter(differs).map(|(name, _)| name).collect();
        assert!(other.is_empty(), "{line} of {of}: {other:?} differ");
        assert_eq!(manifest(&one), manifest(&merged), "{line} of {of}");
    }
    code(&one)
}

const SWEEP: &str = "sweep corpus --grid grid.toml";

#[test]
fn shards_of_a_sweep_a_replay_and_a_choice_are_the_whole() {
    for (line, shards, code) in [
        (
            "sweep corpus --grid grid.toml --csv --by meta.source",
            &[1, 2, 3, 8][..],
            0,
        ),
        // Of the whole corpus.
        (
            "sweep corpus --grid grid.toml --limit 12 --sample 7 --split dev",
            &[3],
            0,
        ),
        ("replay corpus --csv --settings document", &[2, 8], 0),
        // Merged before the choice. Too little data for a verdict: the exit code is part of what is the same.
        ("tune corpus --grid grid.toml --csv", &[3], 5),
    ] {
        assert_eq!(same(&five(), line, shards), Some(code), "{line}");
    }
}

/// Some of a corpus of faults in three files, damaged and intact streams in each.
#[test]
fn shards_of_repair_are_the_whole() {
    let place = Place::new();
    let synth = "synth -q --spec ROOT/datasets/faults/spec.toml --out faults";
    place.run(synth).ends(0);
    for nth in [0, 3, 5] {
        let name = format!("corpus/transcripts/{nth}.jsonl");
        place.file(&name, "");
        let mut writer = CorpusWriter::create(&place.path(&name), true).expect("it is writable");
        let made = Corpus::open(&place.path("faults")).expect("it was made");
        for entry in made.entries().skip(nth).step_by(9) {
            let entry = entry.expect("it was made");
            writer.write(&entry).expect("there is room");
        }
        writer.finish().expect("there is room");
    }
    assert_eq!(same(&place, "repair corpus --csv", &[2, 4]), Some(0));
}

#[test]
fn shards_of_budget_are_the_whole_whatever_the_grid() {
    let place = Place::new();
    let run = |n: usize| {
        let mut events = vec![json!({"type": "user", "text": "Mend it."})];
        for turn in 0..20 + n % 7 {
            let (id, arguments) = (format!("c{turn}"), format!("{}-{turn}", "x".repeat(n + 1)));
            events.push(json!({"type": "turn", "tokens_in": 2 + 130 * turn}));
            events.push(
                json!({"type": "tool_call", "id": id, "name": "read", "arguments": arguments}),
            );
            events.push(
                json!({"type": "tool_result", "id": id, "content": format!("{turn} ").repeat(200)}),
            );
        }
        json!({"id": format!("r{n}"), "group": format!("g{n}"), "events": events}).to_string()
            + "\n"
    };
    let some = |from: usize, to: usize| -> String { (from..to).map(run).collect() };
    corpus(&place, &[some(0, 20), some(20, 21), some(21, 60)]);
    let grid = "[[budget]]\n[budget.params]\nwindow = 2000\nthreshold = [0.5, 0.7, 0.85]\nkeep = [0.2, 0.3]\n";
    place.file("grid.toml", grid);
    let line = "budget corpus --grid grid.toml --csv";
    assert_eq!(same(&place, line, &[2, 3]), Some(0));
}

#[test]
fn a_part_needs_neither_corpus_nor_grid_and_opens_no_transcript_then() {
    let place = five();
    let swept = parts(&place, "swept", SWEEP, 2);
    let replayed = parts(&place, "replayed", "replay corpus", 3).join(" ");
    std::fs::rename(place.path("corpus"), place.path("moved")).expect("it can be moved");
    std::fs::remove_file(place.path("grid.toml")).expect("it can be removed");
    merge(&place, &swept, "swept").ends(0);
    let run = place.run(format!("merge --out seen {replayed}")).ends(0);
    run.says("say with --corpus where the corpus is now");
    let run = place.run(format!("merge --corpus moved --out at-hand {replayed}"));
    run.ends(0);
    let size = |out: &str| place.bytes(&format!("{out}/cases.jsonl")).len();
    assert!(
        size("at-hand") > size("seen"),
        "the texts are there where the corpus is"
    );
    place.file("moved/transcripts/f00.jsonl", "");
    let run = place.run(format!("merge --corpus moved --out seen {replayed}"));
    run.ends(2).says("another corpus");
}

#[test]
fn what_does_not_belong_together_is_refused_with_what_to_do() {
    let place = five();
    let good = parts(&place, "good", SWEEP, 2);
    let other =
        |name: &str, line: &str| vec![good[0].clone(), parts(&place, name, line, 2)[1].clone()];
    let refused = |parts: &[String], what: &str| {
        merge(&place, parts, "out").ends(2).says(what);
    };
    refused(
        &good[..1],
        "1 shard is missing: 2/2; make them with --shard",
    );
    let twice = [good[0].clone(), good[1].clone(), good[1].clone()];
    refused(&twice, "are both shard 2/2; leave one of them out");
    refused(
        &[good[0].clone(), "corpus".to_owned()],
        "no part.json; expected a folder that --shard left",
    );
    let thirds = parts(&place, "thirds", SWEEP, 3);
    refused(
        &[good[0].clone(), thirds[1].clone()],
        "give the parts of one division",
    );
    let judged = other("judged", &format!("{SWEEP} --transient loop"));
    refused(
        &judged,
        "another command: sweep.judge.transient differs; make all parts by one command",
    );
    place.file("grid.toml", GRID.replace("9]", "8]"));
    refused(&other("plan", SWEEP), "another plan");
    place.file("grid.toml", GRID);
    place.file("corpus/labels.csv", format!("{LABELS}t1,clean,,,,,,,,,\n"));
    refused(&other("labels", SWEEP), "other labels");
    std::fs::remove_file(place.path("corpus/labels.csv")).expect("it was written");
    place.file("corpus/dataset.toml", "[think]\nblocks = 'all'\n");
    refused(&other("card", SWEEP), "another dataset.toml");
    std::fs::remove_file(place.path("corpus/dataset.toml")).expect("it was written");
    place.file("corpus/transcripts/f09.jsonl", "");
    refused(&other("files", SWEEP), "a corpus of 6 files, not 5");
    let about = format!("{}/part.json", good[1]);
    let text = place.read(&about);
    let version = format!("\"deadloop\": \"{}\"", env!("CARGO_PKG_VERSION"));
    let later = text.replace(&version, "\"deadloop\": \"99.0.0\"");
    assert_ne!(later, text);
    place.file(&about, later);
    refused(&good, "written by deadloop 99.0.0");
    place.file(&about, b"{\xff}");
    refused(&good, "part.json: not UTF-8 text");
    place.file(&about, text);
    let records = format!("{}/records.jsonl.zst", good[1]);
    let bytes = place.bytes(&records);
    place.file(&records, &bytes[..bytes.len() / 2]);
    refused(&good, "bytes that were written; copy the part again");
}

#[test]
fn an_id_that_comes_again_in_another_shard_is_found_at_the_merge() {
    let place = Place::new();
    place.file("grid.toml", GRID);
    let files = [
        line("a", "m", true),
        line("b", "m", false) + &line("a", "m", false),
    ];
    corpus(&place, &files);
    let parts = parts(&place, "part", SWEEP, 2);
    let run = merge(&place, &parts, "out").ends(2);
    run.says("f01.jsonl:2: the id \"a\" was used before, at ");
    run.says("f00.jsonl:1; expected an id that is unique in its corpus");
}

#[test]
fn a_part_that_is_there_is_skipped_and_another_is_never_overwritten() {
    let place = five();
    let part = |shard: &str| place.run(format!("{SWEEP} --out part --shard {shard}"));
    part("1/2").ends(0);
    let first = result(&place.path("part"));
    let again = part("1/2 --json");
    again.says("already holds this part");
    let said = again.json();
    assert_eq!(
        (&said["shard"], &said["records"]),
        (&json!("1/2"), &json!(17))
    );
    assert!(first == result(&place.path("part")));
    part("2/2").ends(2).says("is not this part");
    part("2/2 --force").ends(0);
    assert!(first != result(&place.path("part")));
    for wrong in ["0/2", "3/2", "x"] {
        part(wrong).ends(2);
    }
}

#[test]
fn a_shard_refuses_what_is_wrong_in_its_own_files() {
    let place = Place::new();
    place.file("grid.toml", GRID);
    let files = [
        line("a", "m", true),
        line("b", "m", false) + "{\"id\": 7}\n",
    ];
    corpus(&place, &files);
    let shard = |nth: &str| place.run(format!("{SWEEP} --out part --shard {nth}"));
    shard("2/2").ends(2).says("f01.jsonl:2: `id` is a number");
    let left = std::fs::read_dir(place.path("part")).expect("it was made");
    assert_eq!(left.count(), 0, "nothing half is left");
    shard("1/2").ends(0);
}

/// What a corpus may be like, and what may be asked of it.
#[derive(Clone, Debug)]
struct World {
    /// Of each file its transcripts: a number that becomes the id, the model, whether it loops; and what else
    /// a line may be.
    files: Vec<Vec<(u8, bool, bool, u8)>>,
    labels: Vec<u8>,
    splits: Vec<u8>,
    options: &'static str,
    shards: usize,
}

fn world() -> impl Strategy<Value = World> {
    let transcript = (0_u8..40, any::<bool>(), any::<bool>(), 0_u8..20);
    let files = prop::collection::vec(prop::collection::vec(transcript, 0..5), 1..6);
    let named = || prop::collection::vec(0_u8..44, 0..6);
    let options = prop::sample::select(vec![
        "",
        "--limit 3",
        "--sample 4",
        "--model a",
        "--split dev",
        "--where source=made --by group",
    ]);
    let shards = prop::sample::select(vec![1_usize, 2, 3, 8]);
    (files, named(), named(), options, shards).prop_map(
        |(files, labels, splits, options, shards)| World {
            files,
            labels,
            splits,
            options,
            shards,
        },
    )
}

/// Writes it down: lines that cannot be read and ids that come twice among them.
fn made(world: &World) -> Place {
    let one = |(id, a, loops, odd): &(u8, bool, bool, u8)| match odd {
        0 => "{\"id\": 7}\n".to_owned(),
        1 => "not even JSON\n".to_owned(),
        2 => line(&format!("t{id}"), "a", *loops).replace("\"onset\":", "\"end\":3,\"onset\":"),
        _ => line(&format!("t{id}"), if *a { "a" } else { "b" }, *loops),
    };
    let files = world.files.iter();
    let files: Vec<String> = files.map(|file| file.iter().map(one).collect()).collect();
    let place = Place::new();
    place.file("grid.toml", GRID);
    corpus(&place, &files);
    if let Some((first, others)) = world.labels.split_first() {
        let good: String = others
            .iter()
            .map(|id| format!("t{id},clean,,,,,,,,,\n"))
            .collect();
        let bad = format!("t{first},nonsense,,,,,,,,,\n");
        let text = if first % 2 == 0 { good } else { good + &bad };
        place.file("corpus/labels.csv", format!("{LABELS}{text}"));
    }
    if !world.splits.is_empty() {
        let rows = world.splits.iter();
        let rows: String = rows
            .map(|id| format!("t{id},{}\n", ["dev", "test", ""][usize::from(id % 3)]))
            .collect();
        place.file("corpus/splits.csv", format!("transcript,split\n{rows}"));
    }
    place
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn shards_of_any_corpus_are_the_whole(world in world()) {
        let line = format!("{SWEEP} --csv --on-bad skip {}", world.options);
        same(&made(&world), &line, &[world.shards]);
    }
}
