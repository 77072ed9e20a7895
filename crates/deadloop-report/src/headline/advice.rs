//! The verdict of a choice for the page: badge, sentence, changes, commands.

use crate::data::{Difference, ReportData};
use crate::visible::visible;
use deadloop_score::choose::{SAVED_AT_1, SavedMean};
use deadloop_score::measure::SAVED;
use serde::Serialize;

/// The verdict of a choice, ready for the page.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct AdviceView<'d> {
    /// The verdict: `ship`, `keep` or `collect`.
    pub(crate) badge: &'static str,
    /// The sentence, the same as in every other output.
    pub(crate) sentence: String,
    /// The further sentences. Can be empty.
    pub(crate) note: String,
    /// The measure that decided, and its meaning.
    pub(crate) decided_by: String,
    /// The name of the setting in use.
    pub(crate) in_use_is: &'d str,
    /// The parameters that differ.
    pub(crate) changes: Vec<Difference>,
    /// The sentence in place of a long list.
    pub(crate) summary: Option<String>,
    /// The quality of each grid, one line per grid.
    pub(crate) saved_at_1: Vec<String>,
    /// The meaning of this quality.
    pub(crate) saved_at_1_note: &'static str,
    /// The remedies for wrong alarms.
    pub(crate) to_do: Vec<String>,
    /// The next commands.
    pub(crate) next: Vec<String>,
    /// The next commands for the folder of the page.
    pub(crate) folder_next: Vec<String>,
}

/// Prepares the verdict. `None` if the run made no choice.
pub(super) fn advice_view(data: &ReportData) -> Option<AdviceView<'_>> {
    let advice = data.advice.as_ref()?;
    let changes = &advice.changes;
    let shown = |text: &String| visible(text).into_owned();
    Some(AdviceView {
        badge: advice.verdict.name(),
        sentence: shown(&advice.reason),
        note: shown(&advice.more.join(" ")),
        decided_by: {
            let objective = data.run.objective.0;
            format!(
                "{}, which decides: {}.",
                objective.title_in(data.run.unit),
                objective.meaning
            )
        },
        in_use_is: data.in_use_is(),
        summary: advice.many_changes().as_ref().map(shown),
        changes: changes.iter().map(Difference::new).collect(),
        saved_at_1: advice.saved_at_1.iter().map(saved_at_1).collect(),
        saved_at_1_note: SAVED_AT_1,
        to_do: advice.to_do.iter().map(shown).collect(),
        next: advice.next.clone(),
        folder_next: advice.next.iter().filter_map(|line| rebase(line)).collect(),
    })
}

/// Rewrites a command for the folder of the page. `None` if it only opens the page.
fn rebase(command: &str) -> Option<String> {
    let word = |word: &str| match word.strip_prefix("DIR") {
        Some("") => ".".to_owned(),
        Some(rest) if rest.starts_with('/') => rest.trim_start_matches('/').to_owned(),
        Some(rest) if rest.starts_with('-') => rest.trim_start_matches('-').to_owned(),
        _ => word.to_owned(),
    };
    let words: Vec<String> = command.split(' ').map(word).collect();
    (!command.starts_with("deadloop report ")).then(|| words.join(" "))
}

/// Formats the quality of a grid as `saved_at_1 of checkpoint: 61.2 % (58.9 to 63.1)`.
fn saved_at_1(one: &SavedMean) -> String {
    let write = |value| deadloop_score::format_value(&SAVED, value);
    let bare = |value| write(Some(value)).replace(" %", "");
    let ends = one.lo.zip(one.hi);
    let ends = ends.map_or_else(String::new, |(lo, hi)| {
        format!(" ({} to {})", bare(lo), bare(hi))
    });
    format!(
        "saved_at_1 of {}: {}{ends}",
        visible(&one.grid),
        write(one.value)
    )
}

#[cfg(test)]
mod tests {
    use super::rebase;

    #[test]
    fn commands_are_those_of_the_folder_of_the_page() {
        let told = |command| rebase(command).unwrap_or_default();
        assert_eq!(told("deadloop report DIR --open"), "");
        assert_eq!(told("deadloop explain DIR T"), "deadloop explain . T");
        assert_eq!(
            told("deadloop replay CORPUS --settings DIR/settings.toml --out DIR-check"),
            "deadloop replay CORPUS --settings settings.toml --out check"
        );
    }
}
