//! The table of measures: [`MEASURES`], one [`Measure`] for each score that a tally decides.
//!
//! A measure is one entry: its name, unit, which way is better, its formula from counts, how sure it can be,
//! and where it is shown. The columns of scores.parquet and choice.csv, the reader of those files, constraints
//! and objectives, the report's tables and headings, and the formulas in the page's script follow from it.
//! **To add one:** write a `Measure` below and name it in [`MEASURES`].
//!
//! A formula is one ratio of sums of counts, or a combination of two or three ([`Joined`]). That is what makes
//! a measure linear in what each transcript adds, so that errors of differences can be painted for a whole
//! grid at once. Quantiles of the latency are not measures: `latency_p90<=1000` is read as `within_1000>=0.9`.

mod written;

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::choose::blend::{Blend, Weights};
use crate::intervals::{Interval, PoissonCache, wilson};
use crate::tally::{Count, Tally};
use deadloop_replay::detect::{DEPLOYMENT_LOOP_RATE, Unit as Counted};

/// A measure of the table.
pub type Metric = &'static Measure;

/// One score: everything that any part of deadloop knows about it.
pub struct Measure {
    /// The name of its column.
    pub name: &'static str,
    /// What people call it, with its unit where it has one.
    pub title: &'static str,
    /// What a number of it counts.
    pub unit: MeasureUnit,
    /// Whether more of it is better.
    pub more_is_better: bool,
    /// Its formula, in words and counts.
    pub about: &'static str,
    /// The formula itself.
    pub formula: Formula,
    /// How its uncertainty is told.
    pub certainty: Certainty,
    /// What its columns of bounds begin with: `recall` has `recall_lo` and `recall_hi`.
    pub bounds: Option<&'static str>,
    /// Where it is shown, besides the files.
    pub shown: Shown,
}

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MeasureUnit {
    /// A share, 0 to 1.
    Share,
    /// Events or chars per million healthy chars; of calls and turns, per thousand.
    PerMillion,
    /// Chars.
    Chars,
    /// Chars per thousand responses of production.
    PerThousand,
}

/// Where people see a measure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// In choice.csv, both in sample and held out, and in the tables of choices.
    pub choice: bool,
    /// In the tables of settings of terminal and page.
    pub tables: bool,
}

/// In no table for people.
const NOWHERE: Shown = Shown {
    choice: false,
    tables: false,
};
/// In every table.
const EVERYWHERE: Shown = Shown {
    choice: true,
    tables: true,
};
/// In the tables of settings alone.
const TABLES: Shown = Shown {
    choice: false,
    tables: true,
};

/// How the uncertainty of a measure is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certainty {
    /// A share of things counted one by one: Wilson, Clopper-Pearson, and Beta for assurance.
    Share,
    /// Events per exposure: exact Poisson, and Gamma for assurance.
    Rate,
    /// Anything else: the bootstrap over groups.
    Resampled,
}

/// A formula: one ratio, or some that are joined.
#[derive(Clone, Copy, Debug)]
pub struct Formula {
    /// The ratios.
    pub ratios: &'static [Ratio],
    /// How they are joined.
    pub joined: Joined,
}

/// `scale` times a sum of counts over a sum of counts.
#[derive(Clone, Copy, Debug)]
pub struct Ratio {
    /// The factor.
    pub scale: f64,
    /// What is summed above the line.
    pub num: &'static [Term],
    /// What is summed below it.
    pub den: &'static [Term],
    /// What it is a ratio of: it says how far other models may speak for one.
    of: Sample,
}

/// A count and what it is multiplied with.
#[derive(Clone, Copy, Debug)]
pub struct Term(pub Count, pub Times);

/// What a count is multiplied with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Times {
    /// A number.
    Number(f64),
    /// A number times [`Worth::annoyance`].
    Annoyance(f64),
}

/// How several ratios make one score. The page's script has the same four.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Joined {
    /// The only one.
    Alone,
    /// Precision in production: pi·a / (pi·a + pi·b + (1-pi)·c).
    Ppv,
    /// What 1,000 responses of production spare: 1000·(pi·a - (1-pi)·b).
    Net,
    /// The share of loops from which on the guard pays: b / (a + b), n/a where a is not above 0.
    BreakEven,
}

#[derive(Clone, Copy, Debug)]
enum Sample {
    Loops,
    Clean,
}

impl Sample {
    fn weight(self, weights: Weights) -> f64 {
        match self {
            Self::Loops => weights.loops,
            Self::Clean => weights.clean,
        }
    }
}

