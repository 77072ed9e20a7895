//! Import of every sample in `tests/formats/import`: the transcripts are the expected ones, the format is recognized, a
//! round trip preserves the transcripts, and damage causes neither panics nor uncounted losses. A new format is tested
//! by its sample.
//!
//! `BLESS=1 cargo test -p deadloop-import --test all import` rewrites the expected transcripts.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use crate::kit;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use deadloop_corpus::{Corpus, CorpusWriter, Entry, MAX_T_MS, MAX_TOKENS, Problem};
use deadloop_import::options::{ImportFields, ImportOptions};
use deadloop_import::{Import, ImportCounts, import_formats};
use kit::{gzip, zst};
use serde_json::Value;
use tempfile::TempDir;

/// The result of an import.
struct Imported {
    entries: Vec<Entry>,
    problems: Vec<Problem>,
    counts: ImportCounts,
    formats: Vec<&'static str>,
    losses: BTreeMap<String, u64>,
    warned: u64,
    /// Skipped files of folders, by kind.
    passed: Vec<String>,
}

fn import(paths: &[PathBuf], from: Option<&str>) -> Imported {
    let from = from.map(str::to_owned);
    import_with(
        paths,
        ImportOptions {
            from,
            ..ImportOptions::default()
        },
    )
}

fn import_with(paths: &[PathBuf], options: ImportOptions) -> Imported {
    let mut import = Import::new(paths, options).unwrap();
    let (mut entries, mut problems) = (Vec::new(), Vec::new());
    for item in import.by_ref() {
        match item {
            Ok(entry) => entries.push(entry),
            Err(problem) => problems.push(problem),
        }
    }
    let imported = Imported {
        counts: import.counts(),
        formats: import.formats().map(|(name, _)| name).collect(),
        losses: import
            .losses()
            .iter()
            .map(|loss| (loss.path.to_owned(), loss.count))
            .collect(),
        warned: import.warning_count(),
        passed: import
            .skipped_kinds()
            .map(|(kind, files, _)| format!("{kind} {files}"))
            .collect(),
        entries,
        problems,
    };
    imported.is_conserved();
    imported
}

impl Imported {
    /// Checks that all input is used or rejected, and that every rejection is reported once with its place.
    fn is_conserved(&self) {
        let counts = [
            self.counts.files,
            self.counts.records,
            self.counts.transcripts,
        ];
        let rejected: u64 = counts.iter().map(|tally| tally.rejected).sum();
        assert_eq!(rejected, self.problems.len() as u64);
        assert_eq!(self.counts.transcripts.used(), self.entries.len() as u64);
        for problem in &self.problems {
            assert!(
                !problem.what.is_empty() && !problem.expected.is_empty(),
                "{problem}"
            );
            assert!(problem.to_string().contains(": "), "{problem}");
        }
    }

    /// Returns the transcripts by id, without their places.
    fn told(&self) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.jsonl");
        write(&path, &self.entries);
        let text = std::fs::read_to_string(path).unwrap();
        text.split_inclusive('\n').map(str::to_owned).collect()
    }

    /// Compares the transcripts and losses with the expected file next to the sample.
    fn differs_from_expected(&self, sample: &Path) -> Option<String> {
        let losses = self.losses.iter();
        let losses = losses.map(|(path, n)| format!("left out: {path} {n}\n"));
        let told = self.told().concat() + &losses.collect::<String>();
        let name = sample.file_name().unwrap().to_str().unwrap();
        let expected = sample.with_file_name(format!("expected/{name}.txt"));
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&expected, &told).unwrap();
        }
        let expected = std::fs::read_to_string(&expected).unwrap_or_default();
        (told != expected).then(|| format!("{name}: {told}\nbut expected is {expected}"))
    }

    fn ids(&self) -> Vec<&str> {
        let entries = self.entries.iter();
        entries.map(|entry| entry.transcript.id.as_str()).collect()
    }

    fn problem_lines(&self) -> Vec<String> {
        let line = |p: &Problem| format!("{}: {}", p.place.line, p.what);
        self.problems.iter().map(line).collect()
    }
}

fn write(path: &Path, entries: &[Entry]) {
    let mut writer = CorpusWriter::create(path, true).unwrap();
    for entry in entries {
        writer.write(entry).unwrap();
    }
    writer.finish().unwrap();
}

fn written(path: &Path) -> Vec<Entry> {
    let corpus = Corpus::open(path).unwrap();
    corpus.entries().map(Result::unwrap).collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/formats/import")
}

/// Lists all samples with their formats. A folder is one sample.
fn samples() -> Vec<(&'static str, PathBuf)> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().is_some_and(|name| name != "expected"))
        .collect();
    paths.sort();
    let format = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        let of = |format: &str| {
            let rest = name.strip_prefix(format);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.']))
        };
        let formats = import_formats()
            .map(|format| format.name)
            .filter(|format| of(format));
        let longest = formats.max_by_key(|format| format.len());
        longest
            .ok_or(name)
            .expect("a sample begins with the name of its format")
    };
    paths
        .into_iter()
        .map(|path| (format(&path), path))
        .collect()
}

