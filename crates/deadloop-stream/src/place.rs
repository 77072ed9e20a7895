//! [`Problem`]: what is wrong with something that was read, and the [`Place`] where.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Where a transcript, label or split stands: `file:line`, lines from 1 (rows, in Parquet; 0: the
/// file as a whole).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The file, as the user would name it.
    pub file: Arc<PathBuf>,
    /// Line or row, from 1; 0 for the file as a whole.
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
    /// A line (or row) of a file.
    pub fn new(file: Arc<PathBuf>, line: u64) -> Self {
        Self { file, line }
    }

    /// A file as a whole.
    pub fn whole(file: impl Into<PathBuf>) -> Self {
        Self::new(Arc::new(file.into()), 0)
    }
}

/// One thing wrong with a corpus: where, what, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Where it is.
    pub place: Place,
    /// What is wrong, a lower-case fragment.
    pub what: String,
    /// What was expected instead.
    pub expected: String,
    /// How much it costs, and whose fault it is.
    pub cost: Cost,
}

/// What a [`Problem`] has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    /// The record, row or file that it stands at, and no more.
    #[default]
    Itself,
    /// Records that nobody has seen: which transcripts they are is not known.
    Unread,
    /// The same, for want of memory or file handles: it says nothing of the file.
    Machine,
}

impl Cost {
    /// What it costs that a file cannot be read, or not to its end.
    pub fn of(error: &std::io::Error) -> Self {
        if is_of_machine(error) {
            Self::Machine
        } else {
            Self::Unread
        }
    }
}

/// Whether an error says that this machine has no more memory or file handles, and so nothing of what was
/// to be read.
pub fn is_of_machine(error: &std::io::Error) -> bool {
    // EMFILE and ENFILE, for which std has no name; zstd tells of memory in words alone.
    let handles = cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24));
    handles
        || error.kind() == std::io::ErrorKind::OutOfMemory
        || error.to_string().contains("not enough memory")
}

impl Problem {
    /// What is wrong at `place`, and what was expected there. Of names that they quote from a
    /// file, line ends and whatever else a terminal obeys are escaped.
    pub fn new(place: Place, what: impl Into<String>, expected: impl Into<String>) -> Self {
        Self {
            place,
            what: one_line(&what.into()),
            expected: one_line(&expected.into()),
            cost: Cost::Itself,
        }
    }

    /// The same, where records were lost that nobody has seen.
    pub fn costing(self, cost: Cost) -> Self {
        Self { cost, ..self }
    }
}

fn one_line(text: &str) -> String {
    let one = |c: char| {
        if c.is_control() {
            c.escape_default().collect()
        } else {
            String::from(c)
        }
    };
    text.chars().map(one).collect()
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
