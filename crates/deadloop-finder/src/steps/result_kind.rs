//! [`ResultKind`]: the kind of a result, judged by its words.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

/// The kinds of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResultKind {
    /// Content: any result of no other kind.
    News,
    /// A report of success.
    Done,
    /// A report of unfinished work.
    Waiting,
    /// An empty result.
    Nothing,
    /// An error, an invalid argument or a denial.
    Refusal,
}

/// The maximum length of a report, in chars. In a longer result, only an error at its beginning is recognised.
const MAX_REPORT: usize = 400;

impl ResultKind {
    /// Classifies a result. `error` is the error flag of the call.
    pub(super) fn classify(content: &str, error: bool) -> Self {
        let text = content.trim();
        let cut = text.char_indices().nth(MAX_REPORT).map(|(at, _)| at);
        let short = cut.is_none();
        if short && has_any("nothing", text) {
            Self::Nothing
        } else if short && reports_waiting(text) {
            Self::Waiting
        } else if error || has_any("refusal", &text[..cut.unwrap_or(text.len())]) {
            Self::Refusal
        } else if short && has_any("done", text) && !has_any("failed", text) {
            Self::Done
        } else {
            Self::News
        }
    }

    /// Returns whether the result is a short report, in which numbers carry no information.
    pub(super) fn is_report(self, content: &str) -> bool {
        let short = content.trim().chars().nth(MAX_REPORT).is_none();
        short && matches!(self, Self::Refusal | Self::Waiting)
    }
}

/// Returns whether a pattern of the list `name` matches the text.
pub(super) fn has_any(name: &str, text: &str) -> bool {
    WORDS.get(name).is_some_and(|words| words.is_match(text))
}

/// Returns whether a line or a JSON value reports unfinished work. Tables are data.
fn reports_waiting(text: &str) -> bool {
    if text.contains('\n') && !text.starts_with(['{', '[']) {
        return false;
    }
    let unset = WORDS.get("unset");
    let set = unset.map(|words| words.replace_all(text, ""));
    let waits = has_any("waiting", &set.unwrap_or_default());
    has_any("yet", text) || waits && !has_any("ended", text) && !has_any("refusal", text)
}

/// The lists of `result_kind.toml`, each as one pattern.
static WORDS: LazyLock<BTreeMap<String, Regex>> = LazyLock::new(|| {
    let lists: BTreeMap<String, Vec<String>> =
        toml::from_str(include_str!("result_kind.toml")).unwrap_or_default();
    let pattern = |words: Vec<String>| Regex::new(&format!("(?i){}", words.join("|"))).ok();
    let lists = lists.into_iter();
    lists
        .filter_map(|(name, words)| Some((name, pattern(words)?)))
        .collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_is_a_pattern() {
        let lists = include_str!("result_kind.toml").lines();
        let lists = lists.filter(|line| line.contains(" = ["));
        assert_eq!(WORDS.len(), lists.count());
    }

    #[test]
    fn a_result_has_a_kind() {
        for (content, error, kind) in [
            ("", false, ResultKind::Nothing),
            ("[]", false, ResultKind::Nothing),
            ("No matching entries.", false, ResultKind::Nothing),
            ("{\"items\": [], \"total\": 0}", false, ResultKind::Nothing),
            ("in_progress", false, ResultKind::Waiting),
            ("No agents completed yet", false, ResultKind::Waiting),
            (
                "{\"status\": \"running\", \"pending\": 0}",
                false,
                ResultKind::Waiting,
            ),
            ("503 Service Unavailable", true, ResultKind::Waiting),
            (
                "Error: a pending order cannot be modified",
                true,
                ResultKind::Refusal,
            ),
            (
                "Shell 4922ab is not running (status: killed)",
                true,
                ResultKind::Refusal,
            ),
            (
                "No matches found for pattern 'Factory'....",
                false,
                ResultKind::Nothing,
            ),
            ("{\"pending\": 0, \"open\": 4}", false, ResultKind::News),
            ("gate: 212/1804 tests, running", false, ResultKind::Waiting),
            ("boot 6.1 still running\nboot 6.0", false, ResultKind::News),
            ("The file a.py has been updated.", false, ResultKind::Done),
            ("UPDATE 1", false, ResultKind::Done),
            ("文件已更新", false, ResultKind::Done),
            ("Saved, but the upload failed.", false, ResultKind::News),
            ("Permission denied", false, ResultKind::Refusal),
            (
                "{\"status\": 404, \"body\": \"\"}",
                false,
                ResultKind::Refusal,
            ),
            ("1 failed, 3 passed", true, ResultKind::Refusal),
            ("48 passed in 4.90s", false, ResultKind::News),
        ] {
            assert_eq!(ResultKind::classify(content, error), kind, "{content}");
        }
    }
}
