//! [`ItemKind`]: a kind of items, with its keys and defaults.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use deadloop_detect::Kind as Label;
use serde::de::{Deserialize, Deserializer, Error};

use super::values::CountRange;
use crate::runs::{HarmlessScene, LoopScene, agent_loops, harmless, loops};
use deadloop_corpus::Reason;

/// A kind of item.
#[derive(Debug)]
pub(crate) struct ItemKind {
    /// The word in an item's `kind`.
    pub(crate) name: &'static str,
    /// The maker of the item.
    pub(crate) by: ItemMaker,
    /// Groups of keys that the kind has.
    keys: &'static [&'static [&'static str]],
    /// The length of a copy in chars, calls or turns.
    pub(super) period: CountRange,
    pub(super) copies: CountRange,
}

/// The makers of items.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ItemMaker {
    /// A loop in text.
    Text(Label),
    /// Clean text, or forms.
    Clean,
    /// Unchanged recordings.
    Recorded,
    /// A damaged stream.
    Fault,
    /// A run without changes.
    Run,
    /// Harmless repetition in a run, with its reason in `meta.benign`.
    Harmless(Reason, HarmlessScene),
    /// A loop in a run, with the kind in its label.
    Loop(Label, LoopScene),
}

/// The groups of keys. A kind with default texts also has the key `texts`.
const ALL_KEYS: &[&str] = &["name", "kind", "count", "file", "source"];
const LOOP: &[&str] = &["lang", "onset", "after", "class", "copies"];
const TEXT: &[&str] = &[
    "channel", "unit", "period", "length", "truncate", "chunks", "drift",
];
const PERIOD: &[&str] = &["period"];
const CLEAN: &[&str] = &[
    "lang", "forms", "channel", "chars", "glue", "around", "aside",
];
const FAULT: &[&str] = &[
    "lang", "forms", "chunks", "fault", "stream", "severity", "intact",
];
const RUN: &[&str] = &["lang", "forms", "volatile"];
const STALE: &[&str] = &["onset", "after", "class", "period"];
const HARMLESS: &[&str] = &["onset", "copies"];

/// The default texts of items, by kind: `texts.toml`.
static TEXTS: LazyLock<BTreeMap<String, Vec<String>>> = LazyLock::new(|| {
    let texts = toml::from_str(include_str!("texts.toml"));
    texts.unwrap_or_else(|why| unreachable!("texts.toml: {why}"))
});

/// Defines [`KINDS`]: for each kind its name, maker, keys, period and copies.
macro_rules! kinds {
    ($($name:literal: $by:expr, [$($keys:ident),*], $from:literal to $to:literal,
       $fewest:literal to $most:literal;)+) => {
        /// Every kind of item.
        pub(crate) static KINDS: &[ItemKind] = &[$(ItemKind {
            name: $name,
            by: $by,
            keys: &[ALL_KEYS, $($keys),*],
            period: CountRange::new($from, $to),
            copies: CountRange::new($fewest, $most),
        }),+];
    };
}

use ItemMaker::{Clean, Fault, Harmless, Loop, Recorded, Run, Text};

