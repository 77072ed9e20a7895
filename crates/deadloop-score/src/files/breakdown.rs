//! What is computed for the reported settings only: scores by kind and by `--by` field, and the
//! intervals that have to be resampled.

use std::collections::BTreeMap;
use std::path::Path;

use deadloop_replay::detect::Unit;

use super::scores::{self, ParamColumns};
use super::store::{FileError, TableWriter, write_csv};
use super::sweep::{Scoring, floor_outcomes, intervals_of, over_groups, scores_of};
use super::table::{Schema, TableCell, Type, named};
use crate::intervals::{Interval, Known, Method, bootstrap_difference};
use crate::judge::Outcome;
use crate::measure::{Measure, NET_PER_1000, wrong_rate};
use crate::scores::Scores;
use crate::tally::{Evidence, Tally};
use crate::truth::firsts;

/// Writes `scores_by.parquet` and `.csv`: the columns of scores.parquet after `by, value`, for each
/// of `cells` and each value of a field, all models together. `fields` are the names of
/// [`Case::by`](crate::Case::by), in its order; `kind` (as in outcomes.csv: that of the span that was judged) is always there,
/// before them, and `value` is empty where a case has none.
pub fn write_scores_by(
    dir: &Path,
    scoring: &Scoring,
    cells: &[usize],
    fields: &[String],
) -> Result<usize, FileError> {
    let evidence = scoring.evidence;
    let params = ParamColumns::of(evidence.plan);
    let schema = scores::schema(&["by", "value"], &params);
    let mut writer = TableWriter::create(dir, "scores_by", schema, true)?;
    let mut known = Known::new(scoring.resampling);
    let groups = groups(evidence, fields);
    let firsts = firsts(evidence.cases);
    for cell in cells {
        let place = evidence.plan.cell(*cell);
        let Some(block) = evidence.plan.blocks().get(place.block) else {
            continue;
        };
        let id = block.id(&place.at);
        let params = params.of_cell(block, &place.at);
        let mut write = |by: &str, value: Option<&String>, pick: &[usize], outcomes: &[Outcome]| {
            let scores = over_groups(scoring, &firsts, pick, outcomes, &mut known);
            let mut row = vec![TableCell::text(by), TableCell::maybe(value)];
            row.extend(scores::row(
                &id,
                ("*", scoring.judge.unit),
                params.clone(),
                &scores::cells(&scores, scoring.judge.unit),
            ));
            writer.push(row)
        };
        for (kind, (pick, outcomes)) in by_kind(scoring, *cell) {
            write("kind", Some(&kind), &pick, &outcomes)?;
        }
        for (by, value, pick) in &groups {
            let outcomes = evidence.outcomes(*cell, pick, scoring.judge);
            write(by, value.as_ref(), pick, &outcomes)?;
        }
    }
    writer.finish()
}

/// A field, a value of it, and the cases that have it.
type Group<'a> = (&'a str, Option<String>, Vec<usize>);

fn groups<'a>(evidence: &Evidence, fields: &'a [String]) -> Vec<Group<'a>> {
    let of = |(i, name): (usize, &'a String)| {
        let mut groups: BTreeMap<Option<String>, Vec<usize>> = BTreeMap::new();
        for (case, about) in evidence.cases.iter().enumerate() {
            let value = about.by.get(i).cloned().flatten();
            groups.entry(value).or_default().push(case);
        }
        let named = move |(value, pick)| (name.as_str(), value, pick);
        groups.into_iter().map(named).collect::<Vec<_>>()
    };
    fields.iter().enumerate().flat_map(of).collect()
}

/// What came of the cases of each kind: of a case with several loops that of the one which was judged.
fn by_kind(scoring: &Scoring, cell: usize) -> BTreeMap<String, (Vec<usize>, Vec<Outcome>)> {
    let evidence = scoring.evidence;
    let outcomes = evidence.outcomes(cell, &evidence.all(), scoring.judge);
    let mut kinds: BTreeMap<String, (Vec<usize>, Vec<Outcome>)> = BTreeMap::new();
    for (i, (case, outcome)) in evidence.cases.iter().zip(outcomes).enumerate() {
        let span = case.truth.as_ref().and_then(|truth| match outcome.span {
            Some(index) => truth.spans.get(index),
            None => truth.spans_in(scoring.judge.unit).next().map(|(_, s)| s),
        });
        if let Some(kind) = span.and_then(|span| span.kind) {
            let of = kinds.entry(kind.name().to_owned()).or_default();
            of.0.push(i);
            of.1.push(outcome);
        }
    }
    kinds
}

