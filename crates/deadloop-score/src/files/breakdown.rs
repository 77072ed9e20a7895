//! What is computed for the reported settings only: scores by kind and by `--by` field, and the
//! intervals that have to be resampled.

use std::collections::BTreeMap;
use std::path::Path;

use deadloop_replay::detect::Unit;

use super::gathered::Gathered;
use super::scores::{self, ParamColumns};
use super::store::{FileError, TableWriter, write_csv};
use super::sweep::{Scoring, floor_outcome};
use crate::intervals::{Groups, Known, Method, bootstrap_difference};
use crate::measure::{Measure, NET_PER_1000, wrong_rate};
use crate::scores::Scores;
use crate::tally::{AnyEvidence, Tally};
use crate::truth::{Cases, firsts};
use deadloop_tables::TableCell;

/// Writes `scores_by.parquet` and `.csv`: the columns of scores.parquet after `by, value`, for each
/// of `cells` and each value of a field, all models together. `fields` are the names of
/// [`Case::by`](crate::Case::by), in its order; `kind` (as in outcomes.csv: that of the span that was judged) is always there,
/// before them, and `value` is empty where a case has none.
pub fn write_scores_by<E: AnyEvidence>(
    dir: &Path,
    scoring: &Scoring<'_, E>,
    cells: &[usize],
    fields: &[String],
) -> Result<usize, FileError> {
    let evidence = scoring.evidence;
    let params = ParamColumns::of(evidence.plan());
    let schema = scores::schema(&["by", "value"], &params);
    let mut writer = TableWriter::create(dir, "scores_by", schema, true)?;
    let mut known = Known::new(scoring.resampling);
    let columns = scores::columns(scoring.judge.unit);
    let groups = groups(evidence, fields);
    let firsts = firsts(evidence.cases(), scoring.judge.unit);
    for cell in cells {
        let place = evidence.plan().cell(*cell);
        let Some(block) = evidence.plan().blocks().get(place.block) else {
            continue;
        };
        let id = block.id(&place.at);
        let params = params.of_cell(block, &place.at);
        let mut write = |by: &str, value: Option<&str>, gathered: Gathered| {
            let scores = gathered.over_groups(scoring.worth, &mut known);
            let mut row = vec![TableCell::text(by), TableCell::maybe(value)];
            row.extend(scores::row(
                &id,
                ("*", scoring.judge.unit),
                params.clone(),
                &columns.cells(&scores),
            ));
            writer.push(row)
        };
        for (kind, gathered) in by_kind(scoring, &firsts, *cell) {
            write("kind", Some(kind), gathered)?;
        }
        for (by, value, pick) in &groups {
            let gathered = Gathered::of(scoring, &firsts, (*cell, pick));
            write(by, value.as_deref(), gathered)?;
        }
    }
    writer.finish()
}

/// A field, a value of it, and the cases that have it.
type Group<'a> = (&'a str, Option<String>, Vec<usize>);

fn groups<'a>(evidence: &impl AnyEvidence, fields: &'a [String]) -> Vec<Group<'a>> {
    let of = |(i, name): (usize, &'a String)| {
        let mut groups: BTreeMap<Option<String>, Vec<usize>> = BTreeMap::new();
        evidence.cases().each(|number, case| {
            let value = case.by.get(i).cloned().flatten();
            groups.entry(value).or_default().push(number);
        });
        let named = move |(value, pick)| (name.as_str(), value, pick);
        groups.into_iter().map(named).collect::<Vec<_>>()
    };
    fields.iter().enumerate().flat_map(of).collect()
}

/// What came of the cases of each kind: of a case with several loops that of the one which was judged.
fn by_kind<E: AnyEvidence>(
    scoring: &Scoring<'_, E>,
    firsts: &[bool],
    cell: usize,
) -> BTreeMap<&'static str, Gathered> {
    let evidence = scoring.evidence;
    let mut kinds: BTreeMap<&str, Gathered> = BTreeMap::new();
    evidence.each_judged(
        cell,
        &evidence.every(),
        scoring.judge,
        |i, case, outcome| {
            let span = case.truth.as_ref().and_then(|truth| match outcome.span {
                Some(index) => truth.spans.get(index),
                None => truth.spans_in(scoring.judge.unit).next().map(|(_, s)| s),
            });
            if let Some(kind) = span.and_then(|span| span.kind) {
                let of = kinds.entry(kind.name()).or_default();
                of.add(case, &outcome, firsts[i]);
            }
        },
    );
    kinds
}

deadloop_tables::table_row! {
    /// A row of `intervals.csv`: the 95 % interval of a score.
    pub struct IntervalRow {
        /// The setting.
        setting: Text,
        /// Whose transcripts; `*`: all models together.
        model: Text,
        /// The score; `net_per_1000 less FLOOR`: what it spares less than that floor.
        metric: Text,
        /// Its value.
        estimate: Float["as the score"],
        /// The lower end of its 95 % interval.
        lo: Float["as the score"],
        /// The upper end.
        hi: Float["as the score"],
        /// How the interval was made.
        method: Text,
    }
}

