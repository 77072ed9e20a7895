//! The transcripts that a report opens, as the page shows them: a strip of time, the alarm of every setting, the text
//! with its copies in two tints, and the command that explains it.

use crate::data::{Outcome, ReportData, Role};
use crate::numbers::count;
use crate::visible::{in_lines, visible};
use deadloop_score::{Group, Opened, Part, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;

/// The transcripts of one group.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Drill {
    /// `false-alarm`, `miss`, `late-hit`, `fired`.
    name: &'static str,
    title: &'static str,
    note: String,
    opened: Vec<Open>,
}

/// One transcript.
#[derive(Debug, Clone, Serialize)]
struct Open {
    id: String,
    /// As it is called in links.
    link: String,
    model: String,
    verdict: &'static str,
    kind: String,
    /// How bad it is, in words and as a number.
    badness: (String, u64),
    channel: String,
    length: String,
    /// Where the loop begins, or the alarm came; to sort by.
    onset: u64,
    /// What the strip shows, for those who do not see it.
    strip: String,
    /// The labelled span, in thousandths of the strip: from, how wide.
    span: Option<(f64, f64)>,
    /// Checkpoints of the setting.
    checkpoints: Vec<f64>,
    ticks: Vec<Tick>,
    /// Settings that never alarm on it.
    silent: Vec<String>,
    labels: Vec<String>,
    why: String,
    parts: Vec<Shown>,
    command: String,
}

/// An alarm on the strip.
#[derive(Debug, Clone, Serialize)]
struct Tick {
    at: f64,
    position: String,
    name: String,
    role: &'static str,
}

/// A part of the text.
#[derive(Debug, Clone, Serialize)]
struct Shown {
    place: String,
    runs: Vec<Run>,
}

/// Text that looks alike.
#[derive(Debug, Clone, Default, Serialize)]
struct Run {
    /// What is pointed at before it.
    pins: Vec<String>,
    /// `a`, `b` for copies in turn, or nothing.
    tint: &'static str,
    text: String,
}

/// Every group that has a transcript.
pub(crate) fn drill(data: &ReportData) -> Vec<Drill> {
    let Some((head, opened)) = &data.opened else {
        return Vec::new();
    };
    let mut rows: BTreeMap<&str, Vec<&Outcome>> = opened
        .iter()
        .map(|one| (one.transcript.as_str(), Vec::new()))
        .collect();
    for row in &data.outcomes {
        if let Some(list) = rows.get_mut(row.transcript.as_str()) {
            list.push(row);
        }
    }
    let of_group = |group: Group| {
        let opened: Vec<Open> = opened
            .iter()
            .filter(|one| one.group == group)
            .filter_map(|one| open(data, one, rows.get(one.transcript.as_str())?))
            .collect();
        let (name, title, reading) = words(group);
        let all = head.all.get(&group).copied().unwrap_or(0);
        let shown = opened.len() as u64;
        let rest = match all.saturating_sub(shown) {
            0 => format!("All {} are here.", count(all)),
            rest => format!(
                "The {} worst of {} are here; the other {} are in outcomes.parquet.",
                count(shown),
                count(all),
                count(rest)
            ),
        };
        (!opened.is_empty()).then_some(Drill {
            name,
            title,
            note: format!("{reading} {rest}"),
            opened,
        })
    };
    Group::ALL.into_iter().filter_map(of_group).collect()
}

/// What was left out of the texts, in a sentence.
pub(crate) fn texts_note(data: &ReportData) -> Option<String> {
    let (head, _) = data.opened.as_ref()?;
    match (head.texts, head.without_text) {
        (false, _) => {
            Some("The run was told to keep no text of the transcripts (--no-excerpts).".into())
        }
        (true, 0) => None,
        (true, n) => Some(format!(
            "The text of {} of them was left out to bound the size of this page.",
            count(n)
        )),
    }
}

fn words(group: Group) -> (&'static str, &'static str, &'static str) {
    match group {
        Group::FalseAlarm => (
            "false-alarm",
            "False alarms",
            "Healthy text that was cut, the most of it first.",
        ),
        Group::Miss => (
            "miss",
            "Worst misses",
            "Loops that were not stopped in time, those that ran on the longest first.",
        ),
        Group::LateHit => (
            "late-hit",
            "Latest hits",
            "Loops that were found, the slowest first.",
        ),
        Group::Fired => (
            "fired",
            "What would have fired",
            "Transcripts without a label that would have been cut; whether rightly, only a label can tell.",
        ),
    }
}

