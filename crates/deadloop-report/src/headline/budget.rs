//! What clean text alone says about a budget of false alarms.

use crate::data::{ALL_MODELS, ReportData, Role, SupportedRow};
use crate::numbers::{count, decimal};

/// The setting of all models, chosen or in use.
fn of<'d>(data: &'d ReportData, what: &[&str]) -> Option<&'d SupportedRow> {
    let mut rows = data.budget.iter();
    rows.find(|one| one.model == ALL_MODELS && what.contains(&one.what.as_str()))
}

/// The chosen setting, its bound, and how many are within the budget; `None` without a budget.
pub(super) fn verdict(data: &ReportData) -> Option<String> {
    let chosen = of(data, &["chosen"])?;
    let limit = data
        .run
        .limit
        .map_or(String::new(), |limit| format!(" The budget is {limit}."));
    let cells: Vec<bool> = data
        .together()
        .filter(|score| data.settings[score.setting].role != Role::Never)
        .map(|score| score.meets)
        .collect();
    let within = cells.iter().filter(|meets| **meets).count() as u64;
    Some(format!(
        "The chosen setting, {}, makes at most {} false alarms per million clean chars ({}; 95 % upper bound).{limit} {} of {} settings are within it. How many loops each finds is not known: no transcript is labelled as a loop.",
        data.described(chosen.setting),
        decimal(chosen.bound),
        seen(chosen),
        count(within),
        count(cells.len() as u64),
    ))
}

/// `2 in 1 387 312 chars`.
fn seen(one: &SupportedRow) -> String {
    format!("{} in {} chars", count(one.wrong), count(one.exposure))
}

/// What became of the setting in use, and what to do.
pub(super) fn next(data: &ReportData) -> Option<String> {
    let (chosen, current) = (of(data, &["chosen"])?, of(data, &["in use", "current"])?);
    if chosen.setting == current.setting {
        return Some(
            "The setting in use is within the budget and stays; settings.toml, which lies beside this page, holds it."
                .into(),
        );
    }
    Some(format!(
        "The setting in use is not within the budget: it may make {} ({}; 95 % upper bound). The nearest setting that is was chosen. Ship settings.toml, which lies beside this page.",
        decimal(current.bound),
        seen(current)
    ))
}
