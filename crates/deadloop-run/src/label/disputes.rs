//! The transcripts on whose label detectors disagree, worst first.
//!
//! A person should read these transcripts, since their labels are likely to be wrong. A dispute is an alarm on text
//! labelled healthy, an alarm in a repetition that ends by itself, or a loop that no setting found. Disputes in which
//! the finder agrees with the detectors come first. They are ordered by the number of settings that disagree with the
//! label, then by the chars at stake.

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

/// A transcript whose label disagrees with detectors.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Dispute {
    /// The id of the transcript.
    pub transcript: String,
    /// The label in a few words.
    pub label: String,
    /// The verdict on the first alarm, or a miss if no setting alarmed.
    pub verdict: &'static str,
    /// The names of the settings that disagree with the label.
    pub settings: Vec<String>,
    /// The number of settings that were compared with the label.
    pub asked: usize,
    /// The channel and the position of the first alarm. `None` without an alarm.
    pub alarm: Option<(String, u64)>,
    /// The number of chars at stake, cut by a wrong alarm or written by a missed loop. This is the maximum over all
    /// settings.
    pub at_stake: u64,
    /// The finder's reading of the text at the alarm, in words.
    pub looks_like: String,
    /// Whether the finder agrees with the detectors.
    pub agrees: bool,
}

/// Returns the disputes between a folder of results and the labels of a corpus, the worst first. Only transcripts in
/// `selected` are considered.
///
/// # Errors
/// Returns an error if the folder cannot be read or has no outcomes, or if the host stopped it.
pub(super) fn find_disputes(
    corpus: &Corpus,
    results: &Path,
    selected: &BTreeSet<String>,
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
    let setting_name = |id: &str| {
        manifest
            .settings
            .get(id)
            .and_then(|names| names.first())
            .cloned()
    };
    let mut open = collect_disputes(OutcomeLine::read(outcomes), setting_name);
    open.retain(|id, _| selected.contains(id));
    let readings = find_readings(corpus, &open, host)?;
    let mut found: Vec<Dispute> = open
        .into_values()
        .filter_map(|dispute| {
            let reading = readings.get(&dispute.transcript)?;
            let agrees = dispute.finder_agrees(reading);
            let looks_like = reading.words();
            Some(Dispute {
                looks_like,
                agrees,
                ..dispute
            })
        })
        .collect();
    found.sort_by_key(|dispute| {
        let id = dispute.transcript.clone();
        (
            !dispute.agrees,
            Reverse(dispute.settings.len()),
            Reverse(dispute.at_stake),
            id,
        )
    });
    Ok(found)
}

impl Dispute {
    fn alarm_channel_and_position(&self) -> Option<(Channel, u64)> {
        let (channel, at) = self.alarm.as_ref()?;
        let channel = Channel::TEXT.into_iter().find(|c| c.name() == channel)?;
        Some((channel, *at))
    }

    /// Returns whether the finder agrees with the detectors. It agrees with an alarm if something repeats there, and
    /// with a miss if it finds no loop.
    fn finder_agrees(&self, reading: &FinderReading) -> bool {
        match (&self.alarm, reading) {
            (Some(_), FinderReading::Loop(_)) => true,
            (Some(_), FinderReading::Passing(..)) => self.label == "clean",
            (Some(_), FinderReading::Nothing) => false,
            (None, reading) => !matches!(reading, FinderReading::Loop(_)),
        }
    }
}

/// Returns the channel and the position of the alarm of a row. A position in calls or turns is in the channel of that
/// unit.
fn alarm_position(row: &OutcomeLine) -> Option<(String, u64)> {
    let channel = match row.unit.as_deref().and_then(Unit::named) {
        Some(Unit::Calls) => Channel::Tools.name(),
        Some(Unit::Turns) => Channel::Turns.name(),
        _ => row.alarm_channel.as_deref()?,
    };
    Some((channel.to_owned(), row.alarm_at?))
}

/// Collects the disputes from the outcomes of all settings. `setting_name` returns the name of a setting by its id.
fn collect_disputes(
    outcomes: Vec<OutcomeLine>,
    setting_name: impl Fn(&str) -> Option<String>,
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
        let disagrees =
            verdict.is_false() || verdict == Verdict::Miss || verdict == Verdict::TransientStop;
        if !disagrees || earlier {
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
        let dispute = found.entry(id.to_owned()).or_insert_with(|| Dispute {
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
        dispute
            .settings
            .push(setting_name(setting).unwrap_or_else(|| setting.to_owned()));
        dispute.at_stake = dispute.at_stake.max(stake);
        let first = |a: &(String, u64)| dispute.alarm.as_ref().is_none_or(|b| a.1 < b.1);
        if let Some(alarm) = alarm_position(&row).filter(first) {
            dispute.alarm = Some(alarm);
            dispute.verdict = verdict.name();
        }
    }
    for (id, dispute) in &mut found {
        dispute.asked = asked.get(id).copied().unwrap_or(0);
    }
    found
}

/// Reads the corpus, and returns the findings of the finder in each disputed transcript.
fn find_readings(
    corpus: &Corpus,
    open: &BTreeMap<String, Dispute>,
    host: &dyn Host,
) -> RunResult<HashMap<String, FinderReading>> {
    let look = |entry: Result<Entry, Problem>| {
        let transcript = entry.ok()?.transcript;
        let dispute = open.get(&transcript.id)?;
        let reading = FinderReading::new(&transcript, dispute.alarm_channel_and_position());
        Some((transcript.id, reading))
    };
    let found = find_in(corpus, host, ("reading", "interrupted"), look)?;
    Ok(found.into_iter().collect())
}
