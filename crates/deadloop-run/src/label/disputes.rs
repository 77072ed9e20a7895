//! The transcripts on whose label detectors disagree, worst first.
//!
//! A person has to read these transcripts: their labels are the likeliest to be wrong. A dispute is an alarm on text
//! labelled healthy, an alarm in a repetition that ends by itself, or a loop that no setting found. First come those
//! where the finder agrees with the detectors, then those where more settings disagree with the label, then those with
//! more at stake.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use deadloop_corpus::{Corpus, Entry, Problem};
use deadloop_detect::{Channel, Unit};
use deadloop_score::proposals::FinderReading;
use deadloop_score::{Manifest, OutcomeLine, Verdict, read_outcomes};
use serde::Serialize;

use crate::failure::{Code, RunResult};
use crate::host::{Host, find_in};

/// A transcript on whose label detectors disagree.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Dispute {
    /// The id of the transcript.
    pub transcript: String,
    /// The label in a few words.
    pub label: String,
    /// The verdict of the first alarm. A miss if no setting alarmed.
    pub verdict: &'static str,
    /// The names of the settings that disagree with the label.
    pub settings: Vec<String>,
    /// The number of compared settings.
    pub asked: usize,
    /// The first alarm: its channel and position in chars. `None` without an alarm.
    pub alarm: Option<(String, u64)>,
    /// The number of chars at stake, cut or looped: the maximum over all settings.
    pub at_stake: u64,
    /// The finder's reading at the alarm.
    pub looks_like: String,
    /// Whether the finder agrees with the detectors.
    pub agrees: bool,
}

/// Returns the disputes between a folder of results and the labels of a corpus, worst first. Only transcripts in
/// `meant` are considered.
///
/// # Errors
/// Returns an error if the folder cannot be read or has no outcomes, or if the host stopped it.
pub(super) fn disputes(
    corpus: &Corpus,
    results: &Path,
    meant: &BTreeSet<String>,
    host: &dyn Host,
) -> RunResult<Vec<Dispute>> {
    let manifest = Manifest::read(results).map_err(|e| Code::Usage.error(e.to_string()))?;
    let outcomes = read_outcomes(results, &[]).map_err(|e| Code::Usage.error(e.to_string()))?;
    let Some(outcomes) = &outcomes else {
        let what = format!(
            "{}: no outcomes.parquet; expected the results of `replay` or `tune`",
            results.display()
        );
        return Err(Code::Usage.error(what));
    };
    let named = |id: &str| {
        manifest
            .settings
            .get(id)
            .and_then(|names| names.first())
            .cloned()
    };
    let mut open = collect_disputes(OutcomeLine::read(outcomes), named);
    open.retain(|id, _| meant.contains(id));
    let readings = readings(corpus, &open, host)?;
    let mut found: Vec<Dispute> = open
        .into_values()
        .filter_map(|one| {
            let reading = readings.get(&one.transcript)?;
            let agrees = one.agrees(reading);
            let looks_like = reading.words();
            Some(Dispute {
                looks_like,
                agrees,
                ..one
            })
        })
        .collect();
    found.sort_by_key(|one| {
        let id = one.transcript.clone();
        (
            !one.agrees,
            Reverse(one.settings.len()),
            Reverse(one.at_stake),
            id,
        )
    });
    Ok(found)
}

impl Dispute {
    fn alarm(&self) -> Option<(Channel, u64)> {
        let (channel, at) = self.alarm.as_ref()?;
        let channel = Channel::TEXT.into_iter().find(|c| c.name() == channel)?;
        Some((channel, *at))
    }

    /// Returns whether the finder agrees with the detectors: something repeats at their alarm, or it sees no loop
    /// where no detector alarmed.
    fn agrees(&self, reading: &FinderReading) -> bool {
        match (&self.alarm, reading) {
            (Some(_), FinderReading::Loop(_)) => true,
            (Some(_), FinderReading::Passing(..)) => self.label == "clean",
            (Some(_), FinderReading::Nothing) => false,
            (None, reading) => !matches!(reading, FinderReading::Loop(_)),
        }
    }
}

/// Returns the channel and the place of a row's alarm. A place in calls or turns is in their channel.
fn alarm(row: &OutcomeLine) -> Option<(String, u64)> {
    let channel = match row.unit.as_deref().and_then(Unit::named) {
        Some(Unit::Calls) => Channel::Tools.name(),
        Some(Unit::Turns) => Channel::Turns.name(),
        _ => row.alarm_channel.as_deref()?,
    };
    Some((channel.to_owned(), row.alarm_at?))
}

/// Collects the disputes from the outcomes of all settings, before any text is read.
fn collect_disputes(
    outcomes: Vec<OutcomeLine>,
    named: impl Fn(&str) -> Option<String>,
) -> BTreeMap<String, Dispute> {
    let mut asked: HashMap<String, usize> = HashMap::new();
    let mut found: BTreeMap<String, Dispute> = BTreeMap::new();
    for row in outcomes {
        let Some(id) = row.transcript.as_deref() else {
            continue;
        };
        let verdict = row.verdict();
        *asked.entry(id.to_owned()).or_default() += 1;
        let class = row.class.as_deref().unwrap_or("none");
        let earlier = verdict == Verdict::TransientStop && class == "loop";
        let is =
            verdict.is_false() || verdict == Verdict::Miss || verdict == Verdict::TransientStop;
        if !is || earlier {
            continue;
        }
        let ran_on = row
            .length
            .unwrap_or(0)
            .saturating_sub(row.onset.unwrap_or(0));
        let stake = match verdict {
            Verdict::Miss => ran_on,
            _ => row.lost.unwrap_or(0),
        };
        let setting = row.setting.as_deref().unwrap_or_default();
        let one = found.entry(id.to_owned()).or_insert_with(|| Dispute {
            transcript: id.to_owned(),
            label: match row.onset {
                Some(onset) if class == "loop" => format!("loop from {onset}"),
                _ => class.to_owned(),
            },
            verdict: verdict.name(),
            settings: Vec::new(),
            asked: 0,
            alarm: None,
            at_stake: 0,
            looks_like: String::new(),
            agrees: false,
        });
        one.settings
            .push(named(setting).unwrap_or_else(|| setting.to_owned()));
        one.at_stake = one.at_stake.max(stake);
        let first = |a: &(String, u64)| one.alarm.as_ref().is_none_or(|b| a.1 < b.1);
        if let Some(alarm) = alarm(&row).filter(first) {
            one.alarm = Some(alarm);
            one.verdict = verdict.name();
        }
    }
    for (id, one) in &mut found {
        one.asked = asked.get(id).copied().unwrap_or(0);
    }
    found
}

/// Returns the finder's reading of each disputed transcript.
fn readings(
    corpus: &Corpus,
    open: &BTreeMap<String, Dispute>,
    host: &dyn Host,
) -> RunResult<HashMap<String, FinderReading>> {
    let look = |entry: Result<Entry, Problem>| {
        let transcript = entry.ok()?.transcript;
        let one = open.get(&transcript.id)?;
        let reading = FinderReading::new(&transcript, one.alarm());
        Some((transcript.id, reading))
    };
    let found = find_in(corpus, host, ("reading", "interrupted"), look)?;
    Ok(found.into_iter().collect())
}
