//! [`Facts`]: a table with a row for each fact that settings saw, with what was measured and the label, so that anybody can
//! train a judge of facts.
//!
//! Facts are measured down to a tenth of what each threshold asks for, as `explain` measures them. A stretch that grows is
//! one fact; it is measured where the settings accept it, or else at its end.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use deadloop_corpus::{Beside, Entry, WriteError};
use deadloop_detect::{Channel, Setting, Settings, Value};
use deadloop_score::{AnyEvidence, Case, Class, Span};
use deadloop_tables::{Column, ColumnDoc, Columns, CsvTable, Type, cell, columns};

use crate::again::Again;
use crate::explaining::{FactSight, Question};
use crate::failure::{Code, RunResult};
use crate::host::Host;
use crate::replay::Replayed;

/// A fact of a transcript.
struct FactRow {
    transcript: Arc<str>,
    group: Option<Arc<str>>,
    model: Arc<str>,
    class: &'static str,
    label: &'static str,
    member: String,
    channel: Channel,
    sight: FactSight,
    /// One for each column of measures; `None` where the threshold is another member's, or asks nothing of this fact.
    measures: Vec<Option<f64>>,
}

/// The columns before those of the measures. Positions and lengths are counted in the unit of the fact's channel.
fn head() -> Columns<FactRow> {
    columns![FactRow;
        ("transcript", Text, "The transcript's id.", |row| &row.transcript),
        ("group", Text, "Its group: what belongs together, as the answers to one prompt.", |row| row.group.clone()),
        ("model", Text, "Its model.", |row| &row.model),
        ("class", Text, "The class of its label: loop, clean, transient, unsure.", |row| row.class),
        (
            "label", Text,
            "What the label says of the fact's place: the class of the span there; before, after or other-channel beside a loop.",
            |row| row.label,
        ),
        ("member", Text, "The guard that saw it.", |row| &row.member),
        ("channel", Text, "The channel.", |row| row.channel.name()),
        ("check", Text, "The check of the guard that saw it.", |row| row.sight.check),
        ("kind", Text, "The kind of loop that it claims.", |row| row.sight.kind.name()),
        ("accepted", Int, "1 where every threshold accepts it.", |row| row.sight.accepted),
        (
            "position", Int["unit"],
            "How much of the channel had arrived when it was accepted; if it never was, at its end.",
            |row| row.sight.position.count(),
        ),
        ("onset", Int["unit"], "Where the second copy starts.", |row| row.sight.onset.count()),
        ("period", Int["unit"], "The length of one copy.", |row| row.sight.period.count()),
        ("copies", Int["copies"], "Whole copies up to `position`.", |row| u64::try_from(row.sight.copies).ok()),
        ("unit", Text, "The text that repeats, shortened.", |row| &row.sight.unit),
    ]
}

/// The columns of a file with these measures.
fn columns_of(measures: &[String]) -> Columns<FactRow> {
    let mut all = head();
    for (place, measure) in measures.iter().enumerate() {
        let cell = move |row: &FactRow| row.measures.get(place).copied().flatten().into();
        all.push(Column::new::<cell::Float>(measure, "", MEASURE, cell));
    }
    all
}

/// What a measure is.
const MEASURE: &str = "What was measured of the fact for this threshold of a member, as periodic.min_copies; empty where it asks nothing of it.";

/// The columns, as the reference lists them.
pub(crate) fn described() -> Vec<ColumnDoc> {
    let mut columns = head().described();
    columns.push(ColumnDoc {
        name: "*.*".into(),
        of: Type::Float,
        unit: String::new(),
        about: MEASURE.into(),
    });
    columns
}

/// The file in the making.
pub struct Facts<'a> {
    settings: &'a Settings,
    /// The thresholds of all members, as `member.parameter`: a column each.
    measures: Vec<String>,
    columns: Columns<FactRow>,
    rows: CsvTable<Beside>,
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
        let columns = columns_of(&measures);
        Ok(Self {
            settings,
            measures,
            rows: CsvTable::exact(file, &columns.schema())?,
            columns,
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
        let (out, columns) = (&mut self.rows, &self.columns);
        let again = Again {
            done,
            what: "writing facts",
            interrupted: "interrupted; no facts were written",
            host,
        };
        again.each(evidence.cases(), of, |_, rows| {
            let mut rows = rows.into_iter();
            Ok(rows.try_for_each(|row| out.row(&columns.cells(&row)))?)
        })?;
        let mut file = self.rows.finish()?;
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
) -> Vec<FactRow> {
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
            let row = |sight: FactSight| row(case, (name, channel, sight), measures);
            rows.extend(sights.into_iter().map(row));
        }
    }
    rows
}

fn row(
    case: &Case,
    (name, channel, sight): (&str, Channel, FactSight),
    measures: &[String],
) -> FactRow {
    let measured = |measure: &String| {
        let param = measure.strip_prefix(name)?.strip_prefix('.')?;
        let asked = sight.thresholds.iter().find(|asked| asked.param == param)?;
        match asked.measured {
            // Counts of chars and copies are far below 2^53.
            #[allow(clippy::cast_precision_loss)]
            Value::Int(n) => Some(n as f64),
            Value::Float(x) => Some(x),
            _ => None,
        }
    };
    FactRow {
        transcript: Arc::clone(&case.id),
        group: case.group.clone(),
        model: Arc::clone(&case.model),
        class: case.class().map_or("", Class::name),
        label: label(case, channel, sight.position.count()),
        member: name.to_owned(),
        channel,
        measures: measures.iter().map(measured).collect(),
        sight,
    }
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
