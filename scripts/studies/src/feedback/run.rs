//! [`judge_run`]: what every rule of feedback says of one run, held against the run.

use deadloop_corpus::{Body, DisorderKind, Transcript, disorders};
use deadloop_detect::Event;

use super::guide::{Guided, guided, turns};
use super::task::task_type;
use super::words::{Flags, Reading, WEIGHTS, analyse};

/// Depths from which on `finish` is said.
pub(crate) const FINISH_DEPTHS: [u64; 4] = [4, 6, 8, 12];
/// Depths after which a hint is given.
pub(crate) const HINT_AFTER: [u64; 3] = [3, 5, 10];

/// A flag against the truth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Confusion {
    /// Said and so.
    pub(crate) hit: u64,
    /// Said and not so.
    pub(crate) wrong: u64,
    /// Not said and so.
    pub(crate) missed: u64,
    /// Not said and not so.
    pub(crate) quiet: u64,
}

impl Confusion {
    fn add(&mut self, said: bool, is: bool) {
        let count = match (said, is) {
            (true, true) => &mut self.hit,
            (true, false) => &mut self.wrong,
            (false, true) => &mut self.missed,
            (false, false) => &mut self.quiet,
        };
        *count += 1;
    }

    /// Its four counts.
    pub(crate) fn counts(&self) -> [u64; 4] {
        [self.hit, self.wrong, self.missed, self.quiet]
    }
}

/// What the rules say of one run.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunFeedback {
    /// Errors among those of which it is known.
    pub(crate) errors: u64,
    /// For each reading the errors flag against what was recorded.
    pub(crate) error_flag: [Confusion; 8],
    /// For each reading the completion flag against whether a call follows.
    pub(crate) completion_flag: [Confusion; 8],
    /// For each of the weights and five bins of the score: results, and those after which the run ended well within
    /// two turns.
    pub(crate) bins: [[[u64; 2]; 5]; 3],
    /// For each depth of `finish` and each of hints.
    pub(crate) guided: Vec<(u64, u64, Guided)>,
    /// Its turns, and what is out of order, by kind.
    pub(crate) turns: u64,
    /// See `turns`.
    pub(crate) disorders: [u64; 6],
    /// The type of its task by the order of the document; with the order turned round.
    pub(crate) task: Option<[&'static str; 2]>,
}

/// Reasons to finish that say nothing about the task being done.
const CUT: [&str; 6] = ["limit", "length", "error", "aborted", "max_steps", "cost"];

/// Judges a run. `known`: whether `error` of its results was recorded, and not guessed from their text.
pub(crate) fn judge_run(run: &Transcript) -> RunFeedback {
    let cut = run
        .finish_reason()
        .is_none_or(|reason| CUT.contains(&reason));
    let all = results(run);
    let mut found = RunFeedback {
        ..RunFeedback::default()
    };
    for one in &all {
        found.errors += u64::from(one.error == Some(true));
        for (at, reading) in Reading::ALL.into_iter().enumerate() {
            let flags = analyse(one.content, reading);
            if let Some(error) = one.error {
                found.error_flag[at].add(flags.errors, error);
            }
            if !cut {
                found.completion_flag[at].add(flags.completion, one.last);
            }
            if at == 0 {
                bin(&mut found.bins, flags, !cut && one.left <= 2);
            }
        }
    }
    let task = run.events.iter().find_map(|event| match &event.body {
        Body::User(text) => Some(text.as_str()),
        _ => None,
    });
    let length = task.map_or(0, |task| task.chars().count() as u64);
    let turns = turns(run);
    for finish in FINISH_DEPTHS {
        for hint in HINT_AFTER {
            let said = guided(&turns, (finish, hint), length, cut);
            found.guided.push((finish, hint, said));
        }
    }
    found.turns = run
        .stream()
        .filter(|(_, e)| matches!(e, Event::Turn { .. }))
        .count() as u64;
    for one in disorders(run) {
        let at = DisorderKind::ALL.iter().position(|kind| *kind == one.kind);
        found.disorders[at.unwrap_or(0)] += 1;
    }
    found.task = task.map(|task| {
        [
            task_type(task, &[0, 1, 2, 3, 4]),
            task_type(task, &[4, 3, 2, 1, 0]),
        ]
    });
    found
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn bin(bins: &mut [[[u64; 2]; 5]; 3], flags: Flags, well: bool) {
    for (bins, weights) in bins.iter_mut().zip(WEIGHTS) {
        let at = ((flags.score(weights) * 5.0) as usize).min(4);
        bins[at][0] += 1;
        bins[at][1] += u64::from(well);
    }
}

/// One result.
struct Outcome<'a> {
    content: &'a str,
    error: Option<bool>,
    /// Whether no call follows.
    last: bool,
    /// Turns that follow.
    left: u64,
}

fn results(run: &Transcript) -> Vec<Outcome<'_>> {
    let mut all = Vec::new();
    let (mut calls, mut turns) = (Vec::new(), Vec::new());
    let (mut called, mut turned) = (0_u64, 0_u64);
    for (_, event) in run.stream() {
        match event {
            Event::Turn { .. } => turned += 1,
            Event::Call { .. } => called += 1,
            Event::Result { content, error, .. } => {
                calls.push(called);
                turns.push(turned);
                all.push(Outcome {
                    content,
                    error,
                    last: false,
                    left: 0,
                });
            }
            _ => {}
        }
    }
    for ((one, calls), turns) in all.iter_mut().zip(calls).zip(turns) {
        one.last = calls == called;
        one.left = turned - turns;
    }
    all
}
