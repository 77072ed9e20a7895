//! Import of recordings as users have them (`tests/formats/found`), compared with `right.txt`. All texts are attributed
//! to the right speaker. `BLESS=1 cargo test -p deadloop-import --test all found` rewrites `right.txt`, which has to be
//! reviewed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use deadloop_corpus::{Body, Entry, RecordedEvent};
use deadloop_import::Import;
use deadloop_import::options::ImportOptions;

const FOUND: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/formats/found");

/// Lists the files of a folder and its subfolders.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| !path.ends_with("right.txt")).collect();
    paths.sort();
    let of = |path: PathBuf| {
        if path.is_dir() {
            files(&path)
        } else {
            vec![path]
        }
    };
    paths.into_iter().flat_map(of).collect()
}

/// Imports a file. Also returns the reason for its format.
fn read(file: &Path) -> (String, Vec<Entry>) {
    let files = [file.to_path_buf()];
    let mut import = Import::new(&files, ImportOptions::default()).unwrap();
    let entries = import.by_ref().map(|entry| entry.unwrap()).collect();
    let format = import.formats().map(|(name, _)| name).collect();
    (format, entries)
}

/// Describes the transcripts of a file in one line.
fn told(name: &str, format: &str, entries: &[Entry]) -> String {
    let events = || entries.iter().flat_map(|entry| &entry.transcript.events);
    let chars = |of: fn(&Body) -> bool| {
        let texts = events().filter(|event| of(&event.body));
        let length = |event: &RecordedEvent| match &event.body {
            Body::Reasoning(text) | Body::Answer(text) | Body::User(text) => text.chars().count(),
            _ => 0,
        };
        texts.map(length).sum::<usize>()
    };
    let number = |of: fn(&Body) -> bool| events().filter(|event| of(&event.body)).count();
    let ends = events().filter_map(|event| match &event.body {
        Body::Finish { reason } => Some(reason.as_deref().unwrap_or("unsaid")),
        _ => None,
    });
    let models = entries.iter().map(|entry| entry.transcript.model.as_str());
    let set = |words: BTreeSet<&str>| words.into_iter().collect::<Vec<_>>().join(" ");
    let ends = set(ends.collect());
    format!(
        "{name}: {format}, transcripts {}, model {}, reasoning {}, answer {}, user {}, calls {}, results {}, end {}\n",
        entries.len(),
        set(models.collect()),
        chars(|body| matches!(body, Body::Reasoning(_))),
        chars(|body| matches!(body, Body::Answer(_))),
        chars(|body| matches!(body, Body::User(_))),
        number(|body| matches!(body, Body::ToolCall { .. })),
        number(|body| matches!(body, Body::ToolResult { .. })),
        if ends.is_empty() { "none" } else { &ends },
    )
}

/// A word, and a test for the events of the only speaker whose texts contain it.
type Mark = (&'static str, fn(&Body) -> bool);

const MARKS: [Mark; 5] = [
    ("ASSISTANT", |body| matches!(body, Body::Answer(_))),
    ("REASONING", |body| matches!(body, Body::Reasoning(_))),
    ("USERTEXT", |body| matches!(body, Body::User(_))),
    ("CALLTEXT", |body| matches!(body, Body::ToolCall { .. })),
    ("TOOLTEXT", |body| matches!(body, Body::ToolResult { .. })),
];

#[test]
fn found_recordings_are_read_and_nothing_is_somebody_elses() {
    let mut all = String::new();
    let mut marked = 0;
    for file in files(Path::new(FOUND)) {
        let name = file.strip_prefix(FOUND).unwrap().display().to_string();
        let (format, entries) = read(&file);
        let bytes = std::fs::read(&file).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        for (mark, is_his) in MARKS {
            let said = |event: &&RecordedEvent| format!("{:?}", event.body).contains(mark);
            let events = entries.iter().flat_map(|entry| &entry.transcript.events);
            let mut events = events.filter(said).peekable();
            // What was asked may be no part of a run: then it is its group.
            let kept = mark == "USERTEXT" || !text.contains(mark) || events.peek().is_some();
            assert!(kept, "{name}: {mark} is lost");
            marked += u64::from(events.peek().is_some());
            assert!(events.all(|event| is_his(&event.body)), "{name}: {mark}");
        }
        all += &told(&name, &format, &entries);
    }
    assert!(marked > 100, "{marked}");
    let right = Path::new(FOUND).join("right.txt");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&right, &all).unwrap();
    }
    assert_eq!(all, std::fs::read_to_string(right).unwrap());
}
