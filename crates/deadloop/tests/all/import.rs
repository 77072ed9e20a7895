//! `deadloop import` from outside: what it leaves, what it says, its exit codes.

#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use crate::program;

use program::{deadloop_in, stderr, stdout};
use std::path::Path;

const SAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/formats/import");

/// A folder with good and bad recordings.
fn recordings() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let inside = dir.path().join("in");
    std::fs::create_dir(&inside).expect("it is writable");
    for name in ["openai-chat.jsonl", "ollama.jsonl"] {
        std::fs::copy(Path::new(SAMPLES).join(name), inside.join(name)).expect("a sample");
    }
    let bad = "{\"choices\":[{\"message\":{\"content\":\"one\"}}]}\n{\"choices\": 7}\nnonsense\n";
    std::fs::write(inside.join("bad.jsonl"), bad).expect("it is writable");
    dir
}

#[test]
fn bad_recordings_stop_it_and_nothing_is_left() {
    let dir = recordings();
    let args = ["import", "in", "--out", "corpus", "--on-bad", "fail"];
    let run = deadloop_in(dir.path(), &args);
    assert_eq!(run.status.code(), Some(2));
    let said = stderr(&run);
    let names = [
        "in/bad.jsonl:2: ",
        "in/bad.jsonl:3: not JSON",
        "nothing was written",
    ];
    assert!(names.iter().all(|name| said.contains(name)), "{said}");
    let left = std::fs::read_dir(dir.path()).expect("it is there").count();
    assert_eq!(left, 1, "only what was there");
}

/// From logs to a verdict in two commands.
#[test]
fn labels_can_be_proposed_with_the_import() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let line = |n: usize| {
        let (text, ends) = match n % 2 {
            0 => (format!("All is well with run {n}."), "stop"),
            _ => (
                format!("Let me check run {n} again. ").repeat(200),
                "length",
            ),
        };
        let message = serde_json::json!({"role": "assistant", "content": text});
        serde_json::json!({"id": format!("c{n}"), "object": "chat.completion", "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": ends}]})
        .to_string()
    };
    let lines: Vec<String> = (0..8).map(line).collect();
    std::fs::write(dir.path().join("chats.jsonl"), lines.join("\n")).expect("it is writable");
    let import = |out: &str, more: &[&str]| {
        let args = ["import", "chats.jsonl", "--out", out];
        deadloop_in(dir.path(), &[&args, more].concat())
    };
    let run = import("a", &["--label"]);
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    assert!(
        stdout(&run).contains("proposals, reviewed by nobody"),
        "{}",
        stdout(&run)
    );
    assert!(stderr(&run).contains("deadloop tune a"), "{}", stderr(&run));
    // The same rows as of a command of its own.
    assert_eq!(import("b", &[]).status.code(), Some(0));
    let run = deadloop_in(dir.path(), &["label", "b", "--json"]);
    let apart: serde_json::Value = serde_json::from_slice(&run.stdout).expect("it is JSON");
    let labels = |of: &str| std::fs::read(dir.path().join(of).join("labels.csv")).expect("written");
    assert_eq!(labels("a"), labels("b"));
    let run = import("c", &["--label", "--json"]);
    let told: serde_json::Value = serde_json::from_slice(&run.stdout).expect("it is JSON");
    assert_eq!(told["proposed"]["classes"], apart["classes"]);
    assert_eq!(told["proposed"]["classes"]["loop"]["transcripts"], 4);
    // Four loops that are copies of one another are one, too few to choose by, and that is a verdict, not "no labels".
    let run = deadloop_in(dir.path(), &["tune", "a"]);
    assert_eq!(run.status.code(), Some(5), "{}", stderr(&run));
    assert!(
        stdout(&run)
            .contains("Collect labelled loops: of 4 labelled loops 1 counts (copies of a text count once, labels in doubt do not), and 10 are the least."),
        "{}",
        stdout(&run)
    );
    // Labels that come along are not proposed anew.
    let args = ["import", "a", "--out", "d", "--label"];
    let run = deadloop_in(dir.path(), &args);
    assert!(!stdout(&run).contains("proposals"), "{}", stdout(&run));
    assert_eq!(labels("d"), labels("a"));
}

