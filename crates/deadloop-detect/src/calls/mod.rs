//! What the guards on runs of agents share.
//!
//! | to find | look in |
//! |---|---|
//! | what an event is to a meter, and the fact that it makes | here: [`Run`], [`Saw`], [`fact`] |
//! | which calls are left out, and when everything is forgotten | `filter` |
//! | what of results is taken as equal, and what they say | `compare` |
//! | which results are the same although ids in them differ | `known`; what an id is: `ids` |
//! | a call kept until its result comes | `pairs`; the meter of detectors that count then: `counted` |
//! | how many equal things are in a row | `row` |
//! | what makes two calls the same | `key` |
//! | how often something is among the last ones | `window` |
//! | how long a stretch with a period is | `stretch` |
//! | what was said in a turn | `said` |
//! | what a result says: done, not yet, nothing, no | `says`, its words in `says.toml` |
//! | bad turns among the ended ones | `errors` |
//! | stop or warning | `tells` |
//! | measures that are emitted when they change | `told` |

use std::collections::VecDeque;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_128;

use crate::measure::fact::{Bound, Bounds, Clock, Fact};
use crate::stream::{Arguments, Calls, Cut, Event, EventPlace, Kind, TextChannel, Turns, Units};

mod compare;
mod counted;
mod errors;
mod filter;
mod ids;
mod key;
mod known;
mod pairs;
mod row;
mod said;
mod says;
mod stretch;
mod tells;
mod told;
mod window;

pub(crate) use compare::{Comparison, NORMALISE, folded, prefix, start_of};
pub(crate) use counted::{At, Counter, Next, counted};
pub(crate) use errors::Errors;
pub(crate) use filter::{ALLOW, Filter, RESET, sees_calls};
pub(crate) use key::{Key, key};
pub(crate) use known::{
    ARGUMENTS, KINDS, Known, STATELESS_CHARS, STATELESS_N, Same, VOLATILE, WAITING_N,
};
pub(crate) use pairs::{Asked, Pairs};
pub(crate) use row::{InRow, MANY, N, Row, n};
pub(crate) use said::Said;
pub(crate) use says::Says;
pub(crate) use stretch::Stretch;
pub(crate) use tells::{TELLS, TELLS_WARNING, WARN_AT, warned};
pub(crate) use told::Told;
pub(crate) use window::{Among, Measure, WINDOW, window, with_result};

/// Calls without a result that a meter keeps in mind; the oldest is forgotten for another.
pub(crate) const MAX_OPEN: usize = 1000;

/// Messages of users that a meter keeps in mind.
const MAX_HEARD: usize = 64;

/// The hash that stands for some texts: two different ones have one hash once in 2^128 pairs.
pub(crate) fn hash(parts: &[&str]) -> u128 {
    let mut all = Vec::new();
    for part in parts {
        all.extend((part.len() as u64).to_le_bytes());
        all.extend(part.as_bytes());
    }
    xxh3_128(&all)
}

/// A call as a meter sees it.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) name: &'a str,
    pub(crate) arguments: Arguments<'a>,
}

/// A result as a meter sees it.
#[derive(Clone, Copy)]
pub(crate) struct Answer<'a> {
    /// The number of its call, from 0.
    pub(crate) call: Calls,
    pub(crate) content: &'a str,
    pub(crate) error: bool,
    pub(crate) cut: Option<Cut<'a>>,
}

