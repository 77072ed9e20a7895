//! A record held against its label: [`judge`].
//!
//! Where scoring.md is silent:
//! - With several loop spans, an alarm inside one is judged by it; what is found nowhere (`miss`) or
//!   outside every span (`premature`, `stale`) is charged to the span that becomes detectable first,
//!   since that is the one which a detector should have stopped.
//! - Inside both a loop and a transient span, the loop decides: the alarm is right.
//! - An alarm in another channel than a span's is held against it by what of the span's channel had arrived at
//!   the alarm's moment. No position in one channel is ever compared with one in another.
//! - A span of calls or turns begins once its second copy has been issued: an alarm at c calls is inside it where
//!   earliest < c <= end. A text's begins with the char: earliest <= c <= end.
//! - `early` and `grace` widen loops only; a transient span is taken literally.
//! - In tokens, milliseconds and money a verdict is what it is in the units of the labels (`early`, `deadline` and
//!   `grace` too); what it saved, lost and took is read from the case's [`Gauges`]. A case without one is not scored.

use deadloop_replay::detect::Unit;
use deadloop_replay::{Moment, Stop};

use crate::judge::{JudgeOptions, Outcome, ReadChannels, Transient, Verdict};
use crate::truth::{Case, Class, Gauges, MeasuredSpan, Span, Truth};

/// Holds what a setting said about a transcript against what is true. `stop` is its first alarm.
///
/// A loop from char 1000 to the end at 3000, `early`, `deadline`, `grace` as they are by default:
/// ```text
/// alarm        none    900        1000   1400   (end 2000, alarm 2500)
/// verdict      miss    premature  hit    hit    stale
/// latency                         0      400
/// exposure     1000    900        1000   1000   1000
/// delay        2000    2000       0      400    1000 (the whole loop)
/// saved        0       0          2000   1600   0
/// lost         0       100        0      0      500
/// ```
///
/// Had the same transcript repeated itself from char 200 to 500 and recovered, an alarm at 300 would be
/// `transient-stop`: exposure 300, delay 0, saved 2000, and the loop in the column `earlier`.
pub fn judge(
    case: &Case,
    watch: ReadChannels,
    stop: Option<&Stop>,
    options: &JudgeOptions,
) -> Outcome {
    let class = case.class_in(options.unit);
    let Some((truth, class)) = case.truth.as_ref().zip(class) else {
        return Outcome::bare(Verdict::Unlabelled);
    };
    let ruler = match case
        .gauges
        .as_deref()
        .filter(|_| options.unit.is_measured())
    {
        None => Ruler::Counted(watch),
        Some(gauges) => Ruler::Measured(gauges),
    };
    let alarm = match stop {
        None => None,
        Some(stop) => {
            let moment = options.moment(stop);
            match ruler.at(options.unit, moment) {
                Some(at) => Some(Alarm { stop, moment, at }),
                None => return Outcome::bare(Verdict::Unlabelled),
            }
        }
    };
    let hearing = Hearing {
        truth,
        whole: ruler.whole(case, options.unit),
        alarm,
        ruler,
        options,
    };
    if hearing.loops().next().is_some() {
        hearing.looping()
    } else if class == Class::Clean || options.transient == Transient::Clean {
        hearing.clean()
    } else {
        hearing.transient()
    }
}

/// How much of a case lies before a moment, in the unit of the options.
#[derive(Clone, Copy)]
enum Ruler<'a> {
    /// What of the channels is watched.
    Counted(ReadChannels),
    /// What was recorded beside them.
    Measured(&'a Gauges),
}

impl Ruler<'_> {
    fn whole(self, case: &Case, unit: Unit) -> u64 {
        match self {
            Self::Counted(watch) => watch.units(unit, case.timeline.length()),
            Self::Measured(gauges) => gauges.whole(unit).unwrap_or(0),
        }
    }

    /// `None`: the recording does not say.
    fn at(self, unit: Unit, moment: &Moment) -> Option<u64> {
        match self {
            Self::Counted(watch) => Some(watch.units(unit, moment.seen)),
            Self::Measured(gauges) => gauges.at(unit, moment),
        }
    }
}

