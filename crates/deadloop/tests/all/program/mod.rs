//! The program, run as a user runs it, and what it answered.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use deadloop_score::Type;
use serde_json::Value;

/// The folder of the repository.
pub(crate) const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The recordings that most tests read.
pub(crate) const STARTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../datasets/starter");

/// A temporary folder in which the program runs.
pub(crate) struct Place(tempfile::TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub(crate) fn dir(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir().join(name)
    }

    /// Writes a file, and the folders above it; gives back its name.
    pub(crate) fn file<'a>(&self, name: &'a str, text: impl AsRef<[u8]>) -> &'a str {
        let path = self.path(name);
        let above = path.parent().expect("a name in the folder");
        std::fs::create_dir_all(above).expect("a temporary folder is writable");
        std::fs::write(path, text).expect("a temporary folder is writable");
        name
    }

    #[track_caller]
    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect(name)
    }

    #[track_caller]
    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).expect(name)
    }

    #[track_caller]
    pub(crate) fn rows(&self, name: &str) -> Vec<Row> {
        rows(&self.path(name))
    }

    /// The program with the words of a line, divided by blanks; `ROOT` in them is the folder of the repository.
    pub(crate) fn command(&self, line: impl AsRef<str>) -> Command {
        let mut program = Command::new(env!("CARGO_BIN_EXE_deadloop"));
        let words = line.as_ref().split_ascii_whitespace();
        program.args(words.map(|word| word.replace("ROOT", ROOT)));
        program.current_dir(self.dir());
        program
    }

    /// Runs the words of a line, as [`Place::command`] takes them.
    pub(crate) fn run(&self, line: impl AsRef<str>) -> Output {
        self.command(line).output().expect("it starts")
    }
}

/// A row of a table, by column.
pub(crate) type Row = BTreeMap<String, String>;

/// The rows of a CSV file.
#[track_caller]
pub(crate) fn rows(path: &Path) -> Vec<Row> {
    let mut reader = csv::Reader::from_path(path).expect("a table");
    let rows = reader.deserialize().map(|row| row.expect("a row"));
    rows.collect()
}

/// Checks of what a run did.
pub(crate) trait Ran: Sized {
    /// Checks its exit code.
    fn ends(self, code: i32) -> Self;

    /// Checks words of its stderr.
    fn says(&self, words: &str) -> &Self;

    /// Checks words of its stdout.
    fn shows(&self, words: &str) -> &Self;

    /// The JSON of its stdout.
    fn json(&self) -> Value;
}

impl Ran for Output {
    #[track_caller]
    fn ends(self, code: i32) -> Self {
        let said = stderr(&self);
        assert_eq!(self.status.code(), Some(code), "{}{said}", stdout(&self));
        self
    }

    #[track_caller]
    fn says(&self, words: &str) -> &Self {
        has(&stderr(self), words);
        self
    }

    #[track_caller]
    fn shows(&self, words: &str) -> &Self {
        has(&stdout(self), words);
        self
    }

    #[track_caller]
    fn json(&self) -> Value {
        let json = serde_json::from_slice(&self.stdout);
        json.unwrap_or_else(|e| panic!("{e}: {}{}", stdout(self), stderr(self)))
    }
}

/// Checks that a text has these words.
#[track_caller]
pub(crate) fn has(text: &str, words: &str) {
    assert!(text.contains(words), "{words:?} is not in {text}");
}

/// Starts the program and hears nothing of it.
pub(crate) fn quiet(mut program: Command) -> Child {
    let unheard = program.stdout(Stdio::null()).stderr(Stdio::null());
    unheard.spawn().expect("it starts")
}

/// Every file of a result folder but the manifest, which says when and with how many threads.
pub(crate) fn result(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(dir).expect("a folder").flatten() {
        let (name, path) = (PathBuf::from(entry.file_name()), entry.path());
        if path.is_dir() {
            let inside = result(&path).into_iter();
            all.extend(inside.map(|(file, bytes)| (name.join(file), bytes)));
        } else if name != Path::new("manifest.json") {
            all.insert(name, std::fs::read(path).expect("it is a file"));
        }
    }
    all
}

/// Sends it a signal.
#[cfg(unix)]
pub(crate) fn send(child: &Child, signal: nix::sys::signal::Signal) {
    let id = i32::try_from(child.id()).expect("a number of a process");
    let id = nix::unistd::Pid::from_raw(id);
    nix::sys::signal::kill(id, signal).expect("it is there");
}

/// How it ended.
pub(crate) fn ended(child: &mut Child) -> ExitStatus {
    let mut status = None;
    until(|| {
        status = child.try_wait().expect("it can be asked");
        status.is_some()
    });
    status.expect("it ended")
}

/// Waits until this is so. The limit is for a test that would hang; it measures nothing.
pub(crate) fn until(mut so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !so() {
        assert!(began.elapsed() < Duration::from_secs(300), "it never is so");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Its exit code; none where a signal ended it.
pub(crate) fn code(output: &Output) -> Option<i32> {
    output.status.code()
}

/// What it said beside its answer.
pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Its answer.
pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Whether there is no Python; says so, and in CI fails, where everything is installed.
pub(crate) fn no_python() -> bool {
    let found = Command::new("python3").arg("--version").output();
    let missing = !found.is_ok_and(|out| out.status.success());
    if missing {
        assert!(std::env::var_os("CI").is_none(), "CI has python3");
        eprintln!("skipped: the test's programs need python3");
    }
    missing
}

/// Checks that the tables of a folder have the columns that are documented, in that order and of those types.
/// Returns the files that it checked.
pub(crate) fn tables_as_said(dir: &Path, command: &str) -> Vec<String> {
    let mut checked = Vec::new();
    for table in deadloop_score::result_tables() {
        let file = table.file;
        let path = dir.join(file);
        if !table.left_by.split(", ").any(|by| by == command) || !path.is_file() {
            continue;
        }
        let found = columns(&path);
        let has = |name: &str| found.iter().any(|(found, _)| found == name);
        let mut expected = Vec::new();
        for column in &table.columns {
            let (name, about) = (&column.name, &column.about);
            if name == "p.*" {
                let params = found.iter().filter(|(name, _)| name.starts_with("p."));
                expected.extend(params.cloned());
            } else if name != "detail" || has("detail") {
                expected.push((name.clone(), column.cell_type));
            }
            assert!(
                about.len() > 5 && about.ends_with('.'),
                "{file}: {name}: {about}"
            );
        }
        let names = |all: &[(String, Type)]| -> Vec<String> {
            all.iter().map(|(name, _)| name.clone()).collect()
        };
        if file.ends_with(".parquet") {
            assert_eq!(found, expected, "{file}");
        } else {
            assert_eq!(names(&found), names(&expected), "{file}");
        }
        checked.push(file.to_owned());
    }
    checked
}

/// The columns of a table and their types; of a CSV file all are text.
fn columns(path: &Path) -> Vec<(String, Type)> {
    use deadloop_tables::{read_csv, read_parquet};
    let file = File::open(path).expect("it is there");
    let table = if path.extension().is_some_and(|ending| ending == "csv") {
        read_csv(file, &[]).expect("CSV")
    } else {
        read_parquet(file, &[], 0..1).expect("Parquet")
    };
    let of = |of: String| match of.as_str() {
        "str" => Type::Text,
        "i64" => Type::Int,
        "f64" => Type::Float,
        other => panic!("{other}"),
    };
    let columns = table.columns().iter();
    columns
        .map(|column| (column.name().to_string(), of(column.dtype().to_string())))
        .collect()
}
