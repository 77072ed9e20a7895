//! Detectors that count equal calls.
//!
//! `duplicate` and `cycle` alarm at the call, before it runs. The others alarm at the result.
//!
//! Memory is bounded: hashes of the calls in the row, window or longest period, and the data of at most 1,000 calls
//! without a result.

use super::entry::detector;
use super::{Measurement, Refusal};
use crate::calls::{
    ALLOW, ARGUMENTS, CallKey, CallRepetition, CountedItem, Filter, ItemRow, KINDS, MANY,
    MeterCall, MeterEvent, N, NORMALISE, PeriodStretches, RESET, RowCounter, RunState,
    STATELESS_CHARS, STATELESS_N, VOLATILE, WAITING_N, WINDOW as LONGEST_WINDOW, WindowCounter,
    WindowMeasure, by_key, hash, key, n, number, prefix, sees_calls, unit, window, with_result,
};
use crate::measure::fact::Fact;
use crate::measure::meter::{Meter, Recipe};
use crate::settings::param::Param;
use crate::settings::params::Params;
use crate::stream::{Calls, Channel, Event, EventPlace, Kind};
use std::collections::HashMap;
use std::ops::RangeInclusive;

/// Lists the given parameters, and those of all detectors that compare results.
macro_rules! with_results {
    ($($param:expr),+) => {
        &[$($param,)+ ALLOW, RESET, NORMALISE, VOLATILE, STATELESS_N, STATELESS_CHARS, KINDS, WAITING_N]
    };
}

detector! {
    DUPLICATE = "duplicate", version 1,
    "the same tool call in a row: told before it runs",
    params: &[N, key("call"), ALLOW, RESET, OPEN],
    check: sees_calls,
    measure: Measurement::Run(Channel::Tools, duplicate),
    gone: &["normalise"],
}

detector! {
    SAME_PAIR = "same-pair", version 1,
    "equal calls with equal results in a row",
    params: with_results![N, FAILURE_ONLY],
    check: sees_calls,
    measure: Measurement::Run(Channel::Tools, same_pair),
}

detector! {
    CYCLE = "cycle", version 1,
    "the same few tool calls in turn",
    params: &[REPEATS, MIN_PERIOD, MAX_PERIOD, key("raw"), ALLOW, RESET],
    check: check_cycle,
    measure: Measurement::Run(Channel::Tools, cycle),
    gone: &["normalise"],
}

detector! {
    INTERLEAVED = "interleaved", version 1,
    "a call and result that keep coming back",
    params: with_results![COMES_BACK, LAST, with_result(true), ARGUMENTS],
    check: check_interleaved,
    measure: Measurement::Run(Channel::Tools, interleaved),
}

detector! {
    CALL_NOVELTY = "call-novelty", version 1,
    "few different calls among the last ones",
    params: with_results![MAX_DISTINCT, LAST, with_result(false), ARGUMENTS, RETURNS, BEFORE],
    check: check_call_novelty,
    measure: Measurement::Run(Channel::Tools, call_novelty),
}

detector! {
    STAGNATION = "stagnation", version 1,
    "a tool's same result: whatever it is asked",
    params: with_results![EQUAL_RESULTS],
    check: sees_calls,
    measure: Measurement::Run(Channel::Tools, stagnation),
}

detector! {
    ERROR_RUN = "error-run", version 1,
    "one error after the other",
    params: &[ERRORS, SAME, PREFIX, ALLOW, RESET, NORMALISE, VOLATILE, KINDS],
    check: sees_calls,
    measure: Measurement::Run(Channel::Tools, error_run),
}

const OPEN: Param = Param::flag("open", false).doc(
    "true: equal calls of one message are counted, whatever stands between them; a result ends it",
);

const FAILURE_ONLY: Param =
    Param::flag("failure_only", false).doc("true: only pairs whose result is an error");

const REPEATS: Param = Param::count("repeats", 5, MANY)
    .copies()
    .unit("copies")
    .doc("copies of the cycle in a row, the first included");

/// The maximum length of a cycle, in calls.
const LONGEST: i64 = 100;

const MIN_PERIOD: Param = Param::count("min_period", 1, 1..=LONGEST)
    .at_most()
    .unit("calls")
    .doc("the shortest cycle that counts");

const MAX_PERIOD: Param = Param::count("max_period", 5, 1..=LONGEST)
    .unit("calls")
    .doc("the longest cycle that is looked for");

