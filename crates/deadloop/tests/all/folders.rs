//! What is done a second time, and what stands in the way: a finished run says again what it said, and
//! nothing that a command reads is written over.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::program;

use std::path::Path;

use deadloop_corpus::{MAX_T_MS, MAX_TOKENS};

use program::{Ran, STARTER, code, deadloop, deadloop_in, file, stderr, stdout};

const CLEAN: &str =
    "{\"id\":\"a\",\"answer\":\"It is fine.\",\"labels\":[{\"class\":\"clean\"}]}\n";

#[test]
fn a_failure_stays_one_when_the_command_is_repeated() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).display().to_string();
    let broken = "[[guard]]\ndetector = \"command\"\n[guard.params]\ncommand = [\"sh\", \"-c\", \
                  \"read x; echo '{\\\"type\\\":\\\"ready\\\",\\\"name\\\":\\\"x\\\",\\\"version\\\":\\\"1\\\"}'; \
                  while read x; do case $x in *end*) echo nonsense;; esac; done\"]\n";
    let broken = file(dir.path(), "broken.toml", broken);
    let clean = file(dir.path(), "clean.jsonl", CLEAN);
    let grid = "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmin_copies = [4, 8]\n";
    let grid = file(dir.path(), "grid.toml", grid);
    let tune = ["tune", STARTER, "--grid", &grid];
    let few = ["tune", &clean, "--grid", &grid];
    let program = ["replay", &clean, "--settings", &broken];
    for (name, args, more, exit) in [
        (
            "never",
            &tune[..],
            &["--constraint", "recall>=0.9999"][..],
            6,
        ),
        ("few", &few, &[], 5),
        ("program", &program, &[], 1),
    ] {
        let out = at(name);
        let args = [args, more, &["--out", &out, "--json"]].concat();
        let first = deadloop(&args);
        assert_eq!(code(&first), Some(exit), "{name}: {}", stderr(&first));
        let said: serde_json::Value = serde_json::from_str(&stdout(&first)).unwrap();
        assert_eq!(said["exit"], exit, "{said}");
        let again = deadloop(&args);
        assert_eq!(code(&again), Some(exit), "{name}: {}", stderr(&again));
        assert_eq!(stdout(&again), stdout(&first), "{name}");
        let reason = said["reason"].as_str().unwrap();
        assert!(stderr(&again).contains("nothing to do"), "{name}");
        again.says(reason);
    }
}

#[test]
fn a_finished_run_says_again_what_it_said_and_what_is_damaged_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let clean = file(dir.path(), "clean.jsonl", CLEAN);
    let out = dir.path().join("out");
    let shown = out.display().to_string();
    let replay = |more: &[&str]| {
        deadloop(
            &[
                &["replay", &clean, "--out", &shown, "--json", "--csv"],
                more,
            ]
            .concat(),
        )
    };
    let first = replay(&[]).ends(0);
    std::fs::remove_file(out.join("report.html")).unwrap();
    let again = replay(&[]);
    assert_eq!((code(&again), stdout(&again)), (Some(0), stdout(&first)));
    assert!(out.join("report.html").is_file(), "it is made again");
    for (name, left) in [
        ("outcomes.parquet", None),
        ("scores.csv", Some("setting\n")),
    ] {
        match left {
            Some(text) => std::fs::write(out.join(name), text).unwrap(),
            None => std::fs::remove_file(out.join(name)).unwrap(),
        }
        let run = replay(&[]);
        assert_eq!(code(&run), Some(2), "{name}: {}", stderr(&run));
        run.says(name);
        assert_eq!(code(&replay(&["--force"])), Some(0));
    }
    assert_eq!(stdout(&replay(&[])), stdout(&first));
}

