//! The reader of outcomes.parquet.

use super::{LoadError, SettingIndex};
use crate::data::{OutcomeRow, ReportData, Verdict};
use deadloop_score::{OutcomeLine, read_outcomes};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// The columns of outcomes.parquet that a report reads.
const OUTCOME_COLUMNS: [&str; 19] = [
    "transcript",
    "model",
    "setting",
    "class",
    "kind",
    "channel",
    "onset",
    "end",
    "length",
    "verdict",
    "alarm_at",
    "alarm_calls",
    "alarm_turns",
    "alarm_kind",
    "alarm_channel",
    "detector",
    "latency",
    "lost",
    "error",
];

/// The number of rows that are read at a time.
const ROWS_PER_READ: usize = 1 << 14;

/// Adds the outcomes of a result folder to the data.
///
/// If there is a single setting, rows without a loop, an alarm or an error are only counted. The first row of each
/// model is always added.
pub(super) fn add_outcomes(
    dir: &Path,
    is_single: bool,
    settings: &mut SettingIndex,
    data: &mut ReportData,
) -> Result<(), LoadError> {
    let frame = read_outcomes(dir, &OUTCOME_COLUMNS)?.unwrap_or_default();
    let mut models: BTreeSet<Arc<str>> = BTreeSet::new();
    if !is_single {
        data.outcomes.reserve_exact(frame.height());
    }
    for first in (0..frame.height()).step_by(ROWS_PER_READ) {
        let part = OutcomeLine::read(&frame.slice(first as i64, ROWS_PER_READ));
        for (at, line) in part.into_iter().enumerate() {
            let row = to_row(line, first + at, settings)?;
            let is_known = models.contains(&row.model);
            if is_single && row.is_idle() && is_known {
                *data.idle.entry(row.setting).or_default() += 1;
                continue;
            }
            if !is_known {
                models.insert(Arc::clone(&row.model));
            }
            data.outcomes.push(row);
        }
    }
    Ok(())
}

/// Converts a row of outcomes.parquet. `at` is its index in the table, for errors.
fn to_row(line: OutcomeLine, at: usize, index: &mut SettingIndex) -> Result<OutcomeRow, LoadError> {
    let name = line.verdict.as_deref().unwrap_or_default();
    let verdict = Verdict::named(name).ok_or_else(|| LoadError::Row {
        file: "outcomes.parquet",
        row: at + 1,
        what: format!(
            "unknown verdict {name:?}; expected one of {}",
            Verdict::NAMES.join(", ")
        ),
    })?;
    Ok(OutcomeRow {
        transcript: line.transcript.as_deref().unwrap_or_default().into(),
        model: line.model.unwrap_or_default(),
        setting: index.index_of(line.setting.as_deref().unwrap_or_default()),
        kind: line.kind,
        channel: line.channel.or(line.alarm_channel),
        onset: line.onset,
        end: line.end,
        length: line.length,
        verdict,
        earlier: verdict == Verdict::TransientStop && line.class.as_deref() == Some("loop"),
        alarm_at: line.alarm_at,
        alarm_calls: line.alarm_calls,
        alarm_turns: line.alarm_turns,
        alarm_kind: line.alarm_kind,
        detector: line.detector,
        latency: line.latency.map(|units| units as f64),
        lost: line.lost,
        error: line.error,
    })
}
