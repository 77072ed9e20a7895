//! [`FactSight`]: a fact found by a member, compared with its thresholds.
//!
//! The **nearest** fact is the one rejected by the fewest thresholds, and among several of these the one with the
//! smallest gap. The gap of a threshold is the difference between the measured and the wanted number, divided by the
//! larger of the two. The gap of a fact is the largest gap among the thresholds that reject it. A growing repetition is
//! measured at its end.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

use super::loose_thresholds::loosen_thresholds;
use deadloop_corpus::Transcript;
use deadloop_detect::harness::{
    Bound, Domain, EventPlace, EventPlaces, Fact, Member, Meter, Param, Threshold, ThresholdSide,
    ZeroMeaning,
};
use deadloop_detect::{Channel, Event, Kind, TextChannel, Units, Value};
use serde::Serialize;

/// A repetition found by a member, compared with each of its thresholds.
#[derive(Clone, Debug, Serialize)]
pub struct FactSight {
    /// The length of the channel when the fact was accepted, or at the end of a rejected fact.
    pub position: Units,
    /// Whether every threshold accepts the fact.
    pub accepted: bool,
    /// The kind of loop.
    pub kind: Kind,
    /// The check of the detector that found the fact.
    pub check: &'static str,
    /// The position where the second copy begins.
    pub onset: Units,
    /// The length of one copy.
    pub period: Units,
    /// The number of whole copies at `position`.
    pub copies: i64,
    /// The repeated unit, shortened.
    pub unit: String,
    /// The thresholds that apply to the fact, in the order of the detector's parameters.
    pub thresholds: Vec<ThresholdGap>,
}

/// A threshold, compared with the number measured for a fact.
#[derive(Clone, Debug, Serialize)]
pub struct ThresholdGap {
    /// The name of the parameter.
    pub param: Cow<'static, str>,
    /// The value of the parameter in the setting.
    pub wanted: Value,
    /// The value measured for the fact.
    pub measured: Value,
    /// Whether the threshold accepts the fact.
    pub met: bool,
    /// Whether the alarm was raised when this threshold was met. If all were met at the same char, only the most
    /// narrowly met one is marked, preferably one that counts copies.
    pub decided: bool,
    /// The difference of `measured` and `wanted`, divided by the larger of the two.
    pub gap: f64,
    /// The side of the bound, lower or upper.
    #[serde(skip)]
    pub side: ThresholdSide,
    /// Whether the threshold counts copies.
    #[serde(skip)]
    repeats: bool,
    /// The registry entry of the parameter, if it is a threshold.
    #[serde(skip)]
    pub(super) spec: Option<&'static Param>,
}

/// A threshold parameter of a member, with its value.
struct ThresholdTerm<'m> {
    param: &'static Param,
    threshold: Threshold,
    wanted: &'m Value,
    /// `wanted` as a whole number.
    number: i64,
}

impl ThresholdTerm<'_> {
    /// Returns whether another fact reports the same repetition for this setting. This holds if the bound is exact and
    /// demands a stricter value than the setting's, or if a 0 refers to another parameter.
    fn belongs_elsewhere(&self, bound: Bound) -> bool {
        let refers_to_another = self.threshold.zero == ZeroMeaning::Elsewhere
            && self.number == self.threshold.elsewhere();
        match bound {
            Bound::Exactly(number) if number == self.number => false,
            Bound::Exactly(number) => {
                refers_to_another || self.threshold.accepts(self.number, number)
            }
            _ => refers_to_another && !self.is_fixed_by_fact(bound),
        }
    }

    /// Returns whether the fact alone fixes the value of the parameter.
    fn is_fixed_by_fact(&self, bound: Bound) -> bool {
        bound == Bound::Fixed(self.threshold.always())
            || bound == Bound::Exactly(self.threshold.elsewhere())
    }

    /// Returns whether the threshold accepts everything, since its value is at the loosest end of the domain. A
    /// threshold that counts copies must also accept a single copy.
    fn accepts_everything(&self) -> bool {
        let up = self.threshold.side == ThresholdSide::AtLeast;
        let end = match self.param.domain {
            Domain::Int { min, max } => Value::Int(if up { max } else { min }),
            Domain::Float { min, max } => Value::Float(if up { max } else { min }),
            _ => return false,
        };
        let unbound = self.threshold.zero == ZeroMeaning::NoBound && *self.wanted == Value::Int(0);
        let single = !self.threshold.repeats || self.number <= 1;
        single && (unbound || self.wanted.as_number() == end.as_number())
    }
}

