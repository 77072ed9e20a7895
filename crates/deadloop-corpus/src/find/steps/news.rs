//! What each call brought: anything new, or what was known.

use std::collections::{HashMap, HashSet};

use super::read::Step;

/// What a call brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
    /// A result that was not seen before, a change of the world, an answer to a new question.
    New,
    /// The same question and the same answer as before.
    Old,
    /// The same question and answer, asked again after something was changed.
    Again,
    /// An answer that was known, to the same command in other words, or an error that was.
    Reworded,
    /// Other lines of what was read before, each of which is known: an agent may look at some again.
    Seen,
    /// It was done once more, and says no more than that: a scroll, a key.
    Silent,
    /// Nothing came of it that could be judged.
    Open,
}

impl News {
    /// How much it speaks for going in circles (positive), or for getting on.
    pub(super) fn weight(self) -> f64 {
        match self {
            Self::New => -1.5,
            Self::Old => 1.0,
            Self::Again | Self::Seen => 0.34,
            Self::Reworded => 0.6,
            Self::Silent | Self::Open => 0.0,
        }
    }
}

/// A judged call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judged {
    pub(super) news: News,
    /// The last call before it that brought the same, where there is one.
    pub(super) before: Option<usize>,
}

/// What was last heard.
#[derive(Clone, Copy)]
struct Heard {
    at: usize,
    /// How often the world had changed by then.
    changes: usize,
}

/// What was read of one thing through windows.
#[derive(Default)]
struct Window {
    lines: HashSet<u64>,
    heard: Option<Heard>,
}

impl Window {
    /// Where it was read last, if all these lines were read before; then they are known.
    fn read(&mut self, lines: &[u64], now: Heard) -> Option<Heard> {
        let known = !lines.is_empty() && lines.iter().all(|line| self.lines.contains(line));
        self.lines.extend(lines);
        self.heard.replace(now).filter(|_| known)
    }
}

/// Judges the calls of a run one after the other.
pub(super) fn judge(steps: &[Step]) -> Vec<Judged> {
    // By question and answer, by tool and answer, by question, by question but for its numbers.
    let mut pairs: HashMap<(u64, u64), Heard> = HashMap::new();
    let mut answers: HashMap<(u64, u64), Heard> = HashMap::new();
    let mut asked: HashMap<u64, Heard> = HashMap::new();
    let mut windows: HashMap<u64, Window> = HashMap::new();
    let often = often(steps);
    let mut changes = 0;
    let mut judged = Vec::with_capacity(steps.len());
    for (at, step) in steps.iter().enumerate() {
        let now = Heard { at, changes };
        let Some(result) = step.result else {
            judged.push(Judged {
                news: News::Open,
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
        let changed = step.writes && !step.error && !just;
        let news = match (pair, answer) {
            _ if step.told || changed => News::New,
            (Some(_), _) if step.silent && !often.contains(&(step.call, result)) => News::Silent,
            (Some(heard), _) if heard.changes < changes => News::Again,
            (Some(_), _) => News::Old,
            // Nothing, in answer to a question not asked before, is an answer.
            (None, Some(_)) if step.empty && !known => News::New,
            (None, Some(_)) if step.shell || known || step.error => News::Reworded,
            _ if !known && window.is_some() => News::Seen,
            _ => News::New,
        };
        changes += usize::from(changed);
        judged.push(Judged {
            news,
            before: pair.or(answer).or(window).map(|heard| heard.at),
        });
        let heard = Heard { at, changes };
        pairs.insert((step.call, result), heard);
        answers.insert((step.tool, result), heard);
        asked.insert(step.call, heard);
    }
    judged
}

/// Questions and answers that come so often that they are in vain even where the answer says nothing.
fn often(steps: &[Step]) -> HashSet<(u64, u64)> {
    let mut times: HashMap<(u64, u64), usize> = HashMap::new();
    for step in steps {
        if let Some(result) = step.result.filter(|_| step.silent) {
            *times.entry((step.call, result)).or_default() += 1;
        }
    }
    let pairs = times.into_iter().filter(|(_, times)| *times >= OFTEN);
    pairs.map(|(pair, _)| pair).collect()
}

/// From this many times on, a result that says nothing counts like any other.
const OFTEN: usize = 10;
/// A writing call that did just the same so few calls ago changes nothing any more.
const RECENT: usize = 10;
