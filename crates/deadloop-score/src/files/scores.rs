//! The columns of scores.parquet and the reader of its rows.

use std::collections::BTreeMap;
use std::rc::Rc;

use deadloop_replay::detect::{Response, Setting, Unit, Value};
use deadloop_replay::{Block, Plan};
use deadloop_tables::cell::{Float, Int, Text};
use deadloop_tables::{ColumnDoc, DataFrame, Schema, SchemaField, Type, floats, ints, schema};

use crate::intervals::{Interval, PoissonCache};
use crate::measure::{
    BREAK_EVEN, DELAY, MEASURES, Measure, Metric, SAVED, Stakes, TRANSIENT_PER_KCALL,
    TRANSIENT_PER_KTURN, TRANSIENT_PER_MCHAR, wrong_rate,
};
use crate::scores::Scores;
use crate::sentences::capital;
use crate::tally::{Count, Quantiles, Tally};

/// The counts that have a column. Loops and clean transcripts have columns too, as sums of these counts.
const COUNT_COLUMNS: [Count; 16] = [
    Count::Transcripts,
    Count::Unlabelled,
    Count::Errors,
    Count::Hit,
    Count::Earlier,
    Count::Premature,
    Count::Stale,
    Count::Miss,
    Count::FalseAlarm,
    Count::TransientStop,
    Count::TransientPass,
    Count::Exposure,
    Count::LoopChars,
    Count::Lost,
    Count::CutAt,
    Count::FalseAt,
];

/// The column `by` of the slice of all transcripts.
pub const TOTAL: &str = "total";

/// The column `by` of the slices of one model each.
pub const BY_MODEL: &str = "model";

/// The setting of a row of scores.parquet.
pub(super) struct RowSetting {
    pub(super) id: String,
    pub(super) response: Response,
    /// The values of the parameters that vary in the run.
    pub(super) params: Vec<Option<Value>>,
    /// The text of the setting's file. `None` for the setting that never alarms.
    pub(super) toml: Option<String>,
}

/// The data of a row of scores.parquet.
pub(super) struct ScoreRow {
    pub(super) setting: Rc<RowSetting>,
    pub(super) by: Rc<str>,
    pub(super) value: Option<Rc<str>>,
    pub(super) unit: Unit,
    pub(super) scores: Scores,
}

/// The columns of the parameters that vary among the settings of a plan, named `guard.parameter`.
///
/// They are in the order of the plan's blocks. A parameter that is a number in one block and a word in another is a
/// column of text.
pub(super) struct ParamColumns(Vec<(String, Type)>);

impl ParamColumns {
    pub(super) fn from_plan(plan: &Plan) -> Self {
        let mut found: Vec<(String, Type, Value, bool)> = Vec::new();
        let mut indices: BTreeMap<String, usize> = BTreeMap::new();
        for (name, value) in plan.blocks().iter().flat_map(list_params) {
            let of = type_of(&value);
            let index = *indices.entry(name.clone()).or_insert(found.len());
            match found.get_mut(index) {
                None => found.push((name, of, value, false)),
                Some((_, known, first, varies)) => {
                    *known = join_types(*known, of);
                    *varies |= *first != value;
                }
            }
        }
        let varying = found.into_iter().filter(|(.., varies)| *varies);
        Self(varying.map(|(name, of, ..)| (name, of)).collect())
    }

    /// Returns the number of columns.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the values of the columns in a setting.
    pub(super) fn values_of(&self, setting: &Setting) -> Vec<Option<Value>> {
        let mut own: BTreeMap<String, Value> = setting.columns().into_iter().collect();
        self.0.iter().map(|(name, _)| own.remove(name)).collect()
    }

