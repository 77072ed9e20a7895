//! [`Side`]: one of the two results that are compared: what one setting did to each transcript.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use deadloop_replay::corpus::{if_named, read_text};
use deadloop_replay::detect::{Channel, Seen, Unit};
use deadloop_tables::polars::prelude::BooleanChunked;
use deadloop_tables::{DataFrame, texts};
use serde::{Deserialize, Serialize};

use crate::files::choice::choice_schema;
use crate::files::manifest::Manifest;
use crate::files::outcomes::{OutcomeLine, outcome_rows};
use crate::files::settings::setting_toml;
use crate::files::store::{FileError, read_csv, read_table};
use crate::judge::{JudgeOptions, Outcome, Verdict};
use crate::tally::{Evidence, Tally};
use crate::truth::copies;

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
    /// Outcomes, in the order of the corpus.
    pub(crate) rows: DataFrame,
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
    /// Returns the side of one setting that was just replayed.
    pub fn of(
        source: &str,
        name: &str,
        evidence: &Evidence<'_>,
        cell: usize,
        judge: JudgeOptions,
        chunks: Option<u64>,
    ) -> Self {
        let copies = copies(evidence.cases, judge.unit);
        let rows = outcome_rows(evidence, cell, &judge, &copies);
        let models = evidence.cases.iter().map(|case| &*case.model).collect();
        Self {
            source: source.into(),
            name: name.into(),
            settings: BTreeMap::from([("*".into(), evidence.plan.id(cell))]),
            toml: Some(setting_toml(evidence.plan, cell, &models)),
            judge,
            chunks,
            rows: OutcomeLine::schema().frame(&rows),
        }
    }

    /// Reads one side from a result folder: the setting called `wanted`, by name or id, or else the choice that was made there, the
    /// current setting, or the only one.
    pub fn read(dir: &Path, wanted: Option<&str>) -> Result<Self, SideError> {
        let source = dir.display().to_string();
        let types = OutcomeLine::schema().described();
        let rows = read_table(dir, "outcomes", &[], &types)?;
        let rows = rows.ok_or_else(|| SideError::NoOutcomes(source.clone()))?;
        sound(&rows).map_err(|what| FileError::at(&dir.join("outcomes"), what))?;
        let manifest = Manifest::read(dir)?;
        let ids: BTreeSet<&str> = texts(&rows, "setting").flatten().collect();
        let meant = Meant::find(dir, wanted, (&manifest, &ids))?;
        let pairs = texts(&rows, "model").zip(texts(&rows, "setting"));
        let own = pairs.map(|(model, setting)| setting == meant.setting(model.unwrap_or_default()));
        Ok(Self {
            source,
            rows: filtered(&rows, own.collect()),
            name: meant.name,
            settings: meant.settings,
            toml: meant.toml,
            judge: manifest.judge,
            chunks: manifest.chunks,
        })
    }

    /// Leaves out the rows that are not selected by model and split. Returns how many are left.
    pub fn retain(&mut self, selected: impl Fn(&str, Option<&str>) -> bool) -> usize {
        let pairs = texts(&self.rows, "model").zip(texts(&self.rows, "split"));
        let own = pairs.map(|(model, split)| selected(model.unwrap_or_default(), split));
        self.rows = filtered(&self.rows, own.collect());
        self.rows.height()
    }

    /// Returns the counts of all transcripts together.
    pub fn tally(&self) -> Tally {
        OutcomeLine::read(&self.rows)
            .iter()
            .map(OutcomeLine::tally)
            .sum()
    }

    /// Returns the alarm of the setting on one transcript, and the span that it was judged by.
    pub fn said(&self, transcript: &str) -> Option<(SideSeen, Spot)> {
        let own = texts(&self.rows, "transcript").map(|id| id == Some(transcript));
        let rows = OutcomeLine::read(&filtered(&self.rows, own.collect()));
        rows.first().map(|row| (row.seen(), row.spot()))
    }
}

/// Returns the rows of a frame for which a mask of its length holds.
fn filtered(rows: &DataFrame, mask: BooleanChunked) -> DataFrame {
    rows.filter(&mask).unwrap_or_default()
}

/// Which setting of a folder is meant.
struct Meant {
    name: String,
    settings: BTreeMap<String, String>,
    toml: Option<String>,
}

impl Meant {
    fn find(
        dir: &Path,
        wanted: Option<&str>,
        (manifest, ids): (&Manifest, &BTreeSet<&str>),
    ) -> Result<Self, SideError> {
        if matches!(wanted, None | Some("chosen"))
            && let Some(choice) = read_csv(
                dir,
                "choice",
                &choice_schema(manifest.judge.unit).described(),
            )?
        {
            return Ok(Self::chosen(dir, &choice)?);
        }
        let names = |id: &str| manifest.settings.get(id).map_or(&[][..], Vec::as_slice);
        let called = |name: &str| {
            let known = |id: &&&str| **id == name || names(id).iter().any(|known| known == name);
            ids.iter().find(known)
        };
        let found = match wanted {
            Some(name) => called(name),
            None if ids.len() == 1 => ids.first(),
            None => called("current"),
        };
        let Some(id) = found else {
            let there = ids
                .iter()
                .map(|id| names(id).first().map_or(*id, String::as_str));
            return Err(no_setting(dir, wanted, there));
        };
        let own = names(id).iter().find(|n| *n != "current");
        let name = wanted.or(own.map(String::as_str)).unwrap_or(id);
        Ok(Self {
            name: name.to_owned(),
            settings: BTreeMap::from([("*".into(), (*id).to_owned())]),
            toml: toml(dir, id)?,
        })
    }

