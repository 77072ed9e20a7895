//! [`judge`]: the comparison of a setting's alarm with the label.
//!
//! Rules beyond the table of verdicts in `reports/METHOD.md`:
//! - With several loop spans, an alarm inside a span is judged by that span. A `miss`, or an alarm outside every span
//!   (`premature`, `stale`), is charged to the span that becomes detectable first, since a detector should have stopped
//!   there.
//! - Inside both a loop and a transient span, the loop decides: the alarm is right.
//! - An alarm in another channel than a span's is compared by the amount of the span's channel that had arrived at the
//!   alarm. Positions of different channels are never compared.
//! - A span of calls or turns begins once its second copy has been issued: an alarm at c calls is inside it if
//!   `earliest < c <= end`. A span of text begins with the char: `earliest <= c <= end`.

use deadloop_replay::detect::Unit;
use deadloop_replay::{Moment, Stop};

use crate::judge::{JudgeOptions, Outcome, ReadChannels, Transient, Verdict};
use crate::truth::{Case, Class, Span, Truth};

/// Compares the decision of a setting on a transcript with the label. `stop` is the first alarm.
///
/// The outcomes for a loop from char 1000 to the end of the transcript at 3000:
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
/// If the same transcript also has a transient repetition from char 200 to 500, an alarm at 300 is a `transient-stop`
/// with exposure 300, delay 0 and saved 2000. The loop counts in the column `earlier`.
pub fn judge<'a>(
    case: &'a Case,
    channels: ReadChannels,
    stop: Option<&'a Stop>,
    options: &'a JudgeOptions,
) -> Outcome {
    let class = case.class_in(options.unit);
    let Some((truth, class)) = case.truth.as_ref().zip(class) else {
        return Outcome::from_verdict(Verdict::Unlabelled);
    };
    let alarm = |stop: &'a Stop| {
        let moment = &stop.delivered;
        let at = channels.units(options.unit, moment.seen);
        DeliveredAlarm { stop, moment, at }
    };
    let input = VerdictInput {
        truth,
        whole: channels.units(options.unit, case.timeline.length()),
        alarm: stop.map(alarm),
        channels,
        options,
    };
    if input.loops().next().is_some() {
        input.judge_loop()
    } else if class == Class::Clean || options.transient == Transient::Clean {
        input.judge_clean()
    } else {
        input.judge_transient()
    }
}

/// An alarm at the moment of its delivery.
#[derive(Clone, Copy)]
struct DeliveredAlarm<'a> {
    stop: &'a Stop,
    moment: &'a Moment,
    /// The amount of watched output at the alarm, in the unit of judging.
    at: u64,
}

impl DeliveredAlarm<'_> {
    /// Returns the amount of the span's channel that had arrived at the alarm.
    fn position_in(&self, span: &Span) -> u64 {
        self.moment.seen.count(span.channel)
    }

    /// Returns whether the alarm is between the span's `earliest` and its end.
    fn is_within(&self, span: &Span) -> bool {
        let at = self.position_in(span);
        let (lo, hi) = (span.earliest.count(), span.end.count());
        match self.is_in_other_channel(span) {
            true => self.moment.seen > span.seen && self.moment.seen <= span.until,
            false if span.channel.unit() == Unit::Chars => lo <= at && at <= hi,
            false => lo < at && at <= hi,
        }
    }

    /// Returns whether the span becomes detectable only after the alarm.
    fn precedes(&self, span: &Span) -> bool {
        let at = self.position_in(span);
        let earliest = span.earliest.count();
        match self.is_in_other_channel(span) {
            true => self.moment.seen <= span.seen,
            false if span.channel.unit() == Unit::Chars => at < earliest,
            false => at <= earliest,
        }
    }

    /// Returns whether the alarm is in another channel than a text span, so that their moments are compared.
    fn is_in_other_channel(&self, span: &Span) -> bool {
        self.stop.channel != span.channel && span.channel.unit() == Unit::Chars
    }
}

/// The label, the alarm and the options from which a verdict is made.
struct VerdictInput<'a> {
    truth: &'a Truth,
    /// The amount of watched output of the whole transcript, in the unit of judging.
    whole: u64,
    alarm: Option<DeliveredAlarm<'a>>,
    /// The channels that the setting reads.
    channels: ReadChannels,
    options: &'a JudgeOptions,
}

