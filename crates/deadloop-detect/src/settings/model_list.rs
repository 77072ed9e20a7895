//! [`ModelList`]: the globs of a `[[model]]` list, and which of them a model meets first.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use globset::GlobMatcher;

/// How many names are remembered; the next one empties the memory.
const MOST_NAMES: usize = 1024;
/// The longest name that is remembered, in bytes: names come from requests.
const LONGEST_NAME: usize = 256;

/// A glob on names of models.
#[derive(Clone, Debug)]
pub struct OverrideGlob(GlobMatcher);

impl OverrideGlob {
    /// Whether it matches the whole name, in its case.
    pub fn is_match(&self, model: &str) -> bool {
        self.0.is_match(model)
    }
}

/// As it was written.
impl fmt::Display for OverrideGlob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.glob().glob())
    }
}

/// The globs of a `[[model]]` list, in the order in which they are tried.
///
/// A list may have thousands of them, and every transcript and request asks: what a name met is remembered. Clones
/// share the memory, which is bounded: 1,024 names of at most 256 bytes.
#[derive(Clone, Debug, Default)]
pub struct ModelList {
    globs: Arc<[OverrideGlob]>,
    known: Arc<RwLock<HashMap<Box<str>, Option<usize>>>>,
}

impl ModelList {
    /// The list of these globs.
    pub(crate) fn new(globs: Vec<GlobMatcher>) -> Self {
        Self {
            globs: globs.into_iter().map(OverrideGlob).collect(),
            known: Arc::default(),
        }
    }

    /// The globs.
    pub fn globs(&self) -> &[OverrideGlob] {
        &self.globs
    }

    /// Returns the index of the first glob that matches the whole name, in its case; `None` where none does.
    pub fn first(&self, model: &str) -> Option<usize> {
        self.first_by(model, || self.try_each(model))
    }

    /// Tries the globs one after the other.
    fn try_each(&self, model: &str) -> Option<usize> {
        self.globs.iter().position(|glob| glob.is_match(model))
    }

    /// What is remembered of a name, else what `tried` returns.
    fn first_by(&self, model: &str, tried: impl FnOnce() -> Option<usize>) -> Option<usize> {
        if self.globs.is_empty() {
            return None;
        }
        if model.len() > LONGEST_NAME {
            return tried();
        }
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(first) = known.get(model) {
            return *first;
        }
        drop(known);
        let first = tried();
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST_NAMES {
            known.clear();
        }
        known.insert(model.into(), first);
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use globset::Glob;

    fn list(globs: &[&str]) -> ModelList {
        let compiled = globs.iter().map(|glob| Glob::new(glob).unwrap());
        ModelList::new(compiled.map(|glob| glob.compile_matcher()).collect())
    }

    /// More names than are remembered, some of them too long to be, each asked three times, of two clones.
    #[test]
    fn what_is_remembered_is_what_the_globs_say() {
        let own = list(&["a-1*", "a-*", "*[13579]", "long*8", "{x,y}/**"]);
        let clone = own.clone();
        let long = "long".repeat(LONGEST_NAME);
        let names = (0..2 * MOST_NAMES).map(|i| match i % 5 {
            0 => format!("a-{i}"),
            1 => format!("b-{i}"),
            2 => format!("x/{i}/z"),
            3 => format!("{long}{i}"),
            _ => format!("A-{i}0"),
        });
        let mut met = [0; 6];
        for name in names.chain([String::new()]) {
            let expected = own.try_each(&name);
            met[expected.unwrap_or(5)] += 1;
            for asked in [&own, &clone, &own] {
                assert_eq!(asked.first(&name), expected, "{name}");
            }
            let known = clone.known.read().unwrap();
            assert!(known.len() <= MOST_NAMES);
            assert!(known.keys().all(|name| name.len() <= LONGEST_NAME));
        }
        assert!(met.iter().all(|n| *n > 0), "{met:?}");
    }

    #[test]
    fn the_globs_are_tried_once_a_name() {
        let list = list(&["m-1", "m-*"]);
        let mut tried = 0;
        for name in ["m-1", "m-2", "other"].repeat(1000) {
            list.first_by(name, || {
                tried += 1;
                list.try_each(name)
            });
        }
        assert_eq!(tried, 3);
    }
}
