//! [`Budget`]: one setting of a context budget, and its parameters.

use deadloop_detect::{Param, Value, short_hash};

/// How tokens are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Counter {
    /// Chars divided by 4, rounded up for each event.
    Quarter,
    /// Chars divided by 3.3, rounded up for each event.
    Third,
    /// The tokens that were recorded; an estimate for events without.
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

    /// The chars of a token, for estimates.
    pub fn chars(self) -> f64 {
        match self {
            Self::Quarter | Self::Recorded => 4.0,
            Self::Third => 3.3,
        }
    }
}

/// What happens to old events when a prompt exceeds the threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Policy {
    /// A summary replaces them.
    Summary,
    /// They are left out.
    Drop,
    /// Old results become stubs; everything else stays.
    ClearResults,
    /// Nothing happens: the run without a guard.
    Never,
}

impl Policy {
    /// The policies that a setting can have.
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

/// One setting of a context budget. Shares are shares of the window.
#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    /// How tokens are counted.
    pub counter: Counter,
    /// The model's context window, in tokens.
    pub window: u64,
    /// The policy acts when a prompt exceeds this share of the window less the tools' definitions.
    pub threshold: f64,
    /// The share that is kept free for the answer: a longer prompt is an overflow.
    pub reserve: f64,
    /// The tokens of the tools' definitions, which are at the start of every prompt.
    pub tools: u64,
    /// The share for the newest events, which stay as they are.
    pub keep: f64,
    /// The largest share that a summary takes.
    pub summary: f64,
    /// What happens to old events.
    pub policy: Policy,
    /// How many of the newest results are never cleared.
    pub keep_results: u64,
    /// The fewest tokens that clearing has to free; else nothing is cleared.
    pub clear_at_least: u64,
    /// Globs on the names of tools whose results are not cleared.
    pub exclude: Vec<String>,
    /// The price of a prompt token that was at the same place in the previous request; other tokens cost 1.
    pub cache: f64,
}

/// The parameters of a budget, in the order in which they are written.
pub const PARAMS: &[Param] = &[
    Param::word("counter", "chars/4", &["chars/4", "chars/3.3", "recorded"])
        .doc("how tokens are counted: estimated from chars event by event, or as the recording says"),
    Param::count("window", 128_000, 100..=100_000_000).unit("tokens").doc("what the model takes"),
    Param::number("threshold", 0.85, 0.05..=1.0)
        .unit("share of window - tools")
        .doc("above it something is done"),
    Param::number("reserve", 0.1, 0.0..=0.9)
        .unit("share of the window")
        .doc("kept free for the answer: a longer prompt is an overflow"),
    Param::count("tools", 0, 0..=10_000_000)
        .unit("tokens")
        .doc("definitions of tools, before everything"),
    Param::share("keep", 0.2)
        .unit("share of the window")
        .doc("the newest events that stay as they are"),
    Param::share("summary", 0.05).unit("share of the window").doc("what a summary takes at most"),
    Param::word("policy", "summary", &["summary", "drop", "clear-results"])
        .doc("what is done with old events"),
    Param::count("keep_results", 3, 0..=10_000)
        .unit("results")
        .doc("clear-results: the newest, which stay"),
    Param::count("clear_at_least", 0, 0..=100_000_000)
        .unit("tokens")
        .doc("clear-results: what it has to free to be done"),
    Param::globs("exclude").doc("clear-results: tools whose results stay"),
    Param::share("cache", 1.0)
        .unit("price of a token")
        .doc("of a prompt token that stood in the same place before; others cost 1, and so does what a summary writes"),
];

