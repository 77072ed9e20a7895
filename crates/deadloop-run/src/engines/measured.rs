//! What an export costs: a setting and its twin on recordings.

use std::num::NonZeroU64;
use std::path::Path;

use deadloop_corpus::Selection;
use deadloop_detect::{Chars, Event, Settings, Unit};
use deadloop_replay::{Job, Plan, PlanGuards, run as replayed};
use deadloop_score::{Evidence, Tally};

use crate::asking::failed;
use crate::failure::RunResult;
use crate::host::watched;
use crate::programs;
use crate::request::Judging;
use crate::survey::{Wanted, open, survey};

/// What a setting did on the recordings: a tally, and the unit that it counts in.
pub type Measured = (Unit, Tally);

/// The setting and its twin on the recordings.
///
/// # Errors
/// The corpus is not whole and nothing `skips` that, nothing is selected, a program does not start, or the host stopped it.
pub fn measured(
    both: [&Settings; 2],
    wanted: Wanted<'_>,
    skips: bool,
    judging: &Judging,
    chunks: Option<NonZeroU64>,
) -> RunResult<Vec<Measured>> {
    let host = wanted.host;
    let mut plan = Plan::default();
    let cells = both.map(|settings| plan.add_settings(settings));
    let running = programs::start(&plan, host)?;
    let surveyed = survey(wanted)?;
    surveyed.accept(skips, host)?;
    surveyed.tell_rejected(host);
    let judge = judging.options_for(&surveyed.cases)?;
    let job = Job {
        corpus: &surveyed.corpus,
        ids: &surveyed.ids(),
        subject: &PlanGuards {
            plan: &plan,
            programs: &running,
            chunks,
        },
    };
    let ran = watched(host, "replaying", |watch| replayed(&job, None, watch));
    let records = ran.map_err(failed)?.records;
    programs::tell_errors(&records, host);
    let evidence = Evidence::new(&plan, &surveyed.cases, &records)?;
    let tally = |cell: usize| (judge.unit, evidence.tally(cell, &evidence.all(), &judge));
    Ok(cells.into_iter().map(tally).collect())
}

/// Chars per token over the events that count tokens, in the selected transcripts: those of the model, where
/// one is named.
///
/// # Errors
/// The corpus cannot be opened.
pub fn recorded_token(
    path: &Path,
    selection: &Selection,
    model: Option<&str>,
) -> RunResult<Option<f64>> {
    let corpus = open(path)?;
    let (mut chars, mut tokens) = (0_u64, 0_u64);
    // What cannot be read is told by whoever measures.
    for entry in corpus.entries().filter_map(Result::ok) {
        let other = |own: &str| own != entry.transcript.model;
        if !selection.matches(&entry) || model.is_some_and(other) {
            continue;
        }
        let counted = entry.transcript.events.iter();
        for (event, n) in counted.filter_map(|event| Some((event, event.tokens?))) {
            if let Event::Text(_, text) = event.seen() {
                chars += Chars::of(text).0;
                tokens += n;
            }
        }
    }
    Ok((tokens > 0).then(|| chars as f64 / tokens as f64))
}
