//! What is computed for the reported settings only: scores by slices of a corpus, and the intervals that have to be
//! resampled.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::gathered::Gathered;
use super::scores::{self, ParamColumns};
use super::store::{FileError, TableWriter, write_csv};
use super::sweep::Scoring;
use crate::intervals::Known;
use crate::judge::Outcome;
use crate::measure::Measure;
use crate::scores::Scores;
use crate::tally::AnyEvidence;
use crate::truth::{Case, Span, group_numbers};
use deadloop_replay::detect::{Channel, Unit};
use deadloop_tables::TableCell;

/// A value, behind the number by which the values of its field are ordered first.
type Value = (u64, String);

/// The value of a transcript, or of its span.
type ValueOf<'a> = dyn Fn(&Case, Option<&Span>) -> Option<Value> + 'a;

/// A field by which scores are given, and the value of a case. A case that has none is in no slice, or in the one of those
/// without a value.
struct Field<'a> {
    name: &'a str,
    value: Box<ValueOf<'a>>,
    /// Whether cases without a value are a slice of their own.
    others: bool,
}

/// The fields that every run has: what is looped in, and what the transcript says of itself.
fn fields(unit: Unit, more: &[String]) -> Vec<Field<'_>> {
    let shared = |name: &Option<Arc<str>>| Some((0, name.as_deref()?.to_owned()));
    let of_span = |name, value: fn(&Span) -> Option<Value>| Field {
        name,
        value: Box::new(move |_, span| value(span?)),
        others: false,
    };
    let mut list = vec![
        of_span("kind", |span| Some((0, span.kind?.name().to_owned()))),
        of_span("onset", |span| {
            Some(onset_bucket(span.channel, span.onset.count()))
        }),
        Field {
            name: "channel",
            value: Box::new(move |case, span| {
                let channel = span.map_or_else(|| longest(case, unit), |span| Some(span.channel));
                Some((0, channel?.name().to_owned()))
            }),
            others: false,
        },
        Field {
            name: "lang",
            value: Box::new(move |case, _| shared(&case.lang)),
            others: true,
        },
        Field {
            name: "source",
            value: Box::new(move |case, _| shared(&case.source)),
            others: true,
        },
    ];
    let known: Vec<&str> = list.iter().map(|field| field.name).collect();
    let asked = more.iter().enumerate();
    let asked = asked.filter(|(_, name)| !known.contains(&name.as_str()));
    let asked = asked.map(|(i, name)| Field {
        name,
        value: Box::new(move |case: &Case, _: Option<&Span>| Some((0, case.by.get(i)?.clone()?))),
        others: true,
    });
    let asked: Vec<Field<'_>> = asked.collect();
    list.extend(asked);
    list
}

/// Where the buckets of onsets end: each has its lower end, and not its upper one.
pub fn onset_ends(unit: Unit) -> [u64; 6] {
    match unit {
        Unit::Chars => [500, 1000, 2000, 3000, 5000, 10_000],
        Unit::Calls | Unit::Turns => [5, 10, 20, 30, 50, 100],
    }
}

/// The bucket of an onset, as `1000-1999`.
fn onset_bucket(channel: Channel, onset: u64) -> Value {
    let ends = onset_ends(channel.unit());
    let at = ends.partition_point(|end| *end <= onset);
    let from = at.checked_sub(1).map_or(0, |before| ends[before]);
    let name = match ends.get(at) {
        Some(end) => format!("{from}-{}", end - 1),
        None => format!("{from}-"),
    };
    (from, name)
}

/// The channel that has most of what is counted in `unit`, the first of equals: that of a transcript without a repetition.
fn longest(case: &Case, unit: Unit) -> Option<Channel> {
    let length = case.timeline.length();
    let counted = Channel::ALL
        .into_iter()
        .filter(|channel| channel.unit() == unit);
    let most = counted.reduce(|most, channel| {
        if length.count(channel) > length.count(most) {
            channel
        } else {
            most
        }
    })?;
    (length.count(most) > 0).then_some(most)
}