/// An alarm and the moment of it that counts.
#[derive(Clone, Copy)]
struct Alarm<'a> {
    stop: &'a Stop,
    moment: &'a Moment,
    /// How much was watched by then.
    at: u64,
}

impl Alarm<'_> {
    /// The units of the span's channel that had arrived.
    fn in_channel(&self, span: &Span) -> u64 {
        self.moment.seen.count(span.channel)
    }

    /// Whether it comes where a span is that lasts from `lo` to `hi` of its channel's units.
    fn within(&self, span: &Span, lo: u64, hi: u64) -> bool {
        let at = self.in_channel(span);
        match self.is_beside(span) {
            true => self.moment.seen > span.seen && self.moment.seen <= span.until,
            false if span.channel.unit() == Unit::Chars => lo <= at && at <= hi,
            false => lo < at && at <= hi,
        }
    }

    /// Whether `span` becomes detectable only later, given the tolerance, which is one of positions in
    /// the span's own channel.
    fn precedes(&self, span: &Span, early: u64) -> bool {
        let at = self.in_channel(span).saturating_add(early);
        let earliest = span.earliest.count();
        match self.is_beside(span) {
            true => self.moment.seen <= span.seen,
            false if span.channel.unit() == Unit::Chars => at < earliest,
            false => at <= earliest,
        }
    }

    /// Whether it is in another channel than the text of a span: then it is their moments that are compared.
    fn is_beside(&self, span: &Span) -> bool {
        self.stop.channel != span.channel && span.channel.unit() == Unit::Chars
    }
}

/// Everything that a verdict depends on.
struct Hearing<'a> {
    truth: &'a Truth,
    whole: u64,
    alarm: Option<Alarm<'a>>,
    ruler: Ruler<'a>,
    options: &'a JudgeOptions,
}

impl<'a> Hearing<'a> {
    /// The spans that count as loops, the first detectable one first.
    fn loops(&self) -> impl Iterator<Item = (usize, &'a Span)> {
        let all = self.options.transient == Transient::Loop;
        let spans = self.truth.spans_in(self.options.unit);
        spans.filter(move |(_, s)| all || s.class == Class::Loop)
    }

    /// What was watched before a span.
    fn watched_before(&self, index: usize, span: &Span) -> u64 {
        match self.ruler {
            Ruler::Counted(watch) => watch.units(self.options.unit, span.seen),
            Ruler::Measured(_) => self.stretch(index, span).earliest,
        }
    }

    /// Where a span lies: in the units of its channel, or on the gauge.
    fn stretch(&self, index: usize, span: &Span) -> MeasuredSpan {
        match self.ruler {
            Ruler::Counted(_) => MeasuredSpan {
                onset: span.onset.count(),
                earliest: span.earliest.count(),
                end: span.end.count(),
            },
            // Each span has one; nothing of another unit stands in for it.
            Ruler::Measured(gauges) => gauges.stretch(self.options.unit, index).unwrap_or_default(),
        }
    }

    fn clean(&self) -> Outcome {
        let Some(alarm) = &self.alarm else {
            return Outcome {
                exposure: self.whole,
                ..Outcome::bare(Verdict::Quiet)
            };
        };
        let exposure = alarm.at;
        let lost = self.whole.saturating_sub(exposure);
        Outcome {
            exposure,
            lost,
            generated: exposure,
            ..Outcome::bare(Verdict::FalseAlarm)
        }
    }

    fn transient(&self) -> Outcome {
        Outcome::bare(match self.alarm {
            Some(_) => Verdict::TransientStop,
            None => Verdict::TransientPass,
        })
    }

