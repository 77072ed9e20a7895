//! The ink of a setting, the same in every chart.

use crate::data::ReportData;
use crate::draw::Ink;

/// Returns the ink of a setting that is not drawn as the chosen one. If no setting is in use, the first one has the ink
/// for it.
pub(crate) fn ink(data: &ReportData, setting: usize) -> Ink {
    let nth = data.leading().iter().position(|at| *at == setting);
    match nth {
        Some(0) => Ink::Current,
        // The first two inks belong to the setting in use and the chosen one.
        nth => Ink::series(2 + nth.map_or(0, |n| n - 1) % 6),
    }
}
