//! [`Filter`]: which calls a guard on runs does not see, and when it forgets everything.

use std::sync::Arc;

use globset::{Glob, GlobSet, GlobSetBuilder};

use crate::detectors::Refusal;
use crate::settings::param::Param;
use crate::settings::params::Params;
use crate::settings::value::Value;

/// The parameter that leaves out tools.
pub(crate) const ALLOW: Param =
    Param::globs("allow").doc("globs on tool names: such calls and their results are not seen");

/// The parameter that says when everything is forgotten.
pub(crate) const RESET: Param = Param::word("reset", "run", &["run", "user", "news"])
    .doc("user: what was seen is forgotten at each message of a user after the first turn; news: unless it stood before, word for word");

/// What the meters of one recipe leave out and forget.
#[derive(Debug)]
pub(crate) struct Filter {
    pub(super) allow: GlobSet,
    pub(super) forgets: bool,
    /// What a user said before changes nothing.
    pub(super) only_news: bool,
}

impl Filter {
    pub(crate) fn new(params: &Params) -> Arc<Self> {
        let mut allow = GlobSetBuilder::new();
        let globs = params.items(ALLOW.name).iter();
        // What is checked is a glob.
        let globs = globs.filter_map(|item| Glob::new(item.as_text()?).ok());
        globs.for_each(|glob| {
            allow.add(glob);
        });
        Arc::new(Self {
            allow: allow.build().unwrap_or_default(),
            forgets: params.text(RESET.name) != "run",
            only_news: params.text(RESET.name) == "news",
        })
    }
}

/// Refuses a guard on calls that sees none, for every tool is left out.
pub(crate) fn sees_calls(params: &Params) -> Result<(), Refusal> {
    let mut globs = params.items(ALLOW.name).iter().filter_map(Value::as_text);
    match globs.find(|glob| !glob.is_empty() && glob.chars().all(|c| c == '*')) {
        Some(glob) => Refusal::of(
            ALLOW.name,
            format!("\"{glob}\" leaves out every tool: this setting can never fire"),
        ),
        None => Ok(()),
    }
}
