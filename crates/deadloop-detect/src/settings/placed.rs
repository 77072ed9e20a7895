//! [`Placed`]: a value with its place in a file, and the reader of such files.

use std::ops::Range;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::SettingsError;

/// A value of a TOML file with its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Placed<T> {
    value: T,
    start: usize,
    end: usize,
}

impl<T> Placed<T> {
    /// The value.
    pub fn get_ref(&self) -> &T {
        &self.value
    }

    /// Its place: a range of bytes of the file.
    pub fn span(&self) -> Range<usize> {
        self.start..self.end
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Placed<T> {
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

/// Reads the text of a TOML file.
///
/// # Errors
/// It is no TOML, or not of this shape: with its place, on one line.
pub fn read_toml<T: DeserializeOwned>(text: &str) -> Result<T, SettingsError> {
    toml::from_str(text).map_err(|error: toml::de::Error| {
        let what = error.message().trim().replace('\n', ", ");
        SettingsError::at(text, error.span().unwrap_or(0..0), what)
    })
}