#[test]
fn bad_recordings_are_left_out_listed_and_counted() {
    let dir = recordings();
    let run = deadloop_in(
        dir.path(),
        &[
            "import", "in", "--out", "corpus", "--on-bad", "skip", "--json",
        ],
    );
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    let told: serde_json::Value = serde_json::from_slice(&run.stdout).expect("it is JSON");
    assert_eq!(
        told["files"],
        serde_json::json!({"in": 3, "used": 3, "rejected": 0})
    );
    for what in ["files", "records", "transcripts"] {
        let count = |name: &str| told[what][name].as_u64().expect("a count");
        assert_eq!(count("in"), count("used") + count("rejected"), "{what}");
    }
    assert_eq!(told["records"]["rejected"], 2);
    assert_eq!(told["models"]["qwen3-8b"], 3);
    let rejected = std::fs::read_to_string(dir.path().join("corpus/rejected.jsonl"));
    assert_eq!(rejected.expect("it is there").lines().count(), 2);
    let check = deadloop_in(dir.path(), &["check", "corpus"]);
    assert_eq!(check.status.code(), Some(0), "{}", stderr(&check));
}

#[test]
fn nothing_is_overwritten_unless_forced_and_labels_stay() {
    let dir = recordings();
    let args = ["import", "in/ollama.jsonl", "--out", "corpus"];
    assert_eq!(deadloop_in(dir.path(), &args).status.code(), Some(0));
    let labels = dir.path().join("corpus/labels.csv");
    std::fs::write(&labels, "transcript,class\nollama/1,clean\n").expect("it is writable");
    let again = deadloop_in(dir.path(), &args);
    assert_eq!(again.status.code(), Some(2));
    assert!(
        stderr(&again).contains("is there already"),
        "{}",
        stderr(&again)
    );
    let card = || std::fs::read(dir.path().join("corpus/dataset.toml")).expect("the card");
    let first = card();
    let forced = deadloop_in(dir.path(), &[args.as_slice(), &["--force"]].concat());
    assert_eq!(forced.status.code(), Some(0), "{}", stderr(&forced));
    assert_eq!(card(), first, "the same bytes");
    assert!(labels.exists());
    let left = std::fs::read_dir(dir.path()).expect("it is there").count();
    assert_eq!(left, 2, "nothing half is left");
}

/// A corpus with all that may stand in one.
fn corpus(dir: &Path, labels: &str) {
    let folder = dir.join("old");
    std::fs::create_dir_all(folder.join("transcripts")).expect("it is writable");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.join(name), text).expect("it is writable");
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
    let dir = tempfile::tempdir().expect("a temporary folder");
    corpus(
        dir.path(),
        "a,clean,,,,,,,,me,\nb,loop,other,answer,0,4,,,4,you,\"two\nlines\"\n",
    );
    let run = deadloop_in(dir.path(), &["import", "old", "--out", "new"]);
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    let said = stdout(&run);
    assert!(said.contains("2 rows of labels, 2 of splits"), "{said}");
    for name in ["labels.csv", "splits.csv", "dataset.toml"] {
        let read = |folder: &str| {
            std::fs::read_to_string(dir.path().join(folder).join(name)).expect("it is there")
        };
        assert_eq!(read("new"), read("old"), "{name}");
    }
    let new = deadloop_corpus::Corpus::open(&dir.path().join("new")).expect("a corpus");
    let entries: Vec<_> = new
        .entries()
        .map(|entry| entry.expect("a transcript"))
        .collect();
    assert_eq!(entries.len(), 2);
    let first = &entries[0].transcript;
    assert_eq!(
        (first.reasoning().as_str(), first.answer().as_str()),
        ("Hm.", "Yes.")
    );
}

/// A corpus in a folder has to be whole; what is beside it need not be.
#[test]
fn a_corpus_in_a_folder_does_not_make_its_neighbours_whole() {
    let dir = recordings();
    corpus(&dir.path().join("in"), "a,clean,,,,,,,,me,\n");
    let args = ["import", "in", "--out", "new"];
    let run = deadloop_in(dir.path(), &args);
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    let rejected = std::fs::read_to_string(dir.path().join("new/rejected.jsonl"));
    assert_eq!(rejected.expect("it is there").lines().count(), 2);
    let bad = dir.path().join("in/old/transcripts/bad.jsonl");
    std::fs::write(bad, "{\"id\":\"c\"}\n").expect("it is writable");
    let run = deadloop_in(dir.path(), &[&args[..], &["--force"]].concat());
    let said = stderr(&run);
    assert_eq!(run.status.code(), Some(2), "{said}");
    assert!(said.contains("transcripts/bad.jsonl: "), "{said}");
}

