//! The columns of scores.parquet: the table of measures, with the counts beside it.

use std::collections::BTreeMap;

use deadloop_replay::detect::{Response, Unit, Value};
use deadloop_replay::{Block, Plan};

use crate::intervals::Interval;
use crate::measure::{MEASURES, Measure, Metric, wrong_rate};
use crate::scores::Scores;
use crate::tally::{Count, Quantiles, Tally};
use deadloop_tables::{Schema, Table, TableCell, Type, named};

/// A column with a count, or with a sum of several: its name, and what it counts.
pub(super) enum Counted {
    One(Count),
    Several(&'static str, fn(&Tally) -> u64),
}

use Counted::{One, Several};

impl Counted {
    fn name(&self) -> &'static str {
        match self {
            One(count) => count.name(),
            Several(name, _) => name,
        }
    }

    fn of(&self, tally: &Tally) -> u64 {
        match self {
            One(count) => tally.get(*count),
            Several(_, of) => of(tally),
        }
    }
}

/// The counts in front, as the contract orders them.
pub(super) const COUNTS: [Counted; 14] = [
    One(Count::Transcripts),
    Several("loops", Tally::loops),
    Several("clean", Tally::clean),
    Several("transient", Tally::transient),
    One(Count::Unlabelled),
    One(Count::Hit),
    One(Count::Late),
    One(Count::Premature),
    One(Count::Stale),
    One(Count::Miss),
    One(Count::Earlier),
    One(Count::FalseAlarm),
    One(Count::Quiet),
    One(Count::Errors),
];

/// The counts after the measures of wrong alarms.
pub(super) const WATCHED: [Counted; 3] = [
    One(Count::Exposure),
    One(Count::TransientStop),
    One(Count::TransientPass),
];

/// The counts at the end: what the measures are computed from, so that they can be computed again.
pub(super) const SUMS: [Counted; 9] = [
    One(Count::Censored),
    One(Count::Saved),
    One(Count::LoopChars),
    One(Count::Lost),
    One(Count::Delay),
    One(Count::CutAt),
    One(Count::FalseAt),
    One(Count::KindKnown),
    One(Count::KindRight),
];

/// Rates of wrong alarms in units other than chars: n/a on rows of chars, where these have the value.
const OTHER_UNITS: [&str; 2] = ["fa_per_kcall", "fa_per_kturn"];

/// The measures that are told per million chars: n/a on rows of other units, of which nobody counts millions.
const PER_MCHAR: [Metric; 2] = [WRONG, &crate::measure::TRANSIENT_PER_MCHAR];

/// The measure after which the columns of [`OTHER_UNITS`] stand, then the bounds, then [`WATCHED`].
const WRONG: Metric = &crate::measure::FA_PER_MCHAR;

/// The measure after which the quantiles of the latency stand.
const BEFORE_LATENCY: Metric = &crate::measure::DELAY;

pub(super) const QUANTILES: [&str; 6] = [
    "latency_p50",
    "latency_p90",
    "latency_p95",
    "hit_latency_p50",
    "hit_latency_p90",
    "hit_latency_p95",
];

/// What a setting's rows say of it: what its alarms do, then the parameter columns of a plan,
/// `p.<guard>.<param>`, in the order in which its blocks name them.
#[derive(Clone, Debug)]
pub(crate) struct ParamColumns {
    schema: Schema,
    index: BTreeMap<String, usize>,
}

impl ParamColumns {
    pub(crate) fn of(plan: &Plan) -> Self {
        let mut columns = Self {
            schema: named(&["response"], Type::Text),
            index: BTreeMap::new(),
        };
        for block in plan.blocks() {
            for (name, value) in block.setting(&block.at(0)).columns() {
                columns.add(format!("p.{name}"), type_of(&value));
            }
        }
        columns
    }

    /// A parameter that is a number in one block and a word in another is a column of text.
    fn add(&mut self, name: String, of: Type) {
        if let Some(i) = self.index.get(&name) {
            let column = &mut self.schema[*i].1;
            *column = match (*column, of) {
                (a, b) if a == b => a,
                (Type::Int | Type::Float, Type::Int | Type::Float) => Type::Float,
                _ => Type::Text,
            };
            return;
        }
        self.index.insert(name.clone(), self.schema.len());
        self.schema.push((name, of));
    }

