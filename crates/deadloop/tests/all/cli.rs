//! The program from outside: exit codes, bad input, the same bytes for any number of threads and
//! after an interruption.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use program::{Ran, STARTER, code, deadloop, file, started, stderr, until};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

#[cfg(unix)]
use nix::sys::signal::Signal;

fn grid(dir: &Path) -> String {
    let text = "[[guard]]\ndetector = \"checkpoint\"\n[guard.params]\nevery = [0, 1000]\n\
                min_repeats = [3, 4, 8]\nmin_matches = [3, 6]\n";
    file(dir, "grid.toml", text)
}

/// Every file of a result folder, but the manifest: it says when and with how many threads.
fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(dir).expect("a folder").flatten() {
        let (name, path) = (PathBuf::from(entry.file_name()), entry.path());
        if path.is_dir() {
            let inside = files(&path).into_iter();
            all.extend(inside.map(|(file, bytes)| (name.join(file), bytes)));
        } else if name != Path::new("manifest.json") {
            all.insert(name, std::fs::read(path).expect("it is a file"));
        }
    }
    all
}

#[track_caller]
fn same(one: &Path, other: &Path) {
    let (one, other) = (files(one), files(other));
    assert!(one.keys().eq(other.keys()), "other files");
    for (name, bytes) in &one {
        assert!(other[name] == *bytes, "{} differs", name.display());
    }
}

#[test]
fn the_number_of_threads_does_not_change_a_byte() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let grid = grid(dir.path());
    let constraint = ["--constraint", "fa_per_mchar<=100"];
    for (command, more) in [
        ("sweep", &["--grid", &grid][..]),
        ("tune", &[&["--grid", &grid], &constraint[..]].concat()),
        ("replay", &[]),
    ] {
        let run = |jobs: &str| {
            let out = dir.path().join(format!("{command}-{jobs}"));
            let shown = out.display().to_string();
            let fixed = [command, STARTER, "--csv", "-q", "--out", &shown];
            let run = deadloop(&[&fixed, more, &["--jobs", jobs]].concat());
            assert_eq!(code(&run), Some(0), "{command}: {}", stderr(&run));
            out
        };
        let one = run("1");
        same(&one, &run("8"));
        assert!(files(&one).len() > 4, "{command} leaves more");
        let tables = match command {
            "sweep" => "scores.parquet",
            "tune" => "outcomes.parquet scores.parquet choice.csv",
            _ => "outcomes.parquet scores.parquet",
        };
        assert_eq!(program::tables_as_said(&one, command).join(" "), tables);
    }
}

/// The journal is read through a second name: the sweep takes the first away when it is done.
#[cfg(unix)]
#[test]
fn a_killed_sweep_goes_on_and_decides_nothing_twice() {
    use std::os::unix::process::ExitStatusExt as _;
    let dir = tempfile::tempdir().expect("a temporary folder");
    let grid = grid(dir.path());
    let (whole, cut) = (dir.path().join("whole"), dir.path().join("cut"));
    let args = |out: &Path| {
        let out = out.display().to_string();
        let args = ["sweep", STARTER, "--grid", &grid, "--out", &out, "-q"];
        args.map(str::to_owned)
    };
    let run = |out: &Path| {
        deadloop(&args(out).each_ref().map(String::as_str)).ends(0);
    };
    run(&whole);
    let mut killed = started(&args(&cut).each_ref().map(String::as_str));
    let (journal, kept) = (cut.join(".journal.jsonl"), dir.path().join("kept"));
    let length = || std::fs::metadata(&journal).map_or(0, |about| about.len());
    until(|| {
        let ended = killed.try_wait().expect("it can be asked");
        assert_eq!(ended, None, "it ended before it was killed");
        length() > 20_000
    });
    killed.kill().expect("it can be killed");
    let status = killed.wait().expect("it ends");
    assert_eq!(status.signal(), Some(Signal::SIGKILL as i32));

    // The last line is torn, wherever the kill left its end.
    let file = std::fs::File::options().write(true).open(&journal);
    let file = file.expect("a journal is left");
    file.set_len(length() - 7).expect("it can be cut");
    let torn = std::fs::read(&journal).expect("a journal is left");
    assert!(!torn.ends_with(b"\n"), "a record is longer than that");
    let end = torn
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map(|at| at + 1);
    let before = &torn[..end.expect("whole lines before it")];
    std::fs::hard_link(&journal, &kept).expect("a second name");
    run(&cut);
    same(&cut, &whole);
    assert!(!journal.exists(), "what is finished needs no journal");

    let kept = std::fs::read(kept).expect("it has a second name");
    assert!(kept.starts_with(before), "whole records stay");
    let lines = kept.split(|byte| *byte == b'\n').filter(|l| !l.is_empty());
    let records: Vec<serde_json::Value> = lines
        .skip(1)
        .map(|line| serde_json::from_slice(line).expect("a record"))
        .collect();
    let ids: BTreeSet<&str> = records
        .iter()
        .filter_map(|r| r["transcript"].as_str())
        .collect();
    assert_eq!(ids.len(), records.len(), "none was decided twice");
    let first = before.iter().filter(|byte| **byte == b'\n').count() - 1;
    assert!(0 < first && first < records.len(), "{first} were there");
}

