//! [`CallNews`]: the novelty of each call's result.

use std::collections::{HashMap, HashSet};

use super::result_kind::ResultKind;
use super::step::RunStep;

/// The novelty of a call's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallNews {
    /// A new result, or a change of the environment.
    New,
    /// A repeated call with the same result, or an edit that restores a file.
    Repeated,
    /// A repeated call with the same result, after a change of the environment.
    Rechecked,
    /// A known result of the tool, if the call was repeated, failed, or was a command of a shell.
    Reworded,
    /// Lines of an object that were all read before. Also a known result of a call that differs only in numbers.
    Reread,
    /// A result of a poll that ended, or was short.
    Polled,
    /// A confirmation without content, as after a scroll or a key.
    Confirmed,
    /// No result.
    Unanswered,
}

impl CallNews {
    /// Returns the weight of the call in the score of a stretch. `new` is the weight of a new result, and negative.
    pub(super) fn weight(self, new: f64) -> f64 {
        match self {
            Self::New => new,
            Self::Repeated => 1.0,
            Self::Rechecked | Self::Reread => 0.34,
            Self::Reworded => 0.6,
            Self::Confirmed | Self::Polled | Self::Unanswered => 0.0,
        }
    }
}

/// The novelty of one call.
#[derive(Clone, Copy, Debug)]
pub(super) struct JudgedCall {
    pub(super) news: CallNews,
    /// The index of the last earlier call with the same result.
    pub(super) before: Option<usize>,
}

/// An earlier call.
#[derive(Clone, Copy)]
struct EarlierCall {
    at: usize,
    /// The number of changes of the environment up to the call.
    changes: usize,
}

/// The lines of one object that were read so far, in parts.
#[derive(Default)]
struct WindowLines {
    lines: HashSet<u64>,
    earlier: Option<EarlierCall>,
}

impl WindowLines {
    /// Adds lines that call `now` read. Returns the last call that read the object, if all lines were known.
    fn read(&mut self, lines: &[u64], now: EarlierCall) -> Option<EarlierCall> {
        let known = !lines.is_empty() && lines.iter().all(|line| self.lines.contains(line));
        self.lines.extend(lines);
        self.earlier.replace(now).filter(|_| known)
    }
}

/// Returns the novelty of each call of a run.
pub(super) fn judge(steps: &[RunStep]) -> Vec<JudgedCall> {
    // The keys are call and result, tool and result, call, form of the call, and form and result.
    let mut pairs: HashMap<(u64, u64), EarlierCall> = HashMap::new();
    let mut answers: HashMap<(u64, u64), EarlierCall> = HashMap::new();
    let mut calls: HashMap<u64, EarlierCall> = HashMap::new();
    let mut windows: HashMap<u64, WindowLines> = HashMap::new();
    let mut forms: HashSet<(u64, u64)> = HashSet::new();
    let futile = futile_pairs(steps);
    let polls = find_polls(steps);
    let mut changes = 0;
    let mut judged = Vec::with_capacity(steps.len());
    for (at, step) in steps.iter().enumerate() {
        let now = EarlierCall { at, changes };
        let Some(result) = step.result else {
            judged.push(JudgedCall {
                news: CallNews::Unanswered,
                before: calls.get(&step.call).map(|earlier| earlier.at),
            });
            calls.insert(step.call, now);
            continue;
        };
        let pair = pairs.get(&(step.call, result)).copied();
        let answer = answers.get(&(step.tool, result)).copied();
        let window = windows.entry(step.form).or_default().read(&step.lines, now);
        let known = calls.contains_key(&step.call);
        let recent = pair.is_some_and(|earlier| at - earlier.at <= RECENT);
        let changed = step.writes && !step.error && !recent && !step.restores;
        let refused = step.error || matches!(step.kind, ResultKind::Refusal | ResultKind::Waiting);
        let same_form =
            step.kind == ResultKind::News && !step.brief && forms.contains(&(step.form, result));
        let news = match (pair, answer) {
            _ if step.follows_user || changed => CallNews::New,
            _ if polls[at] => CallNews::Polled,
            _ if step.restores => CallNews::Repeated,
            (Some(_), _) if step.silent && !futile.contains(&(step.call, result)) => {
                CallNews::Confirmed
            }
            (Some(earlier), _) if earlier.changes < changes => CallNews::Rechecked,
            (Some(_), _) => CallNews::Repeated,
            // An empty result of a new call is information.
            _ if step.kind == ResultKind::Nothing && !known => CallNews::New,
            (None, Some(_)) if step.shell || known || refused => CallNews::Reworded,
            _ if !known && (window.is_some() || same_form) => CallNews::Reread,
            _ => CallNews::New,
        };
        changes += usize::from(changed || step.restores);
        judged.push(JudgedCall {
            news,
            before: pair.or(answer).or(window).map(|earlier| earlier.at),
        });
        let earlier = EarlierCall { at, changes };
        pairs.insert((step.call, result), earlier);
        answers.insert((step.tool, result), earlier);
        forms.insert((step.form, result));
        calls.insert(step.call, earlier);
    }
    judged
}

/// Returns for each call whether it is a harmless poll: its wait ended later, or its result is not frequent.
fn find_polls(steps: &[RunStep]) -> Vec<bool> {
    let question = |step: &RunStep| if step.sleeps { step.tool } else { step.form };
    let answered = || {
        steps
            .iter()
            .enumerate()
            .filter(|(_, step)| step.result.is_some())
    };
    let others = answered().filter(|(_, step)| !step.polls());
    let last: HashMap<u64, usize> = others.map(|(at, step)| (question(step), at)).collect();
    let ends =
        |(at, step): &(usize, &RunStep)| last.get(&question(step)).is_some_and(|last| last > at);
    let mut times: HashMap<(u64, Option<u64>), usize> = HashMap::new();
    for (_, step) in answered().filter(|call| call.1.polls() && !ends(call)) {
        *times.entry((step.tool, step.result)).or_default() += 1;
    }
    let few = |step: &RunStep| {
        times
            .get(&(step.tool, step.result))
            .is_none_or(|times| *times < MANY_POLLS)
    };
    let calls = steps.iter().enumerate();
    calls
        .map(|call| call.1.result.is_some() && call.1.polls() && (ends(&call) || few(call.1)))
        .collect()
}

/// Returns the pairs of a call and a result without content that are frequent enough to count as repetition.
fn futile_pairs(steps: &[RunStep]) -> HashSet<(u64, u64)> {
    let mut times: HashMap<(u64, u64), usize> = HashMap::new();
    for step in steps {
        if let Some(result) = step.result.filter(|_| step.silent) {
            *times.entry((step.call, result)).or_default() += 1;
        }
    }
    let pairs = times.into_iter().filter(|(_, times)| *times >= FUTILE);
    pairs.map(|(pair, _)| pair).collect()
}

/// The number of repetitions from which a result without content counts like any other.
const FUTILE: usize = 10;
/// The number of equal results from which an endless poll counts like any other call.
const MANY_POLLS: usize = 30;
/// The number of calls within which a repeated writing call is no new change.
const RECENT: usize = 10;
