//! The naive twin: every cell has a live guard of its own, which reads every transcript.

use std::hint::black_box;
use std::time::{Duration, Instant};

use deadloop_corpus::{Body, Transcript};
use deadloop_detect::{Alarm, Guard, Setting, TextChannel};
use deadloop_replay::{ChannelLengths, Cursor, Moment, Plan, Record, Stop};
use deadloop_score::{Case, JudgeOptions, ReadChannels, Tally, judge};

use crate::corpus::Sample;

/// How many (cell, transcript) pairs it is timed on.
pub(crate) const PAIRS: usize = 4000;

/// The mean time of a pair. Pairs walk through all transcripts and jump through the cells; each is
/// held against what the sweep said about it, so that both are known to do the same.
pub(crate) fn time_per_pair(
    plan: &Plan,
    records: &[Record],
    sample: &Sample,
) -> Result<Duration, String> {
    let transcripts: Vec<&Transcript> = sample.transcripts().collect();
    let pairs = || {
        (0..PAIRS).map(|i| {
            // 2654435761 / 2^32 is the golden ratio: neighbouring pairs get cells far apart.
            let cell = i * 2_654_435_761 % plan.cells();
            (cell, i * transcripts.len() / PAIRS)
        })
    };
    // Settings and their guards are made before the clock starts: what a guard compiles is made once
    // a setting, and a request begins with a fresh one.
    let made = |(cell, _): (usize, usize)| {
        let setting = plan.setting(cell);
        let guard = Guard::new(&setting).map_err(|e| e.to_string())?;
        Ok((setting, guard))
    };
    let made: Vec<(Setting, Guard)> = pairs().map(made).collect::<Result<_, String>>()?;
    let start = Instant::now();
    let mut tally = Tally::default();
    let mut alarms = Vec::with_capacity(PAIRS);
    for ((_, i), (setting, guard)) in pairs().zip(&made) {
        let stop = live(guard.fresh(), transcripts[i]);
        tally += outcome(&sample.cases[i], setting, stop.as_ref());
        alarms.push(stop.map(|s| s.exact.seen));
    }
    black_box(tally);
    let took = start.elapsed();
    for ((cell, i), alarm) in pairs().zip(alarms) {
        let place = plan.cell(cell);
        let swept = records[i].blocks[place.block].stop(&place.at);
        if swept.map(|stop| stop.exact.seen) != alarm {
            return Err(format!(
                "cell {cell}, transcript {}: the twin disagrees",
                records[i].transcript
            ));
        }
    }
    Ok(took / PAIRS as u32)
}

fn outcome(case: &Case, setting: &Setting, stop: Option<&Stop>) -> Tally {
    let watch = ReadChannels::new(|channel| setting.watches(channel));
    Tally::from_outcome(&judge(case, watch, stop, &JudgeOptions::default()))
}

fn live(mut guard: Guard, transcript: &Transcript) -> Option<Stop> {
    let mut seen = ChannelLengths::default();
    for event in &transcript.events {
        let (channel, text) = match &event.body {
            Body::Reasoning(text) => (TextChannel::Reasoning, text),
            Body::Answer(text) => (TextChannel::Answer, text),
            _ => continue,
        };
        if let Some(alarm) = guard.push_text(channel, text).into_alarm() {
            return Some(stop(&alarm, seen));
        }
        seen = seen.plus(channel.into(), deadloop_detect::Chars::count(text).0);
    }
    None
}

/// The alarm as scoring takes it. These recordings have no chunk times, so an alarm is delivered
/// where it is known.
fn stop(alarm: &Alarm, before: ChannelLengths) -> Stop {
    let into = alarm.exact.since(before.units(alarm.channel));
    let moment = Moment {
        place: Cursor::default(),
        seen: before.plus(alarm.channel, into),
        t_ms: None,
        tokens: None,
    };
    Stop {
        channel: alarm.channel,
        kind: alarm.kind,
        member: alarm.member,
        exact: moment,
        delivered: moment,
    }
}