/// A transcript outside of a corpus may say its split itself.
#[test]
fn the_split_of_a_line_comes_along() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let lines = "{\"id\":\"a\",\"answer\":\"one\",\"group\":\"g\",\"split\":\"test\"}\n{\"id\":\"b\",\"answer\":\"two\",\"group\":\"h\"}\n";
    std::fs::write(dir.path().join("a.jsonl"), lines).expect("it is writable");
    let run = deadloop_in(dir.path(), &["import", "a.jsonl", "--out", "new"]);
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    let splits = std::fs::read_to_string(dir.path().join("new/splits.csv"));
    assert_eq!(splits.expect("it is there"), "transcript,split\na,test\n");
}

#[test]
fn the_transcript_of_a_bad_label_does_not_come_along() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let rows = "a,clean,,,,,,,,,\nb,clean,,,,,,,,,\nb,lop,,answer,,4,,,,,\nghost,clean,,,,,,,,,\n";
    corpus(dir.path(), rows);
    let args = ["import", "old", "--out", "new"];
    let run = deadloop_in(dir.path(), &args);
    let said = stderr(&run);
    assert_eq!(run.status.code(), Some(2), "{said}");
    for words in [
        "2 problems",
        "labels.csv:4: unknown class",
        "labels.csv:5: a label for no",
    ] {
        assert!(said.contains(words), "{words:?} in {said}");
    }
    let run = deadloop_in(dir.path(), &[&args[..], &["--on-bad", "skip"]].concat());
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    let labels = std::fs::read_to_string(dir.path().join("new/labels.csv")).expect("it is there");
    let rows: Vec<&str> = labels.lines().skip(1).collect();
    assert_eq!(rows, ["a,clean,,,,,,,,,"]);
    let check = deadloop_in(dir.path(), &["check", "new"]);
    assert_eq!(check.status.code(), Some(0), "{}", stderr(&check));
}

/// Imports a file with `--text-field`, leaving out what is bad: the counts, and the answer of each
/// transcript.
fn by_column(file: &Path, field: &str) -> (serde_json::Value, Vec<String>) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let file = file.to_str().expect("a name that is text");
    let args = [
        "import", file, "--out", "corpus", "--json", "--on-bad", "skip",
    ];
    let run = deadloop_in(dir.path(), &[&args[..], &["--text-field", field]].concat());
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    let told = serde_json::from_slice(&run.stdout).expect("it is JSON");
    let corpus = deadloop_corpus::Corpus::open(&dir.path().join("corpus")).expect("a corpus");
    let entries = corpus.entries().map(|entry| entry.expect("a transcript"));
    (
        told,
        entries.map(|entry| entry.transcript.answer()).collect(),
    )
}

#[test]
fn the_text_may_be_in_any_column_of_json_lines() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let file = dir.path().join("runs.jsonl");
    let lines = [
        r#"{"id":"a","answer":"not this","data":{"output":"<think>hm</think>one"},"n":1}"#,
        r#"{"id":"b","data":[{"output":"two"}]}"#,
        r#"{"id":"c","data.output":"three","data":7}"#,
        r#"{"id":"d","answer":"no such column"}"#,
        r#"{"id":"e","data":{"output":7}}"#,
        r#"{"id":"f","data":[{"output":"x"},{"output":"y"}]}"#,
        r#"{"id":"g","data":{"output":null}}"#,
    ];
    std::fs::write(&file, lines.join("\n")).expect("it is writable");
    let (told, answers) = by_column(&file, "data.output");
    assert_eq!(answers, ["one", "two", "three"]);
    let problems = told["problems"].as_array().expect("a list").iter();
    let problems: Vec<_> = problems
        .map(|problem| {
            (
                problem["line"].as_u64(),
                problem["what"].as_str().unwrap_or(""),
            )
        })
        .collect();
    assert_eq!(
        problems,
        [
            (Some(5), "`data.output` is a number"),
            (Some(6), "`data` is a list of 2"),
        ]
    );
    // Without the column, or with nothing in it, there is nothing of a model.
    assert_eq!(told["records"]["empty"], 2);
    // Elements of a list are named by brackets.
    let line = r#"{"data":[{"output":"x"},{"output":"y"}]}"#;
    std::fs::write(&file, line).expect("it is writable");
    assert_eq!(by_column(&file, "data[1].output").1, ["y"]);
    assert_eq!(by_column(&file, "data[].output").1, ["xy"]);
}

#[test]
fn the_text_may_be_in_any_column_of_parquet() {
    let sample = Path::new(SAMPLES).join("table-messages.parquet");
    let (told, answers) = by_column(&sample, "source");
    assert_eq!(answers, ["hand", "hand"]);
    assert_eq!(told["transcripts"]["used"], 2);
}

