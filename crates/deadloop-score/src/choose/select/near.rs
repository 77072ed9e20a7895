//! [`Near`]: the candidates that are as good as the best.

use std::cell::OnceCell;

use super::{Stand, Standing};
use crate::choose::options::ChooseOptions;
use crate::choose::paired::Difference;
use crate::measure::{Terms, linear};

/// Where a single transcript differs, its difference *is* the standard error: what is known of either to some 5
/// digits (see [`Steps`](crate::choose::paired::Steps)) must not decide whether it lies within.
const ROUNDING: f64 = 1e-3;

/// The candidates that are as good as the best: within one standard error of the paired difference, or less than
/// `--worthwhile` points below it.
pub(super) struct Near<'a> {
    stand: &'a Stand<'a>,
    best: Standing,
    /// The merit from which on a candidate is as good, whatever the error.
    from: f64,
    /// The transcripts with their weights, the slopes of the objective: only asked for where cells differ.
    known: OnceCell<(Vec<(usize, f64)>, Terms)>,
}

impl<'a> Near<'a> {
    pub(super) fn of(stand: &'a Stand<'a>, best: Standing) -> Self {
        Self {
            stand,
            best,
            from: best.merit - stand.negligible(),
            known: OnceCell::new(),
        }
    }

    fn known(&self) -> &(Vec<(usize, f64)>, Terms) {
        self.known.get_or_init(|| {
            let ChooseOptions {
                objective, worth, ..
            } = self.stand.selection.options;
            let counts = self.stand.counts(self.best.cell);
            let slopes = objective.slopes(&objective.at(&counts, worth));
            (self.stand.weighed(self.best.cell), slopes)
        })
    }

    /// Whether a difference of merit lies within an error, or is too small for a change.
    fn within(&self, candidate: &Standing, error: f64) -> bool {
        candidate.merit >= self.from.min(self.best.merit - error * (1.0 + ROUNDING))
    }

    /// Whether one cell is near: transcript by transcript.
    pub(super) fn holds_one(&self, candidate: &Standing) -> bool {
        if candidate.merit >= self.from {
            return true;
        }
        let (transcripts, slopes) = self.known();
        let field = self.stand.selection.field;
        let [a, b] = [self.best.cell, candidate.cell].map(|cell| {
            let under = field.ledger.under(field.evidence, cell);
            let one = |(i, _): &(usize, f64)| linear(field.ledger.terms(&under, *i), slopes);
            transcripts.iter().map(one).collect::<Vec<f64>>()
        });
        let weights: Vec<f64> = transcripts.iter().map(|(_, w)| *w).collect();
        self.within(candidate, Difference::between(&a, &b, &weights).error)
    }

    /// All that are near; those whose error matters are painted, block by block.
    pub(super) fn among(&self, candidates: &[Standing]) -> Vec<Standing> {
        let as_good = |c: &Standing| c.merit >= self.from;
        let (mut near, below): (Vec<_>, Vec<_>) = candidates.iter().copied().partition(as_good);
        if below.is_empty() {
            return near;
        }
        let (transcripts, slopes) = self.known();
        let n: f64 = transcripts.iter().map(|(_, weight)| weight).sum();
        let field = self.stand.selection.field;
        // What is further away than any error can reach need not be painted.
        let reach = field.ledger.largest_error(transcripts, slopes);
        let may = below.into_iter().filter(|c| self.within(c, reach));
        let may: Vec<Standing> = may.collect();
        let mut rest = &may[..];
        for (index, block) in field.blocks() {
            let end = rest.partition_point(|c| c.cell < block.first() + block.len());
            let (here, later) = rest.split_at(end);
            rest = later;
            if here.is_empty() {
                continue;
            }
            if let [only] = here {
                near.extend(Some(*only).filter(|c| self.holds_one(c)));
                continue;
            }
            let paired = field.paired(self.best.cell, index, transcripts);
            near.extend(here.iter().filter(|c| {
                let moments = paired.moments(&block.at(c.cell - block.first()));
                let squares = moments.squares(slopes, &field.ledger.steps);
                let error = Difference::of(self.best.merit - c.merit, squares, n).error;
                self.within(c, error)
            }));
        }
        near
    }
}