kinds! {
    "short-sequence": Text(Label::ShortSequence), [LOOP, TEXT], 2 to 40, 4 to 12;
    "paragraph": Text(Label::Paragraph), [LOOP, TEXT], 40 to 600, 4 to 12;
    "ordered-list": Text(Label::OrderedList), [LOOP, TEXT], 10 to 400, 4 to 12;
    "near-repeat": Text(Label::NearRepeat), [LOOP, TEXT], 40 to 600, 4 to 12;
    "clean": Clean, [CLEAN], 1 to 1, 1 to 1;
    "recorded": Recorded, [], 1 to 1, 1 to 1;
    "fault": Fault, [FAULT], 1 to 1, 1 to 1;
    "run": Run, [RUN], 1 to 1, 1 to 1;
    "poll": Harmless(Reason::Poll, harmless::plant_poll), [RUN, HARMLESS], 1 to 1, 3 to 6;
    "batch": Harmless(Reason::Batch, harmless::plant_batch), [RUN, HARMLESS], 1 to 1, 5 to 9;
    "verify": Harmless(Reason::Verify, harmless::plant_verification), [RUN, HARMLESS], 1 to 1, 3 to 6;
    "retry": Harmless(Reason::Retry, harmless::plant_retry), [RUN, HARMLESS], 1 to 1, 2 to 3;
    "identical-call": Loop(Label::IdenticalCall, loops::plant_identical_call), [RUN, LOOP], 1 to 1, 4 to 10;
    "same-call-same-result": Loop(Label::SameCallSameResult, loops::plant_same_result), [RUN, LOOP], 1 to 1, 4 to 10;
    "cycle": Loop(Label::Cycle, loops::plant_cycle), [RUN, LOOP, PERIOD], 2 to 4, 4 to 10;
    "interleaved": Loop(Label::Interleaved, loops::plant_interleaved), [RUN, LOOP, PERIOD], 2 to 4, 4 to 10;
    "aperiodic-stagnation": Loop(Label::AperiodicStagnation, loops::plant_aperiodic), [RUN, STALE], 4 to 8, 4 to 10;
    "error-retry": Loop(Label::ErrorRetry, loops::plant_reworded_calls), [RUN, LOOP], 1 to 1, 4 to 10;
    "monologue": Loop(Label::Monologue, loops::plant_monologue), [RUN, LOOP], 1 to 1, 4 to 10;
    "handoff": Loop(Label::Handoff, loops::plant_handoffs), [RUN, LOOP], 2 to 2, 4 to 10;
    "game": Harmless(Reason::Batch, harmless::plant_moves), [RUN, HARMLESS], 1 to 1, 8 to 20;
    "stateless": Harmless(Reason::Batch, harmless::plant_silent_calls), [RUN, HARMLESS], 1 to 1, 3 to 8;
    "reworded-write": Loop(Label::ErrorRetry, agent_loops::plant_rejected_writes), [RUN, LOOP], 1 to 1, 8 to 16;
    "window": Loop(Label::AperiodicStagnation, agent_loops::plant_overlapping_windows), [RUN, LOOP, PERIOD], 4 to 8, 3 to 4;
    "growing": Loop(Label::AperiodicStagnation, agent_loops::plant_growing_command), [RUN, LOOP], 1 to 1, 4 to 10;
    "replan": Loop(Label::Cycle, agent_loops::plant_replans), [RUN, LOOP, PERIOD], 2 to 4, 4 to 10;
    "same-answer": Loop(Label::Monologue, agent_loops::plant_same_answers), [RUN, LOOP], 1 to 1, 5 to 10;
    "narration": Loop(Label::Monologue, agent_loops::plant_narration), [RUN, LOOP], 1 to 1, 5 to 8;
}

impl ItemKind {
    /// Returns the default texts. Empty if an item of the kind has no texts.
    pub(crate) fn texts(&self) -> &'static [String] {
        TEXTS.get(self.name).map_or(&[], Vec::as_slice)
    }

    /// Returns whether an item of the kind may have this key.
    pub(super) fn has(&self, key: &str) -> bool {
        let groups = self.keys.iter().any(|keys| keys.contains(&key));
        groups || (key == "texts" && !self.texts().is_empty())
    }

    /// Returns the default range of the second copy's position.
    pub(super) fn onset(&self) -> CountRange {
        match self.by {
            Text(_) => CountRange::new(700, 6000),
            _ => CountRange::new(3, 20),
        }
    }
}

/// Reads the name of a kind.
pub(super) fn deserialize_kind<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<&'static ItemKind, D::Error> {
    let name = String::deserialize(from)?;
    let kind = KINDS.iter().find(|kind| kind.name == name);
    kind.ok_or_else(|| D::Error::custom("an unknown kind"))
}
