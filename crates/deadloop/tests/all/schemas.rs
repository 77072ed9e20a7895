//! `deadloop schema`: schemas accept every file of the repository that the program accepts, and refuse what it refuses
//! as far as a schema can know it.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use std::path::{Path, PathBuf};

use boon::{Compiler, SchemaIndex, Schemas};
use program::{code, deadloop, stderr};
use serde_json::{Value, json};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A schema that the program prints, ready to be asked.
struct Schema {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Schema {
    fn of(kind: &str) -> Self {
        let run = deadloop(&["schema", kind]);
        assert_eq!(code(&run), Some(0), "{}", stderr(&run));
        let schema: Value = serde_json::from_slice(&run.stdout).expect("JSON on stdout");
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler
            .add_resource("schema.json", schema)
            .expect("a resource");
        let index = compiler.compile("schema.json", &mut schemas);
        Self {
            index: index.expect("a schema"),
            schemas,
        }
    }

    /// What is wrong with a value.
    fn refuses(&self, value: &Value) -> Option<String> {
        let checked = self.schemas.validate(value, self.index);
        checked.err().map(|error| format!("{error:#}"))
    }

    fn refuses_toml(&self, text: &str) -> Option<String> {
        let table: toml::Table = toml::from_str(text).expect("TOML");
        self.refuses(&serde_json::to_value(table).expect("JSON"))
    }

    #[track_caller]
    fn takes_file(&self, path: &Path) {
        let text = std::fs::read_to_string(path).expect("a file");
        assert_eq!(self.refuses_toml(&text), None, "{}", path.display());
    }
}

/// The TOML files of a folder of the repository.
fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(ROOT).join(folder);
    let entries = std::fs::read_dir(&folder).expect("a folder").flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "toml"));
    assert!(!files.is_empty(), "{}", folder.display());
    files.sort();
    files
}

/// The files of a name in the folders of a folder.
fn beside(folder: &str, name: &str) -> Vec<PathBuf> {
    let folder = Path::new(ROOT).join(folder);
    let entries = std::fs::read_dir(&folder).expect("a folder").flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path().join(name)).collect();
    files.retain(|path| path.is_file());
    assert!(files.len() > 3, "{}", folder.display());
    files.sort();
    files
}

#[test]
fn every_file_of_the_repository_is_accepted() {
    let settings = Schema::of("settings");
    for folder in ["scripts/peers/settings", "fuzz/seeds/settings"] {
        files(folder)
            .iter()
            .for_each(|file| settings.takes_file(file));
    }
    let root = Path::new(ROOT);
    settings.takes_file(&root.join("crates/deadloop-detect/src/recommended.toml"));
    settings.takes_file(&root.join("crates/deadloop/src/commands/init/files/settings.toml"));
    settings.takes_file(&root.join("crates/deadloop-detect/src/recommended-agents.toml"));
    settings.takes_file(&root.join("scripts/circling.toml"));
    let grid = Schema::of("grid");
    for name in ["recommended", "recommended-agents"] {
        grid.takes_file(&root.join(format!("crates/deadloop-replay/src/shipped/{name}.toml")));
    }
    grid.takes_file(&root.join("crates/deadloop/src/commands/init/files/grid.toml"));
    grid.takes_file(&root.join("scripts/browser-test/grid.toml"));
    let (presets, cases) = (Schema::of("presets"), Schema::of("cases"));
    let detectors = beside("crates/deadloop-detect/src/detectors", "grid.toml");
    detectors.iter().for_each(|file| grid.takes_file(file));
    for folder in ["detectors", "repair"] {
        let files = beside(
            &format!("crates/deadloop-detect/src/{folder}"),
            "presets.toml",
        );
        files.iter().for_each(|file| presets.takes_file(file));
    }
    files("tests/cases")
        .iter()
        .for_each(|file| cases.takes_file(file));
    let repairers = Schema::of("repairers");
    for file in [
        "crates/deadloop-replay/src/repairers/grid.toml",
        "scripts/repairers/grid.toml",
    ] {
        repairers.takes_file(&root.join(file));
    }
    let default = deadloop_replay::budget::DEFAULT_GRID;
    assert_eq!(Schema::of("budgets").refuses_toml(default), None);
    let spec = Schema::of("spec");
    for corpus in [
        "agents-shapes",
        "agents-starter",
        "circling",
        "faults",
        "negatives",
        "planted",
        "planted-text",
        "puzzles",
    ] {
        spec.takes_file(&root.join(format!("datasets/{corpus}/spec.toml")));
    }
    let forms = Schema::of("forms");
    for folder in [
        "datasets/agents-starter/forms",
        "datasets/negatives/forms",
        "datasets/faults/forms",
    ] {
        files(folder).iter().for_each(|file| forms.takes_file(file));
    }
    forms.takes_file(&root.join("datasets/puzzles/forms.toml"));
    let dataset = Schema::of("dataset");
    for corpus in [
        "agents-shapes",
        "faults",
        "local-lm",
        "negatives",
        "planted",
        "planted-text",
        "puzzles",
        "starter",
    ] {
        dataset.takes_file(&root.join(format!("datasets/{corpus}/dataset.toml")));
    }
    dataset.takes_file(&root.join("crates/deadloop/src/commands/init/files/corpus/dataset.toml"));
}

