//! `deadloop init`, `completions` and `man`: what a new user gets, and that it runs.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use std::path::Path;
use std::process::{Command, Output};

use program::{Place, Ran, stderr, stdout};

/// Runs words of a shell in a folder, with the program on its path.
fn shell(place: &Place, line: &str) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_deadloop"));
    let bin = program.parent().expect("a folder").display();
    let path = std::env::var("PATH").unwrap_or_default();
    let run = Command::new("bash")
        .args(["-c", line])
        .env("PATH", format!("{bin}:{path}"))
        .current_dir(place.dir())
        .output();
    run.expect("bash is there")
}

#[test]
fn what_init_writes_runs() {
    let place = Place::new();
    let run = place.run("init start").ends(0);
    for name in ["settings.toml", "grid.toml", "corpus", "deadloop.yml"] {
        run.shows(&format!("start/{name}"));
    }
    place.run("check start/corpus").ends(0);
    place.run("show start/corpus").ends(0);
    let tune = "tune start/corpus --grid start/grid.toml --out tuned";
    place.run(tune).ends(0);
    assert!(place.path("tuned/settings.toml").is_file());
    // The settings are the recommended ones.
    let id = |settings: &str, out: &str| {
        let replay = format!("replay start/corpus --settings {settings} --out {out} --json");
        place.run(replay).ends(0).json()["settings"][0]["setting"].clone()
    };
    assert_eq!(
        id("start/settings.toml", "own"),
        id("recommended", "theirs")
    );
}

#[test]
fn the_job_for_ci_runs_as_it_is_written() {
    let place = Place::new();
    place.run("init").ends(0);
    let job = place.read("deadloop.yml");
    let commands: Vec<&str> = job
        .lines()
        .filter_map(|line| line.trim().strip_prefix("run: "))
        .collect();
    assert_eq!(commands.len(), 2, "{job}");
    for line in &commands {
        shell(&place, line).ends(0);
    }
    // A guard that finds nothing does not pass.
    let worse = "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmin_copies = 1000\n";
    place.file("settings.toml", worse);
    shell(&place, commands[1]).ends(100);
}

#[test]
fn init_overwrites_nothing() {
    let place = Place::new();
    place.file("grid.toml", "mine");
    let run = place.run("init").ends(2);
    run.says("grid.toml is there already");
    let entries = std::fs::read_dir(place.dir()).expect("a folder").count();
    assert_eq!(entries, 1, "nothing was written");
    assert_eq!(place.read("grid.toml"), "mine");
}

/// A full disk, as a limit on the size of a file: no file has its name before all of them are written.
#[cfg(unix)]
#[test]
fn init_on_a_full_disk_leaves_no_file() {
    let place = Place::new();
    let mut stopped_at = std::collections::BTreeSet::new();
    for kilobytes in ["1", "8", "64"] {
        let limit = format!("trap '' XFSZ; ulimit -f {kilobytes}; deadloop init start");
        let run = shell(&place, &limit).ends(2);
        let said = stderr(&run);
        stopped_at.insert(said.split(':').nth(1).unwrap_or_default().to_owned());
        let left = shell(&place, "find start -type f").ends(0);
        assert_eq!(stdout(&left), "", "{kilobytes} kB: {said}");
    }
    assert_eq!(stopped_at.len(), 3, "{stopped_at:?}");
    place.run("init start").ends(0);
}

#[test]
fn a_release_gets_pages_completions_and_schemas() {
    let place = Place::new();
    place.run("generate made").ends(0);
    let made = |name: &str| place.read(&format!("made/{name}"));
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = made(&format!("completions/deadloop.{shell}"));
        for word in ["tune", "cases", "text-field"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    shell(&place, "bash -n made/completions/deadloop.bash").ends(0);
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
    place.run("generate made --json").ends(0);

    // The reference of the docs' site comes from the registries: a row or a page for what each has.
    let page = |name: &str| made(&format!("site/{name}"));
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

/// What is gone says what to type instead.
#[test]
fn a_word_that_is_gone_names_the_new_way() {
    let place = Place::new();
    for (line, way) in [
        ("stats corpus", "deadloop check"),
        ("bless a b --yes", "--bless"),
        (
            "export recommended --to vllm --corpus c",
            "deadloop compare",
        ),
    ] {
        place.run(line).ends(2).says("is gone: ").says(way);
    }
}

/// Every command has an example in its help.
#[test]
fn every_help_has_an_example() {
    let place = Place::new();
    let help = stdout(&place.run("--help"));
    let commands = help.split("Usage:").nth(1).expect("usage");
    let commands: Vec<&str> = commands
        .lines()
        .take_while(|line| !line.starts_with("Options"))
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(!commands.is_empty());
    for name in commands {
        let help = place.run(format!("{name} --help"));
        help.shows("Example").shows(&format!("deadloop {name}"));
    }
}
