//! Import of agents' databases: with a log, during writes, damaged, or of another program. No file is written next to
//! them.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use deadloop_corpus::{Entry, Problem};
use deadloop_import::Import;
use deadloop_import::options::ImportOptions;
use rusqlite::Connection;
use tempfile::TempDir;

/// Copies a sample to a new folder.
fn sample(name: &str) -> (TempDir, PathBuf) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/formats/import");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::copy(from.join(name), &path).unwrap();
    (dir, path)
}

/// Imports a path, and checks that its folder is unchanged.
fn import(path: &Path, from: Option<&str>) -> (Vec<Entry>, Vec<Problem>) {
    let before = listing(path);
    let options = ImportOptions {
        from: from.map(str::to_owned),
        ..ImportOptions::default()
    };
    let mut import = Import::new(&[path.to_path_buf()], options).unwrap();
    let (mut entries, mut problems) = (Vec::new(), Vec::new());
    for item in import.by_ref() {
        match item {
            Ok(entry) => entries.push(entry),
            Err(problem) => problems.push(problem),
        }
    }
    assert_eq!(import.counts().transcripts.used(), entries.len() as u64);
    drop(import);
    assert!(listing(path) == before, "the folder changed");
    (entries, problems)
}

/// Lists the files in the folder of a path, with their content. The index of a log is shared memory, so its content is
/// omitted.
fn listing(path: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let folder = std::fs::read_dir(path.parent().unwrap()).unwrap();
    let files = folder.map(|file| file.unwrap().path());
    let held = |file: &Path| {
        let is_index = file.to_string_lossy().ends_with("-shm");
        let bytes = (!is_index).then(|| std::fs::read(file).unwrap());
        bytes.unwrap_or_default()
    };
    files.map(|file| (file.clone(), held(&file))).collect()
}

fn answers(entries: &[Entry]) -> Vec<String> {
    let entries = entries.iter();
    entries.map(|entry| entry.transcript.answer()).collect()
}

fn one(problems: &[Problem]) -> String {
    assert_eq!(problems.len(), 1, "{problems:?}");
    problems[0].to_string()
}

const MORE: &str = "INSERT INTO messages (id, session_id, role, parts, created_at, updated_at)
    VALUES (?1, 's1', 'assistant', '[{\"type\":\"text\",\"data\":{\"text\":\" And so on.\"}}]', 1764000009, 0)";

/// A sample with a log that contains the last change.
fn logged() -> (TempDir, PathBuf, Connection) {
    let (dir, path) = sample("crush.db");
    let writer = Connection::open(&path).unwrap();
    writer.pragma_update(None, "journal_mode", "wal").unwrap();
    writer.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    writer.execute(MORE, ["m8"]).unwrap();
    (dir, path, writer)
}

#[test]
fn a_database_that_is_being_written_is_read_as_of_one_moment() {
    let (_dir, path, writer) = logged();
    writer.execute_batch("BEGIN").unwrap();
    writer.execute(MORE, ["m9"]).unwrap();
    let (entries, problems) = import(&path, None);
    assert_eq!(problems, []);
    let said = &answers(&entries)[0];
    assert!(said.ends_with("lake.  And so on."), "{said}");
    writer.execute_batch("COMMIT").unwrap();
    let (entries, _) = import(&path, None);
    assert!(answers(&entries)[0].ends_with(" And so on. And so on."));
}

#[test]
fn a_log_that_was_left_is_read_or_refused() {
    let (_dir, path, writer) = logged();
    let left = tempfile::tempdir().unwrap();
    let copy = left.path().join("crush.db");
    for end in ["", "-wal", "-shm"] {
        let named = |path: &Path| PathBuf::from(format!("{}{end}", path.display()));
        std::fs::copy(named(&path), named(&copy)).unwrap();
    }
    drop(writer);
    let (entries, problems) = import(&copy, None);
    assert_eq!(problems, []);
    assert!(answers(&entries)[0].ends_with(" And so on."));
    std::fs::remove_file(left.path().join("crush.db-shm")).unwrap();
    let (entries, problems) = import(&copy, None);
    assert_eq!(entries.len(), 0);
    assert!(one(&problems).contains("without the log's index (-shm)"));
    assert!(one(&problems).contains("crush.db"));
    // Its program has closed it: all is in the database, and no file is made beside it.
    let (entries, problems) = import(&path, None);
    assert_eq!((entries.len(), problems), (1, vec![]));
}

