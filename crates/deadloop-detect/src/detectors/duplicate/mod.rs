//! `duplicate`: the same tool call over and over, told at the call, before it is run.
//!
//! Two calls are the same when their keys are: the tool's name, or its name and arguments as JSON values, or
//! its name and the text of its arguments. Parallel calls count each. A meter keeps one hash and a count.

use std::sync::Arc;

use super::{Detector, Measure, Response, Sample};
use crate::fact::Fact;
use crate::meter::{Meter, Recipe};
use crate::param::{Domain, Mark, Param};
use crate::row::{N, Row};
use crate::run::{ALLOW, Call, Look, NORMALISE, RESET, Run, Saw, hash, unit};
use crate::setting::Params;
use crate::stream::{Arguments, Channel, Event, Kind};
use crate::value::Literal;

/// The registry entry.
pub(super) static ENTRY: Detector = Detector {
    name: "duplicate",
    version: 1,
    about: "the same tool call so many times in a row, before the last of them runs",
    exactly: include_str!("exactly.md"),
    params: &[N, KEY, ALLOW, RESET, NORMALISE],
    presets: include_str!("presets.toml"),
    check: |_| Ok(()),
    measure: Measure::Run(Channel::Tools, recipe),
    grid: include_str!("grid.toml"),
    response: Response::Stop,
    fires: Sample::Run(&FIRES),
    quiet: Sample::Run(&QUIET),
};

const fn call(arguments: &'static str) -> Event<'static> {
    Event::Call {
        id: None,
        name: "search",
        arguments: Arguments::Raw(arguments),
    }
}

/// White space and the order of keys are no difference.
static FIRES: [Event<'static>; 3] = [
    call(r#"{"q": "x", "n": 1}"#),
    call(r#"{"q": "x", "n": 1}"#),
    call(r#"{"n":1,"q":"x"}"#),
];

/// Another call stands between.
static QUIET: [Event<'static>; 4] = [
    call(r#"{"q": "x"}"#),
    call(r#"{"q": "x"}"#),
    call(r#"{"q": "y"}"#),
    call(r#"{"q": "x"}"#),
];

const KEY: Param = Param {
    name: "key",
    mark: Mark::Structural,
    default: Literal::Text("call"),
    domain: Domain::Word(&["name", "call", "raw"]),
    unit: "",
    doc: "what two calls have in common: the tool; the tool and its arguments; the same, the text as written",
};

#[derive(Clone, Copy)]
enum Key {
    Name,
    Call,
    Raw,
}

impl Key {
    fn of(self, call: &Call<'_>) -> u128 {
        match self {
            Self::Name => hash(&[call.name]),
            Self::Call => hash(&[call.name, &call.arguments.canonical()]),
            Self::Raw => hash(&[call.name, &call.arguments.text()]),
        }
    }
}

fn recipe(params: &Params) -> Recipe {
    let look = Arc::new(Look::new(params));
    let least = params.count(N.name);
    let key = match params.text(KEY.name) {
        "name" => Key::Name,
        "raw" => Key::Raw,
        _ => Key::Call,
    };
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
    fn push(&mut self, event: &Event<'_>, facts: &mut Vec<Fact>) {
        match self.run.see(event) {
            Saw::Call(call) => {
                self.row.push(self.key.of(&call), self.run.call());
                let what = (Kind::IdenticalCall, || unit(call.name, call.arguments));
                facts.extend(self.row.fact(self.least, self.run.now(), what));
            }
            Saw::Forget => self.row = Row::default(),
            Saw::Result(_) | Saw::Nothing => {}
        }
    }
}