/// Every preset of every detector is a setting that the schema takes.
#[test]
fn every_preset_is_accepted() {
    let settings = Schema::of("settings");
    let run = deadloop(&["detectors", "--json"]);
    let all: Value = serde_json::from_slice(&run.stdout).expect("JSON on stdout");
    let mut count = 0;
    for detector in all.as_array().expect("a list") {
        for preset in detector["presets"].as_array().expect("a list") {
            let by_name = json!({"detector": detector["name"], "preset": preset["name"]});
            let in_full = json!({"detector": detector["name"], "params": preset["params"]});
            for guard in [by_name, in_full] {
                assert_eq!(
                    settings.refuses(&json!({"guard": [guard]})),
                    None,
                    "{preset}"
                );
                count += 1;
            }
        }
    }
    assert!(count > 20, "{count}");
}

const PERIODIC: &str = "[[guard]]\ndetector = \"periodic\"\n";

/// What the program refuses too, which is asked beside the schema.
#[test]
fn bad_settings_are_refused_by_schema_and_program() {
    let (schema, dir) = (
        Schema::of("settings"),
        tempfile::tempdir().expect("a folder"),
    );
    let checkpoint = "[[guard]]\ndetector = \"checkpoint\"\n";
    let program = "[[guard]]\ndetector = \"command\"\n";
    let bad = [
        String::new(),
        "guard = []\n".into(),
        "[[guard]]\npreset = \"document\"\n".into(),
        "[[guard]]\ndetector = \"periodc\"\n".into(),
        format!("{PERIODIC}chanel = \"answer\"\n"),
        format!("{PERIODIC}channel = \"tools\"\n"),
        format!("{PERIODIC}enabled = \"no\"\n"),
        format!("{PERIODIC}preset = \"document\"\n"),
        format!("{PERIODIC}[guard.params]\nmin_copy = 3\n"),
        format!("{PERIODIC}[guard.params]\nmin_copies = 1\n"),
        format!("{PERIODIC}[guard.params]\nmin_copies = \"three\"\n"),
        format!("{PERIODIC}[guard.params]\nmin_copies = [3, 4]\n"),
        format!("{PERIODIC}[guard.params]\nfold = \"number\"\n"),
        format!("{checkpoint}[guard.params]\ncheckpoints = []\n"),
        format!("{checkpoint}[guard.params]\ncheckpoints = [2000, 0]\n"),
        format!("{checkpoint}[guard.params]\ndelimiters = \"\"\n"),
        format!("{program}[guard.params]\ntimeout_ms = 5\n"),
        format!("{program}[guard.params]\ncommand = []\n"),
        format!("{program}[guard.params]\ncommand = [\"\", \"x\"]\n"),
        program.to_owned(),
        format!("deployment_loop_rate = 1.0\n{PERIODIC}"),
        format!("deployment_loop_rate = 0\n{PERIODIC}"),
        format!("rate = 0.1\n{PERIODIC}"),
        format!("{PERIODIC}[[model]]\nmatch = \"x\"\n"),
        format!("{PERIODIC}[[model]]\n[[model.guard]]\ndetector = \"periodic\"\n"),
        format!("{PERIODIC}[[model]]\ntask = 3\n[[model.guard]]\ndetector = \"periodic\"\n"),
        format!("{PERIODIC}chars_per_token = 0.01\n[guard.params]\nmin_chars = 100\n"),
        format!("{PERIODIC}[think]\nbloks = \"all\"\n"),
        format!("{PERIODIC}[think]\nblocks = \"some\"\n"),
    ];
    for text in &bad {
        assert!(schema.refuses_toml(text).is_some(), "taken: {text}");
        let path = program::file(dir.path(), "bad.toml", text);
        let corpus = program::file(dir.path(), "x.jsonl", "{\"id\":\"a\",\"answer\":\"x\"}\n");
        let out = dir.path().join("out").display().to_string();
        // A replay has no use for the table on thinking, and refuses a bad one all the same.
        for command in [vec!["watch"], vec!["replay", &corpus, "--out", &out]] {
            let run = deadloop(&[&command[..], &["--settings", &path]].concat());
            assert_eq!(code(&run), Some(2), "{command:?} takes: {text}");
            assert!(
                stderr(&run).contains("bad.toml"),
                "{command:?} {text}: {}",
                stderr(&run)
            );
        }
    }
}

