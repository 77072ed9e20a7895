//! The short-sequence check: units that are several times in a row in a window.

/// What counts as a unit, from the structural parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Units {
    /// Where copies may be.
    pub(super) align: Align,
    /// The unit must hold an ideograph.
    pub(super) cjk: bool,
    /// One char repeated counts.
    pub(super) one_char: bool,
}

/// Where copies may be in the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Any,
    /// Only whole units counted back from its end.
    End,
    /// Anywhere but with its last char, which is not read: one port tries no copies that begin
    /// where they would just reach the end.
    Before,
}

/// A unit length, and the most copies in a row that some unit of that length has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// Length of the unit, chars.
    pub(super) unit: usize,
    /// Copies in a row, 2 or more.
    pub(super) copies: usize,
    /// Where the first copy begins in the window.
    pub(super) start: usize,
}

/// For each unit length the longest run, shortest unit first. Of runs with equally many copies the
/// first is taken (the last, where units are aligned to the end).
///
/// Work: for each length u one comparison each u chars, and the runs that these find, so about
/// n log n for n chars of ordinary text and n²/2 for the worst (one char repeated).
pub(super) fn runs(window: &[char], units: Units) -> Vec<Run> {
    let longest = match units.align {
        Align::End => aligned_run,
        Align::Any | Align::Before => any_run,
    };
    (1..=window.len() / 2)
        .filter_map(|unit| longest(window, unit, units))
        .collect()
}

/// A run of two copies or more matches the char a unit before at each place of at least one whole
/// unit, so it is found by looking at every unit-th place.
fn any_run(window: &[char], unit: usize, units: Units) -> Option<Run> {
    let same = |i: usize| window[i] == window[i - unit];
    let mut best: Option<Run> = None;
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
        let run = Run {
            unit,
            copies: 1 + (past - first) / unit,
            start: first - unit,
        };
        if run.copies >= 2 && allowed(&window[run.start..past], unit, units) {
            best = Some(best.filter(|b| b.copies >= run.copies).unwrap_or(run));
        }
        probe = past + unit;
    }
    best
}

/// Goes back from the end a unit at a time and counts equal neighbours.
fn aligned_run(window: &[char], unit: usize, units: Units) -> Option<Run> {
    let blocks = window.len() / unit;
    let block = |k: usize| {
        let end = window.len() - k * unit;
        &window[end - unit..end]
    };
    let mut best: Option<Run> = None;
    let mut k = 0;
    while k < blocks {
        let copies = (k + 1..blocks)
            .find(|j| block(*j) != block(k))
            .unwrap_or(blocks)
            - k;
        let run = Run {
            unit,
            copies,
            start: window.len() - (k + copies) * unit,
        };
        if copies >= 2 && allowed(block(k), unit, units) {
            best = Some(best.filter(|b| b.copies >= copies).unwrap_or(run));
        }
        k += copies;
    }
    best
}

/// Every copy is a rotation of the first, so the first decides.
fn allowed(run: &[char], unit: usize, units: Units) -> bool {
    let first = &run[..unit];
    let varied = units.one_char || first.iter().any(|c| *c != first[0]);
    varied && (!units.cjk || first.iter().any(|c| ('\u{4e00}'..='\u{9fa5}').contains(c)))
}
