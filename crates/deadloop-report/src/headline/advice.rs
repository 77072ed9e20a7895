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
    /// Where the guard pays for itself, and which share of looping responses was said; may be empty.
    pub(crate) pays: String,
    /// What detectors that only warn would catch as stops, and at what price: a sentence each.
    pub(crate) warnings: Vec<String>,
    /// What decided, and what it means.
    pub(crate) decided_by: String,
    /// What the setting in use is called.
    pub(crate) in_use_is: &'static str,
    /// The heading above the changes.
    pub(crate) changes_are: String,
    /// The parameters that differ.
    pub(crate) changes: Vec<Line>,
    /// Changes that there is no room for.
    pub(crate) more: usize,
    /// What to type next.
    pub(crate) next: Vec<String>,
    /// The same for who reads the page, in its folder.
    pub(crate) here: Vec<String>,
}

/// A parameter that differs.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Line {
    of: String,
    param: String,
    from: String,
    to: String,
    /// What the new value means, where it does not say so itself; or nothing.
    words: String,
}

/// How many changes are listed; `settings.toml` has them all.
const CHANGES: usize = 24;

/// `None` where the run made no choice.
pub(super) fn told(data: &ReportData) -> Option<Told> {
    let advice = data.advice.as_ref()?;
    let (changes_are, changes) = changes(data, advice);
    Some(Told {
        badge: advice.verdict.name(),
        sentence: visible(&advice.reason).into_owned(),
        pays: visible(&advice.pays).into_owned(),
        warnings: advice
            .warnings
            .iter()
            .map(|warning| visible(warning).into_owned())
            .collect(),
        decided_by: {
            let objective = data.run.objective.0;
            format!(
                "{}, which decides: {}.",
                objective.title_in(data.run.unit),
                objective.meaning
            )
        },
        in_use_is: data.in_use_is(),
        changes_are,
        more: changes.len().saturating_sub(CHANGES),
        changes: changes.iter().take(CHANGES).map(line).collect(),
        next: advice.next.clone(),
        here: advice.next.iter().filter_map(|line| here(line)).collect(),
    })
}

/// A command as it is typed in the folder of the page; `None` where it only opens the page.
fn here(command: &str) -> Option<String> {
    let word = |word: &str| match word.strip_prefix("DIR") {
        Some("") => ".".to_owned(),
        Some(rest) if rest.starts_with('/') => rest.trim_start_matches('/').to_owned(),
        Some(rest) if rest.starts_with('-') => rest.trim_start_matches('-').to_owned(),
        _ => word.to_owned(),
    };
    let words: Vec<String> = command.split(' ').map(word).collect();
    (!command.starts_with("deadloop report ")).then(|| words.join(" "))
}

fn changes<'a>(data: &ReportData, advice: &'a Advice) -> (String, &'a [Changed]) {
    if !advice.changes.is_empty() {
        return ("What settings.toml changes".into(), &advice.changes);
    }
    let held = match data.in_use_is() {
        "in use" => "what is in use".to_owned(),
        is => format!("the {is}"),
    };
    let are = format!("What the candidate would change; settings.toml holds {held}");
    (are, &advice.would_change)
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
        words: changed
            .words
            .as_deref()
            .map_or_else(String::new, |w| visible(w).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::here;

    #[test]
    fn commands_are_those_of_the_folder_of_the_page() {
        let told = |command| here(command).unwrap_or_default();
        assert_eq!(told("deadloop report DIR --open"), "");
        assert_eq!(told("deadloop explain DIR T"), "deadloop explain . T");
        assert_eq!(
            told("deadloop replay CORPUS --settings DIR/settings.toml --out DIR-check"),
            "deadloop replay CORPUS --settings settings.toml --out check"
        );
    }
}
