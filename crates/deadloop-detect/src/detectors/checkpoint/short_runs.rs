//! The short-sequence check: adjacent copies of short units in a window.

/// A run of adjacent copies of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ShortRun {
    /// Length of the unit, in chars.
    pub(super) unit: usize,
    /// Copies in a row, 2 or more.
    pub(super) copies: usize,
    /// The position of the first copy in the window.
    pub(super) start: usize,
}

/// Returns the longest run for each unit length, shortest unit first. Of runs with equally many copies the first is
/// taken. A single repeated char is not a unit.
///
/// Work: for each length u, one comparison every u chars, and the lengths of the found runs. That is about n log n for
/// n chars of ordinary text, and n²/2 in the worst case, a single repeated char.
pub(super) fn runs(window: &[char]) -> Vec<ShortRun> {
    (1..=window.len() / 2)
        .filter_map(|unit| longest(window, unit))
        .collect()
}

/// Returns the longest run of a unit of this length.
///
/// A run of two copies or more has at least `unit` adjacent places whose char equals the one `unit` earlier. So testing
/// every `unit`-th place finds it.
fn longest(window: &[char], unit: usize) -> Option<ShortRun> {
    let same = |i: usize| window[i] == window[i - unit];
    let mut best: Option<ShortRun> = None;
    let mut probe = unit;
    while probe < window.len() {
        if !same(probe) {
            probe += unit;
            continue;
        }
        let first = (unit..=probe)
            .rev()
            .take_while(|i| same(*i))
            .last()
            .unwrap_or(probe);
        let past = (probe..window.len())
            .find(|i| !same(*i))
            .unwrap_or(window.len());
        let run = ShortRun {
            unit,
            copies: 1 + (past - first) / unit,
            start: first - unit,
        };
        if run.copies >= 2 && is_varied(&window[run.start..past], unit) {
            best = Some(best.filter(|b| b.copies >= run.copies).unwrap_or(run));
        }
        probe = past + unit;
    }
    best
}

/// Returns whether a run's unit has two different chars. Every copy is a rotation of the first, so the first decides.
fn is_varied(run: &[char], unit: usize) -> bool {
    let first = &run[..unit];
    first.iter().any(|c| *c != first[0])
}