/// Returns every fact that a member finds in the text of a channel, in order.
pub(super) fn facts_in(member: &Member, channel: TextChannel, text: &str) -> Vec<FactSight> {
    collect_facts(member, channel.into(), |meter, facts| {
        meter.push(&Event::Text(channel, text), EventPlace::default(), facts);
    })
}

/// Returns every fact that a member finds in a channel of a run, in order.
pub(super) fn facts_in_run(
    member: &Member,
    channel: Channel,
    transcript: &Transcript,
) -> Vec<FactSight> {
    collect_facts(member, channel, |meter, facts| {
        let mut places = EventPlaces::default();
        for (_, event) in transcript.stream() {
            meter.push(&event, places.advance(&event), facts);
        }
    })
}

/// Returns every fact that the loosened meter reports. `read` passes the events to the meter.
fn collect_facts(
    member: &Member,
    channel: Channel,
    read: impl FnOnce(&mut dyn Meter, &mut Vec<Fact>),
) -> Vec<FactSight> {
    let thresholds = member.detector.thresholds();
    let term = |(param, threshold): (&'static Param, Threshold)| {
        Some(ThresholdTerm {
            param,
            threshold,
            wanted: member.params.get(param.name)?,
            number: member.number(param, threshold),
        })
    };
    let terms: Vec<ThresholdTerm<'_>> = thresholds.filter_map(term).collect();
    let rule = member.rule();
    let mut facts = Vec::new();
    if let Some(recipe) = loosen_thresholds(member).recipe() {
        read(recipe.meter(channel).as_mut(), &mut facts);
    }
    let sight = |fact: Fact| {
        let elsewhere = |term: &ThresholdTerm<'_>| {
            let bound = fact.bounds.get(term.param.name);
            bound.is_some_and(|bound| term.belongs_elsewhere(bound))
        };
        let elsewhere = terms.iter().any(elsewhere);
        (!elsewhere).then(|| FactSight::new(rule.alarm(&fact), fact, &terms))
    };
    facts.into_iter().filter_map(sight).collect()
}

impl FactSight {
    /// Compares a fact with the thresholds. `alarm` is the step at which the member accepts the fact, or `None` if it
    /// never does.
    fn new(alarm: Option<u64>, fact: Fact, terms: &[ThresholdTerm<'_>]) -> Self {
        let step = alarm.unwrap_or(fact.until);
        let held = terms.iter().filter_map(|term| {
            let bound = fact.bounds.get(term.param.name);
            let bound = bound.filter(|bound| !term.is_fixed_by_fact(*bound))?;
            let from = fact.first_accepted(term.threshold, term.number, bound);
            let measured = fact.value(bound, step);
            let asked = ThresholdGap {
                param: term.param.name.into(),
                wanted: term.wanted.clone(),
                measured: term.threshold.to_value(measured),
                met: from.is_some(),
                decided: alarm.is_some() && from == alarm && step > fact.at,
                gap: relative_gap(measured, term.number),
                side: term.threshold.side,
                repeats: term.threshold.repeats,
                spec: Some(term.param),
            };
            (!asked.met || !term.accepts_everything()).then_some(asked)
        });
        let params = || terms.iter().map(|term| term.param);
        let structural = fact.asked.iter().map(|asked| {
            let from = fact.first_accepted(Threshold::AT_MOST, asked.least, asked.bound);
            let measured = fact.value(asked.bound, step);
            ThresholdGap {
                param: asked.param.clone().into(),
                wanted: Value::Int(asked.least),
                measured: Value::Int(measured),
                met: from.is_some(),
                decided: alarm.is_some() && from == alarm && step > fact.at,
                gap: relative_gap(measured, asked.least),
                side: ThresholdSide::AtMost,
                repeats: !asked.param.ends_with("min_chars"),
                spec: params().find(|param| asked.param.ends_with(param.name)),
            }
        });
        let mut thresholds: Vec<ThresholdGap> = held.chain(structural).collect();
        if alarm.is_some() && !thresholds.iter().any(|asked| asked.decided) {
            let spare = |asked: &&mut ThresholdGap| (!asked.repeats, asked.gap);
            let by = |a: &(bool, f64), b: &(bool, f64)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1));
            let tightest = thresholds
                .iter_mut()
                .min_by(|a, b| by(&spare(a), &spare(b)));
            tightest.into_iter().for_each(|asked| asked.decided = true);
        }
        Self {
            position: fact.position(step),
            accepted: alarm.is_some(),
            kind: fact.kind,
            check: fact.check,
            onset: fact.onset,
            period: fact.period,
            copies: fact.value(fact.copies, step),
            unit: fact.unit,
            thresholds,
        }
    }

    /// Returns the thresholds that reject this fact.
    pub(crate) fn refusals(&self) -> impl Iterator<Item = &ThresholdGap> {
        self.thresholds.iter().filter(|asked| !asked.met)
    }

    /// Orders two rejected facts by their distance from an alarm, the nearer one first. Of two at the same distance,
    /// the earlier one is first.
    fn compare_nearness(&self, other: &Self) -> Ordering {
        let gap = |sight: &Self| sight.refusals().map(|a| a.gap).fold(0.0, f64::max);
        let failed = self.refusals().count().cmp(&other.refusals().count());
        let gaps = gap(self).total_cmp(&gap(other));
        let places = self.position.count().cmp(&other.position.count());
        failed.then(gaps).then(places)
    }

    /// Returns whether both facts report the same repetition: overlapping copies of one unit, or of several units
    /// joined.
    fn is_same_loop(&self, other: &Self) -> bool {
        let extent = |s: &Self| {
            let (onset, period) = (s.onset.count(), s.period.count());
            let start = onset.saturating_sub(period);
            start..start + period * s.copies.max(1).unsigned_abs()
        };
        let (a, b) = (extent(self), extent(other));
        let (long, short) = (
            self.period.count().max(other.period.count()),
            self.period.count().min(other.period.count()),
        );
        let multiple = short > 0 && long.is_multiple_of(short);
        self.check == other.check && multiple && a.start < b.end && b.start < a.end
    }
}

