//! [`Side`]: one of the two results that are compared: what one setting did to each transcript.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use deadloop_replay::corpus::{if_named, read_text};
use deadloop_replay::detect::{Channel, Seen, Unit};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::files::cases::{About, Described, label, read_cases};
use crate::files::outcomes::{OutcomeLine, outcome_rows};
use crate::files::store::{FileError, read_csv, read_table};
use crate::judge::{JudgeOptions, Outcome, Verdict};
use crate::tally::{Evidence, Tally};
use crate::truth::{Case, copies};
use deadloop_tables::{Rows, Table, column_names};

/// What one setting, or one choice for each model, did to each transcript of a corpus.
#[derive(Clone, Debug)]
pub struct Side {
    /// Where it comes from.
    pub source: String,
    /// What the setting is called.
    pub name: String,
    /// The setting of each model that has its own, and under `*` that of all others.
    pub settings: BTreeMap<String, String>,
    /// The settings file that does this; `None` where it is not known.
    pub toml: Option<String>,
    /// How alarms were judged.
    pub judge: JudgeOptions,
    /// Chars of the chunks that the recordings were cut into.
    pub chunks: Option<u64>,
    /// Transcripts, in the order of the corpus.
    pub(crate) rows: Vec<Judged>,
    /// The label of each.
    pub(crate) labels: BTreeMap<String, Value>,
}

/// One transcript under one setting.
#[derive(Clone, Debug)]
pub(crate) struct Judged {
    pub(crate) transcript: String,
    pub(crate) model: String,
    pub(crate) cluster: String,
    pub(crate) split: Option<String>,
    pub(crate) text: Option<String>,
    pub(crate) class: Option<String>,
    pub(crate) span: Spot,
    pub(crate) seen: SideSeen,
    pub(crate) error: Option<String>,
    /// The transcript that it is a copy of, or itself.
    pub(crate) original: String,
    /// What it adds.
    pub(crate) adds: Tally,
}

impl Judged {
    pub(super) fn id(&self) -> &str {
        &self.transcript
    }
}

/// The span that was judged, or the first one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spot {
    /// Kind of the loop.
    pub kind: Option<String>,
    /// Its channel; without a span, the alarm's.
    pub channel: Option<String>,
    /// First char of the second copy.
    pub onset: Option<u64>,
    /// One past its last char.
    pub end: Option<u64>,
}

/// How good a verdict is, among those that one transcript can get.
pub(super) fn merit(verdict: Verdict) -> Option<u8> {
    match verdict {
        Verdict::Hit => Some(3),
        Verdict::Quiet => Some(2),
        Verdict::Miss => Some(1),
        Verdict::Premature | Verdict::Stale | Verdict::FalseAlarm => Some(0),
        _ => None,
    }
}

/// What a setting said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SideSeen {
    /// The verdict.
    pub verdict: Verdict,
    /// Where it alarmed, chars of `alarm_channel`.
    pub alarm_at: Option<u64>,
    /// In which channel.
    pub alarm_channel: Option<String>,
    /// What it took it for.
    pub alarm_kind: Option<String>,
    /// Which member of the guard.
    pub detector: Option<String>,
    /// The calls and turns that had begun at the alarm; of texts nothing.
    #[serde(skip)]
    pub alarm_seen: Seen,
}

/// Why a folder cannot be a side.
#[derive(Debug, thiserror::Error)]
pub enum SideError {
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// It holds no outcomes.
    #[error("{0}: holds no outcomes; expected a folder that replay, sweep or tune left")]
    NoOutcomes(String),
    /// It was made before there was a `cases.jsonl`.
    #[error("{0}: holds no cases.jsonl, so labels cannot be compared; replay it again")]
    NoCases(String),
    /// No setting has that name, or several do.
    #[error("{source}: {what}; expected one of: {there}", source = .from)]
    Setting {
        /// The folder.
        from: String,
        /// What was looked for.
        what: String,
        /// What is there.
        there: String,
    },
}

