//! Shards merged are the whole: byte for byte what one machine leaves, or refused with what to do. The slow obvious twin
//! of `merge` is the same command without `--shard`.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use deadloop_corpus::{Corpus, CorpusWriter};
use program::{code, deadloop, file, stderr, stdout};
use proptest::prelude::*;
use serde_json::{Value, json};

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
fn corpus(dir: &Path, files: &[String]) -> String {
    let corpus = dir.join("corpus");
    let inner = corpus.join("transcripts");
    std::fs::create_dir_all(&inner).expect("a temporary folder is writable");
    for (nth, lines) in files.iter().enumerate() {
        file(&inner, &format!("f{nth:02}.jsonl"), lines);
    }
    corpus.display().to_string()
}

/// Five files, one of them empty, of two models; labels and splits beside them.
fn five(dir: &Path) -> String {
    let of = |from: usize, to: usize| -> String {
        let one = |n: usize| line(&format!("t{n}"), ["a", "b"][n % 2], n.is_multiple_of(3));
        (from..to).map(one).collect()
    };
    let path = corpus(
        dir,
        &[of(0, 9), of(9, 10), String::new(), of(10, 16), of(16, 24)],
    );
    let splits: String = (0..24)
        .map(|n| format!("t{n},{}\n", if n % 5 == 0 { "test" } else { "dev" }))
        .collect();
    file(
        Path::new(&path),
        "splits.csv",
        &format!("transcript,split\n{splits}"),
    );
    path
}

/// Every file of a result but manifest.json.
fn result(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![dir.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("it is there") {
            let path = entry.expect("it can be listed").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name() != Some("manifest.json".as_ref()) {
                let name = path.strip_prefix(dir).expect("it is in it").to_path_buf();
                files.insert(name, std::fs::read(&path).expect("it can be read"));
            }
        }
    }
    files
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

fn path(dir: &Path, name: &str) -> String {
    dir.join(name).display().to_string()
}

/// Makes the parts of `of` shards; their folders.
fn parts(dir: &Path, args: &[&str], of: usize) -> Vec<String> {
    let one = |nth: usize| {
        let out = path(dir, &format!("part-{nth}-of-{of}"));
        let shard = format!("{nth}/{of}");
        let run = deadloop(&[args, &["-q", "--shard", &shard, "--out", &out]].concat());
        assert_eq!(code(&run), Some(0), "{args:?} {shard}: {}", stderr(&run));
        out
    };
    (1..=of).map(one).collect()
}

fn merge(parts: &[String], out: &str, more: &[&str]) -> std::process::Output {
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    deadloop(&[&["merge", "-q", "--out", out], &parts[..], more].concat())
}

/// Holds the merged parts of each number of shards against one machine; gives back its exit code.
#[track_caller]
fn same(dir: &Path, args: &[&str], shards: &[usize]) -> Option<i32> {
    let whole = path(dir, "whole");
    let one = deadloop(&[args, &["-q", "--out", &whole]].concat());
    for of in shards {
        let mut parts = parts(dir, args, *of);
        parts.rotate_left(of / 2);
        let out = path(dir, &format!("merged-{of}"));
        let merged = merge(&parts, &out, &[]);
        let told = |run| stderr(run).replace(&out, "OUT").replace(&whole, "OUT");
        assert_eq!(
            code(&merged),
            code(&one),
            "{args:?}: {} {}",
            told(&merged),
            told(&one)
        );
        assert_eq!(
            stdout(&merged).replace(&out, &whole),
            stdout(&one),
            "{args:?}"
        );
        let (merged, one) = (Path::new(&out), Path::new(&whole));
        if !one.join("manifest.json").exists() {
            continue;
        }
        let (left, right) = (result(one), result(merged));
        let names = |files: &BTreeMap<PathBuf, _>| files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&left), names(&right), "{args:?} of {of}");
        let differs = |(name, bytes): &(&PathBuf, &Vec<u8>)| right.get(*name) != Some(bytes);
        let other: Vec<_> = left.iter().filter(differs).map(|(name, _)| name).collect();
        assert!(other.is_empty(), "{args:?} of {of}: {other:?} differ");
        assert_eq!(manifest(one), manifest(merged), "{args:?} of {of}");
    }
    code(&one)
}

#[test]
fn shards_of_a_sweep_are_the_whole() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (corpus, grid) = (five(dir.path()), file(dir.path(), "grid.toml", GRID));
    let args = [
        "sweep",
        &corpus,
        "--grid",
        &grid,
        "--csv",
        "--by",
        "meta.source",
    ];
    assert_eq!(same(dir.path(), &args, &[1, 2, 3, 8]), Some(0));
}