    /// The cells of a floor, which ends streams and has no parameter.
    pub(crate) fn none(&self) -> Vec<TableCell> {
        let response = TableCell::text(Response::Stop.name());
        let params = self.schema[1..].iter().map(|(_, of)| TableCell::none(*of));
        [response].into_iter().chain(params).collect()
    }

    /// The cells of a cell of a block.
    pub(crate) fn of_cell(&self, block: &Block, at: &[u16]) -> Vec<TableCell> {
        let mut cells = self.none();
        cells[0] = TableCell::text(block.response().name());
        for (name, value) in block.setting(at).columns() {
            if let Some(i) = self.index.get(&format!("p.{name}")) {
                cells[*i] = cell(&value, self.schema[*i].1);
            }
        }
        cells
    }
}

/// The parameter columns of a block's settings, in their order: columns side by side that no axis decides are one
/// table of one row, and each that an axis decides is a table with a row for each of its values.
pub(crate) struct BlockParams(Vec<(Option<usize>, Table)>);

impl BlockParams {
    pub(crate) fn of(columns: &ParamColumns, block: &Block) -> Self {
        let mut at = vec![0; block.shape().len()];
        let first = columns.of_cell(block, &at);
        // Of each column the axis that decides it, and its cell for each value of the axis.
        let mut decided: Vec<(Option<usize>, Vec<TableCell>)> = first
            .iter()
            .map(|cell| (None, vec![cell.clone()]))
            .collect();
        for (axis, values) in block.shape().into_iter().enumerate() {
            let cells = (0..values).map(|value| {
                at[axis] = u16::try_from(value).unwrap_or(u16::MAX);
                columns.of_cell(block, &at)
            });
            let cells: Vec<Vec<TableCell>> = cells.collect();
            at[axis] = 0;
            for (i, decided) in decided.iter_mut().enumerate() {
                if cells.iter().any(|row| row[i] != first[i]) {
                    *decided = (Some(axis), cells.iter().map(|row| row[i].clone()).collect());
                }
            }
        }
        let mut tables: Vec<(Option<usize>, Table)> = Vec::new();
        for ((axis, cells), column) in decided.into_iter().zip(&columns.schema) {
            match tables.last_mut() {
                Some((None, table)) if axis.is_none() => table.widen(column, cells),
                _ => {
                    let mut table = Table::new(&Schema::new());
                    table.widen(column, cells);
                    tables.push((axis, table));
                }
            }
        }
        Self(tables)
    }

    /// The tables from left to right, each with the axis whose value says the row; `None`: there is one row.
    pub(crate) fn tables(&self) -> &[(Option<usize>, Table)] {
        &self.0
    }
}

fn type_of(value: &Value) -> Type {
    match value {
        Value::Int(_) => Type::Int,
        Value::Float(_) => Type::Float,
        _ => Type::Text,
    }
}

fn cell(value: &Value, of: Type) -> TableCell {
    match (value, of) {
        (Value::Int(n), Type::Int) => TableCell::Int(Some(*n)),
        (Value::Int(n), Type::Float) => TableCell::Float(Some(*n as f64)),
        (Value::Float(x), Type::Float) => TableCell::Float(Some(*x)),
        (Value::Text(text), _) => TableCell::text(text.clone()),
        _ => TableCell::text(value.to_string()),
    }
}

/// All columns, after some leading ones.
pub(crate) fn schema(lead: &[&str], params: &ParamColumns) -> Schema {
    let lead = named(lead, Type::Text);
    let [setting, whose, params, scores] = parts(params);
    [lead, setting, whose, params, scores].concat()
}

/// The columns by what decides them: the setting; whose transcripts; the setting again, its parameters; the scores.
pub(crate) fn parts(params: &ParamColumns) -> [Schema; 4] {
    [
        named(&["setting"], Type::Text),
        named(&["model", "unit"], Type::Text),
        params.schema.clone(),
        score_columns(),
    ]
}

