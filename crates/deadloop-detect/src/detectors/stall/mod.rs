//! `stall`: a stream that falls silent.
//!
//! The detector has no clock. The caller pushes [`Event::Silence`], which holds the time since the last other event.

use super::Measurement;
use super::entry::detector;
use crate::calls::{CallRepetition, fact, number};
use crate::measure::fact::Fact;
use crate::measure::meter::{Meter, Recipe};
use crate::settings::param::Param;
use crate::stream::{Channel, Event, EventPlace, Fault, Kind};

detector! {
    ENTRY = "stall", version 1,
    "nothing comes for a number of milliseconds",
    params: &PARAMS,
    check: |_| Ok(()),
    measure: Measurement::Run(Channel::Answer, |_| { Recipe::run(|| Box::new(StallMeter::default())) }),
    faults: &[Fault::Stall],
}

static PARAMS: [Param; 2] = [
    millis(
        "idle_ms",
        30_000,
        "silence after the last event of the model",
    ),
    millis("first_ms", 60_000, "silence before its first event"),
];

const fn millis(name: &'static str, default: i64, doc: &'static str) -> Param {
    Param::count(name, default, 1000..=3_600_000)
        .at_most()
        .unit("ms")
        .doc(doc)
}

/// A meter of one stream.
#[derive(Default)]
struct StallMeter {
    /// Whether the model has produced text or a call.
    begun: bool,
}

impl Meter for StallMeter {
    fn push(&mut self, event: &Event<'_>, place: EventPlace, facts: &mut Vec<Fact>) {
        match event {
            Event::Text(..) | Event::Call { .. } => self.begun = true,
            Event::Silence(millis) => {
                let asked = if self.begun { "idle_ms" } else { "first_ms" };
                let bounds = [(asked, number(*millis))];
                let kind = (Kind::Fault(Fault::Stall), "silence");
                let seen = CallRepetition::single(place.answer, format!("{millis} ms"));
                facts.push(fact(place, kind, bounds, seen));
            }
            _ => {}
        }
    }
}
