//! `deadloop report A B …`: the same measures of several runs.

use std::path::Path;

use crate::program::{STARTER, code, deadloop, deadloop_in, file, stderr, stdout};

/// Runs a command that leaves a folder.
fn made(dir: &Path, words: &[&str]) {
    let out = deadloop_in(dir, words);
    assert!(matches!(code(&out), Some(0)), "{words:?}: {}", stderr(&out));
}

#[test]
fn runs_in_their_order_have_the_figures_of_their_scores_and_the_flips_between_them() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let at = dir.path();
    file(
        at,
        "old.toml",
        "[[guard]]\ndetector = \"checkpoint\"\npreset = \"document\"\n",
    );
    file(
        at,
        "grid.toml",
        "[[guard]]\ndetector = \"checkpoint\"\n[guard.params]\nmin_repeats = [3, 5]\n",
    );
    made(
        at,
        &[
            "replay",
            STARTER,
            "--settings",
            "old.toml",
            "--out",
            "old",
            "--csv",
            "--quiet",
        ],
    );
    made(at, &["replay", STARTER, "--out", "new", "--csv", "--quiet"]);
    made(
        at,
        &[
            "sweep",
            STARTER,
            "--grid",
            "grid.toml",
            "--out",
            "swept",
            "--quiet",
        ],
    );
    made(
        at,
        &[
            "tune",
            STARTER,
            "--grid",
            "grid.toml",
            "--constraint",
            "fa_per_mchar<=100",
            "--out",
            "tuned",
            "--quiet",
        ],
    );
    let out = deadloop_in(at, &["report", "old", "new", "new", "swept", "tuned"]);
    assert_eq!(code(&out), Some(0), "{}", stderr(&out));
    let told = stdout(&out);
    let rows: Vec<&str> = told.lines().filter(|line| line.contains("20")).collect();
    assert!(told.contains("better") && told.contains("worse"), "{told}");
    assert!(told.contains("no verdict changed"), "{told}");
    assert!(!rows.is_empty(), "{told}");

    // The figures of a replay are those of its scores, to the last digit.
    let read = |name: &str| std::fs::read(at.join(name)).expect("it was written");
    let cells = |bytes: &[u8]| -> Vec<Vec<String>> {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .from_reader(bytes);
        let rows = reader.records().map(|row| row.expect("a row"));
        rows.map(|row| row.iter().map(str::to_owned).collect())
            .collect()
    };
    let history = cells(&read("deadloop-history/charts/history.csv"));
    for run in ["old", "new"] {
        let scores = cells(&read(&format!("{run}/scores.csv")));
        let place = |name: &str| {
            scores[0]
                .iter()
                .position(|head| head == name)
                .expect("a column")
        };
        let all = scores.iter().find(|row| {
            row[place("model")] == "*"
                && row[place("setting")].len() == 12
                && row[place("response")] == "stop"
        });
        let all = all.expect("a row of all models");
        for measure in ["ended", "saved", "recall", "fa_per_mchar", "delay"] {
            let row = history
                .iter()
                .find(|row| row[0] == run && row[2] == measure);
            let value: f64 = row.expect("a row")[3].parse().expect("a number");
            let written: f64 = all[place(measure)].parse().expect("a number");
            assert!(
                (value - written).abs() <= 1e-9 * written.abs(),
                "{run} {measure}: {value}, {written}"
            );
        }
    }
    let page = String::from_utf8(read("deadloop-history/history.html")).expect("it is UTF-8");
    assert!(page.contains("Flips from new to swept"));
    for part in [
        "Runs over time",
        "Flips from old to new",
        "script-src",
        "<svg",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // The same folders give the same bytes.
    let before = read("deadloop-history/history.html");
    made(
        at,
        &["report", "old", "new", "new", "swept", "tuned", "--quiet"],
    );
    assert_eq!(before, read("deadloop-history/history.html"));
    assert!(at.join("old/report.html").exists() && !at.join("old/history.html").exists());
}

