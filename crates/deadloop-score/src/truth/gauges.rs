//! [`Gauges`]: what of tokens, milliseconds and money a transcript had taken by when, where the recording says.
//!
//! Of a run, by whole turns: at a moment the turns that had begun by then count, at the beginning of a loop those
//! before the turn in which it begins. Of one generation, by the events that carry its text.

use deadloop_replay::Moment;
use deadloop_replay::corpus::{Body, RecordedEvent};
use deadloop_replay::detect::{Channel, Unit};
use deadloop_replay::{TurnTokens, text_of};
use serde::{Deserialize, Serialize};

use crate::truth::{Bytes, Span, Timeline, clock, put_list, put_number, put_place, take_place};

/// What a million tokens cost, in the user's currency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Prices {
    /// Price of a million tokens read that were not in the cache.
    pub read: f64,
    /// Price of a million tokens written.
    pub written: f64,
    /// Price of a million tokens read from the cache.
    pub cached: f64,
}

impl Prices {
    /// What they cost, in millionths of the currency.
    pub fn of(&self, tokens: &TurnTokens) -> f64 {
        let fresh = tokens.read.saturating_sub(tokens.cached);
        self.read * fresh as f64
            + self.written * tokens.written as f64
            + self.cached * tokens.cached.min(tokens.read) as f64
    }
}

/// A span on a gauge: what had been taken before its onset, before its earliest, and when it ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasuredSpan {
    /// Before the onset.
    pub onset: u64,
    /// Before the first unit at which an alarm is right.
    pub earliest: u64,
    /// When it ended.
    pub end: u64,
}

/// What a transcript had taken by when.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gauges {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    scales: Vec<Scale>,
    /// Of a run the tokens of its turns, for prices that are given later.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    turns: Vec<TurnTokens>,
}

/// One unit of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Scale {
    unit: Unit,
    /// Of a run: after 0, 1, 2 … turns. Of one generation: nothing, for moments say it themselves.
    by_turns: Vec<u64>,
    whole: u64,
    /// One of each span of the truth.
    spans: Vec<MeasuredSpan>,
}

impl Gauges {
    /// Puts them among other bytes.
    pub(crate) fn put(&self, to: &mut Vec<u8>) {
        put_list(&self.scales, Scale::put, to);
        let put_turn = |turn: &TurnTokens, to: &mut Vec<u8>| {
            let all = [turn.read, turn.written, turn.cached];
            all.into_iter().for_each(|tokens| put_number(tokens, to));
        };
        put_list(&self.turns, put_turn, to);
    }

    /// Takes what [`put`](Self::put) put.
    pub(crate) fn take(from: &mut Bytes<'_>) -> Self {
        let scales = from.list(Scale::take);
        let turns = from.list(|from| TurnTokens {
            read: from.number(),
            written: from.number(),
            cached: from.number(),
        });
        Self { scales, turns }
    }

    /// Those of some events; `None`: nothing of the kind was recorded.
    pub(crate) fn of(events: &[RecordedEvent], line: &Timeline, spans: &[Span]) -> Option<Self> {
        let turns = turn_tokens(events, line).unwrap_or_default();
        let tokens = if turns.is_empty() {
            by_events(events, spans, Unit::Tokens)
        } else {
            Some(by_turns(Unit::Tokens, sums(&turns), (line, spans)))
        };
        let ms = match turn_times(events, line) {
            Some(times) => Some(by_turns(Unit::Ms, times, (line, spans))),
            None => by_events(events, spans, Unit::Ms),
        };
        let scales: Vec<Scale> = [tokens, ms].into_iter().flatten().collect();
        (!scales.is_empty()).then_some(Self { scales, turns })
    }

    /// Adds what its turns cost; nothing where it is no run, or does not count tokens.
    pub(crate) fn price(&mut self, prices: &Prices, line: &Timeline, spans: &[Span]) {
        self.scales.retain(|scale| scale.unit != Unit::Money);
        if self.turns.is_empty() {
            return;
        }
        let mut sum = 0.0;
        let costs = self.turns.iter().map(|turn| {
            sum += prices.of(turn);
            sum.round() as u64
        });
        let costs = std::iter::once(0).chain(costs).collect();
        self.scales
            .push(by_turns(Unit::Money, costs, (line, spans)));
    }

    /// Drops the spans of which `kept` says no.
    pub(crate) fn keep(&mut self, kept: impl Iterator<Item = bool> + Clone) {
        for scale in &mut self.scales {
            let mut kept = kept.clone();
            scale.spans.retain(|_| kept.next().unwrap_or(true));
        }
    }

    /// All of it; `None`: it was not recorded in this unit.
    pub fn whole(&self, unit: Unit) -> Option<u64> {
        Some(self.scale(unit)?.whole)
    }

    /// What had been taken at a moment.
    pub fn at(&self, unit: Unit, moment: &Moment) -> Option<u64> {
        let scale = self.scale(unit)?;
        match (scale.by_turns.as_slice(), unit) {
            ([], Unit::Tokens) => moment.tokens,
            ([], Unit::Ms) => moment.t_ms.map(whole_ms),
            (table, _) => Some(after(table, moment.seen.turns.0)),
        }
    }

    /// The span of the truth at `index`.
    pub fn stretch(&self, unit: Unit, index: usize) -> Option<MeasuredSpan> {
        self.scale(unit)?.spans.get(index).copied()
    }

    fn scale(&self, unit: Unit) -> Option<&Scale> {
        self.scales.iter().find(|scale| scale.unit == unit)
    }
}

