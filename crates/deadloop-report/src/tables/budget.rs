//! What clean text alone supports: the setting in use, the chosen one, and how far the budget lets others go.

use super::{Cell, Row, Table, number, words};
use crate::data::{ALL_MODELS, ReportData, SupportedRow};
use crate::numbers::decimal;

/// How many rows are shown before the rest is folded away.
const SHOWN: usize = 12;

/// The rows of budget.csv.
pub(super) fn table(data: &ReportData) -> Option<Table> {
    let columns = vec![
        words("model"),
        words("setting"),
        number("false alarms"),
        number("clean Mchar"),
        number("at most, per Mchar"),
        words("within the budget"),
        number("clean chars missing"),
    ];
    let rows = data.budget.iter().map(|one| row(data, one)).collect();
    let note = "“At most”: the one-sided 95 % upper bound of the false alarms per million clean chars. “Missing”: how many \
                clean chars without an alarm the claim still takes. “Loosest”: no setting of its kind with one threshold a step \
                looser is within the budget. Without loops nobody can say which finds most.";
    let mut table = Table::new("What the clean text supports", note, columns, rows)?;
    table.pinned = data
        .budget
        .iter()
        .take_while(|one| one.model == ALL_MODELS && one.what != "loosest")
        .count();
    Some(table.cut(SHOWN, "budget.csv"))
}

fn row(data: &ReportData, one: &SupportedRow) -> Row {
    let whose = match one.model.as_str() {
        ALL_MODELS => Cell::text(match one.what.as_str() {
            "in use" | "current" => "all models, in use",
            "chosen" => "all models, chosen",
            _ => "all models, loosest",
        }),
        model => Cell::name(model).with("the chosen setting"),
    };
    let name = data.describe(one.setting);
    let id = data.settings.get(one.setting).map_or("", |one| &one.id);
    let cells = vec![
        whose,
        Cell::text(name.as_str()).with(if name == id { "" } else { id }),
        Cell::count(one.wrong),
        Cell::figure(Some(one.exposure as f64 / 1e6), decimal),
        Cell::figure(one.bound, decimal),
        Cell::text(if one.holds { "yes" } else { "no" }),
        Cell::count(one.missing),
    ];
    let role = match (one.model.as_str(), one.what.as_str()) {
        (ALL_MODELS, "in use" | "current") => "current",
        (ALL_MODELS, "chosen") => "chosen",
        _ => "",
    };
    Row { cells, role }
}