/// What an error costs, and how often production loops.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Worth {
    /// `deployment_loop_rate`: the share of production's responses that loop, above 0 and below 1.
    pub pi: f64,
    /// What a wrong alarm costs besides the text that is generated again, in chars. The commands' default is one
    /// mean clean transcript.
    #[serde(default)]
    pub annoyance: f64,
}

/// One loop in a hundred, between ordinary traffic (0.03 to 0.3 %) and long chains of thought (0.6 to 6 %).
impl Default for Worth {
    fn default() -> Self {
        Self {
            pi: DEPLOYMENT_LOOP_RATE,
            annoyance: 0.0,
        }
    }
}

const fn one(count: Count) -> Term {
    Term(count, Times::Number(1.0))
}

const fn times(x: f64, count: Count) -> Term {
    Term(count, Times::Number(x))
}

const LOOPS: &[Term] = &[
    one(Count::Hit),
    one(Count::Late),
    one(Count::Premature),
    one(Count::Stale),
    one(Count::Miss),
    one(Count::Earlier),
];
const CLEAN: &[Term] = &[one(Count::FalseAlarm), one(Count::Quiet)];
const EXPOSURE: &[Term] = &[one(Count::Exposure)];

/// Of loops: `num` / loops.
const fn of_loops(num: &'static [Term]) -> Ratio {
    Ratio {
        scale: 1.0,
        num,
        den: LOOPS,
        of: Sample::Loops,
    }
}

/// Of clean transcripts: `num` / clean.
const fn of_clean(num: &'static [Term]) -> Ratio {
    Ratio {
        scale: 1.0,
        num,
        den: CLEAN,
        of: Sample::Clean,
    }
}

const fn alone(ratio: &'static [Ratio]) -> Formula {
    Formula {
        ratios: ratio,
        joined: Joined::Alone,
    }
}

/// hit / loops. 6 of 10: 0.6.
pub static RECALL: Measure = Measure {
    name: "recall",
    title: "recall",
    unit: MeasureUnit::Share,
    more_is_better: true,
    about: "hit / loops",
    formula: alone(&[of_loops(&[one(Count::Hit)])]),
    certainty: Certainty::Share,
    bounds: Some("recall"),
    shown: EVERYWHERE,
};

/// hit / alarms on what is scored. 6 hits, 2 wrong alarms: 0.75.
pub static PRECISION: Measure = Measure {
    name: "precision",
    title: "precision",
    unit: MeasureUnit::Share,
    more_is_better: true,
    about: "hit / (hit + false_alarm + premature + stale)",
    formula: alone(&[Ratio {
        scale: 1.0,
        num: &[one(Count::Hit)],
        den: &[
            one(Count::Hit),
            one(Count::FalseAlarm),
            one(Count::Premature),
            one(Count::Stale),
        ],
        of: Sample::Loops,
    }]),
    certainty: Certainty::Share,
    bounds: Some("precision"),
    shown: EVERYWHERE,
};

/// The harmonic mean of precision and recall from counts, defined where one of them is n/a: a detector that
/// never alarms has F1 = 0 on loops. 6 hits, 4 other loops, 2 wrong alarms: 12 / (12 + 4 + 2) = 0.667.
pub static F1: Measure = Measure {
    name: "f1",
    title: "F1",
    unit: MeasureUnit::Share,
    more_is_better: true,
    about: "2 hit / (hit + loops + wrong alarms)",
    formula: alone(&[Ratio {
        scale: 1.0,
        num: &[times(2.0, Count::Hit)],
        den: &[
            times(2.0, Count::Hit),
            one(Count::Late),
            times(2.0, Count::Premature),
            times(2.0, Count::Stale),
            one(Count::Miss),
            one(Count::Earlier),
            one(Count::FalseAlarm),
        ],
        of: Sample::Loops,
    }]),
    certainty: Certainty::Resampled,
    bounds: None,
    shown: NOWHERE,
};

/// The share of clean transcripts that are cut. 1 of 20: 0.05.
pub static FPR: Measure = Measure {
    name: "fpr",
    title: "clean transcripts cut",
    unit: MeasureUnit::Share,
    more_is_better: false,
    about: "false_alarm / clean",
    formula: alone(&[of_clean(&[one(Count::FalseAlarm)])]),
    certainty: Certainty::Share,
    bounds: Some("fpr"),
    shown: NOWHERE,
};

