//! How the program ends: every failure carries the exit code of the contract.

use std::process::ExitCode;

pub(crate) use deadloop_run::{Code, Failure, RunResult as Outcome};

use crate::show;
use deadloop_run::visible::visible_lines;

/// Prints the chain of an error on stderr and gives the process its exit code.
pub(crate) fn report(outcome: Outcome) -> ExitCode {
    let Err(failure) = outcome else {
        return ExitCode::SUCCESS;
    };
    show::remark(format_args!("deadloop: {}", visible_lines(&failure.said())));
    ExitCode::from(failure.code())
}
