//! The transcripts where detectors and the label disagree, worst first: what a reviewer should read. Labels are
//! mended by reading, and these are the ones that are likeliest wrong.
//!
//! A dispute is an alarm on text that the label calls healthy, an alarm in a repetition that ends by itself, or a loop that
//! nothing found. First come those where the finder reads the text as the detectors do, then those where more
//! settings disagree with the label, then those with more at stake.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::path::Path;

use deadloop_corpus::{Corpus, Entry, Problem};
use deadloop_detect::Channel;
use deadloop_replay::{Interrupted, each};
use deadloop_score::proposing::Reading;
use deadloop_score::{Manifest, OutcomeLine, Verdict, read_outcomes};
use serde::Serialize;

use crate::failure::{Code, RunResult};
use crate::host::{Host, watched};

/// A transcript on whose label detectors disagree.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Dispute {
    /// Its id.
    pub transcript: String,
    /// What the label says.
    pub label: String,
    /// What became of it under most of the settings that disagree.
    pub verdict: &'static str,
    /// The settings that disagree with the label, by name.
    pub settings: Vec<String>,
    /// How many settings were compared.
    pub asked: usize,
    /// The first alarm: its channel, and the chars of it that were read; `None` where nothing alarmed.
    pub alarm: Option<(String, u64)>,
    /// Chars that were cut, or ran on: the most of any setting.
    pub at_stake: u64,
    /// What the finder says there.
    pub looks_like: String,
    /// Whether the finder says what the detectors say.
    pub agrees: bool,
}

/// The disputes that a folder of results holds on a corpus, worst first. Only transcripts in `meant` are looked at.
///
/// # Errors
/// The folder cannot be read, has no outcomes, or was interrupted.
pub fn disputes(
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
    let mut open = gathered(OutcomeLine::read(outcomes), named);
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

    /// Whether the finder takes the detectors' side: something repeats where they alarmed, or no loop is there
    /// where none of them saw one.
    fn agrees(&self, reading: &Reading) -> bool {
        match (&self.alarm, reading) {
            (Some(_), Reading::Loop(_)) => true,
            (Some(_), Reading::Passing(..)) => self.label == "clean",
            (Some(_), Reading::Nothing) => false,
            (None, reading) => !matches!(reading, Reading::Loop(_)),
        }
    }
}

/// The disputes that the outcomes of all settings hold, before anything is read.
fn gathered(
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
        let alarm = row.alarm_channel.as_deref().zip(row.alarm_at);
        let alarm = alarm.map(|(channel, at)| (channel.to_owned(), at));
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
        if let Some(alarm) = alarm.filter(first) {
            one.alarm = Some(alarm);
            one.verdict = verdict.name();
        }
    }
    for (id, one) in &mut found {
        one.asked = asked.get(id).copied().unwrap_or(0);
    }
    found
}

/// The finder's span for each.
fn readings(
    corpus: &Corpus,
    open: &BTreeMap<String, Dispute>,
    host: &dyn Host,
) -> RunResult<HashMap<String, Reading>> {
    let look = |entry: Result<Entry, Problem>, _| {
        let transcript = entry.ok()?.transcript;
        let one = open.get(&transcript.id)?;
        let reading = Reading::of(&transcript, one.alarm());
        Some((transcript.id, reading))
    };
    let mut found = HashMap::new();
    watched(host, "reading", |watch| {
        each(corpus, watch, look, |looked| {
            found.extend(looked);
            ControlFlow::Continue(())
        })
    })
    .map_err(|Interrupted| Code::Interrupted.error("interrupted"))?;
    Ok(found)
}
