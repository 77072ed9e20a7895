//! outcomes.parquet: a row for each transcript and reported setting.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use deadloop_replay::Stop;
use deadloop_replay::detect::{Channel, ChannelLengths, Response, Unit};
use deadloop_tables::{Schema, schema};
use serde_json::{Value, json};

use super::store::{FileError, TableWriter};
use crate::judge::{JudgeOptions, Outcome, Verdict};
use crate::tally::{AnyEvidence, BlockTrial};
use crate::truth::{Case, CaseSet, Span, Truth, map_copies};

deadloop_tables::table_row! {
    /// A row of `outcomes.parquet`: a transcript under a setting. Positions and lengths are in the row's unit.
    ///
    /// The documented columns come first. The alarm's channel, the span's `earliest` and `period`, the terms of the
    /// scores, and the hash of the text follow.
    pub struct OutcomeLine {
        /// The transcript's id.
        transcript: Text,
        /// The model.
        model: Text,
        /// The profile, as temperature or prompt.
        profile: Text,
        /// The group: transcripts that belong together, as the answers to one prompt.
        group: Text,
        /// The split.
        split: Text,
        /// The language.
        lang: Text,
        /// The source of the recording.
        source: Text,
        /// The task.
        task: Text,
        /// The setting: the name that it has in every run.
        setting: Text,
        /// The class of the label: loop, clean, transient, unsure.
        class: Text,
        /// The kind of the loop that was judged or charged, else of the first one.
        kind: Text,
        /// The channel of the loop, else of the alarm.
        channel: Text,
        /// The start of the second copy.
        onset: Int["unit"],
        /// The end of the loop.
        end: Int["unit"],
        /// The length of the channel, else of all output counted in the unit.
        length: Int["unit"],
        /// The verdict.
        verdict: Text,
        /// The position of the alarm, as it is judged.
        alarm_at: Int["unit"],
        /// The position at which the fact behind the alarm was complete.
        alarm_exact: Int["unit"],
        /// The kind of loop that the alarm claims.
        alarm_kind: Text,
        /// The guard that alarmed.
        detector: Text,
        /// The distance from onset to alarm.
        latency: Int["unit"],
        /// The latency in time, if times were recorded.
        latency_ms: Float["ms"],
        /// The latency in tokens, if they were recorded.
        latency_tokens: Int["tokens"],
        /// The part of the loop that was not generated.
        saved: Int["unit"],
        /// Healthy output that was thrown away.
        lost: Int["unit"],
        /// The detector's error.
        error: Text,
        /// The unit of the row's counts.
        unit: Text,
        /// The response to an alarm of the setting: observe, warn, refuse, stop.
        response: Text,
        /// The alarm's event, the first being 0.
        alarm_event: Int["events"],
        /// The calls up to the alarm.
        alarm_calls: Int["calls"],
        /// The turns up to the alarm.
        alarm_turns: Int["turns"],
        /// The alarm's channel.
        alarm_channel: Text,
        /// The earliest place at which an alarm on the loop is right.
        earliest: Int["unit"],
        /// The length of one copy.
        period: Int["unit"],
        /// Healthy output that was watched.
        exposure: Int["unit"],
        /// The length of the loop.
        loop_chars: Int["unit"],
        /// The part of the loop that was generated.
        delay: Int["unit"],
        /// 1 where the loop still ran when the recording stopped.
        censored: Int,
        /// The hash of the text, which copies share.
        text: Text,
        /// The original of a copy. Empty: no copy.
        copy_of: Text,
        /// The label, as JSON: all that a verdict depends on. Empty: there is none.
        label: Text,
        /// The message of a program that is the detector. The column exists only if some program sends one.
        detail: Text,
    }
}

