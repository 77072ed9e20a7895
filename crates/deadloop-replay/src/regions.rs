//! Splits the cells of a block into regions with equal results.
//!
//! For one fact, the accepting values of each axis are a run from one end, so the cells that accept the fact form a
//! box. Facts are taken in the order in which a live guard would meet them. Each fact claims the part of its box that
//! no earlier fact has claimed. The cells left over raise no alarm. The work grows with the number of facts and
//! boxes, not with the number of cells.

use deadloop_detect::harness::{Bound, Fact};
use smallvec::{SmallVec, smallvec};

use crate::block::{Axis, Block};

/// A box of cells: the value indices along every axis, from `lo` to before `hi`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CellBox {
    pub(crate) lo: AxisIndices,
    pub(crate) hi: AxisIndices,
}

/// A value index along every axis. It is stored inline, since hundreds of boxes are made and dropped for each fact.
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

    /// Returns the cells whose `member` accepts `fact` at `step` or before. `None` if no cell does.
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

    fn overlap(&self, other: &Self) -> Option<Self> {
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
    fn holds(&self, other: &Self) -> bool {
        let lows = self.lo.iter().zip(&other.lo).all(|(a, b)| a <= b);
        lows && self.hi.iter().zip(&other.hi).all(|(a, b)| a >= b)
    }

    fn cells(&self) -> u64 {
        let sides = self.lo.iter().zip(&self.hi);
        sides.map(|(lo, hi)| u64::from(hi - lo)).product()
    }

    /// Adds the part of this box outside of `inner` to `left`. `inner` must lie inside the box. The part is a slab
    /// below and a slab above `inner` along each axis, cut down to `inner` on the axes before.
    fn subtract(mut self, inner: &Self, left: &mut Vec<Self>) {
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

/// The cells claimed so far: boxes that do not contain each other.
///
/// The boxes of one growing fact contain each other, so few remain. A new claim is cut by these boxes, which makes
/// few pieces. Cutting up the free cells instead would make very many.
pub(crate) struct ClaimedCells {
    boxes: Vec<CellBox>,
    /// The number of cells outside of all boxes.
    free: u64,
}

impl ClaimedCells {
    pub(crate) fn new(block: &Block) -> Self {
        Self {
            boxes: Vec::new(),
            free: CellBox::all(block).cells(),
        }
    }

    /// Returns whether every cell has been claimed.
    pub(crate) fn is_whole(&self) -> bool {
        self.free == 0
    }

    /// Claims the free cells of `span`. Returns them as disjoint boxes.
    pub(crate) fn claim(&mut self, span: CellBox) -> Vec<CellBox> {
        let mut parts = vec![span.clone()];
        let mut cut = Vec::new();
        // The last box is the likeliest to overlap most of this one.
        for taken in self.boxes.iter().rev() {
            for part in parts.drain(..) {
                match part.overlap(taken) {
                    Some(inner) => part.subtract(&inner, &mut cut),
                    None => cut.push(part),
                }
            }
            std::mem::swap(&mut parts, &mut cut);
            if parts.is_empty() {
                return parts;
            }
        }
        self.boxes.retain(|taken| !span.holds(taken));
        self.boxes.push(span);
        self.free -= parts.iter().map(CellBox::cells).sum::<u64>();
        parts
    }
}
