//! What outcomes are compared by: a few named series of rows, and their recall by bucket.

use crate::data::{ALL_MODELS, OutcomeRow, ReportData, Role, Verdict};
use crate::look::Look;
use crate::numbers::{Estimate, count, wilson};
use deadloop_score::onset_ends;
use deadloop_score::replay::detect::{Kind, Unit};
use std::collections::{BTreeMap, BTreeSet};

/// Outcomes of one way to run the detector.
#[derive(Debug, Clone)]
pub(crate) struct Series<'d> {
    /// What it is called.
    pub(crate) name: String,
    /// Whether it is the chosen one.
    pub(crate) chosen: bool,
    /// How it looks.
    pub(crate) look: Look,
    /// Its rows.
    pub(crate) rows: Vec<&'d OutcomeRow>,
}

/// What is in use first, then what ships (each model with its own), then the other named settings
/// with the highest F1: at most `limit`.
pub(crate) fn series(data: &ReportData, limit: usize) -> Vec<Series<'_>> {
    // A sweep has none, and may have a hundred thousand settings.
    if data.outcomes.is_empty() {
        return Vec::new();
    }
    let of_setting = |at: usize| Series {
        name: data.describe(at),
        chosen: false,
        look: Look::of(data, at),
        rows: data
            .outcomes
            .iter()
            .filter(|row| row.setting == at)
            .collect(),
    };
    let with_role = |role: Role| {
        let settings = data.settings.iter().enumerate();
        settings
            .filter(move |(_, setting)| setting.role == role)
            .map(|(at, _)| of_setting(at))
    };
    let mut list: Vec<Series<'_>> = with_role(Role::InUse).collect();
    list.extend(chosen(data));
    let others = data
        .leading()
        .iter()
        .filter(|at| Some(**at) != data.in_use());
    list.extend(others.map(|at| of_setting(*at)));
    if list.iter().all(|series| series.rows.is_empty()) {
        list.extend(with_role(Role::Cell));
    }
    list.retain(|series| !series.rows.is_empty());
    list.truncate(limit);
    list
}

/// The rows that `settings.toml` would have given, each model seen through its own setting. `None` if nothing ships.
fn chosen(data: &ReportData) -> Option<Series<'_>> {
    if !data.ships() {
        return None;
    }
    let held: BTreeMap<&str, usize> = data
        .choices
        .iter()
        .filter_map(|choice| Some((choice.model.as_str(), choice.setting?)))
        .collect();
    let pooled = held.get(ALL_MODELS);
    let matches = |row: &&OutcomeRow| held.get(&*row.model).or(pooled) == Some(&row.setting);
    let rows = data.outcomes.iter().filter(matches).collect();
    let single = held.values().all(|setting| Some(setting) == pooled);
    let name = if single {
        "chosen"
    } else {
        "chosen (per model)"
    };
    Some(Series {
        name: name.to_owned(),
        chosen: true,
        look: Look::CHOSEN,
        rows,
    })
}

impl Series<'_> {
    /// How many of its rows are loops.
    pub(crate) fn loops(&self) -> u64 {
        self.rows.iter().filter(|row| row.is_loop()).count() as u64
    }

    /// The latencies of the hits, rising.
    pub(crate) fn latencies(&self) -> Vec<f64> {
        let hits = self.rows.iter().filter(|row| row.verdict == Verdict::Hit);
        let mut all: Vec<f64> = hits
            .filter_map(|row| row.latency)
            .filter(|latency| latency.is_finite())
            .collect();
        all.sort_by(f64::total_cmp);
        all
    }

    /// Recall of the loops for which `which` holds.
    pub(crate) fn recall(&self, which: impl Fn(&OutcomeRow) -> bool) -> Part {
        let loops = self.rows.iter().filter(|row| row.is_loop() && which(row));
        loops.fold(Part::default(), |part, row| Part {
            hits: part.hits + u64::from(row.verdict == Verdict::Hit),
            of: part.of + 1,
        })
    }
}

