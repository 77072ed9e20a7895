//! Everything that `deadloop explain` prints, as data: the types that it is made of.

use deadloop_detect::{Channel, Kind, Unit, Units, Value};
use deadloop_replay::Seen;
use deadloop_score::Class;
use serde::Serialize;

use super::calls::EqualCalls;
use super::excerpt::Excerpt;
use super::near::{FactSight, nearest};

/// Everything that is printed.
#[derive(Debug, Serialize)]
pub struct Explained {
    /// Which transcript it is, and what is true about it.
    pub transcript: Head,
    /// The settings. The first is the one that is explained in full.
    pub settings: Vec<ExplainedSetting>,
    /// The text around the labelled onset and the alarm of the first setting, or what came nearest to one.
    pub text: Vec<Excerpt>,
}

/// Which transcript it is, and what is true about it.
#[derive(Debug, Serialize)]
pub struct Head {
    /// The id.
    pub id: String,
    /// The model that wrote it.
    pub model: String,
    /// The lengths of its channels.
    pub chars: Seen,
    /// The class by its labels; `None` if it is not labelled.
    pub class: Option<Class>,
    /// Its labelled spans.
    pub labels: Vec<ExplainedLabel>,
    /// The longest streak of equal calls of a run.
    pub equal_calls: Option<EqualCalls>,
}

/// A labelled span.
#[derive(Debug, Serialize)]
pub struct ExplainedLabel {
    /// Loop, or transient.
    pub class: Class,
    /// The kind of repetition, where it is known.
    pub kind: Option<Kind>,
    /// The channel.
    pub channel: Channel,
    /// Where the first copy begins, in units of the channel.
    pub start: Option<Units>,
    /// Where the second copy begins.
    pub onset: Units,
    /// The place from which an alarm is right.
    pub earliest: Units,
    /// The first place behind it.
    pub end: Units,
    /// Whether it goes on to the end of the recording.
    pub open: bool,
    /// The length of one copy, in units of the channel.
    pub period: Option<u64>,
}

/// What one setting did.
#[derive(Debug, Serialize)]
pub struct ExplainedSetting {
    /// What the setting is called.
    pub name: String,
    /// Its id.
    pub setting: String,
    /// What its alarm, or its silence, is worth.
    pub verdict: &'static str,
    /// The unit of the latency.
    pub unit: Unit,
    /// From the onset to the alarm of a hit.
    pub latency: Option<u64>,
    /// The same in milliseconds, where the recording has times.
    pub latency_ms: Option<f64>,
    /// The same in tokens, where the recording counts them.
    pub latency_tokens: Option<u64>,
    /// The latency in copies of the labelled period.
    pub latency_copies: Option<f64>,
    /// Why the detector failed.
    pub error: Option<String>,
    /// Its first alarm; `None` if it has none.
    pub alarm: Option<ExplainedAlarm>,
    /// What each member of its guard saw.
    pub members: Vec<Seat>,
}

/// The first alarm of the guard.
#[derive(Debug, Serialize)]
pub struct ExplainedAlarm {
    /// The member of the guard.
    pub member: String,
    /// The channel.
    pub channel: Channel,
    /// The kind of loop.
    pub kind: Kind,
    /// How much of the channel the detector needed.
    pub exact: Units,
    /// How much of it had arrived when a live guard could say so.
    pub delivered: Units,
    /// What the program said about it, if the detector is a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// One member of a guard.
#[derive(Debug, Serialize)]
pub struct Seat {
    /// Its name.
    pub member: String,
    /// Whether it is a program. Then only its verdict is known.
    pub program: bool,
    /// The structural parameters that say what it reads, and those that differ from their defaults.
    pub measured_with: Vec<(&'static str, Value)>,
    /// A reading for each channel that it watches and that has text.
    pub readings: Vec<ExplainedReading>,
}

/// What a member saw in a channel.
#[derive(Debug, Serialize)]
pub struct ExplainedReading {
    /// The channel.
    pub channel: Channel,
    /// Where it would fire if no other member fired before.
    pub fires_at: Option<Units>,
    /// The fact on which it fires, then the nearest misses.
    pub facts: Vec<FactSight>,
}

impl ExplainedSetting {
    /// The fact for which text is shown: that of the alarm, or else the nearest miss.
    pub fn shown(&self) -> Option<(Channel, &FactSight)> {
        let readings = self
            .members
            .iter()
            .flat_map(|m| m.readings.iter().map(move |r| (m, r)));
        if let Some(alarm) = &self.alarm {
            let mut readings = readings;
            let (_, reading) =
                readings.find(|(m, r)| m.member == alarm.member && r.channel == alarm.channel)?;
            return reading.facts.first().map(|fact| (reading.channel, fact));
        }
        self.nearest().map(|(_, channel, sight)| (channel, sight))
    }

    /// The nearest miss of all members: the name of the member, the channel and the fact.
    pub fn nearest(&self) -> Option<(&str, Channel, &FactSight)> {
        let readings = self
            .members
            .iter()
            .flat_map(|m| m.readings.iter().map(move |r| (m, r)));
        let all: Vec<(&Seat, &ExplainedReading)> = readings.collect();
        let sight = nearest(all.iter().flat_map(|(_, r)| &r.facts))?;
        let (seat, reading) = all
            .into_iter()
            .find(|(_, r)| r.facts.iter().any(|fact| std::ptr::eq(fact, sight)))?;
        Some((&seat.member, reading.channel, sight))
    }
}
