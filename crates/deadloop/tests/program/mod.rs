//! The program, run as a user runs it, and what it answered.

#![allow(dead_code, reason = "no test asks for all of it")]

use std::path::Path;
use std::process::{Command, Output};

/// Runs the program.
pub(crate) fn deadloop(args: &[&str]) -> Output {
    deadloop_in(Path::new("."), args)
}

/// Runs the program in a folder.
pub(crate) fn deadloop_in(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_deadloop"));
    let run = command.current_dir(folder).args(args).output();
    run.expect("it starts")
}

/// Its exit code; none where a signal ended it.
pub(crate) fn code(output: &Output) -> Option<i32> {
    output.status.code()
}

/// What it said beside its answer.
pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Its answer.
pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}
