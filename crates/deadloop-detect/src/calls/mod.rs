//! Shared parts of the guards on agent runs.
//!
//! | to find | look in |
//! |---|---|
//! | events in the form that meters read, and the facts of a run | here: [`RunState`], [`MeterEvent`], [`fact`] |
//! | excluded calls and resets | `filter` |
//! | normalisation and comparison of results | `result_comparison` |
//! | recent results, equal except for their ids | `recent_results`; recognition of ids: `ids` |
//! | calls without a result | `open_calls`; the meter that counts at the result: `call_counter` |
//! | counts of equal items in a row | `row` |
//! | equality of calls | `key` |
//! | counts in a window | `window` |
//! | lengths of stretches with a period | `stretch` |
//! | the hash and the beginning of a turn's text | `digest` |
//! | classes of results: done, waiting, nothing, refusal | `result_class`, its words in `result_words.toml` |
//! | bad turns among the ended ones | `errors` |
//! | stop or warning | `alarm_choice` |
//! | measures reported when they change | `last_report` |

use std::collections::VecDeque;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_128;

use crate::measure::fact::{Bound, Bounds, Clock, Fact};
use crate::stream::{
    Arguments, Calls, CutText, Event, EventPlace, Kind, TextChannel, Turns, Units,
};

mod alarm_choice;
mod call_counter;
mod digest;
mod errors;
mod filter;
mod ids;
mod key;
mod last_report;
mod open_calls;
mod recent_results;
mod result_class;
mod result_comparison;
mod row;
mod stretch;
mod window;

pub(crate) use alarm_choice::{TELLS, TELLS_WARNING, WARN_AT, alarm_share};
pub(crate) use call_counter::{CountedItem, ItemCounter, ItemPosition, by_key};
pub(crate) use digest::TextDigest;
pub(crate) use errors::ErrorCounter;
pub(crate) use filter::{ALLOW, Filter, RESET, sees_calls};
pub(crate) use key::{CallKey, key};
pub(crate) use last_report::LastReport;
pub(crate) use open_calls::{CallDigest, OpenCalls};
pub(crate) use recent_results::{
    ARGUMENTS, ComparedResult, KINDS, RecentResults, STATELESS_CHARS, STATELESS_N, VOLATILE,
    WAITING_N,
};
pub(crate) use result_class::ResultClass;
pub(crate) use result_comparison::{NORMALISE, ResultComparison, fold_text, prefix, start_of};
pub(crate) use row::{ItemRow, MANY, N, RowCounter, n};
pub(crate) use stretch::PeriodStretches;
pub(crate) use window::{WINDOW, WindowCounter, WindowMeasure, window, with_result};

/// The maximum number of calls without a result that a meter keeps. If there are more, the oldest is dropped.
pub(crate) const MAX_OPEN: usize = 1000;

/// The maximum number of user messages that a meter keeps.
const MAX_HEARD: usize = 64;

/// Returns the hash of a sequence of texts. Two different sequences collide with probability 2^-128.
pub(crate) fn hash(parts: &[&str]) -> u128 {
    let mut all = Vec::new();
    for part in parts {
        all.extend((part.len() as u64).to_le_bytes());
        all.extend(part.as_bytes());
    }
    xxh3_128(&all)
}

/// A call, in the form that meters read.
#[derive(Clone, Copy)]
pub(crate) struct MeterCall<'a> {
    pub(crate) name: &'a str,
    pub(crate) arguments: Arguments<'a>,
}

/// A result, in the form that meters read.
#[derive(Clone, Copy)]
pub(crate) struct MeterResult<'a> {
    /// The number of the result's call, from 0.
    pub(crate) call: Calls,
    pub(crate) content: &'a str,
    pub(crate) error: bool,
    pub(crate) cut: Option<CutText<'a>>,
}