    fn looping(&self) -> Outcome {
        let Some(alarm) = self.alarm else {
            return self.charge(Verdict::Miss);
        };
        let inside = |span: &Span| {
            let lo = span.earliest.count().saturating_sub(self.options.early);
            alarm.within(
                span,
                lo,
                span.end.count().saturating_add(self.options.grace),
            )
        };
        if let Some((index, span)) = self.loops().find(|(_, span)| inside(span)) {
            return self.found(&alarm, index, span);
        }
        let recovers = |s: &Span| {
            s.class == Class::Transient && alarm.within(s, s.earliest.count(), s.end.count())
        };
        let mut spans = self.truth.spans_in(self.options.unit);
        if self.options.transient == Transient::Ignore && spans.any(|(_, span)| recovers(span)) {
            return self.earlier();
        }
        match self
            .loops()
            .find(|(_, span)| alarm.precedes(span, self.options.early))
        {
            Some((index, span)) => {
                self.cut(&alarm, Verdict::Premature, self.watched_before(index, span))
            }
            None => self.cut(&alarm, Verdict::Stale, self.whole),
        }
    }

    /// A hit or a late one, in `span`.
    fn found(&self, alarm: &Alarm, index: usize, span: &Span) -> Outcome {
        let MeasuredSpan { onset, end, .. } = self.stretch(index, span);
        let at = match self.ruler {
            Ruler::Counted(_) => alarm.in_channel(span),
            Ruler::Measured(_) => alarm.at,
        };
        let passed = alarm.in_channel(span).saturating_sub(span.onset.count());
        let deadline = self.options.deadline;
        let late = deadline.is_some_and(|deadline| passed > deadline);
        let verdict = if late { Verdict::Late } else { Verdict::Hit };
        let stopped = at.clamp(onset, end.max(onset));
        Outcome {
            span: Some(index),
            latency: Some(at.saturating_sub(onset)),
            latency_ms: alarm
                .moment
                .t_ms
                .zip(span.onset_ms)
                .map(|(a, o)| (a - o).max(0.0)),
            latency_tokens: alarm
                .moment
                .tokens
                .zip(span.onset_tokens)
                .map(|(a, o)| a.saturating_sub(o)),
            saved: end.saturating_sub(stopped),
            exposure: self.exposure(),
            loop_chars: end.saturating_sub(onset),
            delay: self.capped(stopped - onset),
            kind_right: span
                .kind
                .filter(|_| !late)
                .map(|kind| kind == alarm.stop.kind),
            censored: span.open,
            ..Outcome::bare(verdict)
        }
    }

    /// An alarm outside every span; healthy text follows it until `until` watched chars.
    fn cut(&self, alarm: &Alarm, verdict: Verdict, until: u64) -> Outcome {
        let generated = alarm.at;
        Outcome {
            lost: until.saturating_sub(generated),
            generated,
            ..self.charge(verdict)
        }
    }

    /// An alarm in an earlier repetition: as if the first loop were stopped at its onset, but not found.
    fn earlier(&self) -> Outcome {
        let charged = self.charge(Verdict::TransientStop);
        Outcome {
            saved: charged.loop_chars,
            delay: 0,
            ..charged
        }
    }

    /// The whole of the first loop, which nobody stopped.
    fn charge(&self, verdict: Verdict) -> Outcome {
        let Some((index, span)) = self.loops().next() else {
            return Outcome::bare(verdict);
        };
        let MeasuredSpan { onset, end, .. } = self.stretch(index, span);
        let loop_chars = end.saturating_sub(onset);
        Outcome {
            span: Some(index),
            exposure: self.exposure(),
            loop_chars,
            delay: self.capped(loop_chars),
            censored: span.open,
            ..Outcome::bare(verdict)
        }
    }

    /// Watched chars up to the alarm or the first `earliest`, whichever came first.
    fn exposure(&self) -> u64 {
        let healthy = self
            .loops()
            .next()
            .map_or(self.whole, |(index, span)| self.watched_before(index, span));
        let watched = self.alarm.map_or(healthy, |alarm| alarm.at);
        healthy.min(watched)
    }

    fn capped(&self, delay: u64) -> u64 {
        self.options.horizon.map_or(delay, |tau| delay.min(tau))
    }
}
