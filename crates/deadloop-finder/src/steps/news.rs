//! [`CallNews`]: whether a call brought anything new.

use std::collections::{HashMap, HashSet};

use super::result_kind::ResultKind;
use super::step::RunStep;

/// The kinds of news that a call can bring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallNews {
    /// A new result, a change of the world, or an answer to a new question.
    New,
    /// A repeated question with the same answer, or an edit after which a file has earlier contents.
    Old,
    /// A repeated question with the same answer, after something was changed.
    Again,
    /// A known answer to the same command in other words, or a known error.
    Reworded,
    /// A window over a known object, all of whose lines were read before. An agent may read some lines again. Also a
    /// known answer to a question that differs from its own in numbers alone.
    Seen,
    /// The answer of a poll that ended, or that did not last long.
    Wait,
    /// A confirmation without content: a scroll, a key.
    Silent,
    /// A call without a result.
    Open,
}

impl CallNews {
    /// Returns the weight for going in circles, with the weight of news, which is negative.
    pub(super) fn weight(self, new: f64) -> f64 {
        match self {
            Self::New => new,
            Self::Old => 1.0,
            Self::Again | Self::Seen => 0.34,
            Self::Reworded => 0.6,
            Self::Silent | Self::Wait | Self::Open => 0.0,
        }
    }
}

/// A call with its news.
#[derive(Clone, Copy, Debug)]
pub(super) struct JudgedCall {
    pub(super) news: CallNews,
    /// The last earlier call with the same result, if there is one.
    pub(super) before: Option<usize>,
}

/// An earlier call with the same question or answer.
#[derive(Clone, Copy)]
struct EarlierCall {
    at: usize,
    /// The number of changes of the world before the call.
    changes: usize,
}

/// The lines of one object that were read in windows.
#[derive(Default)]
struct WindowLines {
    lines: HashSet<u64>,
    heard: Option<EarlierCall>,
}

impl WindowLines {
    /// Adds lines that were just read. Returns the call that read them before, if all of them were known.
    fn read(&mut self, lines: &[u64], now: EarlierCall) -> Option<EarlierCall> {
        let known = !lines.is_empty() && lines.iter().all(|line| self.lines.contains(line));
        self.lines.extend(lines);
        self.heard.replace(now).filter(|_| known)
    }
}

/// Judges the calls of a run, in order.
pub(super) fn judge(steps: &[RunStep]) -> Vec<JudgedCall> {
    // The keys are question and answer, tool and answer, question, and question without its numbers.
    let mut pairs: HashMap<(u64, u64), EarlierCall> = HashMap::new();
    let mut answers: HashMap<(u64, u64), EarlierCall> = HashMap::new();
    let mut asked: HashMap<u64, EarlierCall> = HashMap::new();
    let mut windows: HashMap<u64, WindowLines> = HashMap::new();
    let mut forms: HashSet<(u64, u64)> = HashSet::new();
    let often = futile_pairs(steps);
    let polls = polls(steps);
    let mut changes = 0;
    let mut judged = Vec::with_capacity(steps.len());
    for (at, step) in steps.iter().enumerate() {
        let now = EarlierCall { at, changes };
        let Some(result) = step.result else {
            judged.push(JudgedCall {
                news: CallNews::Open,
                before: asked.get(&step.call).map(|heard| heard.at),
            });
            asked.insert(step.call, now);
            continue;
        };
        let pair = pairs.get(&(step.call, result)).copied();
        let answer = answers.get(&(step.tool, result)).copied();
        let window = windows.entry(step.form).or_default().read(&step.lines, now);
        let known = asked.contains_key(&step.call);
        let just = pair.is_some_and(|heard| at - heard.at <= RECENT);
        let changed = step.writes && !step.error && !just && !step.restores;
        let refused = step.error || matches!(step.kind, ResultKind::Refusal | ResultKind::Waiting);
        let like =
            step.kind == ResultKind::News && !step.brief && forms.contains(&(step.form, result));
        let news = match (pair, answer) {
            _ if step.told || changed => CallNews::New,
            _ if polls[at] => CallNews::Wait,
            _ if step.restores => CallNews::Old,
            (Some(_), _) if step.silent && !often.contains(&(step.call, result)) => {
                CallNews::Silent
            }
            (Some(heard), _) if heard.changes < changes => CallNews::Again,
            (Some(_), _) => CallNews::Old,
            // An empty answer to a new question is an answer.
            _ if step.kind == ResultKind::Nothing && !known => CallNews::New,
            (None, Some(_)) if step.shell || known || refused => CallNews::Reworded,
            _ if !known && (window.is_some() || like) => CallNews::Seen,
            _ => CallNews::New,
        };
        changes += usize::from(changed || step.restores);
        judged.push(JudgedCall {
            news,
            before: pair.or(answer).or(window).map(|heard| heard.at),
        });
        let heard = EarlierCall { at, changes };
        pairs.insert((step.call, result), heard);
        answers.insert((step.tool, result), heard);
        forms.insert((step.form, result));
        asked.insert(step.call, heard);
    }
    judged
}

/// Returns, for each call, whether it polled harmlessly: the question got another answer later, or the tool did not give
/// this one often.
fn polls(steps: &[RunStep]) -> Vec<bool> {
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
            .is_none_or(|times| *times < POLLS)
    };
    let calls = steps.iter().enumerate();
    calls
        .map(|call| call.1.result.is_some() && call.1.polls() && (ends(&call) || few(call.1)))
        .collect()
}

/// Returns the pairs of a question and an answer without content that are frequent enough to count as futile.
fn futile_pairs(steps: &[RunStep]) -> HashSet<(u64, u64)> {
    let mut times: HashMap<(u64, u64), usize> = HashMap::new();
    for step in steps {
        if let Some(result) = step.result.filter(|_| step.silent) {
            *times.entry((step.call, result)).or_default() += 1;
        }
    }
    let pairs = times.into_iter().filter(|(_, times)| *times >= OFTEN);
    pairs.map(|(pair, _)| pair).collect()
}

/// The minimum number of repetitions at which a result without content counts like any other.
const OFTEN: usize = 10;
/// The minimum number of equal answers to polls that do not end at which they count like any other.
const POLLS: usize = 30;
/// The number of calls within which a repeated writing call is not a new change.
const RECENT: usize = 10;