/// An event of a run, as a meter sees it.
pub(crate) enum Saw<'a> {
    /// A call that is not left out.
    Call(Call<'a>),
    /// The result of one.
    Result(Answer<'a>),
    /// A turn begins.
    Turn,
    /// The model thinks or answers; the text of arguments is in their call.
    Text(TextChannel, &'a str),
    /// A message of a user, before which nothing is forgotten.
    User,
    /// One before which everything that was seen is to be forgotten.
    Forget,
    /// Nothing that a guard looks at.
    Nothing,
}

/// A call that has no result yet.
struct Open {
    id: Option<u128>,
    call: Calls,
    left_out: bool,
}

/// Follows one run: which calls are left out, and which result is of which call.
///
/// A result of no call is ignored, so is a second one. Calls without an id are joined to results without one in
/// their order. An id that comes again stands for the newer call.
pub(crate) struct Run {
    filter: Arc<Filter>,
    /// Where the event that was seen last is.
    place: EventPlace,
    open: VecDeque<Open>,
    /// The hashes of what users said last.
    heard: VecDeque<u128>,
}

impl Run {
    pub(crate) fn new(filter: &Arc<Filter>) -> Self {
        Self {
            filter: Arc::clone(filter),
            place: EventPlace::default(),
            open: VecDeque::new(),
            heard: VecDeque::new(),
        }
    }

    /// Takes the next event.
    pub(crate) fn see<'a>(&mut self, event: &Event<'a>, place: EventPlace) -> Saw<'a> {
        self.place = place;
        match *event {
            Event::Call {
                id,
                name,
                arguments,
            } => self.issued(id, Call { name, arguments }),
            Event::Result {
                id,
                content,
                error,
                cut,
            } => match self.answered(id) {
                Some(call) => Saw::Result(Answer {
                    call,
                    content,
                    error: error.unwrap_or(false),
                    cut,
                }),
                None => Saw::Nothing,
            },
            Event::Turn { .. } => Saw::Turn,
            Event::Text(TextChannel::Arguments, _) => Saw::Nothing,
            Event::Text(channel, text) => Saw::Text(channel, text),
            Event::User(said) if self.filter.forgets => {
                let again = self.filter.only_news && self.hears(said);
                if again || place.turns == Turns(0) {
                    Saw::User
                } else {
                    Saw::Forget
                }
            }
            Event::User(_) => Saw::User,
            _ => Saw::Nothing,
        }
    }

    /// Keeps what a user says in mind; whether it stood before.
    fn hears(&mut self, said: &str) -> bool {
        let said = hash(&[said.trim()]);
        let again = self.heard.contains(&said);
        if !again {
            self.heard.truncate(MAX_HEARD - 1);
            self.heard.push_front(said);
        }
        again
    }

    fn issued<'a>(&mut self, id: Option<&str>, call: Call<'a>) -> Saw<'a> {
        let left_out = self.filter.allow.is_match(call.name);
        let id = id.map(|id| hash(&[id]));
        self.open.retain(|open| id.is_none() || open.id != id);
        if self.open.len() == MAX_OPEN {
            self.open.pop_front();
        }
        self.open.push_back(Open {
            id,
            call: self.call(),
            left_out,
        });
        if left_out {
            Saw::Nothing
        } else {
            Saw::Call(call)
        }
    }

    /// The number of the call whose result this is, unless it is left out.
    fn answered(&mut self, id: Option<&str>) -> Option<Calls> {
        let id = id.map(|id| hash(&[id]));
        let found = self.open.iter().position(|open| open.id == id)?;
        let open = self.open.remove(found)?;
        (!open.left_out).then_some(open.call)
    }

    /// The number of the event that was just seen, and where in the run it is.
    pub(crate) fn now(&self) -> (u64, Clock) {
        (self.place.event, Clock::Event(self.place))
    }

    /// The number of the call that was just issued, from 0.
    pub(crate) fn call(&self) -> Calls {
        self.place.calls.saturating_sub(Calls(1))
    }

    /// Calls issued, those of tools that are left out too.
    pub(crate) fn calls(&self) -> Calls {
        self.place.calls
    }

    /// Turns begun; at the beginning of a turn, those that have ended.
    pub(crate) fn ended(&self) -> Turns {
        self.place.turns
    }

    /// What is known now; see [`fact`].
    pub(crate) fn fact(
        &self,
        what: (Kind, &'static str),
        bounds: impl Into<Bounds>,
        seen: Repeat,
    ) -> Fact {
        fact(self.place, what, bounds, seen)
    }
}

/// What is known at an event, with the bounds of thresholds. Where it began, how long a copy
/// is, how many there are and what they say is in `seen`.
pub(crate) fn fact(
    place: EventPlace,
    (kind, check): (Kind, &'static str),
    bounds: impl Into<Bounds>,
    seen: Repeat,
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

/// What repeats, for an alarm to say.
pub(crate) struct Repeat {
    /// Where the second copy begins.
    pub(crate) onset: Units,
    /// The length of one, in the same unit; 0: there are no copies.
    pub(crate) period: Units,
    /// How many there are.
    pub(crate) copies: u64,
    /// What one says.
    pub(crate) unit: String,
}

impl Repeat {
    /// One thing from `onset` on, with no period.
    pub(crate) fn once<U: Into<Units> + Default>(onset: U, unit: String) -> Self {
        Self {
            onset: onset.into(),
            period: U::default().into(),
            copies: 1,
            unit,
        }
    }

    /// Calls that repeat from the call with number `onset` on, with no period.
    pub(crate) fn calls(onset: Calls, copies: u64, unit: String) -> Self {
        Self {
            onset: onset.into(),
            period: Calls(0).into(),
            copies,
            unit,
        }
    }
}

/// A count as a bound is compared.
pub(crate) fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// `name(arguments)`, cut to what a fact keeps of a unit.
pub(crate) fn unit(name: &str, arguments: Arguments<'_>) -> String {
    let text = arguments.text();
    let whole = name.chars().chain(['(']).chain(text.chars()).chain([')']);
    whole.take(crate::measure::fact::UNIT_CHARS).collect()
}