#[test]
fn a_text_field_is_for_formats_with_columns() {
    let dir = recordings();
    let from = |format| {
        let args = [
            "import",
            "in/ollama.jsonl",
            "--out",
            "c",
            "--text-field",
            "x",
            "--from",
            format,
        ];
        let run = deadloop_in(dir.path(), &args);
        (run.status.code(), stderr(&run))
    };
    let (code, said) = from("ollama");
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("expected none, or the format table"),
        "{said}"
    );
    // The name that it had when it read data sets alone.
    let (code, said) = from("huggingface");
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("in/ollama.jsonl: no column `x`; the columns: model, created_at, "),
        "{said}"
    );
}

#[test]
fn wrong_usage_is_told() {
    let dir = recordings();
    let code = |args: &[&str]| deadloop_in(dir.path(), args).status.code();
    assert_eq!(code(&["import", "absent", "--out", "c"]), Some(2));
    assert_eq!(
        code(&["import", "in", "--out", "c", "--from", "telepathy"]),
        Some(2)
    );
    assert_eq!(code(&["import", "--out", "c"]), Some(2));
    assert_eq!(
        code(&["import", "in", "--out", "in/ollama.jsonl/c"]),
        Some(2)
    );
    std::fs::create_dir(dir.path().join("empty")).expect("it is writable");
    assert_eq!(code(&["import", "empty", "--out", "c"]), Some(4));
    let help = deadloop_in(dir.path(), &["import", "--help"]);
    assert!(stdout(&help).contains("openai-chat"), "{}", stdout(&help));
}

#[test]
fn the_columns_of_a_csv_have_names() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let text = "id,engine,said,score\n1,m1,\"<think>hm</think>a, \"\"b\"\"\nc\",3\n2,m2,d,\n3,m2\n";
    std::fs::write(dir.path().join("runs.csv"), text).expect("it is writable");
    let import = |more: &[&str]| {
        let args = ["import", "runs.csv", "--out", "c", "--force", "--json"];
        deadloop_in(dir.path(), &[&args[..], more].concat())
    };
    // Nothing says which column is the text: that is asked, and how to answer.
    let run = import(&[]);
    assert_eq!(run.status.code(), Some(2));
    let said = stderr(&run);
    assert!(
        said.contains("with the fields id, engine, said, score"),
        "{said}"
    );
    assert!(said.contains("--text-field"), "{said}");
    let columns = ["--text-field", "said", "--model-field", "engine"];
    let run = import(&columns);
    assert_eq!(run.status.code(), Some(2));
    assert!(
        stderr(&run).contains("runs.csv:5: a row of 2 cells; expected 4, as in the header"),
        "{}",
        stderr(&run)
    );
    let run = import(&[&columns[..], &["--on-bad", "skip"]].concat());
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    let corpus = deadloop_corpus::Corpus::open(&dir.path().join("c")).expect("a corpus");
    let entries: Vec<_> = corpus
        .entries()
        .map(|e| e.expect("whole").transcript)
        .collect();
    let told = |t: &deadloop_corpus::Transcript| (t.id.clone(), t.model.clone(), t.answer());
    let told: Vec<_> = entries.iter().map(told).collect();
    let row = |id: &str, model: &str, answer: &str| (id.into(), model.into(), answer.into());
    assert_eq!(told, [row("1", "m1", "a, \"b\"\nc"), row("2", "m2", "d")]);
    assert_eq!(entries[0].reasoning(), "hm");
    assert_eq!(entries[0].meta["score"], "3");
    // A usual name needs no option.
    std::fs::write(dir.path().join("runs.csv"), "prompt,response\nq,r\n").expect("writable");
    assert_eq!(import(&[]).status.code(), Some(0));
    let wrong = import(&["--text-field", "sad"]);
    assert!(
        stderr(&wrong)
            .contains("no column `sad`; the columns: prompt, response; expected the column"),
        "{}",
        stderr(&wrong)
    );
    let wrong = import(&["--text-field", "Respons"]);
    assert!(
        stderr(&wrong).contains("did you mean response?"),
        "{}",
        stderr(&wrong)
    );
}

/// It would be waited for, maybe for ever.
#[cfg(unix)]
#[test]
fn a_pipe_in_a_folder_is_told_and_not_waited_for() {
    let dir = recordings();
    let made = std::process::Command::new("mkfifo")
        .arg(dir.path().join("in/pipe"))
        .status();
    assert!(made.expect("mkfifo is there").success());
    let run = deadloop_in(dir.path(), &["import", "in", "--out", "c"]);
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    let said = stdout(&run);
    let passed = "passed over  1 pipes, devices and links to nothing (in/pipe)";
    assert!(said.contains(passed), "{said}");
}

