//! [`Filter`]: the ignored tools and the resets of a meter.

use std::sync::Arc;

use globset::{Glob, GlobSet, GlobSetBuilder};

use crate::detectors::Refusal;
use crate::settings::param::Param;
use crate::settings::params::Params;
use crate::settings::value::Value;

/// The parameter `allow`: globs of the ignored tools.
pub(crate) const ALLOW: Param =
    Param::globs("allow").doc("globs on tool names: such calls and their results are not seen");

/// The parameter `reset`: the user messages that reset a meter.
pub(crate) const RESET: Param = Param::word("reset", "run", &["run", "user", "news"])
    .doc("user: what was seen is forgotten at each message of a user after the first turn; news: unless it stood before, word for word");

/// The ignored tools and the resets of the meters of a recipe.
#[derive(Debug)]
pub(crate) struct Filter {
    pub(super) allow: GlobSet,
    /// Whether user messages reset.
    pub(super) resets: bool,
    /// Whether repeated user messages do not reset.
    pub(super) ignores_repeats: bool,
}

impl Filter {
    pub(crate) fn new(params: &Params) -> Arc<Self> {
        let mut allow = GlobSetBuilder::new();
        let globs = params.items(ALLOW.name).iter();
        // The parameters were checked, so all globs are valid.
        let globs = globs.filter_map(|item| Glob::new(item.as_text()?).ok());
        globs.for_each(|glob| {
            allow.add(glob);
        });
        Arc::new(Self {
            allow: allow.build().unwrap_or_default(),
            resets: params.text(RESET.name) != "run",
            ignores_repeats: params.text(RESET.name) == "news",
        })
    }
}

/// Rejects a setting that ignores all tools.
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
