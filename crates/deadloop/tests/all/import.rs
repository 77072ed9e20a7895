//! `deadloop import` from outside: what it leaves, what it says, its exit codes.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use program::{Place, Ran, has, stderr, stdout};
use serde_json::json;
use std::path::Path;

const SAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/formats/import");

/// A folder with good and bad recordings.
fn recordings() -> Place {
    let place = Place::new();
    for name in ["openai-chat.jsonl", "ollama.jsonl"] {
        sample(&place, name, &format!("in/{name}"));
    }
    let bad = "{\"choices\":[{\"message\":{\"content\":\"one\"}}]}\n{\"choices\": 7}\nnonsense\n";
    place.file("in/bad.jsonl", bad);
    place
}

/// Copies a sample of the formats.
fn sample(place: &Place, name: &str, to: &str) {
    let sample = std::fs::read(Path::new(SAMPLES).join(name)).expect("a sample");
    place.file(to, sample);
}

/// How many files and folders there are.
fn entries(place: &Place) -> usize {
    let entries = std::fs::read_dir(place.dir()).expect("it is there");
    entries.count()
}

/// The transcripts of a corpus.
fn transcripts(place: &Place, corpus: &str) -> Vec<deadloop_corpus::Transcript> {
    let corpus = deadloop_corpus::Corpus::open(&place.path(corpus)).expect("a corpus");
    let entries = corpus.entries().map(|entry| entry.expect("a transcript"));
    entries.map(|entry| entry.transcript).collect()
}

#[test]
fn bad_recordings_stop_it_and_nothing_is_left() {
    let place = recordings();
    let run = place.run("import in --out corpus --on-bad fail").ends(2);
    run.says("in/bad.jsonl:2: ");
    run.says("in/bad.jsonl:3: not JSON");
    run.says("nothing was written");
    assert_eq!(entries(&place), 1, "only what was there");
}

/// From logs to a verdict in two commands.
#[test]
fn labels_can_be_proposed_with_the_import() {
    let place = Place::new();
    let line = |n: usize| {
        let (text, ends) = match n % 2 {
            0 => (format!("All is well with run {n}."), "stop"),
            _ => (
                format!("Let me check run {n} again. ").repeat(200),
                "length",
            ),
        };
        let message = json!({"role": "assistant", "content": text});
        json!({"id": format!("c{n}"), "object": "chat.completion", "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": ends}]})
        .to_string()
    };
    let lines: Vec<String> = (0..8).map(line).collect();
    place.file("chats.jsonl", lines.join("\n"));
    let import = "import chats.jsonl --out";
    let run = place.run(format!("{import} a --label")).ends(0);
    run.shows("proposals, reviewed by nobody");
    run.says("deadloop tune a");
    // The same rows as of a command of its own.
    place.run(format!("{import} b")).ends(0);
    let apart = place.run("label b --json").json();
    let labels = |of: &str| place.read(&format!("{of}/labels.csv"));
    assert_eq!(labels("a"), labels("b"));
    let told = place.run(format!("{import} c --label --json")).json();
    assert_eq!(told["proposed"]["classes"], apart["classes"]);
    assert_eq!(told["proposed"]["classes"]["loop"]["transcripts"], 4);
    // Four loops that are copies of one another are one, too few to choose by, and that is a verdict, not "no labels".
    let run = place.run("tune a").ends(5);
    run.shows("Collect labelled loops: a choice needs 10, and 1 of 4 counts (copies of a text count once, and labels in doubt do not count)");
    // Labels that come along are not proposed anew.
    let run = place.run("import a --out d --label");
    assert!(!stdout(&run).contains("proposals"), "{}", stdout(&run));
    assert_eq!(labels("d"), labels("a"));
}

#[test]
fn bad_recordings_are_left_out_listed_and_counted() {
    let place = recordings();
    let run = place.run("import in --out corpus --on-bad skip --json");
    let told = run.ends(0).json();
    assert_eq!(told["files"], json!({"in": 3, "used": 3, "rejected": 0}));
    for what in ["files", "records", "transcripts"] {
        let count = |name: &str| told[what][name].as_u64().expect("a count");
        assert_eq!(count("in"), count("used") + count("rejected"), "{what}");
    }
    assert_eq!(told["records"]["rejected"], 2);
    assert_eq!(told["models"]["qwen3-8b"], 3);
    let rejected = place.read("corpus/rejected.jsonl");
    assert_eq!(rejected.lines().count(), 2);
    place.run("check corpus").ends(0);
}

