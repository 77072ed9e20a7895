//! [`SourceHead`]: the beginning of a file, from which its format is recognized.

use std::cell::OnceCell;

use serde_json::Value;

use deadloop_stream::fields::Object;
use deadloop_stream::reader::families::Family;

use crate::source::records::FileShape;

/// Certainty that a file has a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FormatCertainty {
    /// The file does not have the format.
    No,
    /// The file can be read as the format if no other format recognizes the file.
    Fallback,
    /// The file has the fields of the format, but other formats use such fields too.
    Likely,
    /// An object inside the records has fields that only this format uses.
    Enclosed,
    /// The file has fields that only this format uses.
    Certain,
}

impl FormatCertainty {
    /// Returns this certainty if `condition` is true, otherwise `No`.
    pub(crate) fn only_if(self, condition: bool) -> Self {
        if condition { self } else { Self::No }
    }

    /// Describes the certainty, for messages.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::No => "nothing identifies it",
            Self::Fallback => "only by a column with a usual name",
            Self::Likely => "by its fields, which other formats have too",
            Self::Enclosed => "its records hold responses of the API",
            Self::Certain => "it has what only this format has",
        }
    }
}

/// The beginning of a file.
pub(crate) struct SourceHead {
    /// Shape of the file.
    pub(crate) shape: FileShape,
    /// Whether the file is a document with a list. Its elements are then `values`.
    pub(crate) is_list: bool,
    /// First records that are JSON.
    ///
    /// A long record is cut after a complete field or element. For plain text, the only value is the beginning of the
    /// text.
    pub(crate) values: Vec<Value>,
    /// Names of an archive's members.
    pub(crate) members: Vec<String>,
    /// Whether the file has more records than `values`.
    pub(crate) has_more: bool,
    /// Format of a database, recognized by its tables.
    pub(crate) database: Option<&'static str>,
    /// API family of the first recognized object, computed on demand.
    pub(crate) family: OnceCell<Option<FamilyMatch>>,
}

/// An API family, and whether its object is bare (`true`) or nested in another object.
pub(crate) type FamilyMatch = (&'static Family, bool);

impl SourceHead {
    /// Creates a head of this shape, without records.
    pub(crate) fn new(shape: FileShape) -> Self {
        Self {
            shape,
            is_list: false,
            values: Vec::new(),
            members: Vec::new(),
            has_more: false,
            database: None,
            family: OnceCell::new(),
        }
    }

    /// Iterates over those of the first records that are JSON objects.
    pub(crate) fn objects(&self) -> impl Iterator<Item = &Object> {
        self.values.iter().filter_map(Value::as_object)
    }

    /// Returns the beginning of a plain-text file. `None` for other shapes.
    pub(crate) fn text(&self) -> Option<&str> {
        (self.shape == FileShape::Text).then(|| self.values.first()?.as_str())?
    }

    /// Returns whether `condition` holds for at least one of the first records.
    pub(crate) fn any_object(&self, condition: impl Fn(&Object) -> bool) -> bool {
        self.objects().any(condition)
    }
}