fn open(data: &ReportData, one: &Opened, rows: &[&Outcome]) -> Option<Open> {
    let id = |row: &&&Outcome| {
        data.settings
            .get(row.setting)
            .is_some_and(|s| s.id == one.setting)
    };
    let row = rows.iter().find(id)?;
    let length = row.length.unwrap_or(0).max(1);
    let place = |at: u64| (at.min(length) as f64 / length as f64 * 10_000.0).round() / 10.0;
    let (alarmed, silent): (Vec<&&Outcome>, Vec<&&Outcome>) =
        rows.iter().partition(|row| row.alarm_at.is_some());
    let chosen = data.chosen_for(&row.model);
    let name = |row: &Outcome| match chosen == Some(row.setting) {
        true => "chosen".to_owned(),
        false => visible(&data.describe(row.setting)).into_owned(),
    };
    let mut ticks: Vec<Tick> = alarmed
        .iter()
        .map(|other| {
            let at = other.alarm_at.unwrap_or(0);
            let elsewhere = other.channel != row.channel;
            let of = if elsewhere { " in another channel" } else { "" };
            Tick {
                at: place(at),
                position: count(at) + of,
                name: name(other),
                role: role(data, other, row),
            }
        })
        .collect();
    ticks.sort_by(|a, b| a.at.total_cmp(&b.at).then_with(|| a.name.cmp(&b.name)));
    let span = row.onset.map(|onset| {
        let end = row.end.unwrap_or(length);
        (place(onset), (place(end) - place(onset)).max(1.0))
    });
    Some(Open {
        id: visible(&row.transcript).into_owned(),
        link: link(&row.transcript),
        model: visible(&row.model).into_owned(),
        verdict: row.verdict.name(),
        kind: row
            .kind
            .clone()
            .or(row.alarm_kind.clone())
            .unwrap_or_default(),
        badness: badness(one.group, row),
        channel: row.channel.clone().unwrap_or_default(),
        length: count(length),
        onset: row.onset.or(row.alarm_at).unwrap_or(0),
        strip: strip(row),
        span,
        checkpoints: checkpoints(data, row.setting)
            .into_iter()
            .filter(|at| *at < length)
            .map(place)
            .collect(),
        ticks,
        silent: silent.iter().map(|row| name(row)).collect(),
        labels: one
            .labels
            .iter()
            .map(|label| visible(label).into_owned())
            .collect(),
        why: visible(&one.why).into_owned(),
        parts: one.parts.iter().map(shown).collect(),
        command: command(data, row),
    })
}

/// The strip in words.
fn strip(row: &Outcome) -> String {
    let onset = row.onset.map(|at| format!("onset {}", count(at)));
    let alarm = row.alarm_at.map_or_else(
        || "no alarm".to_owned(),
        |at| format!("alarm {}", count(at)),
    );
    let length = format!("length {}", count(row.length.unwrap_or(0)));
    let parts: Vec<String> = onset.into_iter().chain([alarm, length]).collect();
    parts.join(", ")
}

fn role(data: &ReportData, other: &Outcome, focus: &Outcome) -> &'static str {
    match data.settings.get(other.setting).map(|setting| setting.role) {
        _ if other.setting == focus.setting => "focus",
        Some(Role::Current) => "current",
        _ => "",
    }
}

