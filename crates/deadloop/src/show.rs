//! Prints answers, tables and remarks on the terminal.

use std::fmt::Display;
use std::io::{self, Write};
use std::ops::Range;

use anstream::{AutoStream, ColorChoice};

use deadloop_run::visible::{visible_json, visible_lines};
use deadloop_run::{FolderAnswer, FolderContent, layout};
pub(crate) use deadloop_run::{count, several, typed};
use serde::Serialize;

use crate::args::GlobalArgs;
use crate::exit::Outcome;

/// Returns the number of columns of the terminal on stdout: `COLUMNS` if it is set, else the size of the terminal.
/// `None` if neither is known, so that nothing is wrapped.
pub(crate) fn terminal_width() -> Option<usize> {
    let from_env = std::env::var("COLUMNS").ok();
    let from_env = from_env
        .and_then(|columns| columns.parse().ok())
        .filter(|columns| *columns > 0);
    from_env.or_else(|| Some(console::Term::stdout().size_checked()?.1.into()))
}

/// Formats a table without rules, at most as wide as the terminal. Columns from index `numbers` on hold numbers, which
/// are aligned right.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>], numbers: usize) -> String {
    table_with(header, rows, numbers..header.len())
}

/// Formats a table like [`table`]. `numbers` is the range of columns that hold numbers.
pub(crate) fn table_with(header: &[&str], rows: &[Vec<String>], numbers: Range<usize>) -> String {
    layout::table(header, rows, &numbers, terminal_width())
}

/// Formats a table of text columns, at most `max_width` columns wide even on a wider terminal.
pub(crate) fn table_within(header: &[&str], rows: &[Vec<String>], max_width: usize) -> String {
    let width = terminal_width().map_or(max_width, |width| width.min(max_width));
    let numbers = header.len()..header.len();
    layout::table(header, rows, &numbers, Some(width))
}

/// Folds prose to the width of the terminal. A line with a command is not folded, so that it can be copied.
pub(crate) fn fold(text: &str) -> String {
    layout::fold_prose(text, terminal_width())
}

/// Prints suggestions for the next command on stderr, so that a pipe receives only the answer. Prints nothing with
/// `--quiet` or `--json`.
pub(crate) fn print_next(commands: &[impl AsRef<str>], global: GlobalArgs) -> Outcome {
    if global.quiet || global.json {
        return Ok(());
    }
    for (i, command) in commands.iter().enumerate() {
        let lead = if i == 0 { "next:" } else { "or:  " };
        eprint(format_args!("{lead} {}", visible_lines(command.as_ref())));
    }
    Ok(())
}

/// Prints a line on stderr and ignores failures, for example if the disk of the log is full. `eprintln!` would panic.
pub(crate) fn eprint(line: impl Display) {
    // The line is written in one piece, so that lines of several threads stay whole.
    let line = format!("{line}\n");
    let _ = io::stderr().write_all(line.as_bytes());
}

/// Prints a text on stdout. If the reader has closed the pipe, the command continues and ends with its own exit code.
///
/// # Errors
/// Returns any other error, such as a full disk.
pub(crate) fn print(text: &str) -> Outcome {
    ignore_broken_pipe(writeln!(io::stdout(), "{text}"))
}

/// Prints a value as JSON on one line.
///
/// # Errors
/// Returns the errors of [`print()`].
pub(crate) fn print_json(value: &impl Serialize) -> Outcome {
    print(&to_json(value)?)
}

/// Prints an answer as JSON with `--json`, not at all with `--quiet`, and otherwise as text in the width and colours of
/// the terminal.
///
/// # Errors
/// Returns the errors of [`print()`].
pub(crate) fn print_answer(answer: &(impl Serialize + Display), global: GlobalArgs) -> Outcome {
    if global.json || global.quiet {
        return print_values(answer, String::new, global);
    }
    let coloured = AutoStream::choice(&io::stdout()) != ColorChoice::Never;
    let shown = match (terminal_width(), coloured) {
        (Some(width), true) => format!("{answer:#width$}"),
        (Some(width), false) => format!("{answer:width$}"),
        (None, true) => format!("{answer:#}"),
        (None, false) => answer.to_string(),
    };
    if shown.is_empty() {
        return Ok(());
    }
    print_styled(&shown)
}

/// Prints `json` with `--json`, nothing with `--quiet`, and otherwise `text`.
///
/// # Errors
/// Returns the errors of [`print()`].
pub(crate) fn print_values(
    json: &impl Serialize,
    text: impl FnOnce() -> String,
    global: GlobalArgs,
) -> Outcome {
    match (global.json, global.quiet) {
        (true, _) => print_json(json),
        (_, true) => Ok(()),
        _ => print(&text()),
    }
}

/// Prints the answer of a command that writes a result folder, and suggests the next commands: `next` after a result, a
/// merge after a part.
///
/// # Errors
/// Returns the failure of the answer, and the errors of [`print()`].
pub(crate) fn print_folder(done: FolderAnswer, next: &[String], global: GlobalArgs) -> Outcome {
    print_answer(&done, global)?;
    if let Some(failure) = done.failure {
        return Err(failure);
    }
    match done.content {
        FolderContent::Result(_) => self::print_next(next, global),
        FolderContent::Earlier(_) | FolderContent::Plan(_) => Ok(()),
        FolderContent::Part(_) => {
            let part = typed(&done.out);
            self::print_next(&[format!("deadloop merge {part} … --out DIR")], global)
        }
    }
}

/// Formats a value as JSON on one line, with control and invisible chars escaped.
///
/// # Errors
/// Returns an error if the value cannot be written as JSON.
pub(crate) fn to_json(value: &impl Serialize) -> Outcome<String> {
    Ok(visible_json(&serde_json::to_string(value)?))
}

/// Prints a text with colours, which are left out if stdout does not show them.
///
/// # Errors
/// Returns the errors of [`print()`].
pub(crate) fn print_styled(text: &str) -> Outcome {
    ignore_broken_pipe(writeln!(anstream::stdout(), "{text}"))
}

fn ignore_broken_pipe(written: io::Result<()>) -> Outcome {
    match written {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

/// Formats the error on guards that cannot judge `stream`, with the alternative to them.
pub(crate) fn format_blind_guards(stream: &str, blind: &[String], instead: &str) -> String {
    let guards = match blind {
        [_] => "a guard",
        _ => "some guards",
    };
    format!(
        "{stream} can never feed {guards}: {}; expected {instead}",
        blind.join("; ")
    )
}
