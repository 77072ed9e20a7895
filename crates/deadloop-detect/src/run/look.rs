//! The parameters that every guard on runs has: which tools it does not see, when it forgets, and what of results is
//! taken as equal.

use std::borrow::Cow;
use std::sync::LazyLock;

use globset::{Glob, GlobSet, GlobSetBuilder};
use regex::Regex;

use crate::detectors::Refusal;
use crate::param::{DECIMAL, Domain, Mark, Param};
use crate::params::Params;
use crate::stream::Cut;
use crate::value::{Literal, Value};

/// The parameter that leaves out tools.
pub(crate) const ALLOW: Param = Param {
    name: "allow",
    mark: Mark::Structural,
    default: Literal::Texts(&[]),
    domain: Domain::Globs,
    unit: "",
    doc: "globs on tool names: such calls and their results are not seen",
};

/// The parameter that says when everything is forgotten.
pub(crate) const RESET: Param = Param {
    name: "reset",
    mark: Mark::Structural,
    default: Literal::Text("run"),
    domain: Domain::Word(&["run", "user"]),
    unit: "",
    doc: "user: what was seen is forgotten at each message of a user after the first turn",
};

/// The parameter that says what is left out of results before they are compared.
pub(crate) const NORMALISE: Param = Param {
    name: "normalise",
    mark: Mark::Structural,
    default: Literal::Texts(&[]),
    domain: Domain::Words(&[
        "times",
        "durations",
        "addresses",
        "ids",
        "temp-paths",
        "numbers",
    ]),
    unit: "",
    doc: "what is taken as equal in results, whatever it is",
};

/// What each word of [`NORMALISE`] replaces, in the order in which it is done.
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
        ("addresses", r"0x[0-9a-fA-F]{4,}"),
        (
            "ids",
            r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
        ),
        ("temp-paths", r"/tmp/[\w.-]+"),
        ("numbers", r"\d+"),
    ];
    let compiled = of.map(|(word, pattern)| Some((word, Regex::new(pattern).ok()?)));
    compiled.into_iter().flatten().collect()
});

/// What the meters of one recipe share.
pub(crate) struct Look {
    pub(super) allow: GlobSet,
    pub(super) forgets: bool,
    normalise: Vec<(&'static str, Regex)>,
}

impl Look {
    pub(crate) fn new(params: &Params) -> Self {
        let mut allow = GlobSetBuilder::new();
        let globs = params.items(ALLOW.name).iter();
        // What is checked is a glob.
        let globs = globs.filter_map(|item| Glob::new(item.as_text()?).ok());
        globs.for_each(|glob| {
            allow.add(glob);
        });
        let words = params.items(NORMALISE.name);
        let wanted = |word: &str| words.iter().any(|item| item.as_text() == Some(word));
        let patterns = PATTERNS.iter().filter(|(word, _)| wanted(word));
        Self {
            allow: allow.build().unwrap_or_default(),
            forgets: params.text(RESET.name) == "user",
            normalise: patterns.cloned().collect(),
        }
    }

    /// What a result is compared by: its content without what is taken as equal, and the hash of what was
    /// cut.
    pub(crate) fn result<'a>(&self, content: &'a str, cut: Option<Cut<'_>>) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(content);
        for (word, pattern) in &self.normalise {
            let put = format!("<{word}>");
            if let Cow::Owned(replaced) = pattern.replace_all(&text, put.as_str()) {
                text = Cow::Owned(replaced);
            }
        }
        if let Some(cut) = cut {
            let text = text.to_mut();
            text.push('\0');
            text.push_str(cut.sha256);
        }
        text
    }
}

/// Refuses a guard on calls that sees none, for every tool is left out.
pub(crate) fn sees_calls(params: &Params) -> Result<(), Refusal> {
    let mut globs = params.items(ALLOW.name).iter().filter_map(Value::as_text);
    match globs.find(|glob| !glob.is_empty() && glob.chars().all(|c| c == '*')) {
        Some(glob) => Err(Refusal {
            param: ALLOW.name,
            reason: format!("\"{glob}\" leaves out every tool: this setting can never fire"),
        }),
        None => Ok(()),
    }
}

/// The parameter that says how much of an error's text is compared.
pub(crate) const fn prefix() -> Param {
    Param {
        name: "prefix",
        mark: Mark::Structural,
        default: Literal::Int(100),
        domain: Domain::Int {
            min: 1,
            max: 10_000,
        },
        unit: "chars",
        doc: "how many first chars of its text make two errors the same",
    }
}

/// The first `chars` of a text.
pub(crate) fn start_of(text: &str, chars: usize) -> &str {
    let end = text.char_indices().nth(chars).map(|(at, _)| at);
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

/// What [`TELLS`] says where warnings are told.
pub(crate) const TELLS_WARNING: &str = "warning";

/// The parameter that chooses between stops and warnings, which are two operating points.
pub(crate) const TELLS: Param = Param {
    name: "tells",
    mark: Mark::Structural,
    default: Literal::Text("stop"),
    domain: Domain::Word(&["stop", TELLS_WARNING]),
    unit: "",
    doc: "which of its two alarms it tells: where it stops a run, or where it warns before that",
};

/// The parameter that says how early a warning comes.
pub(crate) const WARN_AT: Param = Param {
    name: "warn_at",
    mark: Mark::Structural,
    default: Literal::Float(0.8),
    domain: Domain::Float {
        min: 0.01,
        max: 1.0,
    },
    unit: "of the limit",
    doc: "with tells = \"warning\": the share of a limit that is used up",
};

/// The share of a limit at which it alarms, in millionths: the whole limit, or the share of a warning.
pub(crate) fn warned(params: &Params) -> i64 {
    // The domain keeps the share small.
    #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
    match params.text(TELLS.name) == TELLS_WARNING {
        true => (params.float(WARN_AT.name) * DECIMAL as f64).round() as i64,
        false => DECIMAL,
    }
}
