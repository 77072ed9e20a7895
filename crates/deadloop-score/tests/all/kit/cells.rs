//! The cells of a grid. The tests of `src/tally/paint.rs` use it too.

/// Every cell of a shape, the last axis fastest.
pub(crate) fn cells(shape: &[usize]) -> Vec<Vec<u16>> {
    let mut all = vec![Vec::new()];
    for n in shape {
        let step = |at: &Vec<u16>| {
            (0..*n)
                .map(|i| [&at[..], &[i as u16]].concat())
                .collect::<Vec<_>>()
        };
        all = all.iter().flat_map(step).collect();
    }
    all
}
