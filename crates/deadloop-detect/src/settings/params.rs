//! [`Params`]: the values of all parameters of a detector.
//!
//! The module depends on no detector, so that detectors can use it.

use crate::settings::param::Param;
use crate::settings::value::Value;

/// The values of all parameters of a detector or repairer, in the order of its registry entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Params(Vec<(&'static str, Value)>);

impl Params {
    /// Returns the default values of `params`.
    pub fn defaults(params: &[Param]) -> Self {
        let defaults = params.iter().map(|p| (p.name, p.default.into()));
        Self(defaults.collect())
    }

    /// Returns the names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.0.iter().map(|(name, value)| (*name, value))
    }

    /// Returns the value of a parameter.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0
            .iter()
            .find(|(n, _)| *n == name)
            .map(|(_, value)| value)
    }

    /// Replaces the value of a parameter. Ignores names that the detector does not have.
    pub fn set(&mut self, name: &str, value: Value) {
        if let Some((_, old)) = self.0.iter_mut().find(|(n, _)| *n == name) {
            *old = value;
        }
    }

    /// Returns a whole number. 0 for a parameter of another type, which checked parameters never have.
    pub fn int(&self, name: &str) -> i64 {
        self.get(name).and_then(Value::as_int).unwrap_or(0)
    }

    /// Returns a whole number, at least 0. See [`int`](Self::int).
    pub fn count(&self, name: &str) -> u64 {
        self.int(name).max(0).unsigned_abs()
    }

    /// Returns a number, whole or not. 0 for a parameter of another type.
    pub fn float(&self, name: &str) -> f64 {
        self.get(name).and_then(Value::as_number).unwrap_or(0.0)
    }

    /// Returns a word. Empty for a parameter of another type.
    pub fn text(&self, name: &str) -> &str {
        self.get(name).and_then(Value::as_text).unwrap_or("")
    }

    /// Returns a boolean. False for a parameter of another type.
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), Some(Value::Bool(true)))
    }

    /// Returns the items of a list. Empty for a parameter of another type.
    pub fn items(&self, name: &str) -> &[Value] {
        self.get(name).map_or(&[], Value::items)
    }
}
