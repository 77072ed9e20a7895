//! The advice of `tune`, `compare` and `export` on the corpora that come with deadloop: verdict and sentence, as a new
//! user met them.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says why"
)]

use crate::program;

use std::collections::BTreeMap;
use std::path::Path;

use program::{STARTER, code, deadloop, deadloop_in, file, stderr, stdout};
use serde_json::Value;

/// What `tune` answers on a corpus with a guard in use.
fn tuned(dir: &Path, corpus: &str, in_use: &str, more: &[&str]) -> Value {
    let out = out(dir, in_use);
    let args = [
        "tune",
        corpus,
        "--settings",
        in_use,
        "--out",
        &out,
        "--json",
    ];
    let run = deadloop(&[&args, more].concat());
    serde_json::from_slice(&run.stdout).unwrap_or_else(|e| panic!("{e}: {}", stderr(&run)))
}

/// The folder of a choice with a guard in use.
fn out(dir: &Path, in_use: &str) -> String {
    let name = format!("tuned-{}", in_use.replace('/', "-"));
    dir.join(name).display().to_string()
}

/// A folder in a folder.
fn inside(dir: &Path, name: &str) -> std::path::PathBuf {
    let inside = dir.join(name);
    std::fs::create_dir_all(&inside).expect("it can be made");
    inside
}

fn text<'a>(told: &'a Value, key: &str) -> &'a str {
    told[key].as_str().unwrap_or_default()
}

/// This guard ships for all models.
fn ships(told: &Value, guard: &str, in_use: &str) {
    assert_eq!(text(told, "verdict"), "ship", "{in_use}: {told}");
    let reason = text(told, "reason");
    assert!(
        reason.starts_with(&format!("Ship {guard}")),
        "{in_use}: {reason}"
    );
    assert_eq!(text(told, "is"), guard);
}

/// The row of `*` in choice.csv.
fn whole_file(dir: &str) -> BTreeMap<String, String> {
    let mut reader = csv::Reader::from_path(Path::new(dir).join("choice.csv")).expect("choice.csv");
    let mut rows = reader.deserialize::<BTreeMap<String, String>>();
    rows.next().expect("a row").expect("it is whole")
}

/// The last 60 chars occur four times in the last 4,000: a guard as people write it.
const HOMEMADE: &str = "[[guard]]\ndetector = \"recurrence\"\n[guard.params]\nby = \"chars\"\nn = 60\nwindow = 4000\nmin_count = 4\nmax_gap = 0\nmax_distinct = 0\n";

/// The walk of README, labelled by the finder.
fn walk(dir: &Path) -> String {
    let logs = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/walk/chats.jsonl.zst"
    );
    let corpus = dir.join("my-logs").display().to_string();
    for words in [&["import", logs, "--out", &corpus][..], &["label", &corpus]] {
        let run = deadloop(words);
        assert_eq!(code(&run), Some(0), "{words:?}: {}", stderr(&run));
    }
    corpus
}

/// The written file, replayed, has the in-sample figures to the last digit, and every output the same ones.
fn is_true_of_its_file(dir: &Path, corpus: &str, in_use: &str, more: &[&str]) {
    let told = tuned(dir, corpus, in_use, more);
    let folder = out(dir, in_use);
    let file = format!("{folder}/settings.toml");
    let replayed = dir.join("replayed").display().to_string();
    let split = more.contains(&"--split").then_some(["--split", "dev"]);
    let words = [
        "replay",
        corpus,
        "--settings",
        &file,
        "--csv",
        "--force",
        "--quiet",
        "--out",
        &replayed,
    ];
    let split = split.iter().flatten().copied();
    let words: Vec<&str> = words.into_iter().chain(split).collect();
    let run = deadloop(&words);
    assert_eq!(code(&run), Some(0), "{}", stderr(&run));
    let mut reader =
        csv::Reader::from_path(Path::new(&replayed).join("scores.csv")).expect("scores");
    let rows = reader.deserialize::<BTreeMap<String, String>>();
    let rows: Vec<BTreeMap<String, String>> = rows.map(|row| row.expect("it is whole")).collect();
    let scores = rows.iter().find(|row| row["by"] == "total").expect("a row");
    let choice = whole_file(&folder);
    for measure in [
        "saved",
        "ended",
        "recall",
        "within_1000",
        "delay",
        "fa_per_mchar",
    ] {
        assert_eq!(
            choice[&format!("in_sample_{measure}")],
            scores[measure],
            "{in_use} {measure}"
        );
    }
    let wrong =
        ["false_alarm", "premature", "stale"].map(|of| scores[of].parse::<u64>().expect("n"));
    let wrong: u64 = wrong.iter().sum();
    assert_eq!(told["in_sample"]["wrong"], wrong, "{in_use}");
    assert_eq!(choice["in_sample_wrong"], wrong.to_string());
    assert_eq!(choice["in_sample_transient"], scores["transient_stop"]);
    // The same sentence and figures everywhere.
    let settings = std::fs::read_to_string(&file).expect("settings");
    let report = std::fs::read_to_string(Path::new(&folder).join("report.md")).expect("a report");
    let manifest =
        std::fs::read_to_string(Path::new(&folder).join("manifest.json")).expect("a manifest");
    let manifest: Value = serde_json::from_str(&manifest).expect("JSON");
    assert_eq!(manifest["advice"]["file"], told["file"]);
    assert!(settings.contains(text(&told, "reason")), "{settings}");
    assert!(
        report.replace('\\', "").contains(text(&told, "reason")),
        "{report}"
    );
    let by_folds = told["by_folds"] == true;
    assert_eq!(by_folds, told["file"] != told["in_sample"], "{in_use}");
}

