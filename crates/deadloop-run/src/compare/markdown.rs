//! A comparison as Markdown for a pull request, cut to a comment's size.
//!
//! GitHub takes 64 KiB in a comment and 1 MiB in the summary of a step. The text reports how much was cut.

use deadloop_score::{Flip, Side};

use super::pinned_comparison::{NoComparison, PinnedComparison, gate_word};
use super::terminal::{HEADER, cells, count_flips, outcome_words, select_rows, worst_first};

/// The maximum number of bytes of the whole text. GitHub counts 65,536 chars.
const LIMIT: usize = 60_000;

/// Formats the comparison, with as many flips as fit.
pub(super) fn markdown(compared: &PinnedComparison) -> String {
    let c = &compared.comparison;
    let mut text = format!("## deadloop: {}\n\n", c.verdict.name());
    text += &sides(&compared.base, &compared.new);
    text += &format!(
        "\n{}. Bootstrap: seed {}, {} replicates.\n\n",
        compared.numbers(),
        compared.options.resampling.seed,
        compared.options.resampling.replicates
    );
    for gate in &c.gates {
        let (name, word) = (
            gate.gate.name(),
            gate_word(gate.passed, compared.comparison.verdict),
        );
        text += &format!("- gate {name}: **{word}**: {}\n", escape(&gate.why));
    }
    for why in &c.why {
        text += &format!("- {}\n", escape(why));
    }
    text += "\n";
    text += &metrics(compared);
    text += &format!("\n{}.\n", escape(&compared.healthy()));
    text += &pinned_list(compared);
    text += &flips(compared, LIMIT.saturating_sub(text.len()));
    text
}

fn sides(base: &Side, new: &Side) -> String {
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

/// Formats the rows of metrics, which take at most half of the text.
fn metrics(compared: &PinnedComparison) -> String {
    let (told, left) = select_rows(&compared.comparison.rows);
    let mut text = table_row(&HEADER.map(String::from));
    text += "|---|---|---:|---:|---:|---:|---:|---|\n";
    let mut cut = 0;
    for row in told {
        let line = table_row(&cells(row));
        if text.len() + line.len() > LIMIT / 2 {
            cut += 1
        } else {
            text += &line
        }
    }
    text += "\n";
    if left > 0 {
        text += &format!("{left} rows of single models neither improved nor regressed.\n");
    }
    if cut > 0 {
        text += &format!("{cut} more rows are left out here.\n");
    }
    text
}

fn pinned_list(compared: &PinnedComparison) -> String {
    let told = compared.pinned.iter().filter(|pin| pin.is_notable());
    let lines = told.map(|pin| format!("- {}\n", escape(&pin.what)));
    let (mut text, mut cut) = (String::new(), 0);
    for line in lines {
        if text.len() + line.len() > LIMIT / 8 {
            cut += 1
        } else {
            text += &line
        }
    }
    if cut > 0 {
        text += &format!("- … and {cut} more\n");
    }
    if text.is_empty() {
        text
    } else {
        format!("\nPinned cases:\n\n{text}")
    }
}

fn flips(compared: &PinnedComparison, room: usize) -> String {
    let all = worst_first(compared);
    let mut text = format!("\n{}.\n", escape(&count_flips(compared)));
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
            outcome_words(&flip.base),
            outcome_words(&flip.new),
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

/// Escapes text: chars with a meaning in Markdown or HTML become entities, control chars blanks.
fn escape(text: &str) -> String {
    let one = |c: char| match c {
        _ if c.is_control() => " ".into(),
        _ if c.is_alphanumeric() || " ,;/%()-+…→·".contains(c) => c.to_string(),
        '.' | ':' | '=' => c.to_string(),
        // An @ before a name would notify a person, so a blank without width separates them.
        '@' => "&#64;&#8203;".into(),
        _ => format!("&#{};", u32::from(c)),
    };
    let text: String = text.chars().map(one).collect();
    // GitHub links what looks like an address, wherever it is.
    let text = text.replace("://", "&#58;//");
    text.replace("www.", "www&#46;")
}

impl NoComparison {
    /// Formats the reasons for a pull request.
    pub(super) fn markdown(&self) -> String {
        let problem = |p: &String| format!("- {}\n", escape(p));
        let problems: String = self.why.problems.iter().map(problem).collect();
        let cut: String = problems.chars().take(LIMIT / 4).collect();
        let sides = sides(&self.base, &self.new);
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
