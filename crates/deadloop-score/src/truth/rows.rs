//! [`LabelRow`]: a label as a row of labels.csv.

use std::path::Path;

use deadloop_replay::corpus::{Entry, Problem};
use deadloop_replay::detect::{Channel, Kind};

use crate::files::store::{FileError, write_text};
use crate::truth::{Class, LABEL_COLUMNS, LabelsFile, read_inline_labels};

/// A row of labels.csv. Positions are in the unit of the channel.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelRow {
    /// The transcript's id.
    pub transcript: String,
    /// The class of the transcript, or of the span.
    pub class: Class,
    /// The kind of loop or fault.
    pub kind: Option<Kind>,
    /// The channel that the label is about.
    pub channel: Option<Channel>,
    /// The position of the first char of the first copy.
    pub start: Option<u64>,
    /// The position of the first char of the second copy.
    pub onset: Option<u64>,
    /// The first position at which an alarm is right, if it is before the onset.
    pub earliest: Option<u64>,
    /// The position after the last char of the repetition. `None` if it lasts to the end of the channel.
    pub end: Option<u64>,
    /// The length of one copy.
    pub period: Option<u64>,
    /// The author of the label.
    pub by: String,
    /// A note for people.
    pub note: String,
}

impl LabelRow {
    /// Creates a row with a class and without positions.
    pub fn new(transcript: impl Into<String>, class: Class, by: impl Into<String>) -> Self {
        Self {
            transcript: transcript.into(),
            class,
            kind: None,
            channel: None,
            start: None,
            onset: None,
            earliest: None,
            end: None,
            period: None,
            by: by.into(),
            note: String::new(),
        }
    }

    /// Reads the rows of a labels.csv in order, or returns every problem.
    pub fn read(path: &Path) -> Result<Vec<Self>, Vec<Problem>> {
        let (file, problems) = LabelsFile::read(path);
        if problems.is_empty() {
            Ok(file.rows().cloned().collect())
        } else {
            Err(problems)
        }
    }

    /// Reads the labels inside a transcript as rows without authors and notes, or returns every problem.
    pub fn inside(entry: &Entry) -> Result<Vec<Self>, Vec<Problem>> {
        let mut problems = Vec::new();
        // The authors and notes stay inside the transcript.
        let row = |(_, row)| Self {
            by: String::new(),
            note: String::new(),
            ..row
        };
        let rows = read_inline_labels(entry, &mut problems).into_iter();
        if problems.is_empty() {
            Ok(rows.map(row).collect())
        } else {
            Err(problems)
        }
    }

    fn to_cells(&self) -> [String; LABEL_COLUMNS.len()] {
        let number = |n: Option<u64>| n.map(|n| n.to_string()).unwrap_or_default();
        [
            self.transcript.clone(),
            self.class.name().into(),
            self.kind.map(Kind::name).unwrap_or_default().into(),
            self.channel.map(Channel::name).unwrap_or_default().into(),
            number(self.start),
            number(self.onset),
            number(self.earliest),
            number(self.end),
            number(self.period),
            self.by.clone(),
            self.note.clone(),
        ]
    }
}

/// Writes rows to a labels.csv under a temporary name, and renames it when it is complete.
pub fn write_labels(path: &Path, rows: &[LabelRow]) -> Result<(), FileError> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    let failed = |e: csv::Error| FileError::at(path, e);
    csv.write_record(LABEL_COLUMNS).map_err(failed)?;
    for row in rows {
        csv.write_record(row.to_cells()).map_err(failed)?;
    }
    let bytes = csv
        .into_inner()
        .map_err(|e| FileError::at(path, e.error()))?;
    write_text(path, &String::from_utf8_lossy(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("labels.csv");
        let rows = vec![
            LabelRow {
                kind: Some(Kind::Paragraph),
                channel: Some(Channel::Answer),
                start: Some(1),
                onset: Some(4),
                earliest: Some(3),
                period: Some(3),
                note: "a \"note\", with\na line".into(),
                ..LabelRow::new("b,1", Class::Loop, "auto")
            },
            LabelRow::new("a", Class::Clean, "review:é"),
            LabelRow {
                onset: Some(7),
                end: Some(9),
                ..LabelRow::new("b,1", Class::Transient, "")
            },
        ];
        write_labels(&path, &rows).unwrap();
        assert_eq!(LabelRow::read(&path).unwrap(), rows);
    }

    #[test]
    fn a_bad_row_is_a_problem_with_its_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("labels.csv");
        let header = LABEL_COLUMNS.join(",");
        std::fs::write(&path, format!("{header}\na,lop,,,,,,,,,\n")).unwrap();
        let problems = LabelRow::read(&path).unwrap_err();
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].place.line, 2);
    }
}
