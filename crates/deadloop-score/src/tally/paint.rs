//! Sums over boxes of cells, by a k-dimensional difference array.
//!
//! Adding a box changes its 2^k corners (fewer where the box touches the grid's far edge). After all boxes are added,
//! one running sum along each axis leaves in every cell the sum over the boxes that cover it. So B boxes over C cells
//! cost B·2^k + k·C additions per field. A loop over cells would cost one addition for each cell of each box.
//!
//! Axes are cut only where some box begins or ends, so values that no box distinguishes share a cell. A model with a
//! dozen transcripts has few boxes, so its merged grid is small even in a large sweep.

use deadloop_replay::Region;

/// A grid of cells in which neighbouring cells are merged if no box separates them.
#[derive(Clone, Debug, Default)]
pub(crate) struct MergedGrid {
    /// The merged index times the axis's stride, for each axis and value.
    offsets: Vec<Vec<usize>>,
    /// Number of merged values of each axis.
    shape: Vec<usize>,
}

impl MergedGrid {
    /// Creates the merged grid of `boxes` in a grid of this shape.
    pub(crate) fn new<'r>(shape: &[usize], boxes: impl Iterator<Item = &'r Region>) -> Self {
        let mut cuts: Vec<Vec<bool>> = shape.iter().map(|n| vec![false; n + 1]).collect();
        for region in boxes {
            for (axis, cut) in cuts.iter_mut().enumerate() {
                cut[usize::from(region.lo[axis])] = true;
                cut[usize::from(region.hi[axis])] = true;
            }
        }
        let mut grid = Self {
            offsets: cuts.iter().map(|cut| merge_indices(cut)).collect(),
            shape: Vec::new(),
        };
        grid.shape = grid
            .offsets
            .iter()
            .map(|o| o.last().map_or(0, |i| i + 1))
            .collect();
        let mut stride = 1;
        for (offsets, n) in grid.offsets.iter_mut().zip(&grid.shape).rev() {
            offsets.iter_mut().for_each(|i| *i *= stride);
            stride *= n;
        }
        grid
    }

    /// Returns the number of merged cells. A grid without axes has one.
    pub(crate) fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Returns the index of the merged cell that contains a cell.
    pub(crate) fn index(&self, at: &[u16]) -> usize {
        at.iter()
            .zip(&self.offsets)
            .map(|(x, offsets)| offsets[usize::from(*x)])
            .sum()
    }

    /// Returns the number of merged cells per step of each axis.
    fn strides(&self) -> Vec<usize> {
        let mut strides = vec![1; self.shape.len()];
        for axis in (1..self.shape.len()).rev() {
            strides[axis - 1] = strides[axis] * self.shape[axis];
        }
        strides
    }

    /// Returns the merged offsets of a box's begin and end along `axis`. The end is `None` at the far edge.
    fn offsets_of(&self, region: &Region, axis: usize) -> (usize, Option<usize>) {
        let at = |x: u16| self.offsets[axis].get(usize::from(x)).copied();
        (at(region.lo[axis]).unwrap_or(0), at(region.hi[axis]))
    }

    /// Calls `visit` with the first merged cell and the length of each row of a box.
    pub(crate) fn for_each_row(&self, region: &Region, mut visit: impl FnMut(usize, usize)) {
        let strides = self.strides();
        let span = |axis: usize| {
            let (lo, hi) = self.offsets_of(region, axis);
            let end = hi.unwrap_or(self.shape[axis] * strides[axis]);
            (lo, end, strides[axis])
        };
        let spans: Vec<_> = (0..self.shape.len()).map(span).collect();
        let Some(((lo, end, _), outer)) = spans.split_last() else {
            return visit(0, 1);
        };
        let mut at: Vec<usize> = outer.iter().map(|(lo, ..)| *lo).collect();
        if spans.iter().any(|(lo, end, _)| lo >= end) {
            return;
        }
        loop {
            visit(at.iter().sum::<usize>() + lo, end - lo);
            if !advance(&mut at, outer) {
                return;
            }
        }
    }
}

/// Advances to the next combination of offsets, the last axis fastest. Returns `false` after the last combination.
fn advance(at: &mut [usize], spans: &[(usize, usize, usize)]) -> bool {
    for (x, (lo, end, stride)) in at.iter_mut().zip(spans).rev() {
        *x += stride;
        if *x < *end {
            return true;
        }
        *x = *lo;
    }
    false
}

/// Returns the merged index of each value of an axis. `cut` holds whether a new merged value begins at each value.
fn merge_indices(cut: &[bool]) -> Vec<usize> {
    let values = cut.len() - 1;
    let mut index = 0;
    let mut merged = |value: usize| {
        index += usize::from(value > 0 && cut[value]);
        index
    };
    (0..values).map(&mut merged).collect()
}

/// An accumulator of integers over boxes of cells.
///
/// It can be used for several grids in turn and keeps its memory, which is 8 bytes for each merged cell and field.
#[derive(Clone, Debug, Default)]
pub(crate) struct BoxAccumulator {
    /// The fields of each merged cell, cell by cell.
    sums: Vec<i64>,
    /// Number of fields per cell.
    fields: usize,
    /// The corners of the current box. The flag is whether the amounts are subtracted there.
    corners: Vec<(usize, bool)>,
}