/// Every file of a folder, by name.
/// Of two commands that make the same folder one is refused.
#[test]
fn a_folder_has_one_command_at_a_time() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    std::fs::create_dir(&out).unwrap();
    let lock = std::fs::File::open(&out).unwrap();
    lock.lock().unwrap();
    let shown = out.display().to_string();
    let clean = file(dir.path(), "clean.jsonl", CLEAN);
    let grid = file(
        dir.path(),
        "grid.toml",
        "[[guard]]\ndetector = \"periodic\"\n",
    );
    for args in [
        &["import", &clean, "--force"][..],
        &["replay", &clean, "--settings", "recommended"],
        &[
            "replay",
            &clean,
            "--settings",
            "recommended",
            "--shard",
            "1/2",
        ],
        &["sweep", &clean, "--grid", &grid],
        &["tune", &clean],
        &["budget", &clean],
        &[
            "synth",
            "--spec",
            concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../datasets/planted/spec.toml"
            ),
        ],
        &["compare", "recommended", "quiet", "--corpus", &clean],
    ] {
        let refused = deadloop(&[args, &["--out", &shown]].concat());
        assert_eq!(code(&refused), Some(2), "{args:?}: {}", stderr(&refused));
        let said = stderr(&refused);
        assert!(said.contains("another command"), "{args:?}: {said}");
    }
    assert_eq!(files(&out), []);
}

fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let all = std::fs::read_dir(dir).unwrap().map(Result::unwrap);
    let mut all: Vec<_> = all
        .filter(|entry| entry.path().is_file())
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, std::fs::read(entry.path()).unwrap())
        })
        .collect();
    all.sort();
    all
}

