//! [`ItemKind`]: a kind of item, with its keys and defaults.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use deadloop_detect::Kind as Label;
use serde::de::{Deserialize, Deserializer, Error};

use super::values::CountRange;
use crate::runs::{InsertHarmlessFn, InsertLoopFn, agent_loops, harmless, loops};
use deadloop_corpus::BenignReason;

/// A kind of item.
#[derive(Debug)]
pub(crate) struct ItemKind {
    /// Value of an item's `kind`.
    pub(crate) name: &'static str,
    /// Method that makes the item's transcripts.
    pub(crate) maker: ItemMaker,
    /// Groups of keys of the kind.
    keys: &'static [&'static [&'static str]],
    /// Default length of a copy, in chars, calls or turns.
    pub(super) period: CountRange,
    pub(super) copies: CountRange,
}

/// The method that makes an item's transcripts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ItemMaker {
    /// A loop in text.
    Text(Label),
    /// Clean text, or texts of forms.
    Clean,
    /// Unchanged recordings.
    Recorded,
    /// A damaged stream.
    Fault,
    /// An unchanged run.
    Run,
    /// Harmless repetition in a run, with its reason for `meta.benign`.
    Harmless(BenignReason, InsertHarmlessFn),
    /// A loop in a run, with the kind for its label.
    Loop(Label, InsertLoopFn),
}

/// Keys that all kinds have. A kind with default texts also has the key `texts`.
const COMMON_KEYS: &[&str] = &["name", "kind", "count", "file", "source"];
const LOOP_KEYS: &[&str] = &["lang", "onset", "after", "class", "copies"];
const TEXT_KEYS: &[&str] = &[
    "channel", "unit", "period", "length", "truncate", "chunks", "drift",
];
const PERIOD_KEYS: &[&str] = &["period"];
const CLEAN_KEYS: &[&str] = &[
    "lang", "forms", "channel", "chars", "glue", "around", "aside",
];
const FAULT_KEYS: &[&str] = &[
    "lang", "forms", "chunks", "fault", "stream", "severity", "intact",
];
const RUN_KEYS: &[&str] = &["lang", "forms", "volatile"];
const STAGNATION_KEYS: &[&str] = &["onset", "after", "class", "period"];
const HARMLESS_KEYS: &[&str] = &["onset", "copies"];

/// Default texts of items by kind, from `texts.toml`.
static DEFAULT_TEXTS: LazyLock<BTreeMap<String, Vec<String>>> = LazyLock::new(|| {
    let texts = toml::from_str(include_str!("texts.toml"));
    texts.unwrap_or_else(|why| unreachable!("texts.toml: {why}"))
});

/// Defines [`KINDS`] with the name, maker, keys, default period and default copies of each kind.
macro_rules! kinds {
    ($($name:literal: $maker:expr, [$($keys:ident),*], $from:literal to $to:literal,
       $fewest:literal to $most:literal;)+) => {
        /// All kinds of items.
        pub(crate) static KINDS: &[ItemKind] = &[$(ItemKind {
            name: $name,
            maker: $maker,
            keys: &[COMMON_KEYS, $($keys),*],
            period: CountRange::new($from, $to),
            copies: CountRange::new($fewest, $most),
        }),+];
    };
}

use ItemMaker::{Clean, Fault, Harmless, Loop, Recorded, Run, Text};

