//! [`Problem`]: a fault in an input, and the [`Place`] of the fault.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use deadloop_detect::one_line;

/// The place of a transcript, label or split: `file:line`. Lines count from 1 and are rows in Parquet; 0 is the file as
/// a whole.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The path of the file, as the user wrote it.
    pub file: Arc<PathBuf>,
    /// The line or row, from 1. 0 for the file as a whole.
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
    /// Returns the place of a line or row of a file.
    pub fn new(file: Arc<PathBuf>, line: u64) -> Self {
        Self { file, line }
    }

    /// Returns the place of a file as a whole.
    pub fn whole(file: impl Into<PathBuf>) -> Self {
        Self::new(Arc::new(file.into()), 0)
    }
}

/// A fault in a corpus: its place, a description, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The place of the fault.
    pub place: Place,
    /// The description of the fault, a lower-case fragment.
    pub what: String,
    /// A description of what was expected.
    pub expected: String,
    /// The amount of data that is lost, and whether the machine is the cause.
    pub cost: Cost,
}

/// The amount of data that a [`Problem`] costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    /// Only the record, row or file at the problem's place.
    #[default]
    Itself,
    /// Unread records. Which transcripts are lost is unknown.
    Unread,
    /// Unread records, for want of memory or file handles. The file itself may be good.
    Machine,
}

impl Cost {
    /// Returns the cost of a file that cannot be read, or not to its end.
    pub fn from_error(error: &std::io::Error) -> Self {
        if is_of_machine(error) {
            Self::Machine
        } else {
            Self::Unread
        }
    }
}

/// Returns whether this machine lacks memory or file handles, so that the error is unrelated to the input.
pub fn is_of_machine(error: &std::io::Error) -> bool {
    // EMFILE and ENFILE have no name in std, and zstd reports missing memory only in its message.
    let handles = cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24));
    handles
        || error.kind() == std::io::ErrorKind::OutOfMemory
        || error.to_string().contains("not enough memory")
}

impl Problem {
    /// Builds a problem at `place` from its description and what was expected. Control characters, line ends included,
    /// are escaped: both texts may quote names from a file.
    pub fn new(place: Place, what: impl Into<String>, expected: impl Into<String>) -> Self {
        Self {
            place,
            what: one_line(&what.into()),
            expected: one_line(&expected.into()),
            cost: Cost::Itself,
        }
    }

    /// Returns the problem with another cost.
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
