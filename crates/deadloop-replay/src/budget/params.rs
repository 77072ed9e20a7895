//! [`Budget`]: one setting of a context budget, and its parameters.

use deadloop_detect::Value;
use deadloop_detect::harness::{Param, Params, Refusal, Spec, short_hash};

deadloop_detect::words! {
    /// The methods of counting tokens.
    pub enum TokenCounter {
        /// 4 chars per token, rounded up per event.
        Quarter = "chars/4",
        /// 3.3 chars per token, rounded up per event.
        Third = "chars/3.3",
        /// The recorded tokens, or an estimate for events without a record.
        Recorded = "recorded",
    }
}

impl TokenCounter {
    /// Returns the number of chars per token, for estimates.
    pub fn chars(self) -> f64 {
        match self {
            Self::Quarter | Self::Recorded => 4.0,
            Self::Third => 3.3,
        }
    }
}

deadloop_detect::words! {
    /// The ways to shorten a prompt above the threshold.
    pub enum Policy {
        /// Replaces old events by a summary.
        Summary = "summary",
        /// Removes old events.
        Drop = "drop",
        /// Never shortens prompts, as without a guard.
        Never = "never",
    }
}

impl Policy {
    /// Returns whether the policy uses the parameter with this name.
    pub fn reads(self, param: &str) -> bool {
        match param {
            "threshold" => self != Self::Never,
            "keep" => matches!(self, Self::Summary | Self::Drop),
            "summary" => self == Self::Summary,
            _ => true,
        }
    }
}

/// A setting of a context budget. Shares are fractions of the window.
#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    /// The method of counting tokens.
    pub counter: TokenCounter,
    /// The model's context window, in tokens.
    pub window: u64,
    /// The share of the window, less the tool definitions, above which the policy acts.
    pub threshold: f64,
    /// The share kept free for the answer. A prompt that exceeds the rest overflows.
    pub reserve: f64,
    /// The number of tokens of the tool definitions, which begin every prompt.
    pub tools: u64,
    /// The share kept for the newest events, which are never summarised or removed.
    pub keep: f64,
    /// The maximum share of a summary.
    pub summary: f64,
    /// The method of shortening a prompt that exceeds the threshold.
    pub policy: Policy,
    /// The price of a cached prompt token, which was at the same position in the previous request. Other tokens cost 1.
    pub cache: f64,
}

/// The specification of a budget's parameters.
pub static SPEC: Spec = Spec {
    name: "budget",
    about: "what a run's context holds, and what is done when it is full",
    params: PARAMS,
    check: |params| Budget::from_params(params).check(),
    ..Spec::PLAIN
};

/// The parameters of a budget, in the order in which they are written.
const PARAMS: &[Param] = &[
    Param::word("counter", TokenCounter::Quarter.name(), &TokenCounter::NAMES)
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
    Param::word("policy", "summary", &["summary", "drop"]).doc("what is done with old events"),
    Param::share("cache", 1.0)
        .unit("price of a token")
        .doc("of a prompt token that stood in the same place before; others cost 1, and so does what a summary writes"),
];

impl Default for Budget {
    fn default() -> Self {
        Self::from_params(&SPEC.defaults())
    }
}

impl Budget {
    /// Returns the setting with these parameters, which must have been checked.
    pub(crate) fn from_params(params: &Params) -> Self {
        Self {
            counter: TokenCounter::named(params.text("counter")).unwrap_or(TokenCounter::Quarter),
            window: params.count("window"),
            threshold: params.float("threshold"),
            reserve: params.float("reserve"),
            tools: params.count("tools"),
            keep: params.float("keep"),
            summary: params.float("summary"),
            policy: Policy::named(params.text("policy")).unwrap_or(Policy::Summary),
            cache: params.float("cache"),
        }
    }

    /// Returns the parameters of the setting.
    pub fn params(&self) -> Params {
        let mut params = SPEC.defaults();
        for param in PARAMS {
            params.set(param.name, self.param_value(param.name));
        }
        params
    }

    /// Returns the value of a parameter.
    fn param_value(&self, name: &str) -> Value {
        let count = |n: u64| Value::Int(i64::try_from(n).unwrap_or(i64::MAX));
        let text = |word: &str| Value::Text(word.to_owned());
        match name {
            "counter" => text(self.counter.name()),
            "window" => count(self.window),
            "threshold" => Value::Float(self.threshold),
            "reserve" => Value::Float(self.reserve),
            "tools" => count(self.tools),
            "keep" => Value::Float(self.keep),
            "summary" => Value::Float(self.summary),
            "policy" => text(self.policy.name()),
            _ => Value::Float(self.cache),
        }
    }

    /// Rejects an impossible budget.
    ///
    /// # Errors
    ///
    /// Returns an error if the tool definitions fill the window.
    pub fn check(&self) -> Result<(), Refusal> {
        if self.tools < self.window {
            Ok(())
        } else {
            Refusal::err(
                "tools",
                format!(
                    "tools = {} tokens fill the window of {}; expected fewer",
                    self.tools, self.window
                ),
            )
        }
    }

    /// Returns the used parameters with their values, as written to a file.
    pub fn columns(&self) -> Vec<(&'static str, Value)> {
        let names = PARAMS.iter().map(|param| param.name);
        let read = names.filter(|name| self.policy.reads(name));
        read.map(|name| (name, self.param_value(name))).collect()
    }

    /// Returns a short hash of the parameters, which names the setting in every run.
    pub fn id(&self) -> String {
        short_hash(&format!("budget 1; {}", self.canonical()))
    }

    /// Returns the parameters as text. Two settings with the same effect have the same text.
    pub fn canonical(&self) -> String {
        let columns = self.columns();
        let parts: Vec<String> = columns.iter().map(|(k, v)| format!("{k}={v}")).collect();
        parts.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use deadloop_detect::harness::Domain;

    use super::*;

    #[test]
    fn every_parameter_has_its_field() {
        // Each parameter has a different value, so that a missing or swapped field shows.
        let mut params = SPEC.defaults();
        for (at, param) in PARAMS.iter().enumerate() {
            let other = match param.domain {
                Domain::Int { .. } => Value::Int(at as i64 + 200),
                Domain::Float { .. } => Value::Float(0.1 + at as f64 / 100.0),
                Domain::Word(words) => Value::Text(words[1].into()),
                _ => unreachable!("{} is no number and no word", param.name),
            };
            params.set(param.name, other);
        }
        assert_eq!(Budget::from_params(&params).params(), params);
        // Each word keeps its meaning.
        for param in PARAMS {
            if let Domain::Word(words) = param.domain {
                for word in words {
                    params.set(param.name, Value::Text((*word).into()));
                    assert_eq!(Budget::from_params(&params).params(), params, "{word}");
                }
            }
        }
        assert_eq!(Budget::default().params(), SPEC.defaults());
    }
}
