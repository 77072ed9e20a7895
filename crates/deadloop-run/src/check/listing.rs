//! Formats findings as text for the terminal.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

use super::{CheckAnswer, Finding, Severity};
use crate::option::ALL;
use crate::visible::visible;
use crate::words::count;

/// The maximum number of findings of a check shown without `--all`.
const MAX_SHOWN: usize = 5;

fn severity_style(severity: Severity, coloured: bool) -> Style {
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

/// Formats the findings of each check under a heading, with the reason and the remedy. Without `all`, only the first
/// few findings are shown.
pub(super) fn list_findings(answer: &CheckAnswer, all: bool, coloured: bool) -> String {
    let mut text = String::new();
    for (check, findings) in &answer.findings {
        let style = severity_style(check.severity, coloured);
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
        let shown = if all { findings.len() } else { MAX_SHOWN };
        let rest = findings.len().saturating_sub(shown);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{heading}\n   why: {}\n  mend: {}",
            check.why, check.advice
        );
        for finding in findings.iter().take(shown) {
            let _ = writeln!(text, "     {}", format_finding(finding));
        }
        if rest > 0 {
            let _ = writeln!(text, "     … and {} more ({ALL})", count(rest as u64));
        }
        text.push('\n');
    }
    text + &format_totals(answer)
}

/// Formats a finding as `where: transcript: what`, without unknown parts.
fn format_finding(finding: &Finding) -> String {
    let place = finding.place.as_ref().map(ToString::to_string);
    let transcript = place.as_ref().and(finding.transcripts.first().cloned());
    let parts = [place, transcript, Some(finding.what.clone())];
    visible(&parts.into_iter().flatten().collect::<Vec<_>>().join(": "))
}

/// Formats the number of findings of each severity.
fn format_totals(answer: &CheckAnswer) -> String {
    let of = |severity: Severity| {
        let n = answer.number(severity);
        let s = if n == 1 { "" } else { "s" };
        format!("{} {}{s}", count(n), severity.name())
    };
    [Severity::Error, Severity::Warning, Severity::Note]
        .map(of)
        .join(", ")
}
