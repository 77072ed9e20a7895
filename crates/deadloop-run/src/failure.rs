//! [`Failure`]: an error, and of what kind it is. Errors name fields of a request between backticks, as `out`: who shows them
//! to people says what the field is called there. What a program's exit code is for each kind is the program's.

use std::fmt::Display;

/// An error, and of what kind it is.
#[derive(Debug)]
pub struct Failure {
    code: Code,
    error: anyhow::Error,
}

/// What a run returns.
pub type RunResult<T = ()> = Result<T, Failure>;

/// The kinds of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// Nobody expected this.
    Unexpected,
    /// Wrong usage, or a bad settings, grid or corpus file.
    Usage,
    /// Two results are not of the same thing.
    NotComparable,
    /// A filter matched nothing.
    NothingSelected,
    /// Too little data for what was asked.
    TooLittle,
    /// No setting satisfies the constraints.
    Infeasible,
    /// A live stream was stopped.
    Alarm,
    /// A gate failed.
    GateFailed,
    /// Somebody stopped it, by [`Host::cancel`](crate::Host::cancel).
    Interrupted,
}

impl Code {
    /// A failure of this kind.
    pub fn error(self, error: impl Display) -> Failure {
        self.because(anyhow::anyhow!("{error}"))
    }

    /// A failure of this kind with its chain of causes.
    pub fn because(self, error: impl Into<anyhow::Error>) -> Failure {
        Failure {
            code: self,
            error: error.into(),
        }
    }
}

impl Failure {
    /// Of what kind it is.
    pub fn code(&self) -> Code {
        self.code
    }

    /// The chain of causes, in one line.
    pub fn said(&self) -> String {
        let chain = self.error.chain().map(ToString::to_string);
        let mut chain = chain.collect::<Vec<_>>();
        chain.dedup();
        chain.join(": ")
    }
}

/// What is not told apart is unexpected: a file that cannot be written, a table that cannot be read.
impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Code::Unexpected.because(error)
    }
}
