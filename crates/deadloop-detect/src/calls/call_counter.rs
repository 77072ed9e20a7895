//! The shared meter of detectors that count equal calls.
//!
//! A call is counted when its result arrives. A key function decides which calls are equal, and an [`ItemCounter`]
//! counts them.

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
    /// The minimum count for a report.
    pub(crate) enough: u64,
}

/// The position of a counted item in its run.
pub(crate) struct ItemPosition<'a> {
    /// The number of the call, from 0.
    pub(crate) call: Calls,
    pub(crate) run: &'a RunState,
    /// `name(arguments)`, truncated.
    pub(crate) unit: String,
}

/// A counter of equal items.
pub(crate) trait ItemCounter: Clone + Send + Sync + 'static {
    /// Counts the next item. Returns a fact if the count is to be reported.
    fn count(&mut self, next: CountedItem, at: ItemPosition<'_>) -> Option<Fact>;

    /// Resets the counter.
    fn clear(&mut self);
}

/// Returns the key of a call and its result. `None` resets the counter.
type KeyFunction =
    dyn Fn(&CallDigest, &MeterResult<'_>, &mut KeyContext<'_>) -> Option<CountedItem> + Send + Sync;

/// Returns a recipe of meters that count calls with equal keys.
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
            recent: RecentResults::default(),
            key: Arc::clone(&key),
            counter: counter.clone(),
        })
    })
}

/// The state that a key function needs to compare results.
pub(crate) struct KeyContext<'a> {
    comparison: &'a ResultComparison,
    recent: &'a mut RecentResults,
}

impl KeyContext<'_> {
    /// Compares a call and its result with earlier ones. Without `arguments`, only the tool and the result are
    /// compared, unless the meaning of the result depends on its call: two empty results of different calls differ.
    pub(crate) fn pair(
        &mut self,
        asked: &CallDigest,
        arguments: bool,
        answer: &MeterResult<'_>,
    ) -> ComparedResult {
        let class = self.comparison.classify(asked, answer);
        let key = if arguments || self.depends_on_call(asked, class, answer) {
            asked.key
        } else {
            asked.tool
        };
        self.compare_result((key, key == asked.key), class, answer)
    }

    /// Compares a call and its result according to the parameter `arguments`. Also returns the key for windows, which
    /// includes the result only with `with_result`.
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

    /// Compares a tool and its result with earlier ones.
    pub(crate) fn tool(&mut self, asked: &CallDigest, answer: &MeterResult<'_>) -> ComparedResult {
        let class = self.comparison.classify(asked, answer);
        let of_call = self.comparison.kinds && self.depends_on_call(asked, class, answer);
        let key = if of_call { asked.key } else { asked.tool };
        self.compare_result((key, of_call), class, answer)
    }

    /// Returns whether equal results of different calls count as different. With `kinds`, the results of a writing tool
    /// do so, too, unless they are errors: writing other contents is another attempt.
    fn depends_on_call(
        &self,
        asked: &CallDigest,
        class: ResultClass,
        answer: &MeterResult<'_>,
    ) -> bool {
        let writes = || result_class::writes(&asked.unit) && !self.fails(answer);
        class.depends_on_call() || self.comparison.kinds && class == ResultClass::Other && writes()
    }

    /// Returns whether a result is an error. With `kinds`, a text that begins like an error is one, too.
    pub(crate) fn fails(&self, answer: &MeterResult<'_>) -> bool {
        answer.error || self.comparison.kinds && result_class::refuses(answer.content)
    }

    /// Compares a result with earlier results of the same key.
    fn compare_result(
        &mut self,
        key: (u128, bool),
        class: ResultClass,
        answer: &MeterResult<'_>,
    ) -> ComparedResult {
        let content = self.comparison.result(answer.content, answer.cut);
        let (pair, times) = self.recent.record(key, &content, self.comparison);
        ComparedResult { pair, class, times }
    }

    /// Returns a key that is equal for results of one tool with the same first `chars` chars.
    pub(crate) fn start(&self, asked: &CallDigest, answer: &MeterResult<'_>, chars: usize) -> u128 {
        let result = self.comparison.result(answer.content, answer.cut);
        let result = self.comparison.without_volatile(&result);
        let result = self.comparison.without_numbers(result);
        hash(&[&asked.tool.to_string(), start_of(&result, chars)])
    }

    /// Returns the minimum number of equal results for a report: `stateless_n` for results without information,
    /// `waiting_n` for results of unfinished work, otherwise 0.
    pub(crate) fn enough(&self, same: &ComparedResult) -> u64 {
        match same.class {
            ResultClass::Uninformative => self.comparison.stateless_n,
            ResultClass::Waiting => self.comparison.waiting_n,
            _ => 0,
        }
    }
}

/// A meter of one run. Calls are kept until their results arrive.
struct ResultMeter<C> {
    run: RunState,
    comparison: Arc<ResultComparison>,
    open: OpenCalls,
    recent: RecentResults,
    key: Arc<KeyFunction>,
    counter: C,
}

impl<C: ItemCounter> Meter for ResultMeter<C> {
    fn push(&mut self, event: &Event<'_>, place: EventPlace, facts: &mut Vec<Fact>) {
        match self.run.see(event, place) {
            MeterEvent::Call(call) => self.open.put(self.run.call(), CallDigest::from_call(&call)),
            MeterEvent::Result(answer) => {
                // The call may have been dropped or reset.
                let Some(asked) = self.open.take(answer.call) else {
                    return;
                };
                let mut seen = KeyContext {
                    comparison: &self.comparison,
                    recent: &mut self.recent,
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
                self.recent.clear();
                self.counter.clear();
            }
            _ => {}
        }
    }
}
