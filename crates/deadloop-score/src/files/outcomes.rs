//! outcomes.parquet: one row for each transcript and reported setting.

use std::convert::Infallible;
use std::path::Path;

use deadloop_replay::Stop;
use deadloop_replay::detect::{Kind, Response};

use super::store::{FileError, TableWriter};
use crate::judge::{JudgeOptions, Outcome, Verdict};
use crate::tally::{AnyEvidence, Evidence, Trial};
use crate::truth::{Case, Cases, Class, Span};
use deadloop_tables::{Schema, Table, TableCell, Type};

/// The contract's columns, then: the alarm's channel (`channel` is the span's, and the alarm's
/// where there is no span), the span's `earliest` and `period`, what the scores sum, and the hash of
/// the text.
const COLUMNS: [(&str, Type); 37] = [
    ("transcript", Type::Text),
    ("model", Type::Text),
    ("profile", Type::Text),
    ("group", Type::Text),
    ("split", Type::Text),
    ("setting", Type::Text),
    ("class", Type::Text),
    ("kind", Type::Text),
    ("channel", Type::Text),
    ("onset", Type::Int),
    ("end", Type::Int),
    ("length", Type::Int),
    ("verdict", Type::Text),
    ("alarm_at", Type::Int),
    ("alarm_exact", Type::Int),
    ("alarm_kind", Type::Text),
    ("detector", Type::Text),
    ("latency", Type::Int),
    ("latency_ms", Type::Float),
    ("latency_tokens", Type::Int),
    ("saved", Type::Int),
    ("lost", Type::Int),
    ("error", Type::Text),
    ("unit", Type::Text),
    ("response", Type::Text),
    ("alarm_event", Type::Int),
    ("alarm_calls", Type::Int),
    ("alarm_turns", Type::Int),
    ("alarm_channel", Type::Text),
    ("earliest", Type::Int),
    ("period", Type::Int),
    ("exposure", Type::Int),
    ("loop_chars", Type::Int),
    ("delay", Type::Int),
    ("kind_right", Type::Int),
    ("censored", Type::Int),
    ("text", Type::Text),
];

/// Writes `outcomes.parquet`, and `outcomes.csv` where asked for: for each of `cells`, every case in
/// the order of the corpus. How many rows.
pub fn write_outcomes(
    dir: &Path,
    evidence: &impl AnyEvidence,
    cells: &[usize],
    options: &JudgeOptions,
    with_csv: bool,
) -> Result<usize, FileError> {
    let mut told = schema();
    let detailed = has_details(evidence, cells);
    told.extend(detailed.then(|| (DETAIL.into(), Type::Text)));
    let mut writer = TableWriter::create(dir, "outcomes", told, with_csv)?;
    for cell in cells {
        each_row(evidence, *cell, options, |mut row, detail| {
            row.extend(detailed.then(|| TableCell::maybe(detail)));
            writer.push(row)
        })?;
    }
    writer.finish()
}

/// A column that is there only where a detector that is a program says something of its alarms.
const DETAIL: &str = "detail";

fn has_details(evidence: &impl AnyEvidence, cells: &[usize]) -> bool {
    let mut blocks: Vec<usize> = cells
        .iter()
        .map(|cell| evidence.plan().cell(*cell).block)
        .collect();
    blocks.sort_unstable();
    blocks.dedup();
    let says = |block: &usize| {
        let mut cases = 0..evidence.cases().number();
        cases.any(|case| evidence.on_trial(*block, case, |trial| !trial.decided.details.is_empty()))
    };
    blocks.iter().any(says)
}

/// The rows of one setting, as they would stand in the file.
pub(crate) fn outcome_table(evidence: &Evidence, cell: usize, options: &JudgeOptions) -> Table {
    let mut table = Table::new(&schema());
    let push = |row, _: Option<&str>| {
        table.push(row);
        Ok::<(), Infallible>(())
    };
    let Ok(()) = each_row(evidence, cell, options, push);
    table
}

fn schema() -> Schema {
    let columns = COLUMNS.iter();
    columns.map(|(name, of)| ((*name).into(), *of)).collect()
}

fn each_row<E>(
    evidence: &impl AnyEvidence,
    cell: usize,
    options: &JudgeOptions,
    mut push: impl FnMut(Vec<TableCell>, Option<&str>) -> Result<(), E>,
) -> Result<(), E> {
    let plan = evidence.plan();
    let id = plan.id(cell);
    let place = plan.cell(cell);
    let block = &plan.blocks()[place.block];
    (0..evidence.cases().number()).try_for_each(|i| {
        evidence.on_trial(place.block, i, |trial| {
            let Trial { case, decided, .. } = trial;
            let stop = decided.stop(&place.at);
            let members = block.guard(&case.model).member_names();
            let row = Row {
                case,
                setting: &id,
                response: block.response(),
                outcome: &trial.outcome(&place.at, options),
                stop,
                detector: stop.and_then(|s| members.get(s.member)).map(String::as_str),
                error: decided.error.as_deref(),
                options,
            };
            push(row.cells(), stop.and_then(|stop| decided.detail(stop)))
        })
    })
}

