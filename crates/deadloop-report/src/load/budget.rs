//! Rows of `budget.csv`.

use super::settings::Settings;
use crate::data::SupportedRow;
use deadloop_score::{Rows, SupportedLine as Written, Table};

/// The rows, in the order of the file.
pub(super) fn budget(table: &Table, settings: &mut Settings) -> Vec<SupportedRow> {
    let rows = Rows::new(table);
    let one = |row: usize| {
        let written = Written::read(&rows, row);
        SupportedRow {
            model: written.model.as_deref().unwrap_or_default().to_owned(),
            what: written.what.as_deref().unwrap_or_default().to_owned(),
            setting: settings.at(written.setting.as_deref().unwrap_or_default()),
            wrong: written.wrong.unwrap_or(0),
            exposure: written.exposure.unwrap_or(0),
            bound: written.fa_bound,
            holds: written.supported == Some(1),
            missing: written.missing_chars.unwrap_or(0),
        }
    };
    (0..table.rows()).map(one).collect()
}
