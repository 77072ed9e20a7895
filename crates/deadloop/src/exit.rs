//! Exit codes for failures, and the command line's names of options.

use std::process::ExitCode;

use deadloop_score::ResultFailure;

pub(crate) use deadloop_run::{Code, Failure, RunResult as Outcome};

use crate::show;
use deadloop_run::visible::visible_lines;

/// The kinds of failures with the contract's exit codes.
const CODES: [(Code, u8); 9] = [
    (Code::Unexpected, 1),
    (Code::Usage, 2),
    (Code::NotComparable, 3),
    (Code::NothingSelected, 4),
    (Code::TooLittle, 5),
    (Code::Infeasible, 6),
    (Code::Alarm, 10),
    (Code::GateFailed, 100),
    (Code::Interrupted, 130),
];

/// Returns the exit code of a kind of failure.
pub(crate) fn number(code: Code) -> u8 {
    let of = |(kind, number): &(Code, u8)| (*kind == code).then_some(*number);
    CODES.iter().find_map(of).unwrap_or(1)
}

/// Returns the failure that a finished run has recorded.
pub(crate) fn recorded_failure(ended: &ResultFailure) -> Failure {
    let of = |(kind, number): &(Code, u8)| (*number == ended.exit).then_some(*kind);
    let kind = CODES.iter().find_map(of).unwrap_or(Code::Unexpected);
    kind.error(&ended.reason)
}

/// Returns the option of the command line that sets a field of a run.
pub(crate) fn option(field: &str) -> String {
    match field {
        "on_bad" => "--on-bad skip".into(),
        _ => format!("--{field}"),
    }
}

/// Prints the chain of an error on stderr and returns the exit code.
pub(crate) fn report(outcome: Outcome) -> ExitCode {
    let Err(failure) = outcome else {
        return ExitCode::SUCCESS;
    };
    show::remark(format_args!(
        "deadloop: {}",
        visible_lines(&failure.chain())
    ));
    ExitCode::from(number(failure.code()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_failure_has_its_kind_again() {
        let ended = ResultFailure {
            exit: number(Code::TooLittle),
            reason: "too little".into(),
        };
        assert_eq!(recorded_failure(&ended).code(), Code::TooLittle);
    }
}
