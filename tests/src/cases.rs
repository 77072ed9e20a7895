//! Cases: texts with the answer written inside them.
//!
//! A case's `text` is a list of parts: a literal, `{ repeat = "...", times = N }`, or
//! `{ numbered = ["...", "..."], items = N }` for list items under rising numbers, or
//! `{ filler = N }` for so many chars that do not repeat, or `{ lines = "… {n} … {word}", words = [...],
//! times = N }` for lines from a template, in which the number rises, and the words take turns (`{word}`) or come in no order (`{any}`). A literal may hold the marks `⟦onset⟧` and `⟦alarm⟧`; they are taken out before the text is read. Where a mark
//! would fall inside a repetition, `alarm = N` gives the exact position in chars.

use std::collections::BTreeMap;
use std::path::PathBuf;

use deadloop_detect::{Channel, Settings};
use serde::Deserialize;

use crate::replayed::{Seen, live, replay};

/// A file of cases.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    case: Vec<Case>,
}

/// One text, and what each setting must say to it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// Why it is a case.
    #[allow(dead_code, reason = "for the reader of the file")]
    why: String,
    text: Vec<Part>,
    expect: Vec<Expect>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    literal: Option<String>,
    repeat: Option<String>,
    times: Option<usize>,
    numbered: Option<Vec<String>>,
    items: Option<usize>,
    filler: Option<usize>,
    lines: Option<String>,
    #[serde(default)]
    words: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    /// Absent: the recommended guard.
    #[serde(default)]
    detector: Option<String>,
    preset: Option<String>,
    #[serde(default)]
    params: BTreeMap<String, toml::Value>,
    /// Exact position in chars; absent and no mark: it must not fire.
    alarm: Option<u64>,
    /// It must fire, at the latest here.
    within: Option<u64>,
    kind: Option<String>,
    /// A known miss or false alarm: it may only get better.
    #[serde(default)]
    todo: bool,
}

const ALARM: &str = "⟦alarm⟧";
const ONSET: &str = "⟦onset⟧";

impl Case {
    /// The text without its marks, and where `⟦alarm⟧` was, in chars.
    fn read(&self) -> (String, Option<u64>) {
        let marked: String = self.text.iter().map(Part::text).collect();
        let marked = marked.replace(ONSET, "");
        let alarm = marked
            .find(ALARM)
            .map(|at| marked[..at].chars().count() as u64);
        (marked.replace(ALARM, ""), alarm)
    }
}

impl Part {
    fn text(&self) -> String {
        if let Some(template) = &self.lines {
            let line = |n: usize| {
                let words = self.words.len().max(1);
                let word = |i: usize| self.words.get(i % words).map_or("", String::as_str);
                let any = (n as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
                let line = template.replace("{n}", &(n + 1).to_string());
                let line = line.replace("{word}", word(n));
                line.replace("{any}", word((any ^ (any >> 7)) as usize))
            };
            return (0..self.times.expect("times beside lines"))
                .map(line)
                .collect();
        }
        match (&self.literal, &self.repeat, &self.numbered) {
            (None, None, None) => filler(self.filler.expect("a part says what it is")),
            (Some(text), None, None) => text.clone(),
            (None, Some(unit), None) => unit.repeat(self.times.expect("times beside repeat")),
            (None, None, Some(lines)) => {
                let item = |i: usize| format!("{}. {}\n", i + 1, lines[i % lines.len()]);
                (0..self.items.expect("items beside numbered"))
                    .map(item)
                    .collect()
            }
            _ => panic!("one of literal, repeat, numbered: {self:?}"),
        }
    }
}

/// Letters and blanks in an order that does not repeat (a linear congruential generator).
fn filler(chars: usize) -> String {
    let mut state = 1_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        char::from(b"abcdefghijklmnopqrstuvwxyz      "[(state >> 59) as usize])
    };
    (0..chars).map(|_| next()).collect()
}

impl Expect {
    fn settings(&self) -> Settings {
        let Some(detector) = &self.detector else {
            return Settings::default();
        };
        let mut guard = toml::Table::new();
        guard.insert("detector".into(), detector.clone().into());
        if let Some(preset) = &self.preset {
            guard.insert("preset".into(), preset.clone().into());
        }
        guard.insert(
            "params".into(),
            toml::Value::Table(self.params.clone().into_iter().collect()),
        );
        let mut file = toml::Table::new();
        file.insert("guard".into(), vec![toml::Value::Table(guard)].into());
        Settings::parse(&file.to_string()).unwrap_or_else(|e| panic!("{file}: {e}"))
    }
}

/// Runs every case of every file in `tests/cases/`; gives back how many expectations there were.
pub fn run_all() -> usize {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the cases are committed")
        .map(|entry| entry.expect("a readable folder").path())
        .collect();
    paths.sort();
    let mut failures = Vec::new();
    let mut count = 0;
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("readable");
        let file: File =
            toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        for case in &file.case {
            count += case.expect.len();
            failures.extend(
                case.expect
                    .iter()
                    .filter_map(|expect| failure(case, expect)),
            );
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    count
}

fn failure(case: &Case, expect: &Expect) -> Option<String> {
    let (text, mark) = case.read();
    let pieces = [(Channel::Reasoning, text)];
    let settings = expect.settings();
    let setting = settings.for_model("any");
    let wanted = expect.alarm.or(mark);
    let seen = replay(setting, &pieces);
    for size in [1, 17, usize::MAX] {
        if live(setting, &pieces, size) != seen {
            return Some(format!(
                "{}: live in chunks of {size} is not replay",
                case.name
            ));
        }
    }
    let at = seen.as_ref().map(|s| s.at);
    let right = expect
        .within
        .map_or(at == wanted, |last| at.is_some_and(|at| at <= last))
        && expect
            .kind
            .as_deref()
            .is_none_or(|kind| seen.as_ref().is_some_and(|s| s.kind == kind));
    match (right, expect.todo) {
        (true, false) | (false, true) => None,
        (true, true) => Some(format!(
            "{}: no longer a todo: take the mark off",
            case.name
        )),
        (false, false) => {
            let said = seen.map_or("quiet".into(), |Seen { at, kind, .. }| {
                format!("{kind} at {at}")
            });
            let wanted = wanted.or(expect.within);
            let wanted = wanted.map_or("quiet".into(), |at| format!("an alarm at {at}"));
            let who = format!(
                "{} {:?} {:?}",
                expect.detector.as_deref().unwrap_or("recommended"),
                expect.preset,
                expect.params
            );
            Some(format!("{}: {who}: {said}, expected {wanted}", case.name))
        }
    }
}
