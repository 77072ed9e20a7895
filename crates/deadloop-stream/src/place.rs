//! [`Problem`]: a fault in an input, and the [`Place`] of the fault.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use deadloop_detect::one_line;

/// The location of a transcript, label or split, displayed as `file:line`. Lines count from 1. In Parquet, they are
/// rows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The path of the file, as the user wrote it.
    pub file: Arc<PathBuf>,
    /// The line or row, from 1. 0 for the whole file.
    pub line: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            write!(f, "{}", self.file.display())
        } else {
            write!(f, "{}:{}", self.file.display(), self.line)
        }
    }
}

impl Place {
    /// Returns the location of a line or row of a file.
    pub fn new(file: Arc<PathBuf>, line: u64) -> Self {
        Self { file, line }
    }

    /// Returns the location of a whole file.
    pub fn whole(file: impl Into<PathBuf>) -> Self {
        Self::new(Arc::new(file.into()), 0)
    }
}

/// A fault in a corpus, with its location and what was expected.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The location of the fault.
    pub place: Place,
    /// A description of the fault, as a lower-case fragment.
    pub what: String,
    /// A description of what was expected.
    pub expected: String,
    /// The data lost by the fault.
    pub cost: Cost,
}

/// The data lost by a [`Problem`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    /// Only the record, row or file at the problem's location.
    #[default]
    Itself,
    /// Records that could not be read. The affected transcripts are unknown.
    Unread,
    /// Records that could not be read for want of memory or file handles. The file may be intact.
    Machine,
}

impl Cost {
    /// Returns the cost of a file that could not be read completely.
    pub fn from_error(error: &std::io::Error) -> Self {
        if is_of_machine(error) {
            Self::Machine
        } else {
            Self::Unread
        }
    }
}

/// Returns whether an I/O error means that this machine lacks memory or file handles, rather than a fault of the input.
pub fn is_of_machine(error: &std::io::Error) -> bool {
    // EMFILE and ENFILE have no name in std, and zstd reports missing memory only in its message.
    let handles = cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24));
    handles
        || error.kind() == std::io::ErrorKind::OutOfMemory
        || error.to_string().contains("not enough memory")
}

impl Problem {
    /// Returns a problem at `place`. Control characters in both texts are escaped, line ends included, since they may
    /// quote names from a file.
    pub fn new(place: Place, what: impl Into<String>, expected: impl Into<String>) -> Self {
        Self {
            place,
            what: one_line(&what.into()),
            expected: one_line(&expected.into()),
            cost: Cost::Itself,
        }
    }

    /// Sets the cost of the problem and returns the problem.
    pub fn costing(self, cost: Cost) -> Self {
        Self { cost, ..self }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}; expected {}",
            self.place, self.what, self.expected
        )
    }
}

impl std::error::Error for Problem {}
