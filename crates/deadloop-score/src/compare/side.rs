//! [`Side`]: one of the two results of a comparison.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use deadloop_replay::detect::{Channel, ChannelLengths, Unit};
use deadloop_tables::polars::prelude::BooleanChunked;
use deadloop_tables::{DataFrame, texts};
use serde::{Deserialize, Serialize};

use crate::files::choice::choice_schema;
use crate::files::manifest::Manifest;
use crate::files::outcomes::{OutcomeLine, outcome_rows};
use crate::files::settings::setting_toml;
use crate::files::store::{FileError, read_csv, read_table, read_text_if_named};
use crate::judge::{JudgeOptions, Outcome, Verdict};
use crate::tally::{Evidence, Tally};
use crate::truth::map_copies;

/// The outcomes on a corpus of one setting, or of the setting chosen for each model.
#[derive(Clone, Debug)]
pub struct Side {
    /// The source of the outcomes: a result folder or a replayed setting.
    pub source: String,
    /// The name of the setting.
    pub name: String,
    /// The id of the setting of each model with its own setting, and of all other models as `*`.
    pub settings: BTreeMap<String, String>,
    /// The text of the settings file. `None` if unknown.
    pub toml: Option<String>,
    /// The options by which alarms were judged.
    pub judge: JudgeOptions,
    /// The number of chars of the chunks that recordings were cut into. `None` if they are as recorded.
    pub chunks: Option<u64>,
    /// The outcomes, in the order of the corpus.
    pub(crate) rows: DataFrame,
}

/// The labelled span by which an alarm was judged, or the first span of the label.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JudgedSpan {
    /// The kind of the loop.
    pub kind: Option<String>,
    /// The channel of the loop, or of the alarm if the label has no span.
    pub channel: Option<String>,
    /// The position of the first char of the second copy.
    pub onset: Option<u64>,
    /// The position after the last char of the loop.
    pub end: Option<u64>,
}

/// Returns the rank of a verdict. The better of two verdicts on one transcript has the higher rank. `None` for a
/// verdict that is neither right nor wrong.
pub(super) fn rank_verdict(verdict: Verdict) -> Option<u8> {
    match verdict {
        Verdict::Hit => Some(3),
        Verdict::Quiet => Some(2),
        Verdict::Miss => Some(1),
        Verdict::Premature | Verdict::Stale | Verdict::FalseAlarm => Some(0),
        _ => None,
    }
}

/// The alarm and the verdict of a setting on a transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SideOutcome {
    /// The verdict.
    pub verdict: Verdict,
    /// The position of the alarm, in units of `alarm_channel`.
    pub alarm_at: Option<u64>,
    /// The channel of the alarm.
    pub alarm_channel: Option<String>,
    /// The kind of loop that the alarm claims.
    pub alarm_kind: Option<String>,
    /// The member of the guard that alarmed.
    pub detector: Option<String>,
    /// The number of calls and turns that had begun at the alarm. The counts of text are 0.
    #[serde(skip)]
    pub alarm_seen: ChannelLengths,
}

/// The error for a folder that cannot be read as a side.
#[derive(Debug, thiserror::Error)]
pub enum SideError {
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The folder has no outcomes.
    #[error("{0}: holds no outcomes; expected a folder that replay, sweep or tune left")]
    NoOutcomes(String),
    /// No setting has the requested name, or no setting was requested and several are possible.
    #[error("{source}: {what}; expected one of: {there}", source = .from)]
    Setting {
        /// The folder.
        from: String,
        /// The problem with the requested setting.
        what: String,
        /// The settings of the folder.
        there: String,
    },
}

