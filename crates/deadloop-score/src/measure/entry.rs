//! [`Measure`]: an entry of the table of measures.

use std::borrow::Cow;
use std::fmt;

use super::formula::{Formula, Ratio};
use deadloop_replay::detect::Unit as CountingUnit;

/// A reference to a measure in the table of measures.
pub type Metric = &'static Measure;

/// A score, with its name, its texts for people, its formula and the tables that have it.
pub struct Measure {
    /// The name of the measure's column.
    pub name: &'static str,
    /// The name for people, with the unit if the measure has one.
    pub title: &'static str,
    /// The unit of the measure's values.
    pub unit: MeasureUnit,
    /// The counting units in which the measure exists.
    pub counted_in: &'static [CountingUnit],
    /// Whether larger values are better.
    pub more_is_better: bool,
    /// A noun phrase that explains the measure to a new reader.
    pub meaning: &'static str,
    /// The formula in words and names of counts.
    pub about: &'static str,
    /// The formula that computes the measure from counts.
    pub formula: Formula,
    /// The method by which the measure's interval is computed.
    pub certainty: UncertaintyMethod,
    /// The prefix of the columns with the interval: `recall` has `recall_lo` and `recall_hi`. `None` without such
    /// columns.
    pub bounds: Option<&'static str>,
    /// The tables for people in which the measure is shown.
    pub shown: TableVisibility,
}

deadloop_replay::detect::words! {
    /// The unit of a measure's values.
    pub enum MeasureUnit {
        /// A share, 0 to 1.
        Share = "share",
        /// Events or units per million healthy chars. In calls and turns, events per thousand.
        PerMillion = "per-million",
        /// Chars, calls or turns.
        Chars = "chars",
    }
}

impl MeasureUnit {
    /// Returns the unit in words, which is empty for a share. `unit` is the unit of the row.
    pub fn words(self) -> &'static str {
        match self {
            Self::Share => "",
            Self::PerMillion => "per million units",
            Self::Chars => "unit",
        }
    }
}

deadloop_replay::detect::words! {
    /// The method by which the interval of a measure is computed.
    pub enum UncertaintyMethod {
        /// The Wilson interval of a share of single items.
        Share = "share",
        /// The exact Poisson interval of events per exposure.
        Rate = "rate",
        /// The bootstrap over groups, for any other measure.
        Resampled = "resampled",
    }
}

/// The tables for people in which a measure is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableVisibility {
    /// Whether choice.csv and the tables of choices show the measure, both in sample and held out.
    pub choice: bool,
    /// Whether the tables of settings in the terminal and on the page show the measure.
    pub tables: bool,
}

impl TableVisibility {
    /// The visibility of a measure in no table for people.
    pub(super) const NOWHERE: Self = Self {
        choice: false,
        tables: false,
    };
    /// The visibility of a measure in every table for people.
    pub(super) const EVERYWHERE: Self = Self {
        choice: true,
        tables: true,
    };
    /// The visibility of a measure in the tables of settings alone.
    pub(super) const SETTINGS_ONLY: Self = Self {
        choice: false,
        tables: true,
    };
}

impl Measure {
    /// The template of the table's entries: a share in every counting unit, with more as better.
    ///
    /// It has the interval of a share but no columns with it, and is in no table for people.
    pub(super) const SHARE: Self = Self {
        name: "",
        title: "",
        unit: MeasureUnit::Share,
        counted_in: &CountingUnit::ALL,
        more_is_better: true,
        meaning: "",
        about: "",
        formula: Formula::Ratio(Ratio {
            scale: 1.0,
            num: &[],
            den: &[],
        }),
        certainty: UncertaintyMethod::Share,
        bounds: None,
        shown: TableVisibility::NOWHERE,
    };

    /// Returns the name for people if output is counted in `unit`.
    pub fn title_in(&self, unit: CountingUnit) -> Cow<'static, str> {
        match unit {
            CountingUnit::Chars => self.title.into(),
            _ => self.title.replace("chars", unit.name()).into(),
        }
    }

    /// Returns 1 if larger values are better, otherwise -1.
    pub fn sign(&self) -> f64 {
        if self.more_is_better { 1.0 } else { -1.0 }
    }

    /// Returns the size of one point: 0.01 if the measure is a share, otherwise 1 % of the value `in_use`.
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
