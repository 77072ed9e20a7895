//! [`SynthTranscript`]: a made transcript with its labels.

use sha2::{Digest, Sha256};

use super::label::PlantedLabel;
use deadloop_corpus::{Entry, LabelCells};

/// The reason why a draw failed. Another draw may succeed.
pub(super) type NoDraw = &'static str;

/// A made transcript with its labels.
#[derive(Clone, Debug)]
pub struct SynthTranscript {
    /// The transcript, with its split if the spec has splits.
    pub entry: Entry,
    /// The labels, which are known from the making.
    pub labels: Vec<PlantedLabel>,
    /// The rows of `labels.csv` of a recording, as in its corpus.
    pub rows: Vec<LabelCells>,
}

impl SynthTranscript {
    /// Returns the transcript's rows of `labels.csv`.
    pub fn label_rows(&self) -> impl Iterator<Item = LabelCells> {
        let id = &self.entry.transcript.id;
        let known = self.labels.iter().map(|label| label.row(id));
        known.chain(self.rows.iter().cloned())
    }
}

/// Returns a seed that depends on a name.
pub(super) fn seed_of_name(seed: u64, name: &[&str]) -> u64 {
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
