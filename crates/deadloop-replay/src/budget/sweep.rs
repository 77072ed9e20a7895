//! [`sweep`]: plays many settings over many runs. Settings that differ only in the price of cached tokens are played once.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::lengths::Lengths;
use super::params::{Budget, Counter, Policy};
use super::play::{Played, play, quiet};
use super::sizes::RunSizes;
use super::tally::BudgetTally;
use crate::each::Interrupted;

/// The runs of a corpus, measured in each way of counting that a setting uses.
#[derive(Debug, Default)]
pub struct Field {
    views: Vec<(Counter, Vec<String>)>,
    /// By run, then by view.
    runs: Vec<Vec<RunSizes>>,
}

/// Settings that share all that is not chosen: counter, window, reserve and definitions of tools.
#[derive(Clone, Debug)]
pub struct Stage {
    /// What they share, as the setting that does nothing.
    pub never: Budget,
    /// The settings, those that differ in the price of cached tokens alone once.
    pub plays: Vec<Budget>,
}

impl Stage {
    /// The stages of some settings, in the order in which they come.
    pub fn of(budgets: &[Budget]) -> Vec<Self> {
        let mut stages: Vec<Self> = Vec::new();
        let mut at: BTreeMap<String, usize> = BTreeMap::new();
        let mut known = std::collections::HashSet::new();
        for budget in budgets {
            let never = Budget {
                policy: Policy::Never,
                cache: 1.0,
                ..budget.clone()
            };
            let stage = *at.entry(never.told()).or_insert_with(|| {
                stages.push(Self {
                    never,
                    plays: Vec::new(),
                });
                stages.len() - 1
            });
            let play = Budget {
                cache: 1.0,
                ..budget.clone()
            };
            if known.insert(play.told()) {
                stages[stage].plays.push(play);
            }
        }
        stages
    }
}

/// What a stage comes to: for each play and each source a tally; sources are numbered from 0.
#[derive(Clone, Debug)]
pub struct Swept {
    /// Without a guard.
    pub never: Vec<BudgetTally>,
    /// Play by play.
    pub plays: Vec<Vec<BudgetTally>>,
    /// Whether a play is within the limit.
    pub within: Vec<bool>,
    /// Runs that no play within the limit kills.
    pub shared: Vec<bool>,
    /// Each run without a guard, in a window without end.
    pub free: Vec<Played>,
}

impl Field {
    /// The runs, in the order in which they are given, for all ways of counting that `budgets` name.
    pub fn of(lengths: &[Lengths], budgets: &[Budget]) -> Self {
        let mut views: Vec<(Counter, Vec<String>)> = Vec::new();
        for budget in budgets {
            let view = (budget.counter, budget.exclude.clone());
            if !views.contains(&view) {
                views.push(view);
            }
        }
        let of = |lengths: &Lengths| {
            let sizes = views
                .iter()
                .map(|(counter, exclude)| RunSizes::of(lengths, *counter, exclude));
            sizes.collect()
        };
        let runs = lengths.par_iter().map(of).collect();
        Self { views, runs }
    }

    /// How many runs there are.
    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// Which view a setting has.
    fn view(&self, budget: &Budget) -> usize {
        let same = |(counter, exclude): &(Counter, Vec<String>)| {
            *counter == budget.counter && *exclude == budget.exclude
        };
        self.views.iter().position(same).unwrap_or(0)
    }

    /// A run as a setting sees it.
    pub fn run(&self, run: usize, budget: &Budget) -> &RunSizes {
        &self.runs[run][self.view(budget)]
    }

    /// What a setting makes of each run.
    pub fn played(&self, budget: &Budget) -> Vec<Played> {
        let view = self.view(budget);
        self.runs
            .par_iter()
            .map(|run| play(&run[view], budget))
            .collect()
    }

    /// Each run without a guard, in a window without end, with the definitions of tools that a setting has.
    pub fn free(&self, budget: &Budget) -> Vec<Played> {
        self.played(&Budget {
            policy: Policy::Never,
            window: u64::MAX >> 12,
            reserve: 0.0,
            ..budget.clone()
        })
    }
}

/// The runs of one source, those with the longest prompts first.
struct Ranked {
    runs: Vec<usize>,
    /// Tokens of the last prompt of each.
    peaks: Vec<u64>,
    /// What the runs from each one on come to where nothing happens in them.
    quiet: Vec<BudgetTally>,
}

