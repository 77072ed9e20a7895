//! The number of times that a sealed split was scored: a column of choice.csv.

use std::path::Path;

use super::store::{FileError, read_text_if_named, write_text};

/// The name of the column in choice.csv.
pub(crate) const OPENINGS_COLUMN: &str = "test_openings";

/// Increments the number of openings in the `choice.csv` of a folder and returns it. `None` if there is no such file or
/// column.
///
/// A score on held-out transcripts is unbiased once. A user who reads the score, tunes and scores again has chosen on
/// the held-out transcripts. The number of openings makes this visible.
pub fn count_opening(dir: &Path) -> Result<Option<u64>, FileError> {
    let path = dir.join("choice.csv");
    let failed = |e: csv::Error| FileError::at(&path, e);
    let Some(text) = read_text_if_named(&path)? else {
        return Ok(None);
    };
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().map_err(failed)?.clone();
    let Some(column) = header.iter().position(|name| name == OPENINGS_COLUMN) else {
        return Ok(None);
    };
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&header).map_err(failed)?;
    let mut most = 0;
    for row in reader.records() {
        let row = row.map_err(failed)?;
        let before: u64 = row[column].parse().map_err(|e| {
            let what = format!(
                "{OPENINGS_COLUMN} is {:?}: {e}; expected a count",
                &row[column]
            );
            FileError::at(&path, what)
        })?;
        most = most.max(before + 1);
        let count = (before + 1).to_string();
        let cells = row.iter().enumerate();
        let cells = cells.map(|(i, cell)| if i == column { count.as_str() } else { cell });
        writer.write_record(cells).map_err(failed)?;
    }
    let bytes = writer
        .into_inner()
        .map_err(|e| FileError::at(&path, e.error()))?;
    let text = String::from_utf8(bytes).map_err(|e| FileError::at(&path, e))?;
    write_text(&path, &text)?;
    Ok(Some(most))
}
