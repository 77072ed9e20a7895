//! Formats an explanation as text and tables.

use std::fmt::Write as _;

use deadloop_detect::{Chars, Value};
use deadloop_score::Verdict;

use super::paint::{Paint, render};
use super::{
    ExplainedAlarm, ExplainedReading, ExplainedSetting, ExplainedTranscript, Explanation,
    FactSight, MemberReadings, NO_GUARD, ThresholdGap,
};
use crate::layout;
use crate::visible::{quoted, visible};
use crate::words::count;

/// The maximum number of chars of a repeated unit in a table.
const MAX_UNIT_CHARS: usize = 24;

/// Formats the whole explanation.
pub(super) fn format_explanation(explained: &Explanation, paint: Paint) -> String {
    let mut parts = vec![format_head(explained, paint)];
    if let Some(first) = explained.settings.first() {
        parts.extend(first.members.iter().map(|m| format_member(first, m, paint)));
        parts.extend(first.members.is_empty().then(|| NO_GUARD.into()));
    }
    if explained.settings.len() > 1 {
        parts.push(format_others(explained, paint));
    }
    for excerpt in &explained.text {
        let (from, of) = (excerpt.from, count(excerpt.of));
        let to = count(from + Chars::count(&excerpt.text).0);
        let what = format!("{}, chars {} to {to} of {of}", excerpt.channel, count(from));
        parts.push(format!("{what}\n{}", render(excerpt, paint).trim_end()));
    }
    parts.join("\n\n")
}

fn format_head(explained: &Explanation, paint: Paint) -> String {
    let mut rows = transcript_rows(&explained.transcript);
    if let Some(first) = explained.settings.first() {
        rows.extend(outcome_rows(first));
    }
    let rows: Vec<Vec<String>> = rows.into_iter().map(|(a, b)| vec![a.into(), b]).collect();
    table(
        &["transcript", &visible(&explained.transcript.id)],
        &rows,
        paint,
    )
}

/// Formats a table of text columns in the width of `paint`.
fn table(header: &[&str], rows: &[Vec<String>], paint: Paint) -> String {
    layout::table(header, rows, &(0..0), paint.width)
}

/// Formats a table with one row for each setting: its alarm, or its nearest miss.
fn format_others(explained: &Explanation, paint: Paint) -> String {
    let row = |setting: &ExplainedSetting| {
        let fires = setting.alarm.as_ref().map(|a| count(a.exact.count()));
        vec![
            visible(&setting.name),
            setting.verdict.into(),
            fires.unwrap_or_else(|| "never".into()),
            setting.describe(),
        ]
    };
    let rows: Vec<Vec<String>> = explained.settings.iter().map(row).collect();
    table(
        &["setting", "verdict", "fires at", "why, or how near it came"],
        &rows,
        paint,
    )
}

fn transcript_rows(head: &ExplainedTranscript) -> Vec<(&'static str, String)> {
    let (reasoning, answer) = (count(head.chars.reasoning.0), count(head.chars.answer.0));
    let mut rows = vec![
        ("model", visible(&head.model)),
        ("chars", format!("reasoning {reasoning}, answer {answer}")),
    ];
    if head.chars.tools.0 > 0 {
        let (calls, turns) = (count(head.chars.tools.0), count(head.chars.turns.0));
        rows.push(("run", format!("calls {calls}, turns {turns}")));
    }
    if let Some(equal) = &head.equal_calls {
        let shown = |word: &String| match word.as_str() {
            "" => "(the end)".to_owned(),
            word => visible(word),
        };
        let results = equal.differ.as_ref().map_or_else(
            || "with equal results".to_owned(),
            |[a, b]| format!("whose results differ first in: {} / {}", shown(a), shown(b)),
        );
        let [times, first] = [equal.count, equal.first].map(|n| count(n as u64));
        let tool = visible(&equal.tool);
        let words = format!("{times} of {tool} in a row from call {first}, {results}");
        rows.push(("equal calls", words));
    }
    match (head.class, &head.labels[..]) {
        (None, _) => rows.push(("label", "none".into())),
        (Some(class), []) => rows.push(("label", class.name().into())),
        (_, labels) => rows.extend(labels.iter().map(|l| ("label", l.words()))),
    }
    rows
}

