//! [`ResultComparison`]: normalises results before they are compared, and classifies them.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use super::recent_results::ID_MARK;
use super::window::WITH_RESULT;
use super::{
    ARGUMENTS, CallDigest, KINDS, MeterResult, ResultClass, STATELESS_CHARS, STATELESS_N, VOLATILE,
    WAITING_N, ids, result_class,
};
use crate::settings::param::Param;
use crate::settings::params::Params;
use crate::stream::CutText;

/// The parameter `normalise`: the kinds of text, such as times and ids, that comparisons ignore.
pub(crate) const NORMALISE: Param = Param::words(
    "normalise",
    &[],
    &[
        "times",
        "durations",
        "addresses",
        "ids",
        "temp-paths",
        "numbers",
        "dates",
        "tokens",
        "pids",
        "ports",
    ],
)
.doc("taken as equal in results, whatever it is");

/// The pattern of each word of [`NORMALISE`], in the order of application.
static PATTERNS: LazyLock<Vec<(&'static str, Regex)>> = LazyLock::new(|| {
    let of = [
        (
            "times",
            r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?",
        ),
        ("times", r"\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b"),
        (
            "durations",
            r"\b\d+(?:\.\d+)?\s?(?:ms|s|sec|secs|seconds|us|µs|min)\b",
        ),
        (
            "durations",
            r#"(?i)\b(?:\w+_(?:ms|s|secs|seconds)|uptime|elapsed|duration|took)"?\s?[:=]\s?\d+(?:\.\d+)?"#,
        ),
        ("addresses", r"0x[0-9a-fA-F]{4,}"),
        (
            "ids",
            r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
        ),
        ("temp-paths", r"/tmp/[\w.-]+"),
        ("dates", DATES),
        (
            "pids",
            r"(?im)\bp?pid\b\W{0,4}\d+|\bprocess \d+|\b[a-z]\w*\[\d+\]:|^\[\d+\] \d+$",
        ),
        (
            "ports",
            r"(?i)\bport\b\W{0,4}\d{2,5}\b|\blocalhost:\d{2,5}\b|\b\d{1,3}(?:\.\d{1,3}){3}:\d{2,5}\b",
        ),
    ];
    let compiled = of.map(|(word, pattern)| Some((word, Regex::new(pattern).ok()?)));
    compiled.into_iter().flatten().collect()
});

/// The pattern of dates (mail, HTTP, ISO 8601, ctime), times of day and Unix times. Unix times are in seconds,
/// milliseconds or microseconds, and limited to 2017 to 2033, so that few other numbers match.
const DATES: &str = concat!(
    r"(?:(?-u:\b)(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? )?(?-u:\b)(?:",
    r"[0-9]{1,2}[ -](?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*[ -][0-9]{2,4}(?:,? [0-9][0-9]:[0-9][0-9](?::[0-9][0-9])?)?",
    r"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* {1,2}[0-9]{1,2},? (?:[0-9][0-9]:[0-9][0-9](?::[0-9][0-9])? )?(?:[A-Z]{3,4} )?[0-9]{4}",
    r")(?: (?:GMT|UTC|[+-][0-9]{4}))?",
    r"|(?-u:\b)[0-9]{4}-[0-9][0-9]-[0-9][0-9](?:[T ][0-9][0-9]:[0-9][0-9](?::[0-9][0-9])?(?:[.,][0-9]+)?)?(?:Z|[+-][0-9][0-9]:?[0-9][0-9])?",
    r"|(?-u:\b)[0-9][0-9]:[0-9][0-9]:[0-9][0-9](?:[.,][0-9]+)?(?-u:\b)",
    r"|(?-u:\b)1[5-9][0-9]{8}(?:[0-9]{3}|[0-9]{6})?(?:\.[0-9]+)?(?-u:\b)",
);

/// Placeholder of a date in a compared text.
const DATE_MARK: &str = "<dates>";

/// Placeholder of a number in a compared text.
const NUMBERS_MARK: &str = "<numbers>";

static NUMBERS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\d+").ok());

static DATE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(DATES).ok());