#[test]
fn the_figures_are_those_of_the_file() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let corpus = walk(dir.path());
    let grid = "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmin_copies = [3, 4, 6]\nmin_chars = [100, 250, 500]\n";
    let grid = file(dir.path(), "grid.toml", grid);
    is_true_of_its_file(dir.path(), &corpus, "document", &[]);
    is_true_of_its_file(dir.path(), &corpus, "recommended", &[]);
    let own = inside(dir.path(), "own");
    is_true_of_its_file(&own, &corpus, "gemini-cli", &["--grid", &grid]);
    let starter = ["--split", "dev", "--constraint", "fa_per_mchar<=10"];
    let wide = inside(dir.path(), "wide");
    is_true_of_its_file(&wide, STARTER, "document", &starter);
    is_true_of_its_file(
        &wide,
        STARTER,
        "vllm",
        &[&starter[..], &["--grid", &grid]].concat(),
    );
}

#[test]
fn the_owner_of_a_weak_guard_is_told_to_take_a_ready_one() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let corpus = walk(dir.path());
    let homemade = file(dir.path(), "homemade.toml", HOMEMADE);
    for in_use in ["document", "llama-cpp", "gemini-cli", &homemade] {
        let told = tuned(dir.path(), &corpus, in_use, &[]);
        ships(&told, "the recommended guard", in_use);
    }
}

/// On the starter corpus the recommended guard is over the default limit, but not surely: it
/// ships, and the sentence says so. Where somebody gives that limit it ships too, with no more wrong alarms than in use, and exit code 6.
#[test]
fn of_the_ready_guards_the_best_within_the_limits_ships() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let split = ["--split", "dev"];
    let assumed = tuned(dir.path(), STARTER, "document", &split);
    ships(&assumed, "the recommended guard", "document");
    let reason = text(&assumed, "reason");
    assert!(
        reason.contains(" The file breaks the default limit fa_per_mchar<=1 ("),
        "{reason}"
    );
    let strict = inside(dir.path(), "strict");
    let limit = ["--split", "dev", "--constraint", "fa_per_mchar<=1"];
    let given = tuned(&strict, STARTER, "document", &limit);
    ships(&given, "the recommended guard", "document");
    let reason = text(&given, "reason");
    let says = " The file breaks the limit fa_per_mchar<=1 (2.68). No setting that was tried is within it, held out.";
    assert!(reason.ends_with(says), "{reason}");
}

/// In use ends 12 % of the loops at 10.75 wrong alarms per million chars, and a row of the grid 56 % at 10.15: nobody is told to
/// keep it under any limit around its own rate, and a laxer one never ships less.
#[test]
fn a_dominated_guard_is_not_kept() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let grid = "[[guard]]\ndetector = \"checkpoint\"\n[guard.params]\ncheckpoints = [[2000,3000,5000],[500,1000,1500,2000]]\nevery = [0,1000]\nshort_at = \"all\"\npartial_tail = \"drop\"\nsegment = [\"between\",2000]\nmin_repeats = [4,6,8,12]\nmin_matches = [3,4,6,8,12,20]\nmin_cycles = [1,3]\n";
    let grid = file(dir.path(), "grid.toml", grid);
    let mut before = 0.0;
    for limit in ["9.6", "11.5", "20"] {
        let limited = format!("fa_per_mchar<={limit}");
        let words = ["--split", "dev", "--grid", &grid, "--constraint", &limited];
        let told = tuned(&inside(dir.path(), limit), STARTER, "document", &words);
        assert_eq!(text(&told, "verdict"), "ship", "{limit}: {told}");
        let saved = told["file"]["saved"].as_f64().expect("a share");
        assert!(saved >= before, "{limit}: {saved} {before}");
        before = saved;
    }
}

