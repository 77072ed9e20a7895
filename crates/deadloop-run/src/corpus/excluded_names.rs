//! [`ExcludedNames`]: models and splits to list when filters match nothing.
//!
//! The usual cause is a misspelt name.

use std::collections::BTreeSet;

use deadloop_corpus::Selection;
use deadloop_detect::harness::did_you_mean;
use deadloop_score::Case;

/// The models and splits of transcripts left out by filters, limited in number.
#[derive(Default)]
pub(crate) struct ExcludedNames([BTreeSet<String>; 2]);

impl ExcludedNames {
    /// The maximum number of names listed of each kind.
    const MOST: usize = 20;

    /// Adds a transcript that was left out.
    pub(crate) fn add(&mut self, case: &Case) {
        let names = [Some(&case.model), case.split.as_ref()];
        for (known, name) in self.0.iter_mut().zip(names) {
            if let Some(name) = name.filter(|_| known.len() < Self::MOST) {
                known.insert(name.to_string());
            }
        }
    }

    /// Lists the existing names of each kind that the selection filters by.
    pub(crate) fn hint(&self, selection: &Selection) -> String {
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
