//! [`Blend`]: a model's own tally and that of the other models, which counts less.

use crate::tally::Tally;

/// What the other models' transcripts count, beside 1 for each of the model's own.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Weights {
    /// Where loops are counted.
    pub(crate) loops: f64,
    /// Where healthy text is counted.
    pub(crate) clean: f64,
}

/// Smoothed counts: each ratio of a score is (own + weight x rest) over (own + weight x rest), with
/// the weight of what it is a ratio of.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Blend {
    /// The model's own.
    pub(crate) own: Tally,
    /// The other models'.
    pub(crate) rest: Tally,
    /// What those count.
    pub(crate) weights: Weights,
}

impl Blend {
    /// A tally by itself.
    pub(crate) fn whole(tally: &Tally) -> Self {
        Self {
            own: *tally,
            rest: Tally::default(),
            weights: Weights::default(),
        }
    }

    /// Whether the other models count at all.
    pub(crate) fn is_whole(&self) -> bool {
        self.weights == Weights::default()
    }
}
