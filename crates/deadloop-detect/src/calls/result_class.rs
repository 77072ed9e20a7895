//! [`ResultClass`]: the class of a result, judged by the words of `result_words.toml`.

use std::collections::HashMap;
use std::iter;
use std::sync::LazyLock;

use regex::Regex;

/// The class of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultClass {
    /// Content: a result of no other class.
    Other,
    /// The call succeeded.
    Done,
    /// The work has not ended yet.
    Waiting,
    /// An empty search, or no output.
    Empty,
    /// An acknowledgement without information, such as `ok`.
    Uninformative,
    /// A failure or a refusal.
    Refusal,
}

impl ResultClass {
    /// Returns the class of a result by its error flag alone.
    pub(super) fn from_error(error: bool) -> Self {
        if error { Self::Refusal } else { Self::Other }
    }

    /// Returns whether the meaning of such a result depends on its call.
    pub(crate) fn depends_on_call(self) -> bool {
        !matches!(self, Self::Other | Self::Refusal)
    }
}

/// The maximum length of a classified text, in bytes. The words match single sentences, so a longer result is content.
pub(super) const MAX_TEXT: usize = 240;
/// The maximum length of a text that is classified as [`ResultClass::Waiting`], in chars.
const MAX_WAITING: usize = 160;
/// The number of chars at the start of a text that are searched for a refusal.
const MAX_START: usize = 48;

/// The patterns of `result_words.toml`.
struct ResultWords {
    done: Regex,
    failed: Regex,
    waiting: Regex,
    /// Words of waiting that also count in a refusal.
    yet: Regex,
    /// Negated words of waiting, which do not count.
    denied: Regex,
    nothing: Regex,
    mute: Regex,
    refusal: Regex,
    /// Lines that programs print around the output of a command.
    around: Regex,
    /// The exit code of a command.
    exit: Regex,
    /// A call that only waits.
    polls: Regex,
    /// A call that writes.
    writers: Regex,
}

static WORDS: LazyLock<Option<ResultWords>> = LazyLock::new(|| {
    let lists: HashMap<String, Vec<String>> =
        toml::from_str(include_str!("result_words.toml")).ok()?;
    let joined = |name: &str| lists.get(name).map_or(String::new(), |list| list.join("|"));
    let anywhere = |name: &str| {
        let cjk = lists.get(&format!("{name}_cjk")).into_iter().flatten();
        let all = iter::once(format!(r"\b(?:{})\b", joined(name))).chain(cjk.cloned());
        Regex::new(&all.collect::<Vec<_>>().join("|")).ok()
    };
    let whole = |name| Regex::new(&format!(r"^[(\[`\s]*(?:{})[)\]`.!。\s]*$", joined(name))).ok();
    Some(ResultWords {
        done: anywhere("done")?,
        failed: anywhere("failed")?,
        waiting: anywhere("waiting")?,
        yet: anywhere("yet")?,
        denied: anywhere("denied")?,
        nothing: whole("nothing")?,
        mute: whole("mute")?,
        refusal: Regex::new(&format!(
            r"^\W*(?:(?:{})\b|{})",
            joined("refusal"),
            joined("refusal_cjk")
        ))
        .ok()?,
        around: Regex::new(
            r"(?m)^(?:chunk id|wall time|original token count|command|duration)\s*:.*$|^output:",
        )
        .ok()?,
        exit: Regex::new(
            r"(?m)^(?:process )?(?:exit code|exited with code|rc)\s*[:=]?\s*(\d+)\s*$",
        )
        .ok()?,
        polls: Regex::new(&format!("(?i){}", joined("polls"))).ok()?,
        writers: Regex::new(&joined("writers")).ok()?,
    })
});

/// Classifies a result. `text` is its content without tags and, with `volatile`, without dates and ids. `call` is
/// `name(arguments)`.
pub(super) fn classify(text: &str, error: bool, call: &str) -> ResultClass {
    let Some(words) = WORDS.as_ref().filter(|_| text.len() <= MAX_TEXT) else {
        return ResultClass::from_error(error);
    };
    let text = text.to_lowercase();
    let exit = words.exit.captures(&text);
    let failed = exit.as_ref().map(|code| &code[1] != "0");
    let text = words.around.replace_all(&text, "");
    let text = words.exit.replace_all(&text, "");
    let text = text.trim();
    let refused = refuses(text);
    let waits = || words.waiting.is_match(&words.denied.replace_all(text, ""));
    let short = text.chars().nth(MAX_WAITING).is_none();
    if short && (words.yet.is_match(text) || !refused && waits()) {
        ResultClass::Waiting
    } else if error || refused {
        ResultClass::Refusal
    } else if words.mute.is_match(text) {
        ResultClass::Uninformative
    } else if words.nothing.is_match(text) {
        match failed {
            _ if words.polls.is_match(call) => ResultClass::Waiting,
            Some(false) => ResultClass::Done,
            _ => ResultClass::Empty,
        }
    } else if words.done.is_match(text) && !words.failed.is_match(text) {
        ResultClass::Done
    } else {
        ResultClass::Other
    }
}

