//! The columns of scores.parquet.

use std::collections::BTreeMap;

use deadloop_replay::detect::Value;
use deadloop_replay::{Block, Plan};

use super::table::{Cell, Schema, Type, named};
use crate::intervals::Interval;
use crate::latency::Quantiles;
use crate::scores::Scores;
use crate::tally::Count;

/// The counts, as the contract orders them.
const COUNTS: [&str; 13] = [
    "transcripts",
    "loops",
    "clean",
    "transient",
    "unlabelled",
    "hit",
    "late",
    "premature",
    "stale",
    "miss",
    "false_alarm",
    "quiet",
    "errors",
];

/// The rates up to `exposure`.
const RATES: [&str; 13] = [
    "precision",
    "precision_lo",
    "precision_hi",
    "recall",
    "recall_lo",
    "recall_hi",
    "fpr",
    "fpr_lo",
    "fpr_hi",
    "f1",
    "fa_per_mchar",
    "fa_lo",
    "fa_hi",
];

/// What follows `exposure`.
const WORTH: [&str; 18] = [
    "ppv",
    "delay",
    "latency_p50",
    "latency_p90",
    "latency_p95",
    "hit_latency_p50",
    "hit_latency_p90",
    "hit_latency_p95",
    "within_100",
    "within_200",
    "within_500",
    "within_1000",
    "within_2000",
    "within_5000",
    "saved",
    "lost",
    "kind_accuracy",
    "utility",
];

/// Columns after the contract's: counts behind the ratios, so that they can be computed again.
const EXTRA: [&str; 9] = [
    "transient_stop",
    "transient_pass",
    "censored",
    "saved_chars",
    "loop_chars",
    "lost_chars",
    "delay_chars",
    "kind_known",
    "kind_right",
];

/// The parameter columns of a plan: `p.<guard>.<param>`, in the order in which its blocks name them.
#[derive(Clone, Debug, Default)]
pub(crate) struct ParamColumns {
    schema: Schema,
    index: BTreeMap<String, usize>,
}

impl ParamColumns {
    pub(crate) fn of(plan: &Plan) -> Self {
        let mut columns = Self::default();
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

    /// The cells of a setting that has none of them.
    pub(crate) fn none(&self) -> Vec<Cell> {
        self.schema.iter().map(|(_, of)| Cell::none(*of)).collect()
    }

    /// The cells of a cell of a block.
    pub(crate) fn of_cell(&self, block: &Block, at: &[u16]) -> Vec<Cell> {
        let mut cells = self.none();
        for (name, value) in block.setting(at).columns() {
            if let Some(i) = self.index.get(&format!("p.{name}")) {
                cells[*i] = cell(&value, self.schema[*i].1);
            }
        }
        cells
    }
}

fn type_of(value: &Value) -> Type {
    match value {
        Value::Int(_) => Type::Int,
        Value::Float(_) => Type::Float,
        _ => Type::Text,
    }
}

fn cell(value: &Value, of: Type) -> Cell {
    match (value, of) {
        (Value::Int(n), Type::Int) => Cell::Int(Some(*n)),
        (Value::Int(n), Type::Float) => Cell::Float(Some(*n as f64)),
        (Value::Float(x), Type::Float) => Cell::Float(Some(*x)),
        (Value::Text(text), _) => Cell::text(text.clone()),
        _ => Cell::text(value.to_string()),
    }
}

/// All columns, after some leading ones.
pub(crate) fn schema(lead: &[&str], params: &ParamColumns) -> Schema {
    [
        named(lead, Type::Text),
        named(&["setting", "model"], Type::Text),
        params.schema.clone(),
        named(&COUNTS, Type::Int),
        named(&RATES, Type::Float),
        named(&["exposure"], Type::Int),
        named(&WORTH, Type::Float),
        named(&EXTRA, Type::Int),
    ]
    .concat()
}

/// A row, without the leading columns.
pub(crate) fn row(setting: &str, model: &str, params: Vec<Cell>, scores: &Scores) -> Vec<Cell> {
    let mut row = vec![Cell::text(setting), Cell::text(model)];
    row.extend(params);
    row.extend(counts(scores));
    row.extend(rates(scores).map(Cell::Float));
    row.push(Cell::count(scores.tally.get(Count::Exposure)));
    row.extend(worth(scores).map(Cell::Float));
    row.extend(extra(scores));
    row
}

fn counts(scores: &Scores) -> [Cell; 13] {
    let t = &scores.tally;
    [
        t.get(Count::Transcripts),
        t.loops(),
        t.clean(),
        t.transient(),
        t.get(Count::Unlabelled),
        t.get(Count::Hit),
        t.get(Count::Late),
        t.get(Count::Premature),
        t.get(Count::Stale),
        t.get(Count::Miss),
        t.get(Count::FalseAlarm),
        t.get(Count::Quiet),
        t.get(Count::Errors),
    ]
    .map(Cell::count)
}

fn rates(s: &Scores) -> [Option<f64>; 13] {
    let [a, b, c] = with(s.precision, s.precision_interval);
    let [d, e, f] = with(s.recall, s.recall_interval);
    let [g, h, i] = with(s.fpr, s.fpr_interval);
    let [j, k, l] = with(s.fa_per_mchar, s.fa_interval);
    [a, b, c, d, e, f, g, h, i, s.f1, j, k, l]
}

fn with(value: Option<f64>, interval: Option<Interval>) -> [Option<f64>; 3] {
    [value, interval.map(|i| i.lo), interval.map(|i| i.hi)]
}

fn worth(s: &Scores) -> [Option<f64>; 18] {
    let of = |q: Quantiles| [q.p50, q.p90, q.p95];
    let ([a, b, c], [d, e, f]) = (of(s.latency), of(s.hit_latency));
    let [g, h, i, j, k, l] = s.within;
    [
        s.ppv,
        s.delay,
        a,
        b,
        c,
        d,
        e,
        f,
        g,
        h,
        i,
        j,
        k,
        l,
        s.saved,
        s.lost,
        s.kind_accuracy,
        s.utility,
    ]
}

fn extra(scores: &Scores) -> [Cell; 9] {
    [
        Count::TransientStop,
        Count::TransientPass,
        Count::Censored,
        Count::Saved,
        Count::LoopChars,
        Count::Lost,
        Count::Delay,
        Count::KindKnown,
        Count::KindRight,
    ]
    .map(|count| Cell::count(scores.tally.get(count)))
}