kinds! {
    "short-sequence": Text(Label::ShortSequence), [LOOP_KEYS, TEXT_KEYS], 2 to 40, 4 to 12;
    "paragraph": Text(Label::Paragraph), [LOOP_KEYS, TEXT_KEYS], 40 to 600, 4 to 12;
    "ordered-list": Text(Label::OrderedList), [LOOP_KEYS, TEXT_KEYS], 10 to 400, 4 to 12;
    "near-repeat": Text(Label::NearRepeat), [LOOP_KEYS, TEXT_KEYS], 40 to 600, 4 to 12;
    "clean": Clean, [CLEAN_KEYS], 1 to 1, 1 to 1;
    "recorded": Recorded, [], 1 to 1, 1 to 1;
    "fault": Fault, [FAULT_KEYS], 1 to 1, 1 to 1;
    "run": Run, [RUN_KEYS], 1 to 1, 1 to 1;
    "poll": Harmless(BenignReason::Poll, harmless::insert_poll), [RUN_KEYS, HARMLESS_KEYS], 1 to 1, 3 to 6;
    "batch": Harmless(BenignReason::Batch, harmless::insert_batch), [RUN_KEYS, HARMLESS_KEYS], 1 to 1, 5 to 9;
    "verify": Harmless(BenignReason::Verify, harmless::insert_verification), [RUN_KEYS, HARMLESS_KEYS], 1 to 1, 3 to 6;
    "retry": Harmless(BenignReason::Retry, harmless::insert_retry), [RUN_KEYS, HARMLESS_KEYS], 1 to 1, 2 to 3;
    "identical-call": Loop(Label::IdenticalCall, loops::insert_identical_call), [RUN_KEYS, LOOP_KEYS], 1 to 1, 4 to 10;
    "same-call-same-result": Loop(Label::SameCallSameResult, loops::insert_same_result), [RUN_KEYS, LOOP_KEYS], 1 to 1, 4 to 10;
    "cycle": Loop(Label::Cycle, loops::insert_cycle), [RUN_KEYS, LOOP_KEYS, PERIOD_KEYS], 2 to 4, 4 to 10;
    "interleaved": Loop(Label::Interleaved, loops::insert_interleaved), [RUN_KEYS, LOOP_KEYS, PERIOD_KEYS], 2 to 4, 4 to 10;
    "aperiodic-stagnation": Loop(Label::AperiodicStagnation, loops::insert_aperiodic), [RUN_KEYS, STAGNATION_KEYS], 4 to 8, 4 to 10;
    "error-retry": Loop(Label::ErrorRetry, loops::insert_reworded_calls), [RUN_KEYS, LOOP_KEYS], 1 to 1, 4 to 10;
    "monologue": Loop(Label::Monologue, loops::insert_monologue), [RUN_KEYS, LOOP_KEYS], 1 to 1, 4 to 10;
    "handoff": Loop(Label::Handoff, loops::insert_handoffs), [RUN_KEYS, LOOP_KEYS], 2 to 2, 4 to 10;
    "game": Harmless(BenignReason::Batch, harmless::insert_moves), [RUN_KEYS, HARMLESS_KEYS], 1 to 1, 8 to 20;
    "stateless": Harmless(BenignReason::Batch, harmless::insert_silent_calls), [RUN_KEYS, HARMLESS_KEYS], 1 to 1, 3 to 8;
    "reworded-write": Loop(Label::ErrorRetry, agent_loops::insert_rejected_writes), [RUN_KEYS, LOOP_KEYS], 1 to 1, 8 to 16;
    "window": Loop(Label::AperiodicStagnation, agent_loops::insert_overlapping_windows), [RUN_KEYS, LOOP_KEYS, PERIOD_KEYS], 4 to 8, 3 to 4;
    "growing": Loop(Label::AperiodicStagnation, agent_loops::insert_growing_command), [RUN_KEYS, LOOP_KEYS], 1 to 1, 4 to 10;
    "replan": Loop(Label::Cycle, agent_loops::insert_replans), [RUN_KEYS, LOOP_KEYS, PERIOD_KEYS], 2 to 4, 4 to 10;
    "same-answer": Loop(Label::Monologue, agent_loops::insert_same_answers), [RUN_KEYS, LOOP_KEYS], 1 to 1, 5 to 10;
    "narration": Loop(Label::Monologue, agent_loops::insert_narration), [RUN_KEYS, LOOP_KEYS], 1 to 1, 5 to 8;
}

impl ItemKind {
    /// Returns the default texts. Empty if items of the kind have no texts.
    pub(crate) fn texts(&self) -> &'static [String] {
        DEFAULT_TEXTS.get(self.name).map_or(&[], Vec::as_slice)
    }

    /// Returns whether items of the kind may have this key.
    pub(super) fn has_key(&self, key: &str) -> bool {
        let groups = self.keys.iter().any(|keys| keys.contains(&key));
        groups || (key == "texts" && !self.texts().is_empty())
    }

    /// Returns the default range of the second copy's position.
    pub(super) fn default_onset(&self) -> CountRange {
        match self.maker {
            Text(_) => CountRange::new(700, 6000),
            _ => CountRange::new(3, 20),
        }
    }
}

/// Deserializes the name of a kind.
pub(super) fn deserialize_kind<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<&'static ItemKind, D::Error> {
    let name = String::deserialize(from)?;
    let kind = KINDS.iter().find(|kind| kind.name == name);
    kind.ok_or_else(|| D::Error::custom("an unknown kind"))
}
