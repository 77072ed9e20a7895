//! [`TranscriptPanel`]: an opened transcript, prepared for the page.
//!
//! The panel has a strip with the alarm of every setting, and the command that explains the transcript.

use super::calls;
use super::text::{self, TextView};
use crate::data::{ALL_MODELS, OutcomeRow, ReportData, Role, Verdict};
use crate::draw::elide;
use crate::numbers::{count, percent};
use crate::visible::visible;
use deadloop_score::measure::{ENDED, SAVED};
use deadloop_score::{Count, Group, OpenCase};
use serde::Serialize;

/// The maximum number of other guards that are suggested as a remedy.
const MAX_REMEDY_GUARDS: usize = 2;

/// An opened transcript, prepared for the page.
#[derive(Debug, Clone, Serialize)]
pub(super) struct TranscriptPanel {
    id: String,
    /// The id, encoded for links.
    link: String,
    model: String,
    verdict: &'static str,
    kind: String,
    /// The size of the error, in words and as a number of units.
    badness: (String, u64),
    channel: String,
    length: String,
    /// The position of the onset, or else of the alarm, for sorting.
    onset: u64,
    /// A description of the strip, for readers who do not see it.
    strip: String,
    /// The start and the width of the labelled span, in thousandths of the strip.
    span: Option<(f64, f64)>,
    /// The positions of the setting's checkpoints, in thousandths of the strip.
    checkpoints: Vec<f64>,
    ticks: Vec<Tick>,
    /// The names of the settings without an alarm on the transcript.
    silent: Vec<String>,
    labels: Vec<String>,
    why: String,
    /// The verdict of the offline finder on a wrong alarm. Empty in other groups.
    looks_like: String,
    /// The remedies to try on this transcript.
    to_do: Vec<String>,
    /// The language tag of the transcript.
    lang: Option<String>,
    parts: Vec<TextView>,
    /// The calls of an agent's run.
    calls: Option<calls::CallsView>,
    command: String,
}

/// The alarm of a setting on the strip.
#[derive(Debug, Clone, Serialize)]
struct Tick {
    at: f64,
    position: String,
    name: String,
    /// The name of the setting, shortened to fit beside others.
    brief: String,
    role: &'static str,
}

/// A transcript whose panel is being prepared.
struct PanelDraft<'d> {
    data: &'d ReportData,
    /// The outcome under the setting in focus.
    row: &'d OutcomeRow,
    /// The length of the strip, in the unit of its channel.
    length: u64,
}

/// The room for a setting's name beside others, in pixels.
const NAME_ROOM_PIXELS: f64 = 320.0;

impl TranscriptPanel {
    /// Prepares the panel of a transcript from its rows under every setting. `None` if the setting in focus has no row.
    pub(super) fn new(data: &ReportData, one: &OpenCase, rows: &[&OutcomeRow]) -> Option<Self> {
        let is_in_focus = |row: &&&OutcomeRow| {
            let setting = data.settings.get(row.setting);
            setting.is_some_and(|setting| setting.id == one.setting)
        };
        let row: &OutcomeRow = rows.iter().find(is_in_focus)?;
        let length = row.length.unwrap_or(0).max(1);
        let view = PanelDraft { data, row, length };
        let kind = row.kind.clone().or(row.alarm_kind.clone());
        let escape = |text: &str| visible(text).into_owned();
        Some(Self {
            id: escape(&row.transcript),
            link: encode_link(&row.transcript),
            model: escape(&row.model),
            verdict: row.verdict.name(),
            kind: kind.unwrap_or_default().to_string(),
            badness: error_size(one.group, row),
            channel: row.channel.as_deref().unwrap_or_default().to_owned(),
            length: count(length),
            onset: row.onset.or(row.alarm_at).unwrap_or(0),
            strip: describe_strip(row),
            span: view.span_on_strip(),
            checkpoints: view.checkpoints_on_strip(),
            ticks: view.ticks(rows),
            silent: view.names_without_alarm(rows),
            labels: one.labels.iter().map(|label| escape(label)).collect(),
            why: escape(&one.why),
            looks_like: escape(&one.looks_like),
            to_do: view.remedies(one, rows),
            lang: one.lang.as_deref().map(escape),
            parts: one.parts.iter().map(text::text_view).collect(),
            calls: view.calls_view(one),
            command: explain_command(row),
        })
    }
}