#[test]
fn what_is_read_is_never_written_over() {
    let dir = tempfile::tempdir().unwrap();
    let loops = "{\"id\":\"a\",\"answer\":\"x\"}\n";
    for name in ["cases.jsonl", "rec.jsonl"] {
        file(dir.path(), name, loops);
    }
    let settings = "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmin_copies = 8\n";
    for name in ["settings.toml", "base.toml", "new.toml", "grid.toml"] {
        file(dir.path(), name, settings);
    }
    let corpus = dir.path().join("corpus");
    std::fs::create_dir_all(corpus.join("transcripts")).unwrap();
    file(&corpus.join("transcripts"), "t.jsonl", loops);
    file(dir.path(), "flips.csv", "a,b\n1,2\n");
    let before = files(dir.path());
    let refused = |args: &[&str], what: &str| {
        let run = deadloop_in(dir.path(), args);
        assert_eq!(code(&run), Some(2), "{args:?}: {}", stderr(&run));
        assert!(stderr(&run).contains(what), "{args:?}: {}", stderr(&run));
        assert_eq!(files(dir.path()), before, "{args:?}");
    };
    let over = "would be written over what is read";
    refused(&["replay", "cases.jsonl", "--out", ".", "--force"], over);
    let replay = ["replay", "rec.jsonl", "--settings", "settings.toml"];
    refused(&[&replay[..], &["--out", ".", "--force"]].concat(), over);
    let among = "would stand among the transcripts that are read";
    let inner = ["replay", "corpus", "--out", "corpus/transcripts", "--force"];
    refused(&inner, among);
    refused(
        &["label", "rec.jsonl", "--out", "rec.jsonl", "--force"],
        over,
    );
    let compare = ["compare", "base.toml", "new.toml", "--corpus", "rec.jsonl"];
    let compare = |more: &[&'static str]| [&compare[..], more].concat();
    refused(&compare(&["--out", "."]), over);
    refused(&compare(&["--markdown", "rec.jsonl", "--force"]), over);
    let twice = ["--markdown", "x", "--junit", "./x"];
    refused(&compare(&twice), "would be written twice");
    let others = [
        "compare",
        "settings.toml",
        "grid.toml",
        "--corpus",
        "rec.jsonl",
    ];
    let there = "is there already; --force";
    refused(&[&others[..], &["--out", "."]].concat(), there);
}

/// The file behind a link is what is written; what is no file is left alone.
#[cfg(unix)]
#[test]
fn links_stay_links_and_what_is_no_file_stays() {
    let dir = tempfile::tempdir().unwrap();
    let rec = file(dir.path(), "rec.jsonl", "{\"id\":\"a\",\"answer\":\"x\"}\n");
    let store = dir.path().join("store");
    std::fs::create_dir(&store).unwrap();
    let kept = file(&store, "labels.csv", "old");
    let link = dir.path().join("labels.csv");
    std::os::unix::fs::symlink("store/labels.csv", &link).unwrap();
    let label = |out: &Path| {
        deadloop(&[
            "label",
            &rec,
            "--force",
            "--out",
            &out.display().to_string(),
        ])
    };
    assert_eq!(code(&label(&link)), Some(0));
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert!(
        std::fs::read_to_string(kept)
            .unwrap()
            .starts_with("transcript,")
    );
    let nothing = dir.path().join("nothing");
    std::os::unix::fs::symlink("not-there", &nothing).unwrap();
    let socket = dir.path().join("socket");
    let _listens = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    for out in [&nothing, &socket, &store] {
        let before = out.symlink_metadata().unwrap().file_type();
        let run = label(out).ends(2);
        run.says("is no file");
        assert_eq!(out.symlink_metadata().unwrap().file_type(), before);
    }
    deadloop(&["import", &rec, "--out", &nothing.display().to_string()]).ends(2);
}

#[test]
fn numbers_of_any_size_and_names_of_any_kind_are_no_panic() {
    let dir = tempfile::tempdir().unwrap();
    let most = u64::MAX.to_string();
    let corpus = format!(
        "{{\"id\":\"a\",\"model\":\"\\u001b[2J\",\"events\":[{{\"type\":\"answer\",\"text\":\"{0}\",\"tokens\":{MAX_TOKENS}}},\
         {{\"type\":\"answer\",\"text\":\"x\",\"tokens\":{MAX_TOKENS},\"t_ms\":{MAX_T_MS}}}],\
         \"labels\":[{{\"class\":\"loop\",\"kind\":\"paragraph\",\"onset\":9,\"channel\":\"answer\"}}]}}\n",
        "over and over again. ".repeat(300)
    );
    let corpus = file(dir.path(), "c.jsonl", &corpus);
    let out = dir.path().join("out").display().to_string();
    for more in [["--transient", "loop"], ["--chunks", &most]] {
        let fixed = ["replay", &corpus, "--out", &out, "--force"];
        let run = deadloop(&[&fixed[..], &more].concat());
        assert_eq!(code(&run), Some(0), "{more:?}: {}", stderr(&run));
        let run = deadloop(&[&["explain", &corpus, "a"], &more[..]].concat());
        assert_eq!(code(&run), Some(0), "{more:?}: {}", stderr(&run));
    }
    let listed = deadloop(&["show", &corpus]);
    assert!(!stdout(&listed).contains('\u{1b}') && stdout(&listed).contains("\\u{1b}[2J"));
    let every = file(
        dir.path(),
        "every.jsonl",
        "{\"id\":\"a\",\"model\":\"*\",\"answer\":\"x\"}\n",
    );
    let run = deadloop(&["replay", &every, "--out", &out, "--force"]).ends(2);
    run.says("all models together");
}

/// A folder whose name is no UTF-8 is written to the end.
#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_no_utf8_is_a_folder_like_any_other() {
    use std::os::unix::ffi::OsStrExt as _;
    let dir = tempfile::tempdir().unwrap();
    let clean = file(dir.path(), "clean.jsonl", CLEAN);
    let out = dir.path().join(std::ffi::OsStr::from_bytes(b"out\xff"));
    let run = program::command(&["replay", &clean, "--json", "--out"])
        .arg(&out)
        .output()
        .unwrap()
        .ends(0);
    serde_json::from_str::<serde_json::Value>(&stdout(&run)).unwrap();
    assert!(out.join("report.html").is_file() && out.join("manifest.json").is_file());
}
