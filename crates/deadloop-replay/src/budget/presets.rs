//! [`presets`]: the thresholds of programs in use, by name.

use deadloop_detect::meant;

use super::params::{Budget, Policy};
use super::remarks::tidy;

/// A setting under a name.
#[derive(Clone, Debug, PartialEq)]
pub struct BudgetPreset {
    /// Its name for `--preset`.
    pub name: &'static str,
    /// Which program it imitates.
    pub about: &'static str,
    /// When the policy acts, as a share of the window.
    pub threshold: f64,
    /// How much of the newest events stays, as a share of the window.
    pub keep: f64,
    /// If this share of the window, less the answer's reserve, is a threshold too: that share.
    pub less_answer: Option<f64>,
}

/// The thresholds of programs in use. Their parameters that are not shares of the window are left out.
pub fn presets() -> &'static [BudgetPreset] {
    const fn of(name: &'static str, threshold: f64, about: &'static str) -> BudgetPreset {
        BudgetPreset {
            name,
            about,
            threshold,
            keep: 0.2,
            less_answer: None,
        }
    }
    const ALL: &[BudgetPreset] = &[
        of(
            "service",
            0.85,
            "a service's SUMMARIZATION_THRESHOLD, from a design document that is not public",
        ),
        of("copilot", 0.85, "Copilot Chat: the summary at 0.85"),
        of("claude-code", 0.835, "Claude Code: the summary at 0.835"),
        of("codex", 0.9, "Codex CLI: the summary at 0.9"),
        BudgetPreset {
            name: "gemini-cli",
            about: "Gemini CLI: half of the window, three tenths kept",
            threshold: 0.5,
            keep: 0.3,
            less_answer: None,
        },
        BudgetPreset {
            name: "roo",
            about: "Roo Code: all of the window, or 0.9 of it less the answer's reserve, whichever comes first",
            threshold: 1.0,
            keep: 0.2,
            less_answer: Some(0.9),
        },
        of("goose", 0.8, "goose: the summary at 0.8"),
        of("loom", 0.92, "Loom: the summary at 0.92"),
    ];
    ALL
}

/// The preset with this name.
///
/// # Errors
/// If no preset has this name, the error lists those that exist.
pub fn preset(name: &str) -> Result<&'static BudgetPreset, String> {
    let known: Vec<&str> = presets().iter().map(|preset| preset.name).collect();
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
