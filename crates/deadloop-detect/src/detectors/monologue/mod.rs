//! `monologue`: turn after turn without a tool call. It alarms when the next turn begins.
//!
//! A meter keeps the hash and the first chars of one turn's text, and a count.

use std::sync::Arc;

use super::{Detector, Measuring, Sample};
use crate::fact::Fact;
use crate::meter::{Meter, Recipe};
use crate::param::Param;
use crate::params::Params;
use crate::row::n;
use crate::run::sample::{TURN, say};
use crate::run::{ALLOW, Look, NORMALISE, RESET, Repeat, Run, Said, Saw, number};
use crate::spec::Spec;
use crate::stream::{Channel, Event, EventPlace, Kind, Turns};

/// The registry entry.
pub(super) static ENTRY: Detector = Detector {
    spec: Spec {
        name: "monologue",
        version: 1,
        about: "turn after turn without a tool call",
        exactly: include_str!("exactly.md"),
        params: &[N, EQUAL, ALLOW, RESET, NORMALISE],
        presets: include_str!("presets.toml"),
        ..Spec::PLAIN
    },
    grid: include_str!("grid.toml"),
    fires: Sample::Run(&FIRES),
    quiet: Sample::Run(&QUIET),
    ..Detector::measuring(Measuring::Run(Channel::Turns, recipe))
};

const DONE: Event<'static> = say("I am done.");

static FIRES: [Event<'static>; 7] = [TURN, DONE, TURN, DONE, TURN, DONE, TURN];

/// A user speaks between.
static QUIET: [Event<'static>; 8] = [
    TURN,
    DONE,
    TURN,
    DONE,
    Event::User("then go on"),
    TURN,
    DONE,
    TURN,
];

const N: Param = n(3, "turns", "turns in a row without a call");

const EQUAL: Param = Param::flag("equal", true).doc("true: only turns with the same text");

fn recipe(params: &Params) -> Recipe {
    let look = Arc::new(Look::new(params));
    let least = params.int(N.name);
    let equal = params.flag(EQUAL.name);
    Recipe::run(move || {
        Box::new(MonologueMeter {
            run: Run::new(Arc::clone(&look)),
            equal,
            least,
            turn: None,
            row: Silent::default(),
        })
    })
}

/// Follows one run.
struct MonologueMeter {
    run: Run,
    equal: bool,
    /// The shortest row that the loosest setting accepts.
    least: i64,
    /// The turn that goes on; `None` where no turn does, or a user spoke in it.
    turn: Option<Turn>,
    row: Silent,
}

#[derive(Default)]
struct Turn {
    said: Said,
    acted: bool,
}

/// A row of turns without a call.
#[derive(Default)]
struct Silent {
    text: u128,
    length: u64,
    /// The second of them.
    second: Turns,
}

impl Meter for MonologueMeter {
    fn push(&mut self, event: &Event<'_>, place: EventPlace, facts: &mut Vec<Fact>) {
        match self.run.see(event, place) {
            Saw::Text(_, text) => self.turn.iter_mut().for_each(|turn| turn.said.push(text)),
            Saw::Call(_) => self.turn.iter_mut().for_each(|turn| turn.acted = true),
            Saw::Turn(_) => {
                if let Some(turn) = self.turn.replace(Turn::default()) {
                    facts.extend(self.ended(&turn));
                }
            }
            Saw::User | Saw::Forget => (self.turn, self.row) = (None, Silent::default()),
            Saw::Result(_) | Saw::Nothing => {}
        }
    }
}

impl MonologueMeter {
    fn ended(&mut self, turn: &Turn) -> Option<Fact> {
        if turn.acted {
            self.row = Silent::default();
            return None;
        }
        let row = &mut self.row;
        let text = if self.equal { turn.said.hash() } else { 0 };
        if row.text != text {
            (row.text, row.length) = (text, 0);
        }
        row.length += 1;
        if row.length == 2 {
            row.second = self.run.ended().saturating_sub(Turns(1));
        }
        let length = number(row.length);
        let seen = Repeat {
            onset: row.second.into(),
            period: Turns(1).into(),
            copies: row.length,
            unit: turn.said.head().to_owned(),
        };
        let kind = (Kind::Monologue, "row");
        (length >= self.least).then(|| self.run.fact(kind, vec![length], seen))
    }
}