#[test]
fn nothing_is_overwritten_unless_forced_and_labels_stay() {
    let place = recordings();
    let import = "import in/ollama.jsonl --out corpus";
    place.run(import).ends(0);
    place.file("corpus/labels.csv", "transcript,class\nollama/1,clean\n");
    place.run(import).ends(2).says("is there already");
    let first = place.read("corpus/dataset.toml");
    place.run(format!("{import} --force")).ends(0);
    assert_eq!(place.read("corpus/dataset.toml"), first, "the same bytes");
    assert!(place.path("corpus/labels.csv").exists());
    assert_eq!(entries(&place), 2, "nothing half is left");
}

/// A corpus with all that may stand in one.
fn corpus(place: &Place, folder: &str, labels: &str) {
    let write = |name: &str, text: &str| {
        place.file(&format!("{folder}/{name}"), text);
    };
    write("README.md", "What this is.\n");
    write(
        "dataset.toml",
        "name = \"old\"\n[think]\nopened_in_prompt = [\"r1*\"]\n",
    );
    let header = "transcript,class,kind,channel,start,onset,earliest,end,period,by,note";
    write("labels.csv", &format!("{header}\n{labels}"));
    write("splits.csv", "transcript,split\na,dev\nb,test\n");
    write(
        "transcripts/all.jsonl",
        "{\"id\":\"a\",\"model\":\"r1\",\"text\":\"Hm.</think>Yes.\"}\n{\"id\":\"b\",\"answer\":\"two two\"}\n",
    );
}

#[test]
fn of_a_corpus_labels_splits_and_card_come_along() {
    let place = Place::new();
    let rows = "a,clean,,,,,,,,me,\nb,loop,other,answer,0,4,,,4,you,\"two\nlines\"\n";
    corpus(&place, "old", rows);
    let run = place.run("import old --out new").ends(0);
    run.shows("2 rows of labels, 2 of splits");
    for name in ["labels.csv", "splits.csv", "dataset.toml"] {
        let read = |folder: &str| place.read(&format!("{folder}/{name}"));
        assert_eq!(read("new"), read("old"), "{name}");
    }
    let all = transcripts(&place, "new");
    assert_eq!(all.len(), 2);
    assert_eq!(all[0].reasoning(), "Hm.");
    assert_eq!(all[0].answer(), "Yes.");
}

/// A corpus in a folder has to be whole; what is beside it need not be.
#[test]
fn a_corpus_in_a_folder_does_not_make_its_neighbours_whole() {
    let place = recordings();
    corpus(&place, "in/old", "a,clean,,,,,,,,me,\n");
    place.run("import in --out new").ends(0);
    let rejected = place.read("new/rejected.jsonl");
    assert_eq!(rejected.lines().count(), 2);
    place.file("in/old/transcripts/bad.jsonl", "{\"id\":\"c\"}\n");
    let run = place.run("import in --out new --force").ends(2);
    run.says("transcripts/bad.jsonl: ");
}

/// A transcript outside of a corpus may say its split itself.
#[test]
fn the_split_of_a_line_comes_along() {
    let place = Place::new();
    let lines = "{\"id\":\"a\",\"answer\":\"one\",\"group\":\"g\",\"split\":\"test\"}\n{\"id\":\"b\",\"answer\":\"two\",\"group\":\"h\"}\n";
    place.file("a.jsonl", lines);
    place.run("import a.jsonl --out new").ends(0);
    assert_eq!(place.read("new/splits.csv"), "transcript,split\na,test\n");
}

