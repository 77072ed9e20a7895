//! Confidence intervals: closed forms for counts, and the bootstrap over groups.

mod bootstrap;
mod closed;
mod groups;
mod random;
mod resample;

pub(crate) use bootstrap::{GroupedSample, IntervalCache, column_intervals};
pub use bootstrap::{Intervals, bootstrap};
pub use closed::{
    Interval, PoissonCache, poisson, poisson_lower, poisson_upper, proportion_lower, wilson,
};
pub(crate) use closed::{binomial_at_least, poisson_at_least, wilson_fractional};
pub(crate) use groups::GroupTallies;
pub(crate) use random::Random;
pub(crate) use resample::{GroupSums, Replicates, WeightCache, percentile, quantile};
pub use resample::{POISSON_1, Resampling, Weights};
