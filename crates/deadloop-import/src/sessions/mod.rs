//! Sessions of agents and chats as transcripts.
//!
//! | to find | look in |
//! |---|---|
//! | messages of a conversation as events | `conversation` |
//! | users, prompts, turns of an agent's run; data on a turn | `run_session`; `turn` |
//! | logs, described by paths of fields | `log` |
//! | spans of a trace as a run | `spans` |

pub(crate) mod conversation;
pub(crate) mod log;
pub(crate) mod run_session;
pub(crate) mod spans;
pub(crate) mod turn;