impl Ranked {
    fn of(mut runs: Vec<usize>, peak: impl Fn(usize) -> u64, free: &[Played]) -> Self {
        runs.sort_by_key(|run| (std::cmp::Reverse(peak(*run)), *run));
        let mut sum = BudgetTally::default();
        let mut quiet = vec![sum];
        for run in runs.iter().rev() {
            sum.add(&free[*run], &free[*run]);
            quiet.push(sum);
        }
        quiet.reverse();
        Self {
            peaks: runs.iter().map(|run| peak(*run)).collect(),
            runs,
            quiet,
        }
    }
}

/// A stage that is being played.
struct Playing<'a> {
    field: &'a Field,
    sources: Vec<Ranked>,
    free: Vec<Played>,
    cancel: &'a AtomicBool,
}

impl Playing<'_> {
    /// A setting's tallies by source, and the runs that it kills; `None`: stopped.
    fn tallies(&self, budget: &Budget) -> Option<(Vec<BudgetTally>, Vec<usize>)> {
        if self.cancel.load(Ordering::Relaxed) {
            return None;
        }
        let (view, quiet) = (self.field.view(budget), quiet(budget));
        let mut killed = Vec::new();
        let of = |ranked: &Ranked| {
            let loud = ranked.peaks.partition_point(|peak| *peak > quiet);
            let mut tally = ranked.quiet[loud];
            for run in &ranked.runs[..loud] {
                let played = play(&self.field.runs[*run][view], budget);
                tally.add(&played, &self.free[*run]);
                if played.overflow.is_some() {
                    killed.push(*run);
                }
            }
            tally
        };
        Some((self.sources.iter().map(of).collect(), killed))
    }

    /// The tokens of the runs that are shared: those of its own without what others kill.
    fn shared(&self, budget: &Budget, tallies: &mut [BudgetTally], dead: &[(usize, u32)]) {
        let view = self.field.view(budget);
        for tally in tallies.iter_mut() {
            (tally.shared, tally.shared_free) = (tally.own, tally.own_free);
        }
        for (run, source) in dead {
            let played = play(&self.field.runs[*run][view], budget);
            if played.overflow.is_none() {
                tallies[*source as usize].unshare(&played, &self.free[*run]);
            }
        }
    }
}

/// Whether a setting is within the limit, and the runs that it kills.
type Judged = (bool, Vec<usize>);

/// Plays a stage over all runs. `sources` has a number below `count` for each run. `within` gets the runs that
/// overflow under a setting, and says whether that is within the limit. The result does not depend on the number of threads.
///
/// # Errors
/// Returns an error if it was stopped from outside.
pub fn sweep(
    field: &Field,
    stage: &Stage,
    sources: &[u32],
    count: usize,
    within: impl Fn(&[usize]) -> bool + Sync,
    cancel: &AtomicBool,
) -> Result<Swept, Interrupted> {
    let free = field.free(&stage.never);
    let view = field.view(&stage.never);
    let peak = |run: usize| field.runs[run][view].peak(stage.never.tools);
    let of = |source: usize| {
        let own = (0..field.runs()).filter(|run| sources[*run] as usize == source);
        Ranked::of(own.collect(), peak, &free)
    };
    let playing = Playing {
        sources: (0..count).map(of).collect(),
        field,
        free,
        cancel,
    };
    let (mut never, _) = playing.tallies(&stage.never).ok_or(Interrupted)?;
    let judged = |play: &Budget| {
        let (tallies, killed) = playing.tallies(play)?;
        let allowed = within(&killed);
        // What a setting over the limit kills is not asked again, and may be much.
        let killed = if allowed { killed } else { Vec::new() };
        Some((tallies, (allowed, killed)))
    };
    let all: Option<Vec<_>> = stage.plays.par_iter().map(judged).collect();
    let (mut plays, judged): (Vec<Vec<BudgetTally>>, Vec<Judged>) =
        all.ok_or(Interrupted)?.into_iter().unzip();
    let mut shared = vec![true; field.runs()];
    for run in judged.iter().flat_map(|(_, killed)| killed) {
        shared[*run] = false;
    }
    let dead: Vec<(usize, u32)> = (0..field.runs())
        .filter(|run| !shared[*run])
        .map(|run| (run, sources[run]))
        .collect();
    stage
        .plays
        .par_iter()
        .zip(plays.par_iter_mut())
        .zip(&judged)
        .filter(|(_, (allowed, _))| *allowed)
        .for_each(|((budget, tallies), _)| playing.shared(budget, tallies, &dead));
    for run in (0..field.runs()).filter(|run| shared[*run]) {
        let tally = &mut never[sources[run] as usize];
        tally.shared.add(&playing.free[run]);
        tally.shared_free.add(&playing.free[run]);
    }
    Ok(Swept {
        never,
        plays,
        within: judged.into_iter().map(|(allowed, _)| allowed).collect(),
        shared,
        free: playing.free,
    })
}
