//! [`Columns`]: the columns of a table, by common names or by the tool that writes the table.
//!
//! The format of a tool that writes one answer per record is a file `formats/<name>.toml`, or a file of the user.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::sessions::log::has_marks;
use crate::source::head::{FormatCertainty, SourceHead};
use deadloop_stream::fields::Object;

/// The columns of a format, as its TOML file describes them.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Columns {
    /// The help on one line.
    pub(crate) help: String,
    /// Groups of marks. A file has the format if one of its first records has all marks of a group.
    marks: Vec<String>,
    /// The lists of a document that hold its records.
    pub(super) records: Vec<String>,
    /// The paths of each part of a record. The first path with a value counts.
    pub(super) text: Vec<String>,
    pub(super) reasoning: Vec<String>,
    pub(super) finish: Vec<String>,
    pub(super) id: Vec<String>,
    pub(super) group: Vec<String>,
    pub(super) model: Vec<String>,
    pub(super) time: Vec<String>,
    pub(super) tokens: Vec<String>,
    /// The paths of the model, if the document names it and not the record.
    pub(super) of_all: Vec<String>,
}

/// The common names of columns, best first. Capitals, spaces and hyphens make no difference.
pub(super) static COMMON_COLUMNS: LazyLock<Columns> =
    LazyLock::new(|| match toml::from_str(include_str!("table.toml")) {
        Ok(names) => names,
        Err(why) => unreachable!("table: {why}"),
    });

impl Columns {
    /// Returns the certainty that a file is of this format.
    pub(crate) fn certainty(&self, head: &SourceHead) -> FormatCertainty {
        let is_marked = |object: &Object| self.marks.iter().any(|marks| has_marks(object, marks));
        FormatCertainty::Certain.only_if(head.any(is_marked))
    }
}
