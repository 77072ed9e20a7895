//! [`Failure`]: an error with its kind.
//!
//! A caller that shows errors to people chooses the exit code of each kind, and its own names of options
//! ([`name_options`](crate::option::name_options)).

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