const COMES_BACK: Param = n(
    3,
    "calls",
    "how often the newest one stands among the last ones",
);

const LAST: Param = window(10, "calls", "how many of the last ones are looked at");

const MAX_DISTINCT: Param = Param::count("max_distinct", 6, 1..=LONGEST_WINDOW - 1)
    .at_least()
    .unit("calls")
    .doc("different calls at most, among those looked at");

const RETURNS: Param = Param::flag("returns", false)
    .doc("true: one of the older half of them stands in the newer half too, and the last is not new; else the run moved on");

const BEFORE: Param = Param::count("before", 0, 0..=LONGEST_WINDOW)
    .unit("calls")
    .doc("what stood among so many calls before those looked at is not counted");

const EQUAL_RESULTS: Param = n(6, "calls", "equal results of one tool in a row");

const ERRORS: Param = n(3, "errors", "errors in a row");

const SAME: Param = Param::word("same", "any", &["any", "tool", "prefix"])
    .doc("in common: nothing; the tool; the tool and how the text begins");

const PREFIX: Param = prefix();

/// Rejects a `min_period` above `max_period`.
fn check_cycle(params: &Params) -> Result<(), Refusal> {
    let (min, max) = (params.int(MIN_PERIOD.name), params.int(MAX_PERIOD.name));
    if min > max {
        let what = format!(
            "{min} is above max_period {max}: no cycle counts, this setting can never fire"
        );
        return Refusal::err(MIN_PERIOD.name, what);
    }
    sees_calls(params)
}

/// Rejects a window shorter than the required count.
fn check_interleaved(params: &Params) -> Result<(), Refusal> {
    let (n, window) = (params.int(COMES_BACK.name), params.int(LAST.name));
    if n > window {
        let what =
            format!("{n} do not fit the last {window} calls (window): this setting can never fire");
        return Refusal::err(COMES_BACK.name, what);
    }
    sees_calls(params)
}

/// Rejects a limit on distinct calls that the window can never exceed.
fn check_call_novelty(params: &Params) -> Result<(), Refusal> {
    let (most, window) = (params.int(MAX_DISTINCT.name), params.int(LAST.name));
    if most >= window {
        let what = format!(
            "the last {window} calls (window) have never more than {most} different ones: this setting fires always"
        );
        return Refusal::err(MAX_DISTINCT.name, what);
    }
    sees_calls(params)
}

fn same_pair(params: &Params) -> Recipe {
    let failures = params.flag(FAILURE_ONLY.name);
    let row = RowCounter::new(params, Kind::SameCallSameResult);
    by_key(params, row, move |asked, answer, seen| {
        let same = seen.pair(asked, true, answer);
        let error = if answer.error { "error" } else { "" };
        let says = answer.error || !failures;
        Some(CountedItem {
            key: hash(&[&same.pair.to_string(), error]),
            enough: if says { seen.enough(&same) } else { u64::MAX },
        })
    })
}

fn interleaved(params: &Params) -> Recipe {
    let among = WindowCounter::new(params, WindowMeasure::Newest, &COMES_BACK);
    by_key(params, among, |asked, answer, seen| {
        let (key, same) = seen.compare(asked, answer);
        let enough = seen.enough(&same);
        Some(CountedItem { key, enough })
    })
}

fn call_novelty(params: &Params) -> Recipe {
    let among = WindowCounter::new(params, WindowMeasure::Distinct, &MAX_DISTINCT)
        .with_returns(params.flag(RETURNS.name), params.count(BEFORE.name));
    by_key(params, among, |asked, answer, seen| {
        let (mut key, same) = seen.compare(asked, answer);
        // Results without information count as distinct until there are enough of them.
        if same.times < seen.enough(&same) {
            key = hash(&[&key.to_string(), &answer.call.0.to_string()]);
        }
        Some(CountedItem { key, enough: 0 })
    })
}

fn stagnation(params: &Params) -> Recipe {
    let row = RowCounter::new(params, Kind::AperiodicStagnation);
    by_key(params, row, |asked, answer, seen| {
        let same = seen.tool(asked, answer);
        Some(CountedItem {
            key: same.pair,
            enough: seen.enough(&same),
        })
    })
}

