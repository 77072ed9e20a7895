//! Formats the answer of an import as text and JSON.

use std::fmt::{self, Display, Formatter};
use std::path::Path;

use deadloop_import::losses::Loss;
use deadloop_import::{ImportCounts, ImportTally};
use serde_json::{Map, Value, json};

use super::command::{ImportAnswer, ImportEnd};
use super::target::LABELS;
use crate::corpus::survey::rejected_row;
use crate::label::{proposals_json, proposals_text};
use crate::layout::table;
use crate::option::{JSON, ON_BAD};
use crate::show::transcript;
use crate::words::{count, several};

/// The maximum number of lost fields, and of warnings, in the summary.
const MAX_SHOWN: usize = 20;
/// The number of chars shown at each end of a long text of the example.
const EXAMPLE_CHARS: usize = 200;
/// The maximum number of problems to list.
const MAX_LISTED_PROBLEMS: usize = 5;

impl ImportAnswer {
    /// Returns the counts of files, records and transcripts.
    pub fn counts(&self) -> ImportCounts {
        let mut counts = self.import.counts();
        counts.transcripts.rejected += self.state.carried.left_out + self.state.bad_labels;
        counts
    }

    /// Formats the first problems, one a line, the number of other problems, and the summary.
    pub(super) fn list_problems(&self) -> String {
        let lines = self.state.problems.iter().take(MAX_LISTED_PROBLEMS);
        let lines: Vec<String> = lines.map(ToString::to_string).collect();
        let counts = self.counts();
        let counts = [counts.files, counts.records, counts.transcripts];
        // Transcripts left out for invalid labels are already among these problems.
        let all: u64 = counts.iter().map(|tally| tally.rejected).sum();
        let all = all + self.side_file_problems - self.state.carried.left_out;
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
        self.format_counts()
            + &self.format_joined()
            + &self.format_passed_over()
            + &self.format_guesses()
            + &self.format_carried()
            + &self.format_warnings()
            + &self.format_losses(width)
    }

    pub(super) fn format_counts(&self) -> String {
        let counts = self.counts();
        let formats = self.import.formats();
        let formats: Vec<String> = formats.map(|(name, n)| format!("{name} {n}")).collect();
        format!(
            "{} of {}\n files        {}: {}\n records      {}\n transcripts  {}",
            several(counts.transcripts.used(), "transcript"),
            several(self.state.models.len() as u64, "model"),
            format_tally(counts.files),
            formats.join(", "),
            format_tally(counts.records),
            format_tally(counts.transcripts),
        )
    }

    /// Formats the counts of the corpus to which the import added.
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

    /// Formats the numbers of files in folders that are not recordings, by kind.
    fn format_passed_over(&self) -> String {
        let line = |(kind, files, one): (&str, u64, &Path)| {
            let (files, one) = (count(files), one.display());
            format!("\n passed over  {files} {kind} ({one})")
        };
        self.import.skipped_kinds().map(line).collect()
    }

    /// Formats the guessed columns as the options that would set them, and the reasons for detected formats.
    fn format_guesses(&self) -> String {
        let lines = self.import.guessed_columns().map(|(options, files)| {
            let of = match files {
                1 => String::new(),
                files => format!("; {} files", count(files)),
            };
            format!("\n columns      {options} (by their names{of})")
        });
        let shown = self.state.example.is_some();
        let why = self.format_reasons().into_iter();
        let why = why.filter(|(format, _)| shown && *format != "deadloop");
        let why = why.map(|(format, why)| format!("\n detected      {format}: {why}"));
        lines.chain(why).collect()
    }

    /// Returns the name of each detected format, with the reason why it was recognised.
    fn format_reasons(&self) -> Vec<(&'static str, &'static str)> {
        let formats = self.import.formats();
        formats
            .filter_map(|(format, _)| Some((format, self.import.reason_for(format)?)))
            .collect()
    }

    fn format_carried(&self) -> String {
        let carried = &self.state.carried;
        match (carried.label_rows().len(), carried.splits.len()) {
            (0, 0) => String::new(),
            (labels, splits) => format!(
                "\n came along   {} rows of labels, {} of splits",
                count(labels as u64),
                count(splits as u64),
            ),
        }
    }

    fn format_warnings(&self) -> String {
        if self.import.warning_count() == 0 {
            return String::new();
        }
        let lines = self.import.warnings().iter().take(MAX_SHOWN);
        let lines: String = lines.map(|warning| format!("\n {warning}")).collect();
        let more = match self.import.warning_count().saturating_sub(MAX_SHOWN as u64) {
            0 => String::new(),
            more => format!("\n and {more} more"),
        };
        format!("\nworth knowing:{lines}{more}")
    }

    fn format_losses(&self, width: Option<usize>) -> String {
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
        let rows: Vec<Vec<String>> = losses.iter().take(MAX_SHOWN).map(row).collect();
        let table = table(&["format", "field", "times"], &rows, &(2..3), width);
        let more = match losses.len().saturating_sub(MAX_SHOWN) {
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
                    let shown = transcript(example, &[], Some(EXAMPLE_CHARS));
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
    let passed = import.skipped_kinds().map(|(kind, files, one)| {
        json!({"kind": kind, "files": files, "as": one.display().to_string()})
    });
    let guessed = import.guessed_columns();
    let guessed = guessed.map(|(options, files)| json!({"options": options, "files": files}));
    let losses = import.losses().iter().map(|loss: Loss<'_>| {
        json!({"format": loss.format, "field": loss.path, "count": loss.count})
    });
    let reasons = this.format_reasons().into_iter();
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
        "warned": import.warning_count(),
        "warnings": import.warnings().iter().map(rejected_row).collect::<Vec<_>>(),
        "problems": state.problems.iter().map(rejected_row).collect::<Vec<_>>(),
    });
    if let Some((proposals, out)) = this.labels.proposals.as_deref().zip(out) {
        told["proposed"] = proposals_json(proposals, &out.join(LABELS));
    }
    told
});

fn format_tally(tally: ImportTally) -> String {
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
