//! Formats counts, shares and shell words for messages.

use std::ffi::OsStr;

use deadloop_detect::Unit;
use deadloop_score::sentences::{group, thousands};

pub use deadloop_score::sentences::several;

/// Formats a count with commas, such as `12,345`.
pub fn count(n: u64) -> String {
    thousands(n as i64)
}

/// Quotes a path or another word for a shell, if needed.
pub fn typed(word: impl AsRef<OsStr>) -> String {
    let shown = word.as_ref().to_string_lossy().into_owned();
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@".contains(c);
    if !shown.is_empty() && shown.chars().all(plain) {
        shown
    } else {
        format!("'{}'", shown.replace('\'', r"'\''"))
    }
}

/// Formats a share as a percentage, or `n/a` if it is `None`.
pub fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "n/a".into(), |x| format!("{:.1} %", 100.0 * x))
}

/// Formats a number with commas and this many decimals, or `n/a` if it is `None`.
pub fn number(x: Option<f64>, decimals: usize) -> String {
    x.map_or_else(|| "n/a".into(), |x| group(&format!("{x:.decimals$}")))
}

/// Returns the column title of a rate of wrong alarms in `unit`, such as `per Mchar`.
pub fn per(unit: Unit) -> &'static str {
    match unit {
        Unit::Chars => "per Mchar",
        Unit::Calls => "per kcall",
        Unit::Turns => "per kturn",
    }
}