#[test]
fn the_transcript_of_a_bad_label_does_not_come_along() {
    let place = Place::new();
    let rows = "a,clean,,,,,,,,,\nb,clean,,,,,,,,,\nb,lop,,answer,,4,,,,,\nghost,clean,,,,,,,,,\n";
    corpus(&place, "old", rows);
    let run = place.run("import old --out new").ends(2);
    run.says("2 problems");
    run.says("labels.csv:4: unknown class");
    run.says("labels.csv:5: a label for no");
    place.run("import old --out new --on-bad skip").ends(0);
    let labels = place.read("new/labels.csv");
    let rows: Vec<&str> = labels.lines().skip(1).collect();
    assert_eq!(rows, ["a,clean,,,,,,,,,"]);
    place.run("check new").ends(0);
}

/// Imports a file with `--text-field`, leaving out what is bad: the counts, and the answer of each
/// transcript.
fn by_column(place: &Place, file: &str, field: &str) -> (serde_json::Value, Vec<String>) {
    let import = "--out corpus --force --json --on-bad skip --text-field";
    let run = place.run(format!("import {file} {import} {field}"));
    let all = transcripts(place, "corpus");
    let answers = all.iter().map(|transcript| transcript.answer()).collect();
    (run.ends(0).json(), answers)
}

#[test]
fn the_text_may_be_in_any_column_of_json_lines() {
    let place = Place::new();
    let lines = [
        r#"{"id":"a","answer":"not this","data":{"output":"<think>hm</think>one"},"n":1}"#,
        r#"{"id":"b","data":[{"output":"two"}]}"#,
        r#"{"id":"c","data.output":"three","data":7}"#,
        r#"{"id":"d","answer":"no such column"}"#,
        r#"{"id":"e","data":{"output":7}}"#,
        r#"{"id":"f","data":[{"output":"x"},{"output":"y"}]}"#,
        r#"{"id":"g","data":{"output":null}}"#,
    ];
    place.file("runs.jsonl", lines.join("\n"));
    let (told, answers) = by_column(&place, "runs.jsonl", "data.output");
    assert_eq!(answers, ["one", "two", "three"]);
    let problems = told["problems"].as_array().expect("a list").iter();
    let problems: Vec<_> = problems.map(|one| (&one["line"], &one["what"])).collect();
    let (number, list) = (
        json!("`data.output` is a number"),
        json!("`data` is a list of 2"),
    );
    assert_eq!(problems, [(&json!(5), &number), (&json!(6), &list)]);
    // Without the column, or with nothing in it, there is nothing of a model.
    assert_eq!(told["records"]["empty"], 2);
    // Elements of a list are named by brackets.
    let line = r#"{"data":[{"output":"x"},{"output":"y"}]}"#;
    place.file("runs.jsonl", line);
    let one = |field: &str| by_column(&place, "runs.jsonl", field).1;
    assert_eq!(one("data[1].output"), ["y"]);
    assert_eq!(one("data[].output"), ["xy"]);
}

#[test]
fn the_text_may_be_in_any_column_of_parquet() {
    let place = Place::new();
    sample(&place, "table-messages.parquet", "table.parquet");
    let (told, answers) = by_column(&place, "table.parquet", "source");
    assert_eq!(answers, ["hand", "hand"]);
    assert_eq!(told["transcripts"]["used"], 2);
}

#[test]
fn a_text_field_is_for_formats_with_columns() {
    let place = recordings();
    let from = |format: &str| {
        let import = "import in/ollama.jsonl --out c --text-field x --from";
        place.run(format!("{import} {format}")).ends(2)
    };
    from("ollama").says("expected none, or the format table");
    // The name that it had when it read data sets alone.
    from("huggingface").says("in/ollama.jsonl: no column `x`; the columns: model, created_at, ");
}

#[test]
fn wrong_usage_is_told() {
    let place = recordings();
    std::fs::create_dir(place.path("empty")).expect("it is writable");
    for (line, code) in [
        ("import absent --out c", 2),
        ("import in --out c --from telepathy", 2),
        ("import --out c", 2),
        ("import in --out in/ollama.jsonl/c", 2),
        ("import empty --out c", 4),
    ] {
        place.run(line).ends(code);
    }
    place.run("import --help").shows("openai-chat");
}

