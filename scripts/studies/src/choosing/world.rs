//! A world of models with known true rates, and labels drawn from it.

use std::ops::Range;

use deadloop_score::Case;
use deadloop_score::replay::corpus::{Body, Entry, Place, RecordedEvent, Transcript};
use deadloop_score::replay::detect::{Channel, Chars, Kind};
use deadloop_score::replay::{Cursor, Decided, Grid, Moment, Plan, Record, Region, Seen, Stop};
use serde_json::{Value, json};
use statrs::function::erf::erfc;

/// Seeded draws: splitmix64 (Steele, Lea, Flood 2014).
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A whole number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.unit() * n as f64) as usize
    }

    /// Standard normal (Box and Muller 1958).
    fn normal(&mut self) -> f64 {
        let (u, v) = (1.0 - self.unit(), self.unit());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }
}

/// The settings: two thresholds, each rising.
const GRID: &str = "[[guard]]\ndetector = \"checkpoint\"\n[guard.params]\n\
    min_matches = { from = 3, to = 14, step = 1 }\nmin_cycles = [1, 2, 3, 4]\n";

/// A strength is lognormal; the `i`-th value of a threshold asks for more than `i`-th.
#[derive(Clone, Copy)]
struct Strength {
    middle: f64,
    sigma: f64,
}

impl Strength {
    fn draw(self, draw: &mut Draw) -> f64 {
        (self.middle + self.sigma * draw.normal()).exp()
    }

    /// The probability of at least `x`.
    fn reaches(self, x: f64) -> f64 {
        0.5 * erfc((x.ln() - self.middle) / self.sigma / std::f64::consts::SQRT_2)
    }
}

/// What one model's text looks like to the detector: two strengths of its loops, two of its healthy
/// text.
pub(crate) struct Model {
    loops: [Strength; 2],
    clean: [Strength; 2],
}

/// What the values of the two thresholds ask for.
fn asked(axis: usize, value: usize) -> f64 {
    [1.0 + value as f64, 1.0 + 0.5 * value as f64][axis]
}

const ONSET: u64 = 1000;
const LOOP_END: u64 = 20_000;
const CLEAN: u64 = 32_000;

/// The chars of a loop.
pub(crate) const LENGTH: f64 = (LOOP_END - ONSET) as f64;

/// What a wrong alarm costs besides what is generated again, chars: with that about one loop.
pub(crate) const ANNOYANCE: f64 = 16_000.0;

/// How long a loop runs under the `i`-th value of the first threshold before the alarm.
fn delay(value: usize) -> u64 {
    400 + 600 * value as u64
}

impl Model {
    /// Drawn about a common middle.
    pub(crate) fn draw(apart: f64, draw: &mut Draw) -> Self {
        let mut strength = |middle: f64, sigma| Strength {
            middle: middle + apart * draw.normal(),
            sigma,
        };
        Self {
            loops: [strength(2.2, 0.7), strength(1.2, 0.5)],
            clean: [strength(0.2, 0.7), strength(0.3, 0.4)],
        }
    }

    /// The true share of looping chars that are saved by a cell, and the chars that it wastes on a clean transcript.
    pub(crate) fn truth(&self, at: &[u16]) -> (f64, f64) {
        let at = [usize::from(at[0]), usize::from(at[1])];
        let both = |s: [Strength; 2]| s[0].reaches(asked(0, at[0])) * s[1].reaches(asked(1, at[1]));
        let gain = 1.0 - delay(at[0]) as f64 / (LOOP_END - ONSET) as f64;
        let wasted = (ONSET + delay(at[0])) as f64 + ANNOYANCE;
        (gain * both(self.loops), wasted * both(self.clean))
    }

    fn decided(&self, looping: bool, draw: &mut Draw) -> Decided {
        let strengths = if looping { self.loops } else { self.clean };
        let [a, b] = strengths.map(|s| s.draw(draw));
        let reached = |axis: usize, n: usize, x: f64| {
            (0..n).filter(|value| asked(axis, *value) <= x).count() as u16
        };
        let (first, second) = (reached(0, 12, a), reached(1, 4, b));
        let mut decided = Decided::default();
        for value in (0..first).take_while(|_| second > 0) {
            let at = ONSET + delay(usize::from(value));
            decided.stops.push(stop(at));
            decided.regions.push(Region {
                lo: vec![value, 0],
                hi: vec![value + 1, second],
                stop: usize::from(value),
            });
        }
        decided
    }
}

fn stop(at: u64) -> Stop {
    let moment = Moment {
        place: Cursor::default(),
        seen: Seen {
            reasoning: Chars(0),
            answer: Chars(at),
            ..Seen::default()
        },
        t_ms: None,
        tokens: None,
    };
    Stop {
        channel: Channel::Answer,
        kind: Kind::Paragraph,
        member: 0,
        exact: moment,
        delivered: moment,
    }
}

/// The plan of all cells.
pub(crate) fn plan() -> Result<(Plan, Range<usize>), Box<dyn std::error::Error>> {
    let mut plan = Plan::default();
    let cells = plan.add_grid(&Grid::parse(GRID)?)?;
    Ok((plan, cells))
}

/// The transcripts of models with so many loops and as many clean ones each.
pub(crate) fn cases(sizes: &[usize]) -> Vec<Case> {
    let mut cases = Vec::new();
    for (m, n) in sizes.iter().enumerate() {
        for i in 0..*n {
            let label = json!([{"class": "loop", "kind": "paragraph", "channel": "answer", "onset": ONSET}]);
            cases.push(case(&format!("m{m}/loop{i}"), m, LOOP_END, label));
            cases.push(case(
                &format!("m{m}/clean{i}"),
                m,
                CLEAN,
                json!([{"class": "clean"}]),
            ));
        }
    }
    cases
}

fn case(id: &str, model: usize, chars: u64, labels: Value) -> Case {
    // Of its own: copies of a text are held out together.
    let text = id.chars().chain(std::iter::repeat('x'));
    let entry = Entry {
        transcript: Transcript {
            id: id.into(),
            model: format!("m{model}"),
            events: vec![RecordedEvent {
                body: Body::Answer(text.take(chars as usize).collect()),
                ..RecordedEvent::default()
            }],
            ..Transcript::default()
        },
        labels: Some(labels),
        rest: Default::default(),
        split: None,
        place: Place {
            file: std::sync::Arc::new("simulated".into()),
            line: 1,
        },
    };
    Case::of(&entry, None, &[]).0
}

/// What every setting says about the transcripts: the only thing that differs between draws.
pub(crate) fn records(models: &[Model], sizes: &[usize], draw: &mut Draw) -> Vec<Record> {
    let mut records = Vec::new();
    for (m, (model, n)) in models.iter().zip(sizes).enumerate() {
        for i in 0..*n {
            for (name, looping) in [("loop", true), ("clean", false)] {
                records.push(Record {
                    transcript: format!("m{m}/{name}{i}").into(),
                    blocks: vec![model.decided(looping, draw)],
                });
            }
        }
    }
    records
}
