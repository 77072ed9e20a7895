//! A transcript that was made, and what every draw needs: a seed, and a word for why it came to nothing.

use sha2::{Digest, Sha256};

use super::label::{Label, LabelCells};
use crate::Entry;

/// Why a draw came to nothing. Another may come to something.
pub(super) type Failed = &'static str;

/// A made transcript and what is true about it.
#[derive(Clone, Debug)]
pub struct Made {
    /// The transcript, with its split where the spec deals splits.
    pub entry: Entry,
    /// What is known of it because it was made so.
    pub labels: Vec<Label>,
    /// Of a recording: its rows of `labels.csv`, as its corpus has them.
    pub rows: Vec<LabelCells>,
}

impl Made {
    /// Its rows of `labels.csv`.
    pub fn label_rows(&self) -> impl Iterator<Item = LabelCells> {
        let id = &self.entry.transcript.id;
        let known = self.labels.iter().map(|label| label.row(id));
        known.chain(self.rows.iter().cloned())
    }
}

/// A seed for something that has a name.
pub(super) fn seeded(seed: u64, name: &[&str]) -> u64 {
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