impl Side {
    /// Creates the side of one setting from a replay.
    pub fn new(
        source: &str,
        name: &str,
        evidence: &Evidence<'_>,
        cell: usize,
        judge: JudgeOptions,
        chunks: Option<u64>,
    ) -> Self {
        let copies = map_copies(evidence.cases, judge.unit);
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

    /// Reads one side from a result folder. The setting is the one with the name or id `wanted`.
    ///
    /// If `wanted` is `None`, the setting is the choice made in the folder, the current setting, or the only one.
    pub fn read(dir: &Path, wanted: Option<&str>) -> Result<Self, SideError> {
        let source = dir.display().to_string();
        let types = OutcomeLine::schema().docs();
        let rows = read_table(dir, "outcomes", &[], &types)?;
        let rows = rows.ok_or_else(|| SideError::NoOutcomes(source.clone()))?;
        check_columns(&rows).map_err(|what| FileError::at(&dir.join("outcomes"), what))?;
        let manifest = Manifest::read(dir)?;
        let ids: BTreeSet<&str> = texts(&rows, "setting").flatten().collect();
        let selected = SelectedSetting::find(dir, wanted, (&manifest, &ids))?;
        let pairs = texts(&rows, "model").zip(texts(&rows, "setting"));
        let own =
            pairs.map(|(model, setting)| setting == selected.id_for(model.unwrap_or_default()));
        Ok(Self {
            source,
            rows: filter_rows(&rows, own.collect()),
            name: selected.name,
            settings: selected.settings,
            toml: selected.toml,
            judge: manifest.judge,
            chunks: manifest.chunks,
        })
    }

    /// Keeps the rows whose model and split are selected. Returns the number of rows left.
    pub fn retain(&mut self, selected: impl Fn(&str, Option<&str>) -> bool) -> usize {
        let pairs = texts(&self.rows, "model").zip(texts(&self.rows, "split"));
        let own = pairs.map(|(model, split)| selected(model.unwrap_or_default(), split));
        self.rows = filter_rows(&self.rows, own.collect());
        self.rows.height()
    }

    /// Returns the tally of all transcripts.
    pub fn tally(&self) -> Tally {
        OutcomeLine::read(&self.rows)
            .iter()
            .map(OutcomeLine::tally)
            .sum()
    }

    /// Returns the alarm of the setting on one transcript, and the span by which the alarm was judged.
    pub fn judged_alarm(&self, transcript: &str) -> Option<(SideOutcome, JudgedSpan)> {
        let own = texts(&self.rows, "transcript").map(|id| id == Some(transcript));
        let rows = OutcomeLine::read(&filter_rows(&self.rows, own.collect()));
        let row = rows.first()?;
        Some((row.side_outcome(), row.judged_span()))
    }
}

/// Returns the rows of a frame that a mask of the same length selects.
fn filter_rows(rows: &DataFrame, mask: BooleanChunked) -> DataFrame {
    rows.filter(&mask).unwrap_or_default()
}

/// The setting of a result folder that a side compares.
struct SelectedSetting {
    name: String,
    settings: BTreeMap<String, String>,
    toml: Option<String>,
}

impl SelectedSetting {
    fn find(
        dir: &Path,
        wanted: Option<&str>,
        (manifest, ids): (&Manifest, &BTreeSet<&str>),
    ) -> Result<Self, SideError> {
        if matches!(wanted, None | Some("chosen"))
            && let Some(choice) =
                read_csv(dir, "choice", &choice_schema(manifest.judge.unit).docs())?
        {
            return Ok(Self::from_choice(dir, &choice)?);
        }
        let names = |id: &str| manifest.settings.get(id).map_or(&[][..], Vec::as_slice);
        let id_of = |name: &str| {
            let known = |id: &&&str| **id == name || names(id).iter().any(|known| known == name);
            ids.iter().find(known)
        };
        let found = match wanted {
            Some(name) => id_of(name),
            None if ids.len() == 1 => ids.first(),
            None => id_of("current"),
        };
        let Some(id) = found else {
            let there = ids
                .iter()
                .map(|id| names(id).first().map_or(*id, String::as_str));
            return Err(unknown_setting(dir, wanted, there));
        };
        let own = names(id).iter().find(|n| *n != "current");
        let name = wanted.or(own.map(String::as_str)).unwrap_or(id);
        Ok(Self {
            name: name.to_owned(),
            settings: BTreeMap::from([("*".into(), (*id).to_owned())]),
            toml: read_settings(dir, id)?,
        })
    }

    /// Selects the choice made by `tune`, model by model.
    fn from_choice(dir: &Path, choice: &DataFrame) -> Result<Self, FileError> {
        let rows = texts(choice, "model").zip(texts(choice, "setting"));
        let row = |(model, setting): (Option<&str>, Option<&str>)| {
            let [model, setting] = [model, setting].map(|name| name.unwrap_or_default().to_owned());
            (model, setting)
        };
        Ok(Self {
            name: "chosen".into(),
            settings: rows.map(row).collect(),
            toml: read_text_if_named(&dir.join("settings.toml"))?,
        })
    }

