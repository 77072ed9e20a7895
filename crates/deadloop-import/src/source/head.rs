//! [`SourceHead`]: the beginning of a file, from which its format is recognized.

use std::cell::OnceCell;

use serde_json::Value;

use deadloop_stream::fields::Object;
use deadloop_stream::reader::families::Family;

use crate::source::records::FileShape;

/// The certainty that a file has a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FormatCertainty {
    /// The file does not have the format.
    No,
    /// The file can be read as the format, if no other format recognizes the file.
    Fallback,
    /// The file has the fields of the format, but other formats have such fields too.
    Likely,
    /// The records have marks of this format alone inside another object.
    Enclosed,
    /// The file has marks of this format alone.
    Certain,
}

impl FormatCertainty {
    /// Returns this certainty if `condition` is true, otherwise `No`.
    pub(crate) fn only_if(self, condition: bool) -> Self {
        if condition { self } else { Self::No }
    }

    /// Returns the reason, for messages.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::No => "nothing in it tells",
            Self::Fallback => "a column of a usual name, and nothing else",
            Self::Likely => "its fields are there, but others have such fields too",
            Self::Enclosed => "a response of the API stands inside of its records",
            Self::Certain => "it has what only this format has",
        }
    }
}

/// The beginning of a file.
pub(crate) struct SourceHead {
    /// The shape of the file.
    pub(crate) shape: FileShape,
    /// Whether the file is a document with a list, whose elements are `values`.
    pub(crate) list: bool,
    /// The first records that are JSON.
    ///
    /// A long record is cut after a whole field or element. The only record of a text is its beginning.
    pub(crate) values: Vec<Value>,
    /// The names of an archive's members.
    pub(crate) members: Vec<String>,
    /// Whether the file has more records than these.
    pub(crate) more: bool,
    /// The format of a database, recognized by its tables.
    pub(crate) database: Option<&'static str>,
    /// The family of the first recognized object, computed on demand.
    pub(crate) family: OnceCell<Option<FamilyMatch>>,
}

/// A family of an API, and whether its object is bare. Otherwise the object is inside another.
pub(crate) type FamilyMatch = (&'static Family, bool);

impl SourceHead {
    /// Creates the beginning of a file of this shape, without records.
    pub(crate) fn new(shape: FileShape) -> Self {
        Self {
            shape,
            list: false,
            values: Vec::new(),
            members: Vec::new(),
            more: false,
            database: None,
            family: OnceCell::new(),
        }
    }

    /// Iterates over the first records that are objects.
    pub(crate) fn objects(&self) -> impl Iterator<Item = &Object> {
        self.values.iter().filter_map(Value::as_object)
    }

    /// Returns the beginning of a text.
    pub(crate) fn text(&self) -> Option<&str> {
        (self.shape == FileShape::Text).then(|| self.values.first()?.as_str())?
    }

    /// Returns whether `condition` holds for one of the first records.
    pub(crate) fn any(&self, condition: impl Fn(&Object) -> bool) -> bool {
        self.objects().any(condition)
    }
}