/// Runs of agents: the recommended guard is within the default limit and better.
#[test]
fn of_guards_on_runs_too() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let runs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../datasets/agents-starter");
    let unit = ["--unit", "calls"];
    let strict = tuned(dir.path(), runs, "openhands-sdk", &unit);
    ships(&strict, "the recommended guard", "openhands-sdk");
    let rate = [&unit[..], &["--loop-rate", "1/100"]].concat();
    let told = tuned(&inside(dir.path(), "rate"), runs, "openhands-sdk", &rate);
    assert_eq!(
        told["file"], strict["file"],
        "a rate of loops decides nothing"
    );
    let more = told["more"].to_string();
    assert!(
        more.contains("Where 1 in 100 runs loops, the file "),
        "{more}"
    );
}

/// `--also` names a ready guard; one that is not there is an error.
#[test]
fn a_guard_that_is_named_may_ship_as_it_is() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let eager = deadloop_detect::RECOMMENDED
        .replace("min_counters = 10000", "min_counters = 4500")
        .replace("min_form = 4500", "min_form = 0");
    let eager = file(dir.path(), "eager.toml", &eager);
    let also = ["--split", "dev", "--also", &eager];
    let told = tuned(dir.path(), STARTER, "document", &also);
    assert_eq!(text(&told, "verdict"), "ship", "{told}");
    assert!(text(&told, "is").contains("eager"), "{told}");
    let run = deadloop(&["tune", STARTER, "--also", "nothing.toml", "--out", "x"]);
    assert_eq!(code(&run), Some(2), "{}", stderr(&run));
}

/// Repetitions that end by themselves and are stopped stand beside the wrong alarms: terminal, Markdown, page, settings.
#[test]
fn transient_stops_stand_beside_wrong_alarms() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let folder = dir.path().join("seen").display().to_string();
    let run = deadloop(&[
        "tune",
        STARTER,
        "--split",
        "dev",
        "--settings",
        "document",
        "--out",
        &folder,
    ]);
    assert_eq!(code(&run), Some(0), "{}", stderr(&run));
    let said = stdout(&run);
    assert!(said.contains("transient stops"), "{said}");
    for name in ["report.md", "report.html", "settings.toml"] {
        let text = std::fs::read_to_string(Path::new(&folder).join(name)).expect(name);
        assert!(text.contains("transient stops"), "{name}");
    }
}

/// Letting an earlier repetition run is no gain.
#[test]
fn what_ends_loops_is_an_objective_and_stands_first() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let out = dir.path().join("seen").display().to_string();
    let words = [
        "replay",
        STARTER,
        "--settings",
        "recommended",
        "--out",
        &out,
    ];
    let run = deadloop(&words);
    let table = stdout(&run);
    let head = table.lines().next().unwrap_or_default();
    let heads: Vec<&str> = head.split_whitespace().collect();
    let stands = heads
        .windows(3)
        .any(|three| three == ["earlier", "ended", "recall"]);
    assert!(stands, "{head}");
    let told = tuned(
        dir.path(),
        STARTER,
        "recommended",
        &["--objective", "ended", "--split", "dev"],
    );
    let (ended, objective) = (&told["in_use"]["ended"], &told["in_use"]["objective"]);
    assert!(
        ended.as_f64() >= told["in_use"]["recall"].as_f64(),
        "{told}"
    );
    assert_eq!(ended, objective);
}

/// A change that is better in everything passes its own gate.
#[test]
fn the_gate_does_not_fail_what_is_improved() {
    let run = deadloop(&["compare", "document", "recommended", "--corpus", STARTER]);
    let said = stdout(&run);
    assert_eq!(code(&run), Some(0), "{said}{}", stderr(&run));
    assert!(said.contains("improved: better overall"), "{said}");
}

/// What `tune` ships: two copies of long units, three of shorter ones.
const TUNED: &str = "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmax_period = 4500\nmin_copies = 2\nmin_chars = 250\nmin_single = 700\nrules = [{ max_period = 50, min_copies = 5, min_chars = 180 }, { max_period = 2000, min_copies = 3, min_chars = 250 }]\n";
/// The setting of a user whose export stopped at the second copy.
const ROWS: &str = "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmax_period = 4500\nmin_copies = 2\nmin_chars = 250\nrules = [{ max_period = 2000, min_chars = 250, min_copies = 3 }]\n";
/// The least that can be said.
const PLAIN: &str = "[[guard]]\ndetector = \"periodic\"\n[guard.params]\nmax_period = 512\nmin_copies = 4\nmin_chars = 64\n";

