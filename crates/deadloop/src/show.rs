//! Prints tables, prose and remarks on the terminal.

use deadloop_corpus::is_named;
use deadloop_report::TextTable;
use deadloop_score::measure::Metric;
use deadloop_score::{Count, Stakes, Tally, Transient};
use std::fmt::Display;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

pub(crate) use deadloop_run::{count, number, per, percent, several, typed};

use crate::args::GlobalArgs;
use crate::exit::{Code, Outcome};
use crate::layout;
use deadloop_run::visible::{visible_json, visible_lines};
use serde::Serialize;
use serde_json::{Map, Value};

/// Returns the columns of the terminal on stdout: `COLUMNS` if it is set, else the size of the terminal. `None` if
/// neither is known, so that nothing is wrapped.
pub(crate) fn width() -> Option<u16> {
    let said = std::env::var("COLUMNS").ok();
    let said = said
        .and_then(|columns| columns.parse().ok())
        .filter(|columns| *columns > 0);
    said.or_else(|| Some(console::Term::stdout().size_checked()?.1))
}

/// Formats a table without rules and with numbers to the right, at most as wide as the terminal. The columns from
/// `numbers` on hold numbers.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>], numbers: usize) -> String {
    table_of(header, rows, numbers..header.len())
}

/// Formats a table like [`table`], with `numbers` as the range of columns that hold numbers.
pub(crate) fn table_of(header: &[&str], rows: &[Vec<String>], numbers: Range<usize>) -> String {
    layout::table(header, &escape(rows), &numbers, width().map(usize::from))
}

/// Formats the tables of a summary of `repair` or `budget`, each below its explanation.
pub(crate) fn summary(summary: &Map<String, Value>) -> Vec<String> {
    let tables = deadloop_report::summary_tables(summary).into_iter();
    let text = |one: TextTable| {
        let header: Vec<&str> = one.header.iter().map(String::as_str).collect();
        let shown = table(&header, &one.rows, one.words);
        // The page's blank between thousands is the terminal's comma.
        format!("{}\n{}", prose(&one.head), shown.replace('\u{202f}', ","))
    };
    tables.map(text).collect()
}

/// Formats a table of words, at most `most` columns wide even on a wider terminal.
pub(crate) fn format_wrapped(header: &[&str], rows: &[Vec<String>], most: u16) -> String {
    let width = width().map_or(most, |width| width.min(most));
    let numbers = header.len()..header.len();
    layout::table(header, &escape(rows), &numbers, Some(width.into()))
}

/// Escapes the cells of a table, since names in it are untrusted.
fn escape(rows: &[Vec<String>]) -> Vec<Vec<String>> {
    let row = |row: &Vec<String>| row.iter().map(|cell| visible_lines(cell)).collect();
    rows.iter().map(row).collect()
}

/// Folds prose to the width of the terminal. A line with a command stays whole, so that it can be copied.
pub(crate) fn prose(text: &str) -> String {
    let Some(width) = width() else {
        return text.to_owned();
    };
    let line = |line: &str| {
        if line.contains("deadloop ") {
            vec![line.to_owned()]
        } else {
            layout::fold_lines(line, width.into())
        }
    };
    text.lines().flat_map(line).collect::<Vec<_>>().join("\n")
}

/// Prints the next commands, unfolded, on stderr, so that a pipe gets the answer alone.
pub(crate) fn next(commands: &[&str], global: GlobalArgs) -> Outcome {
    if global.quiet || global.json {
        return Ok(());
    }
    for (i, command) in commands.iter().enumerate() {
        let lead = if i == 0 { "next:" } else { "or:  " };
        remark(format_args!("{lead} {}", visible_lines(command)));
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

/// Prints an answer: as JSON with `--json`, not at all with `--quiet`, else as text.
///
/// # Errors
/// Returns the errors of [`print()`].
pub(crate) fn answer(
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

/// Returns a measure that does not depend on the cost of errors. `None` if it is n/a.
pub(crate) fn value(measure: Metric, tally: &Tally) -> Option<f64> {
    measure.value(tally, &Stakes::default())
}

/// Returns a note on the stopped repetitions that end by themselves, if no rate counts them.
pub(crate) fn transient_note(name: &str, tally: &Tally, transient: Transient) -> Option<String> {
    let (all, earlier) = (tally.get(Count::TransientStop), tally.get(Count::Earlier));
    let uncounted = all > earlier && transient == Transient::Ignore;
    uncounted.then(|| {
        format!(
            "\n{name} also stops {} of {} repetitions that end by themselves; no rate above counts them \
             (--transient clean counts them as wrong alarms)",
            count(all.saturating_sub(earlier)),
            count(tally.transient())
        )
    })
}

/// Refuses to overwrite a file without `force`.
pub(crate) fn refuse_over(file: &Path, force: bool) -> Outcome {
    if !force && is_named(file) {
        let what = format!("{} is there already: --force overwrites it", file.display());
        return Err(Code::Usage.error(what));
    }
    Ok(())
}