#[test]
fn shards_of_a_replay_are_the_whole_and_the_report_opens_the_same_transcripts() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let corpus = five(dir.path());
    let args = [
        "replay",
        &corpus,
        "--csv",
        "--settings",
        "document",
        "--set",
        "guard.version=2",
    ];
    let args = &args[..5];
    assert_eq!(same(dir.path(), args, &[2, 8]), Some(0));
}

#[test]
fn shards_of_tune_are_merged_before_the_choice() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (corpus, grid) = (five(dir.path()), file(dir.path(), "grid.toml", GRID));
    let args = ["tune", &corpus, "--grid", &grid, "--csv"];
    // Too little data for a verdict: the exit code is part of what is the same.
    assert_eq!(same(dir.path(), &args, &[3]), Some(5));
}

/// Some of a corpus of faults in three files, damaged and intact streams in each.
fn faults(dir: &Path) -> String {
    let spec = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../datasets/faults/spec.toml"
    );
    let made = path(dir, "faults");
    let run = deadloop(&["synth", "-q", "--spec", spec, "--out", &made]);
    assert_eq!(code(&run), Some(0), "{}", stderr(&run));
    let corpus = corpus(dir, &[]);
    for nth in [0, 3, 5] {
        let file = Path::new(&corpus).join(format!("transcripts/{nth}.jsonl"));
        let mut writer = CorpusWriter::create(&file, false).expect("it is writable");
        let made = Corpus::open(Path::new(&made)).expect("it was made");
        for entry in made.entries().skip(nth).step_by(9) {
            writer
                .write(&entry.expect("it was made"))
                .expect("there is room");
        }
        writer.finish().expect("there is room");
    }
    corpus
}

#[test]
fn shards_of_repair_are_the_whole() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let corpus = faults(dir.path());
    let args = ["repair", &corpus, "--csv"];
    assert_eq!(same(dir.path(), &args, &[2, 4]), Some(0));
}

#[test]
fn shards_of_budget_are_the_whole_whatever_the_grid() {
    let dir = tempfile::tempdir().expect("a temporary folder");
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
    let corpus = corpus(dir.path(), &[some(0, 20), some(20, 21), some(21, 60)]);
    let grid = "[[budget]]\n[budget.params]\nwindow = 2000\nthreshold = [0.5, 0.7, 0.85]\nkeep = [0.2, 0.3]\n";
    let grid = file(dir.path(), "grid.toml", grid);
    let args = ["budget", &corpus, "--grid", &grid, "--csv"];
    assert_eq!(same(dir.path(), &args, &[2, 3]), Some(0));
}

#[test]
fn limit_and_sample_are_of_the_whole_corpus() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (corpus, grid) = (five(dir.path()), file(dir.path(), "grid.toml", GRID));
    let args = [
        "sweep", &corpus, "--grid", &grid, "--limit", "12", "--sample", "7", "--split", "dev",
    ];
    assert_eq!(same(dir.path(), &args, &[3]), Some(0));
}

#[test]
fn a_part_needs_neither_corpus_nor_grid_and_opens_no_transcript_then() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (corpus, grid) = (five(dir.path()), file(dir.path(), "grid.toml", GRID));
    let swept = parts(dir.path(), &["sweep", &corpus, "--grid", &grid], 2);
    let replayed: Vec<String> = parts(dir.path(), &["replay", &corpus], 3);
    let moved = path(dir.path(), "moved");
    std::fs::rename(&corpus, &moved).expect("it can be moved");
    std::fs::remove_file(&grid).expect("it can be removed");
    let run = merge(&swept, &path(dir.path(), "swept"), &[]);
    assert_eq!(code(&run), Some(0), "{}", stderr(&run));
    let replayed: Vec<&str> = replayed.iter().map(String::as_str).collect();
    let out = path(dir.path(), "seen");
    let run = deadloop(&[&["merge", "--out", &out], &replayed[..]].concat());
    assert_eq!(code(&run), Some(0), "{}", stderr(&run));
    assert!(
        stderr(&run).contains("say with --corpus where the corpus is now"),
        "{}",
        stderr(&run)
    );
    let at_hand = path(dir.path(), "at-hand");
    let run = deadloop(
        &[
            &["merge", "--corpus", &moved, "--out", &at_hand],
            &replayed[..],
        ]
        .concat(),
    );
    assert_eq!(code(&run), Some(0), "{}", stderr(&run));
    let size = |out: &str| {
        Path::new(out)
            .join("cases.jsonl")
            .metadata()
            .map_or(0, |m| m.len())
    };
    assert!(
        size(&at_hand) > size(&out),
        "the texts are there where the corpus is"
    );
    std::fs::write(Path::new(&moved).join("transcripts/f00.jsonl"), "").expect("it is writable");
    let run = deadloop(&[&["merge", "--corpus", &moved, "--out", &out], &replayed[..]].concat());
    assert_eq!(code(&run), Some(2));
    assert!(stderr(&run).contains("another corpus"), "{}", stderr(&run));
}