    /// Returns the choice of `tune`, model by model.
    fn chosen(dir: &Path, choice: &DataFrame) -> Result<Self, FileError> {
        let rows = texts(choice, "model").zip(texts(choice, "setting"));
        let row = |(model, setting): (Option<&str>, Option<&str>)| {
            let [model, setting] = [model, setting].map(|name| name.unwrap_or_default().to_owned());
            (model, setting)
        };
        let path = dir.join("settings.toml");
        let toml = if_named(read_text(&path)).map_err(|e| FileError::at(&path, e))?;
        Ok(Self {
            name: "chosen".into(),
            settings: rows.map(row).collect(),
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

/// Returns the settings file of a setting, as the scores of a folder have it.
fn toml(dir: &Path, id: &str) -> Result<Option<String>, FileError> {
    let scores = read_table(dir, "scores", &["setting", "settings"], &[])?.unwrap_or_default();
    let mut rows = texts(&scores, "setting").zip(texts(&scores, "settings"));
    let own = rows.find_map(|(setting, toml)| toml.filter(|_| setting == Some(id)));
    Ok(own.map(str::to_owned))
}

fn no_setting<'a>(
    dir: &Path,
    wanted: Option<&str>,
    there: impl ExactSizeIterator<Item = &'a str>,
) -> SideError {
    let more = there.len().saturating_sub(NAMED);
    let mut there: Vec<String> = there.take(NAMED).map(str::to_owned).collect();
    there.extend((more > 0).then(|| format!("and {more} more")));
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

/// Refuses a table that lacks a column that is read, or has an unknown verdict: it would be compared as if it said 0, or had failed.
fn sound(rows: &DataFrame) -> Result<(), String> {
    let missing = OutcomeLine::schema()
        .described()
        .into_iter()
        .find(|doc| doc.name != "detail" && rows.column(&doc.name).is_err());
    if let Some(doc) = missing {
        let name = doc.name;
        return Err(format!(
            "no column {name:?}; expected outcomes of this version: replay it again"
        ));
    }
    let verdicts = texts(rows, "verdict").map(Option::unwrap_or_default);
    match verdicts
        .enumerate()
        .find(|(_, verdict)| Verdict::named(verdict).is_none())
    {
        Some((at, verdict)) => Err(format!(
            "row {}: verdict {verdict:?}; expected hit, miss, quiet, false-alarm, …",
            at + 1
        )),
        None => Ok(()),
    }
}

impl OutcomeLine {
    /// Returns the verdict.
    pub fn verdict(&self) -> Verdict {
        let verdict = self.verdict.as_deref().and_then(Verdict::named);
        verdict.unwrap_or(Verdict::Error)
    }

    /// Returns what a comparison counts of the row.
    pub(crate) fn tally(&self) -> Tally {
        let outcome = Outcome {
            // A loop whose earlier repetition was stopped is known by its length.
            span: self.loop_chars.filter(|n| *n > 0).map(|_| 0),
            latency: self.latency,
            saved: self.saved.unwrap_or(0),
            lost: self.lost.unwrap_or(0),
            exposure: self.exposure.unwrap_or(0),
            loop_chars: self.loop_chars.unwrap_or(0),
            delay: self.delay.unwrap_or(0),
            censored: self.censored == Some(1),
            ..Outcome::bare(self.verdict())
        };
        let unit = self.unit.as_deref().and_then(Unit::named);
        let unit = unit.unwrap_or_default();
        Tally::of(&match outcome.verdict {
            Verdict::Hit => outcome.ended_within(unit, self.period),
            _ if outcome.is_earlier() => outcome.ended_within(unit, None),
            _ => outcome,
        })
    }

    /// Returns the group, or the transcript if it is in none.
    pub(crate) fn cluster(&self) -> &str {
        self.group.as_deref().unwrap_or(self.id())
    }

    /// Returns the transcript's id.
    pub(crate) fn id(&self) -> &str {
        self.transcript.as_deref().unwrap_or_default()
    }

    /// Returns the span that was judged.
    pub(super) fn spot(&self) -> Spot {
        Spot {
            kind: owned(&self.kind),
            channel: owned(&self.channel),
            onset: self.onset,
            end: self.end,
        }
    }

    /// Returns the alarm.
    pub(super) fn seen(&self) -> SideSeen {
        let seen = [
            (Channel::Tools, self.alarm_calls),
            (Channel::Turns, self.alarm_turns),
        ];
        SideSeen {
            verdict: self.verdict(),
            alarm_at: self.alarm_at,
            alarm_channel: owned(&self.alarm_channel),
            alarm_kind: owned(&self.alarm_kind),
            detector: owned(&self.detector),
            alarm_seen: seen
                .into_iter()
                .fold(Seen::default(), |seen, (channel, count)| {
                    seen.plus(channel, count.unwrap_or(0))
                }),
        }
    }
}

pub(super) fn owned(text: &Option<Arc<str>>) -> Option<String> {
    text.as_deref().map(str::to_owned)
}
