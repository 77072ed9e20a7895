//! What README and `docs/` show of a terminal is what the program says: each block of the language `console` under the mark
//! `<!-- run -->` is run, command by command, in one folder a file.
//!
//! A block under `<!-- file: NAME -->` is written there before. A line `…` stands for any lines, and `…` inside a line for any
//! text. stdout and stderr are one. A command that is followed by `$ test $? = N` may end with N; any other ends with 0.
//!
//! What users read is short, names nothing that only its authors have, and every page is in the contents of the site.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says why"
)]

use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const MARK: &str = "<!-- run -->";

/// A command and what is shown of its answer.
#[derive(Debug, PartialEq)]
struct Shown {
    command: String,
    answer: Vec<String>,
}

/// The commands of all marked blocks of a page, in order.
fn commands(page: &str) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    let mut lines = page.lines();
    while lines.any(|line| line == MARK) {
        assert_eq!(lines.next(), Some("```console"), "after {MARK}");
        for line in lines.by_ref().take_while(|line| *line != "```") {
            match (line.strip_prefix("$ "), found.last_mut()) {
                (Some(command), _) => found.push(Shown {
                    command: command.into(),
                    answer: Vec::new(),
                }),
                (None, Some(last)) if last.command.ends_with('\\') => {
                    last.command.push('\n');
                    last.command.push_str(line);
                }
                (None, Some(last)) => last.answer.push(line.into()),
                (None, None) => panic!("an answer without a command: {line}"),
            }
        }
    }
    found
}

/// The files that a page shows, by name.
fn files(page: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let name = line
            .strip_prefix("<!-- file: ")
            .and_then(|name| name.strip_suffix(" -->"));
        if let Some(name) = name {
            let text = lines.by_ref().skip(1).take_while(|line| *line != "```");
            found.push((
                name.to_owned(),
                text.map(|line| format!("{line}\n")).collect(),
            ));
        }
    }
    found
}

/// Whether a line is what is shown of it.
fn is_line(shown: &str, line: &str) -> bool {
    let mut parts = shown.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Whether lines are what is shown of them; blanks at their ends do not count.
fn is_answer(shown: &[String], lines: &[&str]) -> bool {
    match shown.split_first() {
        None => lines.is_empty(),
        Some((any, rest)) if any == "…" => {
            (0..=lines.len()).any(|skip| is_answer(rest, &lines[skip..]))
        }
        Some((first, rest)) => lines.split_first().is_some_and(|(line, others)| {
            is_line(first.trim_end(), line.trim_end()) && is_answer(rest, others)
        }),
    }
}

/// Runs the blocks of a page in a folder that has the walk's recordings, the datasets and the scripts.
fn run(page: &Path) {
    let text = std::fs::read_to_string(page).expect("the page is there");
    let shown = commands(&text);
    let dir = tempfile::tempdir().expect("a temporary folder");
    let root = Path::new(ROOT).canonicalize().expect("the repository");
    let walk = root.join("docs/walk/chats.jsonl.zst");
    std::fs::copy(walk, dir.path().join("chats.jsonl.zst")).expect("the walk's recordings");
    for name in ["datasets", "docs", "scripts"] {
        std::os::unix::fs::symlink(root.join(name), dir.path().join(name)).expect("a link");
    }
    for (name, text) in files(&text) {
        std::fs::write(dir.path().join(name), text).expect("a temporary folder is writable");
    }
    let program = Path::new(env!("CARGO_BIN_EXE_deadloop"));
    let bin = program.parent().expect("a folder").display().to_string();
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap_or_default());
    for (nth, one) in shown.iter().enumerate() {
        if one.command.starts_with("test $? = ") {
            continue;
        }
        let next = shown.get(nth + 1).map(|next| next.command.as_str());
        let code = next.and_then(|next| next.strip_prefix("test $? = "));
        let wanted: i32 = code.map_or(0, |code| code.parse().expect("a code"));
        let output = Command::new("bash")
            .args(["-c", &format!("{{ {}\n}} 2>&1", one.command)])
            .env("PATH", &path)
            .current_dir(dir.path())
            .output()
            .expect("bash starts");
        let said = String::from_utf8_lossy(&output.stdout);
        let lines: Vec<&str> = said.lines().collect();
        let page = page.display();
        assert_eq!(
            output.status.code(),
            Some(wanted),
            "{page}: {}\n{said}",
            one.command
        );
        assert!(
            is_answer(&one.answer, &lines),
            "{page}: {}\nshown:\n{}\nsaid:\n{said}",
            one.command,
            one.answer.join("\n")
        );
    }
}

