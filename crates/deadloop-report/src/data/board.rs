//! What the page's sliders move over: the counts of every cell, and where each transcript's verdict changes.

use deadloop_score::{Count, MEASURES, Regions};
use std::collections::BTreeSet;

/// The counts that are embedded of a cell and model: those that the measures beside the sliders are computed from, and
/// what loops and clean transcripts are the sum of.
pub fn embedded_counts() -> Vec<Count> {
    let on_board = MEASURES
        .into_iter()
        .filter(|measure| measure.shown.tables || measure.shown.choice);
    let ratios = on_board.flat_map(|measure| measure.formula.ratios);
    let terms = ratios.flat_map(|ratio| ratio.num.iter().chain(ratio.den));
    let counts = terms.map(|term| term.0);
    let all: BTreeSet<Count> = counts.chain(Count::LOOPS).chain(Count::CLEAN).collect();
    all.into_iter().collect()
}

/// Everything that the sliders need.
#[derive(Debug, Clone, Default)]
pub struct Board {
    /// The cells that are there, in the order of the plan: their numbers in it, and indices into
    /// [`ReportData::settings`](crate::ReportData::settings). Those of the grids come first.
    pub cells: Vec<(usize, usize)>,
    /// How many of them are cells of a grid.
    pub grid: usize,
    /// The counts of each model; all models together first, then those with the most loops.
    pub models: Vec<Counted>,
    /// How many models have no counts here.
    pub left_out: usize,
    /// Values that were left out because the grid has too many cells: a parameter, and which.
    pub thinned: Vec<(String, Vec<String>)>,
    /// Where verdicts change.
    pub regions: Regions,
}

/// The counts of a model.
#[derive(Debug, Clone, Default)]
pub struct Counted {
    /// The model, or [`ALL_MODELS`](crate::ALL_MODELS).
    pub model: String,
    /// A column for each of the embedded counts, a number for each cell.
    pub columns: Vec<PackedColumn>,
    /// The numbers of events that occur in rates: the page brings their Poisson bounds.
    pub events: BTreeSet<u64>,
}

/// Whole numbers, kept as their differences, a few bits each: there may be a hundred thousand cells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PackedColumn {
    last: i64,
    bytes: Vec<u8>,
}

impl PackedColumn {
    /// Adds a number.
    pub fn push(&mut self, value: i64) {
        let step = value.wrapping_sub(self.last);
        self.last = value;
        // Zigzag: small numbers of either sign are small.
        varint(((step << 1) ^ (step >> 63)) as u64, &mut self.bytes);
    }

    /// The differences, seven bits a byte, the lowest first.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Seven bits a byte, the lowest first; all but the last byte have their top bit set.
pub(crate) fn varint(mut value: u64, bytes: &mut Vec<u8>) {
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}
