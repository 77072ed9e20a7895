//! `deadloop label`: proposes labels, reviews them, and merges two reviews.
//!
//! | to find | look in |
//! |---|---|
//! | a review, disputes, proposals for a corpus | `deadloop_run::label` |
//! | the view of a transcript | `view` |
//! | the terminal, or lines of keys in its place | `terminal_review` |
//! | the page in the browser | `web` |
//! | the answers of two reviewers in one file | `reviewer_merge` |
//! | the disputes between detectors and labels, as a table | `disputes` |

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use deadloop_corpus::{Corpus, Entry, Problem, Selection, UnfinishedFile, is_named};
use deadloop_replay::{Interruption, each};
use deadloop_score::LabelRow;
use deadloop_score::proposals::Proposal;

mod disputes;
mod reviewer_merge;
mod terminal_review;
mod view;
mod web;

use disputes::disputes_table;
use reviewer_merge::merge;
use terminal_review::review;

use crate::args::{GlobalArgs, SelectArgs};
use crate::exit::{Code, Outcome};
use crate::host::Terminal;
use crate::interrupt;
use crate::progress::with_progress_bar;
use crate::proposals::{self, beside};
use crate::show::{self, typed};
use deadloop_run::label::{Review, disputes, narrowed, proposed_json, write_proposals};
use deadloop_run::{apart, open};

pub(crate) const HELP: &str = include_str!("help.txt");

/// The chars of text that a review shows around each mark.
const CONTEXT: u64 = 200;

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("asks").multiple(true)))]
#[command(group(ArgGroup::new("two")))]
pub(crate) struct LabelArgs {
    /// A corpus: a folder, or one .jsonl file
    #[arg(required_unless_present = "two")]
    corpus: Option<PathBuf>,
    /// Ask about these transcripts, reviewed or not
    #[arg(value_name = "TRANSCRIPT", requires = "asks")]
    ids: Vec<String>,
    /// The file of labels to write, or to revise with --review [default: labels.csv beside the transcripts]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Overwrite existing labels
    #[arg(long)]
    force: bool,
    /// Ask about each unreviewed proposal, the most uncertain first; makes proposals first if there are no labels
    #[arg(long, group = "asks")]
    review: bool,
    /// Review in a browser on this machine, with the same keys: prints the address of a page, on a free port or on PORT
    #[arg(long, group = "asks", value_name = "PORT", num_args = 0..=1, require_equals = true, default_missing_value = "0")]
    serve: Option<u16>,
    /// Also ask about labels that were reviewed
    #[arg(long, requires = "asks")]
    again: bool,
    /// The name of the reviewer: rows get by = review:NAME
    #[arg(long, value_name = "NAME", default_value = "me", value_parser = reviewer)]
    reviewer: String,
    /// Write the answers of two reviewers to --out as one file; where they differ nobody has answered, and a review of
    /// that file asks about it first
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with = "asks", group = "two")]
    merge: Option<Vec<PathBuf>>,
    /// List the transcripts on which the label and the detectors of RESULT (a folder of `replay` or `tune`) disagree,
    /// worst first; with --review, ask about these
    #[arg(long, value_name = "RESULT", conflicts_with = "two")]
    disputes: Option<PathBuf>,
    #[command(flatten)]
    select: SelectArgs,
}

impl LabelArgs {
    /// Returns whether a person is asked, in a terminal or in a browser.
    fn asks(&self) -> bool {
        self.review || self.serve.is_some()
    }
}

/// The maximum number of disputes shown on the terminal.
const SHOWN: usize = 40;

/// Checks the name of a reviewer. The name becomes a cell of labels.csv, where a line break would look like a missing
/// quote.
fn reviewer(name: &str) -> Result<String, String> {
    if name.is_empty() || name.contains(char::is_control) {
        Err("expected a name on one line".into())
    } else {
        Ok(name.to_owned())
    }
}

pub(super) fn run(args: &LabelArgs, global: GlobalArgs) -> Outcome {
    if let Some([first, second]) = args.merge.as_deref() {
        return merge(args, global, (first, second));
    }
    let Some(path) = &args.corpus else {
        return Err(Code::Usage.error("no corpus; expected a folder, or one .jsonl file"));
    };
    let corpus = open(path)?;
    if let (Some(results), false) = (&args.disputes, args.asks()) {
        return dispute(args, global, &corpus, results);
    }
    let labels = args.out.clone().unwrap_or_else(|| beside(path));
    if args.asks() && is_named(&labels) {
        return ask(args, global, &corpus, &labels);
    }
    if is_named(&labels) && !args.force {
        let labels = labels.display();
        let what =
            format!("{labels} is there already: --force overwrites it, --out writes another");
        return Err(Code::Usage.error(what));
    }
    prove_writable(&labels)?;
    apart(&[("--out", labels.clone())], &corpus_files(&corpus))?;
    let selection = args.select.selection()?;
    let (unlabelled, on_bad) = (args.out.is_none() && path.is_dir(), args.select.on_bad);
    let proposals = proposals::proposals(&corpus, &selection, unlabelled, on_bad, global.quiet)?;
    write_proposals(&proposals, &labels)?;
    if args.asks() {
        return ask(args, global, &corpus, &labels);
    }
    print_counts(args, &proposals, &labels, global)
}

fn corpus_files(corpus: &Corpus) -> Vec<&Path> {
    corpus.files().iter().map(PathBuf::as_path).collect()
}

