//! `stall`: a stream that falls silent.
//!
//! There is no clock in here: whoever has one pushes [`Event::Silence`], which holds the total since the last
//! event.

use super::{Detector, Measuring, Sample};
use crate::fact::Fact;
use crate::meter::{Meter, Recipe};
use crate::param::{Param, Threshold};
use crate::run::{Repeat, fact, number};
use crate::spec::Spec;
use crate::stream::{Channel, Event, EventPlace, Fault, Kind, TextChannel};

/// The registry entry.
pub(super) static ENTRY: Detector = Detector {
    spec: Spec {
        name: "stall",
        version: 1,
        about: "nothing comes for a number of milliseconds",
        exactly: "At each `Silence` event, which whoever has a clock pushes and which holds the milliseconds since the last \
              event: it fires where they are at least `idle_ms`, or before the first text or call at least `first_ms`. A \
              recording has a silence wherever a model's event comes a second or more after the one before it; the time \
              that a tool takes is none.\n\n- A longer silence after a shorter one is the same one: each holds the \
              total.\n- Kind: stall. The position is the chars of the answer so far.\n",
        params: &PARAMS,
        presets: "# Presets of the stall detector: none so far.\n",
        ..Spec::PLAIN
    },
    notices: &[Fault::Stall],
    grid: "# Silences of 5 to 120 seconds.\n\n[[guard]]\ndetector = \"stall\"\n\n[guard.params]\nidle_ms  = [5000, 10000, \
           15000, 20000, 30000, 45000, 60000, 90000, 120000]\nfirst_ms = [10000, 30000, 60000, 120000]\n",
    fires: Sample::Run(&FIRES),
    quiet: Sample::Run(&QUIET),
    ..Detector::measuring(Measuring::Run(Channel::Answer, |_| {
        Recipe::run(|| Box::new(Stall::default()))
    }))
};

static FIRES: [Event<'static>; 2] = [
    Event::Text(TextChannel::Answer, "It is"),
    Event::Silence(45_000),
];
static QUIET: [Event<'static>; 4] = [
    Event::Silence(20_000),
    Event::Text(TextChannel::Answer, "It is"),
    Event::Silence(9_000),
    Event::Text(TextChannel::Answer, " four."),
];

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

/// Follows one stream.
#[derive(Default)]
struct Stall {
    /// Whether the model has said or called anything.
    begun: bool,
}

impl Meter for Stall {
    fn push(&mut self, event: &Event<'_>, place: EventPlace, facts: &mut Vec<Fact>) {
        match event {
            Event::Text(..) | Event::Call { .. } => self.begun = true,
            Event::Silence(millis) => {
                let (held, any) = (number(*millis), Threshold::AT_MOST.always());
                let bounds = if self.begun { [held, any] } else { [any, held] };
                let kind = (Kind::Fault(Fault::Stall), "silence");
                let seen = Repeat::once(place.answer, format!("{millis} ms"));
                facts.push(fact(place, kind, bounds.to_vec(), seen));
            }
            _ => {}
        }
    }
}
