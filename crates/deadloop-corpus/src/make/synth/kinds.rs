//! Every kind of item, and the groups that it is in: a key of an item names the groups that have it.

use super::keys::Key;

/// Groups of kinds: a key names those that have it.
pub(super) const TEXT: u16 = 1;
pub(super) const EXACT: u16 = 1 << 1;
pub(super) const LOOP: u16 = 1 << 2;
pub(super) const REPEATS: u16 = 1 << 3;
pub(super) const COPIED: u16 = 1 << 4;
pub(super) const PERIOD: u16 = 1 << 5;
pub(super) const TOOLS: u16 = 1 << 6;
pub(super) const TEXTS: u16 = 1 << 7;
pub(super) const CLEAN: u16 = 1 << 8;
pub(super) const FAULT: u16 = 1 << 9;
pub(super) const FORMED: u16 = 1 << 10;
pub(super) const CUT: u16 = 1 << 11;
pub(super) const WRITTEN: u16 = 1 << 12;
pub(super) const RUN: u16 = 1 << 13;

/// A loop in text, in calls of tools, and in a run; harmless repetition in a run.
const IN_TEXT: u16 = TEXT | LOOP | REPEATS | COPIED | PERIOD | CUT | WRITTEN;
const IN_CALLS: u16 = LOOP | REPEATS | COPIED | TOOLS;
const IN_RUN: u16 = FORMED | LOOP | REPEATS | RUN;
const HARMLESS: u16 = FORMED | REPEATS | COPIED | RUN;

/// Every kind of item and the groups that it is in.
const GROUPS: [(&str, u16); 30] = [
    ("short-sequence", IN_TEXT | EXACT),
    ("paragraph", IN_TEXT | EXACT),
    ("ordered-list", IN_TEXT),
    ("near-repeat", IN_TEXT),
    ("tool-repeat", IN_CALLS),
    ("tool-cycle", IN_CALLS | PERIOD),
    ("clean", CLEAN | FORMED | WRITTEN),
    ("recorded", 0),
    ("fault", FAULT | FORMED | CUT),
    ("run", FORMED | RUN),
    ("poll", HARMLESS | TEXTS),
    ("batch", HARMLESS),
    ("verify", HARMLESS),
    ("retry", HARMLESS | TEXTS),
    ("identical-call", IN_RUN | COPIED),
    ("same-call-same-result", IN_RUN | COPIED),
    ("cycle", IN_RUN | COPIED | PERIOD),
    ("interleaved", IN_RUN | COPIED | PERIOD),
    ("aperiodic-stagnation", IN_RUN | PERIOD),
    ("error-retry", IN_RUN | COPIED | TEXTS),
    ("monologue", IN_RUN | COPIED | TEXTS),
    ("handoff", IN_RUN | COPIED | TEXTS),
    ("game", HARMLESS),
    ("stateless", HARMLESS | TEXTS),
    ("reworded-write", IN_RUN | COPIED | TEXTS),
    ("window", IN_RUN | COPIED | PERIOD),
    ("growing", IN_RUN | COPIED),
    ("replan", IN_RUN | COPIED | PERIOD | TEXTS),
    ("same-answer", IN_RUN | COPIED | TEXTS),
    ("narration", IN_RUN | COPIED | TEXTS),
];

/// The names of the kinds.
pub(super) const KINDS: [&str; GROUPS.len()] = {
    let mut names = [""; GROUPS.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = GROUPS[at].0;
        at += 1;
    }
    names
};

impl Key {
    /// The same for the kinds of some of these groups alone.
    pub(super) const fn of(self, groups: u16) -> Self {
        Self { groups, ..self }
    }

    /// The kinds of an item that have it; empty: it is not for some kinds alone.
    pub(super) fn kinds(&self) -> Vec<&'static str> {
        let has = GROUPS.iter().filter(|(_, of)| of & self.groups != 0);
        has.map(|(name, _)| *name).collect()
    }

    /// Whether an item of a kind has it.
    pub(super) fn is_of(&self, kind: &str) -> bool {
        self.groups == 0 || self.kinds().contains(&kind)
    }
}