/// One bad file of many, an empty one and what is no session do not stop a folder, and are told.
#[test]
fn a_folder_of_sessions_is_read_past_what_is_none() {
    let dir = recordings();
    let write = |name: &str, text: &str| {
        std::fs::write(dir.path().join("in").join(name), text).expect("it is writable");
    };
    write("empty.jsonl", "");
    write("notes.md", "# Notes\n\nWhat the user wrote.\n");
    write("history.jsonl", "{\"display\":\"hi\",\"project\":\"/w\"}\n");
    let user =
        r#"{"type":"user","sessionId":"s","uuid":"u","message":{"role":"user","content":"hi"}}"#;
    write("asked.jsonl", user);
    let args = ["import", "in", "--out", "corpus", "--json"];
    let run = deadloop_in(dir.path(), &args);
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    let told: serde_json::Value = serde_json::from_slice(&run.stdout).expect("it is JSON");
    let files = serde_json::json!({"in": 7, "used": 3, "empty": 4, "rejected": 0});
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
    let left = dir.path().join("corpus/rejected.jsonl");
    assert!(left.exists(), "bad records are listed");
    let args = ["import", "in", "--out", "other", "--on-bad", "fail"];
    assert_eq!(deadloop_in(dir.path(), &args).status.code(), Some(2));
}

#[test]
fn a_dry_run_shows_a_transcript_and_writes_nothing() {
    let dir = recordings();
    let run = deadloop_in(dir.path(), &["import", "in", "--dry-run"]);
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    let said = stdout(&run);
    for words in [
        "nothing was written",
        "told as       ollama: it has what only this format has",
        "none of them",
        "one of them:",
        "transcript",
        "model ",
    ] {
        assert_eq!(
            said.contains(words),
            words != "none of them",
            "{words}: {said}"
        );
    }
    let left = std::fs::read_dir(dir.path()).expect("it is there").count();
    assert_eq!(left, 1, "only what was there");
}

/// What a developer's own agents have kept, below a home folder.
#[test]
fn the_stores_of_agents_are_found_and_imported() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let copy = |name: &str, to: &str| {
        let to = home.path().join(to);
        std::fs::create_dir_all(to.parent().expect("a folder")).expect("it is writable");
        std::fs::copy(Path::new(SAMPLES).join(name), to).expect("a sample");
    };
    copy("claude-code.jsonl", ".claude/projects/-w/a.jsonl");
    copy("codex.jsonl", ".codex/sessions/2026/01/01/rollout-a.jsonl");
    copy("pi.jsonl", ".pi/agent/sessions/w/a.jsonl");
    copy("opencode.db", ".local/share/opencode/opencode.db");
    copy("llm-db.db", ".config/io.datasette.llm/logs.db");
    copy(
        "cursor.vscdb",
        ".config/Cursor/User/globalStorage/state.vscdb",
    );
    std::fs::write(home.path().join(".claude/projects/-w/empty.jsonl"), "").expect("writable");
    let run = std::process::Command::new(env!("CARGO_BIN_EXE_deadloop"))
        .args([
            "import",
            "--from",
            "auto-agents",
            "--out",
            "corpus",
            "--json",
        ])
        .current_dir(home.path())
        .env("HOME", home.path())
        .env_remove("CLAUDE_CONFIG_DIR")
        .env_remove("CODEX_HOME")
        .env_remove("XDG_DATA_HOME")
        .env_remove("LLM_USER_PATH")
        .output()
        .expect("it runs");
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    let told: serde_json::Value = serde_json::from_slice(&run.stdout).expect("it is JSON");
    let formats = serde_json::json!({"claude-code": 1, "codex": 1, "pi": 1, "opencode": 1, "llm-db": 1, "cursor": 1});
    assert_eq!(told["formats"], formats);
    assert!(stderr(&run).contains("Claude Code: "), "{}", stderr(&run));
}