    fn schema_fields(&self) -> impl Iterator<Item = SchemaField<ScoreRow>> {
        self.0.iter().enumerate().map(|(at, (name, of))| {
            let name = format!("p.{name}");
            let about = "The value of a parameter.";
            match of {
                Type::Int => SchemaField::new(name, "", about, move |row: &ScoreRow| {
                    let value = row.setting.params[at].as_ref();
                    Int::from(value.and_then(Value::as_int))
                }),
                Type::Float => SchemaField::new(name, "", about, move |row: &ScoreRow| {
                    let value = row.setting.params[at].as_ref();
                    Float::from(value.and_then(Value::as_number))
                }),
                Type::Text => SchemaField::new(name, "", about, move |row: &ScoreRow| {
                    Text::from(row.setting.params[at].as_ref().map(format_param))
                }),
            }
        })
    }
}

/// Returns the parameters of a block: the parameters of its first setting, then those of every other value of each
/// axis.
fn list_params(block: &Block) -> Vec<(String, Value)> {
    let mut at = vec![0; block.shape().len()];
    let mut all = block.setting(&at).columns();
    for (axis, values) in block.shape().into_iter().enumerate() {
        for value in 1..values {
            at[axis] = u16::try_from(value).unwrap_or(u16::MAX);
            all.extend(block.setting(&at).columns());
        }
        at[axis] = 0;
    }
    all
}

fn type_of(value: &Value) -> Type {
    match value {
        Value::Int(_) => Type::Int,
        Value::Float(_) => Type::Float,
        _ => Type::Text,
    }
}

fn join_types(a: Type, b: Type) -> Type {
    match (a, b) {
        (a, b) if a == b => a,
        (Type::Int | Type::Float, Type::Int | Type::Float) => Type::Float,
        _ => Type::Text,
    }
}

fn format_param(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        value => value.to_string(),
    }
}

/// Returns whether a measure has a column in scores.parquet.
fn has_column(measure: Metric) -> bool {
    let unlisted = [
        &BREAK_EVEN,
        &TRANSIENT_PER_MCHAR,
        &TRANSIENT_PER_KCALL,
        &TRANSIENT_PER_KTURN,
    ];
    measure.shown.tables || unlisted.contains(&measure)
}

/// Returns the columns of scores.parquet for a run that counts in `units`.
pub(super) fn score_schema(params: &ParamColumns, units: &[Unit]) -> Schema<ScoreRow> {
    let keys = schema![ScoreRow;
        ("setting", Text, "The setting: the name that it has in every run; `never`: no guard at all.", |row| &row.setting.id),
        ("by", Text, "The field of the slice: total, model, kind, onset, channel, lang, source, or one that `by` names.", |row| &*row.by),
        ("value", Text, "The value of that field. Empty for all transcripts together, and for those without a value.", |row| row.value.as_deref()),
        ("unit", Text, "The unit in which loops and healthy output are counted.", |row| row.unit.name()),
        ("response", Text, "What an alarm of the setting does: observe, warn, refuse, stop.", |row| row.setting.response.name()),
    ];
    let whole = schema![ScoreRow;
        ("settings", Text, "The settings file of the setting, in the row of all transcripts.", |row| {
            row.setting.toml.as_deref().filter(|_| &*row.by == TOTAL)
        }),
        ("loops", Int["transcripts"], "Transcripts with a loop, in the row's unit.", |row| row.scores.tally.loops()),
        ("clean", Int["transcripts"], "Transcripts without a loop.", |row| row.scores.tally.clean()),
    ];
    let count = |count: Count| schema![ScoreRow; (count.name(), Int[count.unit()], count.about(), |row| row.scores.tally.get(count))];
    let exists = |measure: &Metric| measure.counted_in.iter().any(|unit| units.contains(unit));
    let measures = MEASURES
        .into_iter()
        .filter(|m| has_column(m))
        .filter(exists);
    let last = measures.clone().rfind(|m| m.is_wrong_rate());
    let keys = keys.into_iter().chain(params.schema_fields()).chain(whole);
    keys.chain(COUNT_COLUMNS.into_iter().flat_map(count))
        .chain(measures.flat_map(|measure| measure_columns(measure, last)))
        .collect()
}

