//! The data that `deadloop explain` prints.

use deadloop_detect::{Channel, Kind, Unit, Units, Value};
use deadloop_replay::{BlockDecision, ChannelLengths, Stop};
use deadloop_score::Class;
use serde::Serialize;

use super::calls::EqualCalls;
use super::excerpt::Excerpt;
use super::near_misses::{FactSight, nearest_miss};

/// The whole output of `deadloop explain`.
#[derive(Debug, Serialize)]
pub struct Explanation {
    /// The transcript with its labels.
    pub transcript: ExplainedTranscript,
    /// The settings. The first one is explained in full.
    pub settings: Vec<ExplainedSetting>,
    /// The text around the labelled onset and the alarm of the first setting, or around its nearest miss.
    pub text: Vec<Excerpt>,
}

/// A transcript with its labels.
#[derive(Debug, Serialize)]
pub struct ExplainedTranscript {
    /// The id.
    pub id: String,
    /// The model that wrote it.
    pub model: String,
    /// The lengths of its channels.
    pub chars: ChannelLengths,
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
    /// The class: loop or transient.
    pub class: Class,
    /// The kind of repetition, if known.
    pub kind: Option<Kind>,
    /// The channel.
    pub channel: Channel,
    /// The beginning of the first copy, in units of the channel.
    pub start: Option<Units>,
    /// The beginning of the second copy.
    pub onset: Units,
    /// The first place where an alarm is right.
    pub earliest: Units,
    /// The first place behind the span.
    pub end: Units,
    /// Whether the span goes on to the end of the recording.
    pub open: bool,
    /// The length of one copy, in units of the channel.
    pub period: Option<u64>,
}

/// The outcome of one setting.
#[derive(Debug, Serialize)]
pub struct ExplainedSetting {
    /// The name of the setting.
    pub name: String,
    /// The id of the setting.
    pub setting: String,
    /// The verdict on the alarm or the silence.
    pub verdict: &'static str,
    /// The unit of the latency.
    pub unit: Unit,
    /// The latency of a hit, from the onset to the alarm.
    pub latency: Option<u64>,
    /// The latency in milliseconds, if the recording has times.
    pub latency_ms: Option<f64>,
    /// The latency in tokens, if the recording counts them.
    pub latency_tokens: Option<u64>,
    /// The latency in copies of the labelled period.
    pub latency_copies: Option<f64>,
    /// The error message of a failed detector.
    pub error: Option<String>,
    /// The first alarm, if there is one.
    pub alarm: Option<ExplainedAlarm>,
    /// The readings of each member of the guard.
    pub members: Vec<MemberReadings>,
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
    /// The length of the channel that the detector needed.
    pub exact: Units,
    /// The length of the channel that had arrived when a live guard could raise the alarm.
    pub delivered: Units,
    /// The message of the program, if the detector is a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

impl ExplainedAlarm {
    /// Describes where a member of a guard, named `member`, stopped a transcript.
    pub(crate) fn new(member: String, stop: &Stop, decided: &BlockDecision) -> Self {
        Self {
            member,
            channel: stop.channel,
            kind: stop.kind,
            exact: stop.exact.seen.units(stop.channel),
            delivered: stop.delivered.seen.units(stop.channel),
            detail: decided.detail(stop).map(str::to_owned),
        }
    }
}

/// A member of a guard, with its readings.
#[derive(Debug, Serialize)]
pub struct MemberReadings {
    /// The name of the member.
    pub member: String,
    /// Whether the member is a program, which reports only a verdict.
    pub program: bool,
    /// The structural parameters that have a unit or differ from their defaults.
    pub measured_with: Vec<(&'static str, Value)>,
    /// A reading for each watched channel that has text.
    pub readings: Vec<ExplainedReading>,
}

/// The facts that a member found in a channel.
#[derive(Debug, Serialize)]
pub struct ExplainedReading {
    /// The channel.
    pub channel: Channel,
    /// The position of the alarm if no other member raised one before.
    pub fires_at: Option<Units>,
    /// The fact behind the alarm, then the nearest misses.
    pub facts: Vec<FactSight>,
    /// The loop that a cut element hides: the last one before a checkpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden: Option<FactSight>,
}

impl ExplainedSetting {
    /// Returns the fact whose text is shown: the alarm's, otherwise a hidden loop's, otherwise the nearest miss.
    pub(crate) fn shown_fact(&self) -> Option<(Channel, &FactSight)> {
        if let Some(alarm) = &self.alarm {
            let (_, reading) = self
                .readings()
                .find(|(m, r)| m.member == alarm.member && r.channel == alarm.channel)?;
            return reading.facts.first().map(|fact| (reading.channel, fact));
        }
        let shown = self.hidden().or_else(|| self.nearest());
        shown.map(|(_, channel, sight)| (channel, sight))
    }

    /// Returns the first hidden loop: the name of the member, the channel and the fact.
    pub fn hidden(&self) -> Option<(&str, Channel, &FactSight)> {
        self.readings()
            .find_map(|(m, r)| Some((m.member.as_str(), r.channel, r.hidden.as_ref()?)))
    }

    /// Returns the nearest miss of all members: the name of the member, the channel and the fact.
    pub fn nearest(&self) -> Option<(&str, Channel, &FactSight)> {
        let sight = nearest_miss(self.readings().flat_map(|(_, r)| &r.facts))?;
        let (seat, reading) = self
            .readings()
            .find(|(_, r)| r.facts.iter().any(|fact| std::ptr::eq(fact, sight)))?;
        Some((&seat.member, reading.channel, sight))
    }

    fn readings(&self) -> impl Iterator<Item = (&MemberReadings, &ExplainedReading)> {
        self.members
            .iter()
            .flat_map(|m| m.readings.iter().map(move |r| (m, r)))
    }
}