impl<'a> VerdictInput<'a> {
    /// Returns the index and the span of each loop, in the order in which they become detectable.
    fn loops(&self) -> impl Iterator<Item = (usize, &'a Span)> {
        let all = self.options.transient == Transient::Loop;
        let spans = self.truth.spans_in(self.options.unit);
        spans.filter(move |(_, s)| all || s.class == Class::Loop)
    }

    /// Returns the amount of watched output before a span.
    fn watched_before(&self, span: &Span) -> u64 {
        self.channels.units(self.options.unit, span.seen)
    }

    fn judge_clean(&self) -> Outcome {
        let Some(alarm) = &self.alarm else {
            return Outcome {
                exposure: self.whole,
                ..Outcome::from_verdict(Verdict::Quiet)
            };
        };
        let exposure = alarm.at;
        let lost = self.whole.saturating_sub(exposure);
        Outcome {
            exposure,
            lost,
            generated: exposure,
            ..Outcome::from_verdict(Verdict::FalseAlarm)
        }
    }

    fn judge_transient(&self) -> Outcome {
        Outcome::from_verdict(match self.alarm {
            Some(_) => Verdict::TransientStop,
            None => Verdict::TransientPass,
        })
    }

    fn judge_loop(&self) -> Outcome {
        let Some(alarm) = self.alarm else {
            return self.charge_first_loop(Verdict::Miss);
        };
        if let Some((index, span)) = self.loops().find(|(_, span)| alarm.is_within(span)) {
            return self.hit_outcome(&alarm, index, span);
        }
        let recovers = |s: &Span| s.class == Class::Transient && alarm.is_within(s);
        let mut spans = self.truth.spans_in(self.options.unit);
        if self.options.transient == Transient::Ignore && spans.any(|(_, span)| recovers(span)) {
            return self.earlier_outcome();
        }
        match self.loops().find(|(_, span)| alarm.precedes(span)) {
            Some((_, span)) => {
                self.wrong_outcome(&alarm, Verdict::Premature, self.watched_before(span))
            }
            None => self.wrong_outcome(&alarm, Verdict::Stale, self.whole),
        }
    }

    /// Returns the outcome of a hit in `span`.
    fn hit_outcome(&self, alarm: &DeliveredAlarm, index: usize, span: &Span) -> Outcome {
        let (onset, end) = (span.onset.count(), span.end.count());
        let at = alarm.position_in(span);
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
            delay: stopped - onset,
            censored: span.open,
            ..Outcome::from_verdict(Verdict::Hit)
        }
        .with_delay_counts(self.options.unit, span.period)
    }

    /// Returns the outcome of an alarm outside every span. Healthy output follows the alarm up to `healthy_end`.
    fn wrong_outcome(&self, alarm: &DeliveredAlarm, verdict: Verdict, healthy_end: u64) -> Outcome {
        let generated = alarm.at;
        Outcome {
            lost: healthy_end.saturating_sub(generated),
            generated,
            ..self.charge_first_loop(verdict)
        }
    }

    /// Returns the outcome of an alarm in an earlier repetition. The first loop ends at its onset, without a hit.
    fn earlier_outcome(&self) -> Outcome {
        let charged = self.charge_first_loop(Verdict::TransientStop);
        Outcome {
            saved: charged.loop_chars,
            delay: 0,
            ..charged
        }
        .with_delay_counts(self.options.unit, None)
    }

    /// Returns the outcome with the verdict and the whole first loop as delay.
    fn charge_first_loop(&self, verdict: Verdict) -> Outcome {
        let Some((index, span)) = self.loops().next() else {
            return Outcome::from_verdict(verdict);
        };
        let loop_chars = span.end.count().saturating_sub(span.onset.count());
        Outcome {
            span: Some(index),
            exposure: self.exposure(),
            loop_chars,
            delay: loop_chars,
            censored: span.open,
            ..Outcome::from_verdict(verdict)
        }
    }

    /// Returns the amount of watched healthy output: up to the alarm or the first `earliest`, whichever is earlier.
    fn exposure(&self) -> u64 {
        let healthy = self
            .loops()
            .next()
            .map_or(self.whole, |(_, span)| self.watched_before(span));
        let watched = self.alarm.map_or(healthy, |alarm| alarm.at);
        healthy.min(watched)
    }
}
