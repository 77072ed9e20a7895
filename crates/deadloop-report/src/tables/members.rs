//! Who fired first: of settings with several members, which one ended how many transcripts.

use super::{Cell, Row, Table, number, words};
use crate::data::{OutcomeRow, ReportData, Verdict};
use crate::series::{Series, series};
use std::collections::BTreeSet;

/// How many settings are shown.
const SETTINGS: usize = 8;

/// A row for each setting and member; `None` where every setting has one member.
pub(super) fn table(data: &ReportData) -> Option<Table> {
    let rows = series(data, SETTINGS)
        .iter()
        .flat_map(|series| rows(data, series))
        .collect();
    let columns = vec![
        words("setting"),
        words("member"),
        number("alarms"),
        number("in loops"),
        number("of these hits"),
        number("on clean"),
        number("elsewhere"),
    ];
    let note = "The first alarm ends a transcript, so each is counted for one member of a guard. “In loops”: \
                hits, and alarms that came too late, too early or outside of the loop; “elsewhere”: in repetitions that \
                ended by themselves, and on unlabelled transcripts.";
    Table::new("Who fired first", note, columns, rows)
}

fn rows(data: &ReportData, series: &Series<'_>) -> Vec<Row> {
    let fired = series.rows.iter().filter_map(|row| row.detector.as_deref());
    let settings: BTreeSet<usize> = series.rows.iter().map(|row| row.setting).collect();
    let has = settings.into_iter().flat_map(|at| members(data, at));
    let members: BTreeSet<&str> = fired.chain(has).collect();
    if members.len() < 2 {
        return Vec::new();
    }
    members
        .into_iter()
        .map(|member| row(series, member))
        .collect()
}

/// The members that a setting has parameters of.
fn members(data: &ReportData, setting: usize) -> impl Iterator<Item = &str> {
    let params = data.settings.get(setting).map_or(&[][..], |s| &s.params);
    let named = data.parameters.iter().zip(params);
    named.filter_map(|(name, value)| value.as_ref().and(name.split('.').next()))
}

fn row(series: &Series<'_>, member: &str) -> Row {
    let first = |row: &&&OutcomeRow| row.detector.as_deref() == Some(member);
    let mine = || series.rows.iter().filter(first);
    let of =
        |which: &dyn Fn(Verdict) -> bool| mine().filter(|row| which(row.verdict)).count() as u64;
    let loops = of(&Verdict::is_loop);
    let clean = of(&|verdict| verdict == Verdict::FalseAlarm);
    let all = mine().count() as u64;
    let cells = vec![
        Cell::text(series.name.as_str()),
        Cell::text(member),
        Cell::count(all),
        Cell::count(loops),
        Cell::count(of(&|verdict| verdict == Verdict::Hit)),
        Cell::count(clean),
        Cell::count(all - loops - clean),
    ];
    Row {
        cells,
        role: if series.chosen { "chosen" } else { "" },
    }
}