#[test]
fn the_columns_of_a_csv_have_names() {
    let place = Place::new();
    let text = "id,engine,said,score\n1,m1,\"<think>hm</think>a, \"\"b\"\"\nc\",3\n2,m2,d,\n3,m2\n";
    place.file("runs.csv", text);
    let import = |more: &str| place.run(format!("import runs.csv --out c --force --json {more}"));
    // Nothing says which column is the text: that is asked, and how to answer.
    let run = import("").ends(2);
    run.says("with the fields id, engine, said, score");
    run.says("--text-field");
    let columns = "--text-field said --model-field engine";
    let run = import(columns).ends(2);
    run.says("runs.csv:5: a row of 2 cells; expected 4, as in the header");
    import(&format!("{columns} --on-bad skip")).ends(0);
    let all = transcripts(&place, "c");
    let told = |t: &deadloop_corpus::Transcript| (t.id.clone(), t.model.clone(), t.answer());
    let told: Vec<_> = all.iter().map(told).collect();
    let row = |id: &str, model: &str, answer: &str| (id.into(), model.into(), answer.into());
    assert_eq!(told, [row("1", "m1", "a, \"b\"\nc"), row("2", "m2", "d")]);
    assert_eq!(all[0].reasoning(), "hm");
    assert_eq!(all[0].meta["score"], "3");
    // A usual name needs no option.
    place.file("runs.csv", "prompt,response\nq,r\n");
    import("").ends(0);
    let wrong = import("--text-field sad");
    wrong.says("no column `sad`; the columns: prompt, response; expected the column");
    let wrong = import("--text-field Respons");
    wrong.says("did you mean \"response\"?");
}

/// It would be waited for, maybe for ever.
#[cfg(unix)]
#[test]
fn a_pipe_in_a_folder_is_told_and_not_waited_for() {
    let place = recordings();
    let made = std::process::Command::new("mkfifo")
        .arg(place.path("in/pipe"))
        .status();
    assert!(made.expect("mkfifo is there").success());
    let run = place.run("import in --out c").ends(0);
    run.shows("passed over  1 pipes, devices and links to nothing (in/pipe)");
}

/// One bad file of many, an empty one and what is no session do not stop a folder, and are told.
#[test]
fn a_folder_of_sessions_is_read_past_what_is_none() {
    let place = recordings();
    place.file("in/empty.jsonl", "");
    place.file("in/notes.md", "# Notes\n\nWhat the user wrote.\n");
    place.file(
        "in/history.jsonl",
        "{\"display\":\"hi\",\"project\":\"/w\"}\n",
    );
    let user =
        r#"{"type":"user","sessionId":"s","uuid":"u","message":{"role":"user","content":"hi"}}"#;
    place.file("in/asked.jsonl", user);
    let told = place.run("import in --out corpus --json").ends(0).json();
    let files = json!({"in": 7, "used": 3, "empty": 4, "rejected": 0});
    assert_eq!(told["files"], files);
    let kinds = told["passed_over"].as_array().expect("a list").iter();
    let kinds: Vec<_> = kinds.filter_map(|kind| kind["kind"].as_str()).collect();
    assert_eq!(
        kinds,
        [
            "JSON of no known format",
            "Markdown",
            "claude-code: nothing of a model in them",
            "empty files"
        ]
    );
    assert_eq!(told["records"]["rejected"], 2);
    let left = place.path("corpus/rejected.jsonl");
    assert!(left.exists(), "bad records are listed");
    place.run("import in --out other --on-bad fail").ends(2);
}

#[test]
fn a_dry_run_shows_a_transcript_and_writes_nothing() {
    let place = recordings();
    let said = stdout(&place.run("import in --dry-run").ends(0));
    for words in [
        "nothing was written",
        "detected      ollama: it has what only this format has",
        "one of them:",
        "transcript",
        "model ",
    ] {
        has(&said, words);
    }
    assert!(!said.contains("none of them"), "{said}");
    assert_eq!(entries(&place), 1, "only what was there");
}