impl BoxAccumulator {
    /// Clears all sums and prepares `fields` numbers per merged cell.
    pub(crate) fn reset(&mut self, grid: &MergedGrid, fields: usize) {
        self.fields = fields;
        self.sums.clear();
        self.sums.resize(grid.len() * fields, 0);
    }

    /// Adds amounts to fields of every cell of a box.
    pub(crate) fn add_box(&mut self, grid: &MergedGrid, region: &Region, amounts: &[(usize, i64)]) {
        self.corners.clear();
        self.corners.push((0, false));
        for axis in 0..grid.shape.len() {
            let (lo, hi) = grid.offsets_of(region, axis);
            for i in 0..self.corners.len() {
                let (at, is_negative) = self.corners[i];
                self.corners[i].0 = at + lo;
                self.corners.extend(hi.map(|hi| (at + hi, !is_negative)));
            }
        }
        for (at, is_negative) in &self.corners {
            let cell = &mut self.sums[at * self.fields..][..self.fields];
            for (field, n) in amounts {
                cell[*field] += if *is_negative { -n } else { *n };
            }
        }
    }

    /// Computes the running sums. [`cell`](Self::cell) is valid only afterwards, and no box may be added any more.
    pub(crate) fn compute_sums(&mut self, grid: &MergedGrid) {
        for (n, stride) in grid.shape.iter().zip(grid.strides()) {
            let slab = stride * self.fields;
            for chunk in self.sums.chunks_exact_mut((n * slab).max(1)) {
                for i in 1..*n {
                    let (before, rest) = chunk.split_at_mut(i * slab);
                    let previous = &before[(i - 1) * slab..];
                    rest[..slab]
                        .iter_mut()
                        .zip(previous)
                        .for_each(|(a, b)| *a += b);
                }
            }
        }
    }

    /// Returns the fields of a merged cell.
    pub(crate) fn cell(&self, index: usize) -> &[i64] {
        &self.sums[index * self.fields..][..self.fields]
    }
}

#[cfg(test)]
#[path = "../../tests/all/kit/cells.rs"]
mod cells;

#[cfg(test)]
mod tests {
    use super::cells::cells;
    use super::*;
    use proptest::prelude::*;

    fn covers(region: &Region, at: &[u16]) -> bool {
        at.iter()
            .enumerate()
            .all(|(i, x)| region.lo[i] <= *x && *x < region.hi[i])
    }

    fn grids() -> impl Strategy<Value = (Vec<usize>, Vec<(Region, i64)>)> {
        prop::collection::vec(1_usize..6, 0..4).prop_flat_map(|shape| {
            let side = |n: &usize| {
                (0..*n as u16, 1..=*n as u16).prop_map(|(a, b)| (a.min(b - 1), b.max(a + 1)))
            };
            let sides: Vec<_> = shape.iter().map(side).collect();
            let region = (sides, -9_i64..9).prop_map(|(sides, n)| {
                let (lo, hi) = sides.into_iter().unzip();
                (Region { lo, hi, stop: 0 }, n)
            });
            (Just(shape), prop::collection::vec(region, 0..12))
        })
    }

    proptest! {
        #[test]
        fn a_painted_cell_is_the_sum_of_the_boxes_that_cover_it((shape, boxes) in grids()) {
            let grid = MergedGrid::new(&shape, boxes.iter().map(|(r, _)| r));
            let mut accumulator = BoxAccumulator::default();
            accumulator.reset(&grid, 2);
            for (region, n) in &boxes {
                accumulator.add_box(&grid, region, &[(0, *n), (1, 1)]);
            }
            accumulator.compute_sums(&grid);
            for at in cells(&shape) {
                let over: Vec<i64> =
                    boxes.iter().filter(|(r, _)| covers(r, &at)).map(|(_, n)| *n).collect();
                let want = [over.iter().sum(), over.len() as i64];
                prop_assert_eq!(accumulator.cell(grid.index(&at)), want, "{:?}", at);
            }
            prop_assert!(grid.len() <= shape.iter().product());
        }

        #[test]
        fn the_rows_of_a_box_are_its_cells_once_each((shape, boxes) in grids()) {
            let grid = MergedGrid::new(&shape, boxes.iter().map(|(r, _)| r));
            for (region, _) in &boxes {
                let mut seen = vec![0; grid.len()];
                grid.for_each_row(region, |first, n| seen[first..first + n].iter_mut().for_each(|c| *c += 1));
                for at in cells(&shape) {
                    prop_assert_eq!(seen[grid.index(&at)], i32::from(covers(region, &at)));
                }
            }
        }
    }

    #[test]
    fn values_that_no_box_tells_apart_share_a_cell() {
        let region = Region {
            lo: vec![10, 0],
            hi: vec![20, 7],
            stop: 0,
        };
        let grid = MergedGrid::new(&[1000, 7], [&region].into_iter());
        assert_eq!(grid.len(), 3);
        assert_eq!(grid.index(&[9, 3]), 0);
        assert_eq!(grid.index(&[19, 0]), 1);
        assert_eq!(grid.index(&[999, 6]), 2);
    }
}
