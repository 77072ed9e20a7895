//! Reports what filters left out, where they left nothing: a name that no transcript has is most often a
//! slip.

use std::collections::BTreeSet;

use deadloop_corpus::Selection;
use deadloop_detect::harness::meant;
use deadloop_score::Case;

/// Models and splits of transcripts that filters left out, as far as a message has room for them.
#[derive(Default)]
pub(crate) struct LeftOut([BTreeSet<String>; 2]);

impl LeftOut {
    /// Names of a kind that are told.
    const MOST: usize = 20;

    /// One more.
    pub(crate) fn add(&mut self, case: &Case) {
        let names = [Some(&case.model), case.split.as_ref()];
        for (known, name) in self.0.iter_mut().zip(names) {
            if let Some(name) = name.filter(|_| known.len() < Self::MOST) {
                known.insert(name.to_string());
            }
        }
    }

    /// What there is of each thing that the selection filters by.
    pub(crate) fn hint(&self, selection: &Selection) -> String {
        let asked = [
            (
                "models",
                selection
                    .models
                    .iter()
                    .map(|glob| glob.as_str().to_owned())
                    .collect(),
            ),
            ("splits", Vec::from_iter(selection.split.clone())),
        ];
        let told = asked
            .into_iter()
            .zip(&self.0)
            .filter_map(|((what, asked), there)| {
                let near = meant(asked.first()?, there.iter().map(String::as_str));
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