/// Hits of loops.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Part {
    /// Loops that were found.
    pub(crate) hits: u64,
    /// Loops.
    pub(crate) of: u64,
}

impl Part {
    /// The share with Wilson's interval.
    pub(crate) fn share(self) -> Estimate {
        wilson(self.hits, self.of)
    }
}

/// The names of the buckets between these ends.
fn buckets(ends: [u64; 6]) -> Vec<String> {
    let first = format!("< {}", count(ends[0]));
    let between = ends.windows(2);
    let between = between.map(|two| format!("{}–{}", count(two[0]), count(two[1])));
    let last = format!("≥ {}", count(ends[5]));
    [first].into_iter().chain(between).chain([last]).collect()
}

/// The bucket of an onset: each has its lower end, and not its upper one.
fn bucket(ends: [u64; 6], onset: u64) -> usize {
    ends.partition_point(|end| *end <= onset)
}

/// A way to part the loops: its title, its parts' names, and which part a row belongs to.
pub(crate) struct Breakdown {
    /// `onset`, `kind` or `channel`.
    pub(crate) title: &'static str,
    /// Names of the parts.
    pub(crate) parts: Vec<String>,
    /// Index of a row's part.
    of: fn(&OutcomeRow, &[String]) -> Option<usize>,
}

impl Breakdown {
    /// By where the loop starts: in runs by calls or turns, whatever the unit of the figures.
    pub(crate) fn by_onset(data: &ReportData) -> Self {
        let in_run = |row: &OutcomeRow| matches!(row.channel.as_deref(), Some("tools" | "turns"));
        let looping = || data.outcomes.iter().filter(|row| row.is_loop());
        let of_runs = looping().any(in_run);
        Self {
            title: "onset",
            parts: buckets(onset_ends(if of_runs { Unit::Calls } else { Unit::Chars })),
            of: if of_runs {
                |row, _| Some(bucket(onset_ends(Unit::Calls), row.onset?))
            } else {
                |row, _| Some(bucket(onset_ends(Unit::Chars), row.onset?))
            },
        }
    }

    /// By the kinds that occur, in the order of the contract.
    pub(crate) fn by_kind(data: &ReportData) -> Self {
        let kinds = Kind::NAMES;
        let occurs = |kind: &&str| {
            data.outcomes
                .iter()
                .any(|row| row.is_loop() && row.kind.as_deref() == Some(kind))
        };
        let parts = kinds
            .iter()
            .filter(|kind| occurs(kind))
            .map(|kind| (*kind).to_owned())
            .collect();
        Self {
            title: "kind",
            parts,
            of: |row, parts| {
                parts
                    .iter()
                    .position(|part| Some(part.as_str()) == row.kind.as_deref())
            },
        }
    }

    /// By the channel of the loop.
    pub(crate) fn by_channel(data: &ReportData) -> Self {
        let looping = data.outcomes.iter().filter(|row| row.is_loop());
        let channels: BTreeSet<&str> = looping.filter_map(|row| row.channel.as_deref()).collect();
        Self {
            title: "channel",
            parts: channels.into_iter().map(str::to_owned).collect(),
            of: |row, parts| {
                let mut parts = parts.iter();
                parts.position(|part| Some(part.as_str()) == row.channel.as_deref())
            },
        }
    }

    /// Recall of a series in one part.
    pub(crate) fn recall(&self, series: &Series<'_>, part: usize) -> Part {
        series.recall(|row| (self.of)(row, &self.parts) == Some(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_touch_and_cover_everything() {
        let [chars, calls] = [Unit::Chars, Unit::Calls].map(onset_ends);
        let names = buckets(chars);
        assert_eq!(names[0], "< 500");
        assert_eq!(names[1], "500–1\u{202f}000");
        assert_eq!(names[6], "≥ 10\u{202f}000");
        assert_eq!(
            [0, 499, 500, 5000, 10_000, u64::MAX].map(|onset| bucket(chars, onset)),
            [0, 0, 1, 5, 6, 6]
        );
        assert!(buckets(calls).len() == names.len() && bucket(calls, 100) == 6);
    }
}
