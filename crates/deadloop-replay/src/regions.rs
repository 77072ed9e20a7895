//! Division of a block's cells into regions with equal results.
//!
//! For one fact, the accepting values of each axis are at one end of the axis, so the accepting cells form a box. Facts
//! are taken in the order in which a live guard meets them. Each fact claims the part of its box that no earlier fact
//! has claimed. Unclaimed cells raise no alarm. The time grows with the number of facts and boxes, not with that of
//! cells.

use deadloop_detect::harness::{Bound, Fact};
use smallvec::{SmallVec, smallvec};

use crate::block::{Axis, Block};

/// A box of cells, with the value indices `lo..hi` along every axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CellBox {
    pub(crate) lo: AxisIndices,
    pub(crate) hi: AxisIndices,
}

/// A value index along every axis. Stored inline, since each fact creates and drops hundreds of boxes.
pub(crate) type AxisIndices = SmallVec<[u16; 8]>;

impl CellBox {
    /// Returns the box of all cells of a block.
    pub(crate) fn all(block: &Block) -> Self {
        let hi: AxisIndices = block.axes().iter().map(|a| a.len()).collect();
        Self {
            lo: smallvec![0; hi.len()],
            hi,
        }
    }

    /// Returns the cells whose `member` accepts `fact` at or before `step`. `None` if there are none.
    pub(crate) fn accepting(block: &Block, member: usize, fact: &Fact, step: u64) -> Option<Self> {
        let mut span = Self::all(block);
        let own = |(_, axis): &(usize, &Axis)| axis.member == member;
        for (i, axis) in block.axes().iter().enumerate().filter(own) {
            let run = match fact.bounds.get(axis.param) {
                None => continue,
                Some(Bound::Exactly(number)) => axis.range_of(number),
                Some(bound) => axis.accepted_range(fact.value(bound, step)),
            };
            if run.is_empty() {
                return None;
            }
            (span.lo[i], span.hi[i]) = (run.start, run.end);
        }
        Some(span)
    }

    fn intersect(&self, other: &Self) -> Option<Self> {
        let axes = self
            .lo
            .iter()
            .zip(&self.hi)
            .zip(other.lo.iter().zip(&other.hi));
        let (mut lo, mut hi) = (AxisIndices::new(), AxisIndices::new());
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

    /// Returns whether `other` lies inside this box.
    fn contains(&self, other: &Self) -> bool {
        let lows = self.lo.iter().zip(&other.lo).all(|(a, b)| a <= b);
        lows && self.hi.iter().zip(&other.hi).all(|(a, b)| a >= b)
    }

    fn count_cells(&self) -> u64 {
        let sides = self.lo.iter().zip(&self.hi);
        sides.map(|(lo, hi)| u64::from(hi - lo)).product()
    }

    /// Pushes the part of this box outside of `inner` to `rest`. `inner` must lie inside the box.
    ///
    /// The part is a slab below and a slab above `inner` along each axis, restricted to `inner` on earlier axes.
    fn subtract(mut self, inner: &Self, rest: &mut Vec<Self>) {
        for i in 0..self.lo.len() {
            if self.lo[i] < inner.lo[i] {
                let mut below = self.clone();
                below.hi[i] = inner.lo[i];
                rest.push(below);
                self.lo[i] = inner.lo[i];
            }
            if inner.hi[i] < self.hi[i] {
                let mut above = self.clone();
                above.lo[i] = inner.hi[i];
                rest.push(above);
                self.hi[i] = inner.hi[i];
            }
        }
    }
}

/// The cells claimed so far, in boxes that do not contain each other.
///
/// The boxes of one growing fact contain each other, so only few remain, and they cut a new claim into few pieces.
/// Cutting up the free cells instead would make very many.
pub(crate) struct ClaimedCells {
    boxes: Vec<CellBox>,
    /// The number of unclaimed cells.
    free: u64,
}

impl ClaimedCells {
    pub(crate) fn new(block: &Block) -> Self {
        Self {
            boxes: Vec::new(),
            free: CellBox::all(block).count_cells(),
        }
    }

    /// Returns whether every cell has been claimed.
    pub(crate) fn covers_all(&self) -> bool {
        self.free == 0
    }

    /// Claims the free cells of `span` and returns them as disjoint boxes.
    pub(crate) fn claim(&mut self, span: CellBox) -> Vec<CellBox> {
        let mut parts = vec![span.clone()];
        let mut cut = Vec::new();
        // The last box is the likeliest to overlap most of this one.
        for taken in self.boxes.iter().rev() {
            for part in parts.drain(..) {
                match part.intersect(taken) {
                    Some(inner) => part.subtract(&inner, &mut cut),
                    None => cut.push(part),
                }
            }
            std::mem::swap(&mut parts, &mut cut);
            if parts.is_empty() {
                return parts;
            }
        }
        self.boxes.retain(|taken| !span.contains(taken));
        self.boxes.push(span);
        self.free -= parts.iter().map(CellBox::count_cells).sum::<u64>();
        parts
    }
}
