//! Splitting a block's cells into the few regions that behave alike on one transcript.
//!
//! For one fact the accepting values of each axis are a run from one end, so the cells that accept
//! it form a box. Facts are taken in the order in which a live guard would meet them; each claims
//! the part of its box that no earlier fact has claimed. What is left over stays quiet. The work
//! grows with the facts and the boxes they leave, not with the number of cells.

use deadloop_detect::{Bound, Fact};
use smallvec::{SmallVec, smallvec};

use crate::block::{Axis, Block};

/// Value indices along every axis: from, to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) lo: Along,
    pub(crate) hi: Along,
}

/// A value index along every axis. Boxes are made and dropped by the hundred for each fact.
pub(crate) type Along = SmallVec<[u16; 8]>;

impl Span {
    /// Every cell of a block.
    pub(crate) fn all(block: &Block) -> Self {
        let hi: Along = block.axes().iter().map(|a| a.len()).collect();
        Self {
            lo: smallvec![0; hi.len()],
            hi,
        }
    }

    /// The cells whose `member` accepts `fact` at `step` or before; `None`: no cell does.
    pub(crate) fn accepting(block: &Block, member: usize, fact: &Fact, step: u64) -> Option<Self> {
        let mut span = Self::all(block);
        let own = |(_, axis): &(usize, &Axis)| axis.member == member;
        for (i, axis) in block.axes().iter().enumerate().filter(own) {
            let run = match *fact.bounds.get(axis.bound)? {
                Bound::Exactly(number) => axis.exactly(number),
                bound => axis.accepting(fact.value(bound, step)),
            };
            if run.is_empty() {
                return None;
            }
            (span.lo[i], span.hi[i]) = (run.start, run.end);
        }
        Some(span)
    }

    fn overlap(&self, other: &Self) -> Option<Self> {
        let axes = self
            .lo
            .iter()
            .zip(&self.hi)
            .zip(other.lo.iter().zip(&other.hi));
        let (mut lo, mut hi) = (Along::new(), Along::new());
        for ((a, b), (c, d)) in axes {
            let (from, to) = (*a.max(c), *b.min(d));
            if from >= to {
                return None;
            }
            lo.push(from);
            hi.push(to);
        }
        Some(Self { lo, hi })
    }

    /// What is left of this box without `inner`, which lies inside it: a slab below and a slab
    /// above along each axis, the rest cut down to `inner` on the axes before.
    fn without(mut self, inner: &Self, left: &mut Vec<Self>) {
        for i in 0..self.lo.len() {
            if self.lo[i] < inner.lo[i] {
                let mut below = self.clone();
                below.hi[i] = inner.lo[i];
                left.push(below);
                self.lo[i] = inner.lo[i];
            }
            if inner.hi[i] < self.hi[i] {
                let mut above = self.clone();
                above.lo[i] = inner.hi[i];
                left.push(above);
                self.hi[i] = inner.hi[i];
            }
        }
    }
}

/// The cells that no fact has claimed yet.
pub(crate) struct Unclaimed {
    left: Vec<Span>,
}

impl Unclaimed {
    pub(crate) fn new(block: &Block) -> Self {
        Self {
            left: vec![Span::all(block)],
        }
    }

    /// Whether every cell has been claimed.
    pub(crate) fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// Claims what is left of `span`: disjoint boxes.
    pub(crate) fn claim(&mut self, span: &Span) -> Vec<Span> {
        let mut claimed = Vec::new();
        let mut left = Vec::with_capacity(self.left.len());
        for free in self.left.drain(..) {
            match free.overlap(span) {
                Some(inner) => {
                    free.without(&inner, &mut left);
                    claimed.push(inner);
                }
                None => left.push(free),
            }
        }
        self.left = left;
        claimed
    }
}
