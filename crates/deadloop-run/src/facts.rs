//! [`Facts`]: a table with a row for each fact that settings saw, with what was measured and the label, so that anybody can
//! train a judge of facts.
//!
//! Facts are measured down to a tenth of what each threshold asks for, as `explain` measures them. A stretch that grows is
//! one fact; it is measured where the settings accept it, or else at its end.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use deadloop_corpus::{Beside, Entry, WriteError};
use deadloop_detect::{Channel, Setting, Settings};
use deadloop_score::{AnyEvidence, Case, Class, Span};

use crate::again::Again;
use crate::explaining::{FactSight, Question};
use crate::failure::{Code, RunResult};
use crate::host::Host;
use crate::replay::Replayed;

/// The columns before those of the measures.
const HEAD: [&str; 15] = [
    "transcript",
    "group",
    "model",
    "class",
    "label",
    "member",
    "channel",
    "check",
    "kind",
    "accepted",
    "position",
    "onset",
    "period",
    "copies",
    "unit",
];

/// The file in the making.
pub struct Facts<'a> {
    settings: &'a Settings,
    /// The thresholds of all members, as `member.parameter`: a column each.
    measures: Vec<String>,
    rows: csv::Writer<Beside>,
}

impl<'a> Facts<'a> {
    /// Begins the file.
    ///
    /// # Errors
    /// Something has its name already and `force` is false, or its folder cannot be written to.
    pub fn begin(file: &Path, force: bool, settings: &'a Settings) -> RunResult<Self> {
        let file = Beside::create(file, force).map_err(|e| match e {
            WriteError::Exists { path } => {
                let what = "is there already; expected a new name, or `force` to replace it";
                Code::Usage.error(format!("`facts` {}: {what}", path.display()))
            }
            other => Code::Usage.because(other),
        })?;
        let measures = measures(settings);
        let mut rows = csv::Writer::from_writer(file);
        rows.write_record(HEAD.into_iter().chain(measures.iter().map(String::as_str)))?;
        Ok(Self {
            settings,
            measures,
            rows,
        })
    }

    /// Reads the corpus once more and writes the facts of each transcript of the run, in the order of the corpus.
    ///
    /// # Errors
    /// The disk says no, or it was interrupted.
    pub fn write(
        mut self,
        done: &Replayed,
        evidence: &impl AnyEvidence<Cases: Sync>,
        host: &dyn Host,
    ) -> RunResult {
        let (settings, measures) = (self.settings, &self.measures);
        let of = |entry: &Entry, (_, case): (usize, &Case)| {
            let guard = settings.for_model(case.work());
            rows(entry, (case, done), (guard, measures))
        };
        let out = &mut self.rows;
        let again = Again {
            done,
            what: "writing facts",
            interrupted: "interrupted; no facts were written",
            host,
        };
        again.each(evidence.cases(), of, |_, rows| {
            let mut rows = rows.into_iter();
            Ok(rows.try_for_each(|row| out.write_record(row))?)
        })?;
        let mut file = (self.rows.into_inner()).map_err(|e| Code::Unexpected.error(e))?;
        file.flush()?;
        Ok(file.finish()?)
    }
}

/// The thresholds of every member of the settings, also of those for single models.
fn measures(settings: &Settings) -> Vec<String> {
    let own = settings.overrides().map(|(_, setting)| setting);
    let mut all: Vec<String> = Vec::new();
    for setting in std::iter::once(settings.guard()).chain(own) {
        for (name, member) in setting.member_names().iter().zip(&setting.members) {
            for (param, _) in member.detector.thresholds() {
                let measure = format!("{name}.{}", param.name);
                if !all.contains(&measure) {
                    all.push(measure);
                }
            }
        }
    }
    all
}

/// A row for each fact of a transcript.
fn rows(
    entry: &Entry,
    (case, done): (&Case, &Replayed),
    (guard, measures): (&Setting, &[String]),
) -> Vec<Vec<String>> {
    let question = Question {
        transcript: &entry.transcript,
        case,
        judge: done.judge,
        chunks: None,
        context: 0,
    };
    let mut rows = Vec::new();
    for (name, member) in guard.member_names().iter().zip(&guard.members) {
        for (channel, sights) in question.sights(member) {
            let row = |sight: &FactSight| row(case, (name, channel, sight), measures);
            rows.extend(sights.iter().map(row));
        }
    }
    rows
}

fn row(
    case: &Case,
    (name, channel, sight): (&str, Channel, &FactSight),
    measures: &[String],
) -> Vec<String> {
    let text = |known: &Option<Arc<str>>| known.as_deref().unwrap_or_default().to_owned();
    let position = sight.position.count();
    let mut row = vec![
        case.id.to_string(),
        text(&case.group),
        case.model.to_string(),
        case.class().map_or("", Class::name).to_owned(),
        label(case, channel, position).to_owned(),
        name.to_owned(),
        channel.to_string(),
        sight.check.to_owned(),
        sight.kind.to_string(),
        u8::from(sight.accepted).to_string(),
        position.to_string(),
        sight.onset.count().to_string(),
        sight.period.count().to_string(),
        sight.copies.to_string(),
        sight.unit.clone(),
    ];
    let measured = |measure: &String| {
        let param = measure.strip_prefix(name)?.strip_prefix('.')?;
        let asked = sight.thresholds.iter().find(|asked| asked.param == param)?;
        Some(asked.measured.to_string())
    };
    row.extend(measures.iter().map(|m| measured(m).unwrap_or_default()));
    row
}

/// What the label says of the place at which a fact was measured: the class of the span that it lies in; outside of spans
/// `before` or `after` the first loop; of a transcript without a span its class.
fn label(case: &Case, channel: Channel, position: u64) -> &'static str {
    let Some(truth) = &case.truth else {
        return "";
    };
    let own = || truth.spans.iter().filter(|span| span.channel == channel);
    let holds = |span: &&Span| span.earliest.count() < position && position <= span.end.count();
    match (own().find(holds), truth.first_loop()) {
        _ if truth.class == Class::Unsure => Class::Unsure.name(),
        (Some(span), _) => span.class.name(),
        (None, Some(first)) if first.channel != channel => "other-channel",
        (None, Some(first)) if position <= first.earliest.count() => "before",
        (None, Some(_)) => "after",
        (None, None) => Class::Clean.name(),
    }
}