/// A field of a budget, by what it holds.
enum Slot<'a> {
    Count(&'a mut u64),
    Share(&'a mut f64),
    Counter(&'a mut Counter),
    Policy(&'a mut Policy),
    Globs(&'a mut Vec<String>),
}

impl Slot<'_> {
    /// Takes a value that is in the domain of the field's parameter.
    fn set(self, value: &Value) {
        let word = value.as_text().unwrap_or("");
        match self {
            Self::Count(count) => *count = value.as_int().unwrap_or(0).max(0).unsigned_abs(),
            Self::Share(share) => *share = value.as_number().unwrap_or(0.0),
            Self::Counter(counter) => {
                let named = Counter::ALL.into_iter().find(|c| c.name() == word);
                *counter = named.unwrap_or(*counter);
            }
            Self::Policy(policy) => {
                let named = Policy::ALL.into_iter().find(|p| p.name() == word);
                *policy = named.unwrap_or(*policy);
            }
            Self::Globs(globs) => {
                let texts = value.items().iter().filter_map(Value::as_text);
                *globs = texts.map(str::to_owned).collect();
            }
        }
    }

    fn value(self) -> Value {
        let text = |word: &str| Value::Text(word.to_owned());
        match self {
            Self::Count(count) => Value::Int(i64::try_from(*count).unwrap_or(i64::MAX)),
            Self::Share(share) => Value::Float(*share),
            Self::Counter(counter) => text(counter.name()),
            Self::Policy(policy) => text(policy.name()),
            Self::Globs(globs) => Value::List(globs.iter().map(|glob| text(glob)).collect()),
        }
    }
}

/// The defaults of the parameters.
impl Default for Budget {
    fn default() -> Self {
        let mut budget = Self {
            counter: Counter::Quarter,
            window: 0,
            threshold: 0.0,
            reserve: 0.0,
            tools: 0,
            keep: 0.0,
            summary: 0.0,
            policy: Policy::Summary,
            keep_results: 0,
            clear_at_least: 0,
            exclude: Vec::new(),
            cache: 0.0,
        };
        for param in PARAMS {
            budget.set(param.name, &param.default.into());
        }
        budget
    }
}

impl Budget {
    /// The field of a parameter.
    fn slot(&mut self, name: &str) -> Option<Slot<'_>> {
        Some(match name {
            "counter" => Slot::Counter(&mut self.counter),
            "window" => Slot::Count(&mut self.window),
            "threshold" => Slot::Share(&mut self.threshold),
            "reserve" => Slot::Share(&mut self.reserve),
            "tools" => Slot::Count(&mut self.tools),
            "keep" => Slot::Share(&mut self.keep),
            "summary" => Slot::Share(&mut self.summary),
            "policy" => Slot::Policy(&mut self.policy),
            "keep_results" => Slot::Count(&mut self.keep_results),
            "clear_at_least" => Slot::Count(&mut self.clear_at_least),
            "exclude" => Slot::Globs(&mut self.exclude),
            "cache" => Slot::Share(&mut self.cache),
            _ => return None,
        })
    }

    /// Sets a parameter to a value that is in its domain.
    pub(super) fn set(&mut self, name: &str, value: &Value) {
        if let Some(slot) = self.slot(name) {
            slot.set(value);
        }
    }

    /// Refuses an impossible budget.
    ///
    /// # Errors
    /// Returns a message if the definitions of tools fill the window.
    pub fn check(&self) -> Result<(), String> {
        if self.tools < self.window {
            Ok(())
        } else {
            Err(format!(
                "tools = {} tokens fill the window of {}; expected fewer",
                self.tools, self.window
            ))
        }
    }

    /// Its parameters as they are written to a file. Parameters that its policy ignores are left out.
    pub fn columns(&self) -> Vec<(&'static str, Value)> {
        let read = |name: &str| match name {
            "threshold" => self.policy != Policy::Never,
            "keep" => matches!(self.policy, Policy::Summary | Policy::Drop),
            "summary" => self.policy == Policy::Summary,
            "keep_results" | "clear_at_least" | "exclude" => self.policy == Policy::ClearResults,
            _ => true,
        };
        let mut own = self.clone();
        let names = PARAMS.iter().map(|param| param.name);
        let read = names.filter(|name| read(name));
        read.filter_map(|name| Some((name, own.slot(name)?.value())))
            .collect()
    }

    /// A short hash of its parameters: the same setting has the same name in every run.
    pub fn id(&self) -> String {
        short_hash(&format!("budget 1; {}", self.told()))
    }

    /// Its parameters as a text. Two settings that do the same have the same text.
    pub fn told(&self) -> String {
        let columns = self.columns();
        let parts: Vec<String> = columns.iter().map(|(k, v)| format!("{k}={v}")).collect();
        parts.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_has_its_field() {
        let mut budget = Budget::default();
        for param in PARAMS {
            let read = budget.slot(param.name).map(Slot::value);
            assert_eq!(read, Some(param.default.into()), "{}", param.name);
        }
    }
}
