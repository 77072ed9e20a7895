//! [`Columns`]: the columns of a table, by common names or by the tool that writes the table.
//!
//! The format of a tool that writes one answer per record is a file `formats/<name>.toml`, or a file of the user.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::sessions::log::meets_all;
use crate::source::head::{FormatCertainty, SourceHead};
use deadloop_stream::fields::Object;

/// Columns of a table format, as its TOML file describes them.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Columns {
    /// Help text on one line.
    pub(crate) help: String,
    /// Sets of conditions ([`meets_all`]). A file has the format if one of its first records meets a set.
    marks: Vec<String>,
    /// Paths of the lists in a document that hold its records.
    pub(super) records: Vec<String>,
    /// Paths of each part of a record. The first path with a value is used.
    pub(super) text: Vec<String>,
    pub(super) reasoning: Vec<String>,
    pub(super) finish: Vec<String>,
    pub(super) id: Vec<String>,
    pub(super) group: Vec<String>,
    pub(super) model: Vec<String>,
    pub(super) time: Vec<String>,
    pub(super) tokens: Vec<String>,
    /// Paths of the model's name in the document, for records that do not name the model.
    pub(super) of_all: Vec<String>,
}

/// Common column names, best first. Case is ignored, and spaces and hyphens are the same as underscores.
pub(super) static COMMON_COLUMNS: LazyLock<Columns> =
    LazyLock::new(|| match toml::from_str(include_str!("table.toml")) {
        Ok(names) => names,
        Err(why) => unreachable!("table: {why}"),
    });

impl Columns {
    /// Rates how certainly a file with this head has the format.
    pub(crate) fn certainty(&self, head: &SourceHead) -> FormatCertainty {
        let meets_any = |object: &Object| self.marks.iter().any(|marks| meets_all(object, marks));
        FormatCertainty::Certain.only_if(head.any_object(meets_any))
    }
}