/// Checks before any work that the file of labels can be written.
fn prove_writable(labels: &Path) -> Outcome {
    let dir = labels.parent().filter(|dir| !dir.as_os_str().is_empty());
    let dir = dir.unwrap_or(Path::new("."));
    interrupt::sweeps(dir);
    let made = UnfinishedFile::create(labels, true).map(drop);
    made.map_err(|e| Code::Usage.error(e))
}

/// Prints the counts of the proposals.
fn print_counts(
    args: &LabelArgs,
    proposals: &[Proposal],
    labels: &Path,
    global: GlobalArgs,
) -> Outcome {
    if global.json {
        return show::print_json(&proposed_json(proposals, labels));
    }
    if global.quiet {
        return Ok(());
    }
    show::print(&show::prose(&proposals::table(proposals, labels)))?;
    let corpus = args.corpus.as_deref().map(typed).unwrap_or_default();
    let out = args
        .out
        .as_deref()
        .map(|out| format!(" --out {}", typed(out)));
    let out = out.unwrap_or_default();
    let next = [
        format!("deadloop label {corpus} --review{out}"),
        format!("deadloop check {corpus}"),
    ];
    show::next(&next.each_ref().map(String::as_str), global)
}

fn ask(args: &LabelArgs, global: GlobalArgs, corpus: &Corpus, labels: &Path) -> Outcome {
    let rows = LabelRow::read(labels).map_err(|problems| {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        Code::Usage.error(lines.join("\n"))
    })?;
    let only = asked_about(args, corpus, &rows, global.quiet)?;
    prove_writable(labels)?;
    let task = Review {
        corpus,
        labels,
        reviewer: &args.reviewer,
        only,
        again: args.again || !args.ids.is_empty(),
        context: CONTEXT,
        host: &Terminal::silent(),
    };
    let (answered, left) = match args.serve {
        Some(port) => web::serve(&task, rows, port)?,
        None => review(&task, rows)?,
    };
    if global.json {
        let told = serde_json::json!({"answered": answered, "left": left});
        return show::print_json(&told);
    }
    if !global.quiet {
        show::print(&format!(
            "{answered} answered, {left} left: {}",
            labels.display()
        ))?;
    }
    let corpus = args.corpus.as_deref().map(typed).unwrap_or_default();
    let next = match (answered + left, left) {
        (0, _) => format!("deadloop label {corpus} --review --again"),
        (_, 0) => format!("deadloop check {corpus}"),
        _ => format!("deadloop label {corpus} --review"),
    };
    show::next(&[&next], global)
}

/// Returns the transcripts to review: the selected ones, reduced to the named ids or the disputes. Fails if none of
/// them has a label.
fn asked_about(
    args: &LabelArgs,
    corpus: &Corpus,
    rows: &[LabelRow],
    quiet: bool,
) -> Outcome<BTreeSet<String>> {
    let known: BTreeSet<&str> = rows.iter().map(|row| row.transcript.as_str()).collect();
    if let Some(id) = args.ids.iter().find(|id| !known.contains(id.as_str())) {
        let near = deadloop_detect::harness::did_you_mean(id, known.iter().copied());
        let what = format!("{id}: no row of the labels is about it{near}");
        return Err(Code::NothingSelected.error(what));
    }
    let mut only = selected_ids(corpus, &args.select.selection()?, quiet)?;
    if !args.ids.is_empty() {
        only.retain(|id| args.ids.contains(id));
    }
    if let Some(results) = &args.disputes {
        let found = disputes(corpus, results, &only, &Terminal { quiet })?;
        only = found.into_iter().map(|one| one.transcript).collect();
    }
    if !only.iter().any(|id| known.contains(id.as_str())) {
        let what = "no transcript with a label is selected; nothing was asked";
        return Err(Code::NothingSelected.error(what));
    }
    Ok(only)
}

/// Prints the disputes between detectors and labels.
fn dispute(args: &LabelArgs, global: GlobalArgs, corpus: &Corpus, results: &Path) -> Outcome {
    let meant = selected_ids(corpus, &args.select.selection()?, global.quiet)?;
    if meant.is_empty() {
        return Err(Code::NothingSelected.error("no transcript is selected"));
    }
    let found = disputes(corpus, results, &meant, &Terminal::new(global))?;
    if global.json {
        return show::print_json(&serde_json::json!({ "disputes": found }));
    }
    if global.quiet {
        return Ok(());
    }
    if found.is_empty() {
        return show::print("the detectors and the label agree on every transcript");
    }
    let agrees = found.iter().filter(|one| one.agrees).count() as u64;
    show::print(&disputes_table(&found, SHOWN))?;
    show::print(&show::prose(&format!(
        "\n{} of {}: the offline finder reads the text as the detectors do, so read those labels first",
        show::count(agrees),
        show::several(found.len() as u64, "dispute")
    )))?;
    let corpus = args.corpus.as_deref().map(typed).unwrap_or_default();
    let next = format!(
        "deadloop label {corpus} --disputes {} --review",
        typed(results)
    );
    show::next(&[&next], global)
}

/// Returns the ids of the transcripts that the filters select.
fn selected_ids(corpus: &Corpus, selection: &Selection, quiet: bool) -> Outcome<BTreeSet<String>> {
    let mut ids = Vec::new();
    let id = |entry: Result<Entry, Problem>, _| {
        let entry = entry.ok().filter(|entry| selection.matches(entry))?;
        Some(entry.transcript.id)
    };
    with_progress_bar("reading", quiet, |watch| {
        each(corpus, watch, id, |id| {
            ids.extend(id);
            ControlFlow::Continue(())
        })
    })
    .map_err(|Interruption| Code::Interrupted.error("interrupted"))?;
    let ids = narrowed(ids, selection, String::as_str);
    Ok(ids.into_iter().collect())
}