#[test]
fn grids_have_several_values_and_settings_one() {
    let (grid, settings) = (Schema::of("grid"), Schema::of("settings"));
    for params in [
        "min_copies = [3, 4]",
        "min_chars = { from = 100, to = 400, step = 100 }",
        "min_chars = { from = 100, to = 400, factor = 1.5 }",
        "fold = [\"none\", \"digits\"]",
    ] {
        let text = format!("{PERIODIC}[guard.params]\n{params}\n");
        assert_eq!(grid.refuses_toml(&text), None, "{text}");
        assert!(settings.refuses_toml(&text).is_some(), "{text}");
    }
    for bad in [
        "[[guard]]\ndetector = \"periodic\"\nenabled = false\n".to_owned(),
        format!("{PERIODIC}[[model]]\nmatch = \"x\"\n"),
        format!("{PERIODIC}[guard.params]\nmin_copies = []\n"),
        format!("{PERIODIC}[guard.params]\nmin_copies = [3, 1]\n"),
        format!("{PERIODIC}[guard.params]\nmin_chars = {{ from = 100, to = 400 }}\n"),
        format!("{PERIODIC}[guard.params]\nmin_chars = {{ from = 1, to = 4, step = 0 }}\n"),
        format!("{PERIODIC}[guard.params]\nmin_chars = {{ from = 1, to = 4, factor = 1.0 }}\n"),
        format!("{PERIODIC}[guard.params]\nmin_chars = {{ from = 1, to = 4, stride = 1 }}\n"),
    ] {
        assert!(grid.refuses_toml(&bad).is_some(), "taken: {bad}");
    }
    let lists = "[[guard]]\ndetector = \"checkpoint\"\n[guard.params]\n\
                 checkpoints = [[2000, 3000], [500]]\n";
    assert_eq!(grid.refuses_toml(lists), None);
}