#[test]
fn what_does_not_belong_together_is_refused_with_what_to_do() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (corpus, grid) = (five(dir.path()), file(dir.path(), "grid.toml", GRID));
    let args = ["sweep", &corpus, "--grid", &grid];
    let good = parts(dir.path(), &args, 2);
    let out = path(dir.path(), "out");
    let other = |name: &str, args: &[&str]| {
        let folder = dir.path().join(name);
        std::fs::create_dir_all(&folder).expect("a temporary folder is writable");
        vec![good[0].clone(), parts(&folder, args, 2)[1].clone()]
    };
    let refused = |parts: &[String], what: &str| {
        let run = merge(parts, &out, &[]);
        assert_eq!(code(&run), Some(2), "{what}: {}", stderr(&run));
        assert!(stderr(&run).contains(what), "{what}: {}", stderr(&run));
    };
    refused(
        &good[..1],
        "1 shard is missing: 2/2; make them with --shard",
    );
    let twice = [good[0].clone(), good[1].clone(), good[1].clone()];
    refused(&twice, "are both shard 2/2; leave one of them out");
    refused(
        &[good[0].clone(), corpus.clone()],
        "no part.json; expected a folder that --shard left",
    );
    let thirds = parts(dir.path(), &args, 3);
    refused(
        &[good[0].clone(), thirds[1].clone()],
        "give the parts of one division",
    );
    let judged = other("judged", &[&args[..], &["--transient", "loop"]].concat());
    refused(
        &judged,
        "another command: sweep.judge.transient differs; make all parts by one command",
    );
    file(dir.path(), "grid.toml", &GRID.replace("9]", "8]"));
    refused(&other("plan", &args), "another plan");
    file(dir.path(), "grid.toml", GRID);
    file(
        Path::new(&corpus),
        "labels.csv",
        &("transcript,class,kind,channel,start,onset,earliest,end,period,by,note\n".to_owned()
            + "t1,clean,,,,,,,,,\n"),
    );
    refused(&other("labels", &args), "other labels");
    std::fs::remove_file(Path::new(&corpus).join("labels.csv")).expect("it was written");
    file(
        Path::new(&corpus),
        "dataset.toml",
        "[think]\nblocks = 'all'\n",
    );
    refused(&other("card", &args), "another dataset.toml");
    std::fs::remove_file(Path::new(&corpus).join("dataset.toml")).expect("it was written");
    let inner = Path::new(&corpus).join("transcripts");
    file(&inner, "f09.jsonl", "");
    refused(&other("files", &args), "a corpus of 6 files, not 5");
    let about = Path::new(&good[1]).join("part.json");
    let text = std::fs::read_to_string(&about).expect("it is there");
    let version = format!("\"deadloop\": \"{}\"", env!("CARGO_PKG_VERSION"));
    let later = text.replace(&version, "\"deadloop\": \"99.0.0\"");
    assert_ne!(later, text);
    std::fs::write(&about, later).expect("it is writable");
    refused(&good, "written by deadloop 99.0.0");
    std::fs::write(&about, b"{\xff}").expect("it is writable");
    refused(&good, "part.json: not UTF-8 text");
    std::fs::write(&about, text).expect("it is writable");
    let records = Path::new(&good[1]).join("records.jsonl.zst");
    let bytes = std::fs::read(&records).expect("it is there");
    std::fs::write(&records, &bytes[..bytes.len() / 2]).expect("it is writable");
    refused(&good, "bytes that were written; copy the part again");
}

#[test]
fn an_id_that_comes_again_in_another_shard_is_found_at_the_merge() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let grid = file(dir.path(), "grid.toml", GRID);
    let files = [
        line("a", "m", true),
        line("b", "m", false) + &line("a", "m", false),
    ];
    let corpus = corpus(dir.path(), &files);
    let parts = parts(dir.path(), &["sweep", &corpus, "--grid", &grid], 2);
    let run = merge(&parts, &path(dir.path(), "out"), &[]);
    assert_eq!(code(&run), Some(2));
    let said = stderr(&run);
    assert!(
        said.contains("f01.jsonl:2: the id \"a\" was used before, at "),
        "{said}"
    );
    assert!(
        said.contains("f00.jsonl:1; expected an id that is unique in its corpus"),
        "{said}"
    );
}

