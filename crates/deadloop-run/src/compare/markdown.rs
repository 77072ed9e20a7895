//! Formats a comparison as Markdown for a pull request, cut to the size of a comment.
//!
//! GitHub accepts 64 KiB in a comment and 1 MiB in the summary of a step. The text states how much was cut.

use deadloop_score::{Flip, Side};

use super::pinned_comparison::{NoComparison, PinnedComparison, format_gate};
use super::terminal::{
    METRIC_HEADER, flip_counts, format_outcome, metric_cells, select_rows, worst_first,
};

/// The maximum number of bytes of the whole text. GitHub's limit is 65,536 chars.
const MAX_BYTES: usize = 60_000;

/// Formats the comparison, with as many flips as fit.
pub(super) fn format_markdown(compared: &PinnedComparison) -> String {
    let c = &compared.comparison;
    let mut text = format!("## deadloop: {}\n\n", c.verdict.name());
    text += &format_sides(&compared.base, &compared.new);
    text += &format!(
        "\n{}. Bootstrap: seed {}, {} replicates.\n\n",
        compared.format_counts(),
        compared.options.resampling.seed,
        compared.options.resampling.replicates
    );
    for gate in &c.gates {
        let (name, word) = (
            gate.gate.name(),
            format_gate(gate.passed, compared.comparison.verdict),
        );
        text += &format!("- gate {name}: **{word}**: {}\n", escape(&gate.why));
    }
    for why in &c.why {
        text += &format!("- {}\n", escape(why));
    }
    text += "\n";
    text += &format_metrics(compared);
    text += &format!("\n{}.\n", escape(&compared.format_healthy_alarms()));
    text += &format_pinned(compared);
    text += &format_flips(compared, MAX_BYTES.saturating_sub(text.len()));
    text
}

fn format_sides(base: &Side, new: &Side) -> String {
    let line = |what: &str, side: &Side| {
        let id = side.settings.get("*").map_or("", String::as_str);
        let (name, source) = (escape(&side.name), escape(&side.source));
        format!("- {what}: {name} ({id}), {source}\n")
    };
    line("BASE", base) + &line("NEW", new)
}

fn table_row(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| escape(cell)).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// Formats the table of metrics, which takes at most half of the text.
fn format_metrics(compared: &PinnedComparison) -> String {
    let (selected, left) = select_rows(&compared.comparison.rows);
    let mut text = table_row(&METRIC_HEADER.map(String::from));
    text += "|---|---|---:|---:|---:|---:|---:|---|\n";
    let rows = selected
        .into_iter()
        .map(|row| table_row(&metric_cells(row)));
    let cut = add_fitting_lines(&mut text, rows, MAX_BYTES / 2);
    text += "\n";
    if left > 0 {
        text += &format!("{left} rows of single models neither improved nor regressed.\n");
    }
    if cut > 0 {
        text += &format!("{cut} more rows are left out here.\n");
    }
    text
}

/// Adds each line with which the text has at most `most` bytes. Returns the number of the other lines.
fn add_fitting_lines(text: &mut String, lines: impl Iterator<Item = String>, most: usize) -> usize {
    let mut cut = 0;
    for line in lines {
        if text.len() + line.len() > most {
            cut += 1
        } else {
            *text += &line
        }
    }
    cut
}

fn format_pinned(compared: &PinnedComparison) -> String {
    let selected = compared.pinned.iter().filter(|pin| pin.is_notable());
    let lines = selected.map(|pin| format!("- {}\n", escape(&pin.what)));
    let mut text = String::new();
    let cut = add_fitting_lines(&mut text, lines, MAX_BYTES / 8);
    if cut > 0 {
        text += &format!("- … and {cut} more\n");
    }
    if text.is_empty() {
        text
    } else {
        format!("\nPinned cases:\n\n{text}")
    }
}

fn format_flips(compared: &PinnedComparison, room: usize) -> String {
    let all = worst_first(compared);
    let mut text = format!("\n{}.\n", escape(&flip_counts(compared)));
    if all.is_empty() {
        return text;
    }
    text += "\n<details><summary>Transcripts whose verdict changed</summary>\n\n";
    text += "| transcript | NEW is | BASE | NEW |\n|---|---|---|---|\n";
    let end = |left: usize| {
        let more = match left {
            0 => String::new(),
            n => format!("\n{n} more are left out here; flips.csv has them all.\n"),
        };
        let how = compared.command.as_ref().map_or(String::new(), |command| {
            format!("\n`{}`\n", command.replace('`', "'"))
        });
        format!("{more}{how}\n</details>\n")
    };
    let longest = end(all.len()).len();
    let row = |flip: &&Flip| {
        let cells = [
            flip.transcript.clone(),
            flip.direction.name().into(),
            format_outcome(&flip.base),
            format_outcome(&flip.new),
        ];
        table_row(&cells)
    };
    let mut shown = 0;
    for line in all.iter().map(row) {
        if text.len() + line.len() + longest > room {
            break;
        }
        text += &line;
        shown += 1;
    }
    text + &end(all.len() - shown)
}

/// Escapes text. Chars with a meaning in Markdown or HTML become entities, and control chars become blanks.
fn escape(text: &str) -> String {
    let one = |c: char| match c {
        _ if c.is_control() => " ".into(),
        _ if c.is_alphanumeric() || " ,;/%()-+…→·".contains(c) => c.to_string(),
        '.' | ':' | '=' => c.to_string(),
        // An @ before a name would notify a person, so a zero-width space is inserted.
        '@' => "&#64;&#8203;".into(),
        _ => format!("&#{};", u32::from(c)),
    };
    let text: String = text.chars().map(one).collect();
    // GitHub links what looks like an address, wherever it is.
    let text = text.replace("://", "&#58;//");
    text.replace("www.", "www&#46;")
}

impl NoComparison {
    /// Formats, for a pull request, why the sides cannot be compared.
    pub(super) fn to_markdown(&self) -> String {
        let problem = |p: &String| format!("- {}\n", escape(p));
        let problems: String = self.why.problems.iter().map(problem).collect();
        let cut: String = problems.chars().take(MAX_BYTES / 4).collect();
        let sides = format_sides(&self.base, &self.new);
        format!("## deadloop: not comparable\n\n{sides}\n{cut}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_transcripts_are_never_markup() {
        let hostile = "<img src=x>|`a`*b*[c](http://x.y)@me\n# d www.e.f";
        let text = escape(hostile);
        assert!(
            !text.contains(['<', '>', '|', '`', '*', '[', ']', '@', '\n', '!']),
            "{text}"
        );
        assert!(
            !text.contains("http://") && !text.contains("www."),
            "{text}"
        );
        assert_eq!(escape("planted/006 a-b, 3.5 %"), "planted/006 a-b, 3.5 %");
    }
}
