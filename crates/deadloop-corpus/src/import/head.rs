//! [`Head`]: how a file begins, which its format is told by; and [`Certainty`], how surely.

use std::cell::OnceCell;

use serde_json::Value;

use deadloop_stream::reader::families::Family;
use deadloop_stream::take::Object;

use super::cut::Shape;

/// How certain it is that a file is of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Certainty {
    /// It is not.
    No,
    /// It can be read so, if no other format knows it.
    Fallback,
    /// Its fields are there, but others have such fields too.
    Likely,
    /// What only this format has stands in its records, inside of something else.
    Enclosed,
    /// It has what only this format has.
    Certain,
}

impl Certainty {
    /// This, where it is so; else not.
    pub(crate) fn when(self, so: bool) -> Self {
        if so { self } else { Self::No }
    }

    /// What makes it so, for messages.
    pub(crate) fn why(self) -> &'static str {
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
pub(crate) struct Head {
    /// How it is written.
    pub(crate) shape: Shape,
    /// Whether it is one document that is a list; `values` are then its elements.
    pub(crate) list: bool,
    /// The first records, as far as they are JSON. Of a long one only the beginning is there, cut
    /// after a whole field or element. Of a text its beginning is the only one.
    pub(crate) values: Vec<Value>,
    /// The names of an archive's members.
    pub(crate) members: Vec<String>,
    /// Whether there are more records than were looked at.
    pub(crate) more: bool,
    /// The format that the tables of a database tell.
    pub(crate) database: Option<&'static str>,
    /// The family of the first object that some family knows, once it was asked for.
    pub(crate) family: OnceCell<Option<Spoken>>,
}

/// A family of an API, and whether its object stands bare or inside of something else.
pub(crate) type Spoken = (&'static Family, bool);

impl Head {
    /// Those of the first records that are objects.
    pub(crate) fn objects(&self) -> impl Iterator<Item = &Object> {
        self.values.iter().filter_map(Value::as_object)
    }

    /// The beginning of a text.
    pub(crate) fn text(&self) -> Option<&str> {
        (self.shape == Shape::Text).then(|| self.values.first()?.as_str())?
    }

    /// Whether some of the first records is an object of which this is so.
    pub(crate) fn any(&self, so: impl Fn(&Object) -> bool) -> bool {
        self.objects().any(so)
    }
}
