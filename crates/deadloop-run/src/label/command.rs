//! [`label`]: writes proposed labels, merges reviews and lists disputes. [`review`] prepares a review by a person.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

use deadloop_corpus::{Corpus, Entry, Problem, Selection, is_named};
use deadloop_detect::harness::did_you_mean;
use deadloop_score::proposals::Proposal;
use deadloop_score::{LabelRow, write_labels};
use serde_json::json;

use super::disputes::{Dispute, find_disputes};
use super::interactive_review::Review;
use super::labellings::read_labels;
use super::proposals::{limit_and_sample, proposals_json, proposals_text, propose_labels};
use super::reviewer_merge::{MergeCounts, merge_rows};
use crate::corpus::survey::{fail_if_out_of_resources, join_lines, open, suggest_import};
use crate::failure::{Code, RunResult};
use crate::folder::outputs::{check_distinct, check_file_writable, parent_folder};
use crate::host::{Host, find_in};
use crate::layout::TextDocument;
use crate::option::{JSON, MERGE, ON_BAD, OUT};
use crate::options::SelectionOptions;
use crate::words::{count, several};

/// The number of chars that a review shows before and after each mark.
const CONTEXT_CHARS: u64 = 200;

options! {
    /// The options of labels.
    #[command(group(clap::ArgGroup::new("asks").multiple(true)))]
    #[command(group(clap::ArgGroup::new("two")))]
    pub struct LabelOptions {
        /// A corpus: a folder, or one .jsonl file
        #[arg(required_unless_present = "two")]
        pub corpus: Option<PathBuf>,
        /// Ask about these transcripts, reviewed or not
        #[arg(value_name = "TRANSCRIPT", requires = "asks")]
        pub ids: Vec<String>,
        /// The file of labels to write, or to revise with --review [default: labels.csv beside the transcripts]
        #[arg(long, value_name = "FILE")]
        pub out: Option<PathBuf>,
        /// Overwrite existing labels
        #[arg(long)]
        pub force: bool,
        /// Ask about each unreviewed proposal, the most uncertain first; makes proposals first if there are no labels
        #[arg(long, group = "asks")]
        pub review: bool,
        /// Review in a browser on this machine, with the same keys: prints the address of a page, on a free port or on PORT
        #[arg(long, group = "asks", value_name = "PORT", num_args = 0..=1, require_equals = true, default_missing_value = "0")]
        pub serve: Option<u16>,
        /// Also ask about labels that were reviewed
        #[arg(long, requires = "asks")]
        pub again: bool,
        /// The name of the reviewer: rows get by = review:NAME
        #[arg(long, value_name = "NAME", default_value = "me", value_parser = parse_reviewer)]
        pub reviewer: String,
        /// Write the answers of two reviewers to --out as one file; where they differ nobody has answered, and a review of
        /// that file asks about it first
        #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with = "asks", group = "two")]
        pub merge: Option<Vec<PathBuf>>,
        /// List the transcripts on which the label and the detectors of RESULT (a folder of `replay` or `tune`) disagree,
        /// worst first; with --review, ask about these
        #[arg(long, value_name = "RESULT", conflicts_with = "two")]
        pub disputes: Option<PathBuf>,
        /// The filters that select transcripts.
        #[command(flatten)]
        pub select: SelectionOptions,
    }
}

/// Parses the name of a reviewer, which must be one line. The name becomes a cell of labels.csv, where a line break
/// would look like a missing quote.
#[cfg(feature = "clap")]
fn parse_reviewer(name: &str) -> Result<String, String> {
    if name.is_empty() || name.contains(char::is_control) {
        Err("expected a name on one line".into())
    } else {
        Ok(name.to_owned())
    }
}

/// The answer of [`label`].
pub enum LabelAnswer {
    /// The written proposals, and the file that holds them.
    Proposed(Vec<Proposal>, PathBuf),
    /// The disputes between detectors and labels, the worst first.
    Disputes(Vec<Dispute>),
    /// The counts of a merge of two reviews, and the merged file.
    Merged(MergeCounts, PathBuf),
}

/// Writes proposed labels for a corpus, merges two reviews, or lists the disputes between detectors and labels.
///
/// # Errors
/// Returns an error if the corpus is not whole, nothing is selected, the file of labels exists already or cannot be
/// written, or the host stopped it.
pub fn label(options: &LabelOptions, host: &dyn Host) -> RunResult<LabelAnswer> {
    if let Some([first, second]) = options.merge.as_deref() {
        return merge_reviews(options, (first, second), host);
    }
    let (path, corpus) = options.open()?;
    if let Some(results) = &options.disputes {
        let selected = selected_ids(&corpus, &options.select.selection()?, host)?;
        if selected.is_empty() {
            return Err(Code::NothingSelected.error("no transcript is selected"));
        }
        return Ok(LabelAnswer::Disputes(find_disputes(
            &corpus, results, &selected, host,
        )?));
    }
    let labels = options.labels_path(path);
    let proposals = write_proposals(options, &corpus, &labels, host)?;
    Ok(LabelAnswer::Proposed(proposals, labels))
}

