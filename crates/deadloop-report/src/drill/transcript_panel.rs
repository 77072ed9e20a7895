//! An opened transcript, ready for the page.
//!
//! It has a strip with the alarm of every setting, and the command that explains it.

use super::calls;
use super::text::{self, TextView};
use crate::data::{ALL_MODELS, OutcomeRow, ReportData, Role, Verdict};
use crate::draw::elide;
use crate::numbers::{count, percent};
use crate::visible::visible;
use deadloop_score::measure::{ENDED, SAVED};
use deadloop_score::{Count, Group, OpenCase};
use serde::Serialize;

/// The maximum number of other guards that are named as a remedy.
const OTHERS: usize = 2;

/// An opened transcript, ready for the page.
#[derive(Debug, Clone, Serialize)]
pub(super) struct TranscriptPanel {
    id: String,
    /// The id in links.
    link: String,
    model: String,
    verdict: &'static str,
    kind: String,
    /// The size of the error, in words and as a number.
    badness: (String, u64),
    channel: String,
    length: String,
    /// The onset or the alarm, for sorting.
    onset: u64,
    /// The strip in words, for readers who do not see it.
    strip: String,
    /// The labelled span in thousandths of the strip: start and width.
    span: Option<(f64, f64)>,
    /// The checkpoints of the setting, in thousandths of the strip.
    checkpoints: Vec<f64>,
    ticks: Vec<Tick>,
    /// The settings without an alarm on the transcript.
    silent: Vec<String>,
    labels: Vec<String>,
    why: String,
    /// The verdict of the offline finder at a wrong alarm. Empty in other groups.
    looks_like: String,
    /// The changes that would help here.
    to_do: Vec<String>,
    /// The language tag.
    lang: Option<String>,
    parts: Vec<TextView>,
    /// The calls of an agent's run.
    calls: Option<calls::CallsView>,
    command: String,
}

/// An alarm on the strip.
#[derive(Debug, Clone, Serialize)]
struct Tick {
    at: f64,
    position: String,
    name: String,
    /// The name, shortened to fit beside others.
    brief: String,
    role: &'static str,
}

/// A transcript being prepared: its row under the setting in focus, and the length of its strip.
struct PanelDraft<'d> {
    data: &'d ReportData,
    row: &'d OutcomeRow,
    length: u64,
}

/// The room in pixels for a setting's name beside the others. The plane and the tables have it whole.
const NAME_ROOM: f64 = 320.0;

impl TranscriptPanel {
    /// Prepares a transcript with its rows under every setting. `None` if the setting in focus has no row.
    pub(super) fn new(data: &ReportData, one: &OpenCase, rows: &[&OutcomeRow]) -> Option<Self> {
        let is_asked = |row: &&&OutcomeRow| {
            let setting = data.settings.get(row.setting);
            setting.is_some_and(|setting| setting.id == one.setting)
        };
        let row: &OutcomeRow = rows.iter().find(is_asked)?;
        let length = row.length.unwrap_or(0).max(1);
        let view = PanelDraft { data, row, length };
        let kind = row.kind.clone().or(row.alarm_kind.clone());
        let shown = |text: &str| visible(text).into_owned();
        Some(Self {
            id: shown(&row.transcript),
            link: link(&row.transcript),
            model: shown(&row.model),
            verdict: row.verdict.name(),
            kind: kind.unwrap_or_default().to_string(),
            badness: badness(one.group, row),
            channel: row.channel.as_deref().unwrap_or_default().to_owned(),
            length: count(length),
            onset: row.onset.or(row.alarm_at).unwrap_or(0),
            strip: strip(row),
            span: view.span(),
            checkpoints: view.checkpoints(),
            ticks: view.ticks(rows),
            silent: view.names_without_alarm(rows),
            labels: one.labels.iter().map(|label| shown(label)).collect(),
            why: shown(&one.why),
            looks_like: shown(&one.looks_like),
            to_do: view.to_do(one, rows),
            lang: one.lang.as_deref().map(shown),
            parts: one.parts.iter().map(text::text_view).collect(),
            calls: view.calls(one),
            command: command(row),
        })
    }
}

