//! The answer of an import, as text and JSON.

use std::fmt::{self, Display, Formatter};
use std::path::Path;

use deadloop_import::losses::Loss;
use deadloop_import::{ImportCounts, ImportTally};
use serde_json::{Map, Value, json};

use super::command::{ImportAnswer, ImportEnd};
use super::target::LABELS;
use crate::corpus::survey::rejected_row;
use crate::label::{proposals_text, proposed_json};
use crate::layout::table;
use crate::option::{JSON, ON_BAD};
use crate::show::transcript;
use crate::words::{count, several};

/// The maximum number of losses, and of warnings, in the summary.
const SHOWN: usize = 20;
/// The chars shown at both ends of each long text of the example.
const EXAMPLE: usize = 200;
/// The maximum number of problems listed one by one.
const PROBLEMS: usize = 5;

impl ImportAnswer {
    /// Returns the counts.
    pub fn counts(&self) -> ImportCounts {
        let mut counts = self.import.counts();
        counts.transcripts.rejected += self.state.carried.left_out + self.state.unlabelled;
        counts
    }

    /// Returns the first problems, one per line, the number of the others, and the summary.
    pub(super) fn listing(&self) -> String {
        let lines = self.state.problems.iter().take(PROBLEMS);
        let lines: Vec<String> = lines.map(ToString::to_string).collect();
        let counts = self.counts();
        let counts = [counts.files, counts.records, counts.transcripts];
        // Transcripts left out for bad labels are not counted as problems too.
        let all: u64 = counts.iter().map(|tally| tally.rejected).sum();
        let all = all + self.beside - self.state.carried.left_out;
        let more = match all.saturating_sub(lines.len() as u64) {
            0 => String::new(),
            more => format!(
                "\n… and {} more ({ON_BAD} lists all in rejected.jsonl)",
                count(more)
            ),
        };
        format!(
            "not all could be imported: {all} problem{}\n{}{more}\n\
             nothing was written; mend them, or leave them out with {ON_BAD}\n{}",
            if all == 1 { "" } else { "s" },
            lines.join("\n"),
            self.summary(None)
        )
    }

    /// Formats the counts, guesses, warnings and losses of the import for an output of `width` columns.
    pub(super) fn summary(&self, width: Option<usize>) -> String {
        self.sums()
            + &self.format_joined()
            + &self.passed_over()
            + &self.guesses()
            + &self.came_along()
            + &self.worth_knowing()
            + &self.left_out(width)
    }

    pub(super) fn sums(&self) -> String {
        let counts = self.counts();
        let formats = self.import.formats();
        let formats: Vec<String> = formats.map(|(name, n)| format!("{name} {n}")).collect();
        format!(
            "{} of {}\n files        {}: {}\n records      {}\n transcripts  {}",
            several(counts.transcripts.used(), "transcript"),
            several(self.state.models.len() as u64, "model"),
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
                count(joined.all),
                count(joined.replaced),
            ),
            None => String::new(),
        }
    }

    /// Formats the files of folders that are not recordings, by kind.
    fn passed_over(&self) -> String {
        let line = |(kind, files, one): (&str, u64, &Path)| {
            let (files, one) = (count(files), one.display());
            format!("\n passed over  {files} {kind} ({one})")
        };
        self.import.passed_over().map(line).collect()
    }

    /// Formats the guesses about columns as the options that would state them.
    fn guesses(&self) -> String {
        let lines = self.import.guessed().map(|(options, files)| {
            let of = match files {
                1 => String::new(),
                files => format!("; {} files", count(files)),
            };
            format!("\n columns      {options} (by their names{of})")
        });
        let shown = self.state.example.is_some();
        let why = self.reasons().into_iter();
        let why = why.filter(|(format, _)| shown && *format != "deadloop");
        let why = why.map(|(format, why)| format!("\n told as       {format}: {why}"));
        lines.chain(why).collect()
    }

    /// Returns the reason why each detected format is certain.
    fn reasons(&self) -> Vec<(&'static str, &'static str)> {
        let formats = self.import.formats();
        formats
            .filter_map(|(format, _)| Some((format, self.import.reason_for(format)?)))
            .collect()
    }

    fn came_along(&self) -> String {
        let carried = &self.state.carried;
        match (carried.labels().len(), carried.splits.len()) {
            (0, 0) => String::new(),
            (labels, splits) => format!(
                "\n came along   {} rows of labels, {} of splits",
                count(labels as u64),
                count(splits as u64),
            ),
        }
    }

    fn worth_knowing(&self) -> String {
        if self.import.warned() == 0 {
            return String::new();
        }
        let lines = self.import.warnings().iter().take(SHOWN);
        let lines: String = lines.map(|warning| format!("\n {warning}")).collect();
        let more = match self.import.warned().saturating_sub(SHOWN as u64) {
            0 => String::new(),
            more => format!("\n and {more} more"),
        };
        format!("\nworth knowing:{lines}{more}")
    }

    fn left_out(&self, width: Option<usize>) -> String {
        let mut losses: Vec<Loss<'_>> = self.import.losses().iter().collect();
        if losses.is_empty() {
            return String::new();
        }
        losses.sort_by_key(|loss| std::cmp::Reverse(loss.count));
        let row = |loss: &Loss<'_>| {
            vec![
                loss.format.to_owned(),
                loss.path.to_owned(),
                count(loss.count),
            ]
        };
        let rows: Vec<Vec<String>> = losses.iter().take(SHOWN).map(row).collect();
        let table = table(&["format", "field", "times"], &rows, &(2..3), width);
        let more = match losses.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!("\n and {more} more fields ({JSON} lists all)"),
        };
        format!("\nleft out, for want of a place in a transcript:\n{table}{more}")
    }
}

