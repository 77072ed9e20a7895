//! Proposals for a whole corpus: made, counted and written.

use std::ops::ControlFlow;
use std::path::Path;

use deadloop_corpus::{Corpus, Entry, Ids, Problem, SampleDraw, Selection};
use deadloop_replay::{Interruption, each};
use deadloop_score::proposals::{DOUBTFUL, Proposal, propose};
use deadloop_score::{Class, LabelRow, write_labels};
use serde_json::{Map, Value, json};

use crate::failure::{Code, RunResult};
use crate::host::{Host, watched};

/// The proposals for a corpus.
pub struct CorpusProposals {
    /// A proposal for every selected transcript, in the order of the corpus.
    pub proposals: Vec<Proposal>,
    /// The problems of records that cannot be read.
    pub problems: Vec<Problem>,
    /// Whether the corpus has no good record at all.
    pub empty: bool,
}

/// Proposes labels for every selected transcript, in the order of the corpus. With `unlabelled`, transcripts with labels
/// inside are left out: a labels.csv that names them would replace these.
///
/// # Errors
/// Returns an error if the host stopped it.
pub fn proposed(
    corpus: &Corpus,
    selection: &Selection,
    unlabelled: bool,
    host: &dyn Host,
) -> RunResult<CorpusProposals> {
    let look = |entry: Result<Entry, Problem>, _| {
        let entry = entry?;
        let is_wanted = selection.matches(&entry) && !(unlabelled && entry.labels.is_some());
        let proposal = is_wanted.then(|| propose(&entry.transcript));
        Ok((entry.transcript.id, entry.place, proposal))
    };
    let mut ids = Ids::default();
    let mut problems = Vec::new();
    let mut found = Vec::new();
    watched(host, "labelling", |watch| {
        each(corpus, watch, look, |looked| {
            let unique = looked.and_then(|(id, place, proposal)| {
                ids.insert(&id, &place)?;
                Ok(proposal)
            });
            match unique {
                Ok(proposal) => found.extend(proposal),
                Err(problem) => problems.push(problem),
            }
            ControlFlow::Continue(())
        })
    })
    .map_err(|Interruption| Code::Interrupted.error("interrupted; no labels were written"))?;
    Ok(CorpusProposals {
        proposals: narrowed(found, selection, Proposal::transcript),
        problems,
        empty: ids.is_empty(),
    })
}

/// Applies the limit of a selection, then its sample.
pub fn narrowed<T>(mut found: Vec<T>, selection: &Selection, id: impl Fn(&T) -> &str) -> Vec<T> {
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
const SAMPLE: usize = 100;
/// The minimum share of finished transcripts for an estimate of the loop rate.
const FINISHED: f64 = 0.95;

/// Estimates production's loop rate as the share of transcripts that loop. Nearly all must have a recorded end, which
/// excludes samples that were collected because of their loops. `None` for fewer than 100 transcripts, for too few
/// recorded ends, or if none or all loop.
pub fn loop_rate(proposals: &[Proposal]) -> Option<f64> {
    let n = proposals.len();
    let finished = proposals.iter().filter(|p| p.finished).count();
    let loops = of_class(proposals, Class::Loop).len();
    let whole = n >= SAMPLE && finished as f64 >= FINISHED * n as f64;
    (whole && loops > 0 && loops < n).then(|| loops as f64 / n as f64)
}

/// Returns the counts of proposals as JSON.
pub fn proposed_json(proposals: &[Proposal], labels: &Path) -> Value {
    let classes = Class::ALL.map(|class| {
        let of = of_class(proposals, class);
        let uncertain = uncertain(of.iter().copied());
        let counted = json!({"transcripts": of.len(), "uncertain": uncertain});
        (class.name().to_owned(), counted)
    });
    json!({
        "labels": labels.display().to_string(), "transcripts": proposals.len(),
        "uncertain": uncertain(proposals), "classes": classes.into_iter().collect::<Map<_, _>>(),
        "loop_rate": loop_rate(proposals),
    })
}

/// Returns the proposals of a class.
pub fn of_class(proposals: &[Proposal], class: Class) -> Vec<&Proposal> {
    proposals.iter().filter(|p| p.class == class).collect()
}

/// Counts the proposals whose confidence is too low to be accepted unseen.
pub fn uncertain<'a>(proposals: impl IntoIterator<Item = &'a Proposal>) -> usize {
    let doubtful = |p: &&Proposal| p.confidence < DOUBTFUL;
    proposals.into_iter().filter(doubtful).count()
}

/// Writes the rows of all proposals.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub fn write_proposals(proposals: &[Proposal], labels: &Path) -> RunResult {
    let rows: Vec<LabelRow> = proposals.iter().flat_map(|p| p.rows.clone()).collect();
    Ok(write_labels(labels, &rows)?)
}
