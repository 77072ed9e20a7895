//! Every kind of item: what makes it, the keys that it has beside those of every item, and what holds where these are
//! left out.

use deadloop_detect::Kind as Label;

use super::held::{Bounds, Named};
use crate::find::Reason;
use crate::make::plant::PlantKind;

/// A kind of item.
#[derive(Debug)]
pub(crate) struct Kind {
    /// As an item's `kind` has it.
    pub(crate) name: &'static str,
    /// What makes it.
    pub(crate) by: By,
    /// Groups of keys.
    keys: &'static [&'static [&'static str]],
    /// Chars, calls or turns of a copy.
    pub(super) period: Bounds,
    pub(super) copies: Bounds,
    /// What is said, where an item of the kind has something to say.
    pub(crate) texts: &'static [&'static str],
}

/// What makes a kind of item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// A loop in text.
    Text(PlantKind),
    /// A call over and over.
    Call,
    /// A few calls in turn.
    Calls,
    /// Clean text, or forms.
    Clean,
    /// Recordings as they are.
    Recorded,
    /// A stream that is damaged.
    Fault,
    /// A run as it is.
    Run,
    /// Repetition in a run that does no harm.
    Harmless(Harmless),
    /// A loop in a run.
    Loop(Looped),
}

/// Repetition that does no harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Harmless {
    /// The host's own call again, for this reason.
    Own(Reason),
    /// Moves over a board: few different actions, and each shows another board.
    Game,
    /// A tool whose result says nothing: scrolls, keys, undo.
    Stateless,
}

/// A loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Looped {
    /// A kind that labels tell apart.
    Of(Label),
    /// A writing call whose body is another each time, and the same error.
    RewordedWrite,
    /// Windows over one file, round and round: no two calls are equal, and each line was read before.
    Window,
    /// A command that grows by a copy of itself; its result stays.
    Growing,
    /// The plan, a few calls, a compaction of the context, and again.
    Replan,
    /// The same answer, whatever the users ask.
    SameAnswer,
    /// The same sentence before each call; the calls get on.
    Narration,
}

/// The reasons for which repetition does no harm.
pub(crate) const REASONS: [Reason; 4] =
    [Reason::Poll, Reason::Batch, Reason::Verify, Reason::Retry];

/// Groups of keys. Whoever has something to say has `texts` too.
const ALL: &[&str] = &["name", "kind", "count", "file", "source"];
const LOOP: &[&str] = &["lang", "onset", "after", "class", "copies"];
const TEXT: &[&str] = &["channel", "unit", "period", "length", "truncate", "chunks"];
const DRIFT: &[&str] = &["drift", "false_starts"];
const EXACT: &[&str] = &["lead", "nested"];
const PERIOD: &[&str] = &["period"];
const TOOLS: &[&str] = &["tools"];
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

/// The kinds: what makes one, its keys, its period, its copies, its texts.
macro_rules! kinds {
    ($($name:literal: $by:expr, [$($keys:ident),*], $from:literal to $to:literal,
       $fewest:literal to $most:literal, $texts:ident;)+) => {
        /// Every kind of item.
        pub(crate) static KINDS: &[Kind] = &[$(Kind {
            name: $name,
            by: $by,
            keys: &[ALL, $($keys),*],
            period: Bounds::new($from, $to),
            copies: Bounds::new($fewest, $most),
            texts: $texts,
        }),+];
    };
}

use By::{Call, Calls, Clean, Fault, Harmless as No, Loop, Recorded, Run, Text};
use Harmless::Own;
use Looped::Of;

