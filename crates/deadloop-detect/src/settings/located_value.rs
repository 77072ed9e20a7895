//! [`LocatedValue`]: a value with its position in a file. [`read_toml`]: parses such files.

use std::ops::Range;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::SettingsError;
use crate::detectors::DETECTORS;
use crate::settings::suggestion::did_you_mean;

/// A value of a TOML file, with its position.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LocatedValue<T> {
    value: T,
    start: usize,
    end: usize,
}

impl<T> LocatedValue<T> {
    /// Returns the value.
    pub fn get_ref(&self) -> &T {
        &self.value
    }

    /// Returns the byte range of the value in the file.
    pub fn span(&self) -> Range<usize> {
        self.start..self.end
    }

    /// Returns another value with the same position.
    pub(super) fn with<V>(&self, value: impl Into<V>) -> LocatedValue<V> {
        LocatedValue {
            value: value.into(),
            start: self.start,
            end: self.end,
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for LocatedValue<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<T>::deserialize(from)?;
        let Range { start, end } = spanned.span();
        Ok(Self {
            value: spanned.into_inner(),
            start,
            end,
        })
    }
}

/// Parses the text of a TOML file.
///
/// # Errors
/// The text is not TOML, or has other fields. The error has a position and is one line.
pub fn read_toml<T: DeserializeOwned>(text: &str) -> Result<T, SettingsError> {
    toml::from_str(text).map_err(|error: toml::de::Error| {
        let what = error.message().trim().replace('\n', ", ");
        let what = format!("{what}{}", hint(&what));
        SettingsError::at(text, error.span().unwrap_or(0..0), what)
    })
}

/// Returns a hint about an unknown field: the right table for a parameter, or the nearest known field.
fn hint(what: &str) -> String {
    let Some((word, known)) = what
        .strip_prefix("unknown field `")
        .and_then(|rest| rest.split_once('`'))
    else {
        return String::new();
    };
    let known: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
    let mut params = DETECTORS.iter().flat_map(|detector| detector.params);
    if known.contains(&"params") && params.any(|param| param.name == word) {
        return "; it is a parameter, which stands below [guard.params]".to_owned();
    }
    did_you_mean(word, known)
}

#[cfg(test)]
mod tests {
    use crate::Settings;

    #[test]
    fn an_unknown_field_is_told_what_to_do() {
        let periodic = "[[guard]]\ndetector = \"periodic\"\n";
        for (text, ends) in [
            (
                format!("{periodic}min_copies = 3"),
                "; it is a parameter, which stands below [guard.params]",
            ),
            (
                "[[guards]]\ndetector = \"periodic\"".to_owned(),
                " (did you mean \"guard\"?)",
            ),
            (format!("{periodic}zzz = 3"), "`params`"),
        ] {
            let what = Settings::parse(&text).unwrap_err().what;
            assert!(what.ends_with(ends), "{what}");
        }
    }
}