/// The columns that scores decide.
fn score_columns() -> Schema {
    let counts = |counts: &[Counted]| {
        counts
            .iter()
            .map(|count| (count.name().to_owned(), Type::Int))
            .collect::<Schema>()
    };
    let mut schema = counts(&COUNTS);
    for measure in MEASURES {
        schema.push((measure.name.to_owned(), Type::Float));
        if measure == WRONG {
            schema.extend(named(&OTHER_UNITS, Type::Float));
        }
        schema.extend(
            bounds(measure)
                .into_iter()
                .flatten()
                .map(|name| (name, Type::Float)),
        );
        if measure == WRONG {
            schema.extend(counts(&WATCHED));
        }
        if measure == BEFORE_LATENCY {
            schema.extend(named(&QUANTILES, Type::Float));
        }
    }
    schema.extend(counts(&SUMS));
    schema
}

/// The names of a measure's columns of bounds.
pub(super) fn bounds(measure: &Measure) -> Option<[String; 2]> {
    let name = measure.bounds?;
    Some([format!("{name}_lo"), format!("{name}_hi")])
}

/// The cells of a row that its scores decide: those after the parameters. Many cells of a grid have one tally, so
/// they are made once for all of them.
pub(crate) fn cells(scores: &Scores, unit: Unit) -> Vec<TableCell> {
    let counts = |counts: &[Counted]| {
        counts
            .iter()
            .map(|count| TableCell::count(count.of(&scores.tally)))
            .collect::<Vec<_>>()
    };
    let mut cells = counts(&COUNTS);
    for measure in MEASURES {
        let value = scores.value(measure);
        let of_chars = unit == Unit::Chars || !PER_MCHAR.contains(&measure);
        cells.push(TableCell::Float(value.filter(|_| of_chars)));
        let rate = |value: f64| value * if measure == WRONG { per(unit) } else { 1.0 };
        if measure == WRONG {
            let of = |of: Unit| TableCell::Float(value.filter(|_| of == unit).map(rate));
            cells.extend([Unit::Calls, Unit::Turns].map(of));
        }
        if measure.bounds.is_some() {
            let ends = scores.interval(measure).map(|ends| Interval {
                lo: rate(ends.lo),
                hi: rate(ends.hi),
            });
            cells.push(TableCell::Float(ends.map(|ends| ends.lo)));
            cells.push(TableCell::Float(ends.map(|ends| ends.hi)));
        }
        if measure == WRONG {
            cells.extend(counts(&WATCHED));
        }
        if measure == BEFORE_LATENCY {
            let of = |q: Quantiles| [q.p50, q.p90, q.p95];
            let all = of(scores.latency).into_iter().chain(of(scores.hit_latency));
            cells.extend(all.map(TableCell::Float));
        }
    }
    cells.extend(counts(&SUMS));
    cells
}

/// The factor from a rate per million units to the unit of [`wrong_rate`].
pub(crate) fn per(unit: Unit) -> f64 {
    wrong_rate(unit).scale() / WRONG.scale()
}

/// The cells that say whose transcripts a row is of, and in what they are counted.
pub(crate) fn whose(model: &str, unit: Unit) -> Vec<TableCell> {
    [model, unit.name()].map(TableCell::text).to_vec()
}

/// A row, without the leading columns.
pub(crate) fn row(
    setting: &str,
    (model, unit): (&str, Unit),
    params: Vec<TableCell>,
    scores: &[TableCell],
) -> Vec<TableCell> {
    let names = [TableCell::text(setting)]
        .into_iter()
        .chain(whose(model, unit));
    names.chain(params).chain(scores.iter().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadloop_replay::Grid;

    #[test]
    fn the_parameters_of_a_cell_are_those_of_its_setting() {
        let grid = "[[guard]]\ndetector = \"checkpoint\"\n[guard.params]\nevery = [500, 1000]\n\
            min_repeats = [3, 4, 5]\nmin_matches = [2, 3]\n";
        let mut plan = Plan::default();
        plan.add_grid(&Grid::parse(grid).unwrap()).unwrap();
        let columns = ParamColumns::of(&plan);
        for block in plan.blocks() {
            let params = BlockParams::of(&columns, block);
            for at in (0..block.len()).map(|nth| block.at(nth)) {
                let row = |axis: &Option<usize>| axis.map_or(0, |axis| usize::from(at[axis]));
                let cells = params.tables().iter().flat_map(|(axis, table)| {
                    let cells = table.columns();
                    cells.map(move |(_, cells)| cells.cell(row(axis)).unwrap())
                });
                assert_eq!(cells.collect::<Vec<_>>(), columns.of_cell(block, &at));
            }
        }
        assert_eq!(plan.cells(), 12);
    }
}