#[test]
fn a_part_that_is_there_is_skipped_and_another_is_never_overwritten() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (corpus, grid) = (five(dir.path()), file(dir.path(), "grid.toml", GRID));
    let out = path(dir.path(), "part");
    let part = |shard: &str, more: &[&str]| {
        let args = [
            "sweep", &corpus, "--grid", &grid, "--out", &out, "--shard", shard,
        ];
        deadloop(&[&args[..], more].concat())
    };
    assert_eq!(code(&part("1/2", &[])), Some(0));
    let first = result(Path::new(&out));
    let again = part("1/2", &["--json"]);
    assert!(
        stderr(&again).contains("already holds this part"),
        "{}",
        stderr(&again)
    );
    let said: Value = serde_json::from_str(&stdout(&again)).expect("--json prints JSON");
    assert_eq!(
        (&said["shard"], &said["records"]),
        (&json!("1/2"), &json!(17))
    );
    assert!(first == result(Path::new(&out)));
    let other = part("2/2", &[]);
    assert_eq!(code(&other), Some(2), "{}", stderr(&other));
    assert!(
        stderr(&other).contains("is not this part"),
        "{}",
        stderr(&other)
    );
    assert_eq!(code(&part("2/2", &["--force"])), Some(0));
    assert!(first != result(Path::new(&out)));
    for wrong in ["0/2", "3/2", "x"] {
        assert_eq!(code(&part(wrong, &[])), Some(2), "{wrong}");
    }
}

#[test]
fn a_shard_refuses_what_is_wrong_in_its_own_files() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let grid = file(dir.path(), "grid.toml", GRID);
    let files = [
        line("a", "m", true),
        line("b", "m", false) + "{\"id\": 7}\n",
    ];
    let corpus = corpus(dir.path(), &files);
    let out = path(dir.path(), "part");
    let shard = |nth: &str| {
        deadloop(&[
            "sweep", &corpus, "--grid", &grid, "--out", &out, "--shard", nth,
        ])
    };
    let bad = shard("2/2");
    assert_eq!(code(&bad), Some(2));
    assert!(
        stderr(&bad).contains("f01.jsonl:2: `id` is a number"),
        "{}",
        stderr(&bad)
    );
    assert_eq!(
        std::fs::read_dir(&out).expect("it was made").count(),
        0,
        "nothing half is left"
    );
    assert_eq!(code(&shard("1/2")), Some(0));
}

/// What a corpus may be like, and what may be asked of it.
#[derive(Clone, Debug)]
struct World {
    /// Of each file its transcripts: a number that becomes the id, the model, whether it loops; and what else
    /// a line may be.
    files: Vec<Vec<(u8, bool, bool, u8)>>,
    labels: Vec<u8>,
    splits: Vec<u8>,
    options: Vec<&'static str>,
    shards: usize,
}

fn world() -> impl Strategy<Value = World> {
    let transcript = (0_u8..40, any::<bool>(), any::<bool>(), 0_u8..20);
    let files = prop::collection::vec(prop::collection::vec(transcript, 0..5), 1..6);
    let named = || prop::collection::vec(0_u8..44, 0..6);
    let options = prop::sample::select(vec![
        vec![],
        vec!["--limit", "3"],
        vec!["--sample", "4"],
        vec!["--model", "a"],
        vec!["--split", "dev"],
        vec!["--where", "source=made", "--by", "group"],
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
fn made(dir: &Path, world: &World) -> String {
    let one = |(id, a, loops, odd): &(u8, bool, bool, u8)| match odd {
        0 => "{\"id\": 7}\n".to_owned(),
        1 => "not even JSON\n".to_owned(),
        2 => line(&format!("t{id}"), "a", *loops).replace("\"onset\":", "\"end\":3,\"onset\":"),
        _ => line(&format!("t{id}"), if *a { "a" } else { "b" }, *loops),
    };
    let files = world.files.iter();
    let files: Vec<String> = files.map(|file| file.iter().map(one).collect()).collect();
    let path = corpus(dir, &files);
    let folder = Path::new(&path);
    if let Some((first, others)) = world.labels.split_first() {
        let header = "transcript,class,kind,channel,start,onset,earliest,end,period,by,note\n";
        let good: String = others
            .iter()
            .map(|id| format!("t{id},clean,,,,,,,,,\n"))
            .collect();
        let bad = format!("t{first},nonsense,,,,,,,,,\n");
        let text = if first % 2 == 0 { good } else { good + &bad };
        file(folder, "labels.csv", &(header.to_owned() + &text));
    }
    if !world.splits.is_empty() {
        let rows = world.splits.iter();
        let rows: String = rows
            .map(|id| format!("t{id},{}\n", ["dev", "test", ""][usize::from(id % 3)]))
            .collect();
        file(folder, "splits.csv", &format!("transcript,split\n{rows}"));
    }
    path
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn shards_of_any_corpus_are_the_whole(world in world()) {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let (corpus, grid) = (made(dir.path(), &world), file(dir.path(), "grid.toml", GRID));
        let args = ["sweep", &corpus, "--grid", &grid, "--csv", "--on-bad", "skip"];
        same(dir.path(), &[&args[..], &world.options].concat(), &[world.shards]);
    }
}