/// Wrong alarms per million healthy chars that were watched. 2 in 106,900: 18.7.
pub static FA_PER_MCHAR: Measure = Measure {
    name: "fa_per_mchar",
    title: "false alarms/Mchar",
    unit: MeasureUnit::PerMillion,
    more_is_better: false,
    about: "1e6 (false_alarm + premature + stale) / exposure",
    formula: alone(&[Ratio {
        scale: 1e6,
        num: &[
            one(Count::FalseAlarm),
            one(Count::Premature),
            one(Count::Stale),
        ],
        den: EXPOSURE,
        of: Sample::Clean,
    }]),
    certainty: Certainty::Rate,
    bounds: Some("fa"),
    shown: EVERYWHERE,
};

/// The measure of wrong alarms per so many healthy units that were watched.
macro_rules! wrong_rate {
    ($id:ident, $scale:literal, $name:literal, $title:literal, $about:literal) => {
        /// Wrong alarms per so many healthy units that were watched.
        pub static $id: Measure = Measure {
            name: $name,
            title: $title,
            unit: MeasureUnit::PerMillion,
            more_is_better: false,
            about: $about,
            formula: alone(&[Ratio {
                scale: $scale,
                num: &[
                    one(Count::FalseAlarm),
                    one(Count::Premature),
                    one(Count::Stale),
                ],
                den: EXPOSURE,
                of: Sample::Clean,
            }]),
            certainty: Certainty::Rate,
            bounds: Some("fa"),
            shown: EVERYWHERE,
        };
    };
}

wrong_rate!(
    FA_PER_KCALL,
    1e3,
    "fa_per_kcall",
    "false alarms/kcall",
    "1e3 (false_alarm + premature + stale) / exposure, in calls"
);
wrong_rate!(
    FA_PER_KTURN,
    1e3,
    "fa_per_kturn",
    "false alarms/kturn",
    "1e3 (false_alarm + premature + stale) / exposure, in turns"
);

wrong_rate!(
    FA_PER_MTOKEN,
    1e6,
    "fa_per_mtoken",
    "false alarms/Mtoken",
    "1e6 (false_alarm + premature + stale) / exposure, in tokens"
);
wrong_rate!(
    FA_PER_HOUR,
    3.6e6,
    "fa_per_hour",
    "false alarms/hour",
    "3.6e6 (false_alarm + premature + stale) / exposure, in ms"
);
wrong_rate!(
    FA_PER_MONEY,
    1e6,
    "fa_per_money",
    "false alarms/unit of the currency",
    "1e6 (false_alarm + premature + stale) / exposure, in millionths of the currency"
);

/// The rate of wrong alarms where things are counted in `unit`.
pub fn wrong_rate(unit: Counted) -> Metric {
    match unit {
        Counted::Chars => &FA_PER_MCHAR,
        Counted::Calls => &FA_PER_KCALL,
        Counted::Turns => &FA_PER_KTURN,
        Counted::Tokens => &FA_PER_MTOKEN,
        Counted::Ms => &FA_PER_HOUR,
        Counted::Money => &FA_PER_MONEY,
    }
}

/// The measures that are told where things are counted in `unit`, in the order of [`MEASURES`].
pub fn measures(unit: Counted) -> impl Iterator<Item = Metric> {
    let told = move |measure: &Metric| {
        unit == Counted::Chars || !std::ptr::eq(*measure, &TRANSIENT_PER_MCHAR)
    };
    let all = MEASURES.into_iter().filter(told);
    all.map(move |measure| match std::ptr::eq(measure, &FA_PER_MCHAR) {
        true => wrong_rate(unit),
        false => measure,
    })
}

/// Alarms in repetitions that end by themselves, per million healthy chars that were watched.
pub static TRANSIENT_PER_MCHAR: Measure = Measure {
    name: "transient_per_mchar",
    title: "recovered repetitions cut/Mchar",
    unit: MeasureUnit::PerMillion,
    more_is_better: false,
    about: "1e6 transient_stop / exposure",
    formula: alone(&[Ratio {
        scale: 1e6,
        num: &[one(Count::TransientStop)],
        den: EXPOSURE,
        of: Sample::Clean,
    }]),
    certainty: Certainty::Rate,
    bounds: None,
    shown: TABLES,
};