/// Prepares a review of labels by a person. Without labels, writes proposed ones first.
///
/// # Errors
/// Returns the errors of [`label`], or an error if no selected transcript has a label.
pub fn review(options: &LabelOptions, host: &dyn Host) -> RunResult<Review> {
    let (path, corpus) = options.open()?;
    let labels = options.labels_path(path);
    if !is_named(&labels) {
        write_proposals(options, &corpus, &labels, host)?;
    }
    let rows =
        LabelRow::read(&labels).map_err(|problems| Code::Usage.error(join_lines(&problems)))?;
    let only = ids_to_review(options, &corpus, &rows, host)?;
    check_labels_writable(&labels, true, host)?;
    Ok(Review {
        corpus,
        labels,
        reviewer: match options.reviewer.as_str() {
            "" => "me".to_owned(),
            name => name.to_owned(),
        },
        rows,
        only,
        again: options.again || !options.ids.is_empty(),
        context: CONTEXT_CHARS,
    })
}

impl LabelOptions {
    /// Returns whether the options request a review by a person, in a terminal or in a browser.
    pub fn asks(&self) -> bool {
        self.review || self.serve.is_some()
    }

    fn open(&self) -> RunResult<(&Path, Corpus)> {
        let path = self
            .corpus
            .as_deref()
            .ok_or_else(|| Code::Usage.error("no corpus; expected a folder, or one .jsonl file"))?;
        Ok((path, open(path)?))
    }

    /// Returns the path of the file of labels: the one given by `--out`, else `labels.csv` in the folder of the corpus,
    /// or `<its name>.labels.csv` beside a corpus of one file.
    fn labels_path(&self, corpus: &Path) -> PathBuf {
        if let Some(out) = &self.out {
            return out.clone();
        }
        if corpus.is_dir() {
            return corpus.join("labels.csv");
        }
        let name = corpus.file_name().unwrap_or_default().to_string_lossy();
        let stem = name.split('.').next().filter(|stem| !stem.is_empty());
        corpus.with_file_name(format!("{}.labels.csv", stem.unwrap_or("corpus")))
    }
}

/// Checks that the file of labels can be written. Called before any work.
fn check_labels_writable(labels: &Path, force: bool, host: &dyn Host) -> RunResult {
    check_file_writable(OUT, labels, force)?;
    host.writes(parent_folder(labels));
    Ok(())
}

/// Proposes labels for the selected transcripts, and writes them.
fn write_proposals(
    options: &LabelOptions,
    corpus: &Corpus,
    labels: &Path,
    host: &dyn Host,
) -> RunResult<Vec<Proposal>> {
    check_labels_writable(labels, options.force, host)?;
    let read: Vec<&Path> = corpus.files().iter().map(PathBuf::as_path).collect();
    check_distinct(&[(OUT, labels.to_path_buf())], &read)?;
    let selection = options.select.selection()?;
    let is_folder = options.corpus.as_deref().is_some_and(Path::is_dir);
    let unlabelled = options.out.is_none() && is_folder;
    let found = propose_labels(corpus, &selection, unlabelled, host)?;
    accept(&found.problems, found.empty, options.select.skips(), host)?;
    if found.proposals.is_empty() {
        let what = format!(
            "no transcript is selected; in a folder, {OUT} takes those with labels inside too"
        );
        return Err(Code::NothingSelected.error(what));
    }
    let rows = found.proposals.iter().flat_map(|p| p.rows.clone());
    write_labels(labels, &rows.collect::<Vec<LabelRow>>())?;
    Ok(found.proposals)
}

/// Returns an error if the corpus has problems, or shows them if `skips`. `empty` is whether the corpus has no valid
/// transcript.
fn accept(problems: &[Problem], empty: bool, skips: bool, host: &dyn Host) -> RunResult {
    fail_if_out_of_resources(problems)?;
    let listed = join_lines(problems);
    match problems {
        [] => {}
        _ if skips => host.notify(&format!("left out:\n{listed}")),
        _ => {
            let foreign = suggest_import(problems).filter(|_| empty);
            return Err(Code::Usage.error(foreign.unwrap_or_else(|| {
                format!(
                    "the corpus is not whole\n{listed}\nnothing was labelled; mend them, or leave them out with {ON_BAD}"
                )
            })));
        }
    }
    Ok(())
}

