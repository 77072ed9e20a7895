//! Shows a long text in the user's pager, or prints it.

use std::io::{ErrorKind, IsTerminal, Write};
use std::process::{Command, Stdio};

use crate::exit::Outcome;
use crate::show;

/// Prints a text through `$PAGER` if stdout is a terminal and `$PAGER` is set. Otherwise prints it directly.
pub(crate) fn print_paged(text: &str) -> Outcome {
    let pager = std::env::var("PAGER").unwrap_or_default();
    let pager = pager.trim();
    if pager.is_empty() || pager == "cat" || !std::io::stdout().is_terminal() {
        return show::print(text);
    }
    match page_through(pager, text) {
        Ok(()) => Ok(()),
        // If the pager does not start, the text is still shown.
        Err(_) => show::print(text),
    }
}

fn page_through(pager: &str, text: &str) -> std::io::Result<()> {
    let mut command = if cfg!(windows) {
        Command::new(pager)
    } else {
        Command::new("sh")
    };
    if !cfg!(windows) {
        // $PAGER may have options, as in `less -S`.
        command.args(["-c", pager]);
    }
    let less = std::env::var("LESS").unwrap_or_else(|_| "FRX".into());
    let mut child = command.env("LESS", less).stdin(Stdio::piped()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        let written = stdin.write_all(text.as_bytes());
        match written.and_then(|()| stdin.write_all(b"\n")) {
            // The reader has closed the pager.
            Err(e) if e.kind() == ErrorKind::BrokenPipe => {}
            written => written?,
        }
    }
    if child.wait()?.success() {
        Ok(())
    } else {
        Err(std::io::Error::other("the pager failed"))
    }
}