/// Writes `intervals.csv`: `setting, model, metric, estimate, lo, hi, method`, 95 %, for each of `cells` and each of
/// `subjects` (a name and its cases), each text once: the closed intervals where every group has one transcript, else
/// the bootstrap over groups, which decides for every other score too.
///
/// Of all models together also `net_per_1000 less FLOOR`, where that is negative: how much less a setting spares than
/// a floor does. A setting is worse than a floor only where the upper end is below 0.
pub fn write_intervals(
    dir: &Path,
    scoring: &Scoring,
    cells: &[usize],
    subjects: &[(String, Vec<usize>)],
) -> Result<(), FileError> {
    let schema: Schema = [
        named(&["setting", "model", "metric"], Type::Text),
        named(&["estimate", "lo", "hi"], Type::Float),
        named(&["method"], Type::Text),
    ]
    .concat();
    let firsts = firsts(scoring.evidence.cases);
    let mut known = Known::new(scoring.resampling);
    let mut rows = Vec::new();
    for cell in cells {
        let id = scoring.evidence.plan.id(*cell);
        for (model, pick) in subjects {
            let outcomes = scoring.evidence.outcomes(*cell, pick, scoring.judge);
            let scores = scores_of(&outcomes, scoring.worth, &mut known.poisson);
            let intervals = intervals_of(scoring, &firsts, pick, &outcomes, &mut known);
            for (metric, interval, method) in intervals.rows {
                let Some((name, factor)) = told(&metric, scoring.judge.unit) else {
                    continue;
                };
                let figures = ends(estimate(&metric, &scores), interval);
                let names = [id.clone(), model.clone(), name.to_owned()];
                let mut row = names.map(TableCell::text).to_vec();
                row.extend(figures.map(|x| TableCell::Float(x.map(|x| x * factor))));
                row.push(TableCell::text(method.name()));
                rows.push(row);
            }
        }
    }
    rows.extend(below_floors(scoring, cells, &firsts));
    write_csv(dir, "intervals", &schema, rows)
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
fn below_floors(scoring: &Scoring<'_>, cells: &[usize], firsts: &[bool]) -> Vec<Vec<TableCell>> {
    let evidence = scoring.evidence;
    let all = evidence.all();
    let once: Vec<usize> = all.into_iter().filter(|i| firsts[*i]).collect();
    let value = |tally: &Tally| NET_PER_1000.value(tally, scoring.worth);
    let row = |cell: usize| {
        let own = evidence.tally(cell, &once, scoring.judge);
        let once = &once;
        let below = scoring.floors.iter().filter_map(move |floor| {
            let outcomes = || floor_outcomes(scoring, *floor, once);
            let other = outcomes().map(|outcome| Tally::of(&outcome)).sum();
            let difference = value(&own)? - value(&other)?;
            let resampled = || {
                let own = evidence.each_outcome(cell, once, scoring.judge);
                let sides = once.iter().zip(own.zip(outcomes()));
                let sides = sides.map(|(i, (own, other))| (&evidence.cases[*i], [own, other]));
                bootstrap_difference(sides, &NET_PER_1000, scoring.worth, scoring.resampling)
            };
            let interval = (difference < 0.0).then(resampled)?;
            let metric = format!("{BELOW}{}", floor.name());
            let names = [evidence.plan.id(cell), "*".into(), metric].map(TableCell::text);
            let figures = ends(Some(difference), interval).map(TableCell::Float);
            let row = names.into_iter().chain(figures);
            Some(
                row.chain([TableCell::text(Method::Bootstrap.name())])
                    .collect(),
            )
        });
        below.collect::<Vec<_>>()
    };
    cells.iter().flat_map(|cell| row(*cell)).collect()
}

fn ends(estimate: Option<f64>, interval: Option<Interval>) -> [Option<f64>; 3] {
    [estimate, interval.map(|i| i.lo), interval.map(|i| i.hi)]
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