/// Merges the answers of two reviewers into one file.
fn merge_reviews(
    options: &LabelOptions,
    (a, b): (&Path, &Path),
    host: &dyn Host,
) -> RunResult<LabelAnswer> {
    let Some(out) = &options.out else {
        let what = format!("{MERGE}: no file to write; name it with {OUT}");
        return Err(Code::Usage.error(what));
    };
    check_labels_writable(out, options.force, host)?;
    check_distinct(&[(OUT, out.clone())], &[a, b])?;
    let (rows, counts) = merge_rows(&read_labels(a, host)?, &read_labels(b, host)?);
    write_labels(out, &rows)?;
    Ok(LabelAnswer::Merged(counts, out.clone()))
}

/// Returns the ids of the transcripts to review: the selected ones, narrowed to the ids given by the user or to the
/// disputes.
///
/// # Errors
/// Returns an error if none of these transcripts has a label.
fn ids_to_review(
    options: &LabelOptions,
    corpus: &Corpus,
    rows: &[LabelRow],
    host: &dyn Host,
) -> RunResult<BTreeSet<String>> {
    let known: BTreeSet<&str> = rows.iter().map(|row| row.transcript.as_str()).collect();
    if let Some(id) = options.ids.iter().find(|id| !known.contains(id.as_str())) {
        let near = did_you_mean(id, known.iter().copied());
        let what = format!("{id}: no row of the labels is about it{near}");
        return Err(Code::NothingSelected.error(what));
    }
    let mut only = selected_ids(corpus, &options.select.selection()?, host)?;
    if !options.ids.is_empty() {
        only.retain(|id| options.ids.contains(id));
    }
    if let Some(results) = &options.disputes {
        let found = find_disputes(corpus, results, &only, host)?;
        only = found.into_iter().map(|d| d.transcript).collect();
    }
    if !only.iter().any(|id| known.contains(id.as_str())) {
        let what = "no transcript with a label is selected; nothing was asked";
        return Err(Code::NothingSelected.error(what));
    }
    Ok(only)
}

/// Returns the ids of the transcripts that the filters select.
fn selected_ids(
    corpus: &Corpus,
    selection: &Selection,
    host: &dyn Host,
) -> RunResult<BTreeSet<String>> {
    let id = |entry: Result<Entry, Problem>| {
        let entry = entry.ok().filter(|entry| selection.matches(entry))?;
        Some(entry.transcript.id)
    };
    let ids = find_in(corpus, host, ("reading", "interrupted"), id)?;
    let ids = limit_and_sample(ids, selection, String::as_str);
    Ok(ids.into_iter().collect())
}

/// The maximum number of disputes to show.
const MAX_SHOWN: usize = 40;

impl Display for LabelAnswer {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Proposed(proposals, labels) => proposals_text(proposals, labels).fmt(f),
            Self::Disputes(found) => disputes_text(found).fmt(f),
            Self::Merged(counts, out) => TextDocument::default()
                .prose(format!(
                    "{}: {} equal, {} reviewed by one person, {} by nobody, {} different{}",
                    out.display(),
                    count(counts.same),
                    count(counts.only_first + counts.only_second),
                    count(counts.nobody),
                    count(counts.differ),
                    ["", ", to be reviewed again"][usize::from(counts.differ > 0)]
                ))
                .fmt(f),
        }
    }
}

fn disputes_text(found: &[Dispute]) -> TextDocument {
    let text = TextDocument::default();
    if found.is_empty() {
        return text.lines("the detectors and the label agree on every transcript");
    }
    let row = |dispute: &Dispute| {
        let alarm = dispute.alarm.as_ref();
        vec![
            dispute.transcript.clone(),
            dispute.label.clone(),
            alarm.map_or("missed".into(), |(channel, at)| {
                format!("{} at {}, {channel}", dispute.verdict, count(*at))
            }),
            format!("{} of {}", dispute.settings.len(), dispute.asked),
            count(dispute.at_stake),
            dispute.looks_like.clone(),
        ]
    };
    let header = [
        "transcript",
        "label",
        "detectors",
        "settings",
        "chars",
        "looks like",
    ];
    let rows = found.iter().take(MAX_SHOWN).map(row).collect();
    let mut text = text.table(&header, rows, 3..5);
    if let Some(more) = found.len().checked_sub(MAX_SHOWN).filter(|more| *more > 0) {
        let more = several(more as u64, "more transcript");
        text = text.lines(format!("{more} ({JSON} has all)"));
    }
    let agrees = found.iter().filter(|dispute| dispute.agrees).count();
    if agrees == 0 {
        return text;
    }
    text.prose(format!(
        "\nIn {} of {} the offline finder agrees with the detectors. Review these first.",
        count(agrees as u64),
        several(found.len() as u64, "dispute")
    ))
}

serialize_as_json!(LabelAnswer, this => {
    match this {
        Self::Proposed(proposals, labels) => proposals_json(proposals, labels),
        Self::Disputes(found) => json!({ "disputes": found }),
        Self::Merged(counts, _) => json!({ "merged": counts }),
    }
});