fn pages() -> Vec<PathBuf> {
    let docs = std::fs::read_dir(Path::new(ROOT).join("docs")).expect("docs");
    let page = |entry: Result<std::fs::DirEntry, _>| entry.ok().map(|entry| entry.path());
    let is_page = |path: &PathBuf| path.extension().is_some_and(|e| e == "md");
    let mut pages: Vec<PathBuf> = docs.filter_map(page).filter(is_page).collect();
    pages.sort();
    pages.extend(["README.md", "README.zh-CN.md"].map(|name| Path::new(ROOT).join(name)));
    pages
}

#[test]
fn what_is_shown_of_a_terminal_is_what_the_program_says() {
    let all = pages();
    assert!(all.len() > 5);
    all.iter().for_each(|page| run(page));
}

#[test]
fn every_console_block_is_run() {
    for page in pages() {
        let text = std::fs::read_to_string(&page).expect("the page is there");
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines
            .iter()
            .enumerate()
            .filter(|(_, line)| **line == "```console")
        {
            let before = at.checked_sub(1).map(|before| lines[before]);
            assert_eq!(before, Some(MARK), "{}:{}: {line}", page.display(), at + 1);
        }
    }
}

/// What only its authors have: documents by their numbers, a folder beside the repository.
const INSIDE: [&str; 4] = ["seed 00", "seed-00", "../shared", "shared/data"];

/// The Markdown files below a folder.
fn markdown(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => found.extend(markdown(&path)),
            false if path.extension().is_some_and(|e| e == "md") => found.push(path),
            false => {}
        }
    }
    found.sort();
    found
}

#[test]
fn nothing_that_users_read_names_what_only_its_authors_have() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    // Help, presets and exact definitions of everything.
    let status = Command::new(env!("CARGO_BIN_EXE_deadloop"))
        .args(["generate", "--quiet"])
        .arg(dir.path())
        .status();
    assert!(status.expect("the program starts").success());
    let reference = markdown(&dir.path().join("site"));
    assert!(reference.len() > 50, "{}", reference.len());
    let reports = markdown(&Path::new(ROOT).join("reports"));
    for page in pages().iter().chain(&reports).chain(&reference) {
        let text = std::fs::read_to_string(page).expect("a page is UTF-8");
        for (at, line) in text.lines().enumerate() {
            let low = line.to_lowercase();
            let named = INSIDE.iter().find(|word| low.contains(*word));
            assert_eq!(named, None, "{}:{}: {line}", page.display(), at + 1);
        }
    }
}

#[test]
fn readme_and_docs_are_short() {
    let readme = std::fs::read_to_string(Path::new(ROOT).join("README.md")).expect("README");
    assert!(
        readme.lines().count() <= 130,
        "{} lines",
        readme.lines().count()
    );
    let mut docs = markdown(&Path::new(ROOT).join("docs"));
    docs.retain(|page| !page.to_string_lossy().ends_with(".zh-CN.md"));
    let words = |page: &PathBuf| {
        let text = std::fs::read_to_string(page).expect("a page is UTF-8");
        text.split_whitespace().count()
    };
    let all: usize = docs.iter().map(words).sum();
    assert!(all < 18_000, "docs: {all} words");
}

/// The rest of the contents, and every link, are checked by `scripts/book`.
#[test]
fn every_page_is_in_the_contents_once() {
    let docs = Path::new(ROOT).join("docs");
    let contents = std::fs::read_to_string(docs.join("SUMMARY.md")).expect("SUMMARY.md");
    let reports = markdown(&Path::new(ROOT).join("reports"));
    for page in markdown(&docs).iter().chain(&reports) {
        let name = page.file_name().expect("a name").to_string_lossy();
        let folder = if page.starts_with(&docs) {
            ""
        } else {
            "../reports/"
        };
        let wanted = usize::from(name != "SUMMARY.md");
        let found = contents.matches(&format!("]({folder}{name})")).count();
        assert_eq!(found, wanted, "docs/SUMMARY.md: {}", page.display());
    }
}

#[test]
fn an_ellipsis_stands_for_what_it_says() {
    assert!(is_line("a … b", "a x y b") && !is_line("a … b", "a x y c"));
    assert!(is_line("same", "same") && !is_line("same", "same same"));
    let shown = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(is_answer(&shown("a\n…\nz"), &["a", "b", "c", "z"]));
    assert!(!is_answer(&shown("a\nz"), &["a", "b", "z"]));
    let page = "x\n<!-- run -->\n```console\n$ one\nsays\n$ two \\\n  more\n```\n";
    let found = commands(page);
    assert_eq!(found[0].answer, ["says"]);
    assert_eq!(found[1].command, "two \\\n  more");
}
