//! Proposes labels for a whole corpus, and formats their counts.

use std::path::Path;

use deadloop_corpus::{Corpus, Entry, Ids, Problem, SampleDraw, Selection};
use deadloop_detect::Kind;
use deadloop_score::Class;
use deadloop_score::proposals::{DOUBTFUL, Proposal, propose};
use serde_json::{Map, Value, json};

use crate::failure::RunResult;
use crate::host::{Host, find_in};
use crate::layout::TextDocument;
use crate::option::LOOP_RATE;
use crate::words::count;

/// The labels proposed for a corpus.
pub(crate) struct CorpusProposals {
    /// A proposal for every selected transcript, in the order of the corpus.
    pub(crate) proposals: Vec<Proposal>,
    /// The problems of records that cannot be read.
    pub(crate) problems: Vec<Problem>,
    /// Whether the corpus has no valid record.
    pub(crate) empty: bool,
}

/// Proposes labels for every selected transcript, in the order of the corpus. If `unlabelled`, transcripts with labels
/// inside are left out, since a labels.csv would replace these labels.
///
/// # Errors
/// Returns an error if the host stopped it.
pub(crate) fn propose_labels(
    corpus: &Corpus,
    selection: &Selection,
    unlabelled: bool,
    host: &dyn Host,
) -> RunResult<CorpusProposals> {
    let look = |entry: Result<Entry, Problem>| {
        let read = entry.map(|entry| {
            let is_wanted = selection.matches(&entry) && !(unlabelled && entry.labels.is_some());
            let proposal = is_wanted.then(|| propose(&entry.transcript));
            (entry.transcript.id, entry.place, proposal)
        });
        Some(read)
    };
    let interrupted = "interrupted; no labels were written";
    let (mut ids, mut problems, mut found) = (Ids::default(), Vec::new(), Vec::new());
    for looked in find_in(corpus, host, ("labelling", interrupted), look)? {
        let unique = looked.and_then(|(id, place, proposal)| {
            ids.insert(&id, &place)?;
            Ok(proposal)
        });
        match unique {
            Ok(proposal) => found.extend(proposal),
            Err(problem) => problems.push(problem),
        }
    }
    Ok(CorpusProposals {
        proposals: limit_and_sample(found, selection, Proposal::transcript),
        problems,
        empty: ids.is_empty(),
    })
}

/// Applies the limit of a selection, then its sample. `id` returns the transcript id of an item.
pub(crate) fn limit_and_sample<T>(
    mut found: Vec<T>,
    selection: &Selection,
    id: impl Fn(&T) -> &str,
) -> Vec<T> {
    found.truncate(selection.limit.unwrap_or(usize::MAX));
    if let Some(sample) = selection.sample {
        let mut draw = SampleDraw::new(sample);
        found.iter().for_each(|one| draw.offer(id(one)));
        let drawn = draw.finish();
        found.retain(|one| drawn.contains(id(one)));
    }
    found
}

/// The minimum number of transcripts for an estimate of the loop rate.
const MIN_RATE_TRANSCRIPTS: usize = 100;
/// The minimum share of transcripts with a recorded end for an estimate of the loop rate.
const MIN_FINISHED_SHARE: f64 = 0.95;

/// Estimates the loop rate in production as the share of transcripts that loop. `None` if the corpus is too small, has
/// too few recorded ends, or if none or all of it loops. A sample that was collected because of its loops has few
/// recorded ends.
fn estimate_loop_rate(proposals: &[Proposal]) -> Option<f64> {
    let n = proposals.len();
    let finished = proposals.iter().filter(|p| p.finished).count();
    let loops = proposals_of_class(proposals, Class::Loop).len();
    let whole = n >= MIN_RATE_TRANSCRIPTS && finished as f64 >= MIN_FINISHED_SHARE * n as f64;
    (whole && loops > 0 && loops < n).then(|| loops as f64 / n as f64)
}

/// Formats the counts of proposals as a table of transcripts by class, and repetitions by kind.
pub(crate) fn proposals_text(proposals: &[Proposal], labels: &Path) -> TextDocument {
    let shown = |n: usize| count(n as u64);
    let mut rows = Vec::new();
    for class in Class::ALL {
        let of = proposals_of_class(proposals, class);
        if of.is_empty() {
            continue;
        }
        let uncertain = count_uncertain(of.iter().copied());
        rows.push(vec![class.name().into(), shown(of.len()), shown(uncertain)]);
        let spans = of.iter().flat_map(|p| &p.rows);
        let spans = spans.filter(|row| row.class == class);
        let kinds: Vec<Kind> = spans.filter_map(|row| row.kind).collect();
        for kind in Kind::ALL {
            let n = kinds.iter().filter(|k| **k == kind).count();
            if n > 0 {
                rows.push(vec![format!("  {kind}"), shown(n), String::new()]);
            }
        }
    }
    let (all, doubtful) = (proposals.len(), count_uncertain(proposals));
    rows.push(vec!["all".into(), shown(all), shown(doubtful)]);
    let of = |class| proposals_of_class(proposals, class).len();
    let mut text = TextDocument::default()
        .table(&["proposed", "count", "uncertain"], rows, 1..3)
        .prose(format!(
            "\n{}: proposals, reviewed by nobody; uncertain: confidence below {DOUBTFUL}",
            labels.display()
        ));
    if of(Class::Transient) > of(Class::Loop) {
        text = text.prose("more repetitions ended than went on: one at the end of a response that ended by itself (finish reason stop) counts as ended");
    }
    match estimate_loop_rate(proposals) {
        Some(rate) => text.prose(format!(
            "{} of {} loop. If they are a fair sample of your traffic, use {LOOP_RATE} 1/{:.0}.",
            shown(of(Class::Loop)),
            shown(all),
            1.0 / rate,
        )),
        None => text,
    }
}

/// Returns the counts of proposals as JSON.
pub(crate) fn proposals_json(proposals: &[Proposal], labels: &Path) -> Value {
    let classes = Class::ALL.map(|class| {
        let of = proposals_of_class(proposals, class);
        let uncertain = count_uncertain(of.iter().copied());
        let counted = json!({"transcripts": of.len(), "uncertain": uncertain});
        (class.name().to_owned(), counted)
    });
    json!({
        "labels": labels.display().to_string(), "transcripts": proposals.len(),
        "uncertain": count_uncertain(proposals), "classes": classes.into_iter().collect::<Map<_, _>>(),
        "loop_rate": estimate_loop_rate(proposals),
    })
}

/// Returns the proposals of a class.
fn proposals_of_class(proposals: &[Proposal], class: Class) -> Vec<&Proposal> {
    proposals.iter().filter(|p| p.class == class).collect()
}

/// Counts the proposals whose confidence is too low to accept them unread.
fn count_uncertain<'a>(proposals: impl IntoIterator<Item = &'a Proposal>) -> usize {
    let doubtful = |p: &&Proposal| p.confidence < DOUBTFUL;
    proposals.into_iter().filter(doubtful).count()
}
