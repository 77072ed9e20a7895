//! [`Says`]: the class of a result, by its words. The words are in `says.toml`.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

/// The class of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Says {
    /// Any other content.
    News,
    /// The call succeeded.
    Done,
    /// The work is not done yet.
    Waiting,
    /// An empty search, or no output.
    Nothing,
    /// An acknowledgement without information, such as `ok`.
    Mute,
    /// A failure or a refusal.
    Refusal,
}

impl Says {
    /// Returns whether the class depends on the call: equal words after a different call have a different meaning.
    pub(crate) fn is_of_its_call(self) -> bool {
        !matches!(self, Self::News | Self::Refusal)
    }
}

/// The longest classified text, in bytes. Longer results count as news, since the words are meant for single sentences.
pub(super) const LONGEST: usize = 240;
/// The longest text that is classified as [`Says::Waiting`], in bytes.
const LONGEST_WAITING: usize = 160;
/// The number of characters searched for a refusal.
const BEGINNING: usize = 48;

struct Words {
    done: Regex,
    failed: Regex,
    waiting: Regex,
    nothing: Regex,
    mute: Regex,
    refusal: Regex,
    /// Lines that programs print around the output of a command.
    around: Regex,
    /// The exit code of a command.
    exit: Regex,
    /// A call that only waits.
    polls: Regex,
}

static WORDS: LazyLock<Option<Words>> = LazyLock::new(|| {
    let lists: HashMap<String, Vec<String>> = toml::from_str(include_str!("says.toml")).ok()?;
    let of = |name: &str| lists.get(name).map_or(String::new(), |list| list.join("|"));
    let anywhere = |name: &str| {
        let cjk = of(&format!("{name}_cjk"));
        Regex::new(&format!(r"\b(?:{})\b|{cjk}", of(name))).ok()
    };
    let whole = |name: &str| Regex::new(&format!(r"^[(\[]?(?:{})[)\]]?[.!。]?$", of(name))).ok();
    Some(Words {
        done: anywhere("done")?,
        failed: anywhere("failed")?,
        waiting: anywhere("waiting")?,
        nothing: whole("nothing")?,
        mute: whole("mute")?,
        refusal: Regex::new(&format!(
            r"^\W*(?:(?:{})\b|{})",
            of("refusal"),
            of("refusal_cjk")
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
        polls: Regex::new(&format!("(?i){}", of("polls"))).ok()?,
    })
});

/// Classifies a result. `text` is its content without tags, and with `volatile` without dates and ids. `asked` is the
/// call.
pub(super) fn classify(text: &str, error: bool, asked: &str) -> Says {
    let Some(words) = WORDS.as_ref().filter(|_| text.len() <= LONGEST) else {
        return if error { Says::Refusal } else { Says::News };
    };
    let text = text.to_lowercase();
    let exit = words.exit.captures(&text);
    let failed = exit.as_ref().map(|code| &code[1] != "0");
    let text = words.around.replace_all(&text, "");
    let text = words.exit.replace_all(&text, "");
    let text = text.trim();
    if text.len() <= LONGEST_WAITING && words.waiting.is_match(text) {
        Says::Waiting
    } else if error || refuses(text) {
        Says::Refusal
    } else if words.mute.is_match(text) {
        Says::Mute
    } else if words.nothing.is_match(text) {
        match failed {
            _ if words.polls.is_match(asked) => Says::Waiting,
            Some(false) => Says::Done,
            _ => Says::Nothing,
        }
    } else if words.done.is_match(text) && !words.failed.is_match(text) {
        Says::Done
    } else {
        Says::News
    }
}

/// Returns whether a text begins with a refusal.
pub(super) fn refuses(text: &str) -> bool {
    let start: String = text.chars().take(BEGINNING).collect();
    let start = start.to_lowercase();
    WORDS
        .as_ref()
        .is_some_and(|words| words.refusal.is_match(&start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_results_say() {
        let edited = "The file /r/a.go has been updated successfully.";
        let silent = "Exit code: 0\nWall time: 0.9 seconds\nOutput:\n";
        let refused = "{\"error\": {\"code\": 429, \"message\": \"Too many requests.\"}}";
        for (text, expected) in [
            (edited, Says::Done),
            (
                "Success. Updated the following files:\nM app/mailer.py\n",
                Says::Done,
            ),
            ("{\"success\":true,\"updatedRows\":1}", Says::Done),
            ("UPDATE 1", Says::Done),
            ("文件已更新", Says::Done),
            (silent, Says::Done),
            ("rc=0\n", Says::Done),
            ("updated 3 files, 1 failed", Says::News),
            (
                "{\"status\":\"in_progress\",\"stage\":\"tests\"}",
                Says::Waiting,
            ),
            ("No agents completed yet", Says::Waiting),
            ("503 Service Unavailable", Says::Waiting),
            ("{\"status\": \"checking\"}", Says::News),
            ("No matches found", Says::Nothing),
            ("", Says::Nothing),
            ("Process exited with code 1\nOutput:\n", Says::Nothing),
            ("{\"messages\": [], \"count\": 0}", Says::Nothing),
            ("available", Says::Nothing),
            ("ok", Says::Mute),
            ("[image omitted]", Says::Mute),
            ("{\"ok\": true}", Says::Mute),
            (refused, Says::Refusal),
            ("Error: no such file", Says::Refusal),
            ("/home/dev/quant", Says::News),
            ("48 passed in 5.31s", Says::News),
        ] {
            assert_eq!(classify(text, false, "run({})"), expected, "{text}");
        }
        assert_eq!(
            classify("", false, "bash({\"command\":\"sleep 30\"})"),
            Says::Waiting
        );
        assert_eq!(classify("no such file", true, "run({})"), Says::Refusal);
    }
}
