//! `deadloop init`, `completions` and `man`: what a new user gets, and that it runs.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use std::path::Path;
use std::process::{Command, Output};

use program::{Ran, code, deadloop, deadloop_in, stderr, stdout};

/// Runs words of a shell in a folder, with the program on its path.
fn shell(folder: &Path, line: &str) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_deadloop"));
    let bin = program.parent().expect("a folder").display();
    let path = std::env::var("PATH").unwrap_or_default();
    let run = Command::new("bash")
        .args(["-c", line])
        .env("PATH", format!("{bin}:{path}"))
        .current_dir(folder)
        .output();
    run.expect("bash is there")
}

#[test]
fn what_init_writes_runs() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let run = deadloop_in(dir.path(), &["init", "start"]).ends(0);
    for name in ["settings.toml", "grid.toml", "corpus", "deadloop.yml"] {
        assert!(stdout(&run).contains(&format!("start/{name}")), "{name}");
    }
    let start = dir.path().join("start");
    for (words, wanted) in [
        (&["check", "corpus"][..], 0),
        (&["show", "corpus"], 0),
        (
            &[
                "replay",
                "corpus",
                "--settings",
                "settings.toml",
                "--out",
                "seen",
            ],
            0,
        ),
        (
            &["tune", "corpus", "--grid", "grid.toml", "--out", "tuned"],
            0,
        ),
    ] {
        let run = deadloop_in(&start, words);
        assert_eq!(code(&run), Some(wanted), "{words:?}: {}", stderr(&run));
    }
    assert!(start.join("tuned/settings.toml").is_file());
}

#[test]
fn the_settings_that_init_writes_are_the_recommended_ones() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    assert_eq!(code(&deadloop_in(dir.path(), &["init"])), Some(0));
    let id = |settings: &str, out: &str| {
        let words = [
            "replay",
            "corpus",
            "--settings",
            settings,
            "--out",
            out,
            "--json",
        ];
        let run = deadloop_in(dir.path(), &words);
        let told: serde_json::Value = serde_json::from_slice(&run.stdout).expect("JSON");
        told["settings"][0]["setting"].clone()
    };
    assert_eq!(id("settings.toml", "own"), id("recommended", "theirs"));
}

#[test]
fn the_job_for_ci_runs_as_it_is_written() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    assert_eq!(code(&deadloop_in(dir.path(), &["init"])), Some(0));
    let job = std::fs::read_to_string(dir.path().join("deadloop.yml")).expect("it is written");
    let commands: Vec<&str> = job
        .lines()
        .filter_map(|line| line.trim().strip_prefix("run: "))
        .collect();
    assert_eq!(commands.len(), 2, "{job}");
    for line in commands {
        let run = shell(dir.path(), line);
        assert_eq!(
            code(&run),
            Some(0),
            "{line}: {}{}",
            stdout(&run),
            stderr(&run)
        );
    }
    // A guard that finds nothing does not pass.
    let worse = "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmin_copies = 1000\n";
    std::fs::write(dir.path().join("settings.toml"), worse).expect("it is writable");
    shell(
        dir.path(),
        job.lines()
            .filter_map(|l| l.trim().strip_prefix("run: "))
            .nth(1)
            .expect("two"),
    )
    .ends(100);
}

#[test]
fn init_overwrites_nothing() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let grid = dir.path().join("grid.toml");
    std::fs::write(&grid, "mine").expect("it is writable");
    let run = deadloop_in(dir.path(), &["init"]).ends(2);
    run.says("grid.toml is there already");
    let entries = std::fs::read_dir(dir.path()).expect("a folder").count();
    assert_eq!(entries, 1, "nothing was written");
    assert_eq!(std::fs::read_to_string(&grid).expect("it is there"), "mine");
}

#[test]
fn a_release_gets_pages_completions_and_schemas() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    deadloop_in(dir.path(), &["generate", "made"]).ends(0);
    let made =
        |name: &str| std::fs::read_to_string(dir.path().join("made").join(name)).expect(name);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = made(&format!("completions/deadloop.{shell}"));
        for word in ["tune", "cases", "text-field"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    shell(dir.path(), "bash -n made/completions/deadloop.bash").ends(0);
    assert!(made("man/deadloop.1").contains("deadloop\\-tune(1)"));
    for name in ["tune", "cases", "show"] {
        let page = made(&format!("man/deadloop-{name}.1"));
        assert!(page.starts_with(".ie"), "{page}");
        assert!(page.contains(".SH OPTIONS"), "{name}: {page}");
    }
    for name in ["settings", "grid", "transcript"] {
        let schema = made(&format!("schemas/{name}.schema.json"));
        let schema: serde_json::Value = serde_json::from_str(&schema).expect(name);
        assert_eq!(schema["title"], format!("deadloop {name}"));
    }
    deadloop_in(dir.path(), &["generate", "made", "--json"]).ends(0);
}

/// What is gone says what to type instead.
#[test]
fn a_word_that_is_gone_names_the_new_way() {
    for (words, way) in [
        (&["stats", "corpus"][..], "deadloop check"),
        (&["bless", "a", "b", "--yes"], "--bless"),
        (
            &["export", "recommended", "--to", "vllm", "--corpus", "c"],
            "deadloop compare",
        ),
    ] {
        let run = deadloop(words);
        assert_eq!(code(&run), Some(2), "{words:?}");
        assert!(
            stderr(&run).contains("is gone: ") && stderr(&run).contains(way),
            "{}",
            stderr(&run)
        );
    }
}

/// The reference of the docs' site comes from the registries: a row or a page for what each has.
#[test]
fn the_reference_has_everything_that_is_registered() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    deadloop_in(dir.path(), &["generate", "made"]).ends(0);
    let page = |name: &str| {
        let path = dir.path().join("made/site").join(name);
        std::fs::read_to_string(path).expect(name)
    };
    let contents = page("contents.md");
    for detector in deadloop_detect::harness::DETECTORS {
        let name = format!("detectors/{}.md", detector.name);
        assert!(contents.contains(&format!("({name})")), "{name}");
        let page = page(&name);
        for param in detector.params {
            assert!(
                page.contains(&format!("\n| `{}` |", param.name)),
                "{name}: {}",
                param.name
            );
        }
    }
    let duplicate = page("detectors/duplicate.md");
    assert!(
        duplicate.contains("\n  call search {"),
        "an example: {duplicate}"
    );
    assert!(page("repairers/tags.md").contains("\n### careful\n"));
    assert!(page("budget.md").contains("\n| `threshold` |"));
    assert!(page("commands/tune.md").contains("--constraint <EXPR>"));
    assert!(page("measures.md").contains("\n| `saved` |"));
    assert!(page("formats.md").contains("\n| `openai-chat` |"));
    assert!(page("files.md").contains("\n| `scores.parquet` |"));
    assert!(
        page("disk.md").contains("`.journal.jsonl`") && page("disk.md").contains("| `periodic` |")
    );
}

/// Every command has an example in its help.
#[test]
fn every_help_has_an_example() {
    let help = stdout(&deadloop(&["--help"]));
    let commands = help.split("Usage:").nth(1).expect("usage");
    let commands: Vec<&str> = commands
        .lines()
        .take_while(|line| !line.starts_with("Options"))
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert_eq!(commands.len(), 20, "{commands:?}");
    for name in commands {
        let help = stdout(&deadloop(&[name, "--help"]));
        assert!(help.contains("Example"), "{name}: {help}");
        assert!(help.contains(&format!("deadloop {name}")), "{name}: {help}");
    }
}