impl PanelDraft<'_> {
    /// Converts a position to thousandths of the strip.
    fn place(&self, at: u64) -> f64 {
        (at.min(self.length) as f64 / self.length as f64 * 10_000.0).round() / 10.0
    }

    /// Returns whether the strip counts turns, as opposed to calls. `None` for text.
    fn of_run(&self) -> Option<bool> {
        match self.row.channel.as_deref() {
            Some("turns") => Some(true),
            Some("tools") => Some(false),
            _ => None,
        }
    }

    fn calls(&self, one: &OpenCase) -> Option<calls::CallsView> {
        let calls = one.calls.as_ref()?;
        let by_turns = self.of_run().unwrap_or(false);
        let length = if self.of_run().is_some() {
            self.length
        } else {
            calls.of
        };
        Some(calls::calls_view(calls, by_turns, length))
    }

    /// Returns the place of an alarm on the strip. On the strip of a run it is counted in calls or turns, whatever its
    /// channel.
    fn alarm_at(&self, row: &OutcomeRow) -> Option<u64> {
        let own = match self.of_run() {
            Some(true) => row.alarm_turns,
            Some(false) => row.alarm_calls,
            None => None,
        };
        own.filter(|_| row.alarm_at.is_some()).or(row.alarm_at)
    }

    fn span(&self) -> Option<(f64, f64)> {
        let from = self.place(self.row.onset?);
        let to = self.place(self.row.end.unwrap_or(self.length));
        Some((from, (to - from).max(1.0)))
    }

    fn checkpoints(&self) -> Vec<f64> {
        let all = checkpoints(self.data, self.row.setting).into_iter();
        all.filter(|at| *at < self.length)
            .map(|at| self.place(at))
            .collect()
    }

    /// Returns the alarms of all settings, from left to right.
    fn ticks(&self, rows: &[&OutcomeRow]) -> Vec<Tick> {
        let tick = |other: &&OutcomeRow| {
            let at = other.alarm_at?;
            let elsewhere = other.channel != self.row.channel;
            let of = if elsewhere { " in another channel" } else { "" };
            let name = self.name(other);
            Some(Tick {
                at: self.place(self.alarm_at(other)?),
                position: count(at) + of,
                brief: elide(&name, NAME_ROOM, 13.0),
                name,
                role: role(self.data, other, self.row),
            })
        };
        let mut ticks: Vec<Tick> = rows.iter().filter_map(tick).collect();
        ticks.sort_by(|a, b| a.at.total_cmp(&b.at).then_with(|| a.name.cmp(&b.name)));
        ticks
    }

    fn names_without_alarm(&self, rows: &[&OutcomeRow]) -> Vec<String> {
        let without = rows.iter().filter(|row| row.alarm_at.is_none());
        let names = without.map(|row| elide(&self.name(row), NAME_ROOM, 13.0));
        names.collect()
    }

    /// Returns the remedies that are known from the data: a label to review, the change that was tried, and the other
    /// named guards that judge the transcript right.
    fn to_do(&self, one: &OpenCase, rows: &[&OutcomeRow]) -> Vec<String> {
        let mut to_do = Vec::new();
        if one.unlabelled_loop {
            let label = "The label may lack a loop: deadloop label CORPUS --disputes . lists it for review.";
            to_do.push(label.to_owned());
        }
        to_do.extend((!one.remedy.is_empty()).then(|| visible(&one.remedy).into_owned()));
        let is_right = |row: &OutcomeRow| match one.group {
            Group::FalseAlarm => row.alarm_at.is_none() && row.verdict != Verdict::Error,
            Group::Miss => row.verdict == Verdict::Hit,
            Group::LateHit => row.latency < self.row.latency && row.verdict == Verdict::Hit,
            Group::Fired => false,
        };
        let role = |row: &OutcomeRow| self.data.settings.get(row.setting).map(|one| one.role);
        let right = rows.iter().filter(|row| is_right(row));
        let right = right.filter(|row| matches!(role(row), Some(Role::Named | Role::InUse)));
        let mut others: Vec<(f64, String)> = right.filter_map(|row| self.compare(row)).collect();
        others.sort_by(|a, b| b.0.total_cmp(&a.0));
        to_do.extend(
            others
                .into_iter()
                .take(OTHERS)
                .map(|(_, sentence)| sentence),
        );
        to_do
    }

    /// Describes the outcome of another setting here and on all transcripts. Returns its objective too, for sorting.
    fn compare(&self, other: &OutcomeRow) -> Option<(f64, String)> {
        let total = |setting: usize| self.data.score(setting, ALL_MODELS);
        let (now, then) = (total(self.row.setting)?, total(other.setting)?);
        let both = |write: fn(Option<f64>) -> String, measure| {
            format!(
                "{} → {}",
                write(now.value(measure)),
                write(then.value(measure))
            )
        };
        let [now_tally, then_tally] = [now, then].map(|score| &score.scores.tally);
        let stops = [now_tally, then_tally].map(|tally| tally.get(Count::TransientStop));
        let here = match other.alarm_at {
            Some(at) => format!("finds it at {}", count(at)),
            None => "lets it pass".to_owned(),
        };
        let sentence = format!(
            "{} {here}. On all transcripts: wrong alarms {} → {}, transient stops {} → {}, ended {}, saved {}.",
            self.name(other),
            now_tally.wrong(),
            then_tally.wrong(),
            stops[0],
            stops[1],
            both(percent, &ENDED),
            both(percent, &SAVED)
        );
        Some((self.data.run.objective.merit(then)?, sentence))
    }

    fn name(&self, row: &OutcomeRow) -> String {
        let (data, this) = (self.data, Some(row.setting));
        if data.ships() && data.held_for(&self.row.model) == this || data.chosen() == this {
            "settings.toml".to_owned()
        } else {
            visible(&data.describe(row.setting)).into_owned()
        }
    }
}