/// Writes `scores_by.parquet` and `.csv`: the columns of scores.parquet after `by, value`, for each
/// of `cells` and each value of a field, all models together: kind, onset bucket, channel, lang, source, and the fields in
/// `more`, which are the names of [`Case::by`](crate::Case::by), in its order. Kind, onset and channel are those of the span
/// that was judged; the channel of a transcript without one is the longest. `value` is empty where a case has none.
pub fn write_scores_by<E: AnyEvidence>(
    dir: &Path,
    scoring: &Scoring<'_, E>,
    cells: &[usize],
    more: &[String],
) -> Result<usize, FileError> {
    let evidence = scoring.evidence;
    let params = ParamColumns::of(evidence.plan());
    let schema = scores::schema(&["by", "value"], &params);
    let mut writer = TableWriter::create(dir, "scores_by", schema, true)?;
    let mut known = Known::new(scoring.resampling);
    let columns = scores::columns(scoring.judge.unit);
    let fields = fields(scoring.judge.unit, more);
    let groups = group_numbers(evidence.cases());
    for cell in cells {
        let place = evidence.plan().cell(*cell);
        let Some(block) = evidence.plan().blocks().get(place.block) else {
            continue;
        };
        let id = block.id(&place.at);
        let params = params.of_cell(block, &place.at);
        let slices = slices(scoring, &fields, &groups, *cell);
        for (field, slices) in fields.iter().zip(slices) {
            for (value, gathered) in slices {
                let scores = gathered.over_groups(scoring.worth, &mut known);
                let mut row = vec![
                    TableCell::text(field.name),
                    TableCell::maybe(value.as_ref().map(|(_, name)| name.as_str())),
                ];
                row.extend(scores::row(
                    &id,
                    ("*", scoring.judge.unit),
                    params.clone(),
                    &columns.cells(&scores),
                ));
                writer.push(row)?;
            }
        }
    }
    writer.finish()
}

/// What came of the cases with each value of each field.
fn slices<E: AnyEvidence>(
    scoring: &Scoring<'_, E>,
    fields: &[Field<'_>],
    groups: &[u64],
    cell: usize,
) -> Vec<BTreeMap<Option<Value>, Gathered>> {
    let evidence = scoring.evidence;
    let mut all: Vec<BTreeMap<Option<Value>, Gathered>> = Vec::new();
    all.resize_with(fields.len(), BTreeMap::new);
    evidence.each_judged(
        cell,
        &evidence.every(),
        scoring.judge,
        |i, case, outcome| {
            let span = span_of(case, &outcome, scoring.judge.unit);
            for (field, slices) in fields.iter().zip(&mut all) {
                let value = (field.value)(case, span);
                if value.is_some() || field.others {
                    slices.entry(value).or_default().add(groups[i], &outcome);
                }
            }
        },
    );
    all
}

/// Of a case with several loops that which was judged, else the first.
fn span_of<'c>(case: &'c Case, outcome: &Outcome, unit: Unit) -> Option<&'c Span> {
    let truth = case.truth.as_ref()?;
    match outcome.span {
        Some(index) => truth.spans.get(index),
        None => truth.spans_in(unit).next().map(|(_, span)| span),
    }
}

deadloop_tables::table_row! {
    /// A row of `intervals.csv`: the 95 % interval of a score.
    pub struct IntervalRow {
        /// The setting.
        setting: Text,
        /// Whose transcripts; `*`: all models together.
        model: Text,
        /// The score.
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
/// `slices` (a name and its cases): the closed intervals where every group has one transcript, else the bootstrap over
/// groups, which decides for every other score too. Copies of a text are of one group.
pub fn write_intervals<E: AnyEvidence>(
    dir: &Path,
    scoring: &Scoring<'_, E>,
    cells: &[usize],
    slices: &[(String, Vec<usize>)],
) -> Result<(), FileError> {
    let columns = IntervalRow::columns();
    let groups = group_numbers(scoring.evidence.cases());
    let mut known = Known::new(scoring.resampling);
    let mut rows = Vec::new();
    for cell in cells {
        let id = scoring.evidence.plan().id(*cell);
        for (model, pick) in slices {
            let mut gathered = Gathered::of(scoring, &groups, (*cell, pick));
            let scores = gathered.scores(scoring.worth, &mut known.poisson);
            let intervals = gathered.intervals(scoring.worth, &mut known);
            for (metric, interval, method) in intervals.rows {
                if !exists(&metric, scoring.judge.unit) {
                    continue;
                }
                rows.push(IntervalRow {
                    setting: Some(id.as_str().into()),
                    model: Some(model.as_str().into()),
                    estimate: estimate(&metric, &scores),
                    metric: Some(metric.into()),
                    lo: interval.map(|ends| ends.lo),
                    hi: interval.map(|ends| ends.hi),
                    method: Some(method.name().into()),
                });
            }
        }
    }
    let rows = rows.iter().map(|row| columns.cells(row));
    write_csv(dir, "intervals", &columns.schema(), rows)
}

/// Whether a score exists where things are counted in `unit`.
fn exists(metric: &str, unit: Unit) -> bool {
    Measure::named(metric).is_none_or(|measure| measure.counted_in.contains(&unit))
}

fn estimate(metric: &str, scores: &Scores) -> Option<f64> {
    match metric {
        "latency_p50" => scores.latency.p50,
        "latency_p90" => scores.latency.p90,
        _ => scores.value(Measure::named(metric)?),
    }
}