kinds! {
    "short-sequence": Text(PlantKind::ShortSequence), [LOOP, TEXT, DRIFT, EXACT], 2 to 40, 4 to 12, NOTHING;
    "paragraph": Text(PlantKind::Paragraph), [LOOP, TEXT, DRIFT, EXACT], 40 to 600, 4 to 12, NOTHING;
    "ordered-list": Text(PlantKind::OrderedList), [LOOP, TEXT, DRIFT], 10 to 400, 4 to 12, NOTHING;
    "near-repeat": Text(PlantKind::NearRepeat), [LOOP, TEXT, DRIFT], 40 to 600, 4 to 12, NOTHING;
    "tool-repeat": Call, [LOOP, TOOLS], 1 to 1, 3 to 8, NOTHING;
    "tool-cycle": Calls, [LOOP, TOOLS, PERIOD], 2 to 4, 3 to 8, NOTHING;
    "clean": Clean, [CLEAN], 1 to 1, 1 to 1, NOTHING;
    "recorded": Recorded, [], 1 to 1, 1 to 1, NOTHING;
    "fault": Fault, [FAULT], 1 to 1, 1 to 1, NOTHING;
    "run": Run, [RUN], 1 to 1, 1 to 1, NOTHING;
    "poll": No(Own(Reason::Poll)), [RUN, HARMLESS], 1 to 1, 3 to 6, POLLED;
    "batch": No(Own(Reason::Batch)), [RUN, HARMLESS], 1 to 1, 5 to 9, NOTHING;
    "verify": No(Own(Reason::Verify)), [RUN, HARMLESS], 1 to 1, 3 to 6, NOTHING;
    "retry": No(Own(Reason::Retry)), [RUN, HARMLESS], 1 to 1, 2 to 3, ERRORS;
    "identical-call": Loop(Of(Label::IdenticalCall)), [RUN, LOOP], 1 to 1, 4 to 10, NOTHING;
    "same-call-same-result": Loop(Of(Label::SameCallSameResult)), [RUN, LOOP], 1 to 1, 4 to 10, NOTHING;
    "cycle": Loop(Of(Label::Cycle)), [RUN, LOOP, PERIOD], 2 to 4, 4 to 10, NOTHING;
    "interleaved": Loop(Of(Label::Interleaved)), [RUN, LOOP, PERIOD], 2 to 4, 4 to 10, NOTHING;
    "aperiodic-stagnation": Loop(Of(Label::AperiodicStagnation)), [RUN, STALE], 4 to 8, 4 to 10, NOTHING;
    "error-retry": Loop(Of(Label::ErrorRetry)), [RUN, LOOP], 1 to 1, 4 to 10, ERRORS;
    "monologue": Loop(Of(Label::Monologue)), [RUN, LOOP], 1 to 1, 4 to 10, THOUGHTS;
    "handoff": Loop(Of(Label::Handoff)), [RUN, LOOP], 2 to 2, 4 to 10, HANDED;
    "game": No(Harmless::Game), [RUN, HARMLESS], 1 to 1, 8 to 20, NOTHING;
    "stateless": No(Harmless::Stateless), [RUN, HARMLESS], 1 to 1, 3 to 8, SILENCE;
    "reworded-write": Loop(Looped::RewordedWrite), [RUN, LOOP], 1 to 1, 8 to 16, REFUSED;
    "window": Loop(Looped::Window), [RUN, LOOP, PERIOD], 4 to 8, 3 to 4, NOTHING;
    "growing": Loop(Looped::Growing), [RUN, LOOP], 1 to 1, 4 to 10, NOTHING;
    "replan": Loop(Looped::Replan), [RUN, LOOP, PERIOD], 2 to 4, 4 to 10, PLANS;
    "same-answer": Loop(Looped::SameAnswer), [RUN, LOOP], 1 to 1, 5 to 10, ANSWERS;
    "narration": Loop(Looped::Narration), [RUN, LOOP], 1 to 1, 5 to 8, NARRATED;
}

impl Kind {
    /// Whether an item of it has this key.
    pub(super) fn has(&self, key: &str) -> bool {
        let groups = self.keys.iter().any(|keys| keys.contains(&key));
        groups || (key == "texts" && !self.texts.is_empty())
    }

    /// Where the second copy begins.
    pub(super) fn onset(&self) -> Bounds {
        match self.by {
            Text(_) => Bounds::new(700, 6000),
            _ => Bounds::new(3, 20),
        }
    }
}

impl Named for &'static Kind {
    fn all() -> Vec<Self> {
        KINDS.iter().collect()
    }

    fn name(self) -> &'static str {
        self.name
    }
}

impl Harmless {
    /// Why it does no harm, as `meta.benign` has it.
    pub(crate) fn reason(self) -> Reason {
        match self {
            Self::Own(reason) => reason,
            // One tool over and over, to get on.
            Self::Game | Self::Stateless => Reason::Batch,
        }
    }
}

impl Looped {
    /// As a label has it.
    pub(crate) fn kind(self) -> Label {
        match self {
            Self::Of(kind) => kind,
            Self::RewordedWrite => Label::ErrorRetry,
            Self::Window | Self::Growing => Label::AperiodicStagnation,
            Self::Replan => Label::Cycle,
            Self::SameAnswer | Self::Narration => Label::Monologue,
        }
    }

    /// Whether its label counts turns; else calls.
    pub(crate) fn is_in_turns(self) -> bool {
        matches!(self.kind(), Label::Monologue | Label::Handoff)
    }
}
