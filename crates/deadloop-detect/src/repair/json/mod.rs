//! `json`: arguments from broken JSON.
//!
//! A call's arguments are JSON that a model wrote: cut by a limit on tokens, with control text behind
//! them, with a raw newline, an escape of another language, a comment. What is closed by force parses
//! and may say something else than was meant: that is what `partial` is for.
//!
//! | to find | look in |
//! |---|---|
//! | parameters, and which are refused together | here |
//! | presets and where they come from | `presets.toml` |
//! | which mode does what | `machine` |
//! | cutting control text | `cutter` |
//! | closing what is open | `closer` |
//! | quotes, escapes, comments before a tolerant parser sees them | `clean` |
//! | the tolerant parser and what it is written as | `tolerant` |
//! | arguments held against the fields that are expected | `fit` |

use crate::detectors::Refusal;
use crate::param::Param;
use crate::params::Params;
use crate::value::Value;

use super::marks::Marks;
use super::registry::{HOLD, Make, Repairer, count, list, table, texts, word};

mod clean;
mod closer;
mod cutter;
mod fit;
mod machine;
mod tolerant;

pub(super) use fit::{Fields, Type};

/// The deepest nesting of lists and objects that is mended. Deeper text passes unchanged, or is refused.
pub const MOST_DEEP: usize = 120;

/// The registry entry.
pub(super) static ENTRY: Repairer = Repairer {
    name: "json",
    version: 2,
    about: "arguments from JSON that is cut, has control text in it, or breaks the syntax",
    exactly: include_str!("exactly.md"),
    params: PARAMS,
    presets: include_str!("presets.toml"),
    check,
    make: Make::Text(|params| Box::new(machine::Machine::new(params))),
};

static PARAMS: &[Param] = &[
    word(
        "mode",
        "tolerant",
        &["none", "strict", "control", "close", "tolerant", "schema"],
        "as it is; only what parses; without control text; and with what is open closed; and as JSON5 and worse; and by `fields`",
    ),
    word(
        "partial",
        "refuse",
        &["keep", "drop", "refuse"],
        "a text or number that the end cuts: kept as far as it goes; left out with its name; refuse: where anything is open at the end, nothing is given (close: as drop)",
    ),
    texts(
        "control",
        &[
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
        ],
        "marks of control text: all from the first on is left out",
    ),
    word(
        "inside",
        "cut",
        &["cut", "keep", "refuse"],
        "control text between quotes: cut as elsewhere, or kept; refuse: nothing is given, for what it stands in place of is not known (modes strict, tolerant and schema)",
    ),
    table(
        "fields",
        "mode schema: the fields of the object and their types, as { city = \"string\" }; string, integer, number, boolean, object, array or any",
    ),
    count(
        "hold",
        1_000_000,
        HOLD,
        "chars",
        "the most that waits; in the modes that read all of them, longer arguments are refused",
    ),
];

/// Refuses marks that cannot be told apart, and types that there are not.
fn check(params: &Params) -> Result<(), Refusal> {
    if let Some(reason) = Marks::refuse(&list(params, "control"), false) {
        return Err(Refusal {
            param: "control",
            reason,
        });
    }
    let waits = matches!(params.text("mode"), "strict" | "tolerant" | "schema");
    if params.text("inside") == "refuse" && !waits {
        let mode = params.text("mode");
        let reason = format!("refuse, and mode {mode} passes text on before it is whole");
        return Err(Refusal {
            param: "inside",
            reason,
        });
    }
    let Some(Value::Table(fields)) = params.get("fields") else {
        return Ok(());
    };
    for (name, kind) in fields {
        if kind.as_text().and_then(Type::of).is_none() {
            let reason = format!(
                "{name} = {kind}: expected one of: {}",
                Type::NAMES.join(", ")
            );
            return Err(Refusal {
                param: "fields",
                reason,
            });
        }
    }
    if params.text("mode") == "schema" && fields.is_empty() {
        let reason = "none: mode schema holds the arguments against these".into();
        return Err(Refusal {
            param: "fields",
            reason,
        });
    }
    Ok(())
}
