//! The files behind the charts of a real run: the numbers of scores.csv.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use program::{STARTER, deadloop, stderr};
use std::collections::BTreeMap;
use std::path::Path;

const GRID: &str = "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmin_copies = [3, 4, 6]\n\
                    min_chars = [100, 500, 1000]\n";

type Rows = Vec<BTreeMap<String, String>>;

fn done(args: &[&str]) {
    let run = deadloop(args);
    let said = stderr(&run);
    assert!(run.status.success(), "{args:?}: {said}");
}

fn rows(path: &Path) -> Rows {
    let mut reader = csv::Reader::from_path(path).expect("it is there");
    let rows = reader.deserialize().map(|row| row.expect("a row"));
    rows.collect()
}

#[test]
fn the_numbers_behind_the_charts_are_those_of_the_run() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| dir.path().join(name).display().to_string();
    let (grid, out) = (path("grid.toml"), path("out"));
    std::fs::write(&grid, GRID).expect("it is writable");
    let args = [
        "tune",
        STARTER,
        "--grid",
        &grid,
        "--constraint",
        "fa_per_mchar<=30",
        "--csv",
    ];
    done(&[&args[..], &["-q", "--out", &out]].concat());
    let folder = Path::new(&out);
    let scores = rows(&folder.join("scores.csv"));
    let (mut charts, mut compared) = (0, 0);
    for name in ["operating", "heatmap"] {
        charts += 1;
        for row in rows(&folder.join(format!("charts/{name}.csv"))) {
            let own = row["name"].contains("held out");
            let model = row.get("model").map_or("*", String::as_str);
            let is_it = |score: &&BTreeMap<String, String>| {
                score["setting"] == row["setting"] && score["model"] == model && !own
            };
            let Some(score) = scores.iter().find(is_it) else {
                assert!(row["setting"].is_empty() || own, "{name}: {row:?}");
                continue;
            };
            for column in ["recall", "fa_per_mchar"] {
                if let Some(value) = row.get(column) {
                    assert_eq!(*value, score[column], "{name} {column} of {row:?}");
                    compared += 1;
                }
            }
        }
    }
    assert!(charts == 2 && compared > 15, "{compared} numbers");
    written_out(folder);
}

/// The setting in use stands in the page as a settings file.
fn written_out(folder: &Path) {
    let page = std::fs::read_to_string(folder.join("report.html")).expect("a page");
    assert!(page.contains("[[guard]]") && page.contains("recommended guard"));
    assert!(page.contains("data-dot=\"0\"") && page.contains("id=\"plane-data\""));
}