/// What a developer's own agents have kept, below a home folder.
#[test]
fn the_stores_of_agents_are_found_and_imported() {
    let home = Place::new();
    for (name, to) in [
        ("claude-code.jsonl", ".claude/projects/-w/a.jsonl"),
        ("codex.jsonl", ".codex/sessions/2026/01/01/rollout-a.jsonl"),
        ("pi.jsonl", ".pi/agent/sessions/w/a.jsonl"),
        ("opencode.db", ".local/share/opencode/opencode.db"),
        (
            "cursor.vscdb",
            ".config/Cursor/User/globalStorage/state.vscdb",
        ),
    ] {
        sample(&home, name, to);
    }
    home.file(".claude/projects/-w/empty.jsonl", "");
    let mut import = home.command("import --from auto-agents --out corpus --json");
    import.env("HOME", home.dir());
    for name in "CLAUDE_CONFIG_DIR CODEX_HOME XDG_DATA_HOME".split(' ') {
        import.env_remove(name);
    }
    let run = import.output().expect("it runs").ends(0);
    let told = run.json();
    let formats = json!({"claude-code": 1, "codex": 1, "pi": 1, "opencode": 1, "cursor": 1});
    assert_eq!(told["formats"], formats);
    run.says("Claude Code: ");
}

/// The same command again adds what is new: a folder that stayed as it was is not read, a session that has
/// grown is replaced, and what comes of it is what an import of all would be.
#[test]
fn an_import_that_is_resumed_adds_what_is_new() {
    let place = Place::new();
    let sample = std::fs::read_to_string(Path::new(SAMPLES).join("claude-code.jsonl"));
    let sample = sample.expect("a sample");
    let session = |id: &str| sample.replace("5e55-cc", id);
    let lines: Vec<String> = session("two").lines().map(str::to_owned).collect();
    place.file("logs/a/one.jsonl", session("one"));
    place.file("logs/b/two.jsonl", lines[..4].join("\n"));
    place.file("logs/b/bad.jsonl", session("bad") + "\n{\"broken\": \n");
    let import = |out: &str| {
        let run = place.run(format!("import logs --out {out} --resume --json"));
        run.ends(0).json()
    };
    let sorted = |out: &str| {
        let mut all = transcripts(&place, out);
        all.sort_by(|one, other| one.id.cmp(&other.id));
        all
    };
    import("c");
    let first = transcripts(&place, "c");
    let labels = "transcript,class\none,clean\n";
    place.file("c/labels.csv", labels);
    let written = || place.bytes("c/transcripts/imported.jsonl.zst");
    let before = written();
    let told = import("c");
    assert_eq!(told["transcripts"]["in"], 0, "{told}");
    assert_eq!(written(), before);
    place.file("logs/b/two.jsonl", lines.join("\n"));
    place.file("logs/c/three.jsonl", session("three"));
    let told = import("c");
    assert_eq!(told["passed_over"][0]["files"], 1, "{told}");
    assert_eq!(told["files"]["used"], 3, "{told}");
    import("whole");
    assert_eq!(sorted("c"), sorted("whole"));
    assert!(sorted("c").len() > first.len());
    assert_eq!(place.read("c/labels.csv"), labels);
    let listed = place.read("c/rejected.jsonl");
    assert_eq!(listed.lines().count(), 1, "{listed}");
    // What was not made by an import is not added to.
    std::fs::remove_file(place.path("c/sources.csv")).expect("it was there");
    let run = place.run("import logs --out c --resume").ends(2);
    run.says("sources.csv");
}

/// A frame written by pandas: one empty cell, columns of any names.
#[test]
fn an_empty_cell_is_an_empty_output_and_columns_are_named() {
    let place = Place::new();
    let text = "uid,engine,asked,said,thought,stopped,when\n7,m,Why?,So.,Hm.,stop,2026-01-01\n8,m,What?,,,length,2026-01-02\n";
    place.file("f.csv", text);
    let told = place
        .run("import f.csv --out c --json --text-field said --reasoning-field thought --finish-field stopped --id-field uid --group-field asked --model-field engine --time-field when")
        .ends(0)
        .json();
    let counts = json!({"in": 2, "used": 1, "empty": 1, "rejected": 0});
    assert_eq!(told["records"], counts);
    let t = &transcripts(&place, "c")[0];
    assert_eq!((t.id.as_str(), t.model.as_str()), ("7", "m"));
    assert_eq!(
        (t.reasoning().as_str(), t.answer().as_str()),
        ("Hm.", "So.")
    );
    assert_eq!(t.finish_reason(), Some("stop"));
    assert_eq!(t.group.as_deref(), Some("Why?"));
    assert_eq!(t.meta["time"], "2026-01-01");
    // Usual names are guessed, and the guess is said as what would repeat it.
    let usual = "id,model,reasoning,answer,finish_reason\n1,m,Hm.,So.,stop\n";
    place.file("u.csv", usual);
    let run = place.run("import u.csv --out u").ends(0);
    run.shows("columns      --finish-field finish_reason --id-field id --model-field model --reasoning-field reasoning --text-field answer (by their names)");
}