/// Returns the columns of a measure: its value and its interval, and the latencies in the case of the delay.
///
/// Rates of wrong alarms share one interval, whose columns come after the `last` rate.
fn measure_columns(measure: Metric, last: Option<Metric>) -> Schema<ScoreRow> {
    let (of, about) = (measure.unit.words(), make_sentence(measure.meaning));
    let mut all = schema![ScoreRow;
        (measure.name, Float[of], about, |row| {
            row.scores.value(measure).filter(|_| measure.counted_in.contains(&row.unit))
        }),
    ];
    let shared = measure.is_wrong_rate();
    if let Some([lo, hi]) = bound_columns(measure).filter(|_| !shared || last == Some(measure)) {
        let about = |end| format!("The {end} of the 95 % interval of it.");
        let ends = move |row: &ScoreRow| {
            let own = if shared {
                wrong_rate(row.unit)
            } else {
                measure
            };
            row.scores.interval(own)
        };
        all.extend(schema![ScoreRow;
            (lo, Float[of], about("lower end"), |row| ends(row).map(|ends| ends.lo)),
            (hi, Float[of], about("upper end"), |row| ends(row).map(|ends| ends.hi)),
        ]);
    }
    if measure == &DELAY {
        all.extend(schema![ScoreRow;
            (QUANTILE_COLUMNS[0], Float["unit"], "The latency that 50 % of the loops do not exceed; infinite (`never`) where fewer are hit.", |row| row.scores.latency.p50),
            (QUANTILE_COLUMNS[1], Float["unit"], "The latency that 90 % of the loops do not exceed; infinite (`never`) where fewer are hit.", |row| row.scores.latency.p90),
        ]);
    }
    all
}

/// The columns with the quantiles of the latency.
const QUANTILE_COLUMNS: [&str; 2] = ["latency_p50", "latency_p90"];

/// Returns the names of the columns with the bounds of a measure's interval. `None` if the measure has no interval.
fn bound_columns(measure: Metric) -> Option<[String; 2]> {
    let name = measure.bounds?;
    Some([format!("{name}_lo"), format!("{name}_hi")])
}

/// Describes the columns of scores.parquet in chars, for the reference.
pub(crate) fn column_docs() -> Vec<ColumnDoc> {
    let params = ParamColumns(vec![("*".into(), Type::Text)]);
    score_schema(&params, &[Unit::Chars]).docs()
}

/// Makes a text a sentence, with an initial capital and a full stop.
fn make_sentence(text: &str) -> String {
    let all = capital(text);
    if all.ends_with('.') { all } else { all + "." }
}

impl Scores {
    /// Reads the scores of each row of a frame of scores.parquet.
    ///
    /// A measure without a column is computed from the counts. It is `None` if it needs a count that has no column.
    pub fn read(frame: &DataFrame, worth: &Stakes) -> Vec<Self> {
        let rows = frame.height();
        let read_ints = |name: &str| pad_column(ints(frame, name), rows);
        let numbers = |name: &str| pad_column(floats(frame, name), rows);
        let counts = COUNT_COLUMNS.map(|one| (one, read_ints(one.name())));
        let clean = read_ints("clean");
        let sums = [(&SAVED, Count::Saved), (&DELAY, Count::Delay)];
        let sums = sums.map(|(of, sum)| (sum, numbers(of.name)));
        let quantiles = QUANTILE_COLUMNS.map(numbers);
        let written = MEASURES.map(|m| {
            if m.is_computed_from_columns() {
                Vec::new()
            } else {
                numbers(m.name)
            }
        });
        let ends = MEASURES.map(|m| bound_columns(m).map(|ends| ends.map(|name| numbers(&name))));
        let mut cache = PoissonCache::default();
        let score = |row: usize| {
            let mut tally = Tally::default();
            for (one, cells) in &counts {
                tally[*one] = cells[row].unwrap_or(0);
            }
            tally[Count::Quiet] = clean[row].unwrap_or(0) - tally[Count::FalseAlarm];
            // The columns hold a share or a mean, and the tally holds the whole sum.
            for ((sum, cells), of) in sums
                .iter()
                .zip([tally[Count::LoopChars] as u64, tally.loops()])
            {
                tally[*sum] = (cells[row].unwrap_or(0.0) * of as f64).round() as i64;
            }
            let [p50, p90] = [0, 1].map(|n| quantiles[n][row]);
            let mut scores = Self::new(&tally, Quantiles { p50, p90 }, worth, &mut cache);
            for (at, cells) in written
                .iter()
                .enumerate()
                .filter(|(_, cells)| !cells.is_empty())
            {
                scores.values[at] = cells[row];
            }
            for (at, ends) in ends.iter().enumerate() {
                let ends = ends.as_ref().and_then(|[lo, hi]| lo[row].zip(hi[row]));
                scores.intervals[at] = ends.map(|(lo, hi)| Interval { lo, hi });
            }
            scores
        };
        (0..rows).map(score).collect()
    }
}

