//! [`guided`]: compares what seed 003 says to the model after each turn with what would have been right, as far as the
//! run shows it.

use std::collections::{HashMap, HashSet};

use deadloop_corpus::Transcript;
use deadloop_detect::Event;

use super::words::{Flags, Reading, WEIGHTS, analyse};

/// What is said to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Word {
    /// Go on.
    Continue,
    /// Try again.
    Retry,
    /// Answer now.
    Finish,
}

impl Word {
    /// The length of the message in chars, without the task, which every message quotes.
    fn chars(self) -> u64 {
        match self {
            Self::Continue => 40,
            Self::Retry => 69,
            Self::Finish => 37,
        }
    }
}

/// The length of the hint about the depth, in chars.
const HINT: u64 = 319;

/// A turn with results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Turn {
    /// How many turns have ended, this one included.
    pub(crate) depth: u64,
    /// The flags of the words in its results.
    pub(crate) flags: Flags,
    /// Whether one of its results is an error.
    pub(crate) error: bool,
    /// Whether a call follows in the run.
    pub(crate) goes_on: bool,
    /// Whether the next call is to the same tool as this turn's last call, and its result is not an error.
    pub(crate) same_again: bool,
    /// How many later calls have a result that the run had not had before.
    pub(crate) news: u64,
}

/// What was said to the model in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Guided {
    /// Counts of turns, by the right word, then by the word that was said.
    pub(crate) matrix: [[u64; 3]; 3],
    /// The same if `retry` is right only after an error.
    pub(crate) strict: [[u64; 3]; 3],
    /// How often `finish` was said.
    pub(crate) finish: u64,
    /// How often `finish` was said although 3 or more new pairs of call and result followed.
    pub(crate) premature: u64,
    /// How many hints about the depth were given.
    pub(crate) hints: u64,
    /// The tokens of messages and hints, estimated as chars / 4.
    pub(crate) tokens: u64,
    /// How many messages repeat that of the turn before, word for word.
    pub(crate) doubled: u64,
}

/// One call of a run.
#[derive(Default)]
struct Called<'a> {
    tool: &'a str,
    turn: usize,
    /// Whether its result is an error; `None`: it has no result.
    failed: Option<bool>,
}

/// The turns of a run that have results.
pub(crate) fn turns(run: &Transcript) -> Vec<Turn> {
    let mut calls: Vec<Called<'_>> = Vec::new();
    let mut open: HashMap<&str, usize> = HashMap::new();
    let mut arguments: HashMap<usize, String> = HashMap::new();
    let mut seen: HashSet<(String, String)> = HashSet::new();
    let (mut found, mut news, mut depth) = (Vec::<Turn>::new(), Vec::new(), 0);
    for (_, event) in run.stream() {
        match event {
            Event::Turn { .. } => depth += 1,
            Event::Call {
                id,
                name,
                arguments: given,
            } => {
                if let Some(id) = id {
                    open.insert(id, calls.len());
                }
                arguments.insert(calls.len(), format!("{name}\u{0}{}", given.text()));
                calls.push(Called {
                    tool: name,
                    turn: depth,
                    failed: None,
                });
            }
            Event::Result {
                id, content, error, ..
            } => {
                let Some(call) = id.and_then(|id| open.remove(id)) else {
                    continue;
                };
                let failed = error.unwrap_or(false);
                calls[call].failed = Some(failed);
                let key = arguments.remove(&call).unwrap_or_default();
                let new = seen.insert((key, content.to_owned()));
                if found.last().is_none_or(|turn| turn.depth != depth as u64) {
                    found.push(Turn {
                        depth: depth as u64,
                        ..Turn::default()
                    });
                    news.push(0);
                }
                if let (Some(turn), Some(news)) = (found.last_mut(), news.last_mut()) {
                    turn.flags = turn.flags.or(analyse(content, Reading::ALL[0]));
                    turn.error |= failed;
                    *news += u64::from(new);
                }
            }
            _ => {}
        }
    }
    followed(&mut found, &calls, &news);
    found
}

/// What follows each turn.
fn followed(turns: &mut [Turn], calls: &[Called<'_>], news: &[u64]) {
    let mut later = 0;
    for (turn, news) in turns.iter_mut().zip(news).rev() {
        turn.news = later;
        later += news;
        let at = calls.partition_point(|call| call.turn as u64 <= turn.depth);
        let last = at.checked_sub(1).map(|at| &calls[at]);
        let next = calls.get(at);
        turn.goes_on = next.is_some();
        turn.same_again = last
            .zip(next)
            .is_some_and(|(last, next)| last.tool == next.tool && next.failed == Some(false));
    }
}

/// Compares what is said after each turn with what would have been right. `task`: the length of the quoted task, in
/// chars; `cut`: whether a limit ended the run, so that the right word after its last turn is not known.
pub(crate) fn guided(
    turns: &[Turn],
    (finish_depth, hint_after): (u64, u64),
    task: u64,
    cut: bool,
) -> Guided {
    let mut all = Guided::default();
    let mut last: Option<(Word, u64)> = None;
    for turn in turns {
        let word = if turn.flags.completion || turn.depth >= finish_depth {
            Word::Finish
        } else if turn.flags.errors {
            Word::Retry
        } else {
            Word::Continue
        };
        let right = |after_error: bool| match turn {
            Turn { goes_on: false, .. } => Word::Finish,
            Turn {
                same_again: true,
                error,
                ..
            } if *error || !after_error => Word::Retry,
            _ => Word::Continue,
        };
        if turn.goes_on || !cut {
            all.matrix[right(false) as usize][word as usize] += 1;
            all.strict[right(true) as usize][word as usize] += 1;
        }
        all.finish += u64::from(word == Word::Finish);
        all.premature += u64::from(word == Word::Finish && turn.news >= 3);
        all.tokens += (word.chars() + task).div_ceil(4);
        if turn.depth > hint_after {
            all.hints += 1;
            all.tokens += HINT.div_ceil(4);
        }
        // The message that says to go on contains the score.
        let score = match word {
            Word::Continue => (turn.flags.score(WEIGHTS[0]) * 100.0) as u64,
            _ => 0,
        };
        all.doubled += u64::from(last == Some((word, score)));
        last = Some((word, score));
    }
    all
}
