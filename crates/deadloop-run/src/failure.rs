//! [`Failure`]: an error with its kind.
//!
//! Errors name fields of a request between backticks, such as `out`. A caller that shows errors to people replaces
//! these names by its own, and chooses the exit code of each kind.

use std::fmt::Display;

/// An error with its kind.
#[derive(Debug)]
pub struct Failure {
    code: Code,
    error: anyhow::Error,
}

/// The result of a fallible step of a run.
pub type RunResult<T = ()> = Result<T, Failure>;

/// The kinds of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// An unexpected error.
    Unexpected,
    /// Wrong usage, or a bad settings, grid or corpus file.
    Usage,
    /// Two results that cannot be compared.
    NotComparable,
    /// A filter matched nothing.
    NothingSelected,
    /// Too little data for the request.
    TooLittle,
    /// No setting satisfies the constraints.
    Infeasible,
    /// A live stream was stopped.
    Alarm,
    /// A gate failed.
    GateFailed,
    /// The host stopped the run, by [`Host::cancel`](crate::Host::cancel).
    Interrupted,
}

impl Code {
    /// Creates a failure of this kind.
    pub fn error(self, error: impl Display) -> Failure {
        self.because(anyhow::anyhow!("{error}"))
    }

    /// Creates a failure of this kind with its chain of causes.
    pub fn because(self, error: impl Into<anyhow::Error>) -> Failure {
        Failure {
            code: self,
            error: error.into(),
        }
    }
}

impl Failure {
    /// Returns the kind of failure.
    pub fn code(&self) -> Code {
        self.code
    }

    /// Returns the chain of causes in one line.
    pub fn said(&self) -> String {
        let chain = self.error.chain().map(ToString::to_string);
        let mut chain = chain.collect::<Vec<_>>();
        chain.dedup();
        chain.join(": ")
    }
}

/// Converts any other error, such as a failed write, into an unexpected one.
impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Code::Unexpected.because(error)
    }
}
