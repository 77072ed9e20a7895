//! [`Failure`]: an error, and the exit code that it means. The codes are the contract's, so that a run that fails says the same in
//! a program, a test and a package.

use std::fmt::Display;

use deadloop_score::Ended;

/// An error, and the exit code that it means.
#[derive(Debug)]
pub struct Failure {
    code: u8,
    error: anyhow::Error,
}

/// What a run returns.
pub type RunResult<T = ()> = Result<T, Failure>;

/// The contract's exit codes other than 0.
#[derive(Clone, Copy, Debug)]
pub enum Code {
    /// Nobody expected this.
    Unexpected = 1,
    /// Wrong usage, or a bad settings, grid or corpus file.
    Usage = 2,
    /// Two results are not of the same thing.
    NotComparable = 3,
    /// A filter matched nothing.
    NothingSelected = 4,
    /// Too little data for what was asked.
    TooLittle = 5,
    /// No setting satisfies the constraints.
    Infeasible = 6,
    /// `watch` alarmed.
    Alarm = 10,
    /// A gate failed.
    GateFailed = 100,
    /// Somebody stopped it: Ctrl-C, or [`Host::cancel`](crate::Host::cancel).
    Interrupted = 130,
}

impl Code {
    /// A failure with this code.
    pub fn error(self, error: impl Display) -> Failure {
        self.because(anyhow::anyhow!("{error}"))
    }

    /// A failure with this code and its chain of causes.
    pub fn because(self, error: impl Into<anyhow::Error>) -> Failure {
        Failure {
            code: self as u8,
            error: error.into(),
        }
    }
}

impl Failure {
    /// The exit code.
    pub fn code(&self) -> u8 {
        self.code
    }

    /// The exit code, and what is said of it.
    pub fn ended(&self) -> Ended {
        Ended {
            exit: self.code,
            reason: self.said(),
        }
    }

    /// The failure that a finished run has ended with.
    pub fn again(ended: &Ended) -> Self {
        Self {
            code: ended.exit,
            error: anyhow::anyhow!("{}", ended.reason),
        }
    }

    /// The chain of causes, in one line.
    pub fn said(&self) -> String {
        let chain = self.error.chain().map(ToString::to_string);
        let mut chain = chain.collect::<Vec<_>>();
        chain.dedup();
        chain.join(": ")
    }

    /// Returns whether it has no exit code of its own.
    pub fn is_unexpected(&self) -> bool {
        self.code == Code::Unexpected as u8
    }
}

/// What is not told apart is unexpected: a file that cannot be written, a table that cannot be read.
impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Code::Unexpected.because(error)
    }
}