/// Lists the samples that are a single text file, for damage.
fn texts() -> Vec<(&'static str, PathBuf, Vec<u8>)> {
    let files = samples().into_iter().filter(|(_, path)| path.is_file());
    files
        .map(|(format, path)| (format, path.clone(), std::fs::read(path).unwrap()))
        .collect()
}

/// Writes a damaged sample under the name of the sample.
fn damaged(path: &Path, bytes: &[u8]) -> (TempDir, PathBuf) {
    kit::file(path.file_name().unwrap().to_str().unwrap(), bytes)
}

/// Returns the format that has to be named for its files. Plain text is never recognized.
fn asked(format: &'static str) -> Option<&'static str> {
    (format == "text").then_some(format)
}

#[test]
fn every_entry_is_registered_and_has_a_sample() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/formats");
    let entry = regex::Regex::new(
        r"(?m)^\s*pub\(crate\) const \w*ENTRY: Foreign|^\s+\w+_ENTRY = |^(?:known|head)_entry! ",
    )
    .unwrap();
    let files = std::fs::read_dir(here).unwrap();
    let entries = files.map(|file| {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        // The names of columns of the format `table` are no format.
        let is_rows = path.extension().is_some_and(|ending| ending == "toml")
            && !path.ends_with("table.toml");
        entry.find_iter(&text).count() + usize::from(is_rows)
    });
    let mut names: Vec<&str> = import_formats().map(|format| format.name).collect();
    assert_eq!(entries.sum::<usize>(), names.len());
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), import_formats().count(), "names are unique");
    let sampled = samples();
    for name in names {
        assert!(
            sampled.iter().any(|(format, _)| *format == name),
            "{name} has no sample"
        );
    }
}

#[test]
fn every_sample_becomes_what_is_expected() {
    let mut wrong = Vec::new();
    for (format, path) in samples() {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let imported = import(std::slice::from_ref(&path), asked(format));
        let problems = imported.problem_lines();
        if imported.formats != [format] || !problems.is_empty() {
            wrong.push(format!("{name}: as {:?}: {problems:?}", imported.formats));
        }
        wrong.extend(imported.differs_from_expected(&path));
    }
    assert_eq!(wrong, [""; 0], "BLESS=1 writes them anew, then read them");
}

/// The formats of `examples/formats` read their samples in `tests/formats/examples`.
#[test]
fn the_examples_of_formats_read_their_samples() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let files = |folder: &str| -> BTreeMap<String, PathBuf> {
        let paths = std::fs::read_dir(root.join(folder)).unwrap();
        let paths = paths.map(|entry| entry.unwrap().path());
        let files = paths.filter(|path| path.is_file());
        let stem = |path: &PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
        files.map(|path| (stem(&path), path)).collect()
    };
    let (formats, samples) = (files("examples/formats"), files("tests/formats/examples"));
    assert!(formats.keys().eq(samples.keys()) && !formats.is_empty());
    for (name, sample) in samples {
        let options = ImportOptions {
            format: formats.get(&name).cloned(),
            ..ImportOptions::default()
        };
        let imported = import_with(std::slice::from_ref(&sample), options);
        assert_eq!(imported.problem_lines(), [""; 0], "{name}");
        assert_eq!(imported.differs_from_expected(&sample), None);
    }
}

#[test]
fn what_is_asked_for_is_what_is_told() {
    for (format, path) in samples() {
        let told = import(std::slice::from_ref(&path), self::asked(format));
        let asked = import(std::slice::from_ref(&path), Some(format));
        assert_eq!(told.told(), asked.told(), "{}", path.display());
    }
}

#[test]
fn what_is_written_is_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("x.jsonl.zst");
    for (format, path) in samples() {
        let imported = import(std::slice::from_ref(&path), asked(format));
        write(&out, &imported.entries);
        let read = written(&out);
        assert_eq!(read.len(), imported.entries.len());
        for (read, written) in read.iter().zip(&imported.entries) {
            assert_eq!(read.transcript, written.transcript, "{}", path.display());
            assert_eq!((&read.rest, &read.labels), (&written.rest, &written.labels));
        }
    }
}

