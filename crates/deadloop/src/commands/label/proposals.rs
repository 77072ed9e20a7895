//! Proposals for a whole corpus: made, written, and told.

use std::ops::ControlFlow;
use std::path::Path;

use deadloop_corpus::{Corpus, Draw, Entry, Ids, Problem, Selection};
use deadloop_detect::Kind;
use deadloop_replay::{Interrupted, each};
use deadloop_run::{foreign, open, refuse_machine};
use deadloop_score::proposing::{DOUBTFUL, Proposal, propose};
use deadloop_score::{Class, LabelRow, write_labels};
use serde_json::{Map, Value, json};

use super::beside;
use crate::args::OnBad;
use crate::exit::{Code, Outcome};
use crate::progress::watched;
use crate::show;

/// A proposal for every selected transcript, in the order of the corpus.
pub(super) fn proposals(
    corpus: &Corpus,
    selection: &Selection,
    on_bad: OnBad,
    quiet: bool,
) -> Outcome<Vec<Proposal>> {
    let look = |entry: Result<Entry, Problem>, _| {
        let entry = entry?;
        let proposal = selection
            .matches(&entry)
            .then(|| propose(&entry.transcript));
        Ok((entry.transcript.id, entry.place, proposal))
    };
    let mut ids = Ids::default();
    let mut problems = Vec::new();
    let mut found = Vec::new();
    watched("labelling", quiet, |watch| {
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
    .map_err(|Interrupted| Code::Interrupted.error("interrupted; no labels were written"))?;
    refuse(&problems, ids.is_empty(), on_bad, quiet)?;
    let found = narrowed(found, selection, Proposal::transcript);
    if found.is_empty() {
        return Err(Code::NothingSelected.error("no transcript is selected"));
    }
    Ok(found)
}

/// Refuses a corpus with problems, or prints them with `--on-bad skip`. `all`: the corpus has no good transcript.
fn refuse(problems: &[Problem], all: bool, on_bad: OnBad, quiet: bool) -> Outcome {
    refuse_machine(problems)?;
    if let Some(what) = foreign(problems).filter(|_| all && on_bad == OnBad::Fail) {
        return Err(Code::Usage.error(what));
    }
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    match on_bad {
        _ if problems.is_empty() => {}
        OnBad::Fail => {
            let hint = "nothing was labelled; mend them, or leave them out with --on-bad skip";
            let what = format!("the corpus is not whole\n{}\n{hint}", lines.join("\n"));
            return Err(Code::Usage.error(what));
        }
        OnBad::Skip if !quiet => show::remark(format_args!("left out:\n{}", lines.join("\n"))),
        OnBad::Skip => {}
    }
    Ok(())
}

/// Applies `--limit`, then `--sample`.
pub(super) fn narrowed<T>(
    mut found: Vec<T>,
    selection: &Selection,
    id: impl Fn(&T) -> &str,
) -> Vec<T> {
    found.truncate(selection.limit.unwrap_or(usize::MAX));
    if let Some(sample) = selection.sample {
        let mut draw = Draw::new(sample);
        found.iter().for_each(|one| draw.offer(id(one)));
        let drawn = draw.finish();
        found.retain(|one| drawn.contains(id(one)));
    }
    found
}

/// What was proposed, for people: a table of transcripts by class, and of repetitions by kind.
pub(super) fn table(proposals: &[Proposal], labels: &Path) -> String {
    let count = |n: usize| show::count(n as u64);
    let mut rows = Vec::new();
    for class in Class::ALL {
        let of = of_class(proposals, class);
        if of.is_empty() {
            continue;
        }
        let uncertain = uncertain(of.iter().copied());
        rows.push(vec![class.name().into(), count(of.len()), count(uncertain)]);
        let spans = of.iter().flat_map(|p| &p.rows);
        let spans = spans.filter(|row| row.class == class);
        let kinds: Vec<Kind> = spans.filter_map(|row| row.kind).collect();
        for kind in Kind::ALL {
            let n = kinds.iter().filter(|k| **k == kind).count();
            if n > 0 {
                rows.push(vec![format!("  {kind}"), count(n), String::new()]);
            }
        }
    }
    let doubtful = uncertain(proposals);
    rows.push(vec!["all".into(), count(proposals.len()), count(doubtful)]);
    let mut text = show::table(&["proposed", "count", "uncertain"], &rows, 1);
    text += &format!(
        "\n\n{}: proposals, reviewed by nobody; uncertain: confidence below {DOUBTFUL}",
        labels.display()
    );
    let of = |class| of_class(proposals, class).len();
    if of(Class::Transient) > of(Class::Loop) {
        text += "\nmore repetitions ended than went on: one at the end of a response that ended by itself (finish reason stop) counts as ended";
    }
    if let Some(rate) = loop_rate(proposals) {
        text += &format!(
            "\n{} of {} loop; if these are all the responses of some time, and no selection, guess --loop-rate 1/{:.0}",
            count(of(Class::Loop)),
            count(proposals.len()),
            1.0 / rate,
        );
    }
    text
}

/// The fewest transcripts that may be a whole sample of logs.
const SAMPLE: usize = 100;
/// The smallest share of a whole sample that says how it ended.
const FINISHED: f64 = 0.95;

/// The share of transcripts that loop, as a guess of what production has: where nearly all say how they ended, so that
/// none was recorded for its loop alone. `None` where that cannot be, or nothing loops.
#[allow(clippy::cast_precision_loss)]
fn loop_rate(proposals: &[Proposal]) -> Option<f64> {
    let n = proposals.len();
    let finished = proposals.iter().filter(|p| p.finished).count();
    let loops = of_class(proposals, Class::Loop).len();
    let whole = n >= SAMPLE && finished as f64 >= FINISHED * n as f64;
    (whole && loops > 0 && loops < n).then(|| loops as f64 / n as f64)
}

/// What was proposed, for programs.
pub(super) fn json(proposals: &[Proposal], labels: &Path) -> Value {
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

fn of_class(proposals: &[Proposal], class: Class) -> Vec<&Proposal> {
    proposals.iter().filter(|p| p.class == class).collect()
}

/// How many proposals are below the confidence that needs no look.
fn uncertain<'a>(proposals: impl IntoIterator<Item = &'a Proposal>) -> usize {
    let doubtful = |p: &&Proposal| p.confidence < DOUBTFUL;
    proposals.into_iter().filter(doubtful).count()
}

/// Proposes labels for all of a corpus that has none, and writes them beside its transcripts. Returns what was
/// proposed, for people and for programs.
pub(crate) fn label_all(corpus: &Path, quiet: bool) -> Outcome<(String, Value)> {
    let labels = beside(corpus);
    let proposals = proposals(&open(corpus)?, &Selection::default(), OnBad::Fail, quiet)?;
    write(&proposals, &labels)?;
    Ok((table(&proposals, &labels), json(&proposals, &labels)))
}

/// Writes the rows of all proposals.
pub(super) fn write(proposals: &[Proposal], labels: &Path) -> Outcome {
    let rows: Vec<LabelRow> = proposals.iter().flat_map(|p| p.rows.clone()).collect();
    Ok(write_labels(labels, &rows)?)
}
