//! What a detector that only warns would catch as a stop beside the recommended guard, and at what price.

use deadloop_score::measure::{ENDED, Metric, SAVED};
use deadloop_score::{AnyEvidence, ChooseOptions, Evidence, Tally, told, wrong_rate};

use super::planned::{Planned, WithWarning};
use crate::show;

/// A sentence for each such detector that ends some transcript before the recommended guard does.
pub(super) fn warnings(
    planned: &Planned,
    evidence: &Evidence<'_>,
    options: &ChooseOptions,
) -> Vec<String> {
    let every = evidence.every();
    let tally = |cell: usize| evidence.tally_of(cell, &every, &options.judge);
    let Some((_, recommended)) = planned.presets.first() else {
        return Vec::new();
    };
    let alone = tally(*recommended);
    let warnings = planned.with_warning.iter();
    let with = warnings.map(|warning| (warning, tally(warning.cell)));
    with.filter(|(_, with)| *with != alone)
        .map(|(warning, with)| sentence(warning, [&alone, &with], options))
        .collect()
}

/// What changes from the recommended guard alone to the one with the warning as a stop.
fn sentence(warning: &WithWarning, sides: [&Tally; 2], options: &ChooseOptions) -> String {
    let rate = wrong_rate(options.judge.unit);
    let figures = |metric: Metric| {
        let [from, to] = sides.map(|tally| told(metric, metric.value(tally, &options.worth)));
        format!("{from} -> {to}")
    };
    let [from, to] = sides.map(|tally| show::count(tally.wrong()));
    let name = warning.detector.name;
    format!(
        "{name} as a stop beside the recommended guard: {} {}, {} {}, {} {from} -> {to} ({} {}). It only warns; \
         [[guard]] with detector = \"{name}\" and response = \"stop\" in the settings turns it into a stop.",
        ENDED.title,
        figures(&ENDED),
        SAVED.title,
        figures(&SAVED),
        "wrong alarms",
        figures(rate),
        show::per(options.judge.unit),
    )
}