/// How often an alarm would be right in production, where loops are rarer than in a labelled set:
/// pi·h / (pi·h + pi·q + (1-pi)·f). h = 0.7, q = 0.1, f = 0.05, pi = 0.01: 0.122.
pub static PPV: Measure = Measure {
    name: "ppv",
    title: "precision in production",
    unit: MeasureUnit::Share,
    more_is_better: true,
    about: "pi h / (pi h + pi q + (1-pi) f): h = (hit + late) / loops, q = (premature + stale) / loops, f = fpr",
    formula: Formula {
        ratios: &[
            of_loops(&[one(Count::Hit), one(Count::Late)]),
            of_loops(&[one(Count::Premature), one(Count::Stale)]),
            of_clean(&[one(Count::FalseAlarm)]),
        ],
        joined: Joined::Ppv,
    },
    certainty: Certainty::Resampled,
    bounds: None,
    shown: NOWHERE,
};

/// The restricted mean delay: how much of a loop was generated, over all loops; a miss, a premature and a
/// stale one cost the whole loop, one stopped in an earlier repetition nothing.
pub static DELAY: Measure = Measure {
    name: "delay",
    title: "delay, chars",
    unit: MeasureUnit::Chars,
    more_is_better: false,
    about: "delay_chars / loops",
    formula: alone(&[of_loops(&[one(Count::Delay)])]),
    certainty: Certainty::Resampled,
    bounds: None,
    shown: EVERYWHERE,
};

/// The measure `within_N` whose bins are `bins`.
macro_rules! within {
    ($id:ident, $name:literal, $title:literal, $shown:expr, $($bin:ident),+) => {
        /// The share of all loops that were hit within so many chars of their onset.
        pub static $id: Measure = Measure {
            name: $name,
            title: $title,
            unit: MeasureUnit::Share,
            more_is_better: true,
            about: "hits so soon after the onset / loops",
            formula: alone(&[of_loops(&[$(one(Count::$bin)),+])]),
            certainty: Certainty::Share,
            bounds: None,
            shown: $shown,
        };
    };
}

within!(WITHIN_100, "within_100", "within 100", NOWHERE, Within100);
within!(
    WITHIN_200,
    "within_200",
    "within 200",
    NOWHERE,
    Within100,
    Within200
);
within!(
    WITHIN_500,
    "within_500",
    "within 500",
    NOWHERE,
    Within100,
    Within200,
    Within500
);
within!(
    WITHIN_1000,
    "within_1000",
    "within 1,000",
    TABLES,
    Within100,
    Within200,
    Within500,
    Within1000
);
within!(
    WITHIN_2000,
    "within_2000",
    "within 2,000",
    NOWHERE,
    Within100,
    Within200,
    Within500,
    Within1000,
    Within2000
);
within!(
    WITHIN_5000,
    "within_5000",
    "within 5,000",
    NOWHERE,
    Within100,
    Within200,
    Within500,
    Within1000,
    Within2000,
    Within5000
);

/// The share of looping chars that were not generated. (6 x 1600 + 500) / (10 x 2000) = 0.505.
pub static SAVED: Measure = Measure {
    name: "saved",
    title: "saved",
    unit: MeasureUnit::Share,
    more_is_better: true,
    about: "saved_chars / loop_chars",
    formula: alone(&[Ratio {
        scale: 1.0,
        num: &[one(Count::Saved)],
        den: &[one(Count::LoopChars)],
        of: Sample::Loops,
    }]),
    certainty: Certainty::Resampled,
    bounds: None,
    shown: EVERYWHERE,
};

/// Healthy chars thrown away, per million that were watched or thrown away: never above a million.
pub static LOST: Measure = Measure {
    name: "lost",
    title: "healthy chars lost/Mchar",
    unit: MeasureUnit::PerMillion,
    more_is_better: false,
    about: "1e6 lost_chars / (lost_chars + exposure)",
    formula: alone(&[Ratio {
        scale: 1e6,
        num: &[one(Count::Lost)],
        den: &[one(Count::Lost), one(Count::Exposure)],
        of: Sample::Clean,
    }]),
    certainty: Certainty::Resampled,
    bounds: None,
    shown: NOWHERE,
};

/// Of the hits whose label names a kind, those whose alarm names the same.
pub static KIND_ACCURACY: Measure = Measure {
    name: "kind_accuracy",
    title: "right kind",
    unit: MeasureUnit::Share,
    more_is_better: true,
    about: "kind_right / kind_known",
    formula: alone(&[Ratio {
        scale: 1.0,
        num: &[one(Count::KindRight)],
        den: &[one(Count::KindKnown)],
        of: Sample::Loops,
    }]),
    certainty: Certainty::Share,
    bounds: None,
    shown: NOWHERE,
};

