//! `duplicate`: the same tool call over and over. It alarms at the call, before it is run.
//!
//! Two calls are the same when their keys are: the tool's name, or its name and arguments as JSON values, or
//! its name and the text of its arguments. Parallel calls count each. A meter keeps one hash and a count.

use std::collections::HashMap;
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
        params: &[N, KEY, ALLOW, RESET, NORMALISE, OPEN],
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

const OPEN: Param = Param::flag("open", false).doc(
    "true: equal calls of one message are counted, whatever stands between them; a result ends it",
);

/// Different calls of one message that are counted; those behind them are not.
const MAX_OPEN: usize = 1000;

fn recipe(params: &Params) -> Recipe {
    let look = Arc::new(Look::new(params));
    let least = params.count(N.name);
    let key = Key::from(params);
    let open = params.flag(OPEN.name);
    Recipe::run(move || {
        Box::new(DuplicateMeter {
            run: Run::new(Arc::clone(&look)),
            key,
            least,
            open,
            rows: HashMap::new(),
        })
    })
}

/// Follows one run.
struct DuplicateMeter {
    run: Run,
    key: Key,
    /// The shortest row that the loosest setting accepts.
    least: u64,
    /// Counts the calls of one message.
    open: bool,
    /// The row that goes on; of one message the calls, by their keys.
    rows: HashMap<u128, Row>,
}

impl Meter for DuplicateMeter {
    fn push(&mut self, event: &Event<'_>, place: EventPlace, facts: &mut Vec<Fact>) {
        match self.run.see(event, place) {
            Saw::Call(call) => {
                let key = self.key.of(&call);
                let row = if self.open { key } else { 0 };
                if self.rows.len() == MAX_OPEN && !self.rows.contains_key(&row) {
                    return;
                }
                let row = self.rows.entry(row).or_default();
                row.push(key, self.run.call());
                let what = (Kind::IdenticalCall, || unit(call.name, call.arguments));
                facts.extend(row.fact(self.least, self.run.now(), what));
            }
            Saw::Forget => self.rows.clear(),
            Saw::Result(_) | Saw::Turn if self.open => self.rows.clear(),
            _ => {}
        }
    }
}
