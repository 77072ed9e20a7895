//! The rows of a reported setting: scores by slice, with intervals over groups.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::outcome_sums::OutcomeSums;
use super::scores::{BY_MODEL, RowSetting, ScoreRow, TOTAL};
use super::sweep::ScoringRequest;
use crate::intervals::IntervalCache;
use crate::judge::Outcome;
use crate::tally::AnyEvidence;
use crate::truth::{Case, Span};
use deadloop_replay::detect::{Channel, Unit};

/// The value of a slice, after a number by which the values of its field are sorted.
type SliceValue = (u64, String);

/// A function that returns the value of a case, or of its judged span.
type SliceValueOf<'a> = dyn Fn(&Case, Option<&Span>) -> Option<SliceValue> + 'a;

/// A field by which scores are sliced.
struct SliceField<'a> {
    name: &'a str,
    value: Box<SliceValueOf<'a>>,
    /// Whether the cases without a value form a slice.
    has_rest: bool,
}

impl<'a> SliceField<'a> {
    fn new(
        name: &'a str,
        has_rest: bool,
        value: impl Fn(&Case, Option<&Span>) -> Option<SliceValue> + 'a,
    ) -> Self {
        let value = Box::new(value);
        Self {
            name,
            value,
            has_rest,
        }
    }
}

/// Returns the fields of a run. The fields of `more`, the names of [`Case::by`], come last.
fn list_fields(unit: Unit, more: &[String]) -> Vec<SliceField<'_>> {
    let shared = |name: &Option<Arc<str>>| Some((0, name.as_deref()?.to_owned()));
    let channel = move |case: &Case, span: Option<&Span>| {
        let channel = span.map_or_else(|| longest_channel(case, unit), |span| Some(span.channel));
        Some((0, channel?.name().to_owned()))
    };
    let mut list = vec![
        SliceField::new(TOTAL, true, |_, _| None),
        SliceField::new(BY_MODEL, false, |case, _| Some((0, case.model.to_string()))),
        SliceField::new("kind", false, |_, span| {
            Some((0, span?.kind?.name().to_owned()))
        }),
        SliceField::new("onset", false, |_, span| {
            Some(onset_bucket(span?.channel, span?.onset.count()))
        }),
        SliceField::new("channel", false, channel),
        SliceField::new("lang", true, move |case, _| shared(&case.lang)),
        SliceField::new("source", true, move |case, _| shared(&case.source)),
    ];
    let known: Vec<&str> = list.iter().map(|field| field.name).collect();
    let requested = more.iter().enumerate();
    let requested = requested.filter(|(_, name)| !known.contains(&name.as_str()));
    let requested = requested.map(|(i, name)| {
        SliceField::new(name, true, move |case, _| {
            Some((0, case.by.get(i)?.clone()?))
        })
    });
    let requested: Vec<SliceField<'_>> = requested.collect();
    list.extend(requested);
    list
}

/// Returns the ends of the buckets of onsets. The end of a bucket is outside it.
fn onset_ends(unit: Unit) -> [u64; 6] {
    match unit {
        Unit::Chars => [500, 1000, 2000, 3000, 5000, 10_000],
        Unit::Calls | Unit::Turns => [5, 10, 20, 30, 50, 100],
    }
}

/// Returns the bucket of an onset, such as `1000-1999`.
fn onset_bucket(channel: Channel, onset: u64) -> SliceValue {
    let ends = onset_ends(channel.unit());
    let at = ends.partition_point(|end| *end <= onset);
    let from = at.checked_sub(1).map_or(0, |before| ends[before]);
    let name = match ends.get(at) {
        Some(end) => format!("{from}-{}", end - 1),
        None => format!("{from}-"),
    };
    (from, name)
}

/// Returns the longest channel counted in `unit`, for a transcript without a span. The first of equal
/// channels wins.
fn longest_channel(case: &Case, unit: Unit) -> Option<Channel> {
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

/// A function that returns whether a model has rows.
type HasRows<'a> = &'a dyn Fn(&str) -> bool;

/// Returns the rows of a cell: all transcripts, then each value of each field.
///
/// The judged span determines kind, onset and channel. A transcript without a span has its longest channel. `models`
/// selects the models that have rows.
pub(super) fn reported_rows<E: AnyEvidence>(
    scoring: &ScoringRequest<'_, E>,
    (cell, setting): (usize, &Rc<RowSetting>),
    (groups, models): (&[u64], HasRows<'_>),
    cache: &mut IntervalCache,
) -> Vec<ScoreRow> {
    let (evidence, judge) = (scoring.evidence, scoring.judge);
    let fields = list_fields(judge.unit, scoring.by);
    // Rows by field exist only in the unit of choice.
    let used_fields = if judge.unit == scoring.units[0] {
        fields.len()
    } else {
        2
    };
    let mut all: Vec<BTreeMap<Option<SliceValue>, OutcomeSums>> = Vec::new();
    all.resize_with(used_fields, BTreeMap::new);
    evidence.each_judged(cell, &evidence.every(), judge, |i, case, outcome| {
        let span = judged_span(case, &outcome, judge.unit);
        for (field, slices) in fields.iter().zip(&mut all) {
            let value = (field.value)(case, span);
            if value.is_some() || field.has_rest {
                slices.entry(value).or_default().add(groups[i], &outcome);
            }
        }
    });
    let mut rows = Vec::new();
    for (field, slices) in fields.iter().zip(all) {
        let by: Rc<str> = field.name.into();
        for (value, sums) in slices {
            let value: Option<Rc<str>> = value.map(|(_, name)| name.into());
            if field.name == BY_MODEL && !value.as_deref().is_some_and(models) {
                continue;
            }
            rows.push(ScoreRow {
                setting: Rc::clone(setting),
                by: Rc::clone(&by),
                value,
                unit: judge.unit,
                scores: sums.group_scores(scoring.worth, cache, field.name == TOTAL),
            });
        }
    }
    rows
}

/// Returns the span by which a case was judged, or else its first span.
fn judged_span<'c>(case: &'c Case, outcome: &Outcome, unit: Unit) -> Option<&'c Span> {
    let truth = case.truth.as_ref()?;
    match outcome.span {
        Some(index) => truth.spans.get(index),
        None => truth.spans_in(unit).next().map(|(_, span)| span),
    }
}
