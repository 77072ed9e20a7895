//! [`Remark`]: warnings about a budget.

use std::fmt;

use super::params::{Budget, Policy};

/// A warning about a setting.
#[derive(Clone, Debug, PartialEq)]
pub enum Remark {
    /// The threshold is above 1 - reserve, so that a prompt may overflow before the policy acts.
    Unsafe {
        /// The threshold.
        threshold: f64,
        /// The reserve.
        reserve: f64,
    },
    /// The prompt after a summary may already exceed the threshold, so that one summary follows another.
    Thrashes {
        /// The largest prompt after a summary, as a share of the window.
        left: f64,
        /// The threshold.
        threshold: f64,
    },
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsafe { threshold, reserve } => write!(
                f,
                "unsafe: threshold {threshold} is above 1 - reserve = {}; a prompt between the two overflows and is not \
                 summarised before; lower the threshold to {} or less",
                round_share(1.0 - reserve),
                round_share(1.0 - reserve)
            ),
            Self::Thrashes { left, threshold } => write!(
                f,
                "keep + summary = {} is at least the threshold {threshold}: what a summary leaves can be over it again",
                round_share(*left)
            ),
        }
    }
}

/// Rounds a share to hide the errors of binary arithmetic.
pub(super) fn round_share(x: f64) -> f64 {
    (x * 1e9).round() / 1e9
}

impl Budget {
    /// Returns the warnings about this setting.
    pub fn remarks(&self) -> Vec<Remark> {
        let mut remarks = Vec::new();
        if self.policy == Policy::Never {
            return remarks;
        }
        if self.is_unsafe() {
            remarks.push(Remark::Unsafe {
                threshold: self.threshold,
                reserve: self.reserve,
            });
        }
        let left = match self.policy {
            Policy::Summary => self.keep + self.summary,
            Policy::Drop => self.keep,
            Policy::Never => 0.0,
        };
        if left >= self.threshold {
            remarks.push(Remark::Thrashes {
                left,
                threshold: self.threshold,
            });
        }
        remarks
    }

    /// Returns whether a prompt can overflow before it reaches the threshold.
    pub fn is_unsafe(&self) -> bool {
        self.threshold > round_share(1.0 - self.reserve)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_above_what_the_reserve_leaves_is_unsafe() {
        let at = |threshold| Budget {
            threshold,
            ..Budget::default()
        };
        assert!(!at(0.9).is_unsafe() && at(0.91).is_unsafe());
        assert!(at(0.92).remarks()[0].to_string().starts_with("unsafe: "));
        assert!(at(0.85).remarks().is_empty());
        assert!(matches!(at(0.25).remarks()[0], Remark::Thrashes { .. }));
    }
}
