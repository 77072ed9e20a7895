//! Rows of scores.parquet and scores_by.parquet, read back: [`ScoreRows`].
//!
//! A row is read as its counts, and every measure is computed from them again by the one table of measures, so
//! that who reads needs no list of its own of what there is.

use std::sync::Arc;

use super::scores::{COUNTS, Counted, QUANTILES, SUMS, WATCHED, bounds};
use crate::intervals::Interval;
use crate::measure::{MEASURES, Measure, Metric, WITHINS};
use crate::tally::{Count, Quantiles, Tally};
use deadloop_tables::{Cells, Table};

/// The columns of a part of a table, at hand.
#[derive(Debug)]
pub struct ScoreRows<'t> {
    setting: &'t [Option<Arc<str>>],
    model: &'t [Option<Arc<str>>],
    counts: Vec<(Count, &'t [Option<i64>])>,
    /// The columns with the shares of hits within 100, 200 and more chars of the onset, up to the first that is missing.
    within: Vec<&'t [Option<f64>]>,
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

impl<'t> ScoreRows<'t> {
    /// The columns from which the tallies of rows are read.
    pub fn tallied() -> Vec<&'static str> {
        let counts = counted().map(Count::name);
        counts.chain(WITHINS.map(|measure| measure.name)).collect()
    }

    /// The columns of intervals.
    pub fn bounded() -> impl Iterator<Item = String> {
        MEASURES.into_iter().filter_map(bounds).flatten()
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
            within: WITHINS
                .into_iter()
                .map_while(|measure| floats(table, measure.name))
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
        let mut before = 0;
        for (bin, cells) in Count::BINS.into_iter().zip(&self.within) {
            let share = cells.get(row).copied().flatten().unwrap_or(0.0);
            // Next to a whole number: rounded without a call, once a cell of a large grid.
            let hits = (share * loops + 0.5) as i64;
            tally[bin] = hits - before;
            before = hits;
        }
        tally
    }

    /// Its latencies over all loops, and over the hits alone.
    pub fn latencies(&self, row: usize) -> [Quantiles; 2] {
        let at = |n: usize| *self.quantiles[n]?.get(row)?;
        [0, 3].map(|n| Quantiles {
            p50: at(n),
            p90: at(n + 1),
            p95: at(n + 2),
        })
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
    use deadloop_replay::Plan;
    use deadloop_replay::detect::Unit;

    use super::*;
    use crate::files::scores::{ParamColumns, columns, row, schema};
    use crate::intervals::PoissonCache;
    use crate::measure::Worth;
    use crate::scores::Scores;

    /// A tally with a number of its own in every count; loops hold the bins.
    fn some() -> Tally {
        let mut tally = Tally::default();
        for (i, count) in Count::ALL.into_iter().enumerate() {
            tally[count] = 100 + 7 * i as i64;
        }
        for (i, bin) in Count::BINS.into_iter().enumerate() {
            tally[bin] = 3 + i as i64;
        }
        // Those in a transcript that loops later are among all of them.
        tally[Count::TransientStop] += tally[Count::Earlier];
        tally
    }

    /// What is written is read: every count, so every measure, those of an empty row too.
    #[test]
    fn every_measure_is_written_and_read() {
        let worth = Worth {
            pi: 0.02,
            annoyance: 700.0,
        };
        let latency = Quantiles {
            p50: Some(10.0),
            p90: Some(f64::INFINITY),
            p95: None,
        };
        let (params, mut cache) = (ParamColumns::of(&Plan::default()), PoissonCache::default());
        let mut table = Table::new(&schema(&[], &params));
        let tallies = [some(), Tally::default()];
        for tally in &tallies {
            let scores = Scores::of(tally, latency, Quantiles::default(), &worth, &mut cache);
            table.push(row(
                "id",
                ("*", Unit::Chars),
                params.none(),
                &columns(Unit::Chars).cells(&scores),
            ));
        }
        let columns = ScoreRows::columns();
        let names: Vec<&str> = table.names().collect();
        let rows = ScoreRows::new(&table);
        for measure in MEASURES {
            assert!(names.contains(&measure.name), "{measure:?} has no column");
            for (i, tally) in tallies.iter().enumerate() {
                let read = measure.value(&rows.tally(i), &worth);
                assert_eq!(read, measure.value(tally, &worth), "{measure:?}");
                assert_eq!(read, table.number(measure.name, i), "{measure:?}");
            }
            let ends = measure
                .bounds
                .and_then(|_| measure.interval(&some(), &mut cache));
            assert_eq!(rows.interval(measure, 0), ends, "{measure:?}");
        }
        assert!(columns.iter().all(|name| names.contains(&name.as_str())));
        assert_eq!((rows.setting(0), rows.model(1)), (Some("id"), Some("*")));
        assert_eq!(rows.latencies(0), [latency, Quantiles::default()]);
        assert_eq!(rows.tally(0), some(), "all 29 of them");
    }
}
