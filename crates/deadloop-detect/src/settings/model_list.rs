//! [`ModelList`]: the globs of a `[[model]]` list. [`ModelTask`]: a model and its task.

use std::fmt;
use std::sync::Arc;

use globset::{GlobMatcher, GlobSet};

/// A model and its task. The name of a model converts to a model at an unknown task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelTask<'a> {
    /// The model's name.
    pub model: &'a str,
    /// The name of the task. Empty if unknown.
    pub task: &'a str,
}

impl<'a> From<&'a str> for ModelTask<'a> {
    fn from(model: &'a str) -> Self {
        Self { model, task: "" }
    }
}

impl<'a> From<&'a String> for ModelTask<'a> {
    fn from(model: &'a String) -> Self {
        Self::from(model.as_str())
    }
}

/// A glob on names of models, on names of tasks, or both.
#[derive(Clone, Debug)]
pub struct OverrideGlob {
    /// The glob on models. `None` matches every model.
    pub(super) model: Option<GlobMatcher>,
    /// The glob on tasks. `None` matches every task, even an unknown one.
    pub(super) task: Option<GlobMatcher>,
}

impl OverrideGlob {
    /// Returns whether the globs match the whole names, case included. A glob on tasks never matches an unknown task.
    pub fn is_match<'a>(&self, work: impl Into<ModelTask<'a>>) -> bool {
        let work = work.into();
        let is = |glob: &Option<GlobMatcher>, name: &str| {
            glob.as_ref().is_none_or(|glob| glob.is_match(name))
        };
        is(&self.model, work.model)
            && (self.task.is_none() || !work.task.is_empty())
            && is(&self.task, work.task)
    }

    /// Returns the glob on models as written. `None` matches every model.
    pub fn model(&self) -> Option<&str> {
        self.model.as_ref().map(|glob| glob.glob().glob())
    }

    /// Returns the glob on tasks as written. `None` matches every task.
    pub fn task(&self) -> Option<&str> {
        self.task.as_ref().map(|glob| glob.glob().glob())
    }
}

/// Writes the globs as in the settings.
impl fmt::Display for OverrideGlob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.model().unwrap_or("*"))?;
        self.task()
            .map_or(Ok(()), |task| write!(f, " at task {task}"))
    }
}

/// The globs of a `[[model]]` list, in the order of matching.
///
/// All globs are matched at once, since a list may have thousands, and each transcript and request is matched.
#[derive(Clone, Debug, Default)]
pub struct ModelList {
    globs: Arc<[OverrideGlob]>,
    /// The set of globs on models, with the index of each. `None` if the set is too large to compile.
    by_model: Option<Arc<(GlobSet, Vec<usize>)>>,
    /// The indices of the globs on tasks alone.
    by_task: Vec<usize>,
}

impl ModelList {
    /// Builds the list.
    pub(crate) fn new(globs: Vec<OverrideGlob>) -> Self {
        let (mut set, mut places, mut by_task) = (GlobSet::builder(), Vec::new(), Vec::new());
        for (place, glob) in globs.iter().enumerate() {
            if let Some(model) = &glob.model {
                set.add(model.glob().clone());
                places.push(place);
            } else {
                by_task.push(place);
            }
        }
        Self {
            by_model: set.build().ok().map(|set| Arc::new((set, places))),
            globs: globs.into(),
            by_task,
        }
    }

    /// Returns the globs.
    pub fn globs(&self) -> &[OverrideGlob] {
        &self.globs
    }

    /// Returns whether there is a glob on tasks.
    pub fn by_task(&self) -> bool {
        self.globs.iter().any(|glob| glob.task.is_some())
    }

    /// Returns the index of the first glob that matches the whole names, case included. `None` if none matches.
    pub fn first<'a>(&self, work: impl Into<ModelTask<'a>>) -> Option<usize> {
        let work = work.into();
        let Some(by_model) = &self.by_model else {
            return self.try_each(work);
        };
        let (set, places) = &**by_model;
        let of_model = set.matches(work.model).into_iter().map(|at| places[at]);
        let all = of_model.chain(self.by_task.iter().copied());
        all.filter(|place| self.globs[*place].is_match(work)).min()
    }

    /// Matches the globs one by one.
    fn try_each(&self, work: ModelTask<'_>) -> Option<usize> {
        self.globs.iter().position(|glob| glob.is_match(work))
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

    /// Looks up all pairs of models and tasks three times, in two clones, and compares with the globs tried one by one.
    /// A result cached for a model must not be used for that model at a task.
    #[test]
    fn a_cached_result_depends_on_the_task() {
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
                let work = ModelTask { model, task };
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
            none.is_match(ModelTask {
                model: "m",
                task: "t"
            }) && !none.is_match("m")
        );
    }

    #[test]
    fn matching_all_at_once_agrees_with_one_by_one() {
        let own = list(&["a-1*", "a-*", "*[13579]", "long*8", "{x,y}/**", "b-2"]);
        let long = "long".repeat(300);
        let names = (0..2000).map(|i| match i % 5 {
            0 => format!("a-{i}"),
            1 => format!("b-{i}"),
            2 => format!("x/{i}/z"),
            3 => format!("{long}{i}"),
            _ => format!("A-{i}0"),
        });
        let mut met = [0; 7];
        for name in names.chain([String::new(), "b-2".into()]) {
            let expected = own.try_each(ModelTask::from(&name));
            met[expected.unwrap_or(6)] += 1;
            assert_eq!(own.first(&name), expected, "{name}");
        }
        assert!(met.iter().all(|n| *n > 0), "{met:?}");
    }
}