/// Returns one cell per row. All cells are empty if the column is missing.
fn pad_column<T>(cells: impl Iterator<Item = Option<T>>, rows: usize) -> Vec<Option<T>> {
    cells
        .chain(std::iter::repeat_with(|| None))
        .take(rows)
        .collect()
}

impl Measure {
    /// Returns whether the measure can be computed from the counts that have columns.
    fn is_computed_from_columns(&self) -> bool {
        let derived = [Count::Quiet, Count::Saved, Count::Delay];
        self.counts_used()
            .all(|count| COUNT_COLUMNS.contains(&count) || derived.contains(&count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a tally with a different number in every count.
    fn some() -> Tally {
        let mut tally = Tally::default();
        for (i, count) in Count::ALL.into_iter().enumerate() {
            tally[count] = 100 + 7 * i as i64;
        }
        for (i, (_, count)) in Unit::ALL.into_iter().flat_map(Count::withins).enumerate() {
            tally[*count] = 3 + i as i64;
        }
        tally
    }

    /// What is written is read: every measure that has a column or takes no other count, those of an empty row too.
    #[test]
    fn every_measure_is_written_and_read() {
        let worth = Stakes {
            response: 700.0,
            ..Stakes::default()
        };
        let latency = Quantiles {
            p50: Some(10.0),
            p90: Some(f64::INFINITY),
        };
        let mut cache = PoissonCache::default();
        let setting = Rc::new(RowSetting {
            id: "id".into(),
            response: Response::Stop,
            params: Vec::new(),
            toml: Some("[[guard]]".into()),
        });
        for unit in Unit::ALL {
            let mut row = |tally| ScoreRow {
                setting: Rc::clone(&setting),
                by: TOTAL.into(),
                value: None,
                unit,
                scores: Scores::new(&tally, latency, &worth, &mut cache),
            };
            let rows = [row(some()), row(Tally::default())];
            let frame = score_schema(&ParamColumns(Vec::new()), &[unit]).frame(&rows);
            assert_eq!(frame.width(), 45);
            for (written, read) in rows.iter().zip(Scores::read(&frame, &worth)) {
                for measure in MEASURES {
                    let exists = measure.counted_in.contains(&unit);
                    if exists && (has_column(measure) || measure.is_computed_from_columns()) {
                        assert_eq!(
                            read.value(measure),
                            written.scores.value(measure),
                            "{measure:?}"
                        );
                        let ends = |scores: &Scores| scores.interval(measure);
                        assert_eq!(ends(&read), ends(&written.scores), "{measure:?}");
                    } else if exists {
                        assert_eq!(read.value(measure), None, "{measure:?}");
                    }
                }
                assert_eq!(read.latency, latency);
            }
        }
    }
}
