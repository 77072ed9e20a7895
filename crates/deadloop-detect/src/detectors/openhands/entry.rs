//! [`Entry`]: what is in a history, and what is [measured](Measures) of one.

use crate::stream::Calls;

/// One thing that happened.
#[derive(Clone)]
pub(super) enum Entry {
    /// A call.
    Act(Act),
    /// Its result: equal ones have one key.
    Observation { key: u128, error: bool },
    /// A turn without a call: the hash of what it said, and its first chars.
    Message { text: u128, head: String },
}

/// A call, as it is compared.
#[derive(Clone)]
pub(super) struct Act {
    /// Equal of equal actions.
    pub(super) key: u128,
    pub(super) call: Calls,
    pub(super) unit: String,
    /// Of a shell whose results are not read: the tool and its arguments.
    pub(super) shell: Option<u128>,
}

/// How far each scenario has come, in the order of the thresholds.
pub(super) struct Measures {
    pub(super) bounds: [i64; 4],
    /// The last action.
    pub(super) last: Option<Act>,
    /// What the last message said.
    pub(super) message: String,
}

/// Whether results of that tool are taken as equal when the call and the error flag are.
pub(super) fn is_shell(name: &str) -> bool {
    const SHELLS: [&str; 8] = [
        "bash",
        "execute_bash",
        "shell",
        "exec_command",
        "run_shell_command",
        "terminal",
        "sql",
        "ctf",
    ];
    SHELLS.iter().any(|shell| name.eq_ignore_ascii_case(shell))
}
