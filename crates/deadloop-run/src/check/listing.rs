//! Findings as text for the terminal.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

use super::{CheckAnswer, Finding, Severity};
use crate::option::ALL;
use crate::visible::visible;
use crate::words::count;

/// The maximum number of findings of a kind that are shown without `--all`.
const SHOWN: usize = 5;

fn style(severity: Severity, coloured: bool) -> Style {
    let colour = match severity {
        Severity::Error => AnsiColor::Red,
        Severity::Warning => AnsiColor::Yellow,
        Severity::Note => AnsiColor::Cyan,
    };
    if coloured {
        Style::new().bold().fg_color(Some(colour.into()))
    } else {
        Style::new()
    }
}

/// Lists each kind of finding under its heading: its importance, the remedy, and the first few or all findings.
pub(super) fn listing(answer: &CheckAnswer, all: bool, coloured: bool) -> String {
    let mut text = String::new();
    for (check, findings) in &answer.findings {
        let style = style(check.severity, coloured);
        let bold = if coloured {
            Style::new().bold()
        } else {
            Style::new()
        };
        let heading = format!(
            "{style}{}{style:#} {bold}{}{bold:#} ({}) [{}]",
            check.severity.name(),
            check.title,
            count(findings.len() as u64),
            check.name,
        );
        let shown = if all { findings.len() } else { SHOWN };
        let rest = findings.len().saturating_sub(shown);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{heading}\n   why: {}\n  mend: {}",
            check.why, check.advice
        );
        for finding in findings.iter().take(shown) {
            let _ = writeln!(text, "     {}", line(finding));
        }
        if rest > 0 {
            let _ = writeln!(text, "     … and {} more ({ALL})", count(rest as u64));
        }
        text.push('\n');
    }
    text + &summary(answer)
}

/// Formats a finding as `where: transcript: what`, without unknown parts.
fn line(finding: &Finding) -> String {
    let place = finding.place.as_ref().map(ToString::to_string);
    let transcript = place.as_ref().and(finding.transcripts.first().cloned());
    let parts = [place, transcript, Some(finding.what.clone())];
    visible(&parts.into_iter().flatten().collect::<Vec<_>>().join(": "))
}

/// Formats the number of findings of each severity.
fn summary(answer: &CheckAnswer) -> String {
    let of = |severity: Severity| {
        let n = answer.number(severity);
        let s = if n == 1 { "" } else { "s" };
        format!("{} {}{s}", count(n), severity.name())
    };
    [Severity::Error, Severity::Warning, Severity::Note]
        .map(of)
        .join(", ")
}
