//! The two halves of a detector: a [`Meter`] turns text into [`Fact`]s, a [`Rule`] decides which of
//! them is an alarm. The live [`Guard`](crate::Guard), a replay and a sweep all join these same two
//! halves, so they cannot disagree.

use std::sync::Arc;

use crate::param::Threshold;
use crate::position::{Chars, Kind};

/// One thing that a meter saw, at one position, with all that a rule needs to decide about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The chars that had been read when it was known: an alarm on it has this exact position.
    pub at: Chars,
    /// What kind of loop it would be.
    pub kind: Kind,
    /// One bound for each threshold of the detector, in the order of its parameters; a setting
    /// accepts the fact if each of its thresholds [accepts](Threshold::accepts) its bound.
    pub bounds: Vec<i64>,
    /// The check that saw it.
    pub check: &'static str,
    /// Where the second copy begins, as far as the meter can see.
    pub onset: Chars,
    /// Length of one copy.
    pub period: Chars,
    /// Whole copies in a row, the first included.
    pub copies: u64,
    /// The repeated unit, cut to [`UNIT_CHARS`].
    pub unit: String,
}

/// How much of a repeated unit a fact keeps, in chars.
pub const UNIT_CHARS: usize = 80;

/// The measuring half: one per stream. A fresh meter is the reset.
pub trait Meter: Send {
    /// Reads the next piece of the stream and appends what it shows, in the order in which it was
    /// known; facts known at the same char stand in the order in which they are to be tried.
    ///
    /// How the stream is cut into pieces does not change the facts.
    fn push(&mut self, piece: &str, facts: &mut Vec<Fact>);
}

/// What a meter is made from, compiled once and shared: the immutable half of a detector, of which
/// each stream gets a fresh [`Meter`].
#[derive(Clone)]
pub struct Recipe(Arc<dyn Fn() -> Box<dyn Meter> + Send + Sync>);

impl Recipe {
    /// A recipe from what makes a fresh meter.
    pub fn new(make: impl Fn() -> Box<dyn Meter> + Send + Sync + 'static) -> Self {
        Self(Arc::new(make))
    }

    /// A fresh meter.
    pub fn meter(&self) -> Box<dyn Meter> {
        (self.0)()
    }
}

impl std::fmt::Debug for Recipe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Recipe")
    }
}

/// The deciding half: the thresholds of one setting.
#[derive(Clone, Debug)]
pub struct Rule {
    thresholds: Vec<(Threshold, i64)>,
}

impl Rule {
    /// A rule from each threshold and the value written for it, in the order of the parameters.
    pub fn new(thresholds: impl IntoIterator<Item = (Threshold, i64)>) -> Self {
        let effective = |(t, written): (Threshold, i64)| (t, t.effective(written));
        Self {
            thresholds: thresholds.into_iter().map(effective).collect(),
        }
    }

    /// The position at which `fact` becomes an alarm; `None`: never.
    pub fn alarm(&self, fact: &Fact) -> Option<Chars> {
        self.accepts_but_for(fact, |_| false).then_some(fact.at)
    }

    /// Whether the thresholds other than those that `varies` names by their place accept `fact`: a
    /// sweep asks these once and answers the others for all their values together.
    pub fn accepts_but_for(&self, fact: &Fact, varies: impl Fn(usize) -> bool) -> bool {
        let mut asked = self.thresholds.iter().zip(&fact.bounds).enumerate();
        asked.all(|(i, ((t, value), bound))| t.accepts(*value, *bound) || varies(i))
    }
}
