//! [`RunStep`]: a call and its result, as comparable hashes.
//!
//! Parts that depend only on the clock or the machine are removed from results: dates, durations, addresses, ids,
//! temporary paths and call counters. Ids are also removed from arguments, so that reading the same response under a
//! new id is a repetition.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

use deadloop_detect::Arguments;
use regex::Regex;
use serde_json::Value;

use super::edits::{FileEdit, mark_restored};
use super::result_kind::{ResultKind, has_any};
use super::{argument_copies, counters};
use deadloop_corpus::{Body, RecordedEvent};

/// A call and its result.
#[derive(Clone, Debug)]
pub(super) struct RunStep {
    /// The hash of tool and arguments.
    pub(super) call: u64,
    /// The hash of the tool.
    pub(super) tool: u64,
    /// The hash of the result. `None` without a result.
    pub(super) result: Option<u64>,
    /// The kind of the result.
    pub(super) kind: ResultKind,
    /// Whether the result has at most a few words.
    pub(super) brief: bool,
    /// The hash of the result with all numbers folded.
    pub(super) shape: u64,
    /// The numbers in the result.
    pub(super) numbers: Vec<u64>,
    /// Whether the result of a tool with typed arguments only confirms the call.
    pub(super) silent: bool,
    /// The hash of tool and arguments with all numbers folded. It is equal for all calls that read parts of one object.
    pub(super) form: u64,
    /// The hashes of the lines of the result. Empty if there are few.
    pub(super) lines: Vec<u64>,
    /// Whether the call failed.
    pub(super) error: bool,
    /// Whether the tool takes a command as text. Different commands may then have the same meaning.
    pub(super) shell: bool,
    /// Whether the call changes the environment, judged by its name and arguments.
    pub(super) writes: bool,
    /// The edit of a file that the call describes.
    pub(super) edit: Option<FileEdit>,
    /// Whether the call restores earlier contents of a file.
    pub(super) restores: bool,
    /// Whether the tool waits or queries a status, judged by its name.
    pub(super) waits: bool,
    /// Whether the call is a command that sleeps.
    pub(super) sleeps: bool,
    /// Whether the user sent a new message since the call before.
    pub(super) follows_user: bool,
}

impl RunStep {
    /// Returns whether the result only reports that something has not ended yet.
    pub(super) fn polls(&self) -> bool {
        let nothing = self.kind == ResultKind::Nothing && (self.waits || self.sleeps);
        self.kind == ResultKind::Waiting || nothing
    }

    /// Returns whether the call has a result that reports no failure.
    pub(super) fn succeeded(&self) -> bool {
        self.result.is_some() && !self.error && self.kind != ResultKind::Refusal
    }
}

/// Returns the calls of a run, in order. A result belongs to the call with its id. A result without an id belongs to
/// the oldest open call without one.
pub(super) fn read_steps(events: &[RecordedEvent]) -> Vec<RunStep> {
    let mut steps: Vec<RunStep> = Vec::new();
    let mut named: HashMap<&str, usize> = HashMap::new();
    let mut nameless: VecDeque<usize> = VecDeque::new();
    let mut new_message = false;
    // Hooks and timers repeat their messages.
    let mut messages: HashSet<&str> = HashSet::new();
    for event in events {
        match &event.body {
            Body::User(text) => new_message |= messages.insert(text.trim()),
            Body::ToolCall {
                id,
                name,
                arguments,
            } => {
                let mut step = open_step(name, arguments);
                step.follows_user = std::mem::take(&mut new_message) && !steps.is_empty();
                match id {
                    Some(id) => drop(named.insert(id, steps.len())),
                    None => nameless.push_back(steps.len()),
                }
                steps.push(step);
            }
            Body::ToolResult { id, content, error } => {
                let at = match id {
                    Some(id) => named.remove(id.as_str()),
                    None => nameless.pop_front(),
                };
                let Some(step) = at.and_then(|at| steps.get_mut(at)) else {
                    continue;
                };
                let cut = event.rest.get("sha256").and_then(Value::as_str);
                set_result(step, content, *error == Some(true), cut);
            }
            _ => {}
        }
    }
    counters::remove(&mut steps);
    mark_restored(&mut steps);
    steps
}

