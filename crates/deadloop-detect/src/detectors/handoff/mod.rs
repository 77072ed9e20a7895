//! `handoff`: only a few agents had the last turns. It alarms before a turn.
//!
//! A meter keeps the hashes of the agents in its window.

use std::sync::Arc;

use super::{Detector, Measuring, Refusal, Sample};
use crate::fact::Fact;
use crate::meter::{Meter, Recipe};
use crate::param::Param;
use crate::params::Params;
use crate::run::sample::turn;
use crate::run::{
    ALLOW, Look, NORMALISE, RESET, Repeat, Run, Saw, Told, WINDOW as LONGEST, Window, hash, window,
};
use crate::spec::Spec;
use crate::stream::{Channel, Event, EventPlace, Kind, Turns};

/// The registry entry.
pub(super) static ENTRY: Detector = Detector {
    spec: Spec {
        name: "handoff",
        version: 1,
        about: "few agents among those of the last turns",
        exactly: include_str!("exactly.md"),
        params: &[MIN_UNIQUE, WINDOW, ALLOW, RESET, NORMALISE],
        presets: include_str!("presets.toml"),
        check,
    },
    grid: include_str!("grid.toml"),
    fires: Sample::Run(&FIRES),
    quiet: Sample::Run(&QUIET),
    ..Detector::measuring(Measuring::Run(Channel::Turns, recipe))
};

const A: Event<'static> = turn("writer");
const B: Event<'static> = turn("critic");
const C: Event<'static> = turn("planner");

static FIRES: [Event<'static>; 8] = [A, B, A, B, A, B, A, B];

/// A third agent had one of the last eight turns.
static QUIET: [Event<'static>; 9] = [A, B, C, A, B, A, B, A, B];

const MIN_UNIQUE: Param = Param::count("min_unique", 3, 2..=LONGEST)
    .at_least()
    .unit("agents")
    .doc("fewer different ones than this");

const WINDOW: Param = window(8, "turns", "how many of the last ones are looked at");

/// A window has at most as many agents as it has turns.
fn check(params: &Params) -> Result<(), Refusal> {
    let (least, window) = (params.int(MIN_UNIQUE.name), params.int(WINDOW.name));
    if least > window {
        let reason = format!(
            "the last {window} turns (window) have always fewer than {least} agents: this setting fires always"
        );
        return Err(Refusal {
            param: MIN_UNIQUE.name,
            reason,
        });
    }
    Ok(())
}

fn recipe(params: &Params) -> Recipe {
    let look = Arc::new(Look::new(params));
    let most = params.int(MIN_UNIQUE.name);
    let window = params.count(WINDOW.name);
    Recipe::run(move || {
        Box::new(HandoffMeter {
            run: Run::new(Arc::clone(&look)),
            most,
            window: Window::new(window),
            told: Told::default(),
        })
    })
}

/// Follows one run.
struct HandoffMeter {
    run: Run,
    /// The highest number that the loosest setting asks for.
    most: i64,
    window: Window,
    told: Told,
}

impl Meter for HandoffMeter {
    fn push(&mut self, event: &Event<'_>, place: EventPlace, facts: &mut Vec<Fact>) {
        match self.run.see(event, place) {
            Saw::Turn(Some(agent)) if !agent.is_empty() => facts.extend(self.begins(agent)),
            Saw::Forget => {
                self.window.clear();
                self.told = Told::default();
            }
            _ => {}
        }
    }
}

impl HandoffMeter {
    fn begins(&mut self, agent: &str) -> Option<Fact> {
        self.window.push(hash(&[agent]), self.run.ended().into());
        // More than there are is asked for.
        let bound = self.window.distinct()?.saturating_add(1);
        if !self.told.is_news(bound, bound <= self.most) {
            return None;
        }
        let now = self.run.ended().into();
        let seen = Repeat {
            onset: self.window.first_again().unwrap_or(now),
            period: Turns(0).into(),
            copies: 0,
            unit: agent.to_owned(),
        };
        Some(self.run.fact((Kind::Handoff, "agents"), vec![bound], seen))
    }
}
