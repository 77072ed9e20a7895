//! [`Measure`]: what an entry of the table says.

use std::borrow::Cow;
use std::fmt;

use super::formula::Formula;
use deadloop_replay::detect::Unit as Counted;

/// A measure of the table.
pub type Metric = &'static Measure;

/// One score, with everything that deadloop knows about it.
pub struct Measure {
    /// The name of its column.
    pub name: &'static str,
    /// What people call it, with its unit where it has one.
    pub title: &'static str,
    /// What a number of it counts.
    pub unit: MeasureUnit,
    /// The units in which things are counted where it exists.
    pub counted_in: &'static [Counted],
    /// Whether more of it is better.
    pub more_is_better: bool,
    /// What it means, as a reader who has not met it is told: a noun phrase.
    pub meaning: &'static str,
    /// Its formula, in words and counts.
    pub about: &'static str,
    /// The formula itself.
    pub formula: Formula,
    /// How its uncertainty is computed.
    pub certainty: Certainty,
    /// What its columns of bounds begin with: `recall` has `recall_lo` and `recall_hi`.
    pub bounds: Option<&'static str>,
    /// Where it is shown, besides the files.
    pub shown: Shown,
}

deadloop_replay::detect::words! {
    /// What a number counts.
    pub enum MeasureUnit {
        /// A share, 0 to 1.
        Share = "share",
        /// Events or units per million healthy units; events in calls and turns, per thousand.
        PerMillion = "per-million",
        /// Chars, calls or turns.
        Chars = "chars",
    }
}

impl MeasureUnit {
    /// What a value is a number of, in words; empty: a share. `unit` is that of the row.
    pub fn words(self) -> &'static str {
        match self {
            Self::Share => "",
            Self::PerMillion => "per million units",
            Self::Chars => "unit",
        }
    }
}

deadloop_replay::detect::words! {
    /// How the uncertainty of a measure is computed.
    pub enum Certainty {
        /// A share of things counted one by one: Wilson.
        Share = "share",
        /// Events per exposure: exact Poisson.
        Rate = "rate",
        /// Anything else: the bootstrap over groups.
        Resampled = "resampled",
    }
}

/// Where people see a measure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// In choice.csv, both in sample and held out, and in the tables of choices.
    pub choice: bool,
    /// In the tables of settings of terminal and page.
    pub tables: bool,
}

impl Shown {
    /// In no table for people.
    pub(super) const NOWHERE: Self = Self {
        choice: false,
        tables: false,
    };
    /// In every table.
    pub(super) const EVERYWHERE: Self = Self {
        choice: true,
        tables: true,
    };
    /// In the tables of settings alone.
    pub(super) const TABLES: Self = Self {
        choice: false,
        tables: true,
    };
}

impl Measure {
    /// What people call it where things are counted in `unit`.
    pub fn title_in(&self, unit: Counted) -> Cow<'static, str> {
        match unit {
            Counted::Chars => self.title.into(),
            _ => self.title.replace("chars", unit.name()).into(),
        }
    }

    /// 1 where more is better, otherwise -1.
    pub fn sign(&self) -> f64 {
        if self.more_is_better { 1.0 } else { -1.0 }
    }

    /// The step in which differences are counted: 0.01 of a share, otherwise 1 % of the value in use.
    pub fn point(&self, in_use: f64) -> f64 {
        match self.unit {
            MeasureUnit::Share => 0.01,
            _ => 0.01 * in_use.abs(),
        }
    }
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
