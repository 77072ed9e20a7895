//! `filter`: removes pseudo answers and confirmations from the context.
//!
//! "好的，收到您的指令" ("yes, I have received your instructions") is not an analysis, and a user's "I'm done" is not content.
//! A text with such a phrase is removed completely. Any other text passes unchanged.
//!
//! | to find | look in |
//! |---|---|
//! | parameters, and the rejected combinations | this module |
//! | presets and their sources | `presets.toml` |
//! | the decision about a text | `machine` |

use deadloop_detect::harness::{PHRASE_LISTS, Param, Params, Refusal, phrases};

use super::registry::{RepairTarget, Repairer, RepairerFactory, StreamKind, repairer};

mod machine;

repairer! {
    "filter", version 1,
    "pseudo answers (\"好的，收到您的指令\") and confirmations (\"I'm done\") kept out of the context",
    check, Text, RepairTarget::Answer(2), RepairerFactory::Text(|params| Box::new(machine::FilterMachine::new(params)))
}

static PARAMS: &[Param] = &[
    Param::words("lists", &["zh", "en"], PHRASE_LISTS)
        .doc("lists of phrases: acknowledgements in Chinese and English, and confirmations of users (-done)"),
    Param::texts("own", &[]).doc("more phrases"),
    Param::word("anchor", "start", &machine::PhraseAnchor::NAMES)
        .doc("where a phrase must stand: at the start, be the whole text, anywhere; blanks around the text aside"),
    Param::word("case", "ignore", &["exact", "ignore"]).doc("ignore: ASCII letters in either case"),
    Param::count("max_chars", 60, 0..=1_000_000)
        .unit("chars")
        .doc("longest text that is left out, blanks around it aside; 0: no bound"),
    Param::count("hold", 65_536, super::registry::HOLD_RANGE).unit("chars").doc("the most that waits; then all passes"),
];

/// The maximum length of a phrase, in chars.
const MAX_CHARS: usize = 256;

/// Rejects a filter without phrases, and phrases that are too long or surrounded by whitespace.
fn check(params: &Params) -> Result<(), Refusal> {
    let phrases = phrases(params);
    if phrases.is_empty() {
        let reason = "no list and no phrase: it would leave nothing out";
        return Refusal::err("lists", reason);
    }
    let odd = |phrase: &&String| phrase.trim() != **phrase || phrase.chars().count() > MAX_CHARS;
    match phrases.iter().find(odd) {
        Some(phrase) => Refusal::err(
            "own",
            format!("{phrase:?}: expected {MAX_CHARS} chars at most and no blanks around it"),
        ),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use deadloop_detect::Value;

    use super::*;

    #[test]
    fn every_list_has_phrases() {
        for name in PHRASE_LISTS {
            let mut params = ENTRY.defaults();
            params.set("lists", Value::List(vec![Value::Text((*name).into())]));
            assert!(phrases(&params).len() > 3, "{name}");
            assert_eq!(check(&params), Ok(()));
        }
    }
}