/// Two token counts whose sum overflows a `u64` (found by fuzzing).
#[test]
fn numbers_beyond_all_counts_do_no_harm() {
    let number = regex::Regex::new(r#"([:\[, "])(-?[0-9]+(\.[0-9]+)?)([,\]} \n"])"#).unwrap();
    for (format, path, bytes) in texts() {
        let Ok(text) = String::from_utf8(bytes) else {
            continue;
        };
        for beyond in ["18446744073709551615", "-9223372036854775808", "1e308"] {
            let changed = number.replace_all(&text, format!("${{1}}{beyond}${{4}}"));
            let (_dir, file) = damaged(&path, changed.as_bytes());
            let imported = import(&[file], Some(format));
            let events = imported.entries.iter().flat_map(|e| &e.transcript.events);
            for event in events {
                assert!(event.t_ms.is_none_or(|t| t.abs() <= MAX_T_MS));
                assert!(event.tokens.is_none_or(|n| n <= MAX_TOKENS));
            }
        }
    }
}

#[test]
fn packing_makes_no_difference() {
    for (format, path, bytes) in texts() {
        let whole = [b"PK".as_slice(), b"PAR1", b"SQLite"];
        if whole.iter().any(|begin| bytes.starts_with(begin)) {
            continue;
        }
        let plain = import(std::slice::from_ref(&path), asked(format));
        for packed in [gzip(&bytes), zst(&bytes)] {
            let (_dir, there) = damaged(&path, &packed);
            let there = import(&[there], asked(format));
            assert_eq!(there.told(), plain.told(), "{}", path.display());
        }
    }
}

/// Returns whether the content of a cut transcript is a prefix of the whole one. A cut tag counts as text.
fn begins(cut: &Entry, whole: &Entry) -> bool {
    let tags = ["<think>", "</think>"];
    let beginning = |cut: &str, whole: &str| {
        let cuts = tags
            .iter()
            .flat_map(|tag| (0..tag.len()).map(|end| &tag[..end]));
        let mut rests = cuts.filter_map(|tag| cut.strip_suffix(tag));
        rests.any(|rest| whole.starts_with(rest))
    };
    let (cut, whole) = (&cut.transcript, &whole.transcript);
    beginning(&cut.reasoning(), &whole.reasoning()) && beginning(&cut.answer(), &whole.answer())
}

/// A cut file has no content that the whole file lacks. With each further byte, its content stays the same or grows.
#[test]
fn truncated_samples_give_what_came_before() {
    let mut wrong = Vec::new();
    for (format, path, bytes) in texts() {
        let whole = import(std::slice::from_ref(&path), Some(format));
        let step = (bytes.len() / 100).max(1);
        let mut before = 0;
        for end in (0..bytes.len()).step_by(step) {
            let (_dir, cut) = damaged(&path, &bytes[..end]);
            let cut = import(&[cut], Some(format));
            let name = path.display();
            for entry in &cut.entries {
                let id = &entry.transcript.id;
                let same = whole.entries.iter().find(|e| e.transcript.id == *id);
                // A cut may fall between a text and the id that it would have had.
                let Some(same) = same else { continue };
                if !begins(entry, same) {
                    wrong.push(format!("{name} cut at {end}: {id}"));
                }
            }
            if cut.counts.records.seen < before {
                wrong.push(format!("{name} cut at {end}: fewer records"));
            }
            before = cut.counts.records.used();
        }
    }
    assert_eq!(wrong, [""; 0]);
}

/// Checks that a damaged file yields a transcript or a problem.
fn assert_told(there: &Imported, path: &Path, from: Option<&str>, bytes: &[u8]) {
    assert!(
        !there.problems.is_empty() || there.counts.transcripts.seen > 0,
        "{} as {from:?}: neither a transcript nor a problem: {}",
        path.display(),
        String::from_utf8_lossy(bytes)
    );
}

/// Without a named format, damage is reported as a problem or has no effect. Nothing panics, and the counts are
/// consistent (as [`import`] checks).
#[test]
fn damaged_samples_are_told() {
    for (_, path, bytes) in texts() {
        for damage in damages(&bytes) {
            let (_dir, file) = damaged(&path, &damage);
            assert_told(&import(&[file], None), &path, None, &damage);
        }
    }
}

/// Returns the size of the texts, arguments and results of transcripts, in bytes.
fn held(entries: &[Entry]) -> usize {
    use deadloop_corpus::Body;
    let events = entries.iter().flat_map(|entry| &entry.transcript.events);
    let of = events.map(|event| match &event.body {
        Body::Answer(text) | Body::Reasoning(text) | Body::User(text) => text.len(),
        Body::ToolCall { arguments, .. } => arguments.to_string().len(),
        Body::ToolResult { content, .. } => content.len(),
        _ => 0,
    });
    of.sum()
}

/// Returns the number of bytes between the common prefix and the common suffix of the whole file.
fn taken(whole: &[u8], damaged: &[u8]) -> usize {
    let same = |one: &mut dyn Iterator<Item = (&u8, &u8)>| one.take_while(|(a, b)| a == b).count();
    let begin = same(&mut whole.iter().zip(damaged));
    let end = same(&mut whole.iter().rev().zip(damaged.iter().rev()));
    whole.len().saturating_sub(begin + end)
}

/// Content that is missing beyond the damage itself is reported by a problem, a warning, or a count of losses or empty
/// items.
#[test]
fn nothing_is_lost_in_silence() {
    // A name of a field that is spoilt takes the quotes, commas and escapes around its value with it.
    const AROUND: usize = 64;
    let mut silent = Vec::new();
    for (format, path, bytes) in texts() {
        let whole = import(std::slice::from_ref(&path), Some(format));
        // What is called otherwise in an archive is another file.
        let is_archive = bytes.starts_with(b"PK");
        let counted = |there: &Imported| {
            let counts = there.counts;
            there.warned + counts.files.empty + counts.records.empty + counts.transcripts.empty
        };
        // Less of another field may be left out where the record around it is.
        let more = |there: &Imported| {
            let mut losses = there.losses.iter();
            counted(there) > counted(&whole)
                || losses.any(|(path, n)| whole.losses.get(path).is_none_or(|known| n > known))
        };
        for damage in damages(&bytes) {
            let (_dir, file) = damaged(&path, &damage);
            let there = import(&[file], Some(format));
            assert_told(&there, &path, Some(format), &damage);
            let took = taken(&bytes, &damage);
            // A damage that is everywhere does not tell what it costs.
            if is_archive || took > bytes.len() / 2 {
                continue;
            }
            let lost = held(&whole.entries).saturating_sub(held(&there.entries));
            let told = !there.problems.is_empty() || more(&there);
            if lost > took + AROUND && !told {
                let name = path.file_name().unwrap().to_string_lossy();
                let mut both = bytes.iter().zip(&damage);
                let at = both.position(|(a, b)| a != b);
                silent.push(format!("{name}: {lost} bytes lost by {took} at {at:?}"));
            }
        }
    }
    assert_eq!(silent, [""; 0]);
}

/// Collects all strings of a value, with their field names.
fn strings<'v>(value: &'v Value, at: &mut Vec<&'v str>, each: &mut dyn FnMut(&[&str], &'v str)) {
    match value {
        Value::String(text) => each(at, text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, at, each)),
        Value::Object(fields) => {
            // Of a prompt of the system the length and the hash are kept.
            let role = ["role", "type"].map(|name| fields.get(name).and_then(Value::as_str));
            if role.contains(&Some("system")) {
                return;
            }
            for (name, value) in fields {
                at.push(name);
                strings(value, at, each);
                at.pop();
            }
        }
        _ => {}
    }
}

