//! The rules of scoring.md, "Choosing a setting", 4: when a candidate ships ([`ships`]), and the verdict
//! ([`ruling`]). They know probabilities and counts alone, so that each bound can be tested by a hair.

use super::advice::{Ruling, Ship};
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
    /// How many wrong alarms the limit allows on this text; `None`: wrong alarms have no limit.
    pub(crate) expected: Option<f64>,
}

/// By which rule a candidate ships, if it does; the first that holds.
pub(crate) fn ships(f: &Figures, bar: &Bar) -> Option<Ship> {
    let enough = bar.expected.is_none_or(|n| n >= ENOUGH_EXPECTED);
    let within = f.within >= WITHIN;
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

/// What is missing, if something is; the first.
pub(crate) fn missing(s: &Situation) -> Option<Missing> {
    let wide = |(lo, hi): &(f64, f64)| *lo <= -WIDE && *hi >= WIDE;
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
    let (lo, hi) = s.interval.filter(wide)?;
    Some(Missing::Certainty(lo, hi))
}

/// The verdict: the first that holds.
pub(crate) fn ruling(s: &Situation) -> Ruling {
    if missing(s).is_some() {
        Ruling::Collect
    } else if !s.feasible {
        Ruling::None
    } else if s.ships {
        Ruling::Ship
    } else if s.over {
        Ruling::Decide
    } else {
        Ruling::Keep
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BAR: Bar = Bar {
        sure: 0.9,
        worthwhile: 1.0,
        given: false,
        expected: Some(2.0),
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

    #[test]
    fn better_is_sure_worthwhile_and_within_the_limits() {
        assert_eq!(ships(&better(), &BAR), Some(Ship::Better));
        let not = |f: Figures, bar: Bar| assert_eq!(ships(&f, &bar), None, "{f:?}");
        not(
            Figures {
                better: 0.8995,
                ..better()
            },
            BAR,
        );
        not(
            Figures {
                difference: Some(0.00999),
                ..better()
            },
            BAR,
        );
        not(
            Figures {
                difference: None,
                ..better()
            },
            BAR,
        );
        not(
            Figures {
                within: 0.7999,
                ..better()
            },
            BAR,
        );
        not(
            better(),
            Bar {
                expected: Some(1.99),
                ..BAR
            },
        );
        not(
            better(),
            Bar {
                worthwhile: 2.0,
                ..BAR
            },
        );
        not(better(), Bar { sure: 0.95, ..BAR });
        assert_eq!(
            ships(
                &better(),
                &Bar {
                    expected: None,
                    ..BAR
                }
            ),
            Some(Ship::Better)
        );
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
        assert_eq!(
            ships(
                &Figures {
                    no_more_wrong: 0.8995,
                    ..over
                },
                &little
            ),
            None
        );
    }

    #[test]
    fn safer_has_fewer_wrong_alarms_and_is_no_point_worse() {
        let safer = Figures {
            no_point_worse: 0.9,
            fewer_wrong: 0.9,
            ..Figures::default()
        };
        assert_eq!(ships(&safer, &BAR), Some(Ship::Safer));
        assert_eq!(
            ships(
                &Figures {
                    no_point_worse: 0.8995,
                    ..safer.clone()
                },
                &BAR
            ),
            None
        );
        assert_eq!(
            ships(
                &Figures {
                    fewer_wrong: 0.8995,
                    ..safer
                },
                &BAR
            ),
            None
        );
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
        assert_eq!(ships(&needed, &given), Some(Ship::Needed));
        assert_eq!(ships(&needed, &BAR), None, "the limit is the default");
        let not = |f: Figures| assert_eq!(ships(&f, &given), None, "{f:?}");
        not(Figures {
            incumbent_within: vec![0.0501],
            ..needed.clone()
        });
        not(Figures {
            within: 0.7999,
            ..needed.clone()
        });
        not(Figures {
            not_five_worse: 0.8995,
            ..needed
        });
    }

    /// Enough of everything, nothing ships, nothing is over.
    fn enough() -> Situation {
        Situation {
            labelled: 20,
            loops: 10,
            loop_groups: 10,
            clean_groups: 10,
            expected: Some(0.3),
            interval: Some((-4.99, 5.0)),
            feasible: true,
            ships: false,
            over: false,
        }
    }

    #[test]
    fn each_verdict_is_met_and_missed_by_a_hair() {
        assert_eq!(ruling(&enough()), Ruling::Keep);
        let collect = |s: Situation, want: Missing| {
            assert_eq!((ruling(&s), missing(&s)), (Ruling::Collect, Some(want)));
        };
        collect(
            Situation {
                labelled: 0,
                ..enough()
            },
            Missing::Labels,
        );
        collect(
            Situation {
                loops: 9,
                ..enough()
            },
            Missing::Loops(9),
        );
        collect(
            Situation {
                loops: 0,
                ..enough()
            },
            Missing::Loops(0),
        );
        collect(
            Situation {
                loop_groups: 9,
                ..enough()
            },
            Missing::LoopGroups(9),
        );
        collect(
            Situation {
                clean_groups: 9,
                ..enough()
            },
            Missing::CleanGroups(9),
        );
        collect(
            Situation {
                expected: Some(0.2999),
                ..enough()
            },
            Missing::Exposure(0.2999),
        );
        let wide = Some((-5.0, 5.0));
        collect(
            Situation {
                interval: wide,
                ..enough()
            },
            Missing::Certainty(-5.0, 5.0),
        );
        for narrow in [
            Some((-5.0, 4.99)),
            Some((-4.99, 5.0)),
            Some((5.0, 9.0)),
            None,
        ] {
            assert_eq!(
                missing(&Situation {
                    interval: narrow,
                    ..enough()
                }),
                None
            );
        }
        assert_eq!(
            missing(&Situation {
                expected: None,
                ..enough()
            }),
            None
        );
        assert_eq!(
            ruling(&Situation {
                feasible: false,
                ..enough()
            }),
            Ruling::None
        );
        assert_eq!(
            ruling(&Situation {
                ships: true,
                ..enough()
            }),
            Ruling::Ship
        );
        assert_eq!(
            ruling(&Situation {
                over: true,
                ..enough()
            }),
            Ruling::Decide
        );
    }

    #[test]
    fn the_first_that_holds_is_the_verdict() {
        let all = Situation {
            loops: 9,
            feasible: false,
            ships: true,
            over: true,
            ..enough()
        };
        let steps = [
            (all.clone(), Ruling::Collect),
            (
                Situation {
                    loops: 10,
                    ..all.clone()
                },
                Ruling::None,
            ),
            (
                Situation {
                    loops: 10,
                    feasible: true,
                    ..all.clone()
                },
                Ruling::Ship,
            ),
            (
                Situation {
                    loops: 10,
                    feasible: true,
                    ships: false,
                    ..all
                },
                Ruling::Decide,
            ),
        ];
        for (situation, want) in steps {
            assert_eq!(ruling(&situation), want);
        }
    }
}
