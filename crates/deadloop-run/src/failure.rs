//! [`Failure`]: an error with its kind.
//!
//! A caller that shows errors to people chooses its own names of options
//! ([`set_option_formatter`](crate::option::set_option_formatter)).

use std::fmt::Display;

use crate::option::RunOption;

/// An error with its kind.
#[derive(Debug)]
pub struct Failure {
    code: Code,
    option: Option<RunOption>,
    error: anyhow::Error,
}

/// The result of a fallible step of a run.
pub type RunResult<T = ()> = Result<T, Failure>;

/// The kinds of failures, with their exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Code {
    /// An unexpected error.
    Unexpected = 1,
    /// Wrong usage, or a bad settings, grid or corpus file.
    Usage = 2,
    /// Two results that cannot be compared.
    NotComparable = 3,
    /// A filter matched nothing.
    NothingSelected = 4,
    /// Too little data for the request.
    TooLittle = 5,
    /// No setting satisfies the constraints.
    Infeasible = 6,
    /// A live stream was stopped.
    Alarm = 10,
    /// A gate failed.
    GateFailed = 100,
    /// The host stopped the run, by [`Host::cancel`](crate::Host::cancel).
    Interrupted = 130,
}

impl Code {
    /// Returns the exit code of a program.
    pub fn exit(self) -> u8 {
        self as u8
    }

    /// Returns the kind of failure that ends a finished run with an exit code.
    pub(crate) fn of_result(exit: u8) -> Self {
        let kinds = [Self::Usage, Self::TooLittle, Self::Infeasible];
        let kind = kinds.into_iter().find(|kind| kind.exit() == exit);
        kind.unwrap_or(Self::Unexpected)
    }

    /// Creates a failure of this kind.
    pub fn error(self, error: impl Display) -> Failure {
        self.because(anyhow::anyhow!("{error}"))
    }

    /// Creates a failure of this kind about an option, which its message names first.
    pub fn at(self, option: RunOption, what: impl Display) -> Failure {
        Failure {
            option: Some(option),
            ..self.error(format!("{option} {what}"))
        }
    }

    /// Creates a failure of this kind with its chain of causes.
    pub fn because(self, error: impl Into<anyhow::Error>) -> Failure {
        Failure {
            code: self,
            option: None,
            error: error.into(),
        }
    }
}

impl Failure {
    /// Returns the kind of failure.
    pub fn code(&self) -> Code {
        self.code
    }

    /// Returns the option that the failure is about, if it is about one.
    pub fn option(&self) -> Option<RunOption> {
        self.option
    }

    /// Returns the chain of causes in one line. A cause that is named in the one before is left out.
    pub fn chain(&self) -> String {
        let chain = self.error.chain().map(ToString::to_string);
        let mut chain = chain.collect::<Vec<_>>();
        chain.dedup_by(|cause, before| before.ends_with(cause.as_str()));
        chain.join(": ")
    }
}

/// Converts any other error, such as a failed write, into an unexpected one.
impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Code::Unexpected.because(error)
    }
}