/// Sets the result of a call. If `content` was cut, `cut` is the hash of the whole result.
fn set_result(step: &mut RunStep, content: &str, error: bool, cut: Option<&str>) {
    step.error = error;
    step.kind = match ResultKind::classify(content, error) {
        // A command may print `[]` as its content.
        ResultKind::Nothing if step.shell && !content.trim().is_empty() => ResultKind::News,
        kind => kind,
    };
    step.brief = content.trim().chars().nth(MAX_SILENT).is_none();
    let text = stable_text(content);
    let form = without_numbers(&text);
    step.shape = hash(&(&form, cut));
    step.numbers = numbers(&text);
    let detailed = step.shell || cut.is_some() || !step.kind.is_report(content);
    step.result = Some(hash(&(if detailed { &text } else { &form }, cut)));
    step.silent = !step.shell && !step.waits && !error && cut.is_none() && is_silent(content);
    step.lines = if cut.is_none() {
        lines(content)
    } else {
        Vec::new()
    };
}

/// Returns a call that has no result yet.
fn open_step(name: &str, arguments: &Value) -> RunStep {
    let arguments = Arguments::Json(arguments);
    let tool = name.to_lowercase();
    let shell = SHELLS.contains(&tool.as_str());
    let text = arguments.text();
    let words = words(&tool);
    let writes = if shell {
        commands(&text).iter().any(|text| matches(&WRITING, text))
    } else {
        let named = words.iter().any(|word| WRITERS.contains(&word.as_str()));
        named && !text.contains("\"view\"")
    };
    let canonical = argument_copies::fold_copies(&arguments.canonical());
    // In a command, a random part may be the subject: a text to decode, a commit.
    let canonical = if shell {
        canonical
    } else {
        without_ids(&canonical)
    };
    RunStep {
        form: hash(&(name, without_numbers(&canonical))),
        call: hash(&(name, canonical)),
        silent: false,
        lines: Vec::new(),
        tool: hash(&name),
        result: None,
        kind: ResultKind::News,
        brief: false,
        shape: 0,
        numbers: Vec::new(),
        error: false,
        shell,
        edit: (writes && !shell)
            .then(|| FileEdit::parse(&words, &text))
            .flatten(),
        restores: false,
        writes,
        waits: words.iter().any(|word| WAITERS.contains(&word.as_str())),
        sleeps: shell && has_any("sleeps", &text),
        follows_user: false,
    }
}

/// The maximum number of chars of a result without content.
const MAX_SILENT: usize = 24;
/// The minimum number of lines of a result that are hashed one by one.
const MIN_LINES: usize = 4;

/// Matches a field or a line with only an id or a date.
static ID_FIELDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let name = r"[\w-]*(?:id|ref|trace|date|time|stamp)";
    Regex::new(&format!(
        r##"(?mi)(?:"{name}"\s*:\s*"#"|^{name}: #$)\s*,?"##
    ))
    .ok()
});

/// Returns whether a result only confirms the call. Without its ids and dates, it must be empty, or a few words without
/// a number other than 0. An empty list is content.
fn is_silent(content: &str) -> bool {
    let text = stable_text(content);
    let rest = match ID_FIELDS.as_ref() {
        Some(named) => named.replace_all(&text, ""),
        None => text.as_str().into(),
    };
    let rest = rest.trim();
    rest.chars().nth(MAX_SILENT).is_none()
        && (rest.is_empty() || rest.chars().any(char::is_alphabetic))
        && !rest.chars().any(|c| c.is_numeric() && c != '0' || c == '#')
}

/// Returns the hashes of the lines that are not blank. Empty if there are few lines.
fn lines(content: &str) -> Vec<u64> {
    let lines = content.lines().map(str::trim);
    let lines: Vec<u64> = lines
        .filter(|line| !line.is_empty())
        .map(|line| hash(&stable_text(line)))
        .collect();
    if lines.len() < MIN_LINES {
        return Vec::new();
    }
    lines
}

/// Removes ids and folds numbers, for the comparison of texts by an agent.
pub(super) fn fold_text(text: &str) -> String {
    without_numbers(&without_ids(text))
}

/// Replaces each number by `0`.
fn without_numbers(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_ascii_digit() {
            true if kept.ends_with('0') => {}
            true => kept.push('0'),
            false => kept.push(c),
        }
    }
    kept
}

