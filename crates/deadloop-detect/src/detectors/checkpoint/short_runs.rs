//! The short-sequence check: adjacent copies of short units in a window.

/// A run of adjacent copies of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ShortRun {
    /// The length of the unit, in chars.
    pub(super) unit: usize,
    /// The number of consecutive copies, at least 2.
    pub(super) copies: usize,
    /// The position of the first copy in the window.
    pub(super) start: usize,
}

/// Returns the longest run for each length of a unit, shortest unit first. Of runs with equally many copies, the first
/// is returned. A single repeated char is no unit.
///
/// The time is one comparison every u chars for each length u, plus the lengths of the runs: about n log n for n chars
/// of ordinary text, and n²/2 for a single repeated char.
pub(super) fn runs(window: &[char]) -> Vec<ShortRun> {
    (1..=window.len() / 2)
        .filter_map(|unit| longest(window, unit))
        .collect()
}

/// Returns the longest run of a unit of this length.
///
/// A run of two or more copies has at least `unit` adjacent chars that equal the char `unit` earlier, so testing every
/// `unit`-th char finds it.
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

/// Returns whether the unit of a run has two different chars.
fn is_varied(run: &[char], unit: usize) -> bool {
    let first = &run[..unit];
    first.iter().any(|c| *c != first[0])
}
