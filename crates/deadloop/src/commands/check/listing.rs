//! Findings as text for the terminal.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use deadloop_run::check::{CorpusCheck, Finding, Severity, count};

use crate::show;
use deadloop_run::visible::visible;

/// The maximum number of findings of a kind that are shown without `--all`.
const SHOWN: usize = 5;

const fn style(severity: Severity) -> Style {
    let colour = match severity {
        Severity::Error => AnsiColor::Red,
        Severity::Warning => AnsiColor::Yellow,
        Severity::Note => AnsiColor::Cyan,
    };
    Style::new()
        .bold()
        .fg_color(Some(anstyle::Color::Ansi(colour)))
}

/// Lists each kind of finding under its heading: its importance, the remedy, and the first few or all findings.
pub(crate) fn listing(checks: &[(&CorpusCheck, Vec<Finding>)], all: bool) -> String {
    let mut text = String::new();
    for (check, findings) in checks {
        let (style, bold) = (style(check.severity), Style::new().bold());
        let heading = format!(
            "{style}{}{style:#} {bold}{}{bold:#} ({}) [{}]",
            check.severity.name(),
            check.title,
            show::count(findings.len() as u64),
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
            let _ = writeln!(text, "     … and {} more (--all)", show::count(rest as u64));
        }
        text.push('\n');
    }
    text + &summary(checks)
}

/// Formats a finding as `where: transcript: what`, without unknown parts.
fn line(finding: &Finding) -> String {
    let place = finding.place.as_ref().map(ToString::to_string);
    let transcript = place.as_ref().and(finding.transcripts.first().cloned());
    let parts = [place, transcript, Some(finding.what.clone())];
    visible(&parts.into_iter().flatten().collect::<Vec<_>>().join(": "))
}

/// Formats the number of findings of each severity.
fn summary(checks: &[(&CorpusCheck, Vec<Finding>)]) -> String {
    let of = |severity| {
        let n = count(checks, severity);
        let s = if n == 1 { "" } else { "s" };
        format!("{} {}{s}", show::count(n), severity.name())
    };
    [Severity::Error, Severity::Warning, Severity::Note]
        .map(of)
        .join(", ")
}
