//! `cycle`: the same few tool calls in turn. It alarms at the call, before it is run.
//!
//! A meter keeps the hashes of as many calls as the longest period has, and for each period the length of the
//! stretch that has it.

use std::sync::Arc;

use super::{Detector, Measuring, Refusal, Sample};
use crate::fact::Fact;
use crate::meter::{Meter, Recipe};
use crate::param::Param;
use crate::params::Params;
use crate::row::MANY;
use crate::run::sample::call;
use crate::run::{
    ALLOW, Call, Key, Look, NORMALISE, RESET, Repeat, Run, Saw, Stretch, key, number, sees_calls,
    unit,
};
use crate::spec::Spec;
use crate::stream::{Calls, Channel, Event, EventPlace, Kind};

/// The registry entry.
pub(super) static ENTRY: Detector = Detector {
    spec: Spec {
        name: "cycle",
        version: 1,
        about: "the same few tool calls in turn",
        exactly: include_str!("exactly.md"),
        params: &[
            REPEATS, MIN_PERIOD, MAX_PERIOD, KEY, ALLOW, RESET, NORMALISE,
        ],
        presets: include_str!("presets.toml"),
        check,
    },
    grid: include_str!("grid.toml"),
    fires: Sample::Run(&FIRES),
    quiet: Sample::Run(&QUIET),
    ..Detector::measuring(Measuring::Run(Channel::Tools, recipe))
};

const A: Event<'static> = call("read", r#"{"file":"a"}"#);
const B: Event<'static> = call("read", r#"{"file":"b"}"#);
const C: Event<'static> = call("read", r#"{"file":"c"}"#);

static FIRES: [Event<'static>; 10] = [A, B, A, B, A, B, A, B, A, B];

/// Four times over, then another call.
static QUIET: [Event<'static>; 10] = [A, B, A, B, A, B, A, B, A, C];

const REPEATS: Param = Param::count("repeats", 5, MANY)
    .copies()
    .unit("copies")
    .doc("copies of the cycle in a row, the first included");

/// The longest cycle that a setting may ask for.
const LONGEST: i64 = 100;

const MIN_PERIOD: Param = Param::count("min_period", 1, 1..=LONGEST)
    .at_most()
    .unit("calls")
    .doc("the shortest cycle that counts");

const MAX_PERIOD: Param = Param::count("max_period", 5, 1..=LONGEST)
    .unit("calls")
    .doc("the longest cycle that is looked for");

const KEY: Param = key("raw");

/// No cycle is longer than the longest and shorter than the shortest.
fn check(params: &Params) -> Result<(), Refusal> {
    let (min, max) = (params.int(MIN_PERIOD.name), params.int(MAX_PERIOD.name));
    if min > max {
        let reason = format!(
            "{min} is above max_period {max}: no cycle counts, this setting can never fire"
        );
        return Err(Refusal {
            param: MIN_PERIOD.name,
            reason,
        });
    }
    sees_calls(params)
}

fn recipe(params: &Params) -> Recipe {
    let look = Arc::new(Look::new(params));
    let key = Key::from(params);
    let least = params.int(REPEATS.name);
    let periods = params.count(MIN_PERIOD.name)..=params.count(MAX_PERIOD.name);
    Recipe::run(move || {
        Box::new(CycleMeter {
            run: Run::new(Arc::clone(&look)),
            key,
            least,
            stretch: Stretch::new(*periods.end()),
            periods: periods.clone(),
        })
    })
}

/// Follows one run.
struct CycleMeter {
    run: Run,
    key: Key,
    /// The fewest copies that the loosest setting accepts.
    least: i64,
    periods: std::ops::RangeInclusive<u64>,
    stretch: Stretch,
}

impl Meter for CycleMeter {
    fn push(&mut self, event: &Event<'_>, place: EventPlace, facts: &mut Vec<Fact>) {
        match self.run.see(event, place) {
            Saw::Call(call) => {
                self.stretch.push(self.key.of(&call), self.run.call());
                let periods = self.periods.clone();
                facts.extend(periods.filter_map(|period| self.fact(period, &call)));
            }
            Saw::Forget => self.stretch.clear(),
            _ => {}
        }
    }
}

impl CycleMeter {
    /// The fact that the stretch with a period has just got another whole copy.
    fn fact(&self, period: u64, call: &Call<'_>) -> Option<Fact> {
        let copies = self.stretch.copies(period);
        let whole = self.stretch.length(period).is_multiple_of(period);
        if !whole || copies < self.least {
            return None;
        }
        let kind = match period {
            1 => Kind::IdenticalCall,
            _ => Kind::Cycle,
        };
        let seen = Repeat {
            onset: self.stretch.second(period).into(),
            period: Calls(period).into(),
            copies: copies.unsigned_abs(),
            unit: unit(call.name, call.arguments),
        };
        let bounds = vec![copies, number(period)];
        Some(self.run.fact((kind, "cycle"), bounds, seen))
    }
}
