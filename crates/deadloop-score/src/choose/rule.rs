//! The rules of scoring.md, "Choosing a setting", 4: when a candidate ships ([`ships`]), and the verdict
//! ([`ruling`]). They know probabilities and counts alone, so that each bound can be tested by a hair.

use super::advice::{Lack, Ruling, Ship};
use super::duel::Figures;

/// Fewer loops than this, or in fewer groups, or clean text in fewer, say nothing about a choice.
pub(crate) const LEAST: u64 = 10;
/// Wrong alarms that a limit would have to allow on a corpus for it to say anything about the limit.
const LEAST_EXPECTED: f64 = 0.3;
/// The same for a candidate to be let in by the limit rather than by the comparison.
const ENOUGH_EXPECTED: f64 = 2.0;
/// The interval of a difference that reaches this many points on both sides says nothing.
const WIDE: f64 = 5.0;
/// How sure a candidate has to be within the limits, held out.
pub(crate) const WITHIN: f64 = 0.8;
/// How sure it has to be that the setting in use breaks a limit.
const BROKEN: f64 = 0.95;
/// How sure a difference has to be.
pub(crate) const SURE: f64 = 0.9;

/// What the rules of shipping ask for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bar {
    /// How sure each difference has to be.
    pub(crate) sure: f64,
    /// How many points a better setting has to gain.
    pub(crate) worthwhile: f64,
    /// Whether the user gave the limits.
    pub(crate) given: bool,
    /// Whether it has to be sure that a newcomer costs more than it spares before that holds it back.
    pub(crate) surely_dear: bool,
    /// How many wrong alarms the limit allows on this text; `None`: wrong alarms have no limit.
    pub(crate) expected: Option<f64>,
    /// Whether the newcomer keeps the limits, where something else than [`WITHIN`] decides that.
    pub(crate) keeps_limits: Option<bool>,
}

/// By which rule a candidate ships, if it does. What turns a guard that pays at the rate of loops that was said into one
/// that does not is for people to decide: see [`costs`].
pub(crate) fn ships(f: &Figures, bar: &Bar) -> Option<Ship> {
    but_for_the_price(f, bar).filter(|_| !turns_net(f, bar))
}

/// Whether a candidate would ship, but costs more than it spares where what it replaces does not.
pub(crate) fn costs(f: &Figures, bar: &Bar) -> bool {
    turns_net(f, bar) && but_for_the_price(f, bar).is_some()
}

/// Whether what a newcomer spares turns negative.
fn turns_net(f: &Figures, bar: &Bar) -> bool {
    f.turns_net() && (!bar.surely_dear || f.net_below_0 >= bar.sure)
}

/// The first rule that holds.
fn but_for_the_price(f: &Figures, bar: &Bar) -> Option<Ship> {
    let enough = bar.expected.is_none_or(|n| n >= ENOUGH_EXPECTED);
    let within = bar.keeps_limits.unwrap_or(f.within >= WITHIN);
    // Points are quotients: 1 must not be missed by the last bit.
    let worthwhile = f.points() >= bar.worthwhile - 1e-9;
    let broken = f.incumbent_within.iter().any(|p| 1.0 - p >= BROKEN);
    let better = f.better >= bar.sure && worthwhile;
    if better && (within && enough || f.no_more_wrong >= bar.sure) {
        Some(Ship::Better)
    } else if f.no_point_worse >= bar.sure && f.fewer_wrong >= bar.sure {
        Some(Ship::Safer)
    } else if bar.given && broken && within && f.not_five_worse >= bar.sure {
        Some(Ship::Needed)
    } else {
        None
    }
}

/// What a verdict depends on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Situation {
    /// Transcripts with a label.
    pub(crate) labelled: u64,
    /// Scored loops, each text once.
    pub(crate) loops: u64,
    /// Groups in which they stand.
    pub(crate) loop_groups: u64,
    /// Groups with clean text.
    pub(crate) clean_groups: u64,
    /// How many wrong alarms the limit allows on this text; `None`: wrong alarms have no limit.
    pub(crate) expected: Option<f64>,
    /// The 80 % interval of the difference, in points; `None`: there is no candidate.
    pub(crate) interval: Option<(f64, f64)>,
    /// Whether some setting is within the limits at the lowest level.
    pub(crate) feasible: bool,
    /// Whether the candidate, or the setting of a model, ships.
    pub(crate) ships: bool,
    /// Whether the setting in use is over a limit by estimate.
    pub(crate) over: bool,
    /// Whether something would ship, but for what its wrong alarms cost.
    pub(crate) costs: bool,
}

/// Why too little is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Missing {
    Labels,
    Loops(u64),
    LoopGroups(u64),
    CleanGroups(u64),
    Exposure(f64),
    Certainty(f64, f64),
}

impl Missing {
    /// The same without its numbers.
    pub(crate) fn lack(self) -> Lack {
        match self {
            Self::Labels => Lack::Labels,
            Self::Loops(_) | Self::LoopGroups(_) => Lack::Loops,
            Self::CleanGroups(_) | Self::Exposure(_) => Lack::Clean,
            Self::Certainty(..) => Lack::Certainty,
        }
    }
}