/// Returns whether a text begins with a refusal.
pub(super) fn refuses(text: &str) -> bool {
    let start: String = text.chars().take(MAX_START).collect();
    let start = start.to_lowercase();
    WORDS
        .as_ref()
        .is_some_and(|words| words.refusal.is_match(&start))
}

/// Returns whether a call writes, judged by the name of its tool. `call` is `name(arguments)`.
pub(super) fn writes(call: &str) -> bool {
    WORDS
        .as_ref()
        .is_some_and(|words| words.writers.is_match(call) && !words.polls.is_match(call))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::ResultClass::{Done, Empty, Other, Refusal, Uninformative, Waiting};
    use super::*;

    /// The lists of `result_words.toml`, with each pattern on its own.
    static LISTS: LazyLock<HashMap<String, Vec<Regex>>> = LazyLock::new(|| {
        let lists: HashMap<String, Vec<String>> =
            toml::from_str(include_str!("result_words.toml")).unwrap();
        let whole = |word: String| Regex::new(&format!("^(?:{word})$")).unwrap();
        let lists = lists.into_iter();
        lists
            .map(|(name, words)| (name, words.into_iter().map(whole).collect()))
            .collect()
    });

    /// Returns whether a pattern of a list matches a whole text.
    fn has(name: &str, text: &str) -> bool {
        let mut words = LISTS.get(name).into_iter().flatten();
        words.any(|word| word.is_match(text))
    }

    /// Returns the positions between the chars of a text, both ends included.
    fn positions(text: &str) -> impl Iterator<Item = usize> + Clone + '_ {
        (0..=text.len()).filter(|at| text.is_char_boundary(*at))
    }

    /// Returns whether a word begins or ends at a position of a text.
    fn edge(text: &str, at: usize) -> bool {
        let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        part(text[..at].chars().next_back()) != part(text[at..].chars().next())
    }

    /// Returns the pieces of a text that a list matches. Only CJK words may be parts of words.
    fn pieces(name: &str, text: &str) -> Vec<(usize, usize)> {
        let cjk = format!("{name}_cjk");
        let pairs = positions(text).flat_map(|a| positions(text).map(move |b| (a, b)));
        let pairs = pairs.filter(|(a, b)| a < b);
        pairs
            .filter(|&(a, b)| {
                let whole = edge(text, a) && edge(text, b);
                whole && has(name, &text[a..b]) || has(&cjk, &text[a..b])
            })
            .collect()
    }

    /// Returns whether a list matches a text without the brackets and marks around it.
    fn bare(name: &str, text: &str) -> bool {
        let around = |marks: &'static str| move |c: char| marks.contains(c) || c.is_whitespace();
        let starts = positions(text).filter(|at| text[..*at].chars().all(around("([`")));
        let ends = positions(text).filter(|at| text[*at..].chars().all(around(")]`.!。")));
        let mut pairs = starts.flat_map(|a| ends.clone().map(move |b| (a, b)));
        pairs.any(|(a, b)| a <= b && has(name, &text[a..b]))
    }

    /// Classifies one sentence without an exit code like [`classify`], but tests each pattern on each piece of the
    /// text.
    fn classify_slowly(text: &str, error: bool, call: &str) -> ResultClass {
        let text = text.trim().to_lowercase();
        let start: String = text.chars().take(MAX_START).collect();
        let start = start.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '_');
        let refused = positions(start).any(|to| {
            let start_of = &start[..to];
            edge(start, to) && has("refusal", start_of) || has("refusal_cjk", start_of)
        });
        let denied = pieces("denied", &text);
        let waits = pieces("waiting", &text);
        let mut waits = waits
            .iter()
            .filter(|(a, b)| !denied.iter().any(|(from, to)| from < b && a < to));
        if !pieces("yet", &text).is_empty() || !refused && waits.next().is_some() {
            Waiting
        } else if error || refused {
            Refusal
        } else if bare("mute", &text) {
            Uninformative
        } else if bare("nothing", &text) {
            let sleeps = call.contains("sleep 30");
            if sleeps { Waiting } else { Empty }
        } else if !pieces("done", &text).is_empty() && pieces("failed", &text).is_empty() {
            Done
        } else {
            Other
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn both_classifiers_agree(
            parts in proptest::collection::vec(select(&[
                "updated", "Created", "no", "not", "yet", "running", "pending", "non-pending", "in_progress", "Error", "failed",
                "ok", "done", "[]", "0", "3 rows", "found", "matches", "已更新", "失败", "等待", "éxito", "404 not found", "510",
                "try again later", "\"status\":\"error\"", "invalid", "the file", "a.py", "läuft", "```", "(", ")",
            ][..]), 0..5),
            gap in select(&[" ", "", ": ", ", "][..]),
            error in any::<bool>(),
            call in select(&["run({})", "bash({\"command\":\"sleep 30\"})"][..]),
        ) {
            let text = parts.join(gap);
            prop_assert_eq!(classify(&text, error, call), classify_slowly(&text, error, call), "{}", text);
        }
    }

    #[test]
    fn writing_tools_are_recognised_by_name() {
        for (call, expected) in [
            ("write_fix({})", true),
            ("str_replace_editor({})", true),
            ("MultiEdit({})", true),
            ("fs.writeFile({})", true),
            ("Edit({})", true),
            ("credit_check({})", false),
            ("dispatch({})", false),
            ("read_file({\"path\":\"write_fix\"})", false),
            ("write_stdin({\"chars\":\"\"})", false),
        ] {
            assert_eq!(writes(call), expected, "{call}");
        }
    }

    #[test]
    fn results_have_classes() {
        let edited = "The file /r/a.go has been updated successfully.";
        let silent = "Exit code: 0\nWall time: 0.9 seconds\nOutput:\n";
        let refused = "{\"error\": {\"code\": 429, \"message\": \"Too many requests.\"}}";
        for (text, expected) in [
            (edited, Done),
            (
                "Success. Updated the following files:\nM app/mailer.py\n",
                Done,
            ),
            ("{\"success\":true,\"updatedRows\":1}", Done),
            ("UPDATE 1", Done),
            ("文件已更新", Done),
            (silent, Done),
            ("rc=0\n", Done),
            ("updated 3 files, 1 failed", Other),
            ("{\"status\":\"in_progress\",\"stage\":\"tests\"}", Waiting),
            ("No agents completed yet", Waiting),
            ("503 Service Unavailable", Waiting),
            ("Error 429: try again in 5s", Waiting),
            ("Error: Non-pending order cannot be modified", Refusal),
            ("Error: one payment for a pending order", Refusal),
            ("Shell 4922ab is not running (status: killed)", Other),
            ("{\"status\": \"checking\"}", Other),
            ("No matches found", Empty),
            ("", Empty),
            ("Process exited with code 1\nOutput:\n", Empty),
            ("{\"messages\": [], \"count\": 0}", Empty),
            ("available", Empty),
            ("ok", Uninformative),
            ("[image omitted]", Uninformative),
            ("[Old tool result content cleared]", Uninformative),
            (
                "```\nNo matches found for pattern 'Injectable'....\n```",
                Empty,
            ),
            ("{\"status\": \"not_found\", \"id\": \"a\"}", Empty),
            ("Payment of 65.0 USD has been made.", Done),
            ("Examen adjuntado con exito a la solicitud.", Done),
            ("{\"ok\": true}", Uninformative),
            (
                "```\nOpenJDK Server VM warning: Disabling SVE....\n```",
                Empty,
            ),
            ("warning: 3 files\nall built", Other),
            (refused, Refusal),
            ("Error: no such file", Refusal),
            ("/home/dev/quant", Other),
            ("48 passed in 5.31s", Other),
            ("510", Other),
            ("412 passed in 5.31s", Other),
            ("404 Not Found", Refusal),
            ("{\"status\":\"error\",\"error\":\"429\"}", Refusal),
        ] {
            assert_eq!(classify(text, false, "run({})"), expected, "{text}");
        }
        assert_eq!(
            classify("", false, "bash({\"command\":\"sleep 30\"})"),
            Waiting
        );
        assert_eq!(classify("no such file", true, "run({})"), Refusal);
    }
}
