//! `think`: separates reasoning from the answer by think tags.
//!
//! The splitter of deadloop-corpus reads recordings and drops only markers. This repairer splits text as production
//! servers do, with parameters for their differences.
//!
//! | to find | look in |
//! |---|---|
//! | parameters, and the rejected combinations | this module |
//! | presets and their sources | `presets.toml` |
//! | markers that open, close or end thinking | `kinds` |
//! | splitting a text char by char | `machine` |

use deadloop_detect::harness::{Param, Params, Refusal};

use super::registry::{RepairTarget, Repairer, RepairerFactory, StreamKind, get_texts, repairer};

mod kinds;
mod machine;

repairer! {
    "think", version 1,
    "reasoning told from the answer, where the tags are missing, doubled, late or in another case",
    check, Think, RepairTarget::Answer(0), RepairerFactory::Text(|params| Box::new(machine::ThinkMachine::new(params)))
}

static PARAMS: &[Param] = &[
    Param::texts("tags", &["<think>"])
        .doc("what opens a block: a tag, which a slash after its first char closes, or both tags with ... between"),
    Param::word("start", "closed", &["closed", "open"])
        .doc("open: the prompt opened the block, the text begins as reasoning"),
    Param::word("blocks", "first", &machine::BlockRule::NAMES)
        .doc("which blocks are reasoning: the first, those that follow it with blanks between, all"),
    Param::word("before", "blanks", &machine::LeadingText::NAMES)
        .doc("what may stand before the first opening tag, for it to count"),
    Param::word("case", "exact", &["exact", "ignore"])
        .doc("ignore: ASCII letters of tags in either case"),
    Param::word("orphan", "text", &["text", "split"])
        .doc("split: a closing tag without an opening one ends reasoning; text waits for it, `hold` chars"),
    Param::word("unclosed", "reasoning", &["reasoning", "text"])
        .doc("what a block is that nothing closes; text: it waits for its end, `hold` chars"),
    Param::word("stray", "keep", &["keep", "drop"])
        .doc("tags that mean nothing where they stand: text, or left out"),
    Param::word("trim", "none", &["none", "after", "both"])
        .doc("blanks that are left out: after a block; both: around the reasoning too"),
    Param::texts("tool", &[]).doc("marks that end thinking and stay in the answer, as <tool_call>"),
    Param::count("hold", 65_536, super::registry::HOLD_RANGE)
        .unit("chars")
        .doc("the most that waits; then it is what it would be at the end"),
];

/// Rejects ambiguous markers, and settings that wait for two tags at once.
fn check(params: &Params) -> Result<(), Refusal> {
    let fold = params.text("case") == "ignore";
    let refuse = |param, reason| Err(Refusal { param, reason });
    let (tags, tool) = (get_texts(params, "tags"), get_texts(params, "tool"));
    if let Err(reason) = kinds::MarkKinds::new(&tags, &tool, fold) {
        return refuse("tags", reason);
    }
    if params.text("start") == "open" && params.text("orphan") == "split" {
        let reason =
            "split: a text that begins as reasoning has no closing tag without an opening one";
        return refuse("orphan", reason.into());
    }
    Ok(())
}
