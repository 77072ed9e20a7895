//! The table of limits on wrong alarms and their costs, held out.

use super::choice::figure_cells;
use super::{PageCell, PageRow, PageTable, number, role, with_counts, words};
use crate::data::{ALL_MODELS, ChoiceFigures, ReportData};
use deadloop_score::Metric;
use deadloop_score::choose::{Figures, Rung};
use deadloop_score::measure::{DELAY, ENDED};

/// Builds the table: the file, then a row for each limit. `None` if there is no limit.
pub(super) fn table(data: &ReportData) -> Option<PageTable> {
    let advice = data
        .advice
        .as_ref()
        .filter(|advice| !advice.limits.is_empty())?;
    let (unit, limited) = (data.run.unit, limited_measure(data));
    let first = number(format!("at most, {}", limited.title_in(unit)));
    let figures = measures(data)
        .into_iter()
        .flat_map(|measure| with_counts(measure, unit));
    let last = [words("in settings.toml?"), words("setting")];
    let columns = std::iter::once(first).chain(figures).chain(last);
    let whole = file(data, [&advice.file, &advice.in_sample]);
    let guards = advice.guard_rows().map(|guard| PageRow {
        cells: cells(
            data,
            PageCell::text("–"),
            [&guard.figures, &guard.figures],
            [&format!("no: {}", guard.why), &guard.name],
        ),
        role: "",
    });
    let above = std::iter::once(None).chain(advice.limit_rows().map(Some));
    let rows = advice.limit_rows().zip(above);
    let rows = rows.map(|(rung, above)| row(data, rung, above));
    let rows = std::iter::once(whole).chain(guards).chain(rows).collect();
    let note = advice.explain_limits(limited);
    PageTable::new("What a limit costs", note, columns.collect(), rows)
}

/// Returns the measures of the table.
fn measures(data: &ReportData) -> Vec<Metric> {
    let mut all = vec![&ENDED, data.run.objective.0, &DELAY, data.run.wrong()];
    all.dedup();
    all
}

/// Returns the measure that the limits of the rows are about.
fn limited_measure(data: &ReportData) -> Metric {
    let mut limits = data.run.constraints.iter();
    let limit = limits.find(|limit| limit.limits_wrong());
    limit.map_or_else(|| data.run.wrong(), |limit| limit.metric)
}

/// Builds the row of the file.
fn file(data: &ReportData, figures: [&Figures; 2]) -> PageRow {
    let setting = data.choice_of(ALL_MODELS).map_or("", |all| &*all.gets);
    let ships = data.ships();
    let is_in = if ships { "yes" } else { "yes: unchanged" };
    let role = if ships { "chosen" } else { "current" };
    let first = PageCell::text("settings.toml");
    let cells = cells(data, first, figures, [is_in, setting]);
    PageRow { cells, role }
}

/// Builds the row of a limit, given the row above it.
fn row(data: &ReportData, rung: &Rung, above: Option<&Rung>) -> PageRow {
    let limited = limited_measure(data);
    let at = data.settings.iter().position(|one| one.id == rung.setting);
    let breaks = rung.breaks_its_limit(limited, data.run.unit);
    let first = PageCell {
        sort: Some(rung.at_most),
        ..PageCell::text(rung.name(limited)).with(if breaks { "above it, held out" } else { "" })
    };
    let is_in = match rung.why.as_str() {
        _ if at.is_some() && at == data.chosen() => "yes".to_owned(),
        "" => "no: another row is better".to_owned(),
        why => format!("no: {why}"),
    };
    let setting = match (above, at) {
        (Some(one), _) if one.setting == rung.setting => {
            format!("as at most {}", one.name(limited))
        }
        (_, Some(at)) => data.describe(at),
        (_, None) => rung.setting.clone(),
    };
    let figures = [&rung.held_out, &rung.in_sample];
    PageRow {
        cells: cells(data, first, figures, [&is_in, &setting]),
        role: at.map_or("", |at| role(data, at)),
    }
}

/// Builds the cells of a row: held-out figures, with different in-sample ones on the second line.
fn cells(
    data: &ReportData,
    first: PageCell,
    figures: [&Figures; 2],
    last: [&str; 2],
) -> Vec<PageCell> {
    let [held_out, inside] = figures.map(|of| {
        let values = [of.ended, of.objective, of.delay, of.rate];
        let names = [&ENDED, data.run.objective.0, &DELAY, data.run.wrong()].map(|of| of.name);
        let values = names.into_iter().zip(values);
        ChoiceFigures {
            values: values
                .filter_map(|(name, value)| Some((name, value?)))
                .collect(),
            wrong: of.wrong,
            transient: of.transient,
        }
    });
    let figures = figure_cells([&held_out, &held_out, &inside], &measures(data));
    let last = last.map(PageCell::text);
    std::iter::once(first).chain(figures).chain(last).collect()
}