/// Whether the folder holds an entry whose name begins so.
fn holds(dir: &Path, begin: &str) -> bool {
    let names = std::fs::read_dir(dir).into_iter().flatten().flatten();
    names
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .any(|name| name.starts_with(begin))
}

/// Sends the signal as soon as `dir` holds a name that begins so; the exit code.
#[cfg(unix)]
fn interrupted(args: &[&str], dir: &Path, (begin, signal): (&str, Signal)) -> Option<i32> {
    let mut child = started(args);
    until(|| {
        let ended = child.try_wait().expect("it can be asked");
        assert_eq!(ended, None, "it ended before {begin} was there");
        holds(dir, begin)
    });
    program::send(&child, signal);
    program::ended(&mut child).code()
}

/// While reading, replaying, choosing and scoring, and drawing: the marks are what the folder holds
/// by then.
#[cfg(unix)]
#[test]
fn a_signal_ends_it_and_the_same_command_goes_on() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let text = "[[guard]]\ndetector = \"checkpoint\"\n[guard.params]\nevery = [0, 1000]\n\
                min_repeats = { from = 3, to = 12, step = 1 }\n\
                min_matches = { from = 2, to = 11, step = 1 }\n\
                min_cycles = { from = 1, to = 5, step = 1 }\n\
                max_period = { from = 5, to = 50, step = 5 }\n";
    let grid = file(dir.path(), "grid.toml", text);
    let (whole, cut) = (dir.path().join("whole"), dir.path().join("cut"));
    let args = |out: &Path| {
        let out = out.display().to_string();
        let args = ["tune", STARTER, "--grid", &grid, "-q", "--out", &out];
        let args = args.iter().chain(&["--constraint", "fa_per_mchar<=100"]);
        args.map(|arg| (*arg).to_owned()).collect::<Vec<String>>()
    };
    let run = |out: &Path| {
        let args = args(out);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        deadloop(&args).ends(0);
    };
    run(&whole);
    for (mark, signal) in [
        (".journal", Signal::SIGINT),
        (".deadloop-", Signal::SIGTERM),
        ("scores.parquet", Signal::SIGINT),
        ("manifest.json", Signal::SIGTERM),
    ] {
        let args = args(&cut);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let code = interrupted(&args, &cut, (mark, signal));
        assert_eq!(code, Some(130), "{signal} at {mark}");
        assert!(!holds(&cut, ".deadloop-"), "half a file is left at {mark}");
        assert!(!holds(&cut.join("charts"), ".deadloop-"), "at {mark}");
        assert!(holds(&cut, ".journal"), "at {mark}");
    }
    run(&cut);
    for name in ["scores.parquet", "choice.csv", "settings.toml", "report.md"] {
        let read = |dir: &Path| std::fs::read(dir.join(name)).expect("it is written");
        assert_eq!(read(&cut), read(&whole), "{name}");
    }
    assert!(!holds(&cut, "."), "nothing unfinished is left");
}

