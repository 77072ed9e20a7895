//! Exit codes, as the contract has them: every error carries the code that it ends the program with.

use std::fmt::Display;
use std::process::ExitCode;

use deadloop_score::Ended;

use crate::visible::visible_lines;

/// An error, and the exit code that it means.
#[derive(Debug)]
pub(crate) struct Failure {
    code: u8,
    error: anyhow::Error,
}

/// What a command gives back.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

/// The contract's exit codes other than 0.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Code {
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
    /// Ctrl-C.
    Interrupted = 130,
}

impl Code {
    /// A failure with this code.
    pub(crate) fn error(self, error: impl Display) -> Failure {
        self.because(anyhow::anyhow!("{error}"))
    }

    /// A failure with this code and its chain of causes.
    pub(crate) fn because(self, error: impl Into<anyhow::Error>) -> Failure {
        Failure {
            code: self as u8,
            error: error.into(),
        }
    }
}

impl Failure {
    /// The exit code, and what is said on stderr.
    pub(crate) fn ended(&self) -> Ended {
        Ended {
            exit: self.code,
            reason: self.said(),
        }
    }

    /// The failure that a finished run has ended with.
    pub(crate) fn again(ended: &Ended) -> Self {
        Self {
            code: ended.exit,
            error: anyhow::anyhow!("{}", ended.reason),
        }
    }

    /// The chain of causes.
    fn said(&self) -> String {
        let chain = self.error.chain().map(ToString::to_string);
        let mut chain = chain.collect::<Vec<_>>();
        chain.dedup();
        chain.join(": ")
    }

    /// Whether it is one that is not told apart.
    pub(crate) fn is_unexpected(&self) -> bool {
        self.code == Code::Unexpected as u8
    }
}

/// What is not told apart is unexpected: a file that cannot be written, a table that cannot be read.
impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Code::Unexpected.because(error)
    }
}

/// Prints the chain of an error on stderr and gives the process its exit code.
pub(crate) fn report(outcome: Outcome) -> ExitCode {
    let Err(failure) = outcome else {
        return ExitCode::SUCCESS;
    };
    let pipe = failure.error.downcast_ref::<std::io::Error>();
    // Whoever reads our output may stop reading: that is not an error of ours.
    if pipe.is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe) {
        return ExitCode::SUCCESS;
    }
    eprintln!("deadloop: {}", visible_lines(&failure.said()));
    ExitCode::from(failure.code)
}
