//! [`SynthTranscript`]: a synthetic transcript with its labels.

use sha2::{Digest, Sha256};

use super::label::PlantedLabel;
use deadloop_corpus::{Entry, LabelCells};

/// The reason why a draw failed. Another draw may succeed.
pub(super) type DrawFault = &'static str;

/// The result of a random draw.
pub(super) type DrawResult<T> = Result<T, DrawFault>;

/// A synthetic transcript with its labels.
#[derive(Clone, Debug)]
pub struct SynthTranscript {
    /// The transcript, with its split if the spec has splits.
    pub entry: Entry,
    /// Labels, known by construction.
    pub labels: Vec<PlantedLabel>,
    /// Rows of a recording in the `labels.csv` of its corpus.
    pub rows: Vec<LabelCells>,
}

impl SynthTranscript {
    /// Returns the rows of the transcript for `labels.csv`.
    pub fn label_rows(&self) -> impl Iterator<Item = LabelCells> {
        let id = &self.entry.transcript.id;
        let known = self.labels.iter().map(|label| label.row(id));
        known.chain(self.rows.iter().cloned())
    }
}

/// Derives a seed from another seed and a name.
pub(super) fn derive_seed(seed: u64, name: &[&str]) -> u64 {
    let mut hasher = Sha256::new();
    hasher.update(seed.to_le_bytes());
    for part in name {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    let digest = hasher.finalize();
    digest
        .iter()
        .take(8)
        .fold(0, |all, byte| all << 8 | u64::from(*byte))
}
