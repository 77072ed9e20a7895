//! [`Pairing`]: what a selection compares its candidates by, each with the best, transcript by transcript.

use std::rc::Rc;

use crate::board::Field;
use crate::ledger::Memo;
use crate::paired::{Moments, Pair, Paired};
use crate::select::{Selection, Voice};

/// Each block with all transcripts paired with a setting that was the best without some model:
/// mostly one and the same, so that leaving out each of a thousand models does not pair all
/// transcripts each time.
pub(crate) type References = Memo<(usize, usize), Paired>;

/// The cells of a block paired with a reference, on some transcripts but not on others.
pub(crate) struct Pairing {
    on: Rc<Paired>,
    but: Option<Paired>,
}

impl Pairing {
    /// Those of one cell.
    pub(crate) fn moments(&self, at: &[u16]) -> Moments {
        let on = self.on.moments(at);
        self.but.as_ref().map_or(on, |but| on - but.moments(at))
    }
}

impl Selection<'_> {
    /// Pairs a block with a reference cell on the transcripts of a selection.
    pub(crate) fn pairing(
        &self,
        reference: usize,
        block: usize,
        transcripts: &[(usize, f64)],
    ) -> Pairing {
        let of = |transcripts: &mut dyn Iterator<Item = (usize, f64)>| {
            self.paired(reference, block, transcripts)
        };
        let unit = |i: &usize| (*i, 1.0);
        match self.voice {
            Voice::Others {
                all,
                own,
                references,
            } => Pairing {
                on: references.get((reference, block), || of(&mut all.pick.iter().map(unit))),
                but: Some(of(&mut own.pick.iter().map(unit))),
            },
            _ => Pairing {
                on: Rc::new(of(&mut transcripts.iter().copied())),
                but: None,
            },
        }
    }

    fn paired(
        &self,
        reference: usize,
        block: usize,
        transcripts: &mut dyn Iterator<Item = (usize, f64)>,
    ) -> Paired {
        let Field {
            evidence, ledger, ..
        } = self.field;
        let under = ledger.under(evidence, reference);
        let pair = |(i, weight): (usize, f64)| Pair {
            regions: &evidence.records[i].blocks[block].regions,
            added: ledger.added(block, i),
            reference: under[i],
            root: weight.sqrt(),
        };
        let shape = evidence.plan.blocks()[block].shape();
        Paired::new(&shape, transcripts.map(pair), &ledger.steps)
    }
}
