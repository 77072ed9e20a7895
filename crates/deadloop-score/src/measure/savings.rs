//! [`spared_at`]: the savings of a guard at a given rate of loops.

use super::formula::Stakes;
use super::table::{SPARED, WASTED};
use crate::tally::Tally;

/// Returns the units that a guard spares in 1,000 responses if the share `rate` loops.
///
/// Below 0, the guard costs units. Computed from S and W of `break_even`. `None` if one of them is n/a.
pub(crate) fn spared_at(rate: f64, tally: &Tally, worth: &Stakes) -> Option<f64> {
    let [spared, wasted] = [SPARED, WASTED].map(|ratio| ratio.value(tally, worth));
    Some(1000.0 * (rate * spared? - (1.0 - rate) * wasted?))
}
