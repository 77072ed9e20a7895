//! The choices of `repair` on the terminal.

use deadloop_replay::repairers::Variant;
use deadloop_report::repair_of as of;
use deadloop_score::repairs::{ALL_FAULTS, ChosenRepair, Mended, ScoredRepairs};

use crate::show;

/// The choices as a table for the terminal. `held out` counts variants that were chosen on the other groups; `waits`:
/// in 95 % of the streams no more chars were read without anything coming out.
pub(crate) fn choices(scored: &ScoredRepairs, variants: &[Variant]) -> String {
    let header = [
        "repairer",
        "verdict",
        "variant",
        "recovered",
        "held out",
        "wrong",
        "changed",
        "waits",
        "in use",
        "recovers",
    ];
    let waits = |at: usize| {
        let mut scores = scored.scores.iter();
        let own =
            scores.find(|score| score.variant == variants[at].name && score.fault == ALL_FAULTS);
        let chars = own.and_then(|score| score.silence);
        chars.map_or("n/a".to_owned(), show::count)
    };
    let row = |chosen: &ChosenRepair| {
        let c = &chosen.choice;
        let best = c.chosen.as_ref();
        let cell =
            |verdict: Mended| best.map_or("none".to_owned(), |(_, tally)| of(tally, verdict));
        vec![
            chosen.repairer.clone(),
            c.ruling.name().to_owned(),
            best.map_or("none".to_owned(), |(at, _)| variants[*at].name.clone()),
            cell(Mended::Recovered),
            c.held_out
                .map_or("none".to_owned(), |tally| of(&tally, Mended::Recovered)),
            cell(Mended::Wrong),
            cell(Mended::FalseRepair),
            waits(best.map_or(chosen.in_use, |(at, _)| *at)),
            variants[chosen.in_use].name.clone(),
            of(&c.in_use, Mended::Recovered),
        ]
    };
    let rows: Vec<Vec<String>> = scored.chosen.iter().map(row).collect();
    show::table_of(&header, &rows, 3..8)
}
