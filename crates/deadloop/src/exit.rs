//! Exit codes for failures, and library errors in command-line terms.

use std::process::ExitCode;

use deadloop_score::Ended;

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

/// The fields that errors of libraries name, with the options that set them.
const OPTIONS: [(&str, &str); 13] = [
    ("also", "--also"),
    ("by", "--by"),
    ("chunks", "--chunks"),
    ("corpus", "--corpus"),
    ("force", "--force"),
    ("grid", "--grid"),
    ("out", "--out"),
    ("resume", "--resume"),
    ("shard", "--shard"),
    ("skip_bad", "--on-bad skip"),
    ("split", "--split"),
    ("unit", "--unit"),
    ("settings", "--settings"),
];

/// Returns the exit code of a kind of failure.
pub(crate) fn number(code: Code) -> u8 {
    let of = |(kind, number): &(Code, u8)| (*kind == code).then_some(*number);
    CODES.iter().find_map(of).unwrap_or(1)
}

/// Returns the failure that a finished run has recorded.
pub(crate) fn again(ended: &Ended) -> Failure {
    let of = |(kind, number): &(Code, u8)| (*number == ended.exit).then_some(*kind);
    let kind = CODES.iter().find_map(of).unwrap_or(Code::Unexpected);
    kind.error(&ended.reason)
}

/// Replaces a library's field names in a message with the options of the command line. The text after a place in a file
/// keeps the names of the file.
pub(crate) fn in_options(said: &str) -> String {
    let option =
        |said: String, (field, option): &(&str, &str)| said.replace(&format!("`{field}`"), option);
    let line = |line: &str| {
        let (own, of_file) = line.split_at(place(line).unwrap_or(line.len()));
        OPTIONS.iter().fold(own.to_owned(), option) + of_file
    };
    said.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Returns the position of the colon after `FILE` in `FILE:LINE:`.
fn place(line: &str) -> Option<usize> {
    let is_line = |(at, _): &(usize, &str)| {
        let digits = line[at + 1..].bytes().take_while(u8::is_ascii_digit);
        let end = at + 1 + digits.count();
        end > at + 1 && line[end..].starts_with(':')
    };
    line.match_indices(':').find(is_line).map(|(at, _)| at)
}

/// Prints the chain of an error on stderr and returns the exit code.
pub(crate) fn report(outcome: Outcome) -> ExitCode {
    let Err(failure) = outcome else {
        return ExitCode::SUCCESS;
    };
    let said = in_options(&failure.said());
    show::remark(format_args!("deadloop: {}", visible_lines(&said)));
    ExitCode::from(number(failure.code()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_said_as_its_option_and_other_words_stay() {
        let said = "`out` x: holds a; choose another folder, or `force` to overwrite `y`";
        let options = "--out x: holds a; choose another folder, or --force to overwrite `y`";
        assert_eq!(in_options(said), options);
        let of_file = "s.toml:3:1: unknown field `unit`; expected `by`";
        assert_eq!(
            in_options(&format!("{said}\n{of_file}")),
            format!("{options}\n{of_file}")
        );
        let ended = Ended {
            exit: number(Code::TooLittle),
            reason: said.into(),
        };
        assert_eq!((ended.exit, again(&ended).code()), (5, Code::TooLittle));
    }
}