/// A file of rows describes the format of a user's own log.
#[test]
fn a_format_of_ones_own_is_a_file() {
    let place = Place::new();
    let rows = "id = [\"session\"]\n\n[[rule]]\nwhen = \"kind=reply\"\nanswer = \"text\"\n";
    place.file("mine.toml", rows);
    let log = json!({"session": "s", "kind": "reply", "text": "One."});
    place.file("log.jsonl", format!("{log}\n"));
    let import = "import log.jsonl --out c --format";
    place.run(format!("{import} mine.toml")).ends(0);
    let t = &transcripts(&place, "c")[0];
    assert_eq!((t.id.as_str(), t.answer().as_str()), ("s", "One."));
    let run = place.run(format!("{import} none.toml --force")).ends(2);
    run.says("none.toml");
}

/// Many problems are summed up.
#[test]
fn more_than_five_problems_are_summed_up() {
    let place = Place::new();
    place.file("bad.jsonl", "{\"choices\": 7, \"id\": 1}\n".repeat(12));
    let run = place.run("import bad.jsonl --from openai-chat --out c");
    let said = stderr(&run.ends(2));
    assert_eq!(said.matches("bad.jsonl:").count(), 5, "{said}");
    assert!(said.contains("12 problems"), "{said}");
    assert!(said.contains("… and 7 more"), "{said}");
}

/// A recording of each agent of the field becomes a run that is replayed, explained and shown.
#[test]
fn sessions_of_agents_are_replayed_and_explained() {
    let place = Place::new();
    let samples = [
        ("claude-code.jsonl", "5e55-cc"),
        ("codex.jsonl", "5e55-cx"),
        ("openhands.json", "openhands"),
        ("swe-agent.traj", "swe-agent"),
        ("langsmith.jsonl", "r1"),
    ];
    for (name, _) in samples {
        sample(&place, name, &format!("in/{name}"));
    }
    place.file("guard.toml", "[[guard]]\ndetector = \"same-pair\"\n");
    place.run("import in --out corpus").ends(0);
    let replay = "replay corpus --settings guard.toml --out result";
    place.run(replay).ends(0);
    place.run("label corpus").ends(0);
    for (_, id) in samples {
        let told = place.run(format!("explain corpus {id} --settings guard.toml"));
        told.ends(0).shows("same-pair");
        let shown = place.run(format!("show corpus {id}")).ends(0);
        for words in ["== turn 0", "-- call 0", "-- result of call 0"] {
            shown.shows(words);
        }
    }
}

/// Two files whose records are 1 and 2: what is to be typed is said, and it works.
#[test]
fn ids_that_repeat_get_the_names_of_their_files() {
    let place = Place::new();
    let record = |id: u32| {
        format!(
            "{{\"id\":\"{id}\",\"messages\":[{{\"role\":\"assistant\",\"content\":\"It is {id}.\"}}]}}\n"
        )
    };
    for name in ["a b.jsonl", "c.jsonl"] {
        place.file(name, record(1) + &record(2));
    }
    let import = |more: &[&str]| {
        let mut import = place.command("import");
        import.args(["a b.jsonl", "c.jsonl", "--out", "corpus"]);
        import.args(more).output().expect("it starts")
    };
    let run = import(&[]).ends(2);
    run.says("  deadloop import 'a b.jsonl' c.jsonl --out corpus --prefix-ids\n");
    import(&["--prefix-ids"]).ends(0);
    let shown = place.run("show corpus --json");
    shown.shows("\"a b/1\"").shows("\"c/2\"");
}