/// What is missing, if something is; the first.
pub(crate) fn missing(s: &Situation) -> Option<Missing> {
    if s.labelled == 0 {
        return Some(Missing::Labels);
    }
    if s.loops < LEAST {
        return Some(Missing::Loops(s.loops));
    }
    if s.loop_groups < LEAST {
        return Some(Missing::LoopGroups(s.loop_groups));
    }
    if s.clean_groups < LEAST {
        return Some(Missing::CleanGroups(s.clean_groups));
    }
    if let Some(expected) = s.expected.filter(|n| *n < LEAST_EXPECTED) {
        return Some(Missing::Exposure(expected));
    }
    let (lo, hi) = s.interval.filter(is_wide)?;
    Some(Missing::Certainty(lo, hi))
}

/// The verdict on a choice among guards.
pub(crate) fn ruling(s: &Situation) -> Ruling {
    Grounds {
        lacks: missing(s).is_some(),
        feasible: s.feasible,
        ships: s.ships,
        over: s.over || s.costs,
    }
    .ruling()
}

/// What the verdict on a choice rests on, whatever is chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grounds {
    /// Whether too little is known.
    pub(crate) lacks: bool,
    /// Whether some setting is within the limits.
    pub(crate) feasible: bool,
    /// Whether something ships.
    pub(crate) ships: bool,
    /// Whether the setting in use is over a limit, or what is better is.
    pub(crate) over: bool,
}

impl Grounds {
    /// The verdict: the first that holds.
    pub(crate) fn ruling(self) -> Ruling {
        if self.lacks {
            Ruling::Collect
        } else if !self.feasible {
            Ruling::None
        } else if self.ships {
            Ruling::Ship
        } else if self.over {
            Ruling::Decide
        } else {
            Ruling::Keep
        }
    }
}

/// Whether an interval of a difference, in points, says nothing.
pub(crate) fn is_wide((lo, hi): &(f64, f64)) -> bool {
    *lo <= -WIDE && *hi >= WIDE
}

#[cfg(test)]
mod tests {
    use super::*;

    const BAR: Bar = Bar {
        sure: 0.9,
        worthwhile: 1.0,
        given: false,
        surely_dear: false,
        expected: Some(2.0),
        keeps_limits: None,
    };

    /// Exactly good enough to ship as better.
    fn better() -> Figures {
        Figures {
            difference: Some(0.01),
            point: 0.01,
            better: 0.9,
            within: 0.8,
            incumbent_within: vec![1.0],
            ..Figures::default()
        }
    }

    type Change = fn(&mut Figures, &mut Bar);
    type Turn = fn(&mut Situation);

    /// By which rule figures ship under a bar, with something changed in both.
    fn with(f: &Figures, bar: Bar, change: Change) -> Option<Ship> {
        let (mut f, mut bar) = (f.clone(), bar);
        change(&mut f, &mut bar);
        ships(&f, &bar)
    }

    #[test]
    fn better_is_sure_worthwhile_and_within_the_limits() {
        let with = |change: Change| with(&better(), BAR, change);
        assert_eq!(with(|_, _| ()), Some(Ship::Better));
        assert_eq!(with(|_, bar| bar.expected = None), Some(Ship::Better));
        let short: [Change; 7] = [
            |f, _| f.better = 0.8995,
            |f, _| f.difference = Some(0.00999),
            |f, _| f.difference = None,
            |f, _| f.within = 0.7999,
            |_, bar| bar.expected = Some(1.99),
            |_, bar| bar.worthwhile = 2.0,
            |_, bar| bar.sure = 0.95,
        ];
        for (nth, change) in short.into_iter().enumerate() {
            assert_eq!(with(change), None, "{nth}");
        }
    }

    #[test]
    fn a_price_that_has_to_be_sure_holds_back_where_it_is() {
        let dear = |below: f64, surely_dear: bool| {
            let figures = Figures {
                net: [Some(-1.0), Some(1.0)],
                net_below_0: below,
                ..better()
            };
            let bar = Bar { surely_dear, ..BAR };
            (ships(&figures, &bar).is_some(), costs(&figures, &bar))
        };
        assert_eq!(dear(0.5, false), (false, true));
        assert_eq!(dear(0.8995, true), (true, false));
        assert_eq!(dear(0.9, true), (false, true));
    }

    #[test]
    fn better_may_be_over_a_limit_with_no_more_wrong_alarms() {
        let over = Figures {
            within: 0.1,
            no_more_wrong: 0.9,
            ..better()
        };
        let little = Bar {
            expected: Some(0.3),
            ..BAR
        };
        assert_eq!(ships(&over, &little), Some(Ship::Better));
        assert_eq!(with(&over, little, |f, _| f.no_more_wrong = 0.8995), None);
    }

