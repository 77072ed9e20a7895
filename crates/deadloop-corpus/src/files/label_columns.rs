//! The columns of labels.csv.

/// Columns of labels.csv, in the order in which they are written.
pub const LABEL_COLUMNS: [&str; 11] = [
    "transcript",
    "class",
    "kind",
    "channel",
    "start",
    "onset",
    "earliest",
    "end",
    "period",
    "by",
    "note",
];

/// Cells of a row of labels.csv, in the order of [`LABEL_COLUMNS`].
pub type LabelCells = [String; 11];