/// The alarms of each setting of a replay: transcript and place, by the setting's name.
fn alarms(dir: &Path, settings: &[String]) -> BTreeMap<String, BTreeMap<String, u64>> {
    let out = dir.join("replayed").display().to_string();
    let mut args = vec!["replay", STARTER, "--out", &out, "--csv", "--json"];
    settings
        .iter()
        .for_each(|one| args.extend(["--settings", one]));
    let run = deadloop(&args);
    let told: Value =
        serde_json::from_slice(&run.stdout).unwrap_or_else(|e| panic!("{e}: {}", stderr(&run)));
    let ids = told["settings"].as_array().expect("rows").iter();
    let ids: Vec<String> = ids.map(|row| text(row, "setting").to_owned()).collect();
    let mut of: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    let path = Path::new(&out).join("outcomes.csv");
    let mut reader = csv::Reader::from_path(path).expect("it was written");
    for row in reader.deserialize::<BTreeMap<String, String>>() {
        let row = row.expect("it is whole");
        if let Ok(at) = row["alarm_exact"].parse() {
            of.entry(row["setting"].clone())
                .or_default()
                .insert(row["transcript"].clone(), at);
        }
    }
    settings
        .iter()
        .cloned()
        .zip(ids.iter().map(|id| of.remove(id).unwrap_or_default()))
        .collect()
}

/// Every engine, every setting: the export's twin stops nothing that the setting does not stop, and nothing earlier.
#[test]
fn no_export_asks_for_less_than_the_setting_does() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let settings = [("rows", ROWS), ("tuned", TUNED), ("plain", PLAIN)];
    let mut files = vec!["recommended".to_owned()];
    files.extend(settings.map(|(name, text)| file(dir.path(), &format!("{name}.toml"), text)));
    let mut twins: Vec<(String, String, &str)> = Vec::new();
    for (nth, setting) in files.iter().enumerate() {
        for engine in ["vllm", "typescript", "litellm"] {
            let run = deadloop(&["export", setting, "--to", engine, "--json"]);
            if nth == 0 && engine == "typescript" {
                // Blanks to fill in need more chars than the class reads.
                assert_eq!(code(&run), Some(2));
                assert!(
                    stderr(&run).contains("asks for 4500 chars"),
                    "{}",
                    stderr(&run)
                );
                continue;
            }
            assert_eq!(code(&run), Some(0), "{setting} {engine}: {}", stderr(&run));
            let told: Value = serde_json::from_slice(&run.stdout).expect("JSON");
            let twin = file(
                dir.path(),
                &format!("{nth}-{engine}.toml"),
                text(&told, "twin"),
            );
            twins.push((setting.clone(), twin, engine));
        }
    }
    let all: Vec<String> = files
        .iter()
        .cloned()
        .chain(twins.iter().map(|t| t.1.clone()))
        .collect();
    let alarms = alarms(dir.path(), &all);
    let mut stopped = 0;
    for (setting, twin, engine) in &twins {
        for (transcript, at) in &alarms[twin] {
            let first = alarms[setting].get(transcript);
            assert!(
                first.is_some_and(|first| first <= at),
                "{engine} of {setting}: {transcript} at {at}, the setting at {first:?}"
            );
            stopped += 1;
        }
    }
    assert!(stopped > 100, "the twins stop something: {stopped}");
}

/// What an engine has no word for is refused, with the reason.
#[test]
fn an_export_that_would_stop_earlier_is_refused() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for (name, more, why) in [
        ("fences", "code = \"skip\"\n", "code"),
        ("letters", "unit_holds = \"letter\"\n", "unit_holds"),
    ] {
        let setting = file(
            dir.path(),
            &format!("{name}.toml"),
            &format!("{PLAIN}{more}"),
        );
        let run = deadloop_in(dir.path(), &["export", &setting, "--to", "vllm"]);
        assert_eq!(code(&run), Some(2), "{name}");
        assert!(stderr(&run).contains(why), "{name}: {}", stderr(&run));
    }
}

/// A settings file in words, and what is refused.
#[test]
fn a_settings_file_is_explained() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let tuned = file(dir.path(), "tuned.toml", TUNED);
    let run = deadloop(&["detectors", &tuned]);
    assert_eq!(code(&run), Some(0), "{}", stderr(&run));
    let said = stdout(&run);
    for line in [
        "Guard 1, periodic: ",
        "Units of up to 2,000 chars: 3 copies, 250 chars in all (rules).",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    let run = deadloop(&["detectors", "nothing.toml"]);
    assert_eq!(code(&run), Some(2), "{}", stderr(&run));
}
