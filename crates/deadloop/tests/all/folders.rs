//! What is done a second time, and what stands in the way: a finished run says again what it said, and
//! nothing that a command reads is written over.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::program;

use deadloop_corpus::{MAX_T_MS, MAX_TOKENS};

use program::{Place, Ran, code, stderr, stdout};

const CLEAN: &str =
    "{\"id\":\"a\",\"answer\":\"It is fine.\",\"labels\":[{\"class\":\"clean\"}]}\n";

#[test]
fn a_failure_stays_one_when_the_command_is_repeated() {
    let place = Place::new();
    let broken = "[[guard]]\ndetector = \"command\"\n[guard.params]\ncommand = [\"sh\", \"-c\", \
                  \"read x; echo '{\\\"type\\\":\\\"ready\\\",\\\"name\\\":\\\"x\\\",\\\"version\\\":\\\"1\\\"}'; \
                  while read x; do case $x in *end*) echo nonsense;; esac; done\"]\n";
    place.file("broken.toml", broken);
    place.file("clean.jsonl", CLEAN);
    let grid = "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmin_copies = [4, 8]\n";
    place.file("grid.toml", grid);
    for (name, line, exit) in [
        (
            "never",
            "tune ROOT/datasets/starter --grid grid.toml --constraint recall>=0.9999",
            6,
        ),
        ("few", "tune clean.jsonl --grid grid.toml", 5),
        ("program", "replay clean.jsonl --settings broken.toml", 1),
    ] {
        let line = format!("{line} --out {name} --json");
        let first = place.run(&line).ends(exit);
        let said = first.json();
        assert_eq!(said["exit"], exit, "{said}");
        let again = place.run(&line);
        assert_eq!(code(&again), Some(exit), "{name}: {}", stderr(&again));
        assert_eq!(stdout(&again), stdout(&first), "{name}");
        let reason = said["reason"].as_str().unwrap();
        assert!(stderr(&again).contains("nothing to do"), "{name}");
        again.says(reason);
    }
}

#[test]
fn a_finished_run_says_again_what_it_said_and_what_is_damaged_is_told() {
    let place = Place::new();
    place.file("clean.jsonl", CLEAN);
    let replay = "replay clean.jsonl --out out --json --csv";
    let first = place.run(replay).ends(0);
    let page = place.path("out/report.html");
    std::fs::remove_file(&page).unwrap();
    let again = place.run(replay).ends(0);
    assert_eq!(stdout(&again), stdout(&first));
    assert!(page.is_file(), "it is made again");
    for (name, left) in [
        ("outcomes.parquet", None),
        ("scores.csv", Some("setting\n")),
    ] {
        let path = format!("out/{name}");
        match left {
            Some(text) => drop(place.file(&path, text)),
            None => std::fs::remove_file(place.path(&path)).unwrap(),
        }
        place.run(replay).ends(2).says(name);
        place.run(format!("{replay} --force")).ends(0);
    }
    assert_eq!(stdout(&place.run(replay)), stdout(&first));
}

/// Of two commands that make the same folder one is refused.
#[test]
fn a_folder_has_one_command_at_a_time() {
    let place = Place::new();
    let out = place.path("out");
    std::fs::create_dir(&out).unwrap();
    let lock = std::fs::File::open(&out).unwrap();
    lock.lock().unwrap();
    place.file("clean.jsonl", CLEAN);
    place.file("grid.toml", "[[guard]]\ndetector = \"periodic\"\n");
    for line in [
        "import clean.jsonl --force",
        "replay clean.jsonl --settings recommended",
        "replay clean.jsonl --settings recommended --shard 1/2",
        "sweep clean.jsonl --grid grid.toml",
        "tune clean.jsonl",
        "budget clean.jsonl",
        "synth --spec ROOT/datasets/planted/spec.toml",
        "compare recommended quiet --corpus clean.jsonl",
    ] {
        let refused = place.run(format!("{line} --out out")).ends(2);
        refused.says("another command");
    }
    assert_eq!(files(&out), []);
}

/// Every file of a folder, by name.
fn files(dir: &std::path::Path) -> Vec<(String, Vec<u8>)> {
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
    let place = Place::new();
    let loops = "{\"id\":\"a\",\"answer\":\"x\"}\n";
    for name in ["cases.jsonl", "rec.jsonl", "corpus/transcripts/t.jsonl"] {
        place.file(name, loops);
    }
    let settings = "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmin_copies = 8\n";
    for name in ["settings.toml", "base.toml", "new.toml", "grid.toml"] {
        place.file(name, settings);
    }
    place.file("flips.csv", "a,b\n1,2\n");
    let before = files(place.dir());
    let over = "would be written over what is read";
    let among = "would stand among the transcripts that are read";
    let there = "is there already; --force";
    for (line, what) in [
        ("replay cases.jsonl --out . --force", over),
        (
            "replay rec.jsonl --settings settings.toml --out . --force",
            over,
        ),
        ("replay corpus --out corpus/transcripts --force", among),
        ("label rec.jsonl --out rec.jsonl --force", over),
        (
            "compare base.toml new.toml --corpus rec.jsonl --out .",
            over,
        ),
        (
            "compare base.toml new.toml --corpus rec.jsonl --markdown rec.jsonl --force",
            over,
        ),
        (
            "compare base.toml new.toml --corpus rec.jsonl --markdown x --junit ./x",
            "would be written twice",
        ),
        (
            "compare settings.toml grid.toml --corpus rec.jsonl --out .",
            there,
        ),
    ] {
        place.run(line).ends(2).says(what);
        assert_eq!(files(place.dir()), before, "{line}");
    }
}