/// A full disk, as a limit on the size of a file: with SIGXFSZ ignored writing past it is an error.
#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_written_is_named_and_no_half_of_it_stays() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let whole = dir.path().join("whole");
    let replay = |out: &Path, limit: &str| {
        let script = format!("trap '' XFSZ; ulimit -f {limit}; exec \"$0\" \"$@\"");
        Command::new("bash")
            .args(["-c", &script, env!("CARGO_BIN_EXE_deadloop")])
            .args(["replay", STARTER, "--limit", "60", "--csv", "--out"])
            .arg(out)
            .output()
            .expect("bash is there")
    };
    replay(&whole, "unlimited").ends(0);
    let mut stopped_at = std::collections::BTreeSet::new();
    for kilobytes in ["0", "12", "16", "64", "128"] {
        let out = dir.path().join(kilobytes);
        let run = replay(&out, kilobytes);
        let said = stderr(&run);
        if code(&run) == Some(0) {
            continue;
        }
        let shown = out.display().to_string();
        assert_eq!(code(&run), Some(1), "{kilobytes} kB: {said}");
        assert!(said.contains(&shown) && !said.contains("panick"), "{said}");
        let file = said.split(&shown).nth(1).unwrap_or_default();
        stopped_at.insert(file.split(':').next().unwrap_or_default().to_owned());
        for entry in std::fs::read_dir(&out)
            .expect("the folder is there")
            .flatten()
        {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name == ".journal.jsonl" || name == "manifest.json" || name == "charts" {
                continue;
            }
            let read = |path: &Path| std::fs::read(path.join(&name)).expect("it is a file");
            assert_eq!(read(&out), read(&whole), "{kilobytes} kB: {name}");
        }
    }
    assert!(stopped_at.len() > 1, "at different files: {stopped_at:?}");
}

/// A disk that is really full, and has room again: the same command goes on and ends with the same
/// bytes. The disk is a small one in memory, which only this test's own namespace sees.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_stops_it_and_it_goes_on_when_there_is_room() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (disk, whole) = (dir.path().join("disk"), dir.path().join("whole"));
    std::fs::create_dir(&disk).expect("a folder");
    if let Some(why) = no_disk_of_ones_own(&disk) {
        // Past what a test's harness keeps to itself: in CI this should be known.
        let _ = writeln!(
            std::io::stderr(),
            "skipped: no disk of one's own here: {why}"
        );
        return;
    }
    let script = r#"
        mount -t tmpfs -o size=$1 none "$2" || exit 77
        run() { "$0" replay "$1" --presets --csv -q --out "$2"; }
        run "$3" "$2/out"; first=$?
        mount -o remount,size=64m "$2" && run "$3" "$2/out" || exit 78
        cp -r "$2/out" "$2.after"; exit $first
    "#;
    let on_small_disk = |size: &str| {
        Command::new("unshare")
            .args(["-rm", "sh", "-c", script, env!("CARGO_BIN_EXE_deadloop")])
            .args([size, &disk.display().to_string(), STARTER])
            .output()
            .expect("it ran before")
    };
    deadloop(&[
        "replay",
        STARTER,
        "--presets",
        "--csv",
        "-q",
        "--out",
        &whole.display().to_string(),
    ])
    .ends(0);
    for size in ["4k", "3m"] {
        let run = on_small_disk(size);
        assert_eq!(code(&run), Some(1), "{size}: {}", stderr(&run));
        let after = dir.path().join("disk.after");
        let said = stderr(&run);
        assert!(said.contains("No space left on device"), "{size}: {said}");
        assert!(said.contains(&disk.display().to_string()), "{size}: {said}");
        for name in ["outcomes.csv", "scores.parquet", "report.html"] {
            let read = |dir: &Path| std::fs::read(dir.join(name)).expect("it is written");
            assert_eq!(read(&after), read(&whole), "{size}: {name}");
        }
        std::fs::remove_dir_all(&after).expect("it can be removed");
    }
}

/// Why no disk can be mounted here; none where it can.
#[cfg(target_os = "linux")]
fn no_disk_of_ones_own(disk: &Path) -> Option<String> {
    let mount = ["-rm", "mount", "-t", "tmpfs", "-o", "size=4k", "none"];
    match Command::new("unshare").args(mount).arg(disk).output() {
        Ok(run) => (!run.status.success()).then(|| stderr(&run)),
        Err(e) => Some(format!("unshare: {e}")),
    }
}

#[test]
fn a_finished_folder_is_left_alone() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (grid, out) = (
        grid(dir.path()),
        dir.path().join("out").display().to_string(),
    );
    let sweep = |more: &[&str]| {
        deadloop(
            &[
                &[
                    "sweep", STARTER, "--grid", &grid, "--out", &out, "--limit", "40",
                ],
                more,
            ]
            .concat(),
        )
    };
    assert_eq!(code(&sweep(&[])), Some(0));
    let again = sweep(&[]).ends(0);
    again.says("nothing to do");
    assert_eq!(
        code(&sweep(&["--transient", "loop"])),
        Some(2),
        "other inputs need --force"
    );
    assert_eq!(code(&sweep(&["--transient", "loop", "--force"])), Some(0));
}

