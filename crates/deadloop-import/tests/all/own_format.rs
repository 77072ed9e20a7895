//! Formats of the user: the example of the README, and files that do not describe a format.

use std::path::Path;

use deadloop_corpus::Transcript;
use deadloop_import::Import;
use deadloop_import::options::{ImportFields, ImportOptions};

const LOG: &str = r#"{"session":"s","at":"2026-01-02T03:04:05Z","kind":"ask","text":"How many files?"}
{"session":"s","at":"2026-01-02T03:04:07Z","kind":"tool","n":7,"tool":"ls","input":{"dir":"."},"output":"a.txt","failed":false,"host":"x"}
{"session":"s","at":"2026-01-02T03:04:09Z","kind":"reply","text":"One."}
{"session":"t","at":"2026-01-02T03:05:00Z","kind":"reply","text":"Nothing to do."}
{"session":"t","at":"2026-01-02T03:05:01Z","kind":"heartbeat"}
"#;

/// The format file in the README.
fn example() -> &'static str {
    let readme = include_str!("../../README.md");
    let (_, begun) = readme.split_once("```toml\n").unwrap();
    begun.split_once("```").unwrap().0
}

/// Imports the log with a format file of the same folder.
fn import(folder: &Path, format: &str, fields: ImportFields) -> Result<Import, String> {
    let paths = ["mine.toml", "log.jsonl"].map(|name| folder.join(name));
    std::fs::write(&paths[0], format).unwrap();
    std::fs::write(&paths[1], LOG).unwrap();
    let options = ImportOptions {
        format: Some(paths[0].clone()),
        fields,
        ..ImportOptions::default()
    };
    Import::new(&paths[1..], options)
}

#[test]
fn the_example_of_the_readme_reads_a_log() {
    let dir = tempfile::tempdir().unwrap();
    let mut import = import(dir.path(), example(), ImportFields::default()).unwrap();
    let entries: Vec<Transcript> = import
        .by_ref()
        .map(|entry| entry.unwrap().transcript)
        .collect();
    let said: Vec<(&str, String)> = entries
        .iter()
        .map(|t| (t.id.as_str(), t.answer()))
        .collect();
    assert_eq!(
        said,
        [("s", "One.".to_owned()), ("t", "Nothing to do.".to_owned())]
    );
    let events: Vec<String> = entries[0]
        .events
        .iter()
        .map(|e| format!("{:?}", e.body))
        .collect();
    let told = events.join("\n");
    for part in [
        "User(\"How many files?\")",
        "name: \"ls\"",
        "content: \"a.txt\"",
        "id: Some(\"7\")",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert_eq!(entries[0].events[0].t_ms, Some(0.0));
    let lost: Vec<(&str, &str)> = import
        .losses()
        .iter()
        .map(|loss| (loss.format, loss.path))
        .collect();
    // A flag of failure is read, and stays in the record.
    let names = ["[] (heartbeat)", "[].failed", "[].host"];
    assert_eq!(lost, names.map(|name| ("mine", name)));
    assert_eq!(import.formats().collect::<Vec<_>>(), [("mine", 1)]);
}

#[test]
fn a_file_that_describes_no_format_is_refused() {
    let (dir, example) = (tempfile::tempdir().unwrap(), example());
    let refused = |format: &str, fields| import(dir.path(), format, fields).err().unwrap();
    for (file, told) in [
        (String::new(), "no [[rule]]"),
        (
            example.replace("kind=ask\"\nuser", "kind=ask\"\nuesr"),
            "unknown field `uesr`",
        ),
        (example.replace("[\"session\"]", "1"), "expected a sequence"),
        (format!("shape = \"mine\"\n{example}"), "no shape \"mine\""),
    ] {
        let why = refused(&file, ImportFields::default());
        assert!(
            why.contains(told) && why.contains("mine.toml"),
            "{told}: {why}"
        );
    }
    let fields = ImportFields {
        text: Some("text".to_owned()),
        ..ImportFields::default()
    };
    let why = refused(example, fields);
    assert!(
        why.contains("mine.toml, whose texts have their places"),
        "{why}"
    );
}
