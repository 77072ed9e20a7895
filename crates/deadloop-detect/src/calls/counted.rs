//! The core of the detectors that count equal calls when their results are there: a key says which are equal, a
//! [`Counter`] how many there are. A detector is its entry, its key and its counter.

use std::sync::Arc;

use super::{
    Answer, Asked, Comparison, Filter, Known, Pairs, Run, Same, Saw, Says, hash, says, start_of,
};
use crate::measure::fact::Fact;
use crate::measure::meter::{Meter, Recipe};
use crate::settings::params::Params;
use crate::stream::{Calls, Event, EventPlace};

/// What is counted next.
pub(crate) struct Next {
    /// Shared by those that are equal.
    pub(crate) key: u128,
    /// Fewer equal ones say nothing.
    pub(crate) enough: u64,
}

/// Where in the run that is.
pub(crate) struct At<'a> {
    /// The number of the call, from 0.
    pub(crate) call: Calls,
    pub(crate) run: &'a Run,
    /// `name(arguments)`, cut.
    pub(crate) unit: String,
}

/// Counts equal ones.
pub(crate) trait Counter: Clone + Send + Sync + 'static {
    /// Takes the next one, and returns the fact that it makes, if it makes one.
    fn count(&mut self, next: Next, at: At<'_>) -> Option<Fact>;

    /// Forgets everything.
    fn clear(&mut self);
}

/// What makes two calls with their results equal. `None`: what was counted ends here.
type KeyOf = dyn Fn(&Asked, &Answer<'_>, &mut Seen<'_>) -> Option<Next> + Send + Sync;

/// Meters that count by a key.
pub(crate) fn counted(
    params: &Params,
    counter: impl Counter,
    key: impl Fn(&Asked, &Answer<'_>, &mut Seen<'_>) -> Option<Next> + Send + Sync + 'static,
) -> Recipe {
    let filter = Filter::new(params);
    let comparison = Arc::new(Comparison::new(params));
    let key: Arc<KeyOf> = Arc::new(key);
    Recipe::run(move || {
        Box::new(Counted {
            run: Run::new(&filter),
            comparison: Arc::clone(&comparison),
            open: Pairs::default(),
            known: Known::default(),
            key: Arc::clone(&key),
            counter: counter.clone(),
        })
    })
}

/// What a detector looks at a result with.
pub(crate) struct Seen<'a> {
    comparison: &'a Comparison,
    known: &'a mut Known,
}

impl Seen<'_> {
    /// The call and its result, as they are compared. Without `arguments` it is the tool and its result, but for a
    /// result that says nothing: an empty answer to another question is another answer.
    pub(crate) fn pair(&mut self, asked: &Asked, arguments: bool, answer: &Answer<'_>) -> Same {
        let says = self.comparison.says(asked, answer);
        let key = if arguments || says.is_of_its_call() {
            asked.key
        } else {
            asked.tool
        };
        self.met((key, key == asked.key), says, answer)
    }

    /// The same by the parameter `arguments`, and what calls in a window are compared by: with `with_result` that, else the
    /// call alone.
    pub(crate) fn compared(&mut self, asked: &Asked, answer: &Answer<'_>) -> (u128, Same) {
        let arguments = self.comparison.arguments;
        let same = self.pair(asked, arguments, answer);
        let key = match (self.comparison.with_result, arguments) {
            (true, _) => same.pair,
            (false, true) => asked.key,
            (false, false) => asked.tool,
        };
        (key, same)
    }

    /// The tool and its result, as they are compared.
    pub(crate) fn tool(&mut self, asked: &Asked, answer: &Answer<'_>) -> Same {
        let says = self.comparison.says(asked, answer);
        let of_call = self.comparison.kinds && says.is_of_its_call();
        let key = if of_call { asked.key } else { asked.tool };
        self.met((key, of_call), says, answer)
    }

    /// Whether a result is an error; with `kinds` also where it only says so.
    pub(crate) fn fails(&self, answer: &Answer<'_>) -> bool {
        answer.error || self.comparison.kinds && says::refuses(answer.content)
    }

    fn met(&mut self, key: (u128, bool), says: Says, answer: &Answer<'_>) -> Same {
        let content = self.comparison.result(answer.content, answer.cut);
        let (pair, times) = self.known.met(key, &content, self.comparison);
        Same { pair, says, times }
    }

    /// Equal of results of one tool whose texts begin with the same chars.
    pub(crate) fn start(&self, asked: &Asked, answer: &Answer<'_>, chars: usize) -> u128 {
        let result = self.comparison.result(answer.content, answer.cut);
        let result = self.comparison.still(&result);
        let result = self.comparison.without_numbers(result);
        hash(&[&asked.tool.to_string(), start_of(&result, chars)])
    }

    /// How many equal ones it takes to count: of those that say nothing `stateless_n`, of those that say that something is
    /// not done yet `waiting_n`.
    pub(crate) fn enough(&self, same: &Same) -> u64 {
        match same.says {
            Says::Mute => self.comparison.stateless_n,
            Says::Waiting => self.comparison.waiting_n,
            _ => 0,
        }
    }
}

/// Follows one run: calls that have no result yet wait for it.
struct Counted<C> {
    run: Run,
    comparison: Arc<Comparison>,
    open: Pairs,
    known: Known,
    key: Arc<KeyOf>,
    counter: C,
}

impl<C: Counter> Meter for Counted<C> {
    fn push(&mut self, event: &Event<'_>, place: EventPlace, facts: &mut Vec<Fact>) {
        match self.run.see(event, place) {
            Saw::Call(call) => self.open.put(self.run.call(), Asked::of(&call)),
            Saw::Result(answer) => {
                // Of a call that was forgotten nothing is said.
                let Some(asked) = self.open.take(answer.call) else {
                    return;
                };
                let mut seen = Seen {
                    comparison: &self.comparison,
                    known: &mut self.known,
                };
                let Some(next) = (self.key)(&asked, &answer, &mut seen) else {
                    return self.counter.clear();
                };
                let at = At {
                    call: answer.call,
                    run: &self.run,
                    unit: asked.unit,
                };
                facts.extend(self.counter.count(next, at));
            }
            Saw::Forget => {
                self.open.clear();
                self.known.clear();
                self.counter.clear();
            }
            _ => {}
        }
    }
}
