//! [`presets`]: budgets of existing agents, by name.

use std::sync::LazyLock;

use deadloop_detect::harness::did_you_mean;
use serde::Deserialize;

use super::params::{Budget, Policy};
use super::remarks::round_share;

/// A named setting of a context budget.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetPreset {
    /// The name for `--preset`.
    pub name: String,
    /// A description of the imitated program.
    pub about: String,
    /// The share of the window at which the policy acts.
    pub threshold: f64,
    /// The share of the window kept for the newest events.
    pub keep: f64,
    /// The share of a second threshold, from which the reserve for the answer is subtracted.
    pub less_answer: Option<f64>,
}

#[derive(Deserialize)]
struct BudgetPresetFile {
    preset: Vec<BudgetPreset>,
}

/// Returns the presets of `presets.toml`.
pub fn presets() -> &'static [BudgetPreset] {
    #[allow(
        clippy::expect_used,
        reason = "a constant; every test would see it fail"
    )]
    static ALL: LazyLock<Vec<BudgetPreset>> = LazyLock::new(|| {
        let read: BudgetPresetFile = toml::from_str(include_str!("presets.toml")).expect("presets");
        read.preset
    });
    &ALL
}

/// Returns the preset with this name.
///
/// # Errors
///
/// Returns an error that lists the presets if there is none.
pub(super) fn find_preset(name: &str) -> Result<&'static BudgetPreset, String> {
    let known: Vec<&str> = presets()
        .iter()
        .map(|preset| preset.name.as_str())
        .collect();
    presets().iter().find(|p| p.name == name).ok_or_else(|| {
        format!(
            "unknown preset \"{name}\"{}; expected one of: {}",
            did_you_mean(name, known.iter().copied()),
            known.join(", ")
        )
    })
}

impl BudgetPreset {
    /// Returns the preset's threshold and `keep` as a setting. Window, counter, prices and reserve are those of
    /// `world`.
    pub fn within(&self, world: &Budget) -> Budget {
        let less = self.less_answer.map(|x| round_share(x - world.reserve));
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