/// Returns the difference of two numbers, divided by the larger one.
fn relative_gap(measured: i64, wanted: i64) -> f64 {
    let (a, b) = (measured as f64, wanted as f64);
    let most = a.abs().max(b.abs());
    if most == 0.0 {
        0.0
    } else {
        (a - b).abs() / most
    }
}

/// Returns the facts to show: that of the member's alarm, up to `most` nearest misses before it, and the nearest miss
/// in `span`, the labelled loop.
pub(super) fn select_facts(
    sights: &[FactSight],
    most: usize,
    span: Option<&Range<u64>>,
) -> Vec<FactSight> {
    // Of several facts accepted at the same char, the first raises the alarm.
    let fired = sights
        .iter()
        .filter(|s| s.accepted)
        .min_by_key(|s| s.position.count());
    let done = |s: &&FactSight| fired.is_none_or(|f| s.position.count() <= f.position.count());
    let mut refused: Vec<&FactSight> = sights.iter().filter(|s| !s.accepted).filter(done).collect();
    refused.sort_by(|a, b| a.compare_nearness(b));
    let mut shown: Vec<&FactSight> = Vec::new();
    let is_in_span = |s: &FactSight| {
        span.is_some_and(|span| span.contains(&s.position.count().saturating_sub(1)))
    };
    for sight in refused {
        let room = shown.len() < most || is_in_span(sight) && !shown.iter().any(|t| is_in_span(t));
        if room && !fired.iter().chain(&shown).any(|t| t.is_same_loop(sight)) {
            shown.push(sight);
        }
    }
    fired.into_iter().chain(shown).cloned().collect()
}