    #[test]
    fn safer_has_fewer_wrong_alarms_and_is_no_point_worse() {
        let safer = Figures {
            no_point_worse: 0.9,
            fewer_wrong: 0.9,
            ..Figures::default()
        };
        assert_eq!(ships(&safer, &BAR), Some(Ship::Safer));
        assert_eq!(with(&safer, BAR, |f, _| f.no_point_worse = 0.8995), None);
        assert_eq!(with(&safer, BAR, |f, _| f.fewer_wrong = 0.8995), None);
    }

    #[test]
    fn needed_is_where_a_given_limit_is_broken() {
        let needed = Figures {
            within: 0.8,
            not_five_worse: 0.9,
            incumbent_within: vec![1.0, 0.05],
            ..Figures::default()
        };
        let given = Bar { given: true, ..BAR };
        let with = |change: Change| with(&needed, given, change);
        assert_eq!(with(|_, _| ()), Some(Ship::Needed));
        assert_eq!(ships(&needed, &BAR), None, "the limit is the default");
        assert_eq!(with(|f, _| f.incumbent_within = vec![0.0501]), None);
        assert_eq!(with(|f, _| f.within = 0.7999), None);
        assert_eq!(with(|f, _| f.not_five_worse = 0.8995), None);
    }

    /// Enough of everything, nothing ships, nothing is over; but for what `change` does.
    fn enough_but(change: Turn) -> Situation {
        let mut enough = Situation {
            labelled: 20,
            loops: 10,
            loop_groups: 10,
            clean_groups: 10,
            expected: Some(0.3),
            interval: Some((-4.99, 5.0)),
            feasible: true,
            ships: false,
            over: false,
            costs: false,
        };
        change(&mut enough);
        enough
    }

    #[test]
    fn what_is_missing_is_missed_by_a_hair() {
        let lacking: [(Turn, Missing); 7] = [
            (|s| s.labelled = 0, Missing::Labels),
            (|s| s.loops = 9, Missing::Loops(9)),
            (|s| s.loops = 0, Missing::Loops(0)),
            (|s| s.loop_groups = 9, Missing::LoopGroups(9)),
            (|s| s.clean_groups = 9, Missing::CleanGroups(9)),
            (|s| s.expected = Some(0.2999), Missing::Exposure(0.2999)),
            (
                |s| s.interval = Some((-5.0, 5.0)),
                Missing::Certainty(-5.0, 5.0),
            ),
        ];
        for (change, want) in lacking {
            let s = enough_but(change);
            assert_eq!((ruling(&s), missing(&s)), (Ruling::Collect, Some(want)));
        }
        let narrow: [Turn; 5] = [
            |s| s.interval = Some((-5.0, 4.99)),
            |s| s.interval = Some((-4.99, 5.0)),
            |s| s.interval = Some((5.0, 9.0)),
            |s| s.interval = None,
            |s| s.expected = None,
        ];
        for change in narrow {
            assert_eq!(missing(&enough_but(change)), None);
        }
    }

    #[test]
    fn each_verdict_is_met() {
        let of = |change: Turn| ruling(&enough_but(change));
        assert_eq!(of(|_| ()), Ruling::Keep);
        assert_eq!(of(|s| s.feasible = false), Ruling::None);
        assert_eq!(of(|s| s.ships = true), Ruling::Ship);
        assert_eq!(of(|s| s.over = true), Ruling::Decide);
        assert_eq!(of(|s| s.costs = true), Ruling::Decide);
    }

    /// 1,000 responses: what is in use spares a char, the candidate costs one.
    #[test]
    fn what_turns_the_net_negative_is_for_people_to_decide() {
        let of = |net: [Option<f64>; 2], below: f64| {
            let (mut f, bar) = (better(), BAR);
            (f.net, f.net_below_0) = (net, below);
            (ships(&f, &bar), costs(&f, &bar))
        };
        let (ship, decide) = ((Some(Ship::Better), false), (None, true));
        assert_eq!(
            of([Some(-1.0), Some(1.0)], 0.4),
            decide,
            "its break-even crosses"
        );
        assert_eq!(of([Some(1.0), Some(1.0)], 0.5), decide, "as likely as not");
        assert_eq!(of([Some(1.0), Some(1.0)], 0.4999), ship);
        assert_eq!(
            of([Some(-1.0), Some(0.0)], 1.0),
            ship,
            "it did not pay before"
        );
        assert_eq!(of([Some(-1.0), None], 1.0), ship, "nobody knows");
        let mut poor = better();
        (poor.better, poor.net, poor.net_below_0) = (0.5, [Some(-1.0), Some(1.0)], 1.0);
        assert_eq!((ships(&poor, &BAR), costs(&poor, &BAR)), (None, false));
    }

    #[test]
    fn the_first_that_holds_is_the_verdict() {
        let mut s = enough_but(|s| {
            (s.loops, s.feasible) = (9, false);
            (s.ships, s.over) = (true, true);
        });
        let steps: [(Turn, Ruling); 4] = [
            (|_| (), Ruling::Collect),
            (|s| s.loops = 10, Ruling::None),
            (|s| s.feasible = true, Ruling::Ship),
            (|s| s.ships = false, Ruling::Decide),
        ];
        for (change, want) in steps {
            change(&mut s);
            assert_eq!(ruling(&s), want);
        }
    }
}
