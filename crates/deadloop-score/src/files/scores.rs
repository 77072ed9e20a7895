//! The columns of scores.parquet: the table of measures, with the counts beside it.

use std::collections::BTreeMap;

use deadloop_replay::detect::{Response, Unit, Value};
use deadloop_replay::{Block, Plan};

use crate::measure::{MEASURES, Measure, Metric, wrong_rate};
use crate::scores::Scores;
use crate::tally::{Count, Tally};
use deadloop_tables::{ColumnDoc, Columns, Schema, Table, TableCell, Type, columns, named};

/// A column with a count, or with a sum of several: its name, what it counts, and its sum.
#[derive(Clone, Copy)]
pub(super) enum Counted {
    One(Count),
    Several(&'static str, &'static str, fn(&Tally) -> u64),
}

use Counted::{One, Several};

impl Counted {
    fn name(&self) -> &'static str {
        match self {
            One(count) => count.name(),
            Several(name, ..) => name,
        }
    }

    /// What it counts.
    fn about(&self) -> &'static str {
        match self {
            One(count) => count.about(),
            Several(_, about, _) => about,
        }
    }

    fn unit(&self) -> &'static str {
        match self {
            One(count) => count.unit(),
            Several(..) => "transcripts",
        }
    }

    fn of(&self, tally: &Tally) -> u64 {
        match self {
            One(count) => tally.get(*count),
            Several(.., of) => of(tally),
        }
    }
}

/// The counts in front, as the contract orders them.
pub(super) const COUNTS: [Counted; 13] = [
    One(Count::Transcripts),
    Several(
        "loops",
        "Transcripts with a loop, in the row's unit.",
        Tally::loops,
    ),
    Several("clean", "Transcripts without a loop.", Tally::clean),
    Several(
        "transient",
        "Transcripts with a repetition that ends by itself.",
        Tally::transient,
    ),
    One(Count::Unlabelled),
    One(Count::Hit),
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
pub(super) const SUMS: [Counted; 8] = [
    One(Count::Censored),
    One(Count::Saved),
    One(Count::LoopChars),
    One(Count::Lost),
    One(Count::Delay),
    One(Count::CutAt),
    One(Count::FalseAt),
    One(Count::InPeriods),
];

/// The last rate of wrong alarms: after it stand their bounds, whatever the unit, then [`WATCHED`].
const LAST_WRONG: Metric = &crate::measure::FA_PER_KTURN;

/// The measure after which the quantiles of the latency stand.
const BEFORE_LATENCY: Metric = &crate::measure::DELAY;

pub(super) const QUANTILES: [&str; 2] = ["latency_p50", "latency_p90"];

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

    /// The cells of a setting without a parameter, which ends streams.
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
        for ((axis, cells), (name, of)) in decided.into_iter().zip(&columns.schema) {
            match tables.last_mut() {
                Some((None, table)) if axis.is_none() => table.widen(name, *of, cells),
                _ => {
                    let mut table = Table::new(&Schema::new());
                    table.widen(name, *of, cells);
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

/// What the leading columns are, as [`parts`] names them: for the reference.
pub(crate) fn described() -> Vec<ColumnDoc> {
    let text = |name: &str, about: &str| ColumnDoc {
        name: name.into(),
        of: Type::Text,
        unit: String::new(),
        about: about.into(),
    };
    let mut list = vec![
        text(
            "setting",
            "The setting: the name that it has in every run; `never`: no guard at all.",
        ),
        text("model", "Whose transcripts; `*`: all models together."),
        text(
            "unit",
            "The unit in which loops and healthy output are counted.",
        ),
        text(
            "response",
            "What an alarm of the setting does: observe, warn, refuse, stop.",
        ),
        text(
            "p.*",
            "The value of a parameter, named `p.GUARD.PARAMETER`: a number where all of its values are numbers.",
        ),
    ];
    list.extend(columns(Unit::Chars).described());
    list
}

/// The columns by what decides them: the setting; whose transcripts; the setting again, its parameters; the scores.
pub(crate) fn parts(params: &ParamColumns) -> [Schema; 4] {
    [
        named(&["setting"], Type::Text),
        named(&["model", "unit"], Type::Text),
        params.schema.clone(),
        columns(Unit::Chars).schema(),
    ]
}

/// The columns that scores decide, of rows that are counted in `unit`. Many cells of a grid have one tally, so the cells are
/// made once for all of them.
pub(crate) fn columns(unit: Unit) -> Columns<Scores> {
    let mut list = counts(&COUNTS);
    for measure in MEASURES {
        let exists = measure.counted_in.contains(&unit);
        let (per_what, about) = (measure.unit.words(), measure.meaning);
        list.extend(columns![Scores;
            (measure.name, Float[per_what], sentence(about), |row| row.value(measure).filter(|_| exists)),
        ]);
        if !measure.is_wrong_rate() {
            list.extend(interval(measure));
        } else if measure == LAST_WRONG {
            list.extend(interval(wrong_rate(unit)));
            list.extend(counts(&WATCHED));
        }
        if measure == BEFORE_LATENCY {
            list.extend(quantiles());
        }
    }
    list.extend(counts(&SUMS));
    list
}

/// A text that begins with a capital and ends with a full stop.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first: String = chars
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .collect();
    let end = if text.ends_with('.') { "" } else { "." };
    format!("{first}{}{end}", chars.as_str())
}

fn counts(counts: &[Counted]) -> Columns<Scores> {
    let mut list = Columns::default();
    for count in counts {
        let count = *count;
        list.extend(columns![Scores;
            (count.name(), Int[count.unit()], count.about(), |row| count.of(&row.tally)),
        ]);
    }
    list
}

/// The columns of a measure's 95 % interval.
fn interval(measure: Metric) -> Columns<Scores> {
    let Some([lo, hi]) = bounds(measure) else {
        return Columns::default();
    };
    let about = |end| format!("The {end} of the 95 % interval of {}.", measure.name);
    let of = measure.unit.words();
    columns![Scores;
        (lo, Float[of], about("lower end"), |row| row.interval(measure).map(|ends| ends.lo)),
        (hi, Float[of], about("upper end"), |row| row.interval(measure).map(|ends| ends.hi)),
    ]
}

fn quantiles() -> Columns<Scores> {
    columns![Scores;
        (QUANTILES[0], Float["unit"], "The latency that 50 % of the loops do not exceed; infinite (`never`) where fewer are hit.", |row| row.latency.p50),
        (QUANTILES[1], Float["unit"], "The latency that 90 % of the loops do not exceed; infinite (`never`) where fewer are hit.", |row| row.latency.p90),
    ]
}

/// The names of a measure's columns of bounds.
pub(super) fn bounds(measure: &Measure) -> Option<[String; 2]> {
    let name = measure.bounds?;
    Some([format!("{name}_lo"), format!("{name}_hi")])
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