/// Returns the rejected fact that came nearest to an alarm.
pub(super) fn nearest_miss<'s>(
    sights: impl IntoIterator<Item = &'s FactSight>,
) -> Option<&'s FactSight> {
    let refused = sights.into_iter().filter(|s| !s.accepted);
    refused.min_by(|a, b| a.compare_nearness(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::loose_thresholds::tests::member;
    use deadloop_detect::Chars;

    const LANE: TextChannel = TextChannel::Answer;

    #[test]
    fn an_alarm_is_decided_by_the_threshold_that_was_met_last() {
        let text = "abcde".repeat(20);
        for (params, at, by) in [
            ("min_chars = 40", 40, "min_chars"),
            ("min_chars = 10\nmin_copies = 9", 45, "min_copies"),
        ] {
            let fired = select_facts(&facts_in(&member("periodic", params), LANE, &text), 3, None)
                .remove(0);
            let decided = fired.thresholds.iter().filter(|a| a.decided);
            let decided: Vec<_> = decided.map(|a| a.param.as_ref()).collect();
            assert_eq!(
                (fired.position, fired.accepted),
                (Units::from(Chars(at)), true)
            );
            assert_eq!(decided, [by]);
            let measured: Vec<_> = fired.thresholds.iter().map(|a| &a.measured).collect();
            let at = i64::try_from(at).unwrap();
            assert_eq!(measured, [&Value::Int(at / 5), &Value::Int(at)]);
        }
    }

    #[test]
    fn where_all_are_met_at_once_the_copies_decide() {
        let text = "再想一想，".repeat(400);
        let all = facts_in(&member("checkpoint", ""), LANE, &text);
        let fired = select_facts(&all, 3, None).remove(0);
        assert_eq!(
            (fired.position, fired.check),
            (Chars(2000).into(), "short-sequence")
        );
        let decided: Vec<_> = fired.thresholds.iter().filter(|a| a.decided).collect();
        assert_eq!(
            (decided.len(), decided[0].param.as_ref()),
            (1, "min_repeats")
        );
    }

    /// Returns `copies` copies of the `n` chars that start at `first`.
    fn unit(first: char, n: u32, copies: usize) -> String {
        let chars = (0..n).filter_map(|i| char::from_u32(u32::from(first) + i));
        chars.collect::<String>().repeat(copies)
    }

    #[test]
    fn the_nearest_is_refused_by_the_fewest_then_by_the_least() {
        let parts = [unit('А', 60, 2), unit('一', 100, 3), unit('a', 6, 5)];
        let all = facts_in(&member("periodic", ""), LANE, &parts.join("-"));
        let periods =
            |shown: &[FactSight]| shown.iter().map(|s| s.period.count()).collect::<Vec<_>>();
        // 3 of 4 copies; 30 of 200 chars; 2 of 4 copies and 120 of 200 chars.
        assert_eq!(periods(&select_facts(&all, 3, None)), [100, 6, 60]);
        let nearest = nearest_miss(&all).unwrap();
        let refusing: Vec<_> = nearest
            .refusals()
            .map(|a| (a.param.as_ref(), &a.measured))
            .collect();
        assert_eq!(refusing, [("min_copies", &Value::Int(3))]);
        // Near misses in the labelled loop are reported even if others are nearer.
        assert_eq!(periods(&select_facts(&all, 1, Some(&(60..120)))), [100, 60]);
    }

    #[test]
    fn a_zero_that_stands_for_another_value_is_judged_by_that_one() {
        // One char repeated is held to min_single or, where that is 0, to min_chars.
        let text = "-".repeat(90);
        for (params, by) in [
            ("min_chars = 100", "min_chars"),
            ("min_single = 300", "min_single"),
        ] {
            let shown = select_facts(&facts_in(&member("periodic", params), LANE, &text), 3, None);
            let refusing: Vec<_> = shown[0].refusals().map(|a| a.param.as_ref()).collect();
            assert_eq!((shown.len(), refusing), (1, vec![by]), "{params}");
        }
    }

    #[test]
    fn where_each_count_has_a_fact_the_highest_below_the_wanted_one_is_nearest() {
        let member = member("recurrence", "min_count = 7");
        let parts: Vec<String> = (0..5)
            .map(|i| unit('一', 80, 1) + &unit(char::from_u32(0xac00 + 64 * i).unwrap(), 20, 1))
            .collect();
        let shown = select_facts(&facts_in(&member, LANE, &parts.concat()), 1, None);
        let asked: Vec<_> = shown[0]
            .refusals()
            .map(|a| (a.param.as_ref(), &a.measured))
            .collect();
        assert_eq!(asked, [("min_count", &Value::Int(5))]);
        let shown = select_facts(&facts_in(&member, LANE, &unit('一', 80, 9)), 1, None);
        let decided = shown[0].thresholds.iter().find(|a| a.decided).unwrap();
        assert!(shown[0].accepted);
        assert_eq!(
            (decided.param.as_ref(), &decided.measured),
            ("min_count", &Value::Int(7))
        );
    }
}
