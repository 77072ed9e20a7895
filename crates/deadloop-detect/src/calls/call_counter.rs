//! The core of the detectors that count equal calls at their results. A key decides which calls are equal, and a
//! [`ItemCounter`] counts them. A detector consists of its entry, its key and its counter.

use std::sync::Arc;

use super::{
    CallDigest, ComparedResult, Filter, MeterEvent, MeterResult, OpenCalls, RecentResults,
    ResultClass, ResultComparison, RunState, hash, result_class, start_of,
};
use crate::measure::fact::Fact;
use crate::measure::meter::{Meter, Recipe};
use crate::settings::params::Params;
use crate::stream::{Calls, Event, EventPlace};

/// The next item to count.
pub(crate) struct CountedItem {
    /// The key shared by equal items.
    pub(crate) key: u128,
    /// The count below which nothing is reported.
    pub(crate) enough: u64,
}

/// Position of the counted item in the run.
pub(crate) struct ItemPosition<'a> {
    /// The number of the call, from 0.
    pub(crate) call: Calls,
    pub(crate) run: &'a RunState,
    /// `name(arguments)`, truncated.
    pub(crate) unit: String,
}

/// A counter of equal items.
pub(crate) trait ItemCounter: Clone + Send + Sync + 'static {
    /// Counts the next item. Returns the resulting fact, if any.
    fn count(&mut self, next: CountedItem, at: ItemPosition<'_>) -> Option<Fact>;

    /// Resets the counter.
    fn clear(&mut self);
}

/// Key function of a call and its result. `None` ends the current count.
type KeyFunction =
    dyn Fn(&CallDigest, &MeterResult<'_>, &mut KeyContext<'_>) -> Option<CountedItem> + Send + Sync;

/// Returns a recipe whose meters count the items with equal keys.
pub(crate) fn by_key(
    params: &Params,
    counter: impl ItemCounter,
    key: impl Fn(&CallDigest, &MeterResult<'_>, &mut KeyContext<'_>) -> Option<CountedItem>
    + Send
    + Sync
    + 'static,
) -> Recipe {
    let filter = Filter::new(params);
    let comparison = Arc::new(ResultComparison::new(params));
    let key: Arc<KeyFunction> = Arc::new(key);
    Recipe::run(move || {
        Box::new(ResultMeter {
            run: RunState::new(&filter),
            comparison: Arc::clone(&comparison),
            open: OpenCalls::default(),
            known: RecentResults::default(),
            key: Arc::clone(&key),
            counter: counter.clone(),
        })
    })
}

/// State with which a key function compares results.
pub(crate) struct KeyContext<'a> {
    comparison: &'a ResultComparison,
    known: &'a mut RecentResults,
}

impl KeyContext<'_> {
    /// Compares a call and its result. Without `arguments`, only the tool and the result are compared, unless the result
    /// belongs to its call. For example, empty answers to two different questions differ.
    pub(crate) fn pair(
        &mut self,
        asked: &CallDigest,
        arguments: bool,
        answer: &MeterResult<'_>,
    ) -> ComparedResult {
        let says = self.comparison.classify(asked, answer);
        let key = if arguments || self.is_of_its_call(asked, says, answer) {
            asked.key
        } else {
            asked.tool
        };
        self.compare_result((key, key == asked.key), says, answer)
    }

    /// Compares a call and its result as the parameter `arguments` demands. Also returns the key for windows, which
    /// covers the result only with `with_result`.
    pub(crate) fn compare(
        &mut self,
        asked: &CallDigest,
        answer: &MeterResult<'_>,
    ) -> (u128, ComparedResult) {
        let arguments = self.comparison.arguments;
        let same = self.pair(asked, arguments, answer);
        let key = match (self.comparison.with_result, arguments) {
            (true, _) => same.pair,
            (false, true) => asked.key,
            (false, false) => asked.tool,
        };
        (key, same)
    }

    /// Compares a tool and its result.
    pub(crate) fn tool(&mut self, asked: &CallDigest, answer: &MeterResult<'_>) -> ComparedResult {
        let says = self.comparison.classify(asked, answer);
        let of_call = self.comparison.kinds && self.is_of_its_call(asked, says, answer);
        let key = if of_call { asked.key } else { asked.tool };
        self.compare_result((key, of_call), says, answer)
    }

    /// Returns whether equal results of two different calls differ. With `kinds`, so do the results of a tool that writes,
    /// unless they are errors: other contents are another attempt.
    fn is_of_its_call(
        &self,
        asked: &CallDigest,
        says: ResultClass,
        answer: &MeterResult<'_>,
    ) -> bool {
        let writes = || result_class::writes(&asked.unit) && !self.fails(answer);
        says.is_of_its_call() || self.comparison.kinds && says == ResultClass::News && writes()
    }

    /// Returns whether a result is an error. With `kinds`, a result whose text reads like an error is one too.
    pub(crate) fn fails(&self, answer: &MeterResult<'_>) -> bool {
        answer.error || self.comparison.kinds && result_class::refuses(answer.content)
    }

    fn compare_result(
        &mut self,
        key: (u128, bool),
        says: ResultClass,
        answer: &MeterResult<'_>,
    ) -> ComparedResult {
        let content = self.comparison.result(answer.content, answer.cut);
        let (pair, times) = self.known.met(key, &content, self.comparison);
        ComparedResult { pair, says, times }
    }

    /// Returns the key shared by results of one tool whose texts begin with the same `chars` characters.
    pub(crate) fn start(&self, asked: &CallDigest, answer: &MeterResult<'_>, chars: usize) -> u128 {
        let result = self.comparison.result(answer.content, answer.cut);
        let result = self.comparison.still(&result);
        let result = self.comparison.without_numbers(result);
        hash(&[&asked.tool.to_string(), start_of(&result, chars)])
    }

    /// Returns the number of equal results from which they are reported. Results without information need
    /// `stateless_n`, results of unfinished work `waiting_n`.
    pub(crate) fn enough(&self, same: &ComparedResult) -> u64 {
        match same.says {
            ResultClass::Mute => self.comparison.stateless_n,
            ResultClass::Waiting => self.comparison.waiting_n,
            _ => 0,
        }
    }
}

/// Meter of one run. Calls without a result are kept until the result comes.
struct ResultMeter<C> {
    run: RunState,
    comparison: Arc<ResultComparison>,
    open: OpenCalls,
    known: RecentResults,
    key: Arc<KeyFunction>,
    counter: C,
}

impl<C: ItemCounter> Meter for ResultMeter<C> {
    fn push(&mut self, event: &Event<'_>, place: EventPlace, facts: &mut Vec<Fact>) {
        match self.run.see(event, place) {
            MeterEvent::Call(call) => self.open.put(self.run.call(), CallDigest::from_call(&call)),
            MeterEvent::Result(answer) => {
                // Results of forgotten calls are ignored.
                let Some(asked) = self.open.take(answer.call) else {
                    return;
                };
                let mut seen = KeyContext {
                    comparison: &self.comparison,
                    known: &mut self.known,
                };
                let Some(next) = (self.key)(&asked, &answer, &mut seen) else {
                    return self.counter.clear();
                };
                let at = ItemPosition {
                    call: answer.call,
                    run: &self.run,
                    unit: asked.unit,
                };
                facts.extend(self.counter.count(next, at));
            }
            MeterEvent::Forget => {
                self.open.clear();
                self.known.clear();
                self.counter.clear();
            }
            _ => {}
        }
    }
}
