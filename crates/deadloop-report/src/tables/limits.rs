//! The table of limits on wrong alarms and their costs, held out.

use super::{PageCell, PageRow, PageTable, number, words};
use crate::data::ReportData;
use crate::numbers::{chars, count, decimal, percent, writer};
use deadloop_score::Metric;
use deadloop_score::choose::{Figures, Rung};
use deadloop_score::measure::DELAY;

/// Builds the table. `None` if there is no advice.
pub(super) fn table(data: &ReportData) -> Option<PageTable> {
    let advice = data.advice.as_ref()?;
    let objective = data.run.objective.0;
    let unit = data.run.unit;
    let limited = limited_measure(data);
    let columns = vec![
        number(format!("at most, {}", limited.title_in(unit))),
        number("ended"),
        number(objective.title_in(unit)),
        number(DELAY.title_in(unit)),
        number("wrong alarms"),
        number(data.run.wrong().title_in(unit)),
        number("transient stops"),
        words("would ship"),
        words("setting"),
    ];
    let rows = advice.limits.iter();
    let rows = rows.map(|rung| row(data, rung, limited)).collect();
    let note = "For each limit, the best setting that keeps it. The figures are held out: each fold is scored with the setting chosen on the \
                other folds. Below them are the in-sample figures of the row's setting on all transcripts. “Would ship”: the rule by \
                which the row would replace the best ready guard, or the setting in use where none is better.";
    PageTable::new("What a limit costs", note, columns, rows)
}

/// Returns the measure that the limits of the rows are about.
fn limited_measure(data: &ReportData) -> Metric {
    let mut limits = data.run.constraints.iter();
    let limit = limits.find(|limit| limit.limits_wrong());
    limit.map_or_else(|| data.run.wrong(), |limit| limit.metric)
}

/// Builds the row of a limit.
fn row(data: &ReportData, rung: &Rung, limited: Metric) -> PageRow {
    let objective = data.run.objective.0;
    let figure = |of: fn(&Figures) -> Option<f64>, write: fn(Option<f64>) -> String| {
        PageCell::figure(of(&rung.held_out), write)
            .with(format!("in-sample {}", write(of(&rung.in_sample))))
    };
    let counted = |of: fn(&Figures) -> u64| {
        PageCell::count(of(&rung.held_out))
            .with(format!("in-sample {}", count(of(&rung.in_sample))))
    };
    let at = data.settings.iter().position(|one| one.id == rung.setting);
    let is = |setting: Option<usize>| at.is_some() && at == setting;
    let breaks = rung.breaks_its_limit(limited, data.run.unit);
    let marks = [
        breaks.then_some("above it, held out"),
        is(data.chosen()).then_some("settings.toml"),
    ];
    let marks: Vec<&str> = marks.into_iter().flatten().collect();
    PageRow {
        cells: vec![
            PageCell {
                text: rung.name(limited),
                small: marks.join("; "),
                sort: Some(rung.at_most),
                ..PageCell::default()
            },
            figure(|of| of.ended, percent),
            figure(|of| of.objective, writer(objective)),
            figure(|of| of.delay, chars),
            counted(|of| of.wrong),
            figure(|of| of.rate, decimal),
            counted(|of| of.transient),
            PageCell::text(rung.ships.map_or("no", |ship| ship.name())),
            PageCell::text(at.map_or_else(|| rung.setting.clone(), |at| data.describe(at))),
        ],
        role: match (is(data.chosen()), is(data.in_use())) {
            (true, _) => "chosen",
            (_, true) => "current",
            _ => "",
        },
    }
}
