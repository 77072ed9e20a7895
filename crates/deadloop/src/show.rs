//! Prints tables, prose and remarks on the terminal.

use std::fmt::Display;
use std::io::{self, Write};
use std::ops::Range;

use anstream::{AutoStream, ColorChoice};

use deadloop_run::visible::{visible_json, visible_lines};
use deadloop_run::{FolderAnswer, FolderContent, layout};
pub(crate) use deadloop_run::{count, per, several, typed};
use serde::Serialize;

use crate::args::GlobalArgs;
use crate::exit::Outcome;

/// Returns the columns of the terminal on stdout: `COLUMNS` if it is set, else the size of the terminal. `None` if
/// neither is known, so that nothing is wrapped.
pub(crate) fn width() -> Option<usize> {
    let said = std::env::var("COLUMNS").ok();
    let said = said
        .and_then(|columns| columns.parse().ok())
        .filter(|columns| *columns > 0);
    said.or_else(|| Some(console::Term::stdout().size_checked()?.1.into()))
}

/// Formats a table without rules and with numbers to the right, at most as wide as the terminal. The columns from
/// `numbers` on hold numbers.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>], numbers: usize) -> String {
    table_of(header, rows, numbers..header.len())
}

/// Formats a table like [`table`], with `numbers` as the range of columns that hold numbers.
pub(crate) fn table_of(header: &[&str], rows: &[Vec<String>], numbers: Range<usize>) -> String {
    layout::table(header, rows, &numbers, width())
}

/// Formats a table of words, at most `most` columns wide even on a wider terminal.
pub(crate) fn format_wrapped(header: &[&str], rows: &[Vec<String>], most: usize) -> String {
    let width = width().map_or(most, |width| width.min(most));
    let numbers = header.len()..header.len();
    layout::table(header, rows, &numbers, Some(width))
}

/// Folds prose to the width of the terminal. A line with a command stays whole, so that it can be copied.
pub(crate) fn prose(text: &str) -> String {
    layout::fold_prose(text, width())
}

/// Prints the next commands, unfolded, on stderr, so that a pipe gets the answer alone.
pub(crate) fn next(commands: &[impl AsRef<str>], global: GlobalArgs) -> Outcome {
    if global.quiet || global.json {
        return Ok(());
    }
    for (i, command) in commands.iter().enumerate() {
        let lead = if i == 0 { "next:" } else { "or:  " };
        remark(format_args!("{lead} {}", visible_lines(command.as_ref())));
    }
    Ok(())
}

/// Writes a line to stderr and ignores failures. If the reader of the log has ended or the disk is full, only the line
/// is lost. `eprintln!` would panic.
pub(crate) fn remark(line: impl Display) {
    // Written in one piece, so that lines of several threads stay whole.
    let line = format!("{line}\n");
    let _ = io::stderr().write_all(line.as_bytes());
}

/// Prints on stdout. If the reader has closed the pipe, the command continues and ends with its own exit code.
///
/// # Errors
/// Returns any other error, such as a full disk.
pub(crate) fn print(text: &str) -> Outcome {
    result_of_print(writeln!(io::stdout(), "{text}"))
}

/// Prints a value as JSON on one line.
///
/// # Errors
/// Returns the errors of [`print()`].
pub(crate) fn print_json(value: &impl Serialize) -> Outcome {
    print(&json(value)?)
}

/// Prints an answer: as JSON with `--json`, not at all with `--quiet`, else as text in the width and with the colours
/// of the terminal.
///
/// # Errors
/// Returns the errors of [`print()`].
pub(crate) fn answer(answer: &(impl Serialize + Display), global: GlobalArgs) -> Outcome {
    if global.json || global.quiet {
        return values(answer, String::new, global);
    }
    let coloured = AutoStream::choice(&io::stdout()) != ColorChoice::Never;
    let shown = match (width(), coloured) {
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

/// Prints values: as JSON with `--json`, as text otherwise. With `--quiet` it prints nothing.
///
/// # Errors
/// Returns the errors of [`print()`].
pub(crate) fn values(
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

/// Prints the answer of a command that left a folder, and the next commands: `next`, or after a part its merge.
///
/// # Errors
/// Returns the failure of the answer, and the errors of [`print()`].
pub(crate) fn folder(done: FolderAnswer, next: &[String], global: GlobalArgs) -> Outcome {
    answer(&done, global)?;
    if let Some(failure) = done.failure {
        return Err(failure);
    }
    match done.content {
        FolderContent::Result(_) => self::next(next, global),
        FolderContent::Earlier(_) => Ok(()),
        FolderContent::Part(_) => {
            let part = typed(&done.out);
            self::next(&[format!("deadloop merge {part} … --out DIR")], global)
        }
    }
}

/// Returns a value as JSON on one line, with control and invisible chars escaped.
///
/// # Errors
/// It cannot be written as JSON.
pub(crate) fn json(value: &impl Serialize) -> Outcome<String> {
    Ok(visible_json(&serde_json::to_string(value)?))
}

/// Prints a text with colours. They are left out if the output does not show them.
///
/// # Errors
/// Returns the errors of [`print()`].
pub(crate) fn print_styled(text: &str) -> Outcome {
    result_of_print(writeln!(anstream::stdout(), "{text}"))
}

fn result_of_print(written: io::Result<()>) -> Outcome {
    match written {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

/// Formats the error on guards that `stream` can never feed, with the alternative.
pub(crate) fn blind_words(stream: &str, blind: &[String], instead: &str) -> String {
    let guards = match blind {
        [_] => "a guard",
        _ => "some guards",
    };
    format!(
        "{stream} can never feed {guards}: {}; expected {instead}",
        blind.join("; ")
    )
}