#[test]
fn bad_input_is_named_and_ends_with_its_code() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let out = dir.path().join("out").display().to_string();
    let replay = |corpus: &str, more: &[&str]| {
        deadloop(&[&["replay", corpus, "--out", &out], more].concat())
    };
    let says = |run: Output, exit: i32, words: &[&str]| {
        let said = stderr(&run);
        assert_eq!(code(&run), Some(exit), "{said}");
        words
            .iter()
            .for_each(|word| assert!(said.contains(word), "{word:?} in {said}"));
    };
    let bad = file(
        dir.path(),
        "bad.jsonl",
        "{\"id\":\"a\",\"answer\":\"x\"}\nnot json\n{\"answer\":\"no id\"}\n{\"id\":\"a\",\"answer\":\"again\"}\n",
    );
    says(
        replay(&bad, &[]),
        2,
        &["bad.jsonl:2", "bad.jsonl:3", "bad.jsonl:4", "3 problems"],
    );
    says(replay(&bad, &["--on-bad", "skip"]), 0, &["rejected.jsonl"]);
    let rejected =
        std::fs::read_to_string(dir.path().join("out/rejected.jsonl")).expect("it is written");
    assert_eq!(rejected.lines().count(), 3);
    let late = file(
        dir.path(),
        "late.jsonl",
        "{\"id\":\"a\",\"answer\":\"x\",\"labels\":[{\"class\":\"loop\",\"kind\":\"paragraph\",\"channel\":\"answer\",\"onset\":900}]}\n",
    );
    says(replay(&late, &["--force"]), 2, &["late.jsonl:1"]);
    let empty = file(dir.path(), "empty.jsonl", "");
    says(replay(&empty, &["--force"]), 4, &["no transcripts"]);
    says(
        replay(STARTER, &["--force", "--model", "nobody*"]),
        4,
        &["filters"],
    );
    let settings = file(
        dir.path(),
        "s.toml",
        "[[guard]]\ndetector = \"checkpoint\"\n[guard.params]\nmin_repeats = 1\n",
    );
    says(
        replay(STARTER, &["--force", "--settings", &settings]),
        2,
        &["s.toml:4", "min_repeats"],
    );
    let unknown = file(
        dir.path(),
        "u.toml",
        "[[guard]]\ndetector = \"checkpoint\"\n[guard.params]\nmin_repeat = 4\n",
    );
    says(
        replay(STARTER, &["--force", "--settings", &unknown]),
        2,
        &["u.toml:4", "min_repeat"],
    );
    let never = file(
        dir.path(),
        "g.toml",
        "[[guard]]\ndetector = \"checkpoint\"\n[guard.params]\ncheckpoints = [[3], [5]]\n",
    );
    says(
        deadloop(&["sweep", STARTER, "--grid", &never, "--out", &out, "--force"]),
        2,
        &["can never fire"],
    );
    let blocked = file(dir.path(), "blocked", "a file");
    says(
        deadloop(&["replay", STARTER, "--out", &format!("{blocked}/x")]),
        2,
        &["cannot be made"],
    );
    says(
        deadloop(&["tune", STARTER, "--split", "test", "--out", &out, "--force"]),
        2,
        &["never looks"],
    );
}

/// A corpus of three transcripts in a folder, with rows of labels.
fn labelled(dir: &Path, rows: &str) -> String {
    let inner = dir.join("corpus/transcripts");
    std::fs::create_dir_all(&inner).expect("a temporary folder is writable");
    let lines = ["a", "b", "c"].map(|id| {
        format!("{{\"id\":\"{id}\",\"answer\":\"one two\",\"meta\":{{\"source\":\"web\"}}}}\n")
    });
    file(&inner, "all.jsonl", &lines.concat());
    let header = "transcript,class,kind,channel,start,onset,earliest,end,period,by,note";
    file(
        &dir.join("corpus"),
        "labels.csv",
        &format!("{header}\n{rows}"),
    );
    dir.join("corpus").display().to_string()
}

