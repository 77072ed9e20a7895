//! [`ExcludedNames`]: models and splits to suggest when filters match nothing.
//!
//! A misspelt name is the usual cause.

use std::collections::BTreeSet;

use deadloop_corpus::Selection;
use deadloop_detect::harness::did_you_mean;
use deadloop_score::Case;

/// The models, then the splits, of the transcripts that the filters left out.
#[derive(Default)]
pub(crate) struct ExcludedNames([BTreeSet<String>; 2]);

impl ExcludedNames {
    /// The maximum number of models to list, and of splits.
    const MAX_NAMES: usize = 20;

    /// Adds the model and the split of a transcript that was left out.
    pub(crate) fn add(&mut self, case: &Case) {
        let names = [Some(&case.model), case.split.as_ref()];
        for (known, name) in self.0.iter_mut().zip(names) {
            if let Some(name) = name.filter(|_| known.len() < Self::MAX_NAMES) {
                known.insert(name.to_string());
            }
        }
    }

    /// Returns a suffix for an error message, which lists the existing models if `selection` filters by model, and the
    /// existing splits if it filters by split.
    pub(crate) fn format_suggestions(&self, selection: &Selection) -> String {
        let models = selection.models.iter().map(|glob| glob.as_str().to_owned());
        let asked = [
            ("models", models.collect()),
            ("splits", Vec::from_iter(selection.split.clone())),
        ];
        let told = asked
            .into_iter()
            .zip(&self.0)
            .filter_map(|((what, asked), there)| {
                let near = did_you_mean(asked.first()?, there.iter().map(String::as_str));
                let names: Vec<&str> = there.iter().map(String::as_str).collect();
                Some(if names.is_empty() {
                    format!("; there are no {what}")
                } else {
                    format!("; its {what} are{near}: {}", names.join(", "))
                })
            });
        told.collect()
    }
}
