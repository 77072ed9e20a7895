//! Rows of `budget.csv`.

use super::rows::Rows;
use super::settings::Settings;
use crate::data::SupportedRow;
use deadloop_score::Table;

/// The rows, in the order of the file.
pub(super) fn budget(table: &Table, settings: &mut Settings) -> Vec<SupportedRow> {
    let rows = Rows::new(table);
    let text = |name: &str, row: usize| rows.text(name, row).unwrap_or_default();
    let one = |row: usize| SupportedRow {
        model: text("model", row).to_owned(),
        what: text("what", row).to_owned(),
        setting: settings.at(text("setting", row)),
        wrong: rows.count("wrong", row),
        exposure: rows.count("exposure", row),
        bound: rows.number("fa_bound", row),
        holds: rows.count("supported", row) > 0,
        missing: rows.count("missing_chars", row),
    };
    (0..table.rows()).map(one).collect()
}