#[test]
fn the_transcript_of_a_bad_row_is_not_scored_by_its_other_rows() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let rows =
        "a,clean,,,,,,,,,\nb,clean,,,,,,,,,\nb,lop,,answer,,3,,,,,\nc,loop,,answer,,99,,,,,\n";
    let corpus = labelled(dir.path(), rows);
    let out = dir.path().join("out").display().to_string();
    let args = ["replay", &corpus, "--out", &out, "--csv"];
    let run = deadloop(&args).ends(2);
    let said = stderr(&run);
    let at = |line: &str| said.find(line).expect(line);
    assert!(at("labels.csv:4: unknown class") < at("labels.csv:5: onset 99"));
    deadloop(&[&args[..], &["--on-bad", "skip"]].concat()).ends(0);
    let outcomes = std::fs::read_to_string(format!("{out}/outcomes.csv")).expect("it is written");
    let ids: Vec<&str> = outcomes.lines().skip(1).map(|row| &row[..2]).collect();
    assert!(
        !ids.is_empty() && ids.iter().all(|id| *id == "a,"),
        "{outcomes}"
    );
}

#[test]
fn a_broken_result_is_named_and_is_no_accident() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let corpus = labelled(dir.path(), "a,clean,,,,,,,,,\n");
    let out = dir.path().join("out");
    let shown = out.display().to_string();
    deadloop(&["replay", &corpus, "--out", &shown, "-q"]).ends(0);
    let report = |more: &[&str]| deadloop(&[&["report", &shown, "-q"], more].concat());
    for name in ["outcomes.parquet", "scores.parquet", "manifest.json"] {
        let path = out.join(name);
        let whole = std::fs::read(&path).expect("it is there");
        std::fs::write(&path, &whole[..whole.len() / 2]).expect("it is writable");
        let run = report(&[]);
        assert_eq!(code(&run), Some(2), "{name}: {}", stderr(&run));
        run.says(name);
        std::fs::write(&path, whole).expect("it is writable");
    }
    assert_eq!(code(&report(&[])), Some(0));
}

#[test]
fn a_field_that_no_transcript_has_is_told() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let corpus = labelled(dir.path(), "a,clean,,,,,,,,,\n");
    let out = dir.path().join("out").display().to_string();
    let run = deadloop(&["replay", &corpus, "--out", &out, "--by", "meta.sorce"]).ends(0);
    let words = "--by meta.sorce: no transcript has the field; there are id, meta.source, model";
    run.says(words);
}

/// What a process left that was killed is in nobody's way.
#[cfg(target_os = "linux")]
#[test]
fn leftovers_of_processes_that_are_gone_are_swept() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let corpus = labelled(dir.path(), "a,clean,,,,,,,,,\n");
    let mut gone = Command::new("true").spawn().expect("it starts");
    gone.wait().expect("it ends");
    let out = dir.path().join("out");
    std::fs::create_dir(&out).expect("it is writable");
    file(&out, &format!(".deadloop-{}-x", gone.id()), "half");
    deadloop(&["replay", &corpus, "--out", &out.display().to_string()]).ends(0);
    assert!(!holds(&out, ".deadloop-"));
}

#[cfg(unix)]
#[test]
fn a_signal_leaves_nothing_of_a_corpus_that_is_made() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let spec = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../datasets/planted/spec.toml"
    );
    let out = dir.path().join("made");
    let args = [
        "synth",
        "--spec",
        spec,
        "-q",
        "--out",
        &out.display().to_string(),
    ]
    .map(String::from);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let transcripts = out.join("transcripts");
    assert_eq!(
        interrupted(&args, &transcripts, (".deadloop-", Signal::SIGINT)),
        Some(130)
    );
    assert!(!holds(&transcripts, ".") && !holds(&out, ".deadloop-"));
}

#[test]
fn no_loop_or_no_clean_transcript_is_not_zero() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let out = dir.path().join("out").display().to_string();
    let clean = file(
        dir.path(),
        "c.jsonl",
        "{\"id\":\"a\",\"answer\":\"fine\",\"labels\":[{\"class\":\"clean\"}]}\n",
    );
    let run = deadloop(&["replay", &clean, "--out", &out]).ends(0);
    let shown = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(shown.contains("n/a"), "{shown}");
    assert_eq!(
        code(&deadloop(&["tune", &clean, "--out", &out, "--force"])),
        Some(5)
    );
}
