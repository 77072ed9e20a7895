//! [`Measure`]: an entry of the table.

use std::borrow::Cow;
use std::fmt;

use super::formula::Formula;
use deadloop_replay::detect::Unit as Counted;

/// A measure of the table.
pub type Metric = &'static Measure;

/// A score with its name, texts, formula and place in the tables.
pub struct Measure {
    /// The name of the column.
    pub name: &'static str,
    /// The name for people, with its unit if it has one.
    pub title: &'static str,
    /// The unit of a value.
    pub unit: MeasureUnit,
    /// The units of counting in which the measure exists.
    pub counted_in: &'static [Counted],
    /// Whether larger values are better.
    pub more_is_better: bool,
    /// The meaning for a reader who is new to the measure: a noun phrase.
    pub meaning: &'static str,
    /// The formula in words and counts.
    pub about: &'static str,
    /// The formula.
    pub formula: Formula,
    /// The method for the interval of the measure.
    pub certainty: UncertaintyMethod,
    /// The prefix of its columns of bounds: `recall` has `recall_lo` and `recall_hi`.
    pub bounds: Option<&'static str>,
    /// The tables for people that have the measure.
    pub shown: TableVisibility,
}

deadloop_replay::detect::words! {
    /// The unit of a value.
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
    /// Returns the unit in words, empty for a share. `unit` is the unit of the row.
    pub fn words(self) -> &'static str {
        match self {
            Self::Share => "",
            Self::PerMillion => "per million units",
            Self::Chars => "unit",
        }
    }
}

deadloop_replay::detect::words! {
    /// The method for the uncertainty of a measure.
    pub enum UncertaintyMethod {
        /// A share of things counted one by one: Wilson.
        Share = "share",
        /// Events per exposure: exact Poisson.
        Rate = "rate",
        /// Anything else: the bootstrap over groups.
        Resampled = "resampled",
    }
}

/// The tables for people that have a measure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableVisibility {
    /// Whether choice.csv, both in sample and held out, and the tables of choices have it.
    pub choice: bool,
    /// Whether the tables of settings in terminal and page have it.
    pub tables: bool,
}

impl TableVisibility {
    /// A measure in no table for people.
    pub(super) const NOWHERE: Self = Self {
        choice: false,
        tables: false,
    };
    /// A measure in every table.
    pub(super) const EVERYWHERE: Self = Self {
        choice: true,
        tables: true,
    };
    /// A measure only in the tables of settings.
    pub(super) const TABLES: Self = Self {
        choice: false,
        tables: true,
    };
}

impl Measure {
    /// Returns the name for people if things are counted in `unit`.
    pub fn title_in(&self, unit: Counted) -> Cow<'static, str> {
        match unit {
            Counted::Chars => self.title.into(),
            _ => self.title.replace("chars", unit.name()).into(),
        }
    }

    /// Returns 1 if larger values are better, otherwise -1.
    pub fn sign(&self) -> f64 {
        if self.more_is_better { 1.0 } else { -1.0 }
    }

    /// Returns the size of one point: 0.01 of a share, otherwise 1 % of the value in use.
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