/// The same command again adds what is new: a folder that stayed as it was is not read, a session that has
/// grown is replaced, and what comes of it is what an import of all would be.
#[test]
fn an_import_that_is_resumed_adds_what_is_new() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let sample = std::fs::read_to_string(Path::new(SAMPLES).join("claude-code.jsonl"));
    let sample = sample.expect("a sample");
    let write = |path: &str, text: &str| {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("it is writable");
        std::fs::write(path, text).expect("it is writable");
    };
    let session = |id: &str| sample.replace("5e55-cc", id);
    let lines: Vec<String> = session("two").lines().map(str::to_owned).collect();
    write("logs/a/one.jsonl", &session("one"));
    write("logs/b/two.jsonl", &lines[..4].join("\n"));
    write("logs/b/bad.jsonl", &(session("bad") + "\n{\"broken\": \n"));
    let import = |out: &str| {
        let args = ["import", "logs", "--out", out, "--resume", "--json"];
        let run = deadloop_in(dir.path(), &args);
        assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
        stdout(&run)
    };
    let transcripts =
        |out: &str| -> std::collections::BTreeMap<String, deadloop_corpus::Transcript> {
            let corpus = deadloop_corpus::Corpus::open(&dir.path().join(out)).expect("a corpus");
            let entries = corpus
                .entries()
                .map(|entry| entry.expect("a transcript").transcript);
            entries
                .map(|transcript| (transcript.id.clone(), transcript))
                .collect()
        };
    import("c");
    let first = transcripts("c");
    std::fs::write(
        dir.path().join("c/labels.csv"),
        "transcript,class\none,clean\n",
    )
    .expect("writable");
    let bytes = |name: &str| std::fs::read(dir.path().join("c").join(name)).expect("it is there");
    let before = bytes("transcripts/imported.jsonl.zst");
    let told: serde_json::Value = serde_json::from_str(&import("c")).expect("it is JSON");
    assert_eq!(told["transcripts"]["in"], 0, "{told}");
    assert_eq!(bytes("transcripts/imported.jsonl.zst"), before);
    write("logs/b/two.jsonl", &lines.join("\n"));
    write("logs/c/three.jsonl", &session("three"));
    let told: serde_json::Value = serde_json::from_str(&import("c")).expect("it is JSON");
    let passed = &told["passed_over"][0];
    assert_eq!(
        (passed["files"].as_u64(), told["files"]["used"].as_u64()),
        (Some(1), Some(3)),
        "{told}"
    );
    import("whole");
    assert_eq!(transcripts("c"), transcripts("whole"));
    assert!(transcripts("c").len() > first.len());
    assert_eq!(bytes("labels.csv"), b"transcript,class\none,clean\n");
    let listed = String::from_utf8(bytes("rejected.jsonl")).expect("it is text");
    assert_eq!(listed.lines().count(), 1, "{listed}");
    // What was not made by an import is not added to.
    std::fs::remove_file(dir.path().join("c/sources.csv")).expect("it was there");
    let run = deadloop_in(dir.path(), &["import", "logs", "--out", "c", "--resume"]);
    assert_eq!(run.status.code(), Some(2));
    assert!(stderr(&run).contains("sources.csv"), "{}", stderr(&run));
}

/// A frame written by pandas: one empty cell, columns of any names.
#[test]
fn an_empty_cell_is_an_empty_output_and_columns_are_named() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let text = "uid,engine,asked,said,thought,stopped,when\n7,m,Why?,So.,Hm.,stop,2026-01-01\n8,m,What?,,,length,2026-01-02\n";
    std::fs::write(dir.path().join("f.csv"), text).expect("it is writable");
    let options = "--text-field said --reasoning-field thought --finish-field stopped --id-field uid --group-field asked --model-field engine --time-field when";
    let words = ["import", "f.csv", "--out", "c", "--json"];
    let args: Vec<&str> = words.into_iter().chain(options.split(' ')).collect();
    let run = deadloop_in(dir.path(), &args);
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    let told: serde_json::Value = serde_json::from_slice(&run.stdout).expect("it is JSON");
    let counts = serde_json::json!({"in": 2, "used": 1, "empty": 1, "rejected": 0});
    assert_eq!(told["records"], counts);
    let corpus = deadloop_corpus::Corpus::open(&dir.path().join("c")).expect("a corpus");
    let entry = corpus.entries().next().expect("one").expect("whole");
    let t = entry.transcript;
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
    std::fs::write(dir.path().join("u.csv"), usual).expect("it is writable");
    let run = deadloop_in(dir.path(), &["import", "u.csv", "--out", "u"]);
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    let said = "columns      --finish-field finish_reason --id-field id --model-field model --reasoning-field reasoning --text-field answer (by their names)";
    assert!(stdout(&run).contains(said), "{}", stdout(&run));
}

/// Many problems are summed up.
#[test]
fn more_than_five_problems_are_summed_up() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let lines = "{\"choices\": 7, \"id\": 1}\n".repeat(12);
    std::fs::write(dir.path().join("bad.jsonl"), lines).expect("it is writable");
    let args = ["import", "bad.jsonl", "--from", "openai-chat", "--out", "c"];
    let run = deadloop_in(dir.path(), &args);
    let said = stderr(&run);
    assert_eq!(run.status.code(), Some(2), "{said}");
    assert_eq!(said.matches("bad.jsonl:").count(), 5, "{said}");
    assert!(said.contains("12 problems"), "{said}");
    assert!(said.contains("… and 7 more"), "{said}");
}