/// Returns the numbers in a text, in order. A number of more than 64 bits is hashed.
fn numbers(text: &str) -> Vec<u64> {
    let runs = text.split(|c: char| !c.is_ascii_digit());
    let runs = runs.filter(|digits| !digits.is_empty());
    runs.map(|digits| digits.parse().unwrap_or_else(|_| hash(&digits)))
        .collect()
}

/// Names of tools whose argument is a command.
const SHELLS: [&str; 14] = [
    "bash",
    "execute_bash",
    "shell",
    "local_shell",
    "exec_command",
    "run_shell_command",
    "run_terminal_cmd",
    "terminal",
    "sql",
    "ctf",
    "python",
    "ipython",
    "execute_ipython_cell",
    "action",
];
/// Words in the names of tools that change something.
const WRITERS: [&str; 32] = [
    "write", "edit", "create", "insert", "update", "delete", "remove", "modify", "cancel", "book",
    "send", "exchange", "return", "replace", "apply", "patch", "toggle", "enable", "disable",
    "set", "reset", "fix", "transfer", "add", "move", "rename", "submit", "todo", "discard",
    "express", "reboot", "refuel",
];
/// Words in the names of tools that wait for a change.
const WAITERS: [&str; 5] = ["wait", "sleep", "poll", "status", "await"];

/// Splits the name of a tool into words.
fn words(name: &str) -> Vec<String> {
    let parts = name.split(|c: char| !c.is_alphanumeric());
    parts
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Matches commands of a shell or of SQL that change something.
static WRITING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let shell = r"(?:^|[;&|(\n]\s*|sudo\s+|xargs\s+)(?:rm|mv|cp|mkdir|touch|chmod|chown|tee|ln|patch|tar|unzip|make|export|kill|cd|apt|apt-get|pip3?\s+install|npm\s+i|sed\s+-i|git\s+(?:add|apply|checkout|commit|merge|mv|reset|restore|rm|stash))\b";
    let redirect = r"[^0-9&>]>>?\s*[^&>\s/]|[^0-9&>]>>?\s*/(?:[^d]|d[^e])";
    let sql = r"(?i)^\s*(?:insert|update|delete|create|drop|alter|use|set)\b";
    Regex::new(&format!("{shell}|{redirect}|{sql}")).ok()
});

/// Returns the texts in a shell's arguments: the values of an object, otherwise the whole text.
fn commands(text: &str) -> Vec<String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(fields)) => {
            let texts = fields.into_iter().filter_map(|(_, value)| match value {
                Value::String(text) => Some(text),
                _ => None,
            });
            texts.collect()
        }
        _ => vec![text.to_owned()],
    }
}

fn matches(regex: &Option<Regex>, text: &str) -> bool {
    regex.as_ref().is_some_and(|regex| regex.is_match(text))
}

/// Matches parts of results that depend on the clock or the machine.
static VARIABLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let parts = [
        r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)?",
        // Dates of mail and HTTP: Tue, 30 Jun 2026 04:33:17 GMT. Dates of the C library: Tue Jun 30 04:33:17 2026.
        r"\b(?:[A-Z][a-z]{2}, )?\d{1,2}[ -](?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[ -]\d{4} \d\d:\d\d:\d\d(?: GMT| UTC| [+-]\d{4})?",
        r"\b[A-Z][a-z]{2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d(?: [A-Z]{3,4})? \d{4}",
        // Seconds, thousandths and millionths since 1970.
        r"\b1[5-9]\d{8}(?:\d{3}|\d{6})?\b",
        r"\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b",
        r"\b\d+(?:\.\d+)?\s?(?:ms|µs|us|s|secs?|seconds?|min)\b",
        r"\b0x[0-9a-fA-F]{4,}",
        r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b",
        r"/tmp/[\w./-]+",
        r#"\b(?:uptime|elapsed|waited|took)\w*"?\s*[:=]\s*[\d.:]+"#,
    ];
    Regex::new(&parts.join("|")).ok()
});

