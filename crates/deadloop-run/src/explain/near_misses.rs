//! Compares the facts that a member saw with its thresholds.
//!
//! The **nearest** fact is the one that the fewest thresholds refuse, and among equals the one with the smallest gap.
//! The gap of a threshold is the difference between the measured and the wanted number, as a share of the larger of
//! the two. The gap of a fact is the largest gap among the thresholds that refuse it. A growing stretch is measured
//! at its end.

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

/// A fact, compared with every threshold of a member.
#[derive(Clone, Debug, Serialize)]
pub struct FactSight {
    /// The length of the channel when the fact was accepted. Otherwise its length at the end of the fact.
    pub position: Units,
    /// Whether every threshold accepts it.
    pub accepted: bool,
    /// The kind of loop.
    pub kind: Kind,
    /// The check that saw it.
    pub check: &'static str,
    /// The beginning of the second copy.
    pub onset: Units,
    /// The length of one copy.
    pub period: Units,
    /// The number of whole copies at `position`.
    pub copies: i64,
    /// The repeated unit, shortened.
    pub unit: String,
    /// The thresholds that apply to it, in the order of the detector's parameters.
    pub thresholds: Vec<AskedOf>,
}

/// A threshold, and the number measured for a fact.
#[derive(Clone, Debug, Serialize)]
pub struct AskedOf {
    /// The threshold's parameter.
    pub param: Cow<'static, str>,
    /// Its value in the setting.
    pub wanted: Value,
    /// The measured value.
    pub measured: Value,
    /// Whether the threshold accepts the fact.
    pub met: bool,
    /// Whether this threshold decided that an accepted fact became an alarm, because it was met last. If all were met
    /// at the same char, the most narrowly met one decides, preferring those that count copies.
    pub decided: bool,
    /// The difference as a share of the larger number.
    pub gap: f64,
    /// The side of the bound, lower or upper.
    #[serde(skip)]
    pub side: ThresholdSide,
    /// Whether the threshold counts copies.
    #[serde(skip)]
    repeats: bool,
    /// The description of the parameter, if it is a threshold.
    #[serde(skip)]
    pub(super) spec: Option<&'static Param>,
}

/// A threshold of a member.
struct ThresholdTerm<'m> {
    param: &'static Param,
    threshold: Threshold,
    wanted: &'m Value,
    number: i64,
}