/// The options of a comparison of results, shared by the meters of a recipe.
pub(crate) struct ResultComparison {
    normalise: Vec<(&'static str, Regex)>,
    /// Whether `normalise` has the word `tokens`.
    tokens: bool,
    /// Whether `normalise` has the word `numbers`.
    pub(super) numbers: bool,
    pub(super) volatile: bool,
    /// Whether counters are ignored.
    pub(super) counters: bool,
    /// Whether results are classified into all classes of [`ResultClass`].
    pub(super) kinds: bool,
    pub(super) waiting_n: u64,
    pub(super) stateless_n: u64,
    stateless_chars: usize,
    pub(super) with_result: bool,
    pub(super) arguments: bool,
}

impl ResultComparison {
    pub(crate) fn new(params: &Params) -> Self {
        let words = params.items(NORMALISE.name);
        let wanted = |word: &str| words.iter().any(|item| item.as_text() == Some(word));
        let patterns = PATTERNS.iter().filter(|(word, _)| wanted(word));
        Self {
            normalise: patterns.cloned().collect(),
            tokens: wanted("tokens"),
            numbers: wanted("numbers"),
            volatile: matches!(params.text(VOLATILE.name), "row" | "counters"),
            counters: params.text(VOLATILE.name) == "counters",
            kinds: params.flag(KINDS.name),
            waiting_n: params.count(WAITING_N.name),
            stateless_n: params.count(STATELESS_N.name),
            stateless_chars: usize::try_from(params.count(STATELESS_CHARS.name))
                .unwrap_or(usize::MAX),
            with_result: params.flag(WITH_RESULT),
            arguments: params.flag(ARGUMENTS.name),
        }
    }

    /// Returns the text by which a result is compared: its normalised content, and the hash of the whole text if the
    /// content is cut. With `volatile`, numbers stay for [`ResultComparison::without_numbers`], since ids are
    /// recognised by their digits.
    pub(crate) fn result<'a>(&self, content: &'a str, cut: Option<CutText<'_>>) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(content);
        for (word, pattern) in &self.normalise {
            let put = format!("<{word}>");
            if let Cow::Owned(replaced) = pattern.replace_all(&text, put.as_str()) {
                text = Cow::Owned(replaced);
            }
        }
        if self.tokens
            && let Cow::Owned(replaced) = ids::replace_ids(&text, |_| "<tokens>".into())
        {
            text = Cow::Owned(replaced);
        }
        if !self.volatile {
            text = self.without_numbers(text);
        }
        if let Some(cut) = cut {
            let text = text.to_mut();
            text.push('\0');
            // `volatile` removes ids, which have digits, so the hash is written in letters.
            let letter = |c: char| c.to_digit(10).and_then(|n| char::from_digit(n + 16, 36));
            text.extend(cut.sha256.chars().map(|c| letter(c).unwrap_or(c)));
        }
        text
    }

    /// Returns whether earlier results are needed.
    pub(super) fn needs_history(&self) -> bool {
        self.volatile || self.stateless_n > 0 || self.kinds
    }

    /// Replaces the numbers of a text by a placeholder, if `numbers` is set.
    pub(super) fn without_numbers<'t>(&self, text: Cow<'t, str>) -> Cow<'t, str> {
        match &*NUMBERS {
            Some(digits) if self.numbers => match digits.replace_all(&text, NUMBERS_MARK) {
                Cow::Owned(replaced) => Cow::Owned(replaced),
                Cow::Borrowed(_) => text,
            },
            _ => text,
        }
    }

    /// Classifies a result. Without `kinds`, a result is either [`ResultClass::Uninformative`] or [`ResultClass::Other`].
    pub(super) fn classify(&self, call: &CallDigest, result: &MeterResult<'_>) -> ResultClass {
        if !self.kinds {
            return if self.is_uninformative(result) {
                ResultClass::Uninformative
            } else {
                ResultClass::Other
            };
        }
        if result.cut.is_some() {
            return ResultClass::from_error(result.error);
        }
        let text = self.without_tags_and_names(result.content, result_class::MAX_TEXT);
        result_class::classify(text.trim(), result.error, &call.unit)
    }

    /// Removes the tags of a result. With `volatile`, also removes named ids and dates if the text has about `longest` bytes.
    fn without_tags_and_names<'t>(&self, content: &'t str, longest: usize) -> Cow<'t, str> {
        let text = without_tags(content);
        if self.volatile && text.len() <= longest + MAX_NAMES {
            return Cow::Owned(without_names(&self.without_volatile(&text)).into_owned());
        }
        text
    }

    /// Replaces dates and ids by placeholders, if `volatile` is set.
    pub(super) fn without_volatile<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.volatile {
            Cow::Owned(ids::replace_ids(&without_dates(text), |_| ID_MARK.into()).into_owned())
        } else {
            Cow::Borrowed(text)
        }
    }

    /// Returns whether a result carries no information. Such a result is neither an error nor cut, is at most
    /// `stateless_chars` long without its tags (`<output>`), and has no digit except 0. With `volatile`, the id and the
    /// date of a response are not counted. Always false if `stateless_n` is 0.
    pub(super) fn is_uninformative(&self, result: &MeterResult<'_>) -> bool {
        if self.stateless_n == 0 || result.error || result.cut.is_some() {
            return false;
        }
        let text = self.without_tags_and_names(result.content, self.stateless_chars);
        let text = text.trim();
        text.chars().nth(self.stateless_chars).is_none()
            && text.chars().all(|c| c == '0' || !c.is_numeric())
            // A result that is only an id or a date carries information.
            && !text.contains(ID_MARK)
            && !text.contains(DATE_MARK)
    }
}