/// S, what a loop spares: its chars that were not generated, less what a premature or stale alarm makes
/// generated again and the annoyance of it.
const SPARED: Ratio = of_loops(&[
    one(Count::Saved),
    times(-1.0, Count::CutAt),
    Term(Count::Premature, Times::Annoyance(-1.0)),
    Term(Count::Stale, Times::Annoyance(-1.0)),
]);

/// W, what a clean transcript costs: what a false alarm makes generated again, and the annoyance of it.
const WASTED: Ratio = of_clean(&[
    one(Count::FalseAt),
    Term(Count::FalseAlarm, Times::Annoyance(1.0)),
]);

/// What the guard spares in 1,000 responses of production: 1000 (pi·S - (1-pi)·W).
pub static NET_PER_1000: Measure = Measure {
    name: "net_per_1000",
    title: "net chars spared per 1,000 responses",
    unit: MeasureUnit::PerThousand,
    more_is_better: true,
    about: "1000 (pi S - (1-pi) W): S = mean over loops of chars spared, less (alarm + A) for premature and stale; W = mean over clean transcripts of (alarm + A) for false alarms; A = --annoyance",
    formula: Formula {
        ratios: &[SPARED, WASTED],
        joined: Joined::Net,
    },
    certainty: Certainty::Resampled,
    bounds: None,
    shown: TABLES,
};

/// The share of responses that loop from which on the guard pays for itself.
pub static BREAK_EVEN: Measure = Measure {
    name: "break_even",
    title: "break-even share of loops",
    unit: MeasureUnit::Share,
    more_is_better: false,
    about: "W / (S + W), S and W as in net_per_1000; n/a where S <= 0",
    formula: Formula {
        ratios: &[SPARED, WASTED],
        joined: Joined::BreakEven,
    },
    certainty: Certainty::Resampled,
    bounds: None,
    shown: NOWHERE,
};

/// All measures, in the order of their columns in scores.parquet.
pub static MEASURES: [Metric; 19] = [
    &PRECISION,
    &RECALL,
    &FPR,
    &F1,
    &FA_PER_MCHAR,
    &TRANSIENT_PER_MCHAR,
    &PPV,
    &DELAY,
    &WITHIN_100,
    &WITHIN_200,
    &WITHIN_500,
    &WITHIN_1000,
    &WITHIN_2000,
    &WITHIN_5000,
    &SAVED,
    &LOST,
    &KIND_ACCURACY,
    &NET_PER_1000,
    &BREAK_EVEN,
];

/// The measures that count hits so many chars after the onset, in the order of [`WITHIN`](crate::WITHIN).
pub static WITHINS: [Metric; 6] = [
    &WITHIN_100,
    &WITHIN_200,
    &WITHIN_500,
    &WITHIN_1000,
    &WITHIN_2000,
    &WITHIN_5000,
];

/// How many ratios a measure that can be an objective has at most.
const RATIOS: usize = 2;

/// The counts near which a score is linear in what transcripts contribute, one ratio a place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At([(f64, f64); RATIOS]);

/// What one transcript adds to the numerators and the denominators of a score's ratios, n, d, n, d: the
/// score's linear form is a sum of these, each times its slope.
pub(crate) type Terms = [f64; TERMS];

/// How many there are.
pub(crate) const TERMS: usize = 2 * RATIOS;

impl Ratio {
    /// The numerator, without the scale, and the denominator.
    fn parts(&self, tally: &Tally, worth: &Worth) -> (f64, f64) {
        let sum = |terms: &[Term]| {
            let term = |Term(count, times): &Term| match times {
                Times::Number(x) => x * tally[*count] as f64,
                Times::Annoyance(x) => x * worth.annoyance * tally[*count] as f64,
            };
            terms.iter().map(term).sum::<f64>()
        };
        (sum(self.num), sum(self.den))
    }

    fn value(&self, tally: &Tally, worth: &Worth) -> Option<f64> {
        self.divided(self.parts(tally, worth))
    }

    fn divided(&self, (n, d): (f64, f64)) -> Option<f64> {
        (d > 0.0).then(|| self.scale * (n / d))
    }
}

impl Joined {
    fn join(self, values: &[f64], worth: &Worth) -> Option<f64> {
        let (pi, rest) = (worth.pi, 1.0 - worth.pi);
        match (self, values) {
            (Self::Alone, [only]) => Some(*only),
            (Self::Ppv, [h, q, f]) => {
                let (h, q, f) = (pi * h, pi * q, rest * f);
                (h + q + f > 0.0).then(|| h / (h + q + f))
            }
            (Self::Net, [s, w]) => Some(1000.0 * (pi * s - rest * w)),
            (Self::BreakEven, [s, w]) => (*s > 0.0).then(|| w / (s + w)),
            _ => None,
        }
    }