/// Removes variable parts from a result and sorts its lines, since listings have no fixed order.
fn stable_text(text: &str) -> String {
    let text = match VARIABLE.as_ref() {
        Some(regex) => regex.replace_all(text.trim(), "#"),
        None => text.trim().into(),
    };
    let text = without_ids(&text);
    let mut lines: Vec<&str> = text.split('\n').collect();
    lines.sort_unstable();
    let twice = |two: &[&str]| two[0] == two[1] && !two[0].trim().is_empty();
    // Equal lines are those of a board, whose order matters.
    if lines.windows(2).any(twice) {
        return text;
    }
    lines.join("\n")
}

/// Replaces each id by `#`. An id has at least six chars and mixes letters and digits, or is joined to a word by a
/// hyphen or an underscore.
fn without_ids(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let joins = |c: char| c == '-' || c == '_';
        let length = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && !joins(c))
            .unwrap_or(rest.len());
        let (token, after) = rest.split_at(length);
        let worded = token.bytes().any(|b| b.is_ascii_alphabetic());
        let random = token.split(joins).any(|part| is_random(part, worded));
        kept.push_str(if random { "#" } else { token });
        let mut after = after.chars();
        kept.extend(after.next());
        rest = after.as_str();
    }
    kept
}

/// Returns whether a part of a token looks generated. Words, words with a number of up to four digits, and numbers with
/// a unit do not.
fn is_random(part: &str, worded: bool) -> bool {
    let letters = part.bytes().filter(u8::is_ascii_alphabetic).count();
    let digits = part.len() - letters;
    let tail = part.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let unit = part.trim_start_matches(|c: char| c.is_ascii_digit());
    let hexadecimal = part.bytes().all(|b| b.is_ascii_hexdigit());
    let numbered = tail.len() == digits && digits <= 4 || unit.len() == letters && letters <= 3;
    match (letters, digits) {
        _ if part.len() < 6 => false,
        (0, _) => worded,
        (_, 0) => false,
        _ => hexadecimal || !numbered,
    }
}

/// Returns a hash that does not depend on the run of the program.
pub(super) fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_dates_are_no_difference() {
        let of = |id: &str, date: &str| {
            stable_text(&format!(
                "{{\"ref\": \"request:{id}\", \"date\": \"{date}\", \"status\": \"checking\"}}"
            ))
        };
        let first = of(
            "req-1a18bd/response:resp-78304142",
            "Tue, 30 Jun 2026 04:33:17 GMT",
        );
        for (id, date) in [
            (
                "req-2b29ce/response:resp-78c8d7b9",
                "Tue, 30 Jun 2026 04:33:18 GMT",
            ),
            ("req_3c3adf/response:resp-11111111", "2026-07-01T00:00:00Z"),
            (
                "toolu_01QZk3FzE6NJ/response:6ba7b810-9dad-11d1-80b4-00c04fd430c8",
                "1782793997",
            ),
        ] {
            assert_eq!(of(id, date), first, "{id} {date}");
        }
    }

    #[test]
    fn lines_of_a_listing_have_no_order_and_lines_of_a_board_have_one() {
        assert_eq!(stable_text("a.txt\nb.txt"), stable_text("b.txt\na.txt"));
        assert_ne!(stable_text("...\n.@.\n..."), stable_text(".@.\n...\n..."));
    }

    #[test]
    fn named_ids_and_dates_only_confirm() {
        let id = "request_id: req-1a18bd4f\ndate: Tue, 30 Jun 2026 04:33:17 GMT";
        for text in [
            "ok",
            "",
            &format!("done\n{id}"),
            id,
            "{\"ok\": true, \"id\": \"req-1a18bd4f\"}",
        ] {
            assert!(is_silent(text), "{text}");
        }
        for text in [
            "[]",
            "3 files",
            "resp-78304142 is ready",
            "The file has been edited as you asked.",
        ] {
            assert!(!is_silent(text), "{text}");
        }
    }

    #[test]
    fn words_counters_and_sizes_are_a_difference() {
        for (a, b) in [
            ("step 12 of 20", "step 13 of 20"),
            ("file10 file11", "file10 file12"),
            ("1024px", "1025px"),
            ("plan-7c2e-2201", "plan-7c2e-2202"),
            ("130000 bytes", "140000 bytes"),
        ] {
            assert_ne!(stable_text(a), stable_text(b));
        }
    }
}
