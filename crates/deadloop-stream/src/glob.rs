//! [`ModelGlob`]: a glob that selects models by name.

use std::str::FromStr;

use globset::{Glob, GlobMatcher};
use serde::Deserialize;

/// A glob on a model's name, such as `deepseek-r1*`. `*` also matches `/`.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct ModelGlob(GlobMatcher);

impl PartialEq for ModelGlob {
    fn eq(&self, other: &Self) -> bool {
        self.0.glob() == other.0.glob()
    }
}

impl ModelGlob {
    /// Returns the pattern as written.
    pub fn as_str(&self) -> &str {
        self.0.glob().glob()
    }

    /// Returns whether the glob matches a model's name.
    pub fn is_match(&self, model: &str) -> bool {
        self.0.is_match(model)
    }
}

impl TryFrom<String> for ModelGlob {
    type Error = String;

    fn try_from(pattern: String) -> Result<Self, String> {
        pattern.parse()
    }
}

impl FromStr for ModelGlob {
    type Err = String;

    fn from_str(pattern: &str) -> Result<Self, String> {
        let glob = Glob::new(pattern).map_err(|e| e.to_string())?;
        Ok(Self(glob.compile_matcher()))
    }
}