    /// What each ratio counts in a sum; `None`: the score is no sum of its ratios.
    fn factors(self, worth: &Worth) -> Option<[f64; RATIOS]> {
        match self {
            Self::Alone => Some([1.0, 0.0]),
            Self::Net => Some([1000.0 * worth.pi, -1000.0 * (1.0 - worth.pi)]),
            Self::Ppv | Self::BreakEven => None,
        }
    }
}

impl Measure {
    /// The measure with this name.
    pub fn named(name: &str) -> Option<Metric> {
        let wrong = Counted::ALL.into_iter().map(wrong_rate);
        let mut all = MEASURES.into_iter().chain(wrong);
        all.find(|measure| measure.name == name)
    }

    /// Whether it is the rate of wrong alarms, in whichever unit.
    pub fn is_wrong_rate(&self) -> bool {
        Counted::ALL
            .into_iter()
            .any(|unit| wrong_rate(unit) == self)
    }

    /// What people call it where things are counted in `unit`.
    pub fn title_in(&self, unit: Counted) -> Cow<'static, str> {
        match unit {
            Counted::Chars => self.title.into(),
            _ => self.title.replace("chars", unit.name()).into(),
        }
    }

    /// Its value; `None` where it is n/a.
    pub fn value(&self, tally: &Tally, worth: &Worth) -> Option<f64> {
        let mut values = [0.0; 3];
        let ratios = self.formula.ratios;
        for (value, ratio) in values.iter_mut().zip(ratios) {
            *value = ratio.value(tally, worth)?;
        }
        self.formula.joined.join(&values[..ratios.len()], worth)
    }

    /// Its 95 % interval where that has a closed form: Wilson for shares, exact Poisson for rates.
    pub fn interval(&self, tally: &Tally, cache: &mut PoissonCache) -> Option<Interval> {
        let (k, n) = self.counts(tally)?;
        match self.certainty {
            Certainty::Share => wilson(k, n),
            Certainty::Rate => {
                let Interval { lo, hi } = cache.get(k);
                let per = |events: f64| self.scale() * events / n as f64;
                (n > 0).then(|| Interval {
                    lo: per(lo),
                    hi: per(hi),
                })
            }
            Certainty::Resampled => None,
        }
    }

    /// `k` of `n`, or `k` events in `n` units: of a share and of a rate.
    pub fn counts(&self, tally: &Tally) -> Option<(u64, u64)> {
        if self.certainty == Certainty::Resampled {
            return None;
        }
        let sum = |terms: &[Term]| terms.iter().map(|Term(count, _)| tally.get(*count)).sum();
        let ratio = self.formula.ratios.first()?;
        Some((sum(ratio.num), sum(ratio.den)))
    }

    /// The counts that it is computed from, some of them more than once.
    pub(crate) fn counted(&self) -> impl Iterator<Item = Count> + use<> {
        let ratios = self.formula.ratios.iter();
        let terms = ratios.flat_map(|ratio| ratio.num.iter().chain(ratio.den));
        terms.map(|term| term.0)
    }

    /// The scale of its first ratio.
    pub fn scale(&self) -> f64 {
        self.formula.ratios.first().map_or(1.0, |ratio| ratio.scale)
    }

    /// 1 where more is better, else -1.
    pub fn sign(&self) -> f64 {
        if self.more_is_better { 1.0 } else { -1.0 }
    }

    /// A point of it, in which differences are told: 0.01 of a share, else 1 % of the value in use.
    pub fn point(&self, in_use: f64) -> f64 {
        match self.unit {
            MeasureUnit::Share => 0.01,
            _ => 0.01 * in_use.abs(),
        }
    }

    /// Whether it can be an objective: it has to be a sum of ratios.
    pub fn can_be_objective(&self) -> bool {
        self.formula.joined.factors(&Worth::default()).is_some()
    }

    /// Its value with more always better; nothing is worse than n/a.
    pub(crate) fn merit(&self, blend: &Blend, worth: &Worth) -> f64 {
        self.smoothed(blend, worth)
            .map_or(f64::NEG_INFINITY, |value| self.sign() * value)
    }

    /// Its value from smoothed counts; `None` where it is n/a.
    pub(crate) fn smoothed(&self, blend: &Blend, worth: &Worth) -> Option<f64> {
        if blend.is_whole() {
            return self.value(&blend.own, worth);
        }
        let mut values = [0.0; 3];
        let ratios = self.formula.ratios;
        for (value, ratio) in values.iter_mut().zip(ratios) {
            *value = ratio.divided(blended(ratio, blend, worth))?;
        }
        self.formula.joined.join(&values[..ratios.len()], worth)
    }

    /// [`counts`](Self::counts) from smoothed counts.
    pub(crate) fn smoothed_counts(&self, blend: &Blend) -> Option<(f64, f64)> {
        let ((a, b), (c, d)) = (self.counts(&blend.own)?, self.counts(&blend.rest)?);
        let weight = self.formula.ratios.first()?.of.weight(blend.weights);
        Some((a as f64 + weight * c as f64, b as f64 + weight * d as f64))
    }

    /// What another model's transcript counts, if its tally under a setting that never alarms is `quiet`.
    pub(crate) fn weight(&self, quiet: &Tally, weights: Weights) -> f64 {
        match self.formula.ratios {
            [only] => only.of.weight(weights),
            _ if quiet.loops() > 0 => weights.loops,
            _ => weights.clean,
        }
    }

    /// Where influences are taken: near these counts.
    pub(crate) fn at(&self, blend: &Blend, worth: &Worth) -> At {
        let mut at = [(0.0, 0.0); RATIOS];
        for (part, ratio) in at.iter_mut().zip(self.formula.ratios) {
            *part = blended(ratio, blend, worth);
        }
        At(at)
    }

    /// What one transcript adds.
    pub(crate) fn terms(&self, one: &Tally, worth: &Worth) -> Terms {
        let mut terms = [0.0; TERMS];
        for (pair, ratio) in terms.chunks_exact_mut(2).zip(self.formula.ratios) {
            let (n, d) = ratio.parts(one, worth);
            pair.copy_from_slice(&[n, d]);
        }
        terms
    }

    /// How much one more of each term changes the score near `at`: for a ratio N/D, 1/D of n and -N/D² of d.
    /// More is always better.
    pub(crate) fn slopes(&self, at: &At, worth: &Worth) -> Terms {
        let factors = self.formula.joined.factors(worth).unwrap_or_default();
        let mut slopes = [0.0; TERMS];
        let ratios = self.formula.ratios.iter().zip(at.0).zip(factors);
        for (pair, ((ratio, (n, d)), factor)) in slopes.chunks_exact_mut(2).zip(ratios) {
            if d > 0.0 {
                let scale = self.sign() * factor * ratio.scale;
                pair.copy_from_slice(&[scale / d, -scale * (n / d) / d]);
            }
        }
        slopes
    }

    /// What one transcript contributes to the score near `at` (the infinitesimal jackknife): for a ratio N/D,
    /// (n - (N/D)·d) / D. Differences of these sums are differences of the score, to first order; their
    /// variance is the score's. More is always better.
    pub(crate) fn influence(&self, one: &Tally, at: &At, worth: &Worth) -> f64 {
        linear(&self.terms(one, worth), &self.slopes(at, worth))
    }
}