/// Every text of a sample, found without knowledge of the format, is in its transcripts or in a reported loss.
#[test]
fn every_text_of_a_source_is_there_or_named() {
    // Texts that are there in other words: JSON in texts, what names a group, what repeats a call or a result.
    const OTHERWISE: [(&str, &str); 26] = [
        ("autogen", "content"),
        ("gemini-cli-session", "text"),
        ("har", "text"),
        ("langfuse", "content"),
        ("langsmith", "content"),
        ("langsmith", "input"),
        ("openai-chat-litellm", "messages"),
        ("openai-chat-litellm", "response"),
        ("openhands", "message"),
        ("openhands", "content"),
        ("opentelemetry", "name"),
        ("opentelemetry", "attributes"),
        ("pi-compaction", "summary"),
        ("sillytavern", "send_date"),
        ("swe-agent", "replay_config"),
        ("table-alpaca-eval", "instruction"),
        ("table-completion", "completion"),
        ("table-flat", "prompt"),
        ("table-messages", "content"),
        ("table-prompt-output", "prompt"),
        ("table-reasoning", "question"),
        ("table-reasoning", "answer"),
        ("table-sharegpt", "value"),
        ("table-verl", "input"),
        ("tgi", "generated_text"),
        ("vscode", "summary"),
    ];
    let (mut seen, mut silent) = (0, Vec::new());
    for (format, path, bytes) in texts() {
        let Ok(text) = std::str::from_utf8(&bytes) else {
            continue;
        };
        let objects: Vec<Value> = match serde_json::from_str(text) {
            Ok(whole) => vec![whole],
            Err(_) => {
                let lines = text.lines().map(|line| line.trim_start_matches("data:"));
                lines
                    .filter_map(|line| serde_json::from_str(line).ok())
                    .collect()
            }
        };
        let whole = import(std::slice::from_ref(&path), Some(format));
        let told = whole.told().concat();
        let told: Vec<Value> = told
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let mut there: Vec<&str> = Vec::new();
        for value in &told {
            strings(value, &mut Vec::new(), &mut |_, text| there.push(text));
        }
        let [lines, joined] = [there.join("\n"), there.concat()];
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        for object in &objects {
            strings(object, &mut Vec::new(), &mut |at, text| {
                if text.chars().count() < 12 || !text.trim().contains(' ') {
                    return;
                }
                seen += 1;
                let written = serde_json::to_string(text).unwrap();
                let is_there = lines.contains(text.trim())
                    || joined.contains(text)
                    || lines.contains(written.trim_matches('"'));
                let named = whole
                    .losses
                    .keys()
                    .any(|path| at.iter().any(|field| path.contains(field)));
                let otherwise = OTHERWISE
                    .iter()
                    .any(|(file, field)| name.starts_with(file) && at.contains(field));
                if !is_there && !named && !otherwise {
                    silent.push(format!("{name}: {}: {text}", at.join(".")));
                }
            });
        }
    }
    assert!(seen > 300, "{seen}");
    assert_eq!(silent, [""; 0]);
}