/// A recording of each agent of the field becomes a run that is replayed, explained and shown.
#[test]
fn sessions_of_agents_are_replayed_and_explained() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let inside = dir.path().join("in");
    std::fs::create_dir(&inside).expect("it is writable");
    let samples = [
        ("claude-code.jsonl", "5e55-cc"),
        ("codex.jsonl", "5e55-cx"),
        ("openhands.json", "openhands"),
        ("swe-agent.traj", "swe-agent"),
        ("langsmith.jsonl", "r1"),
    ];
    for (name, _) in samples {
        std::fs::copy(Path::new(SAMPLES).join(name), inside.join(name)).expect("a sample");
    }
    let settings = "[[guard]]\ndetector = \"same-pair\"\n";
    std::fs::write(dir.path().join("guard.toml"), settings).expect("it is writable");
    let done = |args: &[&str]| {
        let run = deadloop_in(dir.path(), args);
        assert_eq!(run.status.code(), Some(0), "{args:?}: {}", stderr(&run));
        stdout(&run)
    };
    done(&["import", "in", "--out", "corpus"]);
    done(&[
        "replay",
        "corpus",
        "--settings",
        "guard.toml",
        "--out",
        "result",
    ]);
    done(&["label", "corpus"]);
    for (_, id) in samples {
        let told = done(&["explain", "corpus", id, "--settings", "guard.toml"]);
        assert!(told.contains("same-pair"), "{told}");
        let shown = done(&["show", "corpus", id]);
        assert!(shown.contains("== turn 0"), "{shown}");
        assert!(shown.contains("-- call 0"), "{shown}");
        assert!(shown.contains("-- result of call 0"), "{shown}");
    }
}

/// Two files whose records are 1 and 2: what is to be typed is said, and it works.
#[test]
fn ids_that_repeat_get_the_names_of_their_files() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let record = |id: u32| {
        format!(
            "{{\"id\":\"{id}\",\"messages\":[{{\"role\":\"assistant\",\"content\":\"It is {id}.\"}}]}}\n"
        )
    };
    for name in ["a b.jsonl", "c.jsonl"] {
        let file = dir.path().join(name);
        std::fs::write(file, record(1) + &record(2)).expect("it is writable");
    }
    let words = ["import", "a b.jsonl", "c.jsonl", "--out", "corpus"];
    let run = deadloop_in(dir.path(), &words);
    let said = stderr(&run);
    assert_eq!(run.status.code(), Some(2), "{said}");
    let whole = "  deadloop import 'a b.jsonl' c.jsonl --out corpus --prefix-ids\n";
    assert!(said.contains(whole), "{said}");
    let run = deadloop_in(dir.path(), &[&words[..], &["--prefix-ids"]].concat());
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    let shown = deadloop_in(dir.path(), &["show", "corpus", "--json"]);
    let shown = stdout(&shown);
    assert!(
        ["\"a b/1\"", "\"c/2\""].iter().all(|id| shown.contains(id)),
        "{shown}"
    );
}

/// Whoever takes a log for a corpus is told once what to type.
#[test]
fn a_log_of_another_kind_is_told_how_it_becomes_a_corpus() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let logs = dir.path().join("logs");
    std::fs::create_dir(&logs).expect("it is writable");
    let record = "{\"choices\":[{\"message\":{\"content\":\"one\"}}]}\n".repeat(3);
    std::fs::write(logs.join("a.jsonl"), record).expect("it is writable");
    for (corpus, named) in [("logs/a.jsonl", "logs/a.jsonl"), ("logs", "logs")] {
        for command in ["tune", "replay", "check", "label"] {
            let out: &[&str] = match command {
                "tune" | "replay" => &["--out", "out"],
                _ => &[],
            };
            let run = deadloop_in(dir.path(), &[&[command, corpus], out].concat());
            let said = stderr(&run);
            assert_eq!(run.status.code(), Some(2), "{command}: {said}");
            let whole = format!("deadloop import {named} --out corpus");
            assert_eq!(said.matches(&whole).count(), 1, "{command}: {said}");
            assert!(said.matches("no events").count() <= 1, "{command}: {said}");
        }
    }
}

