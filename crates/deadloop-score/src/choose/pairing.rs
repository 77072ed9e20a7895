//! What a selection compares its candidates by: each with the best, transcript by transcript.

use super::board::Field;
use super::paired::{Pair, Paired};

impl Field<'_> {
    /// Pairs the cells of a block with a reference cell on some transcripts, each with its weight.
    pub(crate) fn paired(
        &self,
        reference: usize,
        block: usize,
        transcripts: &[(usize, f64)],
    ) -> Paired {
        let Field {
            evidence, ledger, ..
        } = self;
        let under = ledger.under(evidence, reference);
        let pair = |(i, weight): &(usize, f64)| {
            let added = ledger.added(block, *i);
            // Most transcripts have no stop: their records, which lie all over memory, are not looked at.
            let record = (!added.stops.is_empty()).then(|| &evidence.records[*i]);
            Pair {
                regions: record.map_or(&[], |record| &record.blocks[block].regions),
                added,
                reference: *ledger.terms(&under, *i),
                root: weight.sqrt(),
            }
        };
        let shape = evidence.plan.blocks()[block].shape();
        Paired::new(&shape, transcripts.iter().map(pair), &ledger.steps)
    }
}
