//! `json`: recovers arguments from broken JSON.
//!
//! The arguments of a call are JSON written by a model. A token limit may cut them, and they may contain control text,
//! raw newlines, escapes of other languages, or comments. JSON that is closed by force parses, but may differ from the
//! intended arguments. The parameter `partial` determines what happens to it.
//!
//! | to find | look in |
//! |---|---|
//! | parameters, and the rejected combinations | this module |
//! | presets and their sources | `presets.toml` |
//! | the modes | `machine` |
//! | removal of control text | `cutter` |
//! | closing of open brackets and quotes | `closer` |
//! | preparation for the tolerant parser | `clean` |
//! | the tolerant parser | `tolerant` |

use deadloop_detect::harness::{Param, Params, Refusal};

use super::marks::MarkList;
use super::registry::{RepairTarget, Repairer, RepairerFactory, StreamKind, get_texts, repairer};

mod clean;
mod closer;
mod cutter;
mod machine;
mod tolerant;

/// The maximum nesting of lists and objects that is repaired. Deeper text passes unchanged or is rejected.
pub const MAX_NESTED_LEVELS: usize = 120;

repairer! {
    "json", version 2,
    "arguments from JSON that is cut, has control text in it, or breaks the syntax",
    check, Arguments, RepairTarget::Arguments, RepairerFactory::Text(|params| Box::new(machine::JsonMachine::new(params)))
}

static PARAMS: &[Param] = &[
    Param::word("mode", "tolerant", &machine::JsonMode::NAMES)
        .doc("only what parses; without control text; and with what is open closed; and as JSON5 and worse"),
    Param::word("partial", "refuse", &["keep", "drop", "refuse"])
        .doc("a text or number that the end cuts: kept as far as it goes; left out with its name; refuse: where anything is open at the end, nothing is given (close: as drop)"),
    Param::texts("control", &[
            "<|channel|>",
            "<|message|>",
            "<|start|>",
            "<|end|>",
            "<|call|>",
            "<|return|>",
            "<|im_end|>",
            "<|im_start|>",
            "<|eot_id|>",
            "<|eom_id|>",
            "<|endoftext|>",
            "</tool_call>",
        ]).doc("marks of control text: all from the first on is left out"),
    Param::word("inside", "cut", &["cut", "keep", "refuse"])
        .doc("control text between quotes: cut as elsewhere, or kept; refuse: nothing is given, for what it stands in place of is not known (modes strict and tolerant)"),
    Param::count("hold", 1_000_000, super::registry::HOLD_RANGE)
        .unit("chars")
        .doc("the most that waits; in the modes that read all of them, longer arguments are refused"),
];

/// Rejects ambiguous markers, and parameters that the mode does not support.
fn check(params: &Params) -> Result<(), Refusal> {
    if let Some(reason) = MarkList::conflict(&get_texts(params, "control"), false) {
        return Refusal::err("control", reason);
    }
    let waits = matches!(params.text("mode"), "strict" | "tolerant");
    if params.text("inside") == "refuse" && !waits {
        let mode = params.text("mode");
        let reason = format!("refuse, and mode {mode} passes text on before it is whole");
        return Refusal::err("inside", reason);
    }
    Ok(())
}
