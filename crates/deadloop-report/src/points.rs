//! The numbers behind a chart: rows of cells, written as CSV.
//!
//! A chart's draw function makes them from what it has just drawn, so that the two cannot part.

use crate::data::ReportData;
use deadloop_score::TableCell;
use std::borrow::Cow;

/// A column: its name, as in scores.csv where the number is from there, and what it means.
pub type ChartColumn = (&'static str, &'static str);

/// A column of a chart that was drawn: the same in the unit of the run.
pub type Told = (Cow<'static, str>, Cow<'static, str>);

/// The rows of a chart.
pub(crate) type Rows = Vec<Vec<TableCell>>;

/// As a CSV file for people: numbers as short as they can be and read back exactly, what is undefined as nothing, and
/// no text that a spreadsheet would run.
pub(crate) fn csv(columns: &[Told], rows: &Rows) -> std::io::Result<Vec<u8>> {
    let mut file = csv::Writer::from_writer(Vec::new());
    file.write_record(columns.iter().map(|column| column.0.as_ref()))?;
    for row in rows {
        file.write_record(row.iter().map(TableCell::for_people))?;
    }
    file.into_inner()
        .map_err(|e| std::io::Error::other(e.to_string()))
}

/// The id of a setting, as in scores.csv, and what it is called.
pub(crate) fn setting(data: &ReportData, at: usize) -> [TableCell; 2] {
    let id = data.settings.get(at).map(|setting| &setting.id);
    [TableCell::maybe(id), TableCell::text(data.describe(at))]
}
