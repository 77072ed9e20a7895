//! [`Params`]: the values of all parameters of a detector. It knows no detector, so that detectors can read it.

use crate::settings::param::Param;
use crate::settings::value::Value;

/// All parameters of one detector or repairer, in the order of its registry entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Params(Vec<(&'static str, Value)>);

impl Params {
    /// The defaults of these parameters.
    pub fn defaults(params: &[Param]) -> Self {
        let defaults = params.iter().map(|p| (p.name, p.default.into()));
        Self(defaults.collect())
    }

    /// Each name and value.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.0.iter().map(|(name, value)| (*name, value))
    }

    /// The value of a parameter.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0
            .iter()
            .find(|(n, _)| *n == name)
            .map(|(_, value)| value)
    }

    /// Replaces the value of a parameter; a name that the detector does not have changes nothing.
    pub fn set(&mut self, name: &str, value: Value) {
        if let Some((_, old)) = self.0.iter_mut().find(|(n, _)| *n == name) {
            *old = value;
        }
    }

    /// A whole number; 0 for a parameter that does not hold one, which a checked one always does.
    pub fn int(&self, name: &str) -> i64 {
        self.get(name).and_then(Value::as_int).unwrap_or(0)
    }

    /// A whole number that counts something: [`int`](Self::int), not below 0.
    pub fn count(&self, name: &str) -> u64 {
        self.int(name).max(0).unsigned_abs()
    }

    /// A number, whole or not; 0 for a parameter that does not hold one.
    pub fn float(&self, name: &str) -> f64 {
        self.get(name).and_then(Value::as_number).unwrap_or(0.0)
    }

    /// A word; empty for a parameter that does not hold one.
    pub fn text(&self, name: &str) -> &str {
        self.get(name).and_then(Value::as_text).unwrap_or("")
    }

    /// Yes or no; no for a parameter that does not hold one.
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), Some(Value::Bool(true)))
    }

    /// The items of a list; none for a parameter that does not hold one.
    pub fn items(&self, name: &str) -> &[Value] {
        self.get(name).map_or(&[], Value::items)
    }
}
