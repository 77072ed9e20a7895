//! [`presets`]: the thresholds of programs in use, by name.

use std::sync::LazyLock;

use deadloop_detect::harness::meant;
use serde::Deserialize;

use super::params::{Budget, Policy};
use super::remarks::tidy;

/// A setting under a name.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetPreset {
    /// Its name for `--preset`.
    pub name: String,
    /// Which program it imitates.
    pub about: String,
    /// When the policy acts, as a share of the window.
    pub threshold: f64,
    /// How much of the newest events stays, as a share of the window.
    pub keep: f64,
    /// If this share of the window, less the answer's reserve, is a threshold too: that share.
    pub less_answer: Option<f64>,
}

#[derive(Deserialize)]
struct Wire {
    preset: Vec<BudgetPreset>,
}

/// The thresholds of programs in use, of `presets.toml`.
pub fn presets() -> &'static [BudgetPreset] {
    #[allow(
        clippy::expect_used,
        reason = "a constant; every test would see it fail"
    )]
    static ALL: LazyLock<Vec<BudgetPreset>> = LazyLock::new(|| {
        let read: Wire = toml::from_str(include_str!("presets.toml")).expect("presets");
        read.preset
    });
    &ALL
}

/// The preset with this name.
///
/// # Errors
/// If no preset has this name, the error lists those that exist.
pub(super) fn preset(name: &str) -> Result<&'static BudgetPreset, String> {
    let known: Vec<&str> = presets()
        .iter()
        .map(|preset| preset.name.as_str())
        .collect();
    presets().iter().find(|p| p.name == name).ok_or_else(|| {
        format!(
            "unknown preset \"{name}\"{}; expected one of: {}",
            meant(name, known.iter().copied()),
            known.join(", ")
        )
    })
}

impl BudgetPreset {
    /// The preset as a setting in a given world: threshold and keep are the preset's; window, counter, prices and reserve
    /// are those of `world`.
    pub fn within(&self, world: &Budget) -> Budget {
        let less = self.less_answer.map(|share| tidy(share - world.reserve));
        let threshold = less.map_or(self.threshold, |less| less.min(self.threshold));
        Budget {
            threshold: threshold.max(0.05),
            keep: self.keep,
            policy: Policy::Summary,
            summary: Budget::default().summary,
            ..world.clone()
        }
    }
}
