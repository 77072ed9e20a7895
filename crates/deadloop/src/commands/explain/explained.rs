//! Everything that `deadloop explain` prints, as data: the types that it is made of.

use deadloop_detect::{Channel, Kind, Unit, Units, Value};
use deadloop_replay::Seen;
use deadloop_score::Class;
use serde::Serialize;

use super::excerpt::Excerpt;
use super::near::{Sight, nearest};

/// Everything that is printed.
#[derive(Debug, Serialize)]
pub(crate) struct Explained {
    pub(crate) transcript: Head,
    /// The settings. The first is the one that is explained in full.
    pub(crate) settings: Vec<Told>,
    pub(crate) text: Vec<Excerpt>,
}

/// Which transcript it is, and what is true about it.
#[derive(Debug, Serialize)]
pub(crate) struct Head {
    pub(crate) id: String,
    pub(crate) model: String,
    pub(crate) chars: Seen,
    /// The class by its labels; `None` if it is not labelled.
    pub(crate) class: Option<Class>,
    pub(crate) labels: Vec<Label>,
}

/// A labelled span.
#[derive(Debug, Serialize)]
pub(crate) struct Label {
    pub(crate) class: Class,
    pub(crate) kind: Option<Kind>,
    pub(crate) channel: Channel,
    pub(crate) start: Option<Units>,
    pub(crate) onset: Units,
    pub(crate) earliest: Units,
    pub(crate) end: Units,
    /// Whether it goes on to the end of the recording.
    pub(crate) open: bool,
    pub(crate) period: Option<u64>,
}

/// What one setting did.
#[derive(Debug, Serialize)]
pub(crate) struct Told {
    pub(crate) name: String,
    pub(crate) setting: String,
    pub(crate) verdict: &'static str,
    /// The unit of the latency.
    pub(crate) unit: Unit,
    pub(crate) latency: Option<u64>,
    pub(crate) latency_ms: Option<f64>,
    pub(crate) latency_tokens: Option<u64>,
    /// The latency in copies of the labelled period.
    pub(crate) latency_copies: Option<f64>,
    /// Why the detector failed.
    pub(crate) error: Option<String>,
    pub(crate) alarm: Option<Fired>,
    pub(crate) members: Vec<Seat>,
}

/// The first alarm of the guard.
#[derive(Debug, Serialize)]
pub(crate) struct Fired {
    pub(crate) member: String,
    pub(crate) channel: Channel,
    pub(crate) kind: Kind,
    pub(crate) exact: Units,
    pub(crate) delivered: Units,
    /// What the program said about it, if the detector is a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) detail: Option<String>,
}

/// One member of a guard.
#[derive(Debug, Serialize)]
pub(crate) struct Seat {
    pub(crate) member: String,
    /// Whether it is a program. Then only its verdict is known.
    pub(crate) program: bool,
    /// The structural parameters that say what it reads, and those that differ from their defaults.
    pub(crate) measured_with: Vec<(&'static str, Value)>,
    /// A reading for each channel that it watches and that has text.
    pub(crate) readings: Vec<Reading>,
}

/// What a member saw in a channel.
#[derive(Debug, Serialize)]
pub(crate) struct Reading {
    pub(crate) channel: Channel,
    /// Where it would fire if no other member fired before.
    pub(crate) fires_at: Option<Units>,
    /// The fact on which it fires, then the nearest misses.
    pub(crate) facts: Vec<Sight>,
}

impl Told {
    /// The fact for which text is shown: that of the alarm, or else the nearest miss.
    pub(crate) fn shown(&self) -> Option<(Channel, &Sight)> {
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
    pub(crate) fn nearest(&self) -> Option<(&str, Channel, &Sight)> {
        let readings = self
            .members
            .iter()
            .flat_map(|m| m.readings.iter().map(move |r| (m, r)));
        let all: Vec<(&Seat, &Reading)> = readings.collect();
        let sight = nearest(all.iter().flat_map(|(_, r)| &r.facts))?;
        let (seat, reading) = all
            .into_iter()
            .find(|(_, r)| r.facts.iter().any(|fact| std::ptr::eq(fact, sight)))?;
        Some((&seat.member, reading.channel, sight))
    }
}