fn error_run(params: &Params) -> Recipe {
    let same = params.text(SAME.name);
    let (tool, start) = (same == "tool", same == "prefix");
    let chars = usize::try_from(params.count(PREFIX.name)).unwrap_or(usize::MAX);
    let row = RowCounter::new(params, Kind::ErrorRetry);
    by_key(params, row, move |asked, answer, seen| {
        let key = match (tool, start) {
            _ if !seen.fails(answer) => return None,
            (true, _) => asked.tool,
            (_, true) => seen.start(asked, answer, chars),
            _ => 0,
        };
        Some(CountedItem { key, enough: 0 })
    })
}

/// The maximum number of distinct calls that are counted in one message. Later ones are ignored.
const MAX_OPEN: usize = 1000;

fn duplicate(params: &Params) -> Recipe {
    let filter = Filter::new(params);
    let least = params.count(N.name);
    let key = CallKey::from(params);
    let open = params.flag(OPEN.name);
    Recipe::run(move || {
        Box::new(Duplicates {
            run: RunState::new(&filter),
            key,
            least,
            open,
            rows: HashMap::new(),
        })
    })
}

/// A meter of rows of equal calls in one run.
struct Duplicates {
    run: RunState,
    key: CallKey,
    /// The minimum row of the loosest setting.
    least: u64,
    /// Whether equal calls of one message are counted.
    open: bool,
    /// The current row. With `open`, one row for each key in the message.
    rows: HashMap<u128, ItemRow>,
}

impl Meter for Duplicates {
    fn push(&mut self, event: &Event<'_>, place: EventPlace, facts: &mut Vec<Fact>) {
        match self.run.see(event, place) {
            MeterEvent::Call(call) => {
                let key = self.key.digest(&call);
                let row = if self.open { key } else { 0 };
                if self.rows.len() == MAX_OPEN && !self.rows.contains_key(&row) {
                    return;
                }
                let row = self.rows.entry(row).or_default();
                row.push(key, self.run.call());
                let what = (Kind::IdenticalCall, || unit(call.name, call.arguments));
                facts.extend(row.fact(self.least, self.run.now(), what));
            }
            MeterEvent::Forget => self.rows.clear(),
            MeterEvent::Result(_) | MeterEvent::Turn if self.open => self.rows.clear(),
            _ => {}
        }
    }
}

fn cycle(params: &Params) -> Recipe {
    let filter = Filter::new(params);
    let key = CallKey::from(params);
    let least = params.int(REPEATS.name);
    let periods = params.count(MIN_PERIOD.name)..=params.count(MAX_PERIOD.name);
    Recipe::run(move || {
        Box::new(CycleMeter {
            run: RunState::new(&filter),
            key,
            least,
            stretch: PeriodStretches::new(*periods.end()),
            periods: periods.clone(),
        })
    })
}

/// A meter of periodic stretches of calls in one run.
struct CycleMeter {
    run: RunState,
    key: CallKey,
    /// The minimum number of copies of the loosest setting.
    least: i64,
    periods: RangeInclusive<u64>,
    stretch: PeriodStretches,
}

impl Meter for CycleMeter {
    fn push(&mut self, event: &Event<'_>, place: EventPlace, facts: &mut Vec<Fact>) {
        match self.run.see(event, place) {
            MeterEvent::Call(call) => {
                self.stretch.push(self.key.digest(&call), self.run.call());
                let periods = self.periods.clone();
                facts.extend(periods.filter_map(|period| self.fact(period, &call)));
            }
            MeterEvent::Forget => self.stretch.clear(),
            _ => {}
        }
    }
}

impl CycleMeter {
    /// Returns a fact if the stretch with a period has just completed another copy.
    fn fact(&self, period: u64, call: &MeterCall<'_>) -> Option<Fact> {
        let copies = self.stretch.copies(period);
        let whole = self.stretch.length(period).is_multiple_of(period);
        if !whole || copies < self.least {
            return None;
        }
        let kind = match period {
            1 => Kind::IdenticalCall,
            _ => Kind::Cycle,
        };
        let seen = CallRepetition {
            onset: self.stretch.second(period).into(),
            period: Calls(period).into(),
            copies: copies.unsigned_abs(),
            unit: unit(call.name, call.arguments),
        };
        let bounds = [(REPEATS.name, copies), (MIN_PERIOD.name, number(period))];
        Some(self.run.fact((kind, "cycle"), bounds, seen))
    }
}