/// What the program refuses too, which is asked beside the schema; `run` is the command that reads the file.
fn bad_are_refused(kind: &str, bad: &[&str], run: &[&str]) {
    let (schema, dir) = (Schema::of(kind), tempfile::tempdir().expect("a folder"));
    for text in bad {
        assert!(schema.refuses_toml(text).is_some(), "taken: {text}");
        let path = program::file(dir.path(), "bad.toml", text);
        let out = dir.path().join("out").display().to_string();
        let words = run.iter().map(|word| match *word {
            "FILE" => path.as_str(),
            "OUT" => out.as_str(),
            word => word,
        });
        let run = deadloop(&words.collect::<Vec<_>>());
        assert_eq!(code(&run), Some(2), "the program takes: {text}");
        assert!(
            stderr(&run).contains("bad.toml"),
            "{text}: {}",
            stderr(&run)
        );
    }
}

#[test]
fn bad_repairers_are_refused_by_schema_and_program() {
    let faults = Path::new(ROOT)
        .join("datasets/faults")
        .display()
        .to_string();
    let bad = [
        "",
        "[[repairer]]\npreset = \"lenient\"\n",
        "[[repairer]]\nname = \"tag\"\n",
        "[[repairer]]\nname = \"tags\"\npreset = \"lenent\"\n",
        "[[repairer]]\nname = \"tags\"\nmode = \"x\"\n",
        "[[repairer]]\nname = \"tags\"\n[repairer.params]\nedit = 1\n",
        "[[repairer]]\nname = \"tags\"\n[repairer.params]\nedits = 99\n",
        "[[repairer]]\nname = \"tags\"\n[repairer.params]\nedits = []\n",
        "[[repairer]]\nname = \"tags\"\n[repairer.params]\nedits = { from = 0, to = 2, step = 1 }\n",
        "[[repairer]]\nname = \"tags\"\ncommand = [\"cat\"]\n",
        "[[repairer]]\nname = \"command\"\ncommand = [\"cat\"]\n",
        "[[repairer]]\nname = \"command\"\ncommand = []\nstream = \"tags\"\n",
        "[[repairer]]\nname = \"command\"\ncommand = [\"cat\"]\nstream = \"words\"\n",
    ];
    bad_are_refused(
        "repairers",
        &bad,
        &["repair", &faults, "--grid", "FILE", "--out", "OUT"],
    );
}

#[test]
fn bad_budgets_are_refused_by_schema_and_program() {
    let dir = tempfile::tempdir().expect("a folder");
    let corpus = program::file(dir.path(), "x.jsonl", "{\"id\":\"a\",\"answer\":\"x\"}\n");
    let bad = [
        "",
        "[[budget]]\npreset = \"codx\"\n",
        "[[budget]]\nwindow = 3000\n",
        "[[budget]]\n[budget.params]\nwindows = 3000\n",
        "[[budget]]\n[budget.params]\nwindow = 3\n",
        "[[budget]]\n[budget.params]\nthreshold = [0.5, 2]\n",
        "[[budget]]\n[budget.params]\nthreshold = []\n",
        "[[budget]]\n[budget.params]\npolicy = \"forget\"\n",
        "[[budget]]\n[budget.params]\nkeep = { from = 0.1, to = 0.3 }\n",
        "[[guard]]\ndetector = \"periodic\"\n",
    ];
    bad_are_refused(
        "budgets",
        &bad,
        &["budget", &corpus, "--grid", "FILE", "--out", "OUT"],
    );
}

