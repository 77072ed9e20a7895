//! [`Explanation`]: the data that `deadloop explain` prints.

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
    /// The explained settings. Only the first one is printed in full.
    pub settings: Vec<ExplainedSetting>,
    /// Excerpts around the labelled onset and the alarm of the first setting, or around its nearest miss.
    pub text: Vec<Excerpt>,
}

/// The head of an explanation: a transcript with its labels.
#[derive(Debug, Serialize)]
pub struct ExplainedTranscript {
    /// The id of the transcript.
    pub id: String,
    /// The model that wrote the transcript.
    pub model: String,
    /// The lengths of the channels.
    pub chars: ChannelLengths,
    /// The class from the labels. `None` without labels.
    pub class: Option<Class>,
    /// The labelled spans.
    pub labels: Vec<ExplainedLabel>,
    /// The longest streak of equal calls, if there is one.
    pub equal_calls: Option<EqualCalls>,
}

/// A labelled span.
#[derive(Debug, Serialize)]
pub struct ExplainedLabel {
    /// The class of the span, loop or transient.
    pub class: Class,
    /// The kind of repetition, if known.
    pub kind: Option<Kind>,
    /// The channel of the span.
    pub channel: Channel,
    /// The position where the first copy begins.
    pub start: Option<Units>,
    /// The position where the second copy begins.
    pub onset: Units,
    /// The first position where an alarm is right.
    pub earliest: Units,
    /// The position after the last char or call of the span.
    pub end: Units,
    /// Whether the span continues to the end of the recording.
    pub open: bool,
    /// The length of one copy.
    pub period: Option<u64>,
}

/// A setting, its verdict on the transcript, and the readings behind it.
#[derive(Debug, Serialize)]
pub struct ExplainedSetting {
    /// The name of the setting in tables: a file, a preset or `recommended`.
    pub name: String,
    /// The id of the setting, a hash of its contents.
    pub setting: String,
    /// The verdict on the alarm, or on its absence.
    pub verdict: &'static str,
    /// The unit of the latency.
    pub unit: Unit,
    /// The latency of a hit: the length from the onset to the alarm.
    pub latency: Option<u64>,
    /// The latency in milliseconds, if the recording has times.
    pub latency_ms: Option<f64>,
    /// The latency in tokens, if the recording counts them.
    pub latency_tokens: Option<u64>,
    /// The latency divided by the labelled period.
    pub latency_copies: Option<f64>,
    /// The error message of a failed detector.
    pub error: Option<String>,
    /// The first alarm of the guard, if any.
    pub alarm: Option<ExplainedAlarm>,
    /// The readings of the guard's members.
    pub members: Vec<MemberReadings>,
}

/// The first alarm of a guard.
#[derive(Debug, Serialize)]
pub struct ExplainedAlarm {
    /// The name of the member that raised the alarm.
    pub member: String,
    /// The channel of the alarm.
    pub channel: Channel,
    /// The kind of loop.
    pub kind: Kind,
    /// The length of the channel that the detector needed for the alarm.
    pub exact: Units,
    /// The length of the channel that had arrived when a live guard could raise the alarm.
    pub delivered: Units,
    /// The message of the program, if the detector is a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

impl ExplainedAlarm {
    /// Creates the description of an alarm. `stop` is where the member named `member` stopped the transcript.
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
    /// Whether the member is a user's program, which reports only a verdict.
    pub program: bool,
    /// The structural parameters that have a unit or differ from their defaults.
    pub measured_with: Vec<(&'static str, Value)>,
    /// The readings, one for each watched channel with text.
    pub readings: Vec<ExplainedReading>,
}

/// The facts that a member found in a channel.
#[derive(Debug, Serialize)]
pub struct ExplainedReading {
    /// The channel that was read.
    pub channel: Channel,
    /// The position at which the member alone would raise an alarm. `None` if it raises none.
    pub fires_at: Option<Units>,
    /// The fact that causes the alarm, if there is one, then the nearest misses.
    pub facts: Vec<FactSight>,
    /// The loop that the member misses only because a checkpoint cuts the last element before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden: Option<FactSight>,
}

impl ExplainedSetting {
    /// Returns the fact to show in excerpts, with its channel: the fact of the alarm, else of a hidden loop, else the
    /// nearest miss.
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

    /// Returns the first hidden loop, as the name of the member, the channel and the fact.
    pub fn hidden(&self) -> Option<(&str, Channel, &FactSight)> {
        self.readings()
            .find_map(|(m, r)| Some((m.member.as_str(), r.channel, r.hidden.as_ref()?)))
    }

    /// Returns the nearest miss of all members, as the name of the member, the channel and the fact.
    pub fn nearest(&self) -> Option<(&str, Channel, &FactSight)> {
        let sight = nearest_miss(self.readings().flat_map(|(_, r)| &r.facts))?;
        let (member, reading) = self
            .readings()
            .find(|(_, r)| r.facts.iter().any(|fact| std::ptr::eq(fact, sight)))?;
        Some((&member.member, reading.channel, sight))
    }

    fn readings(&self) -> impl Iterator<Item = (&MemberReadings, &ExplainedReading)> {
        self.members
            .iter()
            .flat_map(|m| m.readings.iter().map(move |r| (m, r)))
    }
}