impl PanelDraft<'_> {
    /// Converts a position to thousandths of the strip.
    fn thousandths(&self, at: u64) -> f64 {
        (at.min(self.length) as f64 / self.length as f64 * 10_000.0).round() / 10.0
    }

    /// Returns whether the strip counts turns or, if `false`, calls. `None` for text.
    fn counts_turns(&self) -> Option<bool> {
        match self.row.channel.as_deref() {
            Some("turns") => Some(true),
            Some("tools") => Some(false),
            _ => None,
        }
    }

    fn calls_view(&self, one: &OpenCase) -> Option<calls::CallsView> {
        let calls = one.calls.as_ref()?;
        let by_turns = self.counts_turns().unwrap_or(false);
        let length = if self.counts_turns().is_some() {
            self.length
        } else {
            calls.of
        };
        Some(calls::calls_view(calls, by_turns, length))
    }

    /// Returns the position of an alarm on the strip. On the strip of a run it is a number of calls or turns, whatever
    /// the alarm's channel.
    fn alarm_at(&self, row: &OutcomeRow) -> Option<u64> {
        let own = match self.counts_turns() {
            Some(true) => row.alarm_turns,
            Some(false) => row.alarm_calls,
            None => None,
        };
        own.filter(|_| row.alarm_at.is_some()).or(row.alarm_at)
    }

    fn span_on_strip(&self) -> Option<(f64, f64)> {
        let from = self.thousandths(self.row.onset?);
        let to = self.thousandths(self.row.end.unwrap_or(self.length));
        Some((from, (to - from).max(1.0)))
    }

    fn checkpoints_on_strip(&self) -> Vec<f64> {
        let all = setting_checkpoints(self.data, self.row.setting).into_iter();
        all.filter(|at| *at < self.length)
            .map(|at| self.thousandths(at))
            .collect()
    }

    /// Returns the alarms of all settings, from left to right.
    fn ticks(&self, rows: &[&OutcomeRow]) -> Vec<Tick> {
        let tick = |other: &&OutcomeRow| {
            let at = other.alarm_at?;
            let is_here = other.channel == self.row.channel;
            let suffix = if is_here { "" } else { " in another channel" };
            let name = self.name_of(other);
            Some(Tick {
                at: self.thousandths(self.alarm_at(other)?),
                position: count(at) + suffix,
                brief: elide(&name, NAME_ROOM_PIXELS, 13.0),
                name,
                role: role_of(self.data, other, self.row),
            })
        };
        let mut ticks: Vec<Tick> = rows.iter().filter_map(tick).collect();
        ticks.sort_by(|a, b| a.at.total_cmp(&b.at).then_with(|| a.name.cmp(&b.name)));
        ticks
    }

    fn names_without_alarm(&self, rows: &[&OutcomeRow]) -> Vec<String> {
        let without = rows.iter().filter(|row| row.alarm_at.is_none());
        let names = without.map(|row| elide(&self.name_of(row), NAME_ROOM_PIXELS, 13.0));
        names.collect()
    }

    /// Returns the remedies that the data suggests: a label to review, the tried change, and other named guards with a
    /// right verdict.
    fn remedies(&self, one: &OpenCase, rows: &[&OutcomeRow]) -> Vec<String> {
        let mut to_do = Vec::new();
        if one.unlabelled_loop {
            let command = "deadloop label CORPUS --disputes . --review";
            to_do.push(format!("The label may lack a loop: {command}"));
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
        let others = others.into_iter().take(MAX_REMEDY_GUARDS);
        to_do.extend(others.map(|(_, sentence)| sentence));
        to_do
    }

    /// Compares another setting with the one in focus, here and on all transcripts. Returns its objective, for sorting,
    /// and a sentence.
    fn compare(&self, other: &OutcomeRow) -> Option<(f64, String)> {
        let total = |setting: usize| self.data.score(setting, ALL_MODELS);
        let (now, then) = (total(self.row.setting)?, total(other.setting)?);
        let change = |write: fn(Option<f64>) -> String, measure| {
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
            self.name_of(other),
            now_tally.wrong(),
            then_tally.wrong(),
            stops[0],
            stops[1],
            change(percent, &ENDED),
            change(percent, &SAVED)
        );
        Some((self.data.run.objective.merit(then)?, sentence))
    }

    fn name_of(&self, row: &OutcomeRow) -> String {
        let (data, this) = (self.data, Some(row.setting));
        if data.ships() && data.held_for(&self.row.model) == this || data.chosen() == this {
            "settings.toml".to_owned()
        } else {
            visible(&data.describe(row.setting)).into_owned()
        }
    }
}

/// Describes the strip in words.
fn describe_strip(row: &OutcomeRow) -> String {
    let onset = row.onset.map(|at| format!("onset {}", count(at)));
    let alarm = row.alarm_at.map_or_else(
        || "no alarm".to_owned(),
        |at| format!("alarm {}", count(at)),
    );
    let length = format!("length {}", count(row.length.unwrap_or(0)));
    let parts: Vec<String> = onset.into_iter().chain([alarm, length]).collect();
    parts.join(", ")
}

fn role_of(data: &ReportData, other: &OutcomeRow, focus: &OutcomeRow) -> &'static str {
    match data.settings.get(other.setting).map(|setting| setting.role) {
        _ if other.setting == focus.setting => "focus",
        Some(Role::InUse) => "current",
        _ => "",
    }
}

/// Returns the size of an error, in words and as a number of units.
fn error_size(group: Group, row: &OutcomeRow) -> (String, u64) {
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

/// Returns the checkpoints in the parameters of a setting.
fn setting_checkpoints(data: &ReportData, setting: usize) -> Vec<u64> {
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

/// Percent-encodes an id for a link, except letters, digits and `-_.~`.
pub(super) fn encode_link(id: &str) -> String {
    let byte = |b: u8| match b {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(b).into(),
        b => format!("%{b:02X}"),
    };
    id.bytes().map(byte).collect::<String>()
}

/// Returns the command that explains the transcript, to be run in the folder of the page.
///
/// The manifest there has the corpus and the settings.
fn explain_command(row: &OutcomeRow) -> String {
    format!("deadloop explain . {}", quote(&visible(&row.transcript)))
}

/// Quotes a word for a POSIX shell, if it needs quotes.
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
        assert_eq!(encode_link("a/b <想>"), "a%2Fb%20%3C%E6%83%B3%3E");
    }
}