/// Writes `intervals.csv`: `setting, model, metric, estimate, lo, hi, method`, 95 %, for each of `cells` and each of
/// `slices` (a name and its cases), each text once: the closed intervals where every group has one transcript, else
/// the bootstrap over groups, which decides for every other score too.
///
/// Of all models together also `net_per_1000 less FLOOR`, where that is negative: how much less a setting spares than
/// a floor does. A setting is worse than a floor only where the upper end is below 0.
pub fn write_intervals<E: AnyEvidence>(
    dir: &Path,
    scoring: &Scoring<'_, E>,
    cells: &[usize],
    slices: &[(String, Vec<usize>)],
) -> Result<(), FileError> {
    let columns = IntervalRow::columns();
    let firsts = firsts(scoring.evidence.cases(), scoring.judge.unit);
    let mut known = Known::new(scoring.resampling);
    let mut rows = Vec::new();
    for cell in cells {
        let id = scoring.evidence.plan().id(*cell);
        for (model, pick) in slices {
            let mut gathered = Gathered::of(scoring, &firsts, (*cell, pick));
            let scores = gathered.scores(scoring.worth, &mut known.poisson);
            let intervals = gathered.intervals(scoring.worth, &mut known);
            for (metric, interval, method) in intervals.rows {
                let Some((name, factor)) = told(&metric, scoring.judge.unit) else {
                    continue;
                };
                rows.push(IntervalRow {
                    setting: Some(id.as_str().into()),
                    model: Some(model.as_str().into()),
                    metric: Some(name.into()),
                    estimate: estimate(&metric, &scores).map(|x| x * factor),
                    lo: interval.map(|ends| ends.lo * factor),
                    hi: interval.map(|ends| ends.hi * factor),
                    method: Some(method.name().into()),
                });
            }
        }
    }
    rows.extend(below_floors(scoring, cells, &firsts));
    let rows = rows.iter().map(|row| columns.cells(row));
    write_csv(dir, "intervals", &columns.schema(), rows)
}

/// What a measure is called where things are counted in `unit`, and what its values are multiplied with; `None`: it
/// is of chars alone.
fn told(metric: &str, unit: Unit) -> Option<(&str, f64)> {
    match (unit, metric) {
        (Unit::Chars, _) => Some((metric, 1.0)),
        (_, "fa_per_mchar") => Some((wrong_rate(unit).name, scores::per(unit))),
        (_, "transient_per_mchar") => None,
        _ => Some((metric, 1.0)),
    }
}

/// What the metric of a difference to a floor begins with, in intervals.csv.
pub const BELOW: &str = "net_per_1000 less ";

/// The rows of settings that spare less than a floor, by estimate.
fn below_floors<E: AnyEvidence>(
    scoring: &Scoring<'_, E>,
    cells: &[usize],
    firsts: &[bool],
) -> Vec<IntervalRow> {
    let evidence = scoring.evidence;
    let every = evidence.every();
    let once: Vec<usize> = every.into_iter().filter(|i| firsts[*i]).collect();
    let value = |tally: &Tally| NET_PER_1000.value(tally, scoring.worth);
    let row = |cell: usize| {
        let once = &once;
        let below = scoring.floors.iter().filter_map(move |floor| {
            let mut sums = [Tally::default(); 2];
            let mut groups = Groups::<2>::default();
            evidence.each_judged(cell, once, scoring.judge, |_, case, own| {
                let other = floor_outcome(case, *floor, scoring.judge);
                let sides = [own, other].map(|outcome| Tally::of(&outcome));
                groups.add(case, &sides);
                sums.iter_mut()
                    .zip(sides)
                    .for_each(|(sum, side)| *sum += side);
            });
            let [own, other] = sums.map(|sum| value(&sum));
            let difference = own? - other?;
            let resampled =
                || bootstrap_difference(groups, &NET_PER_1000, scoring.worth, scoring.resampling);
            let interval = (difference < 0.0).then(resampled)?;
            let metric = format!("{BELOW}{}", floor.name());
            Some(IntervalRow {
                setting: Some(evidence.plan().id(cell).into()),
                model: Some("*".into()),
                metric: Some(metric.into()),
                estimate: Some(difference),
                lo: interval.map(|ends| ends.lo),
                hi: interval.map(|ends| ends.hi),
                method: Some(Method::Bootstrap.name().into()),
            })
        });
        below.collect::<Vec<_>>()
    };
    cells.iter().flat_map(|cell| row(*cell)).collect()
}

fn estimate(metric: &str, scores: &Scores) -> Option<f64> {
    match metric {
        "latency_p50" => scores.latency.p50,
        "latency_p90" => scores.latency.p90,
        "latency_p95" => scores.latency.p95,
        "hit_latency_p50" => scores.hit_latency.p50,
        "hit_latency_p90" => scores.hit_latency.p90,
        "hit_latency_p95" => scores.hit_latency.p95,
        _ => scores.value(Measure::named(metric)?),
    }
}