#[test]
fn bad_cases_are_refused_by_schema_and_program() {
    let case = |rest: &str| format!("[[case]]\nname = \"x\"\n{rest}\n");
    let bad = [
        "[[cases]]\nname = \"x\"\n".to_owned(),
        "[[case]]\ntext = \"x\"\nexpect = { alarm = true }\n".to_owned(),
        case("text = \"x\""),
        case("expect = { alarm = true }"),
        case("text = \"x\"\ntranscript = \"t\"\nexpect = { alarm = true }"),
        case("text = \"x\"\nevents = []\nexpect = { alarm = true }"),
        case("events = [\"ls\"]\nexpect = { alarm = true }"),
        case("events = [{ call = \"ls\", user = \"x\" }]\nexpect = { alarm = true }"),
        case("events = [{ result = \"x\" }]\nexpect = { alarm = true }"),
        case("events = [{ repeat = [{ call = \"ls\" }] }]\nexpect = { alarm = true }"),
        case("events = [{ type = \"tool_cal\" }]\nexpect = { alarm = true }"),
        case("events = [{ cal = \"ls\" }]\nexpect = { alarm = true }"),
        case("text = 3\nexpect = { alarm = true }"),
        case("text = { repeat = \"x\" }\nexpect = { alarm = true }"),
        case("text = { repeat = \"x\", filler = 3, times = 3 }\nexpect = { alarm = true }"),
        case("text = { numbered = [], items = 3 }\nexpect = { alarm = true }"),
        case("text = { literal = \"x\", channel = \"tools\" }\nexpect = { alarm = true }"),
        case("text = \"x\"\nexpect = { alarm = \"yes\" }"),
        case("text = \"x\"\nexpect = { alarm = false, between = [0, 5] }"),
        case("text = \"x\"\nexpect = { between = [0] }"),
        case("text = \"x\"\nexpect = { between = [0, \"onset*2\"] }"),
        case("text = \"x\"\nexpect = { kind = \"odd\" }"),
        case("text = \"x\"\nexpect = { preset = \"document\" }"),
        case("text = \"x\"\nexpect = { detector = \"periodc\" }"),
        case("text = \"x\"\nexpect = { detector = \"periodic\", params = { min_copy = 3 } }"),
        case("text = \"x\"\nexpect = { alarms = true }"),
    ];
    let bad: Vec<&str> = bad.iter().map(String::as_str).collect();
    bad_are_refused("cases", &bad, &["check-cases", "FILE"]);
}

#[test]
fn presets_say_where_they_come_from() {
    let presets = Schema::of("presets");
    let good = "[x]\nabout = \"a\"\nproject = \"p\"\nfile = \"f\"\nversion = \"1\"\ndate = \"d\"\nleft_out = \"\"\n\
                [x.params]\nmin_copies = 3\n";
    assert_eq!(presets.refuses_toml(good), None);
    for (from, to) in [
        ("about", "abut"),
        ("date = \"d\"\n", ""),
        ("min_copies", "min_copy"),
        ("\"1\"", "1"),
    ] {
        assert!(
            presets.refuses_toml(&good.replace(from, to)).is_some(),
            "{from}"
        );
    }
}

#[test]
fn specs_are_read_by_the_keys_that_are_theirs() {
    let schema = Schema::of("spec");
    let spec = |item: &str| {
        format!(
            "name = \"x\"\nseed = 1\n[[source]]\nname = \"s\"\ntext = \"t.txt\"\nlang = \"en\"\n\
             [[item]]\nname = \"i\"\n{item}\n"
        )
    };
    let good = spec("kind = \"paragraph\"\ncount = 3\nonset = [[10, 20], [30, 40]]");
    assert_eq!(schema.refuses_toml(&good), None);
    for bad in [
        "kind = \"paragraph\"",
        "kind = \"paragraf\"\ncount = 3",
        "kind = \"paragraph\"\ncount = 0",
        "kind = \"clean\"\ncount = 3\nonset = 5",
        "kind = \"paragraph\"\ncount = 3\ncopies = [4, 5, 6]",
        "kind = \"paragraph\"\ncount = 3\nchunk = 5",
    ] {
        assert!(schema.refuses_toml(&spec(bad)).is_some(), "taken: {bad}");
    }
}