fn blended(ratio: &Ratio, blend: &Blend, worth: &Worth) -> (f64, f64) {
    let own = ratio.parts(&blend.own, worth);
    if blend.is_whole() {
        return own;
    }
    let rest = ratio.parts(&blend.rest, worth);
    let weight = ratio.of.weight(blend.weights);
    (own.0 + weight * rest.0, own.1 + weight * rest.1)
}

/// The sum of the terms, each times its slope.
pub(crate) fn linear(terms: &Terms, slopes: &Terms) -> f64 {
    terms.iter().zip(slopes).map(|(x, slope)| x * slope).sum()
}

impl PartialEq for Measure {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Reads the name of a measure: `FromStr` cannot be implemented for a reference.
///
/// # Errors
/// There is none of that name.
pub fn metric(text: &str) -> Result<Metric, GoalError> {
    Measure::named(text.trim()).ok_or_else(|| GoalError::Metric(text.trim().into()))
}

/// What is asked for that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GoalError {
    /// Not a metric.
    #[error("unknown metric {0:?}{near}; expected one of {names}", near = nearest(.0), names = names())]
    Metric(String),
    /// Not a constraint.
    #[error("{0:?} is no constraint; expected metric<=number or metric>=number")]
    Constraint(String),
    /// A quantile of the latency with a bound that no column counts.
    #[error("{0}: a latency can be limited to 100, 200, 500, 1000, 2000 or 5000 chars")]
    Latency(String),
    /// No value of the metric can meet it, or every one does.
    #[error("{0}: {1}")]
    Impossible(String, String),
}

