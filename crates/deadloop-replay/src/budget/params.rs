//! [`Budget`]: one setting of a context budget, its parameters, its presets, and what is unsafe in it.

use std::fmt;

use deadloop_detect::{Domain, Literal, Mark, Param, Value, meant, short_hash};

/// How tokens are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Counter {
    /// Chars divided by 4, rounded up for each event.
    Quarter,
    /// Chars divided by 3.3, likewise.
    Third,
    /// What the recording says, estimated where it says nothing.
    Recorded,
}

impl Counter {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Quarter, Self::Third, Self::Recorded];

    /// The name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Quarter => "chars/4",
            Self::Third => "chars/3.3",
            Self::Recorded => "recorded",
        }
    }

    /// Chars of a token, where it is an estimate and where one has to be made.
    pub fn chars(self) -> f64 {
        match self {
            Self::Quarter | Self::Recorded => 4.0,
            Self::Third => 3.3,
        }
    }
}

/// What is done with old events when the threshold is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Policy {
    /// A summary replaces them.
    Summary,
    /// They are left out.
    Drop,
    /// Old results become stubs; all else stays.
    ClearResults,
    /// Nothing: what the run is without a guard.
    Never,
}

impl Policy {
    /// Those that a setting can ask for.
    pub const ALL: [Self; 3] = [Self::Summary, Self::Drop, Self::ClearResults];

    /// The name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Summary => "summary",
            Self::Drop => "drop",
            Self::ClearResults => "clear-results",
            Self::Never => "never",
        }
    }
}

/// One setting. Shares are of the window.
#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    /// How tokens are counted.
    pub counter: Counter,
    /// Tokens that the model takes.
    pub window: u64,
    /// The share of the window, without the tools' definitions, above which something is done.
    pub threshold: f64,
    /// The share that is kept free for the answer: a longer prompt is an overflow.
    pub reserve: f64,
    /// Tokens of the tools' definitions, which stand before everything.
    pub tools: u64,
    /// The share that the newest events may take, which stay as they are.
    pub keep: f64,
    /// The share that a summary takes at most.
    pub summary: f64,
    /// What is done.
    pub policy: Policy,
    /// Results that are not cleared, the newest.
    pub keep_results: u64,
    /// Tokens that clearing has to free to be done.
    pub clear_at_least: u64,
    /// Globs on the names of tools whose results are not cleared.
    pub exclude: Vec<String>,
    /// The price of a prompt token that stood in the same place in the request before; others cost 1.
    pub cache: f64,
}

const fn structural(
    name: &'static str,
    default: Literal,
    domain: Domain,
    unit: &'static str,
    doc: &'static str,
) -> Param {
    Param {
        name,
        mark: Mark::Structural,
        default,
        domain,
        unit,
        doc,
    }
}

const SHARE: Domain = Domain::Float { min: 0.0, max: 1.0 };

/// The parameters of a budget, in the order in which they are written.
pub const PARAMS: &[Param] = &[
    structural(
        "counter",
        Literal::Text("chars/4"),
        Domain::Word(&["chars/4", "chars/3.3", "recorded"]),
        "",
        "how tokens are counted: estimated from chars event by event, or as the recording says",
    ),
    structural(
        "window",
        Literal::Int(128_000),
        Domain::Int {
            min: 100,
            max: 100_000_000,
        },
        "tokens",
        "what the model takes",
    ),
    structural(
        "threshold",
        Literal::Float(0.85),
        Domain::Float {
            min: 0.05,
            max: 1.0,
        },
        "share of window - tools",
        "above it something is done",
    ),
    structural(
        "reserve",
        Literal::Float(0.1),
        Domain::Float { min: 0.0, max: 0.9 },
        "share of the window",
        "kept free for the answer: a longer prompt is an overflow",
    ),
    structural(
        "tools",
        Literal::Int(0),
        Domain::Int {
            min: 0,
            max: 10_000_000,
        },
        "tokens",
        "definitions of tools, before everything",
    ),
    structural(
        "keep",
        Literal::Float(0.2),
        SHARE,
        "share of the window",
        "the newest events that stay as they are",
    ),
    structural(
        "summary",
        Literal::Float(0.05),
        SHARE,
        "share of the window",
        "what a summary takes at most",
    ),
    structural(
        "policy",
        Literal::Text("summary"),
        Domain::Word(&["summary", "drop", "clear-results"]),
        "",
        "what is done with old events",
    ),
    structural(
        "keep_results",
        Literal::Int(3),
        Domain::Int {
            min: 0,
            max: 10_000,
        },
        "results",
        "clear-results: the newest, which stay",
    ),
    structural(
        "clear_at_least",
        Literal::Int(0),
        Domain::Int {
            min: 0,
            max: 100_000_000,
        },
        "tokens",
        "clear-results: what it has to free to be done",
    ),
    structural(
        "exclude",
        Literal::Texts(&[]),
        Domain::Globs,
        "",
        "clear-results: tools whose results stay",
    ),
    structural(
        "cache",
        Literal::Float(1.0),
        SHARE,
        "price of a token",
        "of a prompt token that stood in the same place before; others cost 1, and so does what a summary writes",
    ),
];

