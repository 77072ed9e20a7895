//! [`ModelList`]: the globs of a `[[model]]` list, and which of them a model at a task meets first. [`Work`]: those two.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use globset::GlobMatcher;

/// How many names are remembered; the next one empties the memory.
const MOST_NAMES: usize = 1024;
/// The longest name that is remembered, in bytes: names come from requests.
const LONGEST_NAME: usize = 256;

/// Whose text is watched: which model, at which task. A name alone is a model at a task that nobody named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work<'a> {
    /// The model's name.
    pub model: &'a str,
    /// The name of its task; empty: not known.
    pub task: &'a str,
}

impl<'a> From<&'a str> for Work<'a> {
    fn from(model: &'a str) -> Self {
        Self { model, task: "" }
    }
}

impl<'a> From<&'a String> for Work<'a> {
    fn from(model: &'a String) -> Self {
        Self::from(model.as_str())
    }
}

/// A glob on names of models, or one on names of tasks, or both.
#[derive(Clone, Debug)]
pub struct OverrideGlob {
    /// `None`: every model.
    pub(super) model: Option<GlobMatcher>,
    /// `None`: every task, also one that is not known.
    pub(super) task: Option<GlobMatcher>,
}

impl OverrideGlob {
    /// Whether it matches the whole names, in their case. A glob on tasks matches no task that is not known.
    pub fn is_match<'a>(&self, work: impl Into<Work<'a>>) -> bool {
        let work = work.into();
        let is = |glob: &Option<GlobMatcher>, name: &str| {
            glob.as_ref().is_none_or(|glob| glob.is_match(name))
        };
        is(&self.model, work.model)
            && (self.task.is_none() || !work.task.is_empty())
            && is(&self.task, work.task)
    }

    /// The glob on names of models as it was written; `None`: every model.
    pub fn model(&self) -> Option<&str> {
        self.model.as_ref().map(|glob| glob.glob().glob())
    }

    /// The glob on names of tasks as it was written; `None`: every task.
    pub fn task(&self) -> Option<&str> {
        self.task.as_ref().map(|glob| glob.glob().glob())
    }
}

/// As it was written.
impl fmt::Display for OverrideGlob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.model().unwrap_or("*"))?;
        self.task()
            .map_or(Ok(()), |task| write!(f, " at task {task}"))
    }
}

/// The globs of a `[[model]]` list, in the order in which they are tried.
///
/// A list may have thousands of them, and every transcript and request asks: what a name met is remembered. Clones
/// share the memory, which is bounded: 1,024 names of at most 256 bytes, of a model and its task together.
#[derive(Clone, Debug, Default)]
pub struct ModelList {
    globs: Arc<[OverrideGlob]>,
    /// Whether some glob is on tasks: without one, tasks are not looked at.
    by_task: bool,
    known: Arc<RwLock<HashMap<Box<str>, Option<usize>>>>,
}

impl ModelList {
    /// The list of these globs.
    pub(crate) fn new(globs: Vec<OverrideGlob>) -> Self {
        Self {
            by_task: globs.iter().any(|glob| glob.task.is_some()),
            globs: globs.into(),
            known: Arc::default(),
        }
    }

    /// The globs.
    pub fn globs(&self) -> &[OverrideGlob] {
        &self.globs
    }

    /// Whether some glob is on tasks.
    pub fn by_task(&self) -> bool {
        self.by_task
    }

    /// Returns the index of the first glob that matches the whole names, in their case; `None` where none does.
    pub fn first<'a>(&self, work: impl Into<Work<'a>>) -> Option<usize> {
        let work = work.into();
        let tried = || self.try_each(work);
        if self.by_task {
            // The length says where the model's name ends: both may hold any char.
            let both = format!("{}:{}{}", work.model.len(), work.model, work.task);
            return self.first_by(&both, tried);
        }
        self.first_by(work.model, tried)
    }

    /// Tries the globs one after the other.
    fn try_each(&self, work: Work<'_>) -> Option<usize> {
        self.globs.iter().position(|glob| glob.is_match(work))
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
    use std::collections::BTreeSet;

    fn list(globs: &[&str]) -> ModelList {
        ModelList::new(globs.iter().map(|glob| on(Some(glob), None)).collect())
    }

    fn on(model: Option<&str>, task: Option<&str>) -> OverrideGlob {
        let compiled = |glob: &str| Glob::new(glob).unwrap().compile_matcher();
        OverrideGlob {
            model: model.map(compiled),
            task: task.map(compiled),
        }
    }

    /// Names of models and tasks in all pairs, asked three times, of two clones: the globs themselves say the same. What is
    /// remembered of a model is not what is remembered of it at a task.
    #[test]
    fn a_task_is_asked_beside_the_model() {
        let own = ModelList::new(vec![
            on(Some("m-1*"), Some("code")),
            on(None, Some("co*")),
            on(Some("m-*"), None),
            on(None, Some("*")),
        ]);
        let clone = own.clone();
        let mut met = BTreeSet::new();
        for model in ["m-1", "m-12", "m-2", "x", "", "m-1\0code", "*"] {
            for task in ["", "code", "cooking", "Code", "chat", "\0"] {
                let work = Work { model, task };
                let expected = own.try_each(work);
                met.insert(expected);
                for asked in [&own, &clone, &own] {
                    assert_eq!(asked.first(work), expected, "{work:?}");
                }
            }
        }
        let all: Vec<Option<usize>> = met.into_iter().collect();
        assert_eq!(all, [None, Some(0), Some(1), Some(2), Some(3)]);
        let none = on(None, Some("*"));
        assert!(
            none.is_match(Work {
                model: "m",
                task: "t"
            }) && !none.is_match("m")
        );
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
            let expected = own.try_each(Work::from(&name));
            met[expected.unwrap_or(5)] += 1;
            for asked in [&own, &clone, &own] {
                assert_eq!(asked.first(&name), expected, "{name}");
                let work = Work {
                    model: &name,
                    task: "t",
                };
                assert_eq!(asked.first(work), expected, "{name}");
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
                list.try_each(name.into())
            });
        }
        assert_eq!(tried, 3);
    }
}
