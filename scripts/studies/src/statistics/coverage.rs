//! Coverage of the bootstrap's 95 % intervals, in simulated worlds whose true values are known.

use std::collections::BTreeMap;

use deadloop_score::replay::corpus::CopyKeys;
use deadloop_score::{Case, MEASURES, Outcome, Resampling, Stakes, Timeline, Verdict, bootstrap};
use serde_json::{Value, json};

/// The costs of errors in these worlds.
const WORTH: Stakes = Stakes {
    loop_rate: None,
    response: 300.0,
};

const LOOP: u64 = 1000;
const CLEAN: u64 = 1000;
const ONSET: u64 = 200;

/// Returns the true value of each measure.
///
/// A group has one or three loops, and two clean transcripts. Its loops are found with probability 0.4 or 0.9, after
/// 100 or 300 chars. On its clean transcripts there is a wrong alarm, half-way, with probability 0 or 0.2. So
/// transcripts of one group resemble each other. The true values are: saved 0.52, delay 480, lost per million
/// 1e6·0.1·500 / (the clean chars per transcript), break_even W / (520 + W), where W = 0.1·(500 + 300).
fn truth() -> [(&'static str, f64); 4] {
    // A group has two loops and two clean transcripts on average.
    let healthy = 2.0 * ONSET as f64 + 2.0 * CLEAN as f64;
    let lost = 1e6 * 2.0 * 0.1 * 500.0 / healthy;
    let wasted = 0.1 * (500.0 + 300.0);
    [
        ("saved", 0.52),
        ("delay", 480.0),
        ("lost", lost),
        ("break_even", wasted / (520.0 + wasted)),
    ]
}

/// Returns, by measure, the share of worlds whose interval contains the true value: `{"saved": 0.95, …}`.
pub(crate) fn coverage(seed: u64, worlds: u64, groups: usize) -> Value {
    let cases: Vec<Case> = (0..groups).flat_map(members).collect();
    let mut held: BTreeMap<&str, u64> = BTreeMap::new();
    let mut draw = SeededDraws(seed);
    for world in 0..worlds {
        let outcomes: Vec<Outcome> = (0..groups).flat_map(|g| drawn(g, &mut draw)).collect();
        let resampling = Resampling {
            replicates: 600,
            seed: world + 1,
        };
        let intervals = bootstrap(&cases, &outcomes, &WORTH, resampling);
        for (name, value) in truth() {
            let mut rows = MEASURES.iter().zip(&intervals);
            let row = rows.find_map(|(measure, ends)| ends.filter(|_| measure.name == name));
            let holds = row.is_some_and(|i| i.lo <= value && value <= i.hi);
            *held.entry(name).or_default() += u64::from(holds);
        }
    }
    let share = |(name, n): (&str, u64)| (name.to_owned(), json!(n as f64 / worlds as f64));
    Value::Object(held.into_iter().map(share).collect())
}

/// Returns the number of loops of a group.
fn loops(group: usize) -> usize {
    if group.is_multiple_of(2) { 1 } else { 3 }
}

fn members(group: usize) -> Vec<Case> {
    let one = |i: usize| Case {
        id: format!("{group}/{i}").into(),
        model: "m".into(),
        task: None,
        profile: None,
        group: Some(group.to_string().into()),
        lang: None,
        split: None,
        source: None,
        by: Vec::new(),
        timeline: Timeline::default(),
        timed: false,
        truth: None,
        text: Box::default(),
        copied: CopyKeys::default(),
    };
    (0..loops(group) + 2).map(one).collect()
}

fn drawn(group: usize, draw: &mut SeededDraws) -> Vec<Outcome> {
    let found = if draw.unit() < 0.5 { 0.4 } else { 0.9 };
    let fooled = if draw.unit() < 0.5 { 0.0 } else { 0.2 };
    let mut outcomes: Vec<Outcome> = (0..loops(group)).map(|_| looping(found, draw)).collect();
    outcomes.extend((0..2).map(|_| clean(fooled, draw)));
    outcomes
}

fn looping(found: f64, draw: &mut SeededDraws) -> Outcome {
    let hit = draw.unit() < found;
    let latency = if draw.unit() < 0.5 { 100 } else { 300 };
    Outcome {
        verdict: if hit { Verdict::Hit } else { Verdict::Miss },
        latency: hit.then_some(latency),
        exposure: ONSET,
        saved: if hit { LOOP - latency } else { 0 },
        loop_chars: LOOP,
        delay: if hit { latency } else { LOOP },
        ..Outcome::error()
    }
}

fn clean(fooled: f64, draw: &mut SeededDraws) -> Outcome {
    let alarm = draw.unit() < fooled;
    Outcome {
        verdict: if alarm {
            Verdict::FalseAlarm
        } else {
            Verdict::Quiet
        },
        exposure: if alarm { CLEAN / 2 } else { CLEAN },
        lost: if alarm { CLEAN / 2 } else { 0 },
        generated: if alarm { CLEAN / 2 } else { 0 },
        ..Outcome::error()
    }
}

/// Seeded draws: splitmix64 (Steele, Lea, Flood 2014).
struct SeededDraws(u64);

impl SeededDraws {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}