    fn id_for(&self, model: &str) -> Option<&str> {
        let own = self.settings.get(model).or(self.settings.get("*"));
        own.map(String::as_str)
    }
}

/// The maximum number of settings that an error lists.
const MAX_LISTED_SETTINGS: usize = 20;

/// Reads the text of a setting's settings file from the scores of a folder.
fn read_settings(dir: &Path, id: &str) -> Result<Option<String>, FileError> {
    let scores = read_table(dir, "scores", &["setting", "settings"], &[])?.unwrap_or_default();
    let mut rows = texts(&scores, "setting").zip(texts(&scores, "settings"));
    let own = rows.find_map(|(setting, toml)| toml.filter(|_| setting == Some(id)));
    Ok(own.map(str::to_owned))
}

fn unknown_setting<'a>(
    dir: &Path,
    wanted: Option<&str>,
    there: impl ExactSizeIterator<Item = &'a str>,
) -> SideError {
    let more = there.len().saturating_sub(MAX_LISTED_SETTINGS);
    let mut there: Vec<String> = there.take(MAX_LISTED_SETTINGS).map(str::to_owned).collect();
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

/// Rejects a table that lacks a column, or has an unknown verdict.
///
/// Otherwise a missing cell would count as 0, and an unknown verdict as a failure.
fn check_columns(rows: &DataFrame) -> Result<(), String> {
    let missing = OutcomeLine::schema()
        .docs()
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
    /// Returns the verdict of the row. An unknown verdict is an error.
    pub fn verdict(&self) -> Verdict {
        let verdict = self.verdict.as_deref().and_then(Verdict::named);
        verdict.unwrap_or(Verdict::Error)
    }

    /// Returns the tally of the row.
    pub(crate) fn tally(&self) -> Tally {
        let outcome = Outcome {
            // A positive length shows a loop, also if an earlier repetition was stopped.
            span: self.loop_chars.filter(|n| *n > 0).map(|_| 0),
            latency: self.latency,
            saved: self.saved.unwrap_or(0),
            lost: self.lost.unwrap_or(0),
            exposure: self.exposure.unwrap_or(0),
            loop_chars: self.loop_chars.unwrap_or(0),
            delay: self.delay.unwrap_or(0),
            censored: self.censored == Some(1),
            ..Outcome::from_verdict(self.verdict())
        };
        let unit = self.unit.as_deref().and_then(Unit::named);
        let unit = unit.unwrap_or_default();
        Tally::from_outcome(&match outcome.verdict {
            Verdict::Hit => outcome.with_delay_counts(unit, self.period),
            _ if outcome.is_earlier() => outcome.with_delay_counts(unit, None),
            _ => outcome,
        })
    }

    /// Returns the transcript's group, or its id if it has no group.
    pub(crate) fn cluster(&self) -> &str {
        self.group.as_deref().unwrap_or(self.id())
    }

    /// Returns the transcript's id.
    pub(crate) fn id(&self) -> &str {
        self.transcript.as_deref().unwrap_or_default()
    }

    /// Returns the span by which the alarm was judged.
    pub(super) fn judged_span(&self) -> JudgedSpan {
        JudgedSpan {
            kind: to_owned_text(&self.kind),
            channel: to_owned_text(&self.channel),
            onset: self.onset,
            end: self.end,
        }
    }

    /// Returns the alarm and the verdict of the row.
    pub(super) fn side_outcome(&self) -> SideOutcome {
        let seen = [
            (Channel::Tools, self.alarm_calls),
            (Channel::Turns, self.alarm_turns),
        ];
        SideOutcome {
            verdict: self.verdict(),
            alarm_at: self.alarm_at,
            alarm_channel: to_owned_text(&self.alarm_channel),
            alarm_kind: to_owned_text(&self.alarm_kind),
            detector: to_owned_text(&self.detector),
            alarm_seen: seen
                .into_iter()
                .fold(ChannelLengths::default(), |seen, (channel, count)| {
                    seen.plus(channel, count.unwrap_or(0))
                }),
        }
    }
}

pub(super) fn to_owned_text(text: &Option<Arc<str>>) -> Option<String> {
    text.as_deref().map(str::to_owned)
}