struct Row<'a> {
    case: &'a Case,
    setting: &'a str,
    response: Response,
    outcome: &'a Outcome,
    stop: Option<&'a Stop>,
    detector: Option<&'a str>,
    error: Option<&'a str>,
    options: &'a JudgeOptions,
}

impl Row<'_> {
    /// The span that was judged or charged; else the first one.
    fn span(&self) -> Option<&Span> {
        let truth = self.case.truth.as_ref()?;
        let mut own = truth.spans_in(self.options.unit);
        match self.outcome.span {
            Some(index) => truth.spans.get(index),
            None => own.next().map(|(_, span)| span),
        }
    }

    /// The length of the row's channel; without one, of all that is counted in the unit.
    fn length(&self) -> u64 {
        let line = &self.case.timeline;
        let channel = self
            .span()
            .map(|s| s.channel)
            .or(self.stop.map(|s| s.channel));
        channel.map_or(line.in_unit(self.options.unit), |c| line.units(c))
    }

    fn cells(&self) -> Vec<TableCell> {
        let mut cells = self.identity();
        cells.extend(self.label());
        cells.push(TableCell::count(self.length()));
        cells.push(TableCell::text(self.outcome.verdict.name()));
        cells.extend(self.alarm());
        cells.extend(self.worth());
        cells.push(TableCell::maybe(self.error));
        cells.extend(self.moment());
        cells.extend(self.extra());
        cells
    }

    fn identity(&self) -> Vec<TableCell> {
        let case = self.case;
        vec![
            TableCell::text(&*case.id),
            TableCell::text(&*case.model),
            TableCell::maybe(case.profile.as_ref()),
            TableCell::maybe(case.group.as_ref()),
            TableCell::maybe(case.split.as_ref()),
            TableCell::text(self.setting),
        ]
    }

    fn label(&self) -> [TableCell; 5] {
        let span = self.span();
        let channel = span.map(|s| s.channel).or(self.stop.map(|s| s.channel));
        [
            TableCell::maybe(self.case.class().map(Class::name)),
            TableCell::maybe(span.and_then(|s| s.kind).map(Kind::name)),
            TableCell::maybe(channel),
            TableCell::counted(span.map(|s| s.onset.count())),
            TableCell::counted(span.map(|s| s.end.count())),
        ]
    }

    fn alarm(&self) -> [TableCell; 4] {
        let at = self
            .stop
            .map(|s| self.options.moment(s).seen.count(s.channel));
        [
            TableCell::counted(at),
            TableCell::counted(self.stop.map(|s| s.exact.seen.count(s.channel))),
            TableCell::maybe(self.stop.map(|s| s.kind)),
            TableCell::maybe(self.detector),
        ]
    }

    fn worth(&self) -> [TableCell; 5] {
        let outcome = self.outcome;
        let scored = !matches!(outcome.verdict, Verdict::Unlabelled | Verdict::Error);
        [
            TableCell::counted(outcome.latency),
            TableCell::Float(outcome.latency_ms),
            TableCell::counted(outcome.latency_tokens),
            TableCell::counted(scored.then_some(outcome.saved)),
            TableCell::counted(scored.then_some(outcome.lost)),
        ]
    }

    /// In what it was judged, what the alarm does, and the alarm's place among the events, calls and turns of the run.
    fn moment(&self) -> [TableCell; 5] {
        let at = self.stop.map(|stop| stop.exact);
        [
            TableCell::text(self.options.unit.name()),
            TableCell::text(self.response.name()),
            TableCell::counted(at.map(|at| at.place.event)),
            TableCell::counted(at.map(|at| at.seen.tools.0)),
            TableCell::counted(at.map(|at| at.seen.turns.0)),
        ]
    }

    fn extra(&self) -> [TableCell; 9] {
        let (span, outcome) = (self.span(), self.outcome);
        [
            TableCell::maybe(self.stop.map(|s| s.channel)),
            TableCell::counted(span.map(|s| s.earliest.count())),
            TableCell::counted(span.and_then(|s| s.period)),
            TableCell::count(outcome.exposure),
            TableCell::count(outcome.loop_chars),
            TableCell::count(outcome.delay),
            TableCell::Int(outcome.kind_right.map(i64::from)),
            TableCell::Int(Some(i64::from(outcome.censored))),
            TableCell::text(&*self.case.text),
        ]
    }
}
