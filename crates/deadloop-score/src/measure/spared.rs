//! What a guard spares or costs where production loops at a given rate: [`spared_at`].

use super::formula::Worth;
use super::table::{SPARED, WASTED};
use crate::tally::Tally;

/// What a guard spares in 1,000 responses of which the share `rate` loops, in the unit of the tally; below 0: what it costs.
/// From S and W of `break_even`; `None` where one of them is n/a.
pub fn spared_at(rate: f64, tally: &Tally, worth: &Worth) -> Option<f64> {
    let [spared, wasted] = [SPARED, WASTED].map(|ratio| ratio.value(tally, worth));
    Some(1000.0 * (rate * spared? - (1.0 - rate) * wasted?))
}