/// Returns damaged versions of a file.
fn damages(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let step = (bytes.len() / 20).max(1);
    for at in (0..bytes.len()).step_by(step) {
        for byte in [b'\xff', b'"', b'{', b'0', b'\n', 0] {
            let mut spoilt = bytes.to_vec();
            spoilt[at] = byte;
            all.push(spoilt);
        }
        all.push([&bytes[..at], &bytes[(at + step).min(bytes.len())..], b" "].concat());
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        for (from, to) in FLIPS {
            if text.contains(from) {
                all.push(text.replace(from, to).into_bytes());
                all.push(text.replacen(from, to, 1).into_bytes());
            }
        }
        // Every value of the file in turn as something else.
        for (at, _) in text.match_indices("\":") {
            let rest = &text[at + 2..];
            let end = rest.find([',', '}', ']']).unwrap_or(rest.len());
            let other = OTHERS[all.len() % OTHERS.len()];
            all.push(format!("{}{other}{}", &text[..at + 2], &rest[end..]).into_bytes());
        }
        let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        all.push([b"\xff\xfe".as_slice(), &utf16].concat());
        all.push(utf16);
    }
    all.push([bytes, bytes].concat());
    all.push([b"\xef\xbb\xbf", bytes].concat());
    all.push([b"junk\n".as_slice(), bytes].concat());
    all.push([bytes, b"\njunk\xe9\n".as_slice()].concat());
    all
}

const OTHERS: [&str; 5] = ["7", "\"x\"", "[1]", "{\"a\":null}", "true"];

const FLIPS: [(&str, &str); 9] = [
    ("[DONE]", ""),
    ("\n\n", "\n"),
    ("\n", "\r\n"),
    ("\"id\"", "\"ID\""),
    ("null", "0"),
    ("\"type\"", "\"kind\""),
    ("{", "["),
    ("\\", ""),
    ("e", "\\u0065\\ud83d"),
];

/// Every byte of a table is changed. polars trusts the sizes in a file, so it must not see impossible ones.
#[test]
fn no_spoilt_byte_of_a_table_ends_the_import() {
    let path = folder().join("table-messages.parquet");
    let bytes = std::fs::read(&path).unwrap();
    let (_dir, file) = damaged(&path, &bytes);
    for at in 4..bytes.len() {
        for byte in [0, 1, 0x7f, 0x80, 0xff, bytes[at] ^ 0x08] {
            let mut spoilt = bytes.clone();
            spoilt[at] = byte;
            std::fs::write(&file, spoilt).unwrap();
            let there = import(std::slice::from_ref(&file), Some("table"));
            let said = !there.problems.is_empty() || there.counts.transcripts.seen > 0;
            assert!(said, "{byte} at {at}");
        }
    }
}

/// An invalid record does not affect its neighbours.
#[test]
fn a_bad_line_costs_no_other() {
    for (format, path, bytes) in texts() {
        let lines = path.extension().is_some_and(|ending| ending == "jsonl");
        if !lines {
            continue;
        }
        let whole = import(std::slice::from_ref(&path), Some(format));
        let bad = [bytes.as_slice(), b"\n{\"broken\": \n"].concat();
        let (_dir, file) = damaged(&path, &bad);
        let there = import(&[file], Some(format));
        assert_eq!(there.problems.len(), 1, "{}", path.display());
        let line = bytes.iter().filter(|byte| **byte == b'\n').count() as u64 + 2;
        assert_eq!(there.problems[0].place.line, line, "{}", path.display());
        assert_eq!(there.ids(), whole.ids(), "{}", path.display());
    }
}