impl ThresholdTerm<'_> {
    /// Returns whether another fact reports this repetition for the setting. That is so if the bound is exact and
    /// demands a stricter value than the setting's, or another meaning of a 0 that refers to another parameter.
    fn belongs_elsewhere(&self, bound: Bound) -> bool {
        let stands_for_another = self.threshold.zero == ZeroMeaning::Elsewhere
            && self.number == self.threshold.elsewhere();
        match bound {
            Bound::Exactly(number) if number == self.number => false,
            Bound::Exactly(number) => {
                stands_for_another || self.threshold.accepts(self.number, number)
            }
            _ => stands_for_another && !self.is_answered(bound),
        }
    }

    /// Returns whether the fact itself fixes the value of the parameter.
    fn is_answered(&self, bound: Bound) -> bool {
        bound == Bound::Fixed(self.threshold.always())
            || bound == Bound::Exactly(self.threshold.elsewhere())
    }

    /// Returns whether the value accepts everything: it is at the loosest end of its domain. A number of copies must
    /// also accept a single one.
    fn is_lax(&self) -> bool {
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

/// Returns every fact that a member found in the text of a channel, in order.
pub(super) fn sights(member: &Member, channel: TextChannel, text: &str) -> Vec<FactSight> {
    sights_of(member, channel.into(), |meter, facts| {
        meter.push(&Event::Text(channel, text), EventPlace::default(), facts);
    })
}

/// Returns every fact that a member found in a run, in order.
pub(super) fn sights_in_run(
    member: &Member,
    channel: Channel,
    transcript: &Transcript,
) -> Vec<FactSight> {
    sights_of(member, channel, |meter, facts| {
        let mut places = EventPlaces::default();
        for (_, event) in transcript.stream() {
            meter.push(&event, places.advance(&event), facts);
        }
    })
}

fn sights_of(
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
    /// Compares a fact with the thresholds. `alarm` is the step at which the rule accepts the fact.
    fn new(alarm: Option<u64>, fact: Fact, terms: &[ThresholdTerm<'_>]) -> Self {
        let step = alarm.unwrap_or(fact.until);
        let held = terms.iter().filter_map(|term| {
            let bound = fact.bounds.get(term.param.name);
            let bound = bound.filter(|bound| !term.is_answered(*bound))?;
            let from = fact.accepted(term.threshold, term.number, bound);
            let measured = fact.value(bound, step);
            let asked = AskedOf {
                param: term.param.name.into(),
                wanted: term.wanted.clone(),
                measured: term.threshold.written(measured),
                met: from.is_some(),
                decided: alarm.is_some() && from == alarm && step > fact.at,
                gap: gap(measured, term.number),
                side: term.threshold.side,
                repeats: term.threshold.repeats,
                spec: Some(term.param),
            };
            (!asked.met || !term.is_lax()).then_some(asked)
        });
        let params = || terms.iter().map(|term| term.param);
        let structural = fact.asked.iter().map(|asked| {
            let from = fact.accepted(Threshold::AT_MOST, asked.least, asked.bound);
            let measured = fact.value(asked.bound, step);
            AskedOf {
                param: asked.param.clone().into(),
                wanted: Value::Int(asked.least),
                measured: Value::Int(measured),
                met: from.is_some(),
                decided: alarm.is_some() && from == alarm && step > fact.at,
                gap: gap(measured, asked.least),
                side: ThresholdSide::AtMost,
                repeats: !asked.param.ends_with("min_chars"),
                spec: params().find(|param| asked.param.ends_with(param.name)),
            }
        });
        let mut thresholds: Vec<AskedOf> = held.chain(structural).collect();
        if alarm.is_some() && !thresholds.iter().any(|asked| asked.decided) {
            let spare = |asked: &&mut AskedOf| (!asked.repeats, asked.gap);
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

    /// Returns the thresholds that refuse this fact.
    pub(crate) fn refusals(&self) -> impl Iterator<Item = &AskedOf> {
        self.thresholds.iter().filter(|asked| !asked.met)
    }

    /// Orders two refused facts by how near they came to an alarm. The earlier of two equals is nearer.
    fn compare(&self, other: &Self) -> Ordering {
        let gap = |sight: &Self| sight.refusals().map(|a| a.gap).fold(0.0, f64::max);
        let failed = self.refusals().count().cmp(&other.refusals().count());
        let gaps = gap(self).total_cmp(&gap(other));
        let places = self.position.count().cmp(&other.position.count());
        failed.then(gaps).then(places)
    }

    /// Returns whether both facts are of the same repetition: copies in the same place, of one unit or of several
    /// units together.
    fn is_like(&self, other: &Self) -> bool {
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

/// Returns the difference of two numbers as a share of the larger one.
fn gap(measured: i64, wanted: i64) -> f64 {
    let (a, b) = (measured as f64, wanted as f64);
    let most = a.abs().max(b.abs());
    if most == 0.0 {
        0.0
    } else {
        (a - b).abs() / most
    }
}

/// Selects the facts to show: the one behind the member's alarm, the `most` nearest misses that had ended by then,
/// and the nearest miss that ends in `span`, the labelled loop.
pub(super) fn select(
    sights: &[FactSight],
    most: usize,
    span: Option<&Range<u64>>,
) -> Vec<FactSight> {
    // Of several facts accepted at one char, the first counts.
    let fired = sights
        .iter()
        .filter(|s| s.accepted)
        .min_by_key(|s| s.position.count());
    let over = |s: &&FactSight| fired.is_none_or(|f| s.position.count() <= f.position.count());
    let mut refused: Vec<&FactSight> = sights.iter().filter(|s| !s.accepted).filter(over).collect();
    refused.sort_by(|a, b| a.compare(b));
    let mut told: Vec<&FactSight> = Vec::new();
    let inside = |s: &FactSight| {
        span.is_some_and(|span| span.contains(&s.position.count().saturating_sub(1)))
    };
    for sight in refused {
        let room = told.len() < most || inside(sight) && !told.iter().any(|t| inside(t));
        if room && !fired.iter().chain(&told).any(|t| t.is_like(sight)) {
            told.push(sight);
        }
    }
    fired.into_iter().chain(told).cloned().collect()
}

/// Returns the nearest of the refused facts.
pub(super) fn nearest_miss<'s>(
    sights: impl IntoIterator<Item = &'s FactSight>,
) -> Option<&'s FactSight> {
    let refused = sights.into_iter().filter(|s| !s.accepted);
    refused.min_by(|a, b| a.compare(b))
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
            let fired =
                select(&sights(&member("periodic", params), LANE, &text), 3, None).remove(0);
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
        let all = sights(&member("checkpoint", ""), LANE, &text);
        let fired = select(&all, 3, None).remove(0);
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

    /// `n` chars from `first` on, `copies` times.
    fn unit(first: char, n: u32, copies: usize) -> String {
        let chars = (0..n).filter_map(|i| char::from_u32(u32::from(first) + i));
        chars.collect::<String>().repeat(copies)
    }

    #[test]
    fn the_nearest_is_refused_by_the_fewest_then_by_the_least() {
        let parts = [unit('А', 60, 2), unit('一', 100, 3), unit('a', 6, 5)];
        let all = sights(&member("periodic", ""), LANE, &parts.join("-"));
        let periods =
            |told: &[FactSight]| told.iter().map(|s| s.period.count()).collect::<Vec<_>>();
        // 3 of 4 copies; 30 of 200 chars; 2 of 4 copies and 120 of 200 chars.
        assert_eq!(periods(&select(&all, 3, None)), [100, 6, 60]);
        let nearest = nearest_miss(&all).unwrap();
        let refusing: Vec<_> = nearest
            .refusals()
            .map(|a| (a.param.as_ref(), &a.measured))
            .collect();
        assert_eq!(refusing, [("min_copies", &Value::Int(3))]);
        // What lies in the labelled loop is told even where others came nearer.
        assert_eq!(periods(&select(&all, 1, Some(&(60..120)))), [100, 60]);
    }

    #[test]
    fn a_zero_that_stands_for_another_value_is_judged_by_that_one() {
        // One char repeated is held to min_single or, where that is 0, to min_chars.
        let text = "-".repeat(90);
        for (params, by) in [
            ("min_chars = 100", "min_chars"),
            ("min_single = 300", "min_single"),
        ] {
            let told = select(&sights(&member("periodic", params), LANE, &text), 3, None);
            let refusing: Vec<_> = told[0].refusals().map(|a| a.param.as_ref()).collect();
            assert_eq!((told.len(), refusing), (1, vec![by]), "{params}");
        }
    }

    #[test]
    fn where_each_count_has_a_fact_the_highest_below_the_wanted_one_is_nearest() {
        let member = member("recurrence", "min_count = 7");
        let parts: Vec<String> = (0..5)
            .map(|i| unit('一', 80, 1) + &unit(char::from_u32(0xac00 + 64 * i).unwrap(), 20, 1))
            .collect();
        let told = select(&sights(&member, LANE, &parts.concat()), 1, None);
        let asked: Vec<_> = told[0]
            .refusals()
            .map(|a| (a.param.as_ref(), &a.measured))
            .collect();
        assert_eq!(asked, [("min_count", &Value::Int(5))]);
        let told = select(&sights(&member, LANE, &unit('一', 80, 9)), 1, None);
        let decided = told[0].thresholds.iter().find(|a| a.decided).unwrap();
        assert!(told[0].accepted);
        assert_eq!(
            (decided.param.as_ref(), &decided.measured),
            ("min_count", &Value::Int(7))
        );
    }
}
