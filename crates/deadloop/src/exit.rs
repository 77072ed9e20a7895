//! The exit of the program, and the command line's names of options.

use std::process::ExitCode;

pub(crate) use deadloop_run::{Code, Failure, RunResult as Outcome};

use crate::show;
use deadloop_run::visible::visible_lines;

/// Returns the command line option that sets a field of a run.
pub(crate) fn option_name(field: &str) -> String {
    match field {
        "on_bad" => "--on-bad skip".into(),
        _ => format!("--{}", field.replace('_', "-")),
    }
}

/// Prints an error with its causes on stderr, and returns the exit code.
pub(crate) fn report_outcome(outcome: Outcome) -> ExitCode {
    let Err(failure) = outcome else {
        return ExitCode::SUCCESS;
    };
    show::eprint(format_args!(
        "deadloop: {}",
        visible_lines(&failure.chain())
    ));
    ExitCode::from(failure.code().exit())
}