/// A label that is none comes with no corpus: what `import` wrote, `check` reads.
#[test]
fn labels_of_an_imported_corpus_are_read() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let line = |id: &str, label: &str| {
        format!("{{\"id\":\"{id}\",\"model\":\"m\",\"answer\":\"one two\",\"labels\":{label}}}\n")
    };
    let good = line("a", "[{\"class\":\"clean\"}]");
    let bad = line("b", "[{\"class\":\"loopy\"}]") + &line("c", "7");
    std::fs::write(dir.path().join("x.jsonl"), good + &bad).expect("it is writable");
    let run = deadloop_in(dir.path(), &["import", "x.jsonl", "--out", "corpus"]);
    let said = stderr(&run);
    assert_eq!(run.status.code(), Some(2), "{said}");
    assert!(
        said.contains("x.jsonl:2") && said.contains("x.jsonl:3"),
        "{said}"
    );
    let skip = [
        "import", "x.jsonl", "--out", "corpus", "--on-bad", "skip", "--json",
    ];
    let run = deadloop_in(dir.path(), &skip);
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    let told: serde_json::Value = serde_json::from_str(&stdout(&run)).expect("JSON");
    assert_eq!(told["transcripts"]["used"], 1, "{told}");
    assert_eq!(told["transcripts"]["rejected"], 2, "{told}");
    let check = deadloop_in(dir.path(), &["check", "corpus"]);
    assert_eq!(check.status.code(), Some(0), "{}", stderr(&check));
}

/// A file that ends inside a line is a stream that was cut, as one that ends between two lines is; and a carriage return
/// ends a line.
#[test]
fn a_stream_is_taken_wherever_it_was_cut() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let whole = std::fs::read(Path::new(SAMPLES).join("openai-chat-stream.sse")).expect("a sample");
    let lines: Vec<usize> = (1..whole.len())
        .filter(|at| whole[at - 1] == b'\n')
        .collect();
    let import = |bytes: &[u8]| {
        std::fs::write(dir.path().join("x.sse"), bytes).expect("it is writable");
        let args = [
            "import",
            "x.sse",
            "--from",
            "openai-chat",
            "--out",
            "corpus",
            "--force",
            "--json",
        ];
        deadloop_in(dir.path(), &args)
    };
    let end = lines[lines.len() / 2];
    let taken = import(&whole[..end]);
    assert_eq!(taken.status.code(), Some(0), "{}", stderr(&taken));
    let next = lines[lines.len() / 2 + 1];
    // The last line is `data: [DONE]`.
    let last = whole.len() - 14..whole.len();
    for cut in (end + 1..next).step_by(5).chain(last) {
        let run = import(&whole[..cut]);
        assert_eq!(run.status.code(), Some(0), "cut at {cut}: {}", stderr(&run));
    }
    let returns: Vec<u8> = whole
        .iter()
        .map(|b| if *b == b'\n' { b'\r' } else { *b })
        .collect();
    let (plain, returned) = (import(&whole), import(&returns));
    assert_eq!(returned.status.code(), Some(0), "{}", stderr(&returned));
    let told = |run| -> serde_json::Value { serde_json::from_str(&stdout(run)).expect("JSON") };
    assert_eq!(told(&plain)["transcripts"], told(&returned)["transcripts"]);
}

/// What can run every night: labels are those of the texts that are there, a word of a person stays and is named where its
/// text is gone, and of two imports into one folder one is refused.
#[test]
fn labels_of_a_nightly_import_follow_the_texts() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, id: &str, text: &str| {
        let line = serde_json::json!({"id": id, "model": "m", "answer": text});
        std::fs::create_dir_all(dir.path().join("src")).expect("it is writable");
        std::fs::write(dir.path().join("src").join(name), format!("{line}\n")).expect("writable");
    };
    let run = || {
        let args = ["import", "src", "--resume", "--label", "--out", "o"];
        let run = deadloop_in(dir.path(), &args);
        assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
        stderr(&run)
    };
    let labels = dir.path().join("o/labels.csv");
    let rows = || -> Vec<String> {
        let text = std::fs::read_to_string(&labels).expect("labels");
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
    std::fs::write(&labels, format!("{header}\ns1,clean,,,,,,,,ann,\n")).expect("writable");
    run();
    assert_eq!(rows(), ["s1,clean", "s2,loop"]);
    write("a.jsonl", "s1", short);
    let told = run();
    assert!(told.contains("the text of s1 has changed since"), "{told}");
    assert_eq!(rows(), ["s1,clean", "s2,loop"]);
    let lock = std::fs::File::open(dir.path().join("o")).expect("a folder");
    lock.lock().expect("it is free");
    let args = ["import", "src", "--force", "--out", "o"];
    let refused = deadloop_in(dir.path(), &args);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        stderr(&refused).contains("another command"),
        "{}",
        stderr(&refused)
    );
}
