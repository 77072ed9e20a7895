//! The kinds of items, with their keys and defaults.

use deadloop_detect::Kind as Label;

use super::values::{CountRange, NamedValue};
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
    /// The default texts, if an item of the kind has texts.
    pub(crate) texts: &'static [&'static str],
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

/// The groups of keys. A kind with default texts also has `texts`.
const ALL: &[&str] = &["name", "kind", "count", "file", "source"];
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

const POLLED: &[&str] = &[
    "Still running, {} % done.",
    "Not ready yet: step {} of 100.",
];
const ERRORS: &[&str] = &[
    "Error: the request timed out after 30 s",
    "Error: connection refused",
    "Error: 503 service unavailable, try again later",
    "Error: permission denied",
];
const SILENCE: &[&str] = &["ok", "done", "success", ""];
const THOUGHTS: &[&str] = &[
    "I have everything that I need and will go on with the next step.",
    "Let me think about what is still to be done before I go on.",
];
const HANDED: &[&str] = &["This part is yours, please take over."];
const REFUSED: &[&str] = &[
    "422 Unprocessable Entity: the field body.kind is missing",
    "Error: 400 Bad Request, the document does not match its schema",
];
const PLANS: &[&str] = &[
    "The plan: read what there is, make the change, check it. I begin with the first step.",
    "Before I go on I write the plan down again: look, change, test.",
];
const ANSWERS: &[&str] = &[
    "The file is ready. It has all the fields that you asked for, and nothing else has to be done.",
    "I can help with orders and returns. Please tell me the number of your order.",
];
const NARRATED: &[&str] = &[
    "I'll read the next file and then write the implementation.",
    "Now I look at part {} of it, and then I make the change.",
];
const NOTHING: &[&str] = &[];

/// Defines [`KINDS`]: for each kind its name, maker, keys, period, copies and texts.
macro_rules! kinds {
    ($($name:literal: $by:expr, [$($keys:ident),*], $from:literal to $to:literal,
       $fewest:literal to $most:literal, $texts:ident;)+) => {
        /// Every kind of item.
        pub(crate) static KINDS: &[ItemKind] = &[$(ItemKind {
            name: $name,
            by: $by,
            keys: &[ALL, $($keys),*],
            period: CountRange::new($from, $to),
            copies: CountRange::new($fewest, $most),
            texts: $texts,
        }),+];
    };
}

use ItemMaker::{Clean, Fault, Harmless, Loop, Recorded, Run, Text};

kinds! {
    "short-sequence": Text(Label::ShortSequence), [LOOP, TEXT], 2 to 40, 4 to 12, NOTHING;
    "paragraph": Text(Label::Paragraph), [LOOP, TEXT], 40 to 600, 4 to 12, NOTHING;
    "ordered-list": Text(Label::OrderedList), [LOOP, TEXT], 10 to 400, 4 to 12, NOTHING;
    "near-repeat": Text(Label::NearRepeat), [LOOP, TEXT], 40 to 600, 4 to 12, NOTHING;
    "clean": Clean, [CLEAN], 1 to 1, 1 to 1, NOTHING;
    "recorded": Recorded, [], 1 to 1, 1 to 1, NOTHING;
    "fault": Fault, [FAULT], 1 to 1, 1 to 1, NOTHING;
    "run": Run, [RUN], 1 to 1, 1 to 1, NOTHING;
    "poll": Harmless(Reason::Poll, harmless::poll), [RUN, HARMLESS], 1 to 1, 3 to 6, POLLED;
    "batch": Harmless(Reason::Batch, harmless::batch), [RUN, HARMLESS], 1 to 1, 5 to 9, NOTHING;
    "verify": Harmless(Reason::Verify, harmless::verified), [RUN, HARMLESS], 1 to 1, 3 to 6, NOTHING;
    "retry": Harmless(Reason::Retry, harmless::retry), [RUN, HARMLESS], 1 to 1, 2 to 3, ERRORS;
    "identical-call": Loop(Label::IdenticalCall, loops::identical), [RUN, LOOP], 1 to 1, 4 to 10, NOTHING;
    "same-call-same-result": Loop(Label::SameCallSameResult, loops::same), [RUN, LOOP], 1 to 1, 4 to 10, NOTHING;
    "cycle": Loop(Label::Cycle, loops::cycle), [RUN, LOOP, PERIOD], 2 to 4, 4 to 10, NOTHING;
    "interleaved": Loop(Label::Interleaved, loops::interleaved), [RUN, LOOP, PERIOD], 2 to 4, 4 to 10, NOTHING;
    "aperiodic-stagnation": Loop(Label::AperiodicStagnation, loops::aperiodic), [RUN, STALE], 4 to 8, 4 to 10, NOTHING;
    "error-retry": Loop(Label::ErrorRetry, loops::other_words), [RUN, LOOP], 1 to 1, 4 to 10, ERRORS;
    "monologue": Loop(Label::Monologue, loops::monologue), [RUN, LOOP], 1 to 1, 4 to 10, THOUGHTS;
    "handoff": Loop(Label::Handoff, loops::handoff), [RUN, LOOP], 2 to 2, 4 to 10, HANDED;
    "game": Harmless(Reason::Batch, harmless::moves), [RUN, HARMLESS], 1 to 1, 8 to 20, NOTHING;
    "stateless": Harmless(Reason::Batch, harmless::silent), [RUN, HARMLESS], 1 to 1, 3 to 8, SILENCE;
    "reworded-write": Loop(Label::ErrorRetry, agent_loops::writes), [RUN, LOOP], 1 to 1, 8 to 16, REFUSED;
    "window": Loop(Label::AperiodicStagnation, agent_loops::windows), [RUN, LOOP, PERIOD], 4 to 8, 3 to 4, NOTHING;
    "growing": Loop(Label::AperiodicStagnation, agent_loops::growing), [RUN, LOOP], 1 to 1, 4 to 10, NOTHING;
    "replan": Loop(Label::Cycle, agent_loops::replanned), [RUN, LOOP, PERIOD], 2 to 4, 4 to 10, PLANS;
    "same-answer": Loop(Label::Monologue, agent_loops::answered), [RUN, LOOP], 1 to 1, 5 to 10, ANSWERS;
    "narration": Loop(Label::Monologue, agent_loops::narrated), [RUN, LOOP], 1 to 1, 5 to 8, NARRATED;
}

impl ItemKind {
    /// Returns whether an item of the kind has this key.
    pub(super) fn has(&self, key: &str) -> bool {
        let groups = self.keys.iter().any(|keys| keys.contains(&key));
        groups || (key == "texts" && !self.texts.is_empty())
    }

    /// Returns the default range of the second copy's position.
    pub(super) fn onset(&self) -> CountRange {
        match self.by {
            Text(_) => CountRange::new(700, 6000),
            _ => CountRange::new(3, 20),
        }
    }
}

impl NamedValue for &'static ItemKind {
    fn all() -> Vec<Self> {
        KINDS.iter().collect()
    }

    fn name(self) -> &'static str {
        self.name
    }
}
