//! The program from outside: exit codes, bad input, the same bytes for any number of threads and
//! after an interruption.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use program::{Place, Ran, STARTER, code, quiet, result, stderr, until};
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

#[cfg(unix)]
use nix::sys::signal::Signal;

/// A folder with a grid.
fn grid() -> Place {
    let place = Place::new();
    let text = "[[guard]]\ndetector = \"checkpoint\"\n[guard.params]\nevery = [0, 1000]\n\
                min_repeats = [3, 4, 8]\nmin_matches = [3, 6]\n";
    place.file("grid.toml", text);
    place
}

/// Checks that two result folders hold the same files.
#[track_caller]
fn same(place: &Place, one: &str, other: &str) {
    let [one, other] = [one, other].map(|name| result(&place.path(name)));
    assert!(one.keys().eq(other.keys()), "other files");
    for (name, bytes) in &one {
        assert!(other[name] == *bytes, "{} differs", name.display());
    }
}

#[test]
fn the_number_of_threads_does_not_change_a_byte() {
    let place = grid();
    for (command, more) in [
        ("sweep", "--grid grid.toml"),
        ("tune", "--grid grid.toml --constraint fa_per_mchar<=100"),
        ("replay", ""),
    ] {
        let run = |jobs: u32| {
            let out = format!("{command}-{jobs}");
            let line = format!("{command} ROOT/datasets/starter --csv -q --out {out}");
            place.run(format!("{line} {more} --jobs {jobs}")).ends(0);
            out
        };
        let one = run(1);
        same(&place, &one, &run(8));
        let one = place.path(&one);
        assert!(result(&one).len() > 4, "{command} leaves more");
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
    let place = grid();
    let sweep = "sweep ROOT/datasets/starter --grid grid.toml -q --out";
    place.run(format!("{sweep} whole")).ends(0);
    let mut killed = quiet(place.command(format!("{sweep} cut")));
    let (journal, kept) = (place.path("cut/.journal.jsonl"), place.path("kept"));
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
    place.run(format!("{sweep} cut")).ends(0);
    same(&place, "cut", "whole");
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
fn interrupted(program: Command, dir: &Path, (begin, signal): (&str, Signal)) -> Option<i32> {
    let mut child = quiet(program);
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
    let place = Place::new();
    let text = "[[guard]]\ndetector = \"checkpoint\"\n[guard.params]\nevery = [0, 1000]\n\
                min_repeats = { from = 3, to = 12, step = 1 }\n\
                min_matches = { from = 2, to = 11, step = 1 }\n\
                min_cycles = { from = 1, to = 5, step = 1 }\n\
                max_period = { from = 5, to = 50, step = 5 }\n";
    place.file("grid.toml", text);
    let tune =
        "tune ROOT/datasets/starter --grid grid.toml -q --constraint fa_per_mchar<=100 --out";
    place.run(format!("{tune} whole")).ends(0);
    let cut = place.path("cut");
    for (mark, signal) in [
        (".journal", Signal::SIGINT),
        (".deadloop-", Signal::SIGTERM),
        ("scores.parquet", Signal::SIGINT),
        ("manifest.json", Signal::SIGTERM),
    ] {
        let program = place.command(format!("{tune} cut"));
        let code = interrupted(program, &cut, (mark, signal));
        assert_eq!(code, Some(130), "{signal} at {mark}");
        assert!(!holds(&cut, ".deadloop-"), "half a file is left at {mark}");
        assert!(!holds(&cut.join("charts"), ".deadloop-"), "at {mark}");
        assert!(holds(&cut, ".journal"), "at {mark}");
    }
    place.run(format!("{tune} cut")).ends(0);
    for name in ["scores.parquet", "choice.csv", "settings.toml", "report.md"] {
        let read = |dir: &str| place.bytes(&format!("{dir}/{name}"));
        assert_eq!(read("cut"), read("whole"), "{name}");
    }
    assert!(!holds(&cut, "."), "nothing unfinished is left");
}

/// A full disk, as a limit on the size of a file: with SIGXFSZ ignored writing past it is an error.
#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_written_is_named_and_no_half_of_it_stays() {
    let place = Place::new();
    let whole = place.path("whole");
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
    let mut stopped_at = BTreeSet::new();
    for kilobytes in ["0", "12", "16", "64", "128"] {
        let out = place.path(kilobytes);
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
    let place = Place::new();
    let disk = place.path("disk");
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
    let whole = "replay ROOT/datasets/starter --presets --csv -q --out whole";
    place.run(whole).ends(0);
    for size in ["4k", "3m"] {
        let run = on_small_disk(size).ends(1);
        run.says("No space left on device");
        run.says(&disk.display().to_string());
        for name in ["outcomes.csv", "scores.parquet", "report.html"] {
            let read = |dir: &str| place.bytes(&format!("{dir}/{name}"));
            assert_eq!(read("disk.after"), read("whole"), "{size}: {name}");
        }
        std::fs::remove_dir_all(place.path("disk.after")).expect("it can be removed");
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
    let place = grid();
    let sweep = "sweep ROOT/datasets/starter --grid grid.toml --out out --limit 40";
    place.run(sweep).ends(0);
    place.run(sweep).ends(0).says("nothing to do");
    // Other inputs need --force.
    let other = format!("{sweep} --transient loop");
    place.run(&other).ends(2);
    place.run(format!("{other} --force")).ends(0);
}

#[test]
fn bad_input_is_named_and_ends_with_its_code() {
    let place = Place::new();
    let clean = "{\"id\":\"a\",\"answer\":\"x\"}\n";
    let again = clean.to_owned() + "not json\n{\"answer\":\"no id\"}\n" + clean;
    place.file("bad.jsonl", again);
    let run = place.run("replay bad.jsonl --out out").ends(2);
    for words in ["bad.jsonl:2", "bad.jsonl:3", "bad.jsonl:4", "3 problems"] {
        run.says(words);
    }
    let run = place.run("replay bad.jsonl --out out --on-bad skip");
    run.ends(0).says("rejected.jsonl");
    assert_eq!(place.read("out/rejected.jsonl").lines().count(), 3);
    let late = "{\"id\":\"a\",\"answer\":\"x\",\"labels\":[{\"class\":\"loop\",\"kind\":\"paragraph\",\"channel\":\"answer\",\"onset\":900}]}\n";
    place.file("late.jsonl", late);
    place.file("empty.jsonl", "");
    place.file("blocked", "a file");
    let guard = "[[guard]]\ndetector = \"checkpoint\"\n[guard.params]\n";
    place.file("s.toml", format!("{guard}min_repeats = 1\n"));
    place.file("u.toml", format!("{guard}min_repeat = 4\n"));
    // A field of a file is no option, though one has its name.
    place.file("f.toml", format!("unit = \"calls\"\n{guard}"));
    place.file("g.toml", format!("{guard}checkpoints = [[3], [5]]\n"));
    for (line, exit, words) in [
        ("replay late.jsonl --force --out out", 2, "late.jsonl:1"),
        ("replay empty.jsonl --force --out out", 4, "no transcripts"),
        (
            "replay STARTER --force --model nobody* --out out",
            4,
            "filters",
        ),
        (
            "replay STARTER --force --settings s.toml --out out",
            2,
            "s.toml:4",
        ),
        (
            "replay STARTER --force --settings s.toml --out out",
            2,
            "min_repeats",
        ),
        (
            "replay STARTER --force --settings u.toml --out out",
            2,
            "u.toml:4",
        ),
        (
            "replay STARTER --force --settings u.toml --out out",
            2,
            "min_repeat",
        ),
        (
            "replay STARTER --force --settings f.toml --out out",
            2,
            "f.toml:1:1: unknown field `unit`, expected one of `guard`",
        ),
        (
            "sweep STARTER --grid g.toml --out out --force",
            2,
            "can never fire",
        ),
        ("replay STARTER --out blocked/x", 2, "cannot be made"),
        (
            "tune STARTER --split test --out out --force",
            2,
            "never looks",
        ),
    ] {
        let line = line.replace("STARTER", "ROOT/datasets/starter");
        place.run(line).ends(exit).says(words);
    }
}

/// A corpus of three transcripts in a folder, with rows of labels.
fn labelled(rows: &str) -> Place {
    let place = Place::new();
    let lines = ["a", "b", "c"].map(|id| {
        format!("{{\"id\":\"{id}\",\"answer\":\"one two\",\"meta\":{{\"source\":\"web\"}}}}\n")
    });
    place.file("corpus/transcripts/all.jsonl", lines.concat());
    let header = "transcript,class,kind,channel,start,onset,earliest,end,period,by,note";
    place.file("corpus/labels.csv", format!("{header}\n{rows}"));
    place
}

#[test]
fn the_transcript_of_a_bad_row_is_not_scored_by_its_other_rows() {
    let rows =
        "a,clean,,,,,,,,,\nb,clean,,,,,,,,,\nb,lop,,answer,,3,,,,,\nc,loop,,answer,,99,,,,,\n";
    let place = labelled(rows);
    let replay = "replay corpus --out out --csv";
    let said = stderr(&place.run(replay).ends(2));
    let at = |line: &str| said.find(line).expect(line);
    assert!(at("labels.csv:4: unknown class") < at("labels.csv:5: onset 99"));
    place.run(format!("{replay} --on-bad skip")).ends(0);
    let outcomes = place.rows("out/outcomes.csv");
    assert!(!outcomes.is_empty() && outcomes.iter().all(|row| row["transcript"] == "a"));
}

#[test]
fn a_broken_result_is_named_and_is_no_accident() {
    let place = labelled("a,clean,,,,,,,,,\n");
    place.run("replay corpus --out out -q").ends(0);
    for name in ["outcomes.parquet", "scores.parquet", "manifest.json"] {
        let path = format!("out/{name}");
        let whole = place.bytes(&path);
        place.file(&path, &whole[..whole.len() / 2]);
        place.run("report out -q").ends(2).says(name);
        place.file(&path, whole);
    }
    place.run("report out -q").ends(0);
}

#[test]
fn a_field_that_no_transcript_has_is_told() {
    let place = labelled("a,clean,,,,,,,,,\n");
    let run = place.run("replay corpus --out out --by meta.sorce");
    let words = "--by meta.sorce: no transcript has the field; there are id, meta.source, model";
    run.ends(0).says(words);
}

/// What a process left that was killed is in nobody's way.
#[cfg(target_os = "linux")]
#[test]
fn leftovers_of_processes_that_are_gone_are_swept() {
    let place = labelled("a,clean,,,,,,,,,\n");
    let mut gone = Command::new("true").spawn().expect("it starts");
    gone.wait().expect("it ends");
    place.file(&format!("out/.deadloop-{}-x", gone.id()), "half");
    place.run("replay corpus --out out").ends(0);
    assert!(!holds(&place.path("out"), ".deadloop-"));
}

#[cfg(unix)]
#[test]
fn a_signal_leaves_nothing_of_a_corpus_that_is_made() {
    let place = Place::new();
    let out = place.path("made");
    let transcripts = out.join("transcripts");
    let synth = place.command("synth --spec ROOT/datasets/planted/spec.toml -q --out made");
    assert_eq!(
        interrupted(synth, &transcripts, (".deadloop-", Signal::SIGINT)),
        Some(130)
    );
    assert!(!holds(&transcripts, ".") && !holds(&out, ".deadloop-"));
}
