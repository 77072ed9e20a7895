//! How the program ends: every failure carries the exit code of the contract.

use std::process::ExitCode;

pub(crate) use deadloop_run::{Code, Failure, RunResult as Outcome};

use crate::visible::visible_lines;

/// Prints the chain of an error on stderr and gives the process its exit code.
pub(crate) fn report(outcome: Outcome) -> ExitCode {
    let Err(failure) = outcome else {
        return ExitCode::SUCCESS;
    };
    // Whoever reads our output may stop reading: that is not an error of ours.
    if failure
        .io()
        .is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
    {
        return ExitCode::SUCCESS;
    }
    eprintln!("deadloop: {}", visible_lines(&failure.said()));
    ExitCode::from(failure.code())
}