/// Whoever takes a log for a corpus is told once what to type.
#[test]
fn a_log_of_another_kind_is_told_how_it_becomes_a_corpus() {
    let place = Place::new();
    let record = "{\"choices\":[{\"message\":{\"content\":\"one\"}}]}\n".repeat(3);
    place.file("logs/a.jsonl", record);
    for corpus in ["logs/a.jsonl", "logs"] {
        for command in ["tune --out out", "replay --out out", "check", "label"] {
            let said = stderr(&place.run(format!("{command} {corpus}")).ends(2));
            let whole = format!("deadloop import {corpus} --out corpus");
            assert_eq!(said.matches(&whole).count(), 1, "{command}: {said}");
            assert!(said.matches("no events").count() <= 1, "{command}: {said}");
        }
    }
}

/// A label that is none comes with no corpus: what `import` wrote, `check` reads.
#[test]
fn labels_of_an_imported_corpus_are_read() {
    let place = Place::new();
    let line = |id: &str, label: &str| {
        format!("{{\"id\":\"{id}\",\"model\":\"m\",\"answer\":\"one two\",\"labels\":{label}}}\n")
    };
    let good = line("a", "[{\"class\":\"clean\"}]");
    let bad = line("b", "[{\"class\":\"loopy\"}]") + &line("c", "7");
    place.file("x.jsonl", good + &bad);
    let import = "import x.jsonl --out corpus";
    place
        .run(import)
        .ends(2)
        .says("x.jsonl:2")
        .says("x.jsonl:3");
    let run = place.run(format!("{import} --on-bad skip --json"));
    let told = run.ends(0).json();
    assert_eq!(told["transcripts"]["used"], 1, "{told}");
    assert_eq!(told["transcripts"]["rejected"], 2, "{told}");
    place.run("check corpus").ends(0);
}

/// A file that ends inside a line is a stream that was cut, as one that ends between two lines is; and a carriage return
/// ends a line.
#[test]
fn a_stream_is_taken_wherever_it_was_cut() {
    let place = Place::new();
    let whole = std::fs::read(Path::new(SAMPLES).join("openai-chat-stream.sse")).expect("a sample");
    let lines: Vec<usize> = (1..whole.len())
        .filter(|at| whole[at - 1] == b'\n')
        .collect();
    let import = |bytes: &[u8]| {
        place.file("x.sse", bytes);
        place
            .run("import x.sse --from openai-chat --out corpus --force --json")
            .ends(0)
            .json()
    };
    let end = lines[lines.len() / 2];
    import(&whole[..end]);
    let next = lines[lines.len() / 2 + 1];
    // The last line is `data: [DONE]`.
    let last = whole.len() - 14..whole.len();
    for cut in (end + 1..next).step_by(5).chain(last) {
        import(&whole[..cut]);
    }
    let returns: Vec<u8> = whole
        .iter()
        .map(|b| if *b == b'\n' { b'\r' } else { *b })
        .collect();
    let (plain, returned) = (import(&whole), import(&returns));
    assert_eq!(plain["transcripts"], returned["transcripts"]);
}

/// What can run every night: labels are those of the texts that are there, a word of a person stays and is named where its
/// text is gone, and of two imports into one folder one is refused.
#[test]
fn labels_of_a_nightly_import_follow_the_texts() {
    let place = Place::new();
    let write = |name: &str, id: &str, text: &str| {
        let line = json!({"id": id, "model": "m", "answer": text});
        place.file(&format!("src/{name}"), format!("{line}\n"));
    };
    let run = || place.run("import src --resume --label --out o").ends(0);
    let rows = || -> Vec<String> {
        let text = place.read("o/labels.csv");
        let begin = |line: &str| line.split(',').take(2).collect::<Vec<_>>().join(",");
        text.lines().skip(1).map(begin).collect()
    };
    let short = "It goes over hill and dale, and then it is over. ";
    let long = short.to_owned() + &"Wait, let me look at it again. ".repeat(60);
    write("a.jsonl", "s1", short);
    run();
    assert_eq!(rows(), ["s1,clean"]);
    write("a.jsonl", "s1", &long);
    write("b.jsonl", "s2", &long);
    run();
    assert_eq!(rows(), ["s1,loop", "s2,loop"]);
    // Labels that are gone come again though no recording is new; a word of a person is kept, and named as stale.
    let header = "transcript,class,kind,channel,start,onset,earliest,end,period,by,note";
    place.file("o/labels.csv", format!("{header}\ns1,clean,,,,,,,,ann,\n"));
    run();
    assert_eq!(rows(), ["s1,clean", "s2,loop"]);
    write("a.jsonl", "s1", short);
    run().says("the text of s1 has changed since");
    assert_eq!(rows(), ["s1,clean", "s2,loop"]);
    let lock = std::fs::File::open(place.path("o")).expect("a folder");
    lock.lock().expect("it is free");
    let refused = place.run("import src --force --out o").ends(2);
    refused.says("another command");
}