/// The verdicts of a cell of a sweep are those of a replay of its setting, transcript by transcript.
#[test]
fn a_sweep_flips_what_a_replay_of_its_setting_flips() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let at = dir.path();
    let guard = |values: &str| {
        format!("[[guard]]\ndetector = \"checkpoint\"\n[guard.params]\nmin_repeats = {values}\n")
    };
    file(at, "old.toml", &guard("20"));
    for (name, value) in [("three", "3"), ("five", "5")] {
        file(at, &format!("{name}.toml"), &guard(value));
        file(
            at,
            &format!("{name}-grid.toml"),
            &guard(&format!("[{value}]")),
        );
    }
    file(at, "grid.toml", &guard("[3, 5]"));
    let run = |command: &str, option: &str, given: &str, out: &str, more: &[&str]| {
        let words = [command, STARTER, option, given, "--out", out, "--quiet"];
        made(at, &[&words[..], more].concat());
    };
    run("replay", "--settings", "old.toml", "old", &[]);
    run("sweep", "--grid", "grid.toml", "swept", &[]);
    run("sweep", "--grid", "grid.toml", "few", &["--limit", "40"]);
    let rows = |folders: &[&str]| -> Vec<(String, String)> {
        let words = [&["report"], folders, &["--json"]].concat();
        let out = deadloop_in(at, &words);
        assert_eq!(code(&out), Some(0), "{}", stderr(&out));
        let told: serde_json::Value = serde_json::from_str(&stdout(&out)).expect("JSON");
        let runs = told["runs"].as_array().expect("runs");
        let text =
            |run: &serde_json::Value, name: &str| run[name].as_str().expect("a text").to_owned();
        let row = |run| (text(run, "setting"), text(run, "since the run before"));
        runs.iter().map(row).collect()
    };
    let flips = |page: &str| -> Vec<String> {
        let (_, table) = page.split_once("Flips from old to ").expect("they flip");
        let (table, _) = table.split_once("</table>").expect("a table");
        let body = table.split_once("<tbody").expect("rows").1;
        let cells = body.split("<tr").skip(1).map(|row| {
            let cells: Vec<&str> = row.split("<td").collect();
            // The label is known of a loop alone.
            [cells[1], cells[4], cells[5]].concat()
        });
        let mut cells: Vec<String> = cells.collect();
        cells.sort_unstable();
        cells
    };
    let page = || std::fs::read_to_string(at.join("deadloop-history/history.html")).expect("UTF-8");
    let told = rows(&["old", "swept"]);
    let best = if told[1].0.contains('5') {
        "five"
    } else {
        "three"
    };
    assert!(told[1].1.contains("better"), "{told:?}");
    let of_sweep = flips(&page());
    run("replay", "--settings", &format!("{best}.toml"), "best", &[]);
    assert_eq!(rows(&["old", "best"])[1].1, told[1].1);
    assert_eq!(flips(&page()), of_sweep);
    assert_eq!(rows(&["best", "swept"])[1].1, "no verdict changed");
    // A grid of one cell has no sliders, and verdicts all the same.
    run("sweep", "--grid", &format!("{best}-grid.toml"), "one", &[]);
    assert_eq!(rows(&["swept", "one"])[1].1, "no verdict changed");
    // Other transcripts are not compared, and why is said.
    assert_eq!(rows(&["swept", "few"])[1].1, "not comparable");
    assert!(page().contains("not of the same transcripts"));
}

#[test]
fn runs_whose_measures_differ_are_refused_by_name() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let at = dir.path();
    made(
        at,
        &[
            "replay", STARTER, "--out", "one", "--limit", "40", "--quiet",
        ],
    );
    made(
        at,
        &[
            "replay",
            STARTER,
            "--out",
            "other",
            "--limit",
            "40",
            "--transient",
            "loop",
            "--quiet",
        ],
    );
    let refused = deadloop_in(at, &["report", "one", "other"]);
    assert_eq!(code(&refused), Some(3), "{}", stderr(&refused));
    let told = stderr(&refused);
    assert!(
        told.contains("other: --transient is loop, and ignore in one"),
        "{told}"
    );
    assert!(
        !at.join("deadloop-history").exists(),
        "nothing is left behind"
    );
    for (words, part) in [
        (
            vec!["report", "one", "nowhere"],
            "nowhere: no manifest.json",
        ),
        (
            vec!["report", "one", "other", "--out", "one"],
            "holds a result",
        ),
        (vec!["report", "one", "other", "--redact"], "of one folder"),
        (vec!["report", "one", "--setting", "x"], "several folders"),
        (
            vec!["report", "one", "one", "--setting", "x"],
            "no setting is called \"x\"",
        ),
    ] {
        let out = deadloop_in(at, &words);
        assert_eq!(code(&out), Some(2), "{words:?}: {}", stderr(&out));
        assert!(stderr(&out).contains(part), "{words:?}: {}", stderr(&out));
    }
    assert_eq!(code(&deadloop(&["report"])), Some(2));
}