/// Describes the strip in words.
fn strip(row: &OutcomeRow) -> String {
    let onset = row.onset.map(|at| format!("onset {}", count(at)));
    let alarm = row.alarm_at.map_or_else(
        || "no alarm".to_owned(),
        |at| format!("alarm {}", count(at)),
    );
    let length = format!("length {}", count(row.length.unwrap_or(0)));
    let parts: Vec<String> = onset.into_iter().chain([alarm, length]).collect();
    parts.join(", ")
}

fn role(data: &ReportData, other: &OutcomeRow, focus: &OutcomeRow) -> &'static str {
    match data.settings.get(other.setting).map(|setting| setting.role) {
        _ if other.setting == focus.setting => "focus",
        Some(Role::InUse) => "current",
        _ => "",
    }
}

fn badness(group: Group, row: &OutcomeRow) -> (String, u64) {
    let number = match group {
        Group::FalseAlarm => row.lost.unwrap_or(0),
        Group::LateHit => row.latency.unwrap_or(0.0) as u64,
        Group::Fired => row.alarm_at.unwrap_or(0),
        Group::Miss => {
            let end = row.end.or(row.length).unwrap_or(0);
            end.saturating_sub(row.onset.unwrap_or(end))
        }
    };
    let what = match group {
        Group::FalseAlarm => "lost",
        Group::Miss => "wasted",
        Group::LateHit => "late by",
        Group::Fired => "cut at",
    };
    (format!("{what} {}", count(number)), number)
}

/// Returns the checkpoints among the values of a setting.
fn checkpoints(data: &ReportData, setting: usize) -> Vec<u64> {
    let Some(setting) = data.settings.get(setting) else {
        return Vec::new();
    };
    let members = setting.guard().into_iter().flat_map(|guard| &guard.members);
    let lists = members.filter_map(|member| member.params.get("checkpoints"));
    let text: String = lists.map(ToString::to_string).collect();
    text.split(|c: char| !c.is_ascii_digit())
        .filter_map(|digits| digits.parse().ok())
        .collect()
}

/// Encodes an id for a link: letters, digits and `-_.~` as they are, every other byte as `%` and hex.
pub(super) fn link(id: &str) -> String {
    let byte = |b: u8| match b {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(b).into(),
        b => format!("%{b:02X}"),
    };
    id.bytes().map(byte).collect::<String>()
}

/// Returns the command that explains the transcript, for the folder of the page. The manifest there has the corpus and
/// the settings.
fn command(row: &OutcomeRow) -> String {
    format!("deadloop explain . {}", quote(&visible(&row.transcript)))
}

/// Quotes a word for a POSIX shell.
fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_hold_nothing_that_markup_knows() {
        assert_eq!(link("a/b <想>"), "a%2Fb%20%3C%E6%83%B3%3E");
    }
}
