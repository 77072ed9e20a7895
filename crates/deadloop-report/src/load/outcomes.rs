//! `outcomes.parquet`: a row for each transcript and setting that was written out.

use super::LoadError;
use super::rows::{Rows, Texts};
use super::settings::Settings;
use crate::data::{OutcomeRow, ReportData, Verdict};
use deadloop_score::{Table, each_outcomes};
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
        let count = |name: &str| rows.whole(name, row);
        let name = rows.text("verdict", row).unwrap_or_default();
        let verdict = Verdict::parse(name).ok_or_else(|| LoadError::Row {
            file: "outcomes.parquet",
            row: self.rows,
            what: format!(
                "unknown verdict {name:?}; expected one of {}",
                Verdict::ALL.map(Verdict::name).join(", ")
            ),
        })?;
        let mut text = |name: &str| Some(self.texts.once(rows.text(name, row)?));
        Ok(OutcomeRow {
            transcript: rows.text("transcript", row).unwrap_or_default().into(),
            model: text("model").unwrap_or_default(),
            setting: settings.at(rows.text("setting", row).unwrap_or_default()),
            kind: text("kind"),
            channel: text("channel").or_else(|| text("alarm_channel")),
            onset: count("onset"),
            end: count("end"),
            length: count("length"),
            verdict,
            earlier: verdict == Verdict::TransientStop && rows.text("class", row) == Some("loop"),
            alarm_at: count("alarm_at"),
            alarm_calls: count("alarm_calls"),
            alarm_turns: count("alarm_turns"),
            alarm_kind: text("alarm_kind"),
            detector: text("detector"),
            latency: rows.number("latency", row),
            lost: count("lost"),
            error: text("error"),
        })
    }
}