impl Side {
    /// The side of one setting that was just replayed.
    pub fn of(
        source: &str,
        name: &str,
        evidence: &Evidence<'_>,
        cell: usize,
        about: &About,
    ) -> Self {
        let rows = outcome_rows(evidence, cell, &about.judge);
        let id = evidence.plan.id(cell);
        let toml = about.settings.get(&id).map(|d| d.toml.clone());
        let labels = |case: &Case| (case.id.to_string(), label(case.truth.as_ref()));
        let copies = copies(evidence.cases, about.judge.unit);
        Self {
            source: source.into(),
            name: name.into(),
            settings: BTreeMap::from([("*".into(), id)]),
            toml,
            judge: about.judge,
            chunks: about.chunks,
            rows: rows.iter().map(|row| judged(row, &copies)).collect(),
            labels: evidence.cases.iter().map(labels).collect(),
        }
    }

    /// One side from a result folder: the setting called `wanted`, by name or id, or else what was
    /// chosen there, the current setting, or the only one.
    pub fn read(dir: &Path, wanted: Option<&str>) -> Result<Self, SideError> {
        let source = dir.display().to_string();
        let table =
            read_table(dir, "outcomes")?.ok_or_else(|| SideError::NoOutcomes(source.clone()))?;
        sound(&table).map_err(|what| FileError::at(&dir.join("outcomes"), what))?;
        let (about, cases) = read_cases(dir)?.ok_or_else(|| SideError::NoCases(source.clone()))?;
        let meant = Meant::find(dir, wanted, &about)?;
        let named = Rows::new(&table);
        let is_meant = |i: &usize| {
            let model = named.text("model", *i).unwrap_or_default();
            named.text("setting", *i) == meant.setting(model)
        };
        let rows = (0..table.rows()).filter(is_meant);
        let rows: Vec<OutcomeLine> = rows.map(|i| OutcomeLine::read(&named, i)).collect();
        Ok(Self {
            source,
            rows: rows.iter().map(|row| judged(row, &cases.copies)).collect(),
            name: meant.name,
            settings: meant.settings,
            toml: meant.toml,
            judge: about.judge,
            chunks: about.chunks,
            labels: cases.labels,
        })
    }

    /// Leaves out what is not meant: by model, then by split. How many are left.
    pub fn retain(&mut self, meant: impl Fn(&str, Option<&str>) -> bool) -> usize {
        self.rows
            .retain(|row| meant(&row.model, row.split.as_deref()));
        self.rows.len()
    }

    /// What every measure is computed from, all transcripts together.
    pub fn tally(&self) -> Tally {
        self.rows.iter().map(|row| row.adds).sum()
    }

    /// What the setting said about one transcript, and the span that it was judged by.
    pub fn said(&self, transcript: &str) -> Option<(&SideSeen, &Spot)> {
        let row = self.rows.iter().find(|row| row.transcript == transcript);
        row.map(|row| (&row.seen, &row.span))
    }
}

/// Which setting of a folder is meant.
struct Meant {
    name: String,
    settings: BTreeMap<String, String>,
    toml: Option<String>,
}

impl Meant {
    fn find(dir: &Path, wanted: Option<&str>, about: &About) -> Result<Self, SideError> {
        if matches!(wanted, None | Some("chosen"))
            && let Some(choice) = read_csv(dir, "choice")?
        {
            return Ok(Self::chosen(dir, &choice)?);
        }
        let called = |name: &str| {
            let known = |(id, d): &(&String, &Described)| {
                *id == name || d.names.iter().any(|known| known == name)
            };
            about.settings.iter().find(known)
        };
        let found = match wanted {
            Some(name) => called(name),
            None if about.settings.len() == 1 => about.settings.iter().next(),
            None => called("current"),
        };
        let Some((id, described)) = found else {
            return Err(no_setting(dir, wanted, about));
        };
        let own = described.names.iter().find(|n| *n != "current");
        let name = wanted.map(str::to_owned).or(own.cloned());
        Ok(Self {
            name: name.unwrap_or_else(|| id.clone()),
            settings: BTreeMap::from([("*".into(), id.clone())]),
            toml: Some(described.toml.clone()),
        })
    }

    /// The choice of `tune`, model by model.
    fn chosen(dir: &Path, choice: &Table) -> Result<Self, FileError> {
        let row = |i: usize| {
            let of = |name| choice.text(name, i).unwrap_or_default().to_owned();
            (of("model"), of("setting"))
        };
        let path = dir.join("settings.toml");
        let toml = if_named(read_text(&path)).map_err(|e| FileError::at(&path, e))?;
        Ok(Self {
            name: "chosen".into(),
            settings: (0..choice.rows()).map(row).collect(),
            toml,
        })
    }

    fn setting(&self, model: &str) -> Option<&str> {
        let own = self.settings.get(model).or(self.settings.get("*"));
        own.map(String::as_str)
    }
}