fn badness(group: Group, row: &Outcome) -> (String, u64) {
    let number = match group {
        Group::FalseAlarm => row.lost.unwrap_or(0),
        Group::LateHit => row.latency.unwrap_or(0.0) as u64,
        Group::Fired => row.alarm_at.unwrap_or(0),
        Group::Miss => {
            let end = row.alarm_at.filter(|_| row.verdict == Verdict::Late);
            let end = end.or(row.end).or(row.length).unwrap_or(0);
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

/// The checkpoints among the values of a setting.
fn checkpoints(data: &ReportData, setting: usize) -> Vec<u64> {
    let Some(setting) = data.settings.get(setting) else {
        return Vec::new();
    };
    let named = data.parameters.iter().zip(&setting.params);
    let lists = named.filter(|(name, _)| name.ends_with(".checkpoints"));
    let text: String = lists.filter_map(|(_, value)| value.clone()).collect();
    text.split(|c: char| !c.is_ascii_digit())
        .filter_map(|digits| digits.parse().ok())
        .collect()
}

/// An id as it stands in a link: letters, digits and a few more, all else as `%` and its bytes.
pub(crate) fn link(id: &str) -> String {
    let byte = |b: u8| match b {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(b).into(),
        b => format!("%{b:02X}"),
    };
    id.bytes().map(byte).collect::<String>()
}

/// What explains it, ready to be copied where the corpus and the settings lie.
fn command(data: &ReportData, row: &Outcome) -> String {
    let quoted = |text: &str| format!("'{}'", visible(text).replace('\'', "'\\''"));
    let label = data.settings.get(row.setting).and_then(|s| s.label.clone());
    let settings = match (data.settings_toml.is_some(), label.as_deref()) {
        (true, _) => " --settings settings.toml".to_owned(),
        (false, None | Some("recommended" | "current")) => String::new(),
        (false, Some(label)) => format!(" --settings {}", quoted(&format!("{label}.toml"))),
    };
    let corpus = quoted(&data.run.corpus_file);
    format!(
        "deadloop explain {corpus} {}{settings}",
        quoted(&row.transcript)
    )
}

/// A part of the text, cut where something begins or ends.
fn shown(part: &Part) -> Shown {
    let mut runs: Vec<Run> = Vec::new();
    let mut copy = 0;
    for (at, c) in (part.from..).zip(part.text.chars()) {
        while part.copies.get(copy).is_some_and(|range| range[1] <= at) {
            copy += 1;
        }
        let inside = part.copies.get(copy).is_some_and(|range| range[0] <= at);
        let tint = match (inside, copy % 2) {
            (false, _) => "",
            (true, 0) => "a",
            (true, _) => "b",
        };
        let here = part.marks.iter().filter(|mark| mark.0 == at);
        let pins: Vec<String> = here
            .map(|(_, position, what)| format!("{what} {}", count(*position)))
            .collect();
        let starts = part.copies.get(copy).is_some_and(|range| range[0] == at);
        match runs
            .last_mut()
            .filter(|run| run.tint == tint && pins.is_empty() && !starts)
        {
            Some(run) => run.text.push_str(&in_lines(c)),
            None => runs.push(Run {
                pins,
                tint,
                text: in_lines(c).into_owned(),
            }),
        }
    }
    let end = part.from + part.text.chars().count() as u64;
    Shown {
        place: format!(
            "{}, chars {} to {} of {}",
            part.channel,
            count(part.from),
            count(end),
            count(part.of)
        ),
        runs,
    }
}

/// Hides what transcripts say: letters become `x`, digits `0`; white space, punctuation and the copies stay.
pub(crate) fn redact(data: &mut ReportData) {
    data.redacted = true;
    let Some((_, opened)) = &mut data.opened else {
        return;
    };
    let hidden = |c: char| match c {
        c if c.is_numeric() => '0',
        c if c.is_uppercase() => 'X',
        c if c.is_alphabetic() => 'x',
        c => c,
    };
    for part in opened.iter_mut().flat_map(|one| &mut one.parts) {
        part.text = part.text.chars().map(hidden).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(text: &str) -> Part {
        Part {
            channel: "answer".into(),
            from: 10,
            of: 99,
            text: text.into(),
            copies: vec![[11, 13], [13, 15]],
            marks: vec![(13, 14, "second copy".into())],
        }
    }

    #[test]
    fn copies_alternate_and_pins_stand_before_their_char() {
        let shown = shown(&part("xababy\u{202e}"));
        let runs: Vec<(&str, &str, usize)> = shown
            .runs
            .iter()
            .map(|run| (run.tint, run.text.as_str(), run.pins.len()))
            .collect();
        assert_eq!(
            runs,
            [
                ("", "x", 0),
                ("a", "ab", 0),
                ("b", "ab", 1),
                ("", "y\\u{202e}", 0)
            ]
        );
        assert_eq!(shown.place, "answer, chars 10 to 17 of 99");
    }

    #[test]
    fn redaction_keeps_the_structure() {
        let mut data = ReportData::default();
        let opened = Opened {
            transcript: "t".into(),
            group: Group::Miss,
            setting: String::new(),
            labels: Vec::new(),
            why: String::new(),
            parts: vec![part("1. Ab想, cd\n")],
        };
        data.opened = Some((Default::default(), vec![opened]));
        redact(&mut data);
        assert_eq!(data.opened.unwrap().1[0].parts[0].text, "0. Xxx, xx\n");
    }

    #[test]
    fn links_hold_nothing_that_markup_knows() {
        assert_eq!(link("a/b <想>"), "a%2Fb%20%3C%E6%83%B3%3E");
    }
}
