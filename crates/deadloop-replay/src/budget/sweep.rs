//! [`sweep`]: simulates many settings over many runs.
//!
//! Settings that differ only in the price of cached tokens are simulated once.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::lengths::Lengths;
use super::params::{Budget, Policy, TokenCounter};
use super::simulation::{SimulatedRun, longest_quiet_prompt, simulate_run};
use super::sizes::RunSizes;
use super::tally::BudgetTally;
use crate::corpus_pass::{Interruption, PassResult};

/// The runs of a corpus, measured by each token counter that the settings use.
#[derive(Debug, Default)]
pub struct MeasuredRuns {
    counters: Vec<TokenCounter>,
    /// The sizes of each run, by counter.
    runs: Vec<Vec<RunSizes>>,
}

/// A group of settings with the same counter, window, reserve and tool definitions.
#[derive(Clone, Debug)]
pub struct BudgetStage {
    /// The shared values, as a setting whose policy never acts.
    pub never: Budget,
    /// The settings to simulate. Settings that differ only in the price of cached tokens occur once.
    pub variants: Vec<Budget>,
}

impl BudgetStage {
    /// Groups settings into stages, in the order of their first occurrence.
    pub fn stages(budgets: &[Budget]) -> Vec<Self> {
        let mut stages: Vec<Self> = Vec::new();
        let mut at: BTreeMap<String, usize> = BTreeMap::new();
        let mut known = std::collections::HashSet::new();
        for budget in budgets {
            let never = Budget {
                policy: Policy::Never,
                cache: 1.0,
                ..budget.clone()
            };
            let stage = *at.entry(never.canonical()).or_insert_with(|| {
                stages.push(Self {
                    never,
                    variants: Vec::new(),
                });
                stages.len() - 1
            });
            let play = Budget {
                cache: 1.0,
                ..budget.clone()
            };
            if known.insert(play.canonical()) {
                stages[stage].variants.push(play);
            }
        }
        stages
    }
}

/// The results of a stage. Each list holds one tally per source.
#[derive(Clone, Debug)]
pub struct StageTallies {
    /// The tallies without a guard.
    pub never: Vec<BudgetTally>,
    /// The tallies of each setting in [`BudgetStage::variants`].
    pub variants: Vec<Vec<BudgetTally>>,
}

impl MeasuredRuns {
    /// Measures runs with all counters of `budgets`, in their order.
    pub fn new(lengths: &[Lengths], budgets: &[Budget]) -> Self {
        let mut counters: Vec<TokenCounter> = Vec::new();
        for budget in budgets {
            if !counters.contains(&budget.counter) {
                counters.push(budget.counter);
            }
        }
        let of = |lengths: &Lengths| {
            let sizes = counters.iter().map(|one| RunSizes::new(lengths, *one));
            sizes.collect()
        };
        let runs = lengths.par_iter().map(of).collect();
        Self { counters, runs }
    }

    /// Returns the index of a setting's counter.
    fn index_of(&self, budget: &Budget) -> usize {
        let mut counters = self.counters.iter();
        counters.position(|one| *one == budget.counter).unwrap_or(0)
    }

    /// Returns the sizes of a run by the setting's counter.
    pub fn run(&self, run: usize, budget: &Budget) -> &RunSizes {
        &self.runs[run][self.index_of(budget)]
    }

    /// Simulates every run under a setting.
    pub fn simulate_all(&self, budget: &Budget) -> Vec<SimulatedRun> {
        let view = self.index_of(budget);
        self.runs
            .par_iter()
            .map(|run| simulate_run(&run[view], budget))
            .collect()
    }

    /// Simulates every run without a guard in an endless window. The tool definitions are those of `budget`.
    pub fn simulate_unguarded(&self, budget: &Budget) -> Vec<SimulatedRun> {
        self.simulate_all(&Budget {
            policy: Policy::Never,
            window: u64::MAX >> 12,
            reserve: 0.0,
            ..budget.clone()
        })
    }
}

/// The runs of one source, sorted by falling length of the last prompt.
struct RankedRuns {
    runs: Vec<usize>,
    /// The number of tokens of each run's last prompt.
    peaks: Vec<u64>,
    /// The tally of the runs from each rank on, for settings under which these runs reach no limit.
    quiet_tallies: Vec<BudgetTally>,
}

impl RankedRuns {
    fn new(mut runs: Vec<usize>, peak: impl Fn(usize) -> u64, free: &[SimulatedRun]) -> Self {
        runs.sort_by_key(|run| (std::cmp::Reverse(peak(*run)), *run));
        let mut sum = BudgetTally::default();
        let mut quiet_tallies = vec![sum];
        for run in runs.iter().rev() {
            sum.add(&free[*run], &free[*run]);
            quiet_tallies.push(sum);
        }
        quiet_tallies.reverse();
        Self {
            peaks: runs.iter().map(|run| peak(*run)).collect(),
            runs,
            quiet_tallies,
        }
    }
}

/// The state of simulating one stage.
struct StageSimulation<'a> {
    field: &'a MeasuredRuns,
    sources: Vec<RankedRuns>,
    free: Vec<SimulatedRun>,
    cancel: &'a AtomicBool,
}

impl StageSimulation<'_> {
    /// Returns a setting's tallies by source. `None` if the sweep was cancelled.
    fn tally_by_source(&self, budget: &Budget) -> Option<Vec<BudgetTally>> {
        if self.cancel.load(Ordering::Relaxed) {
            return None;
        }
        let (view, quiet) = (self.field.index_of(budget), longest_quiet_prompt(budget));
        let of = |ranked: &RankedRuns| {
            let loud = ranked.peaks.partition_point(|peak| *peak > quiet);
            let mut tally = ranked.quiet_tallies[loud];
            for run in &ranked.runs[..loud] {
                let played = simulate_run(&self.field.runs[*run][view], budget);
                tally.add(&played, &self.free[*run]);
            }
            tally
        };
        Some(self.sources.iter().map(of).collect())
    }
}

/// Simulates the settings of a stage over all runs. `sources` holds the source of each run, as a number below `count`.
/// The result does not depend on the number of threads.
///
/// # Errors
/// Returns an error if the sweep was cancelled.
pub fn sweep(
    field: &MeasuredRuns,
    stage: &BudgetStage,
    sources: &[u32],
    count: usize,
    cancel: &AtomicBool,
) -> PassResult<StageTallies> {
    let free = field.simulate_unguarded(&stage.never);
    let view = field.index_of(&stage.never);
    let peak = |run: usize| field.runs[run][view].peak(stage.never.tools);
    let of = |source: usize| {
        let own = (0..field.runs.len()).filter(|run| sources[*run] as usize == source);
        RankedRuns::new(own.collect(), peak, &free)
    };
    let simulation = StageSimulation {
        sources: (0..count).map(of).collect(),
        field,
        free,
        cancel,
    };
    let variants: Option<Vec<_>> = stage
        .variants
        .par_iter()
        .map(|one| simulation.tally_by_source(one))
        .collect();
    let never = simulation.tally_by_source(&stage.never);
    let (never, variants) = never.zip(variants).ok_or(Interruption)?;
    Ok(StageTallies { never, variants })
}
