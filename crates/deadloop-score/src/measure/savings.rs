//! [`spared_at`]: the savings of a guard at a given share of loops.

use super::formula::Stakes;
use super::table::{SPARED, WASTED};
use crate::tally::Tally;

/// Returns the number of units that a guard spares in 1,000 responses with this share of loops.
///
/// A negative number is a cost. `None` if S or W of `break_even` is n/a.
pub(crate) fn spared_at(loop_rate: f64, tally: &Tally, worth: &Stakes) -> Option<f64> {
    let [spared, wasted] = [SPARED, WASTED].map(|ratio| ratio.value(tally, worth));
    Some(1000.0 * (loop_rate * spared? - (1.0 - loop_rate) * wasted?))
}