/// The output of an agent with lines of the program that ran it is refused by name, with each of those lines, and read
/// beside others, or where bad records are left out: its transcripts are those of the output alone.
#[test]
fn the_lines_of_a_program_around_a_stream_are_named_and_left_out() {
    let stream = std::fs::read_to_string(Path::new(SAMPLES).join("claude-code-stream.jsonl"));
    let stream = stream.expect("a sample");
    let last = 2 + stream.lines().count();
    for own in ["{\"event\":\"runner\",\"ts\":1}", "the runner starts"] {
        let place = Place::new();
        place.file("alone/a.jsonl", &stream);
        place.file("in/a.jsonl", format!("{own}\n{stream}{own}\n"));
        let refused = place.run("import in/a.jsonl --out refused").ends(2);
        refused.says("2 problems");
        for line in [1, last] {
            refused.says(&format!("a.jsonl:{line}: "));
        }
        assert!(!place.path("refused").exists());
        place.run("import alone/a.jsonl --out alone-out").ends(0);
        let said = |corpus: &str| -> Vec<_> {
            let all = transcripts(&place, corpus).into_iter();
            all.map(|one| (one.id, one.model, one.events)).collect()
        };
        for (words, out) in [("in", "folder"), ("in/a.jsonl --on-bad skip", "named")] {
            place.run(format!("import {words} --out {out}")).ends(0);
            assert_eq!(said(out), said("alone-out"), "{own} {words}");
            let left = place.read(&format!("{out}/rejected.jsonl"));
            assert_eq!(left.lines().count(), 2, "{left}");
        }
    }
}

/// What the user wrote is there however a conversation was recorded: of a request with its response as of its messages.
#[test]
fn a_request_with_its_response_replays_as_its_messages() {
    let place = Place::new();
    let unit = "Roses are red. ".repeat(60);
    let asked = json!({"role": "user", "content": format!("Write this exactly: {unit}")});
    let answer = json!({"role": "assistant", "content": &unit});
    let choice = json!({"index": 0, "message": &answer, "finish_reason": "stop"});
    let response =
        json!({"id": "c", "object": "chat.completion", "model": "m", "choices": [choice]});
    let request = json!({"model": "m", "messages": [&asked]});
    let pair = json!({"request": request, "response": response});
    place.file("pair.jsonl", pair.to_string());
    let messages = json!({"model": "m", "messages": [&asked, &answer]});
    place.file("messages.jsonl", messages.to_string());
    for (prompt, alarms) in [("skip", 0), ("check", 1)] {
        let guard = format!("[[guard]]\ndetector = \"periodic\"\nprompt = \"{prompt}\"\n");
        place.file("guard.toml", guard);
        for from in ["pair", "messages"] {
            let out = format!("{from}-{prompt}");
            place
                .run(format!("import {from}.jsonl --out {out}"))
                .ends(0);
            let replay = format!("replay {out} --settings guard.toml --csv --out {out}-out");
            place.run(replay).ends(0);
            let rows = place.read(&format!("{out}-out/outcomes.csv"));
            let found = rows
                .lines()
                .filter(|line| line.contains("periodic"))
                .count();
            assert_eq!(found, alarms, "{out}: {rows}");
        }
    }
}
