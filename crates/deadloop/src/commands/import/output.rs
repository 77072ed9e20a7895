//! The output of `deadloop import`, as text and JSON.

use std::path::{Path, PathBuf};

use deadloop_import::ImportTally;
use deadloop_run::label::proposed_json;
use deadloop_run::rejected_row;
use serde_json::{Value, json};

use super::ImportOutcome;
use crate::proposals::table;
use crate::show;

/// The maximum number of losses, and of warnings, in the summary.
const SHOWN: usize = 20;
/// The file of labels of a corpus.
pub(super) const LABELS: &str = "labels.csv";
/// The maximum number of problems listed one by one.
const PROBLEMS: usize = 5;

impl ImportOutcome {
    /// Returns the first problems, one per line, the number of the others, and the summary.
    pub(super) fn listing(&self) -> String {
        let lines = self.problems.iter().take(PROBLEMS);
        let lines: Vec<String> = lines.map(ToString::to_string).collect();
        let counts = [
            self.counts.files,
            self.counts.records,
            self.counts.transcripts,
        ];
        // Transcripts left out for bad labels are not counted as problems too.
        let all: u64 = counts.iter().map(|tally| tally.rejected).sum();
        let all = all + self.beside - self.carried.left_out;
        let more = all.saturating_sub(lines.len() as u64);
        let more = if more > 0 {
            format!(
                "\n… and {} more (--on-bad skip lists all in rejected.jsonl)",
                show::count(more)
            )
        } else {
            String::new()
        };
        format!(
            "not all could be imported: {all} problem{}\n{}{more}\n\
             nothing was written; mend them, or leave them out with --on-bad skip\n{}",
            if all == 1 { "" } else { "s" },
            lines.join("\n"),
            self.summary()
        )
    }

    /// Formats the counts, guesses, warnings and losses of the import.
    pub(super) fn summary(&self) -> String {
        self.sums()
            + &self.format_joined()
            + &self.passed_over()
            + &self.guesses()
            + &self.came_along()
            + &self.worth_knowing()
            + &self.left_out()
    }

    pub(super) fn sums(&self) -> String {
        let counts = &self.counts;
        let formats: Vec<String> = self
            .formats
            .iter()
            .map(|(name, n)| format!("{name} {n}"))
            .collect();
        format!(
            "{} of {}\n files        {}: {}\n records      {}\n transcripts  {}",
            show::several(counts.transcripts.used(), "transcript"),
            show::several(self.models.len() as u64, "model"),
            sum(counts.files),
            formats.join(", "),
            sum(counts.records),
            sum(counts.transcripts),
        )
    }

    /// Formats the counts of the existing corpus that was added to.
    fn format_joined(&self) -> String {
        match &self.joined {
            Some(joined) => format!(
                "\n the corpus   {} transcripts, {} of before replaced",
                show::count(joined.all),
                show::count(joined.replaced),
            ),
            None => String::new(),
        }
    }

    /// Formats the files of folders that are not recordings, by kind.
    fn passed_over(&self) -> String {
        let lines = self.passed.iter().map(|(kind, files, one)| {
            format!(
                "\n passed over  {} {kind} ({})",
                show::count(*files),
                one.display()
            )
        });
        lines.collect()
    }

    /// Formats the guesses about columns as the options that would state them.
    fn guesses(&self) -> String {
        let lines = self.guessed.iter().map(|(options, files)| {
            let of = match files {
                1 => String::new(),
                files => format!("; {} files", show::count(*files)),
            };
            format!("\n columns      {options} (by their names{of})")
        });
        let why = self.why.iter().filter(|(format, _)| **format != "deadloop");
        let why = why.map(|(format, why)| format!("\n told as       {format}: {why}"));
        if self.example.is_some() {
            lines.chain(why).collect()
        } else {
            lines.collect()
        }
    }

    fn came_along(&self) -> String {
        match (self.carried.labels().len(), self.carried.splits.len()) {
            (0, 0) => String::new(),
            (labels, splits) => format!(
                "\n came along   {} rows of labels, {} of splits",
                show::count(labels as u64),
                show::count(splits as u64),
            ),
        }
    }

    fn worth_knowing(&self) -> String {
        if self.warned == 0 {
            return String::new();
        }
        let lines = self
            .warnings
            .iter()
            .take(SHOWN)
            .map(|warning| format!("\n {warning}"));
        let more = self.warned.saturating_sub(SHOWN as u64);
        let more = if more > 0 {
            format!("\n and {more} more")
        } else {
            String::new()
        };
        format!("\nworth knowing:{}{more}", lines.collect::<String>())
    }

    fn left_out(&self) -> String {
        if self.losses.is_empty() {
            return String::new();
        }
        let mut losses: Vec<_> = self.losses.iter().collect();
        losses.sort_by_key(|(_, _, count)| std::cmp::Reverse(*count));
        let row = |(format, path, count): &&(&str, String, u64)| {
            vec![(*format).to_owned(), path.clone(), show::count(*count)]
        };
        let rows: Vec<Vec<String>> = losses.iter().take(SHOWN).map(row).collect();
        let table = show::table(&["format", "field", "times"], &rows, 2);
        let more = match losses.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!("\n and {more} more fields (--json lists all)"),
        };
        format!("\nleft out, for want of a place in a transcript:\n{table}{more}")
    }

    /// Returns the table of proposed labels, after an empty line. `None` if no labels were proposed.
    pub(super) fn proposals(&self, out: &Path) -> Option<String> {
        let proposals = self.labels.proposals.as_deref()?;
        Some(format!("\n{}", table(proposals, &out.join(LABELS))))
    }

    /// Returns the outcome as JSON. `out` is the corpus, if one was written.
    pub(super) fn json(&self, out: Option<&Path>) -> Value {
        let tally = |t: ImportTally| {
            let mut told = json!({"in": t.seen, "used": t.used(), "rejected": t.rejected});
            if t.empty > 0 {
                told["empty"] = t.empty.into();
            }
            told
        };
        let passed = |(kind, files, one): &(String, u64, PathBuf)| json!({"kind": kind, "files": files, "as": one.display().to_string()});
        let guessed =
            |(options, files): &(String, u64)| json!({"options": options, "files": files});
        let loss = |(format, path, count): &(_, String, u64)| json!({"format": format, "field": path, "count": count});
        let mut told = json!({
            "out": out.map(|out| out.display().to_string()),
            "files": tally(self.counts.files),
            "records": tally(self.counts.records),
            "transcripts": tally(self.counts.transcripts),
            "formats": self.formats,
            "told_by": self.why,
            "passed_over": self.passed.iter().map(passed).collect::<Vec<_>>(),
            "columns": self.guessed.iter().map(guessed).collect::<Vec<_>>(),
            "models": self.models,
            "left_out": self.losses.iter().map(loss).collect::<Vec<_>>(),
            "stale_labels": self.labels.stale,
            "warned": self.warned,
            "warnings": self.warnings.iter().map(rejected_row).collect::<Vec<_>>(),
            "problems": self.problems.iter().map(rejected_row).collect::<Vec<_>>(),
        });
        if let Some((proposals, out)) = self.labels.proposals.as_deref().zip(out) {
            told["proposed"] = proposed_json(proposals, &out.join(LABELS));
        }
        told
    }
}

fn sum(tally: ImportTally) -> String {
    let empty = match tally.empty {
        0 => String::new(),
        empty => format!(" + {} with nothing of a model", show::count(empty)),
    };
    format!(
        "{} in = {} used{empty} + {} rejected",
        show::count(tally.seen),
        show::count(tally.used()),
        show::count(tally.rejected)
    )
}