#[test]
fn a_database_that_is_locked_is_told() {
    let (_dir, path) = sample("crush.db");
    let writer = Connection::open(&path).unwrap();
    writer.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let (entries, problems) = import(&path, None);
    assert_eq!(entries.len(), 0);
    let told = one(&problems);
    let parts = ["locked", "does not write"];
    assert!(parts.iter().all(|part| told.contains(part)), "{told}");
}

#[test]
fn another_database_says_which_tables_it_has() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mine.db");
    let mine = Connection::open(&path).unwrap();
    mine.execute_batch(
        "CREATE TABLE notes (id, text); CREATE VIEW cursorDiskKV AS SELECT 1 AS key, 2 AS value",
    )
    .unwrap();
    drop(mine);
    let told = one(&import(&path, None).1);
    for part in [
        "mine.db",
        "a SQLite database with the tables notes",
        "opencode, crush, goose, cursor, open-webui",
    ] {
        assert!(told.contains(part), "{told}");
    }
    assert_eq!(one(&import(&path, Some("crush")).1), told);
    // In a folder it is passed over.
    let mut folder = Import::new(&[dir.path().to_path_buf()], ImportOptions::default()).unwrap();
    assert_eq!(folder.by_ref().count(), 0);
    let skipped = folder.skipped_kinds().map(|(kind, n, _)| (kind, n));
    assert!(skipped.eq([("SQLite databases that are not read", 1)]));
    let (_dir, path) = sample("crush.db");
    let told = one(&import(&path, Some("goose")).1);
    let right = "a database of crush, and no recording of goose";
    assert!(told.contains(right), "{told}");
}

#[test]
fn a_broken_row_costs_that_row_alone() {
    let (_dir, path) = sample("crush.db");
    let writer = Connection::open(&path).unwrap();
    let broken = "UPDATE messages SET parts = '{\"broken' WHERE id = 'm1';
        UPDATE messages SET parts = x'ff' WHERE id = 'm2'";
    writer.execute_batch(broken).unwrap();
    drop(writer);
    let (entries, problems) = import(&path, None);
    assert!(answers(&entries)[0].starts_with("ASSISTANT The river rises"));
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    let [json, utf8] = ["2: `parts`: not JSON", "3: `parts` is not UTF-8"];
    assert!(told[0].contains(&format!("crush.db/s1:{json}")), "{told:?}");
    assert!(told[1].contains(&format!("crush.db/s1:{utf8}")), "{told:?}");
}

/// All of a hundred sessions are imported, even if one is too large to be in memory with the others.
#[test]
fn sessions_come_one_at_a_time_in_their_order() {
    let (_dir, path) = sample("crush.db");
    let mut writer = Connection::open(&path).unwrap();
    let all = writer.transaction().unwrap();
    all.execute("DELETE FROM messages", ()).unwrap();
    all.execute("DELETE FROM sessions", ()).unwrap();
    for n in 0..100 {
        let id = format!("s{n}");
        let session =
            "INSERT INTO sessions (id, title, updated_at, created_at) VALUES (?1, 't', 0, ?2)";
        all.execute(session, (&id, 1000 - n)).unwrap();
        let text = "x".repeat(if n == 50 { 3_000_000 } else { 10 });
        let parts = format!("[{{\"type\":\"text\",\"data\":{{\"text\":\"{text}\"}}}}]");
        let message = "INSERT INTO messages (id, session_id, role, parts, created_at, updated_at)
            VALUES (?1, ?1, 'assistant', ?2, 0, 0)";
        all.execute(message, (&id, parts)).unwrap();
    }
    all.commit().unwrap();
    let (entries, problems) = import(&path, None);
    assert_eq!(problems, []);
    let ids = entries.iter().map(|entry| entry.transcript.id.clone());
    let expected = (0..100).rev().map(|n| format!("s{n}"));
    assert!(ids.eq(expected));
    assert_eq!(answers(&entries)[49].len(), 3_000_000);
}