/// The file behind a link is what is written; what is no file is left alone.
#[cfg(unix)]
#[test]
fn links_stay_links_and_what_is_no_file_stays() {
    let place = Place::new();
    place.file("rec.jsonl", "{\"id\":\"a\",\"answer\":\"x\"}\n");
    place.file("store/labels.csv", "old");
    let link = place.path("labels.csv");
    std::os::unix::fs::symlink("store/labels.csv", &link).unwrap();
    let label = |out: &str| place.run(format!("label rec.jsonl --force --out {out}"));
    label("labels.csv").ends(0);
    assert!(link.symlink_metadata().unwrap().is_symlink());
    let kept = place.read("store/labels.csv");
    assert!(kept.starts_with("transcript,"));
    std::os::unix::fs::symlink("not-there", place.path("nothing")).unwrap();
    let _listens = std::os::unix::net::UnixListener::bind(place.path("socket")).unwrap();
    for out in ["nothing", "socket", "store"] {
        let kind = || place.path(out).symlink_metadata().unwrap().file_type();
        let before = kind();
        label(out).ends(2).says("is no file");
        assert_eq!(kind(), before);
    }
    place.run("import rec.jsonl --out nothing").ends(2);
}

#[test]
fn numbers_of_any_size_and_names_of_any_kind_are_no_panic() {
    let place = Place::new();
    let most = u64::MAX.to_string();
    let corpus = format!(
        "{{\"id\":\"a\",\"model\":\"\\u001b[2J\",\"events\":[{{\"type\":\"answer\",\"text\":\"{0}\",\"tokens\":{MAX_TOKENS}}},\
         {{\"type\":\"answer\",\"text\":\"x\",\"tokens\":{MAX_TOKENS},\"t_ms\":{MAX_T_MS}}}],\
         \"labels\":[{{\"class\":\"loop\",\"kind\":\"paragraph\",\"onset\":9,\"channel\":\"answer\"}}]}}\n",
        "over and over again. ".repeat(300)
    );
    place.file("c.jsonl", corpus);
    for more in ["--transient loop", &format!("--chunks {most}")] {
        place
            .run(format!("replay c.jsonl --out out --force {more}"))
            .ends(0);
        place.run(format!("explain c.jsonl a {more}")).ends(0);
    }
    let listed = stdout(&place.run("show c.jsonl"));
    assert!(!listed.contains('\u{1b}') && listed.contains("\\u{1b}[2J"));
    place.file(
        "every.jsonl",
        "{\"id\":\"a\",\"model\":\"*\",\"answer\":\"x\"}\n",
    );
    let run = place.run("replay every.jsonl --out out --force").ends(2);
    run.says("all models together");
}

/// Files as some editors save them, with a mark of the byte order and lines that end with CR LF, mean the same.
#[test]
fn a_mark_of_the_byte_order_and_cr_lf_mean_nothing() {
    let place = Place::new();
    let guard = "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmin_copies = 4\n";
    place.file("guard.toml", guard);
    place.file("claims.txt", "# what is claimed\nfa_per_mchar<=1000\n");
    let said = || -> Vec<(String, Vec<u8>)> {
        let starter = "ROOT/datasets/starter --settings guard.toml";
        for line in [
            "replay STARTER",
            "tune STARTER --grid guard.toml --also guard.toml",
        ] {
            let line = line.replace("STARTER", starter);
            place.run(format!("{line} --csv --force --out out")).ends(0);
        }
        let claims = place.run(format!("check {starter} --claims claims.txt --json"));
        let written = files(&place.path("out")).into_iter();
        written
            .filter(|(name, _)| name.ends_with(".csv") || name == "settings.toml")
            .chain([("claims".to_owned(), claims.ends(0).stdout)])
            .collect()
    };
    let plain = said();
    for name in ["guard.toml", "claims.txt"] {
        let text = place.read(name).replace('\n', "\r\n");
        place.file(name, format!("\u{feff}{text}"));
    }
    assert_eq!(plain, said());
}

/// A folder whose name is no UTF-8 is written to the end.
#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_no_utf8_is_a_folder_like_any_other() {
    use std::os::unix::ffi::OsStrExt as _;
    let place = Place::new();
    place.file("clean.jsonl", CLEAN);
    let out = place.dir().join(std::ffi::OsStr::from_bytes(b"out\xff"));
    let mut replay = place.command("replay clean.jsonl --json --out");
    let run = replay.arg(&out).output().unwrap().ends(0);
    run.json();
    assert!(out.join("report.html").is_file() && out.join("manifest.json").is_file());
    // A file that shards read by its name has another name, or is refused in words.
    let guard = place.dir().join(std::ffi::OsStr::from_bytes(b"guard\xff"));
    std::fs::write(&guard, "[[guard]]\ndetector = \"periodic\"\n").unwrap();
    for line in [
        "replay clean.jsonl --settings",
        "tune clean.jsonl --settings",
        "sweep clean.jsonl --grid",
    ] {
        let mut command = place.command(line);
        let run = command.arg(&guard).args(["--out", "other"]).output();
        run.unwrap().ends(2).says("UTF-8");
        assert!(!place.path("other").exists());
    }
}