fn outcome_rows(setting: &ExplainedSetting) -> Vec<(&'static str, String)> {
    let mut rows = vec![
        (
            "setting",
            format!("{} ({})", visible(&setting.name), setting.setting),
        ),
        ("verdict", format_verdict(setting)),
    ];
    if let Some(alarm) = &setting.alarm {
        let (exact, delivered) = (count(alarm.exact.count()), count(alarm.delivered.count()));
        let mut words = format!(
            "{} in {}, after {exact} {}, by {}",
            alarm.kind,
            alarm.channel,
            alarm.exact.unit(),
            alarm.member
        );
        if alarm.exact != alarm.delivered {
            // Writing into a String cannot fail.
            let _ = write!(words, "; delivered with char {delivered}");
        }
        rows.push(("alarm", words));
    }
    rows
}

fn format_verdict(setting: &ExplainedSetting) -> String {
    let mut words = setting.verdict.to_owned();
    if let Some(error) = &setting.error {
        return format!("{words}: {}", visible(error));
    }
    if setting.verdict == Verdict::TransientStop.name() {
        words += " (the transcript has repetitions that end by themselves)";
    }
    let Some(latency) = setting.latency else {
        return words;
    };
    // Writing into a String cannot fail.
    let unit = setting.unit;
    let _ = write!(words, ", {} {unit} after the onset", count(latency));
    if let Some(copies) = setting.latency_copies {
        let _ = write!(words, ", {copies:.1} copies");
    }
    if let Some(ms) = setting.latency_ms {
        let _ = write!(words, ", {ms:.0} ms");
    }
    if let Some(tokens) = setting.latency_tokens {
        let _ = write!(words, ", {} tokens", count(tokens));
    }
    words
}

/// Formats a member and its readings.
fn format_member(setting: &ExplainedSetting, member: &MemberReadings, paint: Paint) -> String {
    if member.program {
        let own = setting
            .alarm
            .as_ref()
            .filter(|alarm| alarm.member == member.member);
        let says = own.and_then(|alarm| alarm.detail.as_deref());
        let says = says.map_or(String::new(), |detail| {
            format!("; it says \"{}\"", visible(detail))
        });
        return format!(
            "{} is a program: nothing is known of it but its verdict{says}",
            member.member
        );
    }
    let param = |(name, value): &(&str, Value)| format!("{name} {}", visible(&value.to_string()));
    let with: Vec<String> = member.measured_with.iter().map(param).collect();
    let mut parts = vec![if with.is_empty() {
        member.member.clone()
    } else {
        format!("{}, with {}", member.member, with.join(", "))
    }];
    let readings = member.readings.iter();
    parts.extend(readings.map(|reading| format_reading(setting, member, reading, paint)));
    if member.readings.is_empty() {
        parts.push("  has no text to read".into());
    }
    parts.join("\n")
}

fn format_reading(
    setting: &ExplainedSetting,
    member: &MemberReadings,
    reading: &ExplainedReading,
    paint: Paint,
) -> String {
    let is_own = |a: &&ExplainedAlarm| a.member == member.member && a.channel == reading.channel;
    let own = setting.alarm.as_ref().filter(is_own).is_some();
    let fires = match reading.fires_at.map(|at| count(at.count())) {
        Some(at) if own => format!("fires at {at}: the alarm"),
        Some(at) => format!("would fire at {at}, had the alarm not come first"),
        None => match &reading.hidden {
            Some(hidden) => format!(
                "misses a loop: the checkpoint at {} cuts the last element, which differs from the one a period before; \
                 without it (partial_tail = \"drop\"):",
                count(hidden.position.count())
            ),
            None if reading.facts.is_empty() => "saw nothing that comes near a loop".into(),
            None => "does not fire".into(),
        },
    };
    let mut text = format!("  in {}: {fires}", reading.channel);
    let facts = reading.hidden.iter().chain(&reading.facts);
    let rows: Vec<Vec<String>> = facts.map(fact_row).collect();
    if !rows.is_empty() {
        let header = [
            "    at",
            "check",
            "copies",
            "period",
            "2nd copy",
            "thresholds",
            "unit",
        ];
        text = format!("{text}\n{}", table(&header, &rows, paint));
    }
    text
}

fn fact_row(sight: &FactSight) -> Vec<String> {
    vec![
        format!("    {}", count(sight.position.count())),
        if sight.kind.name() == sight.check {
            sight.check.into()
        } else {
            format!("{}, {}", sight.check, sight.kind)
        },
        format_count(sight.copies.unsigned_abs()),
        format_count(sight.period.count()),
        count(sight.onset.count()),
        sight.describe_thresholds(ThresholdGap::words),
        quoted(&sight.unit, MAX_UNIT_CHARS),
    ]
}

/// Formats a count, or `-` for 0. A check that does not look for exact copies leaves the count at 0, which means
/// unknown.
fn format_count(n: u64) -> String {
    if n == 0 { "-".into() } else { count(n) }
}
