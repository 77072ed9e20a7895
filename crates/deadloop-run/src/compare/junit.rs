//! Formats a comparison as JUnit XML, with a test for each gate, flip and pinned case.

use std::fmt::Write as _;

use deadloop_score::{Direction, Flip};

use super::pinned_comparison::{NoComparison, PinnedComparison};
use super::terminal::format_outcome;

/// A JUnit test case.
struct TestCase {
    class: &'static str,
    name: String,
    outcome: TestOutcome,
    text: String,
}

#[derive(Clone, Copy, PartialEq)]
enum TestOutcome {
    Passed,
    Failed,
    /// A test that could not be run.
    Error,
    /// A test that is reported and does not fail the gate.
    Skipped,
}

/// Formats the JUnit file. A transcript on which NEW is worse counts as failed if the gate fails, or else as skipped.
pub(super) fn format_junit(compared: &PinnedComparison) -> String {
    let failed = compared.comparison.passed() != Some(true);
    let gates = compared.comparison.gates.iter().map(|gate| TestCase {
        class: "deadloop.gate",
        name: gate.gate.name().into(),
        outcome: match gate.passed {
            Some(true) => TestOutcome::Passed,
            Some(false) => TestOutcome::Failed,
            None => TestOutcome::Error,
        },
        text: gate.why.clone(),
    });
    let pinned = compared.pinned.iter().map(|pin| TestCase {
        class: "deadloop.pinned",
        name: pin.case.clone(),
        outcome: if pin.fails_gate() {
            TestOutcome::Failed
        } else {
            TestOutcome::Passed
        },
        text: pin.what.clone(),
    });
    let flip = |flip: &Flip| TestCase {
        class: "deadloop.flip",
        name: flip.transcript.clone(),
        outcome: match flip.direction {
            Direction::Worse if failed => TestOutcome::Failed,
            Direction::Worse => TestOutcome::Skipped,
            _ => TestOutcome::Passed,
        },
        text: format!(
            "BASE: {}; NEW: {}\n{}",
            format_outcome(&flip.base),
            format_outcome(&flip.new),
            flip.explain.as_deref().unwrap_or_default()
        ),
    };
    let tests: Vec<TestCase> = gates
        .chain(pinned)
        .chain(compared.comparison.flips().map(flip))
        .collect();
    format_suite(&tests)
}

fn format_suite(tests: &[TestCase]) -> String {
    let count = |o: TestOutcome| tests.iter().filter(|t| t.outcome == o).count();
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"deadloop compare\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n",
        tests.len(),
        count(TestOutcome::Failed),
        count(TestOutcome::Error),
        count(TestOutcome::Skipped)
    );
    for test in tests {
        let (name, text) = (escape_xml(&test.name), escape_xml(&test.text));
        let class = test.class;
        let first = escape_xml(test.text.lines().next().unwrap_or_default());
        let body = match test.outcome {
            TestOutcome::Passed => format!("<system-out>{text}</system-out>"),
            TestOutcome::Failed => format!("<failure message=\"{first}\">{text}</failure>"),
            TestOutcome::Error => format!("<error message=\"{first}\">{text}</error>"),
            TestOutcome::Skipped => format!("<skipped message=\"{first}\"/>"),
        };
        // Writing into a String cannot fail.
        let _ = writeln!(
            xml,
            "<testcase classname=\"{class}\" name=\"{name}\">{body}</testcase>"
        );
    }
    xml + "</testsuite>\n</testsuites>\n"
}

/// Escapes untrusted text for XML 1.0, and replaces chars that it cannot hold.
fn escape_xml(text: &str) -> String {
    let one = |c: char| match c {
        '&' => "&amp;".into(),
        '<' => "&lt;".into(),
        '>' => "&gt;".into(),
        '"' => "&quot;".into(),
        '\n' => "&#10;".into(),
        '\u{fffe}' | '\u{ffff}' => "\u{fffd}".into(),
        _ if c < ' ' && c != '\t' => "\u{fffd}".into(),
        _ => c.to_string(),
    };
    text.chars().map(one).collect()
}

impl NoComparison {
    /// Formats a JUnit file with one test that could not be run.
    pub(super) fn to_junit(&self) -> String {
        format_suite(&[TestCase {
            class: "deadloop.gate",
            name: "comparable".into(),
            outcome: TestOutcome::Error,
            text: self.why.problems.join("\n"),
        }])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_transcripts_are_never_markup() {
        let test = TestCase {
            class: "c",
            name: "\"><x/>\u{0}\u{1b}&".into(),
            outcome: TestOutcome::Failed,
            text: "a\n]]>".into(),
        };
        let xml = format_suite(&[test]);
        assert!(
            xml.contains("name=\"&quot;&gt;&lt;x/&gt;\u{fffd}\u{fffd}&amp;\""),
            "{xml}"
        );
        assert!(
            xml.contains("<failure message=\"a\">a&#10;]]&gt;</failure>"),
            "{xml}"
        );
        assert!(
            xml.contains("tests=\"1\" failures=\"1\" errors=\"0\""),
            "{xml}"
        );
    }
}