/// What is to be known of a setting before it is used.
#[derive(Clone, Debug, PartialEq)]
pub enum Remark {
    /// The threshold lies above what the reserve leaves: prompts between the two overflow, and nothing is done.
    Unsafe {
        /// The threshold.
        threshold: f64,
        /// The reserve.
        reserve: f64,
    },
    /// What is left after a summary is over the threshold already: one summary follows the other.
    Thrashes {
        /// What stays at most, a share of the window.
        left: f64,
        /// The threshold.
        threshold: f64,
    },
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsafe { threshold, reserve } => write!(
                f,
                "unsafe: threshold {threshold} is above 1 - reserve = {}; a prompt between the two overflows and is not \
                 summarised before; lower the threshold to {} or less",
                tidy(1.0 - reserve),
                tidy(1.0 - reserve)
            ),
            Self::Thrashes { left, threshold } => write!(
                f,
                "keep + summary = {} is at least the threshold {threshold}: what a summary leaves can be over it again",
                tidy(*left)
            ),
        }
    }
}

/// A share without the last bits of binary arithmetic.
fn tidy(x: f64) -> f64 {
    (x * 1e9).round() / 1e9
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            counter: Counter::Quarter,
            window: 128_000,
            threshold: 0.85,
            reserve: 0.1,
            tools: 0,
            keep: 0.2,
            summary: 0.05,
            policy: Policy::Summary,
            keep_results: 3,
            clear_at_least: 0,
            exclude: Vec::new(),
            cache: 1.0,
        }
    }
}

impl Budget {
    /// Sets a parameter to a value that its domain has passed.
    pub(super) fn set(&mut self, name: &str, value: &Value) {
        let share = value.as_number().unwrap_or(0.0);
        let count = value.as_int().unwrap_or(0).max(0).unsigned_abs();
        let word = value.as_text().unwrap_or("");
        match name {
            "counter" => {
                let named = Counter::ALL.into_iter().find(|c| c.name() == word);
                self.counter = named.unwrap_or(self.counter);
            }
            "policy" => {
                let named = Policy::ALL.into_iter().find(|p| p.name() == word);
                self.policy = named.unwrap_or(self.policy);
            }
            "window" => self.window = count,
            "threshold" => self.threshold = share,
            "reserve" => self.reserve = share,
            "tools" => self.tools = count,
            "keep" => self.keep = share,
            "summary" => self.summary = share,
            "keep_results" => self.keep_results = count,
            "clear_at_least" => self.clear_at_least = count,
            "exclude" => {
                let globs = value.items().iter().filter_map(Value::as_text);
                self.exclude = globs.map(str::to_owned).collect();
            }
            "cache" => self.cache = share,
            _ => {}
        }
    }

    /// Refuses a budget that is impossible, and says why.
    ///
    /// # Errors
    /// The definitions of tools fill the window.
    pub fn check(&self) -> Result<(), String> {
        match self.tools < self.window {
            true => Ok(()),
            false => Err(format!(
                "tools = {} tokens fill the window of {}; expected fewer",
                self.tools, self.window
            )),
        }
    }

    /// Returns the remarks to print when it is read.
    pub fn remarks(&self) -> Vec<Remark> {
        let mut remarks = Vec::new();
        if self.policy == Policy::Never {
            return remarks;
        }
        if self.is_unsafe() {
            remarks.push(Remark::Unsafe {
                threshold: self.threshold,
                reserve: self.reserve,
            });
        }
        let left = match self.policy {
            Policy::Summary => self.keep + self.summary,
            Policy::Drop => self.keep,
            Policy::ClearResults | Policy::Never => 0.0,
        };
        if left >= self.threshold {
            remarks.push(Remark::Thrashes {
                left,
                threshold: self.threshold,
            });
        }
        remarks
    }

    /// Whether it lets a prompt overflow by construction.
    pub fn is_unsafe(&self) -> bool {
        self.threshold > tidy(1.0 - self.reserve)
    }