impl Display for ImportAnswer {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (width, summary) = (f.width(), self.summary(f.width()));
        let out = match &self.end {
            ImportEnd::DryRun => {
                write!(f, "nothing was written; it would be {summary}")?;
                return self.state.example.as_ref().map_or(Ok(()), |example| {
                    let shown = transcript(example, &[], Some(EXAMPLE));
                    write!(f, "\n\none of them:\n{shown}")
                });
            }
            ImportEnd::Unchanged(out) => {
                write!(f, "nothing is new\n{summary}")?;
                out
            }
            ImportEnd::Written(out) => {
                write!(f, "{}: {summary}", out.display())?;
                out
            }
        };
        if let Some(proposals) = &self.labels.proposals {
            let text = proposals_text(proposals, &out.join(LABELS));
            match width {
                Some(width) => write!(f, "\n\n{text:width$}")?,
                None => write!(f, "\n\n{text}")?,
            }
        }
        Ok(())
    }
}

serialize_as_json!(ImportAnswer, this => {
    let tally = |t: ImportTally| {
        let mut told = json!({"in": t.seen, "used": t.used(), "rejected": t.rejected});
        if t.empty > 0 {
            told["empty"] = t.empty.into();
        }
        told
    };
    let (import, state, counts) = (&this.import, &this.state, this.counts());
    let passed = import.passed_over().map(|(kind, files, one)| {
        json!({"kind": kind, "files": files, "as": one.display().to_string()})
    });
    let guessed = import.guessed();
    let guessed = guessed.map(|(options, files)| json!({"options": options, "files": files}));
    let losses = import.losses().iter().map(|loss: Loss<'_>| {
        json!({"format": loss.format, "field": loss.path, "count": loss.count})
    });
    let reasons = this.reasons().into_iter();
    let out = match &this.end {
        ImportEnd::DryRun => None,
        ImportEnd::Written(out) | ImportEnd::Unchanged(out) => Some(out),
    };
    let mut told = json!({
        "out": out.map(|out| out.display().to_string()),
        "files": tally(counts.files),
        "records": tally(counts.records),
        "transcripts": tally(counts.transcripts),
        "formats": import.formats().map(|(name, n)| (name.to_owned(), n.into())).collect::<Map<_, Value>>(),
        "told_by": reasons.map(|(name, why)| (name.to_owned(), why.into())).collect::<Map<_, Value>>(),
        "passed_over": passed.collect::<Vec<_>>(),
        "columns": guessed.collect::<Vec<_>>(),
        "models": state.models,
        "left_out": losses.collect::<Vec<_>>(),
        "stale_labels": this.labels.stale,
        "warned": import.warned(),
        "warnings": import.warnings().iter().map(rejected_row).collect::<Vec<_>>(),
        "problems": state.problems.iter().map(rejected_row).collect::<Vec<_>>(),
    });
    if let Some((proposals, out)) = this.labels.proposals.as_deref().zip(out) {
        told["proposed"] = proposed_json(proposals, &out.join(LABELS));
    }
    told
});

fn sum(tally: ImportTally) -> String {
    let empty = match tally.empty {
        0 => String::new(),
        empty => format!(" + {} with nothing of a model", count(empty)),
    };
    format!(
        "{} in = {} used{empty} + {} rejected",
        count(tally.seen),
        count(tally.used()),
        count(tally.rejected)
    )
}
