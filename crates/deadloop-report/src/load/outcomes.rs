//! `outcomes.parquet`: a row for each transcript and setting that was written out.

use super::LoadError;
use super::rows::Texts;
use super::settings::Settings;
use crate::data::{OutcomeRow, ReportData, Verdict};
use deadloop_score::{OutcomeLine as Written, Rows, Table, each_outcomes};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// What was read so far.
#[derive(Default)]
struct Reader {
    /// Whether a single setting has any.
    single: bool,
    /// Its rows.
    rows: usize,
    texts: Texts,
    /// The models of which a row is held.
    models: BTreeSet<Arc<str>>,
}

/// Adds the outcomes. Where a `single` setting has any, nothing is held against another one: then rows in which nothing
/// happened are counted, and not held, but for the first of a model without another row before it.
pub(super) fn outcomes(
    dir: &Path,
    single: bool,
    settings: &mut Settings,
    data: &mut ReportData,
) -> Result<(), LoadError> {
    let mut reader = Reader {
        single,
        ..Reader::default()
    };
    each_outcomes(dir, |part| reader.add(&part, settings, data))
}

impl Reader {
    fn add(
        &mut self,
        part: &Table,
        settings: &mut Settings,
        data: &mut ReportData,
    ) -> Result<(), LoadError> {
        let rows = Rows::new(part);
        for row in 0..part.rows() {
            self.rows += 1;
            let row = self.row(&rows, row, settings)?;
            let first = !self.models.contains(&row.model);
            if self.single && row.is_idle() && !first {
                *data.idle.entry(row.setting).or_default() += 1;
                continue;
            }
            if first {
                self.models.insert(Arc::clone(&row.model));
            }
            data.outcomes.push(row);
        }
        Ok(())
    }

    fn row(
        &mut self,
        rows: &Rows<'_>,
        row: usize,
        settings: &mut Settings,
    ) -> Result<OutcomeRow, LoadError> {
        let written = Written::read(rows, row);
        let name = written.verdict.as_deref().unwrap_or_default();
        let verdict = Verdict::named(name).ok_or_else(|| LoadError::Row {
            file: "outcomes.parquet",
            row: self.rows,
            what: format!(
                "unknown verdict {name:?}; expected one of {}",
                Verdict::NAMES.join(", ")
            ),
        })?;
        let mut once = |text: Option<Arc<str>>| Some(self.texts.once(&text?));
        Ok(OutcomeRow {
            transcript: written.transcript.as_deref().unwrap_or_default().into(),
            model: once(written.model).unwrap_or_default(),
            setting: settings.at(written.setting.as_deref().unwrap_or_default()),
            kind: once(written.kind),
            channel: once(written.channel.or(written.alarm_channel)),
            onset: written.onset,
            end: written.end,
            length: written.length,
            verdict,
            earlier: verdict == Verdict::TransientStop && written.class.as_deref() == Some("loop"),
            alarm_at: written.alarm_at,
            alarm_calls: written.alarm_calls,
            alarm_turns: written.alarm_turns,
            alarm_kind: once(written.alarm_kind),
            detector: once(written.detector),
            latency: written.latency.map(|units| units as f64),
            lost: written.lost,
            error: once(written.error),
        })
    }
}
