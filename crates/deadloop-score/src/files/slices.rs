//! The rows of a reported setting: scores by slices, intervals over groups.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::outcome_sums::OutcomeSums;
use super::scores::{BY_MODEL, RowSetting, ScoreRow, TOTAL};
use super::sweep::ScoringRequest;
use crate::intervals::Cache;
use crate::judge::Outcome;
use crate::tally::AnyEvidence;
use crate::truth::{Case, Span};
use deadloop_replay::detect::{Channel, Unit};

/// The value of a slice, after the number that orders the values of its field.
type SliceValue = (u64, String);

/// The value of a transcript, or of its span.
type ValueOf<'a> = dyn Fn(&Case, Option<&Span>) -> Option<SliceValue> + 'a;

/// A field by which scores are sliced, and the value of a case. A case without a value is in the slice of such cases,
/// if the field has one.
struct SliceField<'a> {
    name: &'a str,
    value: Box<ValueOf<'a>>,
    /// Whether cases without a value are a slice of their own.
    others: bool,
}

impl<'a> SliceField<'a> {
    fn new(
        name: &'a str,
        others: bool,
        value: impl Fn(&Case, Option<&Span>) -> Option<SliceValue> + 'a,
    ) -> Self {
        let value = Box::new(value);
        Self {
            name,
            value,
            others,
        }
    }
}

/// Returns the fields of a run: total and model, the loop's kind, onset and channel, language and source, then those in
/// `more`, the names of [`Case::by`], in its order.
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
    let asked = more.iter().enumerate();
    let asked = asked.filter(|(_, name)| !known.contains(&name.as_str()));
    let asked = asked.map(|(i, name)| {
        SliceField::new(name, true, move |case, _| {
            Some((0, case.by.get(i)?.clone()?))
        })
    });
    let asked: Vec<SliceField<'_>> = asked.collect();
    list.extend(asked);
    list
}

/// Returns the ends of the buckets of onsets. A bucket includes its lower end and excludes its upper one.
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

/// Returns the longest channel counted in `unit`, the first of equals. It is the channel of a transcript without a
/// span.
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

/// A test whether a model has rows of its own.
type HasRows<'a> = &'a dyn Fn(&str) -> bool;

/// Returns the rows of a cell: all transcripts, then each value of each field. The judged span gives kind, onset and
/// channel. A transcript without a span has its longest channel. `models` selects the models that have rows.
pub(super) fn rows<E: AnyEvidence>(
    scoring: &ScoringRequest<'_, E>,
    (cell, setting): (usize, &Rc<RowSetting>),
    (groups, models): (&[u64], HasRows<'_>),
    known: &mut Cache,
) -> Vec<ScoreRow> {
    let (evidence, judge) = (scoring.evidence, scoring.judge);
    let fields = list_fields(judge.unit, scoring.by);
    // Rows by field exist only in the unit of choice.
    let few = if judge.unit == scoring.units[0] {
        fields.len()
    } else {
        2
    };
    let mut all: Vec<BTreeMap<Option<SliceValue>, OutcomeSums>> = Vec::new();
    all.resize_with(few, BTreeMap::new);
    evidence.each_judged(cell, &evidence.every(), judge, |i, case, outcome| {
        let span = span_of(case, &outcome, judge.unit);
        for (field, slices) in fields.iter().zip(&mut all) {
            let value = (field.value)(case, span);
            if value.is_some() || field.others {
                slices.entry(value).or_default().add(groups[i], &outcome);
            }
        }
    });
    let mut rows = Vec::new();
    for (field, slices) in fields.iter().zip(all) {
        let by: Rc<str> = field.name.into();
        for (value, gathered) in slices {
            let value: Option<Rc<str>> = value.map(|(_, name)| name.into());
            if field.name == BY_MODEL && !value.as_deref().is_some_and(models) {
                continue;
            }
            rows.push(ScoreRow {
                setting: Rc::clone(setting),
                by: Rc::clone(&by),
                value,
                unit: judge.unit,
                scores: gathered.over_groups(scoring.worth, known, field.name == TOTAL),
            });
        }
    }
    rows
}

/// Returns the span of a case that was judged, else the first one.
fn span_of<'c>(case: &'c Case, outcome: &Outcome, unit: Unit) -> Option<&'c Span> {
    let truth = case.truth.as_ref()?;
    match outcome.span {
        Some(index) => truth.spans.get(index),
        None => truth.spans_in(unit).next().map(|(_, span)| span),
    }
}