/// Writes `outcomes.parquet`, and `outcomes.csv` if requested. Returns the number of rows.
///
/// The rows are in the order of `cells`, and for each cell in the order of the corpus. Each field in `by`, the names of
/// [`Case::by`], is a column.
pub fn write_outcomes(
    dir: &Path,
    evidence: &impl AnyEvidence,
    cells: &[usize],
    by: &[String],
    options: &JudgeOptions,
    with_csv: bool,
) -> Result<usize, FileError> {
    let mut columns = OutcomeLine::schema();
    if !has_details(evidence, cells) {
        columns = columns.without("detail");
    }
    let mut described = columns.docs();
    let own: BTreeSet<String> = described.iter().map(|doc| doc.name.clone()).collect();
    let requested = by
        .iter()
        .enumerate()
        .filter(|(_, name)| !own.contains(*name));
    let fields: Schema<Vec<Option<String>>> = requested
        .flat_map(|(at, name)| {
            schema![Vec<Option<String>>; (name.as_str(), Text, "A field that `by` names.", |by| by[at].as_ref())]
        })
        .collect();
    described.extend(fields.docs());
    let mut values = Vec::new();
    evidence
        .cases()
        .each(|_, case| values.push(case.by.clone()));
    let values = fields.frame(&values);
    let copies = map_copies(evidence.cases(), options.unit);
    let mut writer = TableWriter::create(dir, "outcomes", &described, with_csv)?;
    for cell in cells {
        let rows = outcome_rows(evidence, *cell, options, &copies);
        let frame = columns.frame(&rows).hstack(values.columns());
        let frame = frame.map_err(|e| FileError::at(&dir.join("outcomes.parquet"), e))?;
        writer.write(&frame)?;
    }
    writer.finish()
}

/// Returns whether a program sent a message with an alarm on some case.
fn has_details(evidence: &impl AnyEvidence, cells: &[usize]) -> bool {
    let mut blocks: Vec<usize> = cells
        .iter()
        .map(|cell| evidence.plan().cell(*cell).block)
        .collect();
    blocks.sort_unstable();
    blocks.dedup();
    let has_detail = |block: &usize| {
        let mut cases = 0..evidence.cases().number();
        cases.any(|case| evidence.on_trial(*block, case, |trial| !trial.decided.details.is_empty()))
    };
    blocks.iter().any(has_detail)
}

/// Returns the rows of one setting. `copies` maps the id of a copy to the id of its original.
pub(crate) fn outcome_rows(
    evidence: &impl AnyEvidence,
    cell: usize,
    options: &JudgeOptions,
    copies: &BTreeMap<String, String>,
) -> Vec<OutcomeLine> {
    let plan = evidence.plan();
    let id = plan.id(cell);
    let cell = plan.cell(cell);
    let block = &plan.blocks()[cell.block];
    let row = |i| {
        evidence.on_trial(cell.block, i, |trial| {
            let BlockTrial { case, decided, .. } = trial;
            let stop = decided.stop(&cell.at);
            let members = block.guard(case.work()).member_names();
            let input = RowInput {
                case,
                setting: &id,
                response: block.response(),
                outcome: &trial.outcome(&cell.at, options),
                stop,
                detector: stop.and_then(|s| members.get(s.member)).map(String::as_str),
                error: decided.error.as_deref(),
                options,
            };
            let detail = stop.and_then(|stop| decided.detail(stop));
            OutcomeLine {
                detail: detail.map(Arc::from),
                copy_of: copies.get(&*case.id).map(|id| id.as_str().into()),
                ..input.row()
            }
        })
    };
    (0..evidence.cases().number()).map(row).collect()
}

/// Converts the parts of a label that a verdict can depend on to JSON.
fn label_to_json(truth: &Truth) -> Value {
    let span = |s: &Span| {
        json!({
            "class": s.class, "kind": s.kind, "channel": s.channel, "start": s.start,
            "onset": s.onset, "earliest": s.earliest, "end": s.end, "open": s.open,
            "period": s.period,
        })
    };
    let spans: Vec<Value> = truth.spans.iter().map(span).collect();
    json!({"class": truth.class, "spans": spans})
}

/// The data of a row of outcomes.parquet.
struct RowInput<'a> {
    case: &'a Case,
    setting: &'a str,
    response: Response,
    outcome: &'a Outcome,
    stop: Option<&'a Stop>,
    detector: Option<&'a str>,
    error: Option<&'a str>,
    options: &'a JudgeOptions,
}