/// A log that was cut inside an emoji is read, with a warning for the line.
#[test]
fn half_an_emoji_is_read_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let text = r#"an emoji \ud83d, \\ud83d and \ud83d\ude00 \udE00"#;
    let said = format!(r#"{{"role": "assistant", "content": "{text}"}}"#);
    let line = format!(r#"{{"messages": [{{"role": "user", "content": "hello"}}, {said}]}}"#);
    for (name, content) in [
        ("a.jsonl", format!("{line}\n")),
        ("a.json", format!("[\n{line}\n]\n")),
    ] {
        let path = dir.path().join(name);
        std::fs::write(&path, content).unwrap();
        let there = import(std::slice::from_ref(&path), None);
        let told = (there.problems.len(), there.warned, there.entries.len());
        assert_eq!(told, (0, 1, 1), "{name}: {:?}", there.told());
        let read = there.entries[0].transcript.answer();
        assert_eq!(read, "an emoji \u{fffd}, \\ud83d and \u{1f600} \u{fffd}");
    }
}

#[test]
fn ids_are_unique_over_all_files() {
    for (format, path) in samples() {
        let twice = import(&[path.clone(), path.clone()], asked(format));
        let once = import(std::slice::from_ref(&path), asked(format));
        let (two, one) = (twice.entries.len(), once.entries.len());
        assert_eq!(two, one, "{}", path.display());
        assert_eq!(twice.counts.transcripts.rejected, once.entries.len() as u64);
        for problem in &twice.problems {
            assert!(problem.what.contains("was used before, at"), "{problem}");
        }
    }
}

#[test]
fn a_folder_is_walked() {
    let dir = tempfile::tempdir().unwrap();
    for n in [1, 2, 10] {
        std::fs::create_dir(dir.path().join(format!("run{n}"))).unwrap();
        let line = format!("{{\"id\":\"{n}\",\"text\":\"one\"}}\n");
        std::fs::write(dir.path().join(format!("run{n}/a.jsonl")), line).unwrap();
    }
    std::fs::write(dir.path().join(".hidden"), [0]).unwrap();
    std::fs::write(dir.path().join("picture.png"), b"\x89PNG\r\n\x1a\n\0\0").unwrap();
    std::fs::write(dir.path().join("empty.txt"), b"").unwrap();
    let there = import(&[dir.path().to_path_buf()], None);
    assert_eq!(there.ids(), ["1", "2", "10"]);
    assert_eq!(there.problem_lines(), [""; 0]);
    assert_eq!(there.passed, ["binary files 1", "empty files 1"]);
    let files = there.counts.files;
    assert_eq!((files.seen, files.used(), files.empty), (5, 3, 2));
    // What is named itself has to be a recording.
    let named = [dir.path().join("picture.png"), dir.path().join("empty.txt")];
    let there = import(&named, None);
    let told = ["0: content of no known format", "0: the file is empty"];
    assert_eq!(there.problem_lines(), told);
}

/// Only texts of the model are answers or reasoning, and all of them are found.
#[test]
fn the_words_of_others_are_never_a_models() {
    const WORDS: [&str; 2] = ["USERTEXT", "TOOLTEXT"];
    let mut wrong = Vec::new();
    for (format, path, bytes) in texts() {
        let (text, name) = (String::from_utf8_lossy(&bytes), path.display());
        let there = import(std::slice::from_ref(&path), asked(format));
        let all = |of: fn(&deadloop_corpus::Transcript) -> String| -> String {
            let entries = there.entries.iter();
            entries.map(|entry| of(&entry.transcript)).collect()
        };
        let answers = all(deadloop_corpus::Transcript::answer);
        let thoughts = all(deadloop_corpus::Transcript::reasoning);
        let mut check = |what: &str, holds: bool| {
            if !holds {
                wrong.push(format!("{name}: {what}: {answers:?} after {thoughts:?}"));
            }
        };
        for word in WORDS {
            check(word, !answers.contains(word) && !thoughts.contains(word));
        }
        check("thinking said", !answers.contains("REASONING"));
        check("answer thought", !thoughts.contains("ASSISTANT"));
        let said = answers.contains("ASSISTANT The river rises");
        check("answer", said == text.contains("ASSISTANT"));
        let thought = thoughts.contains("REASONING First look");
        check("thinking", thought == text.contains("REASONING"));
        let length = ["length\"", "MAX_TOKENS", "length\\\""];
        if text.contains("ASSISTANT") && length.iter().any(|word| text.contains(word)) {
            let mut ends = there.entries.iter();
            let ended = ends.any(|entry| {
                let reason = entry.transcript.finish_reason();
                matches!(reason, Some("length" | "max_tokens"))
            });
            check("finish", ended);
        }
    }
    assert_eq!(wrong, [""; 0]);
}

/// Lines of an event log, or with an unknown role, are reported and are no answers of the model.
#[test]
fn what_is_no_message_and_who_is_unknown_are_nobodys_words() {
    let lines = [
        r#"{"role":"system","kind":"status_running","time":"2026-08-09T08:17:46Z"}"#,
        r#"{"role":"agent","kind":"message","content":"ASSISTANT I look."}"#,
        r#"{"role":"agent","kind":"tool_use","tool":"bash","content":"{\"command\":\"ls\"}"}"#,
        r#"{"role":"agent","kind":"tool_result","content":"TOOLTEXT a.txt"}"#,
        r#"{"role":"critic","content":"TOOLTEXT Not so good."}"#,
        r#"{"role":"agent","kind":"message","content":"ASSISTANT It is there."}"#,
    ];
    let (_dir, file) = kit::file("log.jsonl", lines.join("\n").as_bytes());
    let there = import(&[file], Some("messages"));
    let rejected: Vec<u64> = there.problems.iter().map(|one| one.place.line).collect();
    assert!(
        [3, 4, 5].iter().all(|line| rejected.contains(line)),
        "{rejected:?}"
    );
    let [entry] = &there.entries[..] else {
        panic!("{:?}", there.problems)
    };
    let answer = entry.transcript.answer();
    assert_eq!(answer, "ASSISTANT I look.ASSISTANT It is there.");
}

/// A file without model output is an error that describes the content.
#[test]
fn a_file_without_anything_of_a_model_is_a_problem() {
    let user =
        r#"{"type":"user","sessionId":"s","uuid":"u","message":{"role":"user","content":"hi"}}"#;
    let summary = r#"{"type":"summary","summary":"x","leafUuid":"u"}"#;
    let both = format!("{user}\n{summary}\n");
    let none = |records: &str| format!("no text, call or result of a model in {records}");
    let (one, two) = (none("1 record of claude-code"), none("2 records of table"));
    let cases = [
        ("a.jsonl", user, one.as_str()),
        ("a.jsonl", &both, "([] (summary) 1)"),
        ("a.md", "# Title\n\nWhat the user wrote.\n", "Markdown"),
        ("a.html", "<!DOCTYPE html><p>x</p>", "HTML or XML"),
        ("a.log", "INFO 10:00 started\n", "a log"),
        ("a.txt", "Just words.", "plain text"),
        ("a.csv", "id,text\n1,\n2,\n", &two),
        ("a.csv", "id,text\n", ""),
        ("openai-chat.json", "[]", &none("0 records")),
    ];
    for (name, text, what) in cases {
        let (_dir, file) = kit::file(name, text.as_bytes());
        let there = import(&[file], name.strip_suffix(".json"));
        let [said] = &there.problem_lines()[..] else {
            panic!("{text}: {:?}", there.problems)
        };
        assert!(said.contains(what), "{text}: {said:?}");
        assert_eq!(there.entries.len(), 0, "{text}");
        assert_eq!(there.counts.records.used(), 0, "{text}");
    }
}

/// A requested column that no record has is reported, with a suggestion.
#[test]
fn a_mistyped_column_is_told() {
    let text = "id,thoughts,reply,why\n1,so,yes,stop\n2,so,no,stop\n";
    let (_dir, file) = kit::file("a.csv", text.as_bytes());
    let read = |fields: ImportFields| {
        let options = ImportOptions {
            fields,
            ..ImportOptions::default()
        };
        let mut import = Import::new(std::slice::from_ref(&file), options).unwrap();
        let read: Vec<Result<Entry, Problem>> = import.by_ref().collect();
        let problems = read.iter().filter_map(|one| one.as_ref().err());
        let problems = problems.chain(import.warnings());
        let told: Vec<String> = problems.map(|told| format!("{told}")).collect();
        (read.iter().flatten().count(), told.join("\n"))
    };
    for (text, finish, count, parts) in [
        (
            "replly",
            None,
            0,
            ["no column `replly`", "did you mean \"reply\"?"],
        ),
        (
            "reply",
            Some("wy"),
            2,
            ["`finish_field`", "did you mean \"why\"?"],
        ),
        ("reply", Some("why"), 2, [""; 2]),
    ] {
        let (used, told) = read(ImportFields {
            text: Some(text.to_owned()),
            finish: finish.map(str::to_owned),
            ..ImportFields::default()
        });
        assert_eq!(used, count, "{told}");
        assert!(parts.iter().all(|part| told.contains(part)), "{told}");
        assert_eq!(told.is_empty(), parts == [""; 2], "{told}");
    }
}

/// A session is recognized even if its first typical line comes late.
#[test]
fn detection_reads_as_far_as_it_needs() {
    let summary = "{\"type\":\"summary\",\"summary\":\"x\",\"leafUuid\":\"u\"}\n";
    let queue = "{\"type\":\"queue-operation\",\"operation\":\"enqueue\",\"content\":\"hi\",\"sessionId\":\"s\"}\n";
    let long = "x".repeat(200_000);
    let image = format!(
        "{{\"type\":\"user\",\"sessionId\":\"s\",\"uuid\":\"u\",\"message\":{{\"role\":\"user\",\"content\":\"{long}\"}}}}\n"
    );
    let said = "{\"type\":\"assistant\",\"sessionId\":\"s\",\"uuid\":\"v\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Hello.\"}]}}\n";
    for head in [
        summary.repeat(2),
        summary.repeat(21),
        summary.repeat(3000),
        queue.to_owned() + &image,
        summary.repeat(400) + &image + &image,
    ] {
        let (_dir, file) = kit::file("a.jsonl", (head + said).as_bytes());
        let there = import(&[file], None);
        assert_eq!(there.formats, ["claude-code"]);
        assert_eq!(there.problem_lines(), [""; 0]);
        assert_eq!(there.entries[0].transcript.answer(), "Hello.");
    }
}

/// Arguments may be JSON in a string, at any depth, and are kept as the model wrote them.
#[test]
fn arguments_stay_as_they_were_written_however_deep() {
    for depth in [1, 120, 127, 100_000] {
        let deep = "[".repeat(depth) + &"]".repeat(depth);
        let call = format!(r#"{{"id":"c","function":{{"name":"f","arguments":"{deep}"}}}}"#);
        let line = format!(
            r#"{{"id":"a","choices":[{{"index":0,"message":{{"role":"assistant","content":null,"tool_calls":[{call}]}},"finish_reason":"tool_calls"}}]}}"#
        );
        let (dir, file) = kit::file("a.json", line.as_bytes());
        let there = import(&[file], None);
        let arguments = there.entries[0]
            .transcript
            .events
            .iter()
            .find_map(|e| match &e.body {
                deadloop_corpus::Body::ToolCall { arguments, .. } => Some(arguments),
                _ => None,
            });
        assert_eq!(arguments.unwrap().as_str(), Some(deep.as_str()), "{depth}");
        let out = dir.path().join("x.jsonl");
        write(&out, &there.entries);
        let read = written(&out);
        assert_eq!(read[0].transcript, there.entries[0].transcript);
    }
}

/// Warnings on a session log without an end, or with an unreadable chunk.
#[test]
fn a_stream_without_its_end_or_with_a_gap_is_marked() {
    let path = folder().join("agent.sse");
    let whole = std::fs::read_to_string(&path).unwrap();
    let (text, _) = whole.rsplit_once("data: [DONE]").unwrap();
    let (_dir, file) = damaged(&path, text.as_bytes());
    let there = import(&[file], None);
    assert_eq!((there.entries.len(), there.warned), (3, 1));
    let marked = |entry: &&Entry| entry.transcript.meta.contains_key("cut");
    assert_eq!(there.entries.iter().filter(marked).count(), 1);
    let broken = whole.replacen("{\"event_type\":\"llm_chunk\",\"agent_source\":\"orchestrator\",\"timestamp\":\"2025-08-01T10:00:01", "{", 1);
    let (_dir, file) = damaged(&path, broken.as_bytes());
    let there = import(&[file], None);
    assert_eq!((there.entries.len(), there.warned), (3, 0));
    assert_eq!(there.problems[0].place.line, 7);
    let gaps = |at: usize| there.entries[at].transcript.meta.contains_key("gaps");
    assert_eq!([0, 1, 2].map(gaps), [true, true, false]);
}

/// Creates a stream of chunks with ids, without roles and without an end.
fn chunks(parts: &[(&str, &str)]) -> String {
    let chunk = |(id, text): &(&str, &str)| {
        format!(
            r#"data: {{"id":"{id}","model":"m","choices":[{{"index":0,"delta":{{"content":"{text}"}}}}]}}"#
        ) + "\n\n"
    };
    parts.iter().map(chunk).collect()
}

/// An id identifies a response only if it occurs more than once.
#[test]
fn ids_cut_a_stream_only_where_they_name_responses() {
    /// Pieces with their ids, and the expected texts.
    type Case<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str]);
    let cases: [Case<'_>; 6] = [
        (&[("1", "a"), ("2", "b"), ("3", "c")], &["abc"]),
        (
            &[("1", "a"), ("2", "b"), ("1", "c"), ("2", "d")],
            &["ac", "bd"],
        ),
        (
            &[("1", "a"), ("1", "b"), ("2", "c"), ("2", "d")],
            &["ab", "cd"],
        ),
        (
            &[("1", "a"), ("2", "b"), ("3", "c"), ("3", "d"), ("1", "e")],
            &["ae", "b", "cd"],
        ),
        (&[("1", "a")], &["a"]),
        // After a response whose ids are names a new one is another response.
        (&[("1", "a"), ("1", "b"), ("2", "c")], &["ab", "c"]),
    ];
    for (parts, expected) in cases {
        let (_dir, file) = kit::file("x.sse", chunks(parts).as_bytes());
        let there = import(&[file], None);
        let answers = there.entries.iter().map(|e| e.transcript.answer());
        assert_eq!(answers.collect::<Vec<_>>(), expected, "{parts:?}");
    }
    let many: Vec<String> = (0..500).map(|n| n.to_string()).collect();
    let parts: Vec<(&str, &str)> = many.iter().map(|id| (id.as_str(), "x")).collect();
    let (_dir, file) = kit::file("x.sse", chunks(&parts).as_bytes());
    let there = import(&[file], None);
    assert_eq!(there.entries.len(), 1);
    assert_eq!(there.entries[0].transcript.answer(), "x".repeat(500));
}

