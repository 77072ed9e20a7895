//! Rows of scores.parquet and scores_by.parquet, read back: [`ScoreRows`].
//!
//! A row is read as its counts, and every measure is computed from them again by the one table of measures, so
//! that who reads needs no list of its own of what there is.

use std::collections::BTreeSet;
use std::sync::Arc;

use deadloop_replay::detect::Unit;

use super::scores::{COUNTS, Counted, QUANTILES, SUMS, WATCHED, bounds};
use crate::intervals::Interval;
use crate::measure::{MEASURES, Measure, Metric, withins};
use crate::tally::{Count, Quantiles, Tally};
use deadloop_tables::{Cells, Table};

/// Counts, each with the column of its cumulative shares.
type Shares<'t> = Vec<(Count, &'t [Option<f64>])>;

/// The columns of a part of a table, at hand.
#[derive(Debug)]
pub struct ScoreRows<'t> {
    setting: &'t [Option<Arc<str>>],
    model: &'t [Option<Arc<str>>],
    counts: Vec<(Count, &'t [Option<i64>])>,
    /// The counts of loops that were ended within some delay, by the unit of the delays, and the columns with their
    /// cumulative shares, up to the first that is missing.
    within: Vec<Shares<'t>>,
    quantiles: Vec<Option<&'t [Option<f64>]>>,
    bounds: Vec<(Metric, [&'t [Option<f64>]; 2])>,
}

/// The counts that have a column.
fn counted() -> impl Iterator<Item = Count> {
    let all = COUNTS.iter().chain(&WATCHED).chain(&SUMS);
    all.filter_map(|column| match column {
        Counted::One(count) => Some(*count),
        Counted::Several(..) => None,
    })
}

/// The counts of loops that were ended within some delay, with the measures that have their cumulative shares: for chars, and
/// for calls and turns.
fn shares() -> impl Iterator<Item = impl Iterator<Item = (Count, Metric)>> {
    [Unit::Chars, Unit::Calls].into_iter().map(|unit| {
        let counts = Count::withins(unit).iter().map(|(_, count)| *count);
        counts.zip(withins(unit).iter().copied())
    })
}

impl<'t> ScoreRows<'t> {
    /// The columns from which the tallies of rows are read.
    pub fn tallied() -> Vec<&'static str> {
        let counts = counted().map(Count::name);
        counts
            .chain(shares().flatten().map(|(_, measure)| measure.name))
            .collect()
    }

    /// The columns of intervals.
    pub fn bounded() -> impl Iterator<Item = String> {
        let mut all: Vec<String> = MEASURES.into_iter().filter_map(bounds).flatten().collect();
        // Those of wrong alarms are the same in every unit.
        let mut seen = BTreeSet::new();
        all.retain(|name| seen.insert(name.clone()));
        all.into_iter()
    }

    /// The columns from which everything is read: those, setting, model, latencies and bounds.
    pub fn columns() -> Vec<String> {
        let first = ["setting", "model"].into_iter().chain(Self::tallied());
        let first = first.chain(QUANTILES).map(str::to_owned);
        first.chain(Self::bounded()).collect()
    }

    /// Finds the columns of `table`; missing ones read as empty.
    pub fn new(table: &'t Table) -> Self {
        let counts = counted().filter_map(|count| Some((count, ints(table, count.name())?)));
        let pair = |measure: Metric| {
            let [lo, hi] = bounds(measure)?;
            Some((measure, [floats(table, &lo)?, floats(table, &hi)?]))
        };
        Self {
            setting: texts(table, "setting"),
            model: texts(table, "model"),
            counts: counts.collect(),
            within: shares()
                .map(|shares| {
                    let column = |(count, measure): (Count, Metric)| {
                        Some((count, floats(table, measure.name)?))
                    };
                    shares.map_while(column).collect()
                })
                .collect(),
            quantiles: QUANTILES.map(|name| floats(table, name)).to_vec(),
            bounds: MEASURES.into_iter().filter_map(pair).collect(),
        }
    }

    /// The setting of a row.
    pub fn setting(&self, row: usize) -> Option<&'t str> {
        self.setting.get(row)?.as_deref()
    }

    /// The model of a row; `*`: all together.
    pub fn model(&self, row: usize) -> Option<&'t str> {
        self.model.get(row)?.as_deref()
    }

    /// Returns the counts of a row; missing columns count 0.
    pub fn tally(&self, row: usize) -> Tally {
        let mut tally = Tally::default();
        for (count, cells) in &self.counts {
            tally[*count] = cells.get(row).copied().flatten().unwrap_or(0);
        }
        // The shares are cumulative and exact; the bins are whole numbers.
        let loops = tally.loops() as f64;
        for columns in &self.within {
            let mut before = 0;
            for (count, cells) in columns {
                let share = cells.get(row).copied().flatten().unwrap_or(0.0);
                // Next to a whole number: rounded without a call, once a cell of a large grid.
                let ended = (share * loops + 0.5) as i64;
                tally[*count] = ended - before;
                before = ended;
            }
        }
        tally
    }

    /// Its latencies over all loops.
    pub fn latency(&self, row: usize) -> Quantiles {
        let at = |n: usize| *self.quantiles[n]?.get(row)?;
        Quantiles {
            p50: at(0),
            p90: at(1),
        }
    }

    /// The interval that was written of a measure; `None` where it has no columns, or is n/a.
    pub fn interval(&self, measure: &Measure, row: usize) -> Option<Interval> {
        let (_, [lo, hi]) = self.bounds.iter().find(|(of, _)| *of == measure)?;
        Some(Interval {
            lo: (*lo.get(row)?)?,
            hi: (*hi.get(row)?)?,
        })
    }
}