/// The metric that was meant.
fn nearest(name: &str) -> String {
    deadloop_replay::detect::meant(name, MEASURES.map(|measure| measure.name))
}

fn names() -> String {
    let rates = [FA_PER_KCALL.name, FA_PER_KTURN.name];
    let names = MEASURES.map(|measure| measure.name);
    [&names[..], &rates].concat().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(counts: &[(Count, i64)]) -> Tally {
        let mut tally = Tally::default();
        counts.iter().for_each(|(count, n)| tally[*count] = *n);
        tally
    }

    fn some() -> Tally {
        tally(&[
            (Count::Hit, 6),
            (Count::Late, 1),
            (Count::Premature, 1),
            (Count::Miss, 2),
            (Count::FalseAlarm, 1),
            (Count::Quiet, 19),
            (Count::Exposure, 106_900),
            (Count::Lost, 3100),
            (Count::Saved, 10_100),
            (Count::LoopChars, 20_000),
            (Count::Delay, 9900),
            (Count::CutAt, 900),
            (Count::FalseAt, 2000),
            (Count::KindKnown, 6),
            (Count::KindRight, 5),
            (Count::Within500, 6),
        ])
    }

    #[test]
    fn the_linear_form_is_the_metric() {
        let worth = Worth::default();
        for metric in MEASURES.into_iter().filter(|m| m.can_be_objective()) {
            let factors = metric.formula.joined.factors(&worth).unwrap();
            let ratios = metric.formula.ratios.iter().zip(factors);
            let sum: f64 = ratios
                .map(|(ratio, factor)| factor * ratio.value(&some(), &worth).unwrap())
                .sum();
            let value = metric.value(&some(), &worth).unwrap();
            assert!(
                (sum - value).abs() < 1e-9 * value.abs().max(1.0),
                "{metric:?}: {sum} {value}"
            );
        }
    }

    #[test]
    fn influences_predict_the_effect_of_one_transcript() {
        let worth = Worth::default();
        let big = (0..200).fold(Tally::default(), |sum, _| sum + some());
        let one = tally(&[
            (Count::Hit, 1),
            (Count::Saved, 1500),
            (Count::LoopChars, 2000),
            (Count::Exposure, 900),
            (Count::Delay, 500),
        ]);
        for metric in [&RECALL, &F1, &SAVED, &DELAY, &NET_PER_1000, &FA_PER_MCHAR] {
            let merit = |t: &Tally| metric.merit(&Blend::whole(t), &worth);
            let real = merit(&(big + one)) - merit(&big);
            let at = metric.at(&Blend::whole(&big), &worth);
            let linear = metric.influence(&one, &at, &worth);
            assert!(
                (real - linear).abs() <= 0.01 * real.abs(),
                "{metric:?}: {real} {linear}"
            );
        }
    }

    /// The rest with a weight of 1 is the sum, of 0 nothing, of 1/2 a corpus with half of it.
    #[test]
    fn a_blend_is_the_weighted_sum() {
        let worth = Worth::default();
        let rest = tally(&[
            (Count::Hit, 10),
            (Count::Miss, 10),
            (Count::FalseAlarm, 4),
            (Count::Quiet, 16),
            (Count::Exposure, 200_000),
            (Count::Saved, 8000),
            (Count::LoopChars, 40_000),
            (Count::Delay, 32_000),
            (Count::FalseAt, 9000),
        ]);
        for metric in MEASURES {
            let at = |weight: f64, own: Tally| {
                let weights = Weights {
                    loops: weight,
                    clean: weight,
                };
                let blend = Blend { own, rest, weights };
                metric.smoothed(&blend, &worth)
            };
            let value = |t: Tally| metric.value(&t, &worth);
            let same = |a: Option<f64>, b: Option<f64>| {
                let (a, b) = (a.unwrap(), b.unwrap());
                assert!(
                    (a - b).abs() < 1e-9 * b.abs().max(1.0),
                    "{metric:?}: {a} {b}"
                );
            };
            same(at(0.0, some()), value(some()));
            same(at(1.0, some()), value(some() + rest));
            same(
                at(0.5, some() + some()),
                value(some() + some() + some() + some() + rest),
            );
        }
    }
}