/// Settings that an error names.
const NAMED: usize = 20;

fn no_setting(dir: &Path, wanted: Option<&str>, about: &About) -> SideError {
    let name = |(id, d): (&String, &Described)| d.names.first().unwrap_or(id).clone();
    let mut there: Vec<String> = about.settings.iter().take(NAMED).map(name).collect();
    if let Some(more) = about.settings.len().checked_sub(NAMED + 1) {
        there.push(format!("and {} more", more + 1));
    }
    let what = wanted.map_or_else(
        || "several settings, and none is the current one".into(),
        |name| format!("no setting is called {name:?}"),
    );
    SideError::Setting {
        from: dir.display().to_string(),
        what,
        there: there.join(", "),
    }
}

/// Refuses a table that lacks what is read, or has verdicts that nobody gives: it would be compared as
/// if it said 0, or had failed.
fn sound(table: &Table) -> Result<(), String> {
    // Names and texts of cells may be empty, and those of older files are.
    let read = column_names![OutcomeLine: verdict, transcript, model, setting, latency, saved, lost, exposure, loop_chars, delay];
    if let Some(name) = read.iter().find(|name| table.column(name).is_none()) {
        return Err(format!(
            "no column {name:?}; expected outcomes of this version: replay it again"
        ));
    }
    let verdict = |i: &usize| table.text("verdict", *i).unwrap_or_default();
    let unknown = |i: &usize| Verdict::named(verdict(i)).is_none();
    match (0..table.rows()).find(unknown) {
        Some(i) => Err(format!(
            "row {}: verdict {:?}; expected hit, miss, quiet, false-alarm, …",
            i + 1,
            verdict(&i)
        )),
        None => Ok(()),
    }
}

fn verdict(row: &OutcomeLine) -> Verdict {
    let verdict = row.verdict.as_deref().and_then(Verdict::named);
    verdict.unwrap_or(Verdict::Error)
}

/// What measures are computed from.
fn outcome(row: &OutcomeLine) -> Outcome {
    let outcome = Outcome {
        // A loop whose earlier repetition was stopped is known by its length.
        span: row.loop_chars.filter(|n| *n > 0).map(|_| 0),
        latency: row.latency,
        saved: row.saved.unwrap_or(0),
        lost: row.lost.unwrap_or(0),
        exposure: row.exposure.unwrap_or(0),
        loop_chars: row.loop_chars.unwrap_or(0),
        delay: row.delay.unwrap_or(0),
        censored: row.censored == Some(1),
        ..Outcome::bare(verdict(row))
    };
    let unit = row
        .unit
        .as_deref()
        .and_then(Unit::named)
        .unwrap_or_default();
    match outcome.verdict {
        Verdict::Hit => outcome.ended_within(unit, row.period),
        _ if outcome.is_earlier() => outcome.ended_within(unit, None),
        _ => outcome,
    }
}

/// What a comparison needs of a row. `copies`: of transcripts that are copies, which they are a copy of.
fn judged(row: &OutcomeLine, copies: &BTreeMap<String, String>) -> Judged {
    let text = |text: &Option<Arc<str>>| text.as_deref().map(str::to_owned);
    let transcript = text(&row.transcript).unwrap_or_default();
    let seen = [
        (Channel::Tools, row.alarm_calls),
        (Channel::Turns, row.alarm_turns),
    ];
    Judged {
        model: text(&row.model).unwrap_or_default(),
        cluster: text(&row.group).unwrap_or_else(|| transcript.clone()),
        split: text(&row.split),
        text: text(&row.text),
        class: text(&row.class),
        span: Spot {
            kind: text(&row.kind),
            channel: text(&row.channel),
            onset: row.onset,
            end: row.end,
        },
        seen: SideSeen {
            verdict: verdict(row),
            alarm_at: row.alarm_at,
            alarm_channel: text(&row.alarm_channel),
            alarm_kind: text(&row.alarm_kind),
            detector: text(&row.detector),
            alarm_seen: seen
                .into_iter()
                .fold(Seen::default(), |seen, (channel, count)| {
                    seen.plus(channel, count.unwrap_or(0))
                }),
        },
        error: text(&row.error),
        original: copies.get(&transcript).unwrap_or(&transcript).clone(),
        adds: Tally::of(&outcome(row)),
        transcript,
    }
}