fn texts<'t>(table: &'t Table, name: &str) -> &'t [Option<Arc<str>>] {
    match table.column(name) {
        Some(Cells::Text(cells)) => cells,
        _ => &[],
    }
}

fn ints<'t>(table: &'t Table, name: &str) -> Option<&'t [Option<i64>]> {
    match table.column(name)? {
        Cells::Int(cells) => Some(cells),
        _ => None,
    }
}

fn floats<'t>(table: &'t Table, name: &str) -> Option<&'t [Option<f64>]> {
    match table.column(name)? {
        Cells::Float(cells) => Some(cells),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::scores::{ParamColumns, columns, row, schema};
    use crate::intervals::PoissonCache;
    use crate::measure::Worth;
    use crate::scores::Scores;
    use deadloop_replay::Plan;

    /// A tally with a number of its own in every count; loops hold the bins.
    fn some(unit: Unit) -> Tally {
        let mut tally = Tally::default();
        for (i, count) in Count::ALL.into_iter().enumerate() {
            tally[count] = 100 + 7 * i as i64;
        }
        for other in Unit::ALL {
            for (i, (_, count)) in Count::withins(other).iter().enumerate() {
                tally[*count] = if other == unit || unit == Unit::Calls && other == Unit::Turns {
                    3 + i as i64
                } else {
                    0
                };
            }
        }
        // Those in a transcript that loops later are among all of them.
        tally[Count::TransientStop] += tally[Count::Earlier];
        tally
    }

    /// What is written is read: every count, so every measure, those of an empty row too.
    #[test]
    fn every_measure_is_written_and_read() {
        for unit in [Unit::Chars, Unit::Calls] {
            read_back(unit);
        }
    }

    fn read_back(unit: Unit) {
        let worth = Worth {
            response: 700.0,
            ..Worth::default()
        };
        let latency = Quantiles {
            p50: Some(10.0),
            p90: Some(f64::INFINITY),
        };
        let (params, mut cache) = (ParamColumns::of(&Plan::default()), PoissonCache::default());
        let mut table = Table::new(&schema(&[], &params));
        let tallies = [some(unit), Tally::default()];
        for tally in &tallies {
            let scores = Scores::of(tally, latency, &worth, &mut cache);
            table.push(row(
                "id",
                ("*", unit),
                params.none(),
                &columns(unit).cells(&scores),
            ));
        }
        let columns = ScoreRows::columns();
        let names: Vec<&str> = table.names().collect();
        let rows = ScoreRows::new(&table);
        let exists = |measure: Metric| measure.counted_in.contains(&unit);
        for measure in MEASURES {
            assert!(names.contains(&measure.name), "{measure:?} has no column");
            for (i, tally) in tallies.iter().enumerate() {
                let value = measure.value(tally, &worth);
                assert_eq!(measure.value(&rows.tally(i), &worth), value, "{measure:?}");
                let written = table.number(measure.name, i);
                assert_eq!(written, value.filter(|_| exists(measure)), "{measure:?}");
            }
            let ends = measure
                .bounds
                .and_then(|_| measure.interval(&tallies[0], &mut cache));
            if exists(measure) {
                assert_eq!(rows.interval(measure, 0), ends, "{measure:?}");
            }
        }
        assert!(columns.iter().all(|name| names.contains(&name.as_str())));
        assert_eq!((rows.setting(0), rows.model(1)), (Some("id"), Some("*")));
        assert_eq!(rows.latency(0), latency);
        assert_eq!(rows.tally(0), tallies[0], "all of them");
    }
}