impl Scale {
    /// Puts it among other bytes. What was taken by when rises, most often: the steps are smaller numbers.
    fn put(&self, to: &mut Vec<u8>) {
        put_place(&Unit::ALL, self.unit, to);
        let mut before = 0_u64;
        let put_step = |sum: &u64, to: &mut Vec<u8>| {
            put_number(sum.wrapping_sub(before), to);
            before = *sum;
        };
        put_list(&self.by_turns, put_step, to);
        put_number(self.whole, to);
        let put_span = |span: &MeasuredSpan, to: &mut Vec<u8>| {
            let all = [span.onset, span.earliest, span.end];
            all.into_iter().for_each(|at| put_number(at, to));
        };
        put_list(&self.spans, put_span, to);
    }

    /// Takes what [`put`](Self::put) put.
    fn take(from: &mut Bytes<'_>) -> Self {
        let unit = take_place(&Unit::ALL, from);
        let mut before = 0_u64;
        let by_turns = from.list(|from| {
            before = before.wrapping_add(from.number());
            before
        });
        Self {
            unit,
            by_turns,
            whole: from.number(),
            spans: from.list(|from| MeasuredSpan {
                onset: from.number(),
                earliest: from.number(),
                end: from.number(),
            }),
        }
    }
}

/// The value of a table after `turns` turns.
fn after(table: &[u64], turns: u64) -> u64 {
    let index = usize::try_from(turns).unwrap_or(usize::MAX);
    let found = table.get(index).or(table.last());
    found.copied().unwrap_or_default()
}

fn by_turns(unit: Unit, table: Vec<u64>, (line, spans): (&Timeline, &[Span])) -> Scale {
    // The turns that had begun when the unit at `at` came, its own included.
    let with = |channel, at| line.before(channel, at).turns.0;
    let before = |channel, at| match channel {
        Channel::Turns => at,
        _ => with(channel, at).saturating_sub(1),
    };
    let stretch = |span: &Span| {
        let end = match (span.channel, span.end.count()) {
            (Channel::Turns, end) => end,
            (_, end) => with(span.channel, end.saturating_sub(1)),
        };
        MeasuredSpan {
            onset: after(&table, before(span.channel, span.onset.count())),
            earliest: after(&table, before(span.channel, span.earliest.count())),
            end: after(&table, end),
        }
    };
    Scale {
        unit,
        spans: spans.iter().map(stretch).collect(),
        whole: table.last().copied().unwrap_or_default(),
        by_turns: table,
    }
}

/// What the turns took; `None`: not each of them was recorded, and says it.
fn turn_tokens(events: &[RecordedEvent], line: &Timeline) -> Option<Vec<TurnTokens>> {
    let turns = turns(events).map(TurnTokens::of);
    let turns: Vec<TurnTokens> = turns.collect::<Option<_>>()?;
    (!turns.is_empty() && turns.len() as u64 == line.units(Channel::Turns)).then_some(turns)
}

fn sums(turns: &[TurnTokens]) -> Vec<u64> {
    let mut sum = 0_u64;
    let each = turns.iter().map(|turn| {
        sum = sum.saturating_add(turn.all());
        sum
    });
    std::iter::once(0).chain(each).collect()
}

/// The times at which 0, 1, 2 … turns had ended, from the beginning of the first.
fn turn_times(events: &[RecordedEvent], line: &Timeline) -> Option<Vec<u64>> {
    let times = turns(events).map(|turn| turn.t_ms);
    let mut times: Vec<f64> = times.collect::<Option<_>>()?;
    let first = *times.first()?;
    let last = events.iter().rev().find_map(|event| event.t_ms)?;
    times.push(last);
    let in_order = times.is_sorted() && times.len() as u64 == line.units(Channel::Turns) + 1;
    in_order.then(|| times.iter().map(|t| whole_ms(t - first)).collect())
}

fn turns(events: &[RecordedEvent]) -> impl Iterator<Item = &RecordedEvent> {
    events.iter().filter(|event| event.body == Body::Turn)
}

/// By the events that the model made; `None`: not each of them says it.
fn by_events(events: &[RecordedEvent], spans: &[Span], unit: Unit) -> Option<Scale> {
    let made = |e: &&RecordedEvent| {
        text_of(e).is_some() || matches!(e.body, Body::ToolCall { .. } | Body::ToolResult { .. })
    };
    let written = |e: &&RecordedEvent| !matches!(e.body, Body::ToolResult { .. });
    let whole = match unit {
        Unit::Tokens => events
            .iter()
            .filter(made)
            .filter(written)
            .try_fold(0_u64, |sum, event| Some(sum.saturating_add(event.tokens?)))?,
        _ => {
            let times = events.iter().filter(made).map(|event| event.t_ms);
            let last = times.collect::<Option<Vec<f64>>>()?.last().copied()?;
            // A stream that falls silent runs on until its reader gives it up.
            let over = events.iter().rev().find_map(|event| match event.body {
                Body::Finish { .. } => event.t_ms,
                _ => None,
            });
            whole_ms(over.unwrap_or(last).max(last))
        }
    };
    let at = |channel: Channel, at: u64| {
        let clock = clock(events, channel, at);
        match unit {
            Unit::Tokens => clock.tokens,
            _ => clock.t_ms.map(whole_ms),
        }
    };
    let stretch = |span: &Span| {
        Some(MeasuredSpan {
            onset: at(span.channel, span.onset.count())?,
            earliest: at(span.channel, span.earliest.count()).unwrap_or(whole),
            end: at(span.channel, span.end.count()).unwrap_or(whole),
        })
    };
    let spans = spans.iter().map(stretch).collect::<Option<_>>()?;
    (whole > 0).then_some(Scale {
        unit,
        by_turns: Vec::new(),
        whole,
        spans,
    })
}

/// To the nearest; nothing is before the beginning.
fn whole_ms(t_ms: f64) -> u64 {
    t_ms.max(0.0).round() as u64
}
