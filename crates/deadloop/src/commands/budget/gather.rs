//! [`gather`]: one pass over the corpus: how long the events of each run are, and what its labels say.

use std::path::PathBuf;
use std::sync::Arc;

use deadloop_corpus::Entry;
use deadloop_detect::Channel;
use deadloop_replay::budget::{Budget, Field, Lengths};
use deadloop_score::budget::{BudgetRuns, LimitCase};
use deadloop_score::{Case, Class, CorpusInfo, Manifest, Span};

use super::Budget as BudgetArgs;
use super::make::Made;
use crate::args::Global;
use crate::exit::{Code, Outcome};
use crate::host::Terminal;
use crate::show;
use deadloop_run::{Surveyed, Wanted, open, survey_with};

/// The name for a run that has no source.
const NONE: &str = "-";

/// The runs of a corpus, without their texts.
pub(crate) struct Gathered {
    pub(crate) surveyed: Surveyed,
    /// The ids of the transcripts that have a turn: the others are no runs.
    pub(crate) ids: Vec<Arc<str>>,
    /// Their groups, and which are copies.
    pub(crate) runs: BudgetRuns,
    /// Their sources, as numbers of `names`.
    pub(crate) sources: Vec<u32>,
    /// The sources, in order.
    pub(crate) names: Vec<String>,
    pub(crate) field: Field,
    pub(crate) limits: Vec<LimitCase>,
    /// Transcripts without a turn.
    pub(crate) turnless: u64,
    path: PathBuf,
}

/// Reads the corpus. `budgets` say which ways of counting are wanted.
pub(crate) fn gather(args: &BudgetArgs, budgets: &[Budget], global: Global) -> Outcome<Gathered> {
    let by = [args.by.clone()];
    let wanted = Wanted {
        path: &args.corpus,
        selection: args.select.selection()?,
        by: &by,
        entry: None,
        host: &Terminal::of(global),
    };
    let look = |entry: &Entry, case: &Case| {
        let lengths = Lengths::of(&entry.transcript);
        let limit = limit_case(&lengths, case);
        (lengths, limit)
    };
    let (surveyed, seen) = survey_with(open(&args.corpus)?, wanted, look)?;
    let mut found = Gathered {
        ids: Vec::new(),
        runs: BudgetRuns::default(),
        sources: Vec::new(),
        names: Vec::new(),
        field: Field::default(),
        limits: Vec::new(),
        turnless: 0,
        path: args.corpus.clone(),
        surveyed,
    };
    let (mut kept, mut cases) = (Vec::new(), Vec::new());
    for (case, (lengths, limit)) in found.surveyed.cases.iter().zip(seen) {
        if lengths.prompts().is_empty() {
            found.turnless += 1;
            continue;
        }
        found.ids.push(case.id.clone());
        cases.push(case);
        found.limits.push(limit);
        kept.push(lengths);
    }
    found.runs = BudgetRuns::of(&cases);
    found.names = found
        .limits
        .iter()
        .map(|case| case.source.to_string())
        .collect();
    found.names.sort_unstable();
    found.names.dedup();
    let number = |case: &LimitCase| {
        let at = found.names.iter().position(|name| **name == *case.source);
        at.unwrap_or(0) as u32
    };
    found.sources = found.limits.iter().map(number).collect();
    found.field = Field::of(&kept, budgets);
    Ok(found)
}

/// A run as limits on its turns see it.
fn limit_case(lengths: &Lengths, case: &Case) -> LimitCase {
    let spans = case.truth.iter().flat_map(|truth| &truth.spans);
    let loops = spans.filter(|span| span.class == Class::Loop);
    let stuck = loops.map(|span| stuck(span, case));
    let known = case.class().is_some_and(|class| class != Class::Unsure);
    LimitCase {
        turns: lengths.prompts().len() as u64,
        stuck: stuck.collect(),
        labelled: known,
        source: case
            .by
            .first()
            .cloned()
            .flatten()
            .unwrap_or_else(|| NONE.into())
            .into(),
    }
}

/// The turns in which a loop stands, from and to, from 0. A turn begins before its calls: that of the call behind the
/// loop is no part of it.
fn stuck(span: &Span, case: &Case) -> (u64, u64) {
    let (onset, end) = (span.onset.count(), span.end.count());
    if span.channel == Channel::Turns {
        return (onset, end.max(onset));
    }
    let from = span.seen.turns.0.saturating_sub(1);
    let last = case.timeline.before(span.channel, end.saturating_sub(1));
    (from, last.turns.0.max(from))
}

impl Gathered {
    /// Refuses a corpus without a single turn.
    pub(crate) fn has_turns(&self) -> Outcome {
        match self.ids.is_empty() {
            true => Err(Code::NothingSelected.error(format!(
                "none of {} has a turn; a budget applies to runs of agents (events `turn`, `tool_call`, `tool_result`, `user`)",
                show::several(self.turnless, "transcript")
            ))),
            false => Ok(()),
        }
    }

    /// The source of a run.
    pub(crate) fn source(&self, run: usize) -> &str {
        self.names
            .get(self.sources[run] as usize)
            .map_or(NONE, String::as_str)
    }

    /// The manifest of the result.
    pub(crate) fn manifest(&self, inputs: &str, grid: &str, made: &Made) -> Manifest {
        let surveyed = &self.surveyed;
        Manifest {
            deadloop: env!("CARGO_PKG_VERSION").into(),
            command: "budget".into(),
            args: std::env::args_os()
                .map(|arg| arg.to_string_lossy().into_owned())
                .collect(),
            started_in: std::env::current_dir()
                .map_or_else(|_| String::new(), |dir| dir.display().to_string()),
            inputs: inputs.into(),
            corpus: CorpusInfo {
                path: self.path.display().to_string(),
                name: surveyed.corpus.card().and_then(|card| card.name.clone()),
                hash: surveyed.hash.clone(),
                transcripts: self.ids.len() as u64,
                chars: 0,
                filtered: surveyed.filtered,
                rejected: surveyed.problems.len() as u64,
                by: Vec::new(),
            },
            grid: Some(grid.into()),
            seed: made.seed,
            cells: made.settings,
            cores: std::thread::available_parallelism().map_or(0, |n| n.get() as u64),
            threads: rayon::current_num_threads() as u64,
            summary: made.summary.clone(),
            ended: made.ended.as_ref().map(crate::exit::Failure::ended),
            constraints: vec![format!("overflow<={}", made.limit)],
            ..Manifest::default()
        }
    }
}
