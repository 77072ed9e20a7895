//! Laws of import.
//!
//! The input is `format (0: recognised by the content), options, file`. Another target reads Parquet files.

use std::path::Path;

use deadloop_corpus::{Corpus, CorpusWriter, Entry, Problem, Selection};
use deadloop_import::options::{ImportFields, ImportOptions};
use deadloop_import::{Import, ImportCounts, import_formats};
use deadloop_run::{SilentHost, SurveyRequest, survey};
use deadloop_score::Case;

/// The byte between the files of a folder.
const NEXT_FILE: u8 = 0x1e;

/// Checks the laws of import on a folder of files.
pub fn import(data: &[u8]) {
    let [format, flags, file @ ..] = data else {
        return;
    };
    let dir = tempfile::tempdir().expect("a folder for the file");
    let folder = dir.path().join("in");
    std::fs::create_dir(&folder).expect("a folder");
    for (i, file) in file.split(|byte| *byte == NEXT_FILE).enumerate().take(4) {
        std::fs::write(folder.join(format!("{i}.json")), file).expect("a file is written");
    }
    let names: Vec<&str> = import_formats().map(|format| format.name).collect();
    let from = usize::from(*format) % (names.len() + 1);
    let options = ImportOptions {
        from: from.checked_sub(1).map(|from| names[from].to_owned()),
        model: (flags & 1 == 1).then(|| "m".to_owned()),
        // With a format it is refused, but for the one format that has columns of any name.
        fields: ImportFields {
            text: (flags & 2 == 2 && from == 0).then(|| "a.b".to_owned()),
            ..ImportFields::default()
        },
        ..ImportOptions::default()
    };
    let told = read(&folder, &options);
    comes_back(&told, &dir.path().join("out.jsonl"));
    // A file that is told to be no recording is passed over, and read where its format is asked for.
    if let (None, [format]) = (&options.from, told.formats.as_slice())
        && told.counts.files.rejected == 0
        && told.passed == 0
    {
        let from = Some((*format).to_owned());
        let asked = read(&folder, &ImportOptions { from, ..options });
        assert_eq!(
            transcripts(&asked),
            transcripts(&told),
            "told and asked for: {format}"
        );
    }
}

/// Checks the laws of importing Parquet.
pub fn parquet(file: &[u8]) {
    let dir = tempfile::tempdir().expect("a folder for the file");
    let folder = dir.path().join("in");
    std::fs::create_dir(&folder).expect("a folder");
    let path = folder.join("0.parquet");
    std::fs::write(&path, file).expect("a file is written");
    let told = read(&folder, &ImportOptions::default());
    comes_back(&told, &dir.path().join("out.jsonl"));
}

/// The result of an import.
struct ImportedRecording {
    entries: Vec<Entry>,
    counts: ImportCounts,
    formats: Vec<&'static str>,
    /// The number of files that are not recordings.
    passed: u64,
}

/// Imports a folder. Checks that every rejection is reported once.
fn read(folder: &Path, options: &ImportOptions) -> ImportedRecording {
    let mut import =
        Import::new(&[folder.to_path_buf()], options.clone()).expect("a folder and a format");
    let (mut entries, mut problems) = (Vec::new(), Vec::<Problem>::new());
    for item in import.by_ref() {
        match item {
            Ok(entry) => entries.push(entry),
            Err(problem) => problems.push(problem),
        }
    }
    let counts = import.counts();
    let rejected = [counts.files, counts.records, counts.transcripts].map(|tally| tally.rejected);
    assert_eq!(
        rejected.iter().sum::<u64>(),
        problems.len() as u64,
        "{problems:?}"
    );
    assert_eq!(counts.transcripts.used(), entries.len() as u64);
    problems.iter().for_each(check);
    ImportedRecording {
        counts,
        formats: import.formats().map(|(name, _)| name).collect(),
        passed: import.skipped_kinds().map(|(_, files, _)| files).sum(),
        entries,
    }
}

/// Checks that a problem has a description and an expectation, on one line.
fn check(problem: &Problem) {
    let whole = !problem.what.is_empty() && !problem.expected.is_empty();
    assert!(whole, "{problem}");
    assert!(!problem.to_string().contains('\n'), "{problem:?}");
}

/// Checks that imported transcripts, once written, are read again unchanged, and that `check` finds no problem.
fn comes_back(imported: &ImportedRecording, path: &Path) {
    // The command counts these as rejected: a label that `check` would refuse is none.
    let whole = |entry: &&Entry| Case::from_entry(entry, None, &[]).1.is_empty();
    let written: Vec<&Entry> = imported.entries.iter().filter(whole).collect();
    let mut writer = CorpusWriter::create(path, true).expect("a file");
    written
        .iter()
        .for_each(|entry| writer.write(entry).expect("a line is written"));
    writer.finish().expect("a whole file");
    let corpus = Corpus::open(path).expect("a corpus");
    let again: Result<Vec<Entry>, Problem> = corpus.entries().collect();
    let again = again.unwrap_or_else(|problem| panic!("written and not read: {problem}"));
    let known = |entry: &Entry| {
        (
            entry.transcript.clone(),
            entry.labels.clone(),
            entry.rest.clone(),
        )
    };
    let wanted: Vec<_> = written.iter().map(|entry| known(entry)).collect();
    assert_eq!(again.iter().map(known).collect::<Vec<_>>(), wanted);
    checked(&written, path);
}

/// Checks that the survey of `check` finds no problem and the same ids.
fn checked(written: &[&Entry], path: &Path) {
    let wanted = SurveyRequest {
        path,
        selection: Selection::default(),
        by: &[],
        entry: None,
        host: &SilentHost::default(),
    };
    let surveyed = survey(wanted).unwrap_or_else(|failure| panic!("written, and: {failure:?}"));
    let problems = &surveyed.problems;
    assert!(problems.is_empty(), "written, and {problems:?}");
    let ids = written.iter().map(|entry| entry.transcript.id.as_str());
    let found = surveyed.cases.iter().map(|case| &*case.id);
    assert!(found.eq(ids), "other transcripts: {:?}", surveyed.cases);
}

fn transcripts(imported: &ImportedRecording) -> Vec<&deadloop_corpus::Transcript> {
    imported
        .entries
        .iter()
        .map(|entry| &entry.transcript)
        .collect()
}