/// Replaces dates and times of day by a placeholder.
pub(super) fn without_dates(text: &str) -> Cow<'_, str> {
    match &*DATE {
        Some(date) => date.replace_all(text, DATE_MARK),
        None => Cow::Borrowed(text),
    }
}

/// Folds a text for comparison: replaces each date, id and number by a placeholder, letters by lower case, and white
/// space by single blanks.
pub(crate) fn fold_text(text: &str) -> String {
    let text = without_dates(text);
    let text = ids::replace_ids(&text, |_| "#".into()).to_lowercase();
    let mut folded = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        for c in word.chars() {
            match c.is_numeric() {
                true if folded.ends_with('#') => {}
                true => folded.push('#'),
                false => folded.push(c),
            }
        }
    }
    folded
}

/// The maximum number of bytes of field names, ids and dates around a result without information.
const MAX_NAMES: usize = 400;

/// Removes fields (`"request_id": …`) and lines (`date: …`) whose value is a replaced id or date.
fn without_names(text: &str) -> Cow<'_, str> {
    static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let drawn = format!(r"(?:\x00|{DATE_MARK})");
        let name = r"[\w-]*(?:id|ref|trace|date|time|stamp)";
        let field = format!(r#""{name}"\s*:\s*"{drawn}""#);
        let line = format!(r"^{name}\s*[:=]\s*{drawn}\s*$");
        Regex::new(&format!(r"(?mi)(?:{field}|{line})\s*,?")).ok()
    });
    match &*NAMED {
        Some(named) => named.replace_all(text, ""),
        None => Cow::Borrowed(text),
    }
}

/// Removes all text between angle brackets.
fn without_tags(text: &str) -> Cow<'_, str> {
    static TAG: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("<[^<>]*>").ok());
    match &*TAG {
        Some(tag) => tag.replace_all(text, ""),
        None => Cow::Borrowed(text),
    }
}

/// Returns the parameter for the number of compared chars of an error.
pub(crate) const fn prefix() -> Param {
    Param::count("prefix", 100, 1..=10_000)
        .unit("chars")
        .doc("how many first chars of its text make two errors the same")
}

/// Returns the first `chars` characters of a text.
pub(crate) fn start_of(text: &str, chars: usize) -> &str {
    let end = text.char_indices().nth(chars).map(|(at, _)| at);
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_ids_and_dates_are_uninformative() {
        let left = |text: &str| without_names(text).trim().to_owned();
        for (text, expected) in [
            ("ok\nrequest_id: \0\ndate: <dates>", "ok"),
            (
                "{\"ok\": true, \"id\": \"\0\", \"Date\": \"<dates>\"}",
                "{\"ok\": true,  }",
            ),
            ("{\"return\": \"\0\"}", "{\"return\": \"\0\"}"),
            ("moved \0 to the front", "moved \0 to the front"),
            ("state: done", "state: done"),
        ] {
            assert_eq!(left(text), expected);
        }
    }
}
