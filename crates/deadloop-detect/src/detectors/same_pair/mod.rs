//! `same-pair`: the same tool call with the same result over and over, told at the result.
//!
//! A pair is a call and its result, and stands where the result came. A meter keeps the hash of the last pair,
//! a count, and of at most 1,000 calls that have no result yet a hash each.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{Detector, Measure, Response, Sample};
use crate::fact::Fact;
use crate::meter::{Meter, Recipe};
use crate::param::{Domain, Mark, Param};
use crate::row::{N, Row};
use crate::run::{
    ALLOW, Answer, Call, Look, MAX_OPEN, NORMALISE, RESET, Run, Saw, hash, id_of, unit,
};
use crate::setting::Params;
use crate::stream::{Arguments, Calls, Channel, Event, Kind};
use crate::value::Literal;

/// The registry entry.
pub(super) static ENTRY: Detector = Detector {
    name: "same-pair",
    version: 1,
    about: "the same tool call with the same result so many times in a row",
    exactly: include_str!("exactly.md"),
    params: &[N, FAILURE_ONLY, ALLOW, RESET, NORMALISE],
    presets: include_str!("presets.toml"),
    check: |_| Ok(()),
    measure: Measure::Run(Channel::Tools, recipe),
    grid: include_str!("grid.toml"),
    response: Response::Stop,
    fires: Sample::Run(&FIRES),
    quiet: Sample::Run(&QUIET),
};

const CALL: Event<'static> = Event::Call {
    id: None,
    name: "ls",
    arguments: Arguments::Raw("{}"),
};

const fn result(content: &'static str) -> Event<'static> {
    Event::Result {
        id: None,
        content,
        error: None,
        cut: None,
    }
}

static FIRES: [Event<'static>; 6] = [
    CALL,
    result("a.txt"),
    CALL,
    result("a.txt"),
    CALL,
    result("a.txt"),
];

/// The third result is news.
static QUIET: [Event<'static>; 6] = [
    CALL,
    result("a.txt"),
    CALL,
    result("a.txt"),
    CALL,
    result("a.txt b.txt"),
];

const FAILURE_ONLY: Param = Param {
    name: "failure_only",
    mark: Mark::Structural,
    default: Literal::Bool(false),
    domain: Domain::Flag,
    unit: "",
    doc: "true: only pairs whose result is an error",
};

fn recipe(params: &Params) -> Recipe {
    let look = Arc::new(Look::new(params));
    let least = params.count(N.name);
    let failures = params.flag(FAILURE_ONLY.name);
    Recipe::run(move || {
        Box::new(PairMeter {
            run: Run::new(Arc::clone(&look)),
            look: Arc::clone(&look),
            failures,
            least,
            open: VecDeque::new(),
            row: Row::default(),
        })
    })
}

/// A call that has no result yet.
struct Open {
    id: u128,
    key: u128,
    /// Its number, from 0.
    call: Calls,
    unit: String,
}

/// Follows one run.
struct PairMeter {
    run: Run,
    look: Arc<Look>,
    failures: bool,
    /// The shortest row that the loosest setting accepts.
    least: u64,
    open: VecDeque<Open>,
    row: Row,
}

impl Meter for PairMeter {
    fn push(&mut self, event: &Event<'_>, facts: &mut Vec<Fact>) {
        match self.run.see(event) {
            Saw::Call(call) => self.issued(&call),
            Saw::Result(answer) => facts.extend(self.answered(&answer)),
            Saw::Forget => {
                self.open.clear();
                self.row = Row::default();
            }
            Saw::Nothing => {}
        }
    }
}

impl PairMeter {
    fn issued(&mut self, call: &Call<'_>) {
        let id = id_of(call.id);
        // An id that comes again stands for the newer call.
        self.open.retain(|open| call.id.is_none() || open.id != id);
        if self.open.len() == MAX_OPEN {
            self.open.pop_front();
        }
        self.open.push_back(Open {
            id,
            key: hash(&[call.name, &call.arguments.canonical()]),
            call: self.run.call(),
            unit: unit(call.name, call.arguments),
        });
    }

    /// The fact of a result, unless it is of no call.
    fn answered(&mut self, answer: &Answer<'_>) -> Option<Fact> {
        let id = id_of(answer.id);
        let found = self.open.iter().position(|open| open.id == id)?;
        let open = self.open.remove(found)?;
        let result = self.look.result(answer.content, answer.cut);
        let error = if answer.error { "error" } else { "" };
        let pair = hash(&[&open.key.to_string(), error, &result]);
        self.row.push(pair, open.call);
        let what = (Kind::SameCallSameResult, || open.unit);
        let fact = self.row.fact(self.least, self.run.now(), what);
        fact.filter(|_| answer.error || !self.failures)
    }
}