#[test]
fn transcripts_are_those_that_check_takes() {
    let (schema, dir) = (
        Schema::of("transcript"),
        tempfile::tempdir().expect("a folder"),
    );
    let verdict = |line: &Value| {
        let path = program::file(dir.path(), "x.jsonl", &format!("{line}\n"));
        code(&deadloop(&["check", &path, "--quiet"]))
    };
    let good = [
        json!({"id": "a", "answer": "x"}),
        json!({"id": "a", "reasoning": "y", "answer": null, "mood": 3}),
        json!({"id": "a", "text": "<think>y</think>x", "lang": "en", "meta": {"k": [1]}}),
        json!({"id": "a", "events": [{"type": "answer", "text": "x", "t_ms": 1.5, "tokens": 2},
            {"type": "tool_call", "name": "f", "arguments": {"q": 1}},
            {"type": "tool_result", "content": "r", "error": true},
            {"type": "turn"}, {"type": "finish", "reason": null}]}),
        json!({"id": "a", "answer": "xxxx", "labels": [{"class": "loop", "kind": "other", "onset": 1}]}),
        json!({"id": "a", "answer": "x", "labels": [{"class": "clean"}]}),
    ];
    for line in &good {
        assert_eq!(schema.refuses(line), None, "{line}");
        assert_eq!(verdict(line), Some(0), "{line}");
    }
    let bad = [
        json!({"answer": "x"}),
        json!({"id": "", "answer": "x"}),
        json!({"id": "a"}),
        json!({"id": "a", "model": "*", "answer": "x"}),
        json!({"id": "a", "answer": "x", "text": "y"}),
        json!({"id": "a", "answer": 3}),
        json!({"id": "a", "answer": "x", "meta": []}),
        json!({"id": "a", "events": [{"type": "thought", "text": "x"}]}),
        json!({"id": "a", "events": [{"type": "answer"}]}),
        json!({"id": "a", "events": [{"type": "tool_call"}]}),
        json!({"id": "a", "answer": "x", "labels": [{"class": "loopy"}]}),
        json!({"id": "a", "answer": "x", "labels": [{"class": "loop"}]}),
        json!({"id": "a", "answer": "x", "labels": {"class": "clean"}}),
        json!({"id": "a", "answer": "x", "labels": [{"class": "clean", "kind": "odd"}]}),
    ];
    for line in &bad {
        assert!(schema.refuses(line).is_some(), "taken: {line}");
        assert_eq!(verdict(line), Some(2), "{line}");
    }
}

#[test]
fn without_a_kind_all_are_printed() {
    let run = deadloop(&["schema"]);
    let all: Value = serde_json::from_slice(&run.stdout).expect("JSON on stdout");
    let kinds: Vec<&String> = all.as_object().expect("an object").keys().collect();
    assert_eq!(
        kinds,
        [
            "settings",
            "grid",
            "spec",
            "forms",
            "transcript",
            "dataset",
            "repairers",
            "budgets",
            "cases",
            "presets",
            "results"
        ]
    );
    let run = deadloop(&["schema", "setting"]);
    assert_eq!(code(&run), Some(2));
    assert!(stderr(&run).contains("settings"), "{}", stderr(&run));
}

/// What a run really writes is compared with it in the tests of the commands, by `tables_as_said`.
#[test]
fn the_columns_of_results_are_listed_for_people() {
    let run = deadloop(&["schema", "results"]);
    let text = String::from_utf8(run.stdout).expect("text");
    for line in [
        "outcomes.parquet (replay, tune): a row is a transcript under a setting",
        "scores.parquet (repair): a row is a variant on a fault",
    ] {
        assert!(text.lines().any(|said| said == line), "{line}\n{text}");
    }
    let onset = text.lines().find(|line| line.starts_with("  onset "));
    let words: Vec<&str> = onset.unwrap_or_default().split_whitespace().collect();
    assert_eq!(
        words.join(" "),
        "onset whole number, unit Where the second copy starts."
    );
}
