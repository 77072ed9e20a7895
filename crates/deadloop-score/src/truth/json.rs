//! [`SpanJson`]: a labelled span as JSON.

use deadloop_replay::ChannelLengths;
use deadloop_replay::corpus::Class;
use deadloop_replay::detect::{Channel, Kind};
use serde::{Deserialize, Serialize};

use crate::truth::Span;

/// A labelled span as JSON, with positions as numbers in the unit of its channel.
///
/// Class, kind and channel are names, so that a version with other numbers cannot misread them.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SpanJson {
    class: Class,
    kind: Option<Kind>,
    channel: Channel,
    start: Option<u64>,
    onset: u64,
    earliest: u64,
    end: u64,
    open: bool,
    period: Option<u64>,
    seen: ChannelLengths,
    until: ChannelLengths,
    onset_ms: Option<f64>,
    onset_tokens: Option<u64>,
}

impl From<Span> for SpanJson {
    fn from(span: Span) -> Self {
        Self {
            class: span.class,
            kind: span.kind,
            channel: span.channel,
            start: span.start.map(|start| start.count()),
            onset: span.onset.count(),
            earliest: span.earliest.count(),
            end: span.end.count(),
            open: span.open,
            period: span.period,
            seen: span.seen,
            until: span.until,
            onset_ms: span.onset_ms,
            onset_tokens: span.onset_tokens,
        }
    }
}

impl From<SpanJson> for Span {
    fn from(json: SpanJson) -> Self {
        let units = |count| json.channel.units(count);
        Self {
            class: json.class,
            kind: json.kind,
            channel: json.channel,
            start: json.start.map(units),
            onset: units(json.onset),
            earliest: units(json.earliest),
            end: units(json.end),
            open: json.open,
            period: json.period,
            seen: json.seen,
            until: json.until,
            onset_ms: json.onset_ms,
            onset_tokens: json.onset_tokens,
        }
    }
}
