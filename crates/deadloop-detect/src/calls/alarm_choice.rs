//! The choice of a detector between two alarms: stop or warning.

use crate::settings::param::{DECIMAL, Param};
use crate::settings::params::Params;

/// The value of [`TELLS`] that selects warnings.
pub(crate) const TELLS_WARNING: &str = "warning";

/// The parameter `tells`: whether a detector stops or warns.
pub(crate) const TELLS: Param = Param::word("tells", "stop", &["stop", TELLS_WARNING])
    .doc("which of its two alarms it tells: where it stops a run, or where it warns before that");

/// The parameter `warn_at`: the share of a limit at which a warning is raised.
pub(crate) const WARN_AT: Param = Param::number("warn_at", 0.8, 0.01..=1.0)
    .unit("of the limit")
    .doc("share of a limit that is used up, with tells = \"warning\"");

/// Returns the share of a limit at which a detector alarms, in millionths. It is [`WARN_AT`] for warnings, and 1 for
/// stops.
pub(crate) fn alarm_share(params: &Params) -> i64 {
    // The range of the parameter keeps the product small.
    if params.text(TELLS.name) == TELLS_WARNING {
        (params.float(WARN_AT.name) * DECIMAL as f64).round() as i64
    } else {
        DECIMAL
    }
}
