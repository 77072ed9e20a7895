//! The choice of a detector between its two alarms: where it stops a run, or where it warns before that.

use crate::settings::param::{DECIMAL, Param};
use crate::settings::params::Params;

/// What [`TELLS`] says where warnings are told.
pub(crate) const TELLS_WARNING: &str = "warning";

/// The parameter that chooses between stops and warnings, which are two operating points.
pub(crate) const TELLS: Param = Param::word("tells", "stop", &["stop", TELLS_WARNING])
    .doc("which of its two alarms it tells: where it stops a run, or where it warns before that");

/// The parameter that says how early a warning comes.
pub(crate) const WARN_AT: Param = Param::number("warn_at", 0.8, 0.01..=1.0)
    .unit("of the limit")
    .doc("with tells = \"warning\": the share of a limit that is used up");

/// The share of a limit at which it alarms, in millionths: the whole limit, or the share of a warning.
pub(crate) fn warned(params: &Params) -> i64 {
    // The domain keeps the share small.
    #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
    if params.text(TELLS.name) == TELLS_WARNING {
        (params.float(WARN_AT.name) * DECIMAL as f64).round() as i64
    } else {
        DECIMAL
    }
}