impl RowInput<'_> {
    /// Returns the span by which the alarm was judged, or else the first span.
    fn span(&self) -> Option<&Span> {
        let truth = self.case.truth.as_ref()?;
        let mut own = truth.spans_in(self.options.unit);
        match self.outcome.span {
            Some(index) => truth.spans.get(index),
            None => own.next().map(|(_, span)| span),
        }
    }

    /// Returns the length of the row's channel, or else of everything counted in the unit.
    fn length(&self) -> u64 {
        let line = &self.case.timeline;
        let channel = self
            .span()
            .map(|s| s.channel)
            .or(self.stop.map(|s| s.channel))
            .filter(|channel| channel.unit() == self.options.unit);
        channel.map_or(line.in_unit(self.options.unit), |c| line.units(c))
    }

    /// Returns a position in the row's unit, given the amount `seen` that had arrived.
    fn position(&self, seen: ChannelLengths, channel: Channel) -> u64 {
        match self.options.unit {
            unit if unit == channel.unit() => seen.count(channel),
            Unit::Calls => seen.tools.0,
            Unit::Turns => seen.turns.0,
            Unit::Chars => self
                .span()
                .map_or(seen.text().0, |span| seen.count(span.channel)),
        }
    }

    fn row(&self) -> OutcomeLine {
        let (case, outcome, span) = (self.case, self.outcome, self.span());
        let channel = span.map(|s| s.channel).or(self.stop.map(|s| s.channel));
        let scored = !matches!(outcome.verdict, Verdict::Unlabelled | Verdict::Error);
        let row = OutcomeLine {
            transcript: Some(Arc::clone(&case.id)),
            model: Some(Arc::clone(&case.model)),
            profile: case.profile.clone(),
            group: case.group.clone(),
            split: case.split.clone(),
            lang: case.lang.clone(),
            source: case.source.clone(),
            task: case.task.clone(),
            label: shared_text(case.truth.as_ref().map(label_to_json)),
            setting: Some(self.setting.into()),
            class: case.class().map(|class| class.name().into()),
            kind: span.and_then(|s| s.kind).map(|kind| kind.name().into()),
            channel: shared_text(channel),
            onset: span.map(|s| s.onset.count()),
            end: span.map(|s| s.end.count()),
            length: Some(self.length()),
            verdict: Some(outcome.verdict.name().into()),
            latency: outcome.latency,
            latency_ms: outcome.latency_ms,
            latency_tokens: outcome.latency_tokens,
            saved: scored.then_some(outcome.saved),
            lost: scored.then_some(outcome.lost),
            error: self.error.map(Arc::from),
            unit: Some(self.options.unit.name().into()),
            response: Some(self.response.name().into()),
            earliest: span.map(|s| s.earliest.count()),
            period: span.and_then(|s| s.period),
            exposure: Some(outcome.exposure),
            loop_chars: Some(outcome.loop_chars),
            delay: Some(outcome.delay),
            censored: Some(outcome.censored.into()),
            text: Some((*case.text).into()),
            ..OutcomeLine::default()
        };
        match self.stop {
            Some(stop) => self.with_alarm(stop, row),
            None => row,
        }
    }

    /// Sets the columns of an alarm: its kind, and its position in the text and among the events, calls and turns.
    fn with_alarm(&self, stop: &Stop, row: OutcomeLine) -> OutcomeLine {
        let exact = &stop.exact;
        OutcomeLine {
            alarm_at: Some(self.position(stop.delivered.seen, stop.channel)),
            alarm_exact: Some(self.position(exact.seen, stop.channel)),
            alarm_kind: shared_text(Some(stop.kind)),
            detector: self.detector.map(Arc::from),
            alarm_event: Some(exact.place.event),
            alarm_calls: Some(exact.seen.tools.0),
            alarm_turns: Some(exact.seen.turns.0),
            alarm_channel: shared_text(Some(stop.channel)),
            ..row
        }
    }
}

fn shared_text(word: Option<impl ToString>) -> Option<Arc<str>> {
    word.map(|word| word.to_string().into())
}
