//! [`Filter`]: excludes the calls of some tools, and decides when state is reset.

use std::sync::Arc;

use globset::{Glob, GlobSet, GlobSetBuilder};

use crate::detectors::Refusal;
use crate::settings::param::Param;
use crate::settings::params::Params;
use crate::settings::value::Value;

/// The parameter with globs of the excluded tools.
pub(crate) const ALLOW: Param =
    Param::globs("allow").doc("globs on tool names: such calls and their results are not seen");

/// The parameter that decides when a meter's state is reset.
pub(crate) const RESET: Param = Param::word("reset", "run", &["run", "user", "news"])
    .doc("user: what was seen is forgotten at each message of a user after the first turn; news: unless it stood before, word for word");

/// Excluded tools and resets, shared by the meters of one recipe.
#[derive(Debug)]
pub(crate) struct Filter {
    pub(super) allow: GlobSet,
    pub(super) forgets: bool,
    /// Whether a repeated user message resets nothing.
    pub(super) only_news: bool,
}

impl Filter {
    pub(crate) fn new(params: &Params) -> Arc<Self> {
        let mut allow = GlobSetBuilder::new();
        let globs = params.items(ALLOW.name).iter();
        // Checked parameters hold valid globs only.
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

/// Rejects a setting that excludes every tool.
pub(crate) fn sees_calls(params: &Params) -> Result<(), Refusal> {
    let mut globs = params.items(ALLOW.name).iter().filter_map(Value::as_text);
    match globs.find(|glob| !glob.is_empty() && glob.chars().all(|c| c == '*')) {
        Some(glob) => Refusal::err(
            ALLOW.name,
            format!("\"{glob}\" leaves out every tool: this setting can never fire"),
        ),
        None => Ok(()),
    }
}
