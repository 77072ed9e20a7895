//! The shared parts of run detectors.
//!
//! | to find | look in |
//! |---|---|
//! | events as meters read them, and the facts of a run | here: [`RunState`], [`MeterEvent`], [`fact`] |
//! | ignored calls and resets | `filter` |
//! | normalisation and comparison of results | `result_comparison` |
//! | results that are equal except for ids | `recent_results`; recognition of ids: `ids` |
//! | calls without a result | `open_calls`; the meter that counts equal calls: `call_counter` |
//! | counts of equal items in a row | `row` |
//! | equality of calls | `key` |
//! | counts in a window | `window` |
//! | lengths of periodic stretches | `stretch` |
//! | the hash and the beginning of a turn's text | `digest` |
//! | classes of results: done, waiting, empty, refusal | `result_class`, its words in `result_words.toml` |
//! | turns with errors | `errors` |
//! | stop or warning | `alarm_choice` |
//! | reports of changed measures | `last_report` |

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

/// The maximum number of calls without a result that a meter keeps. The oldest is dropped first.
pub(crate) const MAX_OPEN: usize = 1000;

/// The maximum number of user messages that a meter keeps.
const MAX_MESSAGES: usize = 64;

/// Returns the 128-bit hash of a sequence of texts.
pub(crate) fn hash(parts: &[&str]) -> u128 {
    let mut all = Vec::new();
    for part in parts {
        all.extend((part.len() as u64).to_le_bytes());
        all.extend(part.as_bytes());
    }
    xxh3_128(&all)
}

/// A call as meters read it.
#[derive(Clone, Copy)]
pub(crate) struct MeterCall<'a> {
    pub(crate) name: &'a str,
    pub(crate) arguments: Arguments<'a>,
}

/// A result as meters read it.
#[derive(Clone, Copy)]
pub(crate) struct MeterResult<'a> {
    /// The number of the result's call, from 0.
    pub(crate) call: Calls,
    pub(crate) content: &'a str,
    pub(crate) error: bool,
    pub(crate) cut: Option<CutText<'a>>,
}

/// An event of a run as meters read it.
pub(crate) enum MeterEvent<'a> {
    /// A call of a tool that is not ignored.
    Call(MeterCall<'a>),
    /// The result of a call that is not ignored.
    Result(MeterResult<'a>),
    /// The beginning of a turn.
    Turn,
    /// A piece of reasoning or of an answer. Pieces of arguments are ignored, since the call holds them.
    Text(TextChannel, &'a str),
    /// A user message that does not reset.
    User,
    /// A user message that resets the meter.
    Forget,
    /// An event that run meters ignore.
    Nothing,
}

/// A call without a result.
struct OpenCall {
    id: Option<u128>,
    call: Calls,
    ignored: bool,
}

/// The state of one run. It matches results to calls, and ignores tools of the filter.
///
/// A result without a call is ignored, and so is a second result of a call. Calls without an id are matched to results
/// without an id, in order. A repeated id belongs to the newer call.
pub(crate) struct RunState {
    filter: Arc<Filter>,
    /// The position of the latest event.
    place: EventPlace,
    open: VecDeque<OpenCall>,
    /// Hashes of the latest user messages.
    messages: VecDeque<u128>,
}

impl RunState {
    pub(crate) fn new(filter: &Arc<Filter>) -> Self {
        Self {
            filter: Arc::clone(filter),
            place: EventPlace::default(),
            open: VecDeque::new(),
            messages: VecDeque::new(),
        }
    }

    /// Converts the next event to the form for meters.
    pub(crate) fn see<'a>(&mut self, event: &Event<'a>, place: EventPlace) -> MeterEvent<'a> {
        self.place = place;
        match *event {
            Event::Call {
                id,
                name,
                arguments,
            } => self.record_call(id, MeterCall { name, arguments }),
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
            Event::User(text) if self.filter.resets => {
                let repeated = self.filter.ignores_repeats && self.record_message(text);
                if repeated || place.turns == Turns(0) {
                    MeterEvent::User
                } else {
                    MeterEvent::Forget
                }
            }
            Event::User(_) => MeterEvent::User,
            _ => MeterEvent::Nothing,
        }
    }

    /// Records a user message. Returns whether it is repeated.
    fn record_message(&mut self, text: &str) -> bool {
        let message = hash(&[text.trim()]);
        let repeated = self.messages.contains(&message);
        if !repeated {
            self.messages.truncate(MAX_MESSAGES - 1);
            self.messages.push_front(message);
        }
        repeated
    }

    fn record_call<'a>(&mut self, id: Option<&str>, call: MeterCall<'a>) -> MeterEvent<'a> {
        let ignored = self.filter.allow.is_match(call.name);
        let id = id.map(|id| hash(&[id]));
        self.open.retain(|open| id.is_none() || open.id != id);
        if self.open.len() == MAX_OPEN {
            self.open.pop_front();
        }
        self.open.push_back(OpenCall {
            id,
            call: self.call(),
            ignored,
        });
        if ignored {
            MeterEvent::Nothing
        } else {
            MeterEvent::Call(call)
        }
    }

    /// Returns the number of the call of a result. `None` if the call is unknown or ignored.
    fn call_of_result(&mut self, id: Option<&str>) -> Option<Calls> {
        let id = id.map(|id| hash(&[id]));
        let found = self.open.iter().position(|open| open.id == id)?;
        let open = self.open.remove(found)?;
        (!open.ignored).then_some(open.call)
    }

    /// Returns the number of the latest event and its position in the run.
    pub(crate) fn now(&self) -> (u64, Clock) {
        (self.place.event, Clock::Event(self.place))
    }

    /// Returns the number of the latest call, from 0.
    pub(crate) fn call(&self) -> Calls {
        self.place.calls.saturating_sub(Calls(1))
    }

    /// Returns the number of calls so far, including ignored ones.
    pub(crate) fn calls(&self) -> Calls {
        self.place.calls
    }

    /// Returns the number of turns begun before the latest event. At the beginning of a turn, this is the number of
    /// ended turns.
    pub(crate) fn ended(&self) -> Turns {
        self.place.turns
    }

    /// Returns a fact at the latest event. See [`fact`].
    pub(crate) fn fact(
        &self,
        what: (Kind, &'static str),
        bounds: impl Into<Bounds>,
        repetition: CallRepetition,
    ) -> Fact {
        fact(self.place, what, bounds, repetition)
    }
}

/// Returns a fact about `repetition` at an event.
pub(crate) fn fact(
    place: EventPlace,
    (kind, check): (Kind, &'static str),
    bounds: impl Into<Bounds>,
    repetition: CallRepetition,
) -> Fact {
    Fact {
        at: place.event,
        until: place.event,
        clock: Clock::Event(place),
        kind,
        bounds: bounds.into(),
        asked: Vec::new(),
        check,
        onset: repetition.onset,
        period: repetition.period,
        copies: Bound::Fixed(number(repetition.copies)),
        unit: repetition
            .unit
            .chars()
            .take(crate::measure::fact::UNIT_CHARS)
            .collect(),
    }
}

/// The repetition that a fact of a run reports.
pub(crate) struct CallRepetition {
    /// The onset: the position at which the second copy begins.
    pub(crate) onset: Units,
    /// The length of a copy, in the unit of the onset. 0 without a period.
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

    /// Returns a repetition from call `onset` on, without a period.
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
