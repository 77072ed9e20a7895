//! A small plan: six settings of one structure, on two axes.

use deadloop_score::replay::{Grid, Plan};

/// Settings of `checkpoint`. The axes stand in the order of the detector's parameters: min_repeats, min_matches.
pub(crate) fn plan() -> Plan {
    let grid = "[[guard]]\ndetector = \"checkpoint\"\n[guard.params]\nmin_matches = [3,4,5]\nmin_repeats = [4,5]\n";
    let mut plan = Plan::default();
    plan.add_grid(&Grid::parse(grid).unwrap()).unwrap();
    plan
}