/// An event of a run, in the form that meters read.
pub(crate) enum MeterEvent<'a> {
    /// A call of a tool that is not excluded.
    Call(MeterCall<'a>),
    /// The result of a call that is not excluded.
    Result(MeterResult<'a>),
    /// The beginning of a turn.
    Turn,
    /// A piece of reasoning or of an answer. The text of arguments is in their call.
    Text(TextChannel, &'a str),
    /// A user message that resets nothing.
    User,
    /// A user message that resets the meter.
    Forget,
    /// An event that guards ignore.
    Nothing,
}

/// A call without a result.
struct OpenCall {
    id: Option<u128>,
    call: Calls,
    left_out: bool,
}

/// The state of one run: matches results to calls, and excludes tools.
///
/// A result without a call is ignored, and so is a second result of a call. Calls without an id are matched to results
/// without an id, in order. A repeated id belongs to the newer call.
pub(crate) struct RunState {
    filter: Arc<Filter>,
    /// The position of the latest event.
    place: EventPlace,
    open: VecDeque<OpenCall>,
    /// Hashes of the latest user messages.
    heard: VecDeque<u128>,
}

impl RunState {
    pub(crate) fn new(filter: &Arc<Filter>) -> Self {
        Self {
            filter: Arc::clone(filter),
            place: EventPlace::default(),
            open: VecDeque::new(),
            heard: VecDeque::new(),
        }
    }

    /// Reads the next event.
    pub(crate) fn see<'a>(&mut self, event: &Event<'a>, place: EventPlace) -> MeterEvent<'a> {
        self.place = place;
        match *event {
            Event::Call {
                id,
                name,
                arguments,
            } => self.enter_call(id, MeterCall { name, arguments }),
            Event::Result {
                id,
                content,
                error,
                cut,
            } => match self.call_of_result(id) {
                Some(call) => MeterEvent::Result(MeterResult {
                    call,
                    content,
                    error: error.unwrap_or(false),
                    cut,
                }),
                None => MeterEvent::Nothing,
            },
            Event::Turn { .. } => MeterEvent::Turn,
            Event::Text(TextChannel::Arguments, _) => MeterEvent::Nothing,
            Event::Text(channel, text) => MeterEvent::Text(channel, text),
            Event::User(said) if self.filter.forgets => {
                let again = self.filter.only_news && self.enter_user_message(said);
                if again || place.turns == Turns(0) {
                    MeterEvent::User
                } else {
                    MeterEvent::Forget
                }
            }
            Event::User(_) => MeterEvent::User,
            _ => MeterEvent::Nothing,
        }
    }

    /// Records a user message. Returns whether it is a repeated one.
    fn enter_user_message(&mut self, said: &str) -> bool {
        let said = hash(&[said.trim()]);
        let again = self.heard.contains(&said);
        if !again {
            self.heard.truncate(MAX_HEARD - 1);
            self.heard.push_front(said);
        }
        again
    }

    fn enter_call<'a>(&mut self, id: Option<&str>, call: MeterCall<'a>) -> MeterEvent<'a> {
        let left_out = self.filter.allow.is_match(call.name);
        let id = id.map(|id| hash(&[id]));
        self.open.retain(|open| id.is_none() || open.id != id);
        if self.open.len() == MAX_OPEN {
            self.open.pop_front();
        }
        self.open.push_back(OpenCall {
            id,
            call: self.call(),
            left_out,
        });
        if left_out {
            MeterEvent::Nothing
        } else {
            MeterEvent::Call(call)
        }
    }

    /// Returns the number of the call that a result belongs to. `None` if the call is unknown or excluded.
    fn call_of_result(&mut self, id: Option<&str>) -> Option<Calls> {
        let id = id.map(|id| hash(&[id]));
        let found = self.open.iter().position(|open| open.id == id)?;
        let open = self.open.remove(found)?;
        (!open.left_out).then_some(open.call)
    }

    /// Returns the number of the latest event and its position in the run.
    pub(crate) fn now(&self) -> (u64, Clock) {
        (self.place.event, Clock::Event(self.place))
    }

    /// Returns the number of the latest call, from 0.
    pub(crate) fn call(&self) -> Calls {
        self.place.calls.saturating_sub(Calls(1))
    }

    /// Returns the number of issued calls, including those of excluded tools.
    pub(crate) fn calls(&self) -> Calls {
        self.place.calls
    }

    /// Returns the number of begun turns. At the beginning of a turn, these are the ended ones.
    pub(crate) fn ended(&self) -> Turns {
        self.place.turns
    }

    /// Returns a fact at the latest event, as [`fact`] does.
    pub(crate) fn fact(
        &self,
        what: (Kind, &'static str),
        bounds: impl Into<Bounds>,
        seen: CallRepetition,
    ) -> Fact {
        fact(self.place, what, bounds, seen)
    }
}

/// Returns a fact at an event, with the bounds of thresholds. `seen` has the onset, the length of a copy, the number of
/// copies and the text of one.
pub(crate) fn fact(
    place: EventPlace,
    (kind, check): (Kind, &'static str),
    bounds: impl Into<Bounds>,
    seen: CallRepetition,
) -> Fact {
    Fact {
        at: place.event,
        until: place.event,
        clock: Clock::Event(place),
        kind,
        bounds: bounds.into(),
        asked: Vec::new(),
        check,
        onset: seen.onset,
        period: seen.period,
        copies: Bound::Fixed(number(seen.copies)),
        unit: seen
            .unit
            .chars()
            .take(crate::measure::fact::UNIT_CHARS)
            .collect(),
    }
}

/// A repetition, in the form of an alarm.
pub(crate) struct CallRepetition {
    /// The onset: the position at which the second copy begins.
    pub(crate) onset: Units,
    /// The length of a copy, in the unit of the onset. 0 if there are no copies.
    pub(crate) period: Units,
    /// The number of copies.
    pub(crate) copies: u64,
    /// The text of a copy.
    pub(crate) unit: String,
}

impl CallRepetition {
    /// Returns a single occurrence at `onset`, without a period.
    pub(crate) fn single<U: Into<Units> + Default>(onset: U, unit: String) -> Self {
        Self {
            onset: onset.into(),
            period: U::default().into(),
            copies: 1,
            unit,
        }
    }

    /// Returns calls that repeat from the call with number `onset` on, without a period.
    pub(crate) fn calls(onset: Calls, copies: u64, unit: String) -> Self {
        Self {
            onset: onset.into(),
            period: Calls(0).into(),
            copies,
            unit,
        }
    }
}

/// Converts a count to the type of bounds.
pub(crate) fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Returns `name(arguments)`, truncated to the length of a fact's unit.
pub(crate) fn unit(name: &str, arguments: Arguments<'_>) -> String {
    let text = arguments.text();
    let whole = name.chars().chain(['(']).chain(text.chars()).chain([')']);
    whole.take(crate::measure::fact::UNIT_CHARS).collect()
}