    /// Its parameters as they are written in a file; those that its policy does not read are left out.
    pub fn columns(&self) -> Vec<(&'static str, Value)> {
        let text = |word: &str| Value::Text(word.to_owned());
        let int = |n: u64| Value::Int(i64::try_from(n).unwrap_or(i64::MAX));
        let globs = self.exclude.iter().map(|glob| text(glob)).collect();
        let all = [
            ("counter", text(self.counter.name())),
            ("window", int(self.window)),
            ("threshold", Value::Float(self.threshold)),
            ("reserve", Value::Float(self.reserve)),
            ("tools", int(self.tools)),
            ("keep", Value::Float(self.keep)),
            ("summary", Value::Float(self.summary)),
            ("policy", text(self.policy.name())),
            ("keep_results", int(self.keep_results)),
            ("clear_at_least", int(self.clear_at_least)),
            ("exclude", Value::List(globs)),
            ("cache", Value::Float(self.cache)),
        ];
        let read = |name: &str| match name {
            "threshold" => self.policy != Policy::Never,
            "keep" => matches!(self.policy, Policy::Summary | Policy::Drop),
            "summary" => self.policy == Policy::Summary,
            "keep_results" | "clear_at_least" | "exclude" => self.policy == Policy::ClearResults,
            _ => true,
        };
        all.into_iter().filter(|(name, _)| read(name)).collect()
    }

    /// A short hash of its parameters: the same setting has the same name in every run.
    pub fn id(&self) -> String {
        short_hash(&format!("budget 1; {}", self.told()))
    }

    /// Its parameters as a text: two settings that do the same have the same.
    pub fn told(&self) -> String {
        let columns = self.columns();
        let parts: Vec<String> = columns.iter().map(|(k, v)| format!("{k}={v}")).collect();
        parts.join("; ")
    }
}

/// A setting under a name.
#[derive(Clone, Debug, PartialEq)]
pub struct BudgetPreset {
    /// What `--preset` calls it.
    pub name: &'static str,
    /// What it stands for.
    pub about: &'static str,
    /// When something is done, a share of the window.
    pub threshold: f64,
    /// What stays, a share of the window.
    pub keep: f64,
    /// Where also this share of the window, less the answer's reserve, is a threshold: that share.
    pub less_answer: Option<f64>,
}

/// The thresholds that programs in use and seed 004 have. What of theirs is not a share of the window is left out.
pub fn presets() -> &'static [BudgetPreset] {
    const fn of(name: &'static str, threshold: f64, about: &'static str) -> BudgetPreset {
        BudgetPreset {
            name,
            about,
            threshold,
            keep: 0.2,
            less_answer: None,
        }
    }
    const ALL: &[BudgetPreset] = &[
        of(
            "seed-004",
            0.85,
            "design document on context and iterations: SUMMARIZATION_THRESHOLD",
        ),
        of("copilot", 0.85, "Copilot Chat: the summary at 0.85"),
        of("claude-code", 0.835, "Claude Code: the summary at 0.835"),
        of("codex", 0.9, "Codex CLI: the summary at 0.9"),
        BudgetPreset {
            name: "gemini-cli",
            about: "Gemini CLI: half of the window, three tenths kept",
            threshold: 0.5,
            keep: 0.3,
            less_answer: None,
        },
        BudgetPreset {
            name: "roo",
            about: "Roo Code: all of the window, or 0.9 of it less the answer's reserve, whichever comes first",
            threshold: 1.0,
            keep: 0.2,
            less_answer: Some(0.9),
        },
        of("goose", 0.8, "goose: the summary at 0.8"),
        of("loom", 0.92, "Loom: the summary at 0.92"),
    ];
    ALL
}

/// The preset of that name.
///
/// # Errors
/// There is none; the error says which there are.
pub fn preset(name: &str) -> Result<&'static BudgetPreset, String> {
    let known: Vec<&str> = presets().iter().map(|preset| preset.name).collect();
    presets().iter().find(|p| p.name == name).ok_or_else(|| {
        format!(
            "unknown preset \"{name}\"{}; there is: {}",
            meant(name, known.iter().copied()),
            known.join(", ")
        )
    })
}

impl BudgetPreset {
    /// The setting in the world of another: its window, counter, prices and reserve, this one's threshold and keep.
    pub fn within(&self, world: &Budget) -> Budget {
        let less = self.less_answer.map(|share| tidy(share - world.reserve));
        let threshold = less.map_or(self.threshold, |less| less.min(self.threshold));
        Budget {
            threshold: threshold.max(0.05),
            keep: self.keep,
            policy: Policy::Summary,
            summary: Budget::default().summary,
            ..world.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_those_that_the_parameters_say() {
        let mut read = Budget {
            window: 0,
            threshold: 0.0,
            reserve: 0.0,
            keep: 0.0,
            summary: 0.0,
            keep_results: 0,
            cache: 0.0,
            ..Budget::default()
        };
        for param in PARAMS {
            read.set(param.name, &param.default.into());
        }
        assert_eq!(read, Budget::default());
    }

    #[test]
    fn a_threshold_above_what_the_reserve_leaves_is_unsafe() {
        let at = |threshold| Budget {
            threshold,
            ..Budget::default()
        };
        assert!(!at(0.9).is_unsafe() && at(0.91).is_unsafe());
        assert!(at(0.92).remarks()[0].to_string().starts_with("unsafe: "));
        assert!(at(0.85).remarks().is_empty());
        assert!(matches!(at(0.25).remarks()[0], Remark::Thrashes { .. }));
    }
}
