//! `duplicate`: the same tool call over and over. It alarms at the call, before it is run.
//!
//! Two calls are the same when their keys are: the tool's name, or its name and arguments as JSON values, or
//! its name and the text of its arguments. Parallel calls count each. A meter keeps one hash and a count.

use std::sync::Arc;

use super::{Detector, Measuring, Sample};
use crate::fact::Fact;
use crate::meter::{Meter, Recipe};
use crate::param::Param;
use crate::params::Params;
use crate::row::{N, Row};
use crate::run::sample::call;
use crate::run::{ALLOW, Key, Look, NORMALISE, RESET, Run, Saw, key, sees_calls, unit};
use crate::spec::Spec;
use crate::stream::{Channel, Event, EventPlace, Kind};

/// The registry entry.
pub(super) static ENTRY: Detector = Detector {
    spec: Spec {
        name: "duplicate",
        version: 1,
        about: "the same tool call in a row: told before it runs",
        exactly: include_str!("exactly.md"),
        params: &[N, KEY, ALLOW, RESET, NORMALISE],
        presets: include_str!("presets.toml"),
        check: sees_calls,
    },
    grid: include_str!("grid.toml"),
    fires: Sample::Run(&FIRES),
    quiet: Sample::Run(&QUIET),
    ..Detector::measuring(Measuring::Run(Channel::Tools, recipe))
};

/// White space and the order of keys are no difference.
static FIRES: [Event<'static>; 3] = [
    call("search", r#"{"q": "x", "n": 1}"#),
    call("search", r#"{"q": "x", "n": 1}"#),
    call("search", r#"{"n":1,"q":"x"}"#),
];

/// Another call came in between.
static QUIET: [Event<'static>; 4] = [
    call("search", r#"{"q": "x"}"#),
    call("search", r#"{"q": "x"}"#),
    call("search", r#"{"q": "y"}"#),
    call("search", r#"{"q": "x"}"#),
];

const KEY: Param = key("call");

fn recipe(params: &Params) -> Recipe {
    let look = Arc::new(Look::new(params));
    let least = params.count(N.name);
    let key = Key::from(params);
    Recipe::run(move || {
        Box::new(DuplicateMeter {
            run: Run::new(Arc::clone(&look)),
            key,
            least,
            row: Row::default(),
        })
    })
}

/// Follows one run.
struct DuplicateMeter {
    run: Run,
    key: Key,
    /// The shortest row that the loosest setting accepts.
    least: u64,
    row: Row,
}

impl Meter for DuplicateMeter {
    fn push(&mut self, event: &Event<'_>, place: EventPlace, facts: &mut Vec<Fact>) {
        match self.run.see(event, place) {
            Saw::Call(call) => {
                self.row.push(self.key.of(&call), self.run.call());
                let what = (Kind::IdenticalCall, || unit(call.name, call.arguments));
                facts.extend(self.row.fact(self.least, self.run.now(), what));
            }
            Saw::Forget => self.row = Row::default(),
            _ => {}
        }
    }
}
