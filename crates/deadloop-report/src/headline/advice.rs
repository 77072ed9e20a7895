//! The verdict of a choice as the page shows it: the badge, the sentence, what changes, what to type next.

use crate::data::{ALL_MODELS, ReportData};
use crate::visible::visible;
use deadloop_score::{Advice, Changed};
use serde::Serialize;

/// The verdict of a choice.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Told {
    /// `ship`, `decide`, `collect`, `keep`, `none`.
    pub(crate) badge: &'static str,
    /// The sentence, word for word as everywhere else.
    pub(crate) sentence: String,
    /// What stands above the changes.
    pub(crate) changes_are: &'static str,
    /// The parameters that differ.
    pub(crate) changes: Vec<Line>,
    /// Changes that there is no room for.
    pub(crate) more: usize,
    /// What to type next.
    pub(crate) next: Vec<String>,
}

/// A parameter that differs.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Line {
    of: String,
    param: String,
    from: String,
    to: String,
}

/// How many changes are listed; `settings.toml` has them all.
const CHANGES: usize = 24;

/// None where nothing was asked.
pub(super) fn told(data: &ReportData) -> Option<Told> {
    let advice = data.advice.as_ref()?;
    let (changes_are, changes) = changes(advice);
    Some(Told {
        badge: advice.verdict.name(),
        sentence: visible(&advice.reason).into_owned(),
        changes_are,
        more: changes.len().saturating_sub(CHANGES),
        changes: changes.iter().take(CHANGES).map(line).collect(),
        next: advice.next.clone(),
    })
}

fn changes(advice: &Advice) -> (&'static str, &[Changed]) {
    if !advice.changes.is_empty() {
        ("What settings.toml changes", &advice.changes)
    } else {
        let are = "What the candidate would change; settings.toml holds what is in use";
        (are, &advice.would_change)
    }
}

fn line(changed: &Changed) -> Line {
    let shown = |value: &Option<String>| value.as_deref().map_or("–".into(), visible).into_owned();
    let of = match changed.model.as_str() {
        ALL_MODELS => changed.guard.clone(),
        model => format!("{model}: {}", changed.guard),
    };
    Line {
        of: visible(&of).into_owned(),
        param: visible(&changed.param).into_owned(),
        from: shown(&changed.from),
        to: shown(&changed.to),
    }
}
