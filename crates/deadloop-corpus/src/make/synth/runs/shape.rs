//! What can be planted into a run, and what of it holds where the spec does not say.

use deadloop_detect::Kind;

use super::super::fields::Bounds;
use crate::find::Reason;

/// What is made of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Shape {
    /// Nothing: it stays as it is.
    Plain,
    /// Repetition that does no harm.
    Harmless(Harmless),
    /// A loop.
    Loop(Looped),
}

/// Repetition that does no harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Harmless {
    /// The host's own call again, for this reason.
    Own(Reason),
    /// Moves over a board: few different actions, and each shows another board.
    Game,
    /// A tool whose result says nothing: scrolls, keys, undo.
    Stateless,
}

/// A loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Looped {
    /// A kind that labels tell apart.
    Of(Kind),
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
pub(super) const REASONS: [Reason; 4] =
    [Reason::Poll, Reason::Batch, Reason::Verify, Reason::Retry];

const HARMLESS: [Harmless; 6] = [
    Harmless::Own(Reason::Poll),
    Harmless::Own(Reason::Batch),
    Harmless::Own(Reason::Verify),
    Harmless::Own(Reason::Retry),
    Harmless::Game,
    Harmless::Stateless,
];

const LOOPS: [Looped; 14] = [
    Looped::Of(Kind::IdenticalCall),
    Looped::Of(Kind::SameCallSameResult),
    Looped::Of(Kind::Cycle),
    Looped::Of(Kind::Interleaved),
    Looped::Of(Kind::AperiodicStagnation),
    Looped::Of(Kind::ErrorRetry),
    Looped::Of(Kind::Monologue),
    Looped::Of(Kind::Handoff),
    Looped::RewordedWrite,
    Looped::Window,
    Looped::Growing,
    Looped::Replan,
    Looped::SameAnswer,
    Looped::Narration,
];

impl Harmless {
    /// As an item's `kind` has it.
    pub(super) fn name(self) -> String {
        match self {
            Self::Own(reason) => reason.to_string(),
            Self::Game => "game".into(),
            Self::Stateless => "stateless".into(),
        }
    }

    /// Why it does no harm, as `meta.benign` has it.
    pub(super) fn reason(self) -> Reason {
        match self {
            Self::Own(reason) => reason,
            // One tool over and over, to get on.
            Self::Game | Self::Stateless => Reason::Batch,
        }
    }
}

impl Looped {
    /// As an item's `kind` has it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Of(kind) => kind.name(),
            Self::RewordedWrite => "reworded-write",
            Self::Window => "window",
            Self::Growing => "growing",
            Self::Replan => "replan",
            Self::SameAnswer => "same-answer",
            Self::Narration => "narration",
        }
    }

    /// As a label has it.
    pub(super) fn kind(self) -> Kind {
        match self {
            Self::Of(kind) => kind,
            Self::RewordedWrite => Kind::ErrorRetry,
            Self::Window | Self::Growing => Kind::AperiodicStagnation,
            Self::Replan => Kind::Cycle,
            Self::SameAnswer | Self::Narration => Kind::Monologue,
        }
    }

    /// Whether its label counts turns; else calls.
    pub(super) fn is_in_turns(self) -> bool {
        matches!(self.kind(), Kind::Monologue | Kind::Handoff)
    }
}

impl Shape {
    /// The shape that an item's kind names.
    pub(in super::super) fn named(kind: &str) -> Option<Self> {
        let harmless = HARMLESS.into_iter().find(|one| one.name() == kind);
        let looped = LOOPS.into_iter().find(|one| one.name() == kind);
        match kind {
            "run" => Some(Self::Plain),
            _ => harmless.map(Self::Harmless).or(looped.map(Self::Loop)),
        }
    }

    /// Calls or turns of a copy where the spec does not say.
    pub(super) fn period(self) -> Bounds {
        match self {
            Self::Loop(Looped::Of(Kind::Cycle | Kind::Interleaved) | Looped::Replan) => {
                Bounds::new(2, 4)
            }
            Self::Loop(Looped::Of(Kind::AperiodicStagnation) | Looped::Window) => Bounds::new(4, 8),
            Self::Loop(Looped::Of(Kind::Handoff)) => Bounds::new(2, 2),
            _ => Bounds::new(1, 1),
        }
    }

    /// Copies where the spec does not say.
    pub(super) fn copies(self) -> Bounds {
        match self {
            Self::Harmless(Harmless::Own(Reason::Batch)) => Bounds::new(5, 9),
            Self::Harmless(Harmless::Own(Reason::Retry)) => Bounds::new(2, 3),
            Self::Harmless(Harmless::Own(_)) => Bounds::new(3, 6),
            Self::Harmless(Harmless::Game) => Bounds::new(8, 20),
            Self::Harmless(Harmless::Stateless) => Bounds::new(3, 8),
            Self::Loop(Looped::Window) => Bounds::new(3, 4),
            Self::Loop(Looped::RewordedWrite) => Bounds::new(8, 16),
            Self::Loop(Looped::Narration) => Bounds::new(5, 8),
            Self::Loop(Looped::SameAnswer) => Bounds::new(5, 10),
            _ => Bounds::new(4, 10),
        }
    }

    /// Texts where the spec gives none.
    pub(super) fn texts(self) -> &'static [&'static str] {
        match self {
            Self::Harmless(Harmless::Own(Reason::Poll)) => &[
                "Still running, {} % done.",
                "Not ready yet: step {} of 100.",
            ],
            Self::Harmless(Harmless::Own(Reason::Retry))
            | Self::Loop(Looped::Of(Kind::ErrorRetry)) => &[
                "Error: the request timed out after 30 s",
                "Error: connection refused",
                "Error: 503 service unavailable, try again later",
                "Error: permission denied",
            ],
            Self::Harmless(Harmless::Stateless) => &["ok", "done", "success", ""],
            Self::Loop(Looped::Of(Kind::Monologue)) => &[
                "I have everything that I need and will go on with the next step.",
                "Let me think about what is still to be done before I go on.",
            ],
            Self::Loop(Looped::Of(Kind::Handoff)) => &["This part is yours, please take over."],
            Self::Loop(looped) => looped.texts(),
            _ => &[],
        }
    }
}

impl Looped {
    /// Texts of the shapes that people report.
    fn texts(self) -> &'static [&'static str] {
        match self {
            Self::RewordedWrite => &[
                "422 Unprocessable Entity: the field body.kind is missing",
                "Error: 400 Bad Request, the document does not match its schema",
            ],
            Self::Replan => &[
                "The plan: read what there is, make the change, check it. I begin with the first step.",
                "Before I go on I write the plan down again: look, change, test.",
            ],
            Self::SameAnswer => &[
                "The file is ready. It has all the fields that you asked for, and nothing else has to be done.",
                "I can help with orders and returns. Please tell me the number of your order.",
            ],
            Self::Narration => &[
                "I'll read the next file and then write the implementation.",
                "Now I look at part {} of it, and then I make the change.",
            ],
            _ => &[],
        }
    }
}