/// Events of an agent server: other lines are reported, and do not affect their neighbours.
#[test]
fn an_event_that_breaks_its_schema_is_told() {
    let good = r#"{"event_type":"llm_chunk","agent_source":"a","timestamp":"2025-08-01T10:00:00","payload":{"data":"x"}}"#;
    let [name, time, payload] = ["a name", "a time as ISO 8601", "an object or a text"];
    // A field, its value (none: it is left out), and what is said of it.
    let bad = [
        ("event_type", "\" \"", "`event_type` is empty", name),
        ("agent_source", "7", "`agent_source` is a number", name),
        ("agent_source", "", "no `agent_source`", name),
        ("timestamp", "", "no `timestamp`", time),
        ("timestamp", "\"noon\"", "`timestamp` is \"noon\"", time),
        ("payload", "3", "`payload` is a number", payload),
        ("payload", "null", "`payload` is null", payload),
    ];
    for (field, value, what, expected) in bad {
        let mut event: serde_json::Map<String, Value> = serde_json::from_str(good).unwrap();
        match serde_json::from_str(value) {
            Ok(value) => event.insert(field.to_owned(), value),
            Err(_) => event.remove(field),
        };
        let broken = serde_json::to_string(&event).unwrap();
        let text = format!("{good}\n\n{broken}\n\n{good}\n\n[DONE]\n");
        let (_dir, file) = kit::file("log.sse", text.as_bytes());
        let there = import(&[file], None);
        assert_eq!(there.entries.len(), 1, "{broken}");
        let [problem] = &there.problems[..] else {
            panic!("{broken}: {:?}", there.problems)
        };
        assert_eq!((problem.place.line, problem.what.as_str()), (3, what));
        assert!(problem.expected.starts_with(expected), "{problem}");
    }
}

/// A line beyond the maximum length is reported, and does not affect its neighbours.
#[test]
fn a_huge_line_costs_no_other() {
    let good = "{\"id\":\"a\",\"choices\":[{\"message\":{\"content\":\"x\"}}]}\n";
    let huge = format!("{{\"id\":\"{}\"}}\n", "x".repeat(deadloop_corpus::MAX_LINE));
    let last = good.replace("\"a\"", "\"b\"");
    let (_dir, file) = kit::file("huge.jsonl", format!("{good}{huge}{last}").as_bytes());
    let there = import(&[file], None);
    assert_eq!(there.ids(), ["a", "b"]);
    assert_eq!(there.problem_lines(), ["2: a line that is too long"]);
}
