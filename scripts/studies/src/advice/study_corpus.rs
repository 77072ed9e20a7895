//! [`StudyCorpus`]: a corpus measured once with everything that `deadloop tune` searches by default.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use deadloop_score::choose::{GridCells, ReadyGuard};
use deadloop_score::proposals::propose;
use deadloop_score::replay::corpus::{Corpus, Entry};
use deadloop_score::replay::detect::{RECOMMENDED, Settings, Unit};
use deadloop_score::replay::shipped::{all_presets, default_grids};
use deadloop_score::replay::{Grid, Job, Plan, PlanGuards, Programs, Record, Watcher, run};
use deadloop_score::{
    Case, Count, Evidence, JudgeOptions, LabelRow, LabelsFile, Stakes, Tally, mean_clean, tallies,
};

use crate::own_grid::GRID;

/// The guards for which `tune` is simulated as if they were in use.
pub(crate) const IN_USE: [&str; 4] = ["recommended", "llama-cpp", "document", "hipfire"];

/// A corpus with the records of every setting.
pub(crate) struct StudyCorpus {
    pub(crate) plan: Plan,
    pub(crate) cases: Vec<Case>,
    pub(crate) records: Vec<Record>,
    /// The labels that the offline finder proposes, by case.
    pub(crate) rows: Vec<Vec<LabelRow>>,
    /// The cells of [`IN_USE`].
    pub(crate) in_use: Vec<usize>,
    /// The grids that are searched.
    pub(crate) grids: Vec<GridCells>,
    /// The grid of one guard's own detector.
    pub(crate) own: GridCells,
    /// The ready guards of `tune`.
    pub(crate) ready: Vec<ReadyGuard>,
    /// The default costs of errors. A wrong alarm costs a mean clean transcript, which is generated again.
    pub(crate) worth: Stakes,
    /// The tally of every cell on all transcripts.
    pub(crate) totals: Vec<Tally>,
}

type Error = Box<dyn std::error::Error>;

impl StudyCorpus {
    pub(crate) fn load(path: &Path) -> Result<Self, Error> {
        let corpus = Corpus::open(path)?;
        let (plan, (grids, own), in_use, ready) = plan()?;
        let cancel = AtomicBool::new(false);
        let watch = Watcher {
            cancel: &cancel,
            progress: &|_, _| {},
        };
        let labels = corpus.labels_csv().map(|file| LabelsFile::read(file).0);
        let (mut cases, mut rows, mut bad) = (Vec::new(), Vec::new(), Vec::new());
        let map = |entry: Result<Entry, _>, _| {
            entry.map(|entry| {
                let rows = propose(&entry.transcript).rows;
                (Case::from_entry(&entry, labels.as_ref(), &[]), rows)
            })
        };
        deadloop_score::replay::map_corpus(&corpus, &watch, map, |found| {
            match found {
                Ok(((case, problems), proposed)) => {
                    cases.push(case);
                    rows.push(proposed);
                    bad.extend(problems);
                }
                Err(problem) => bad.push(problem),
            }
            ControlFlow::Continue(())
        })?;
        if let Some(problem) = bad.first() {
            return Err(problem.to_string().into());
        }
        let ids: HashSet<Arc<str>> = cases.iter().map(|case| case.id.clone()).collect();
        let job = Job {
            corpus: &corpus,
            ids: &ids,
            subject: &PlanGuards {
                plan: &plan,
                programs: &Programs::default(),
                chunks: None,
            },
        };
        let records = run(&job, None, &watch)?.records;
        let mut world = Self {
            totals: Vec::new(),
            plan,
            cases,
            records,
            rows,
            grids,
            own,
            in_use,
            ready,
            worth: Stakes::default(),
        };
        let every: Vec<usize> = (0..world.cases.len()).collect();
        world.totals = world.tallies(&every)?;
        world.worth.response = mean_clean(&world.cases[..], Unit::Chars);
        Ok(world)
    }

    /// Returns the tally of every cell on some transcripts.
    pub(crate) fn tallies(&self, pick: &[usize]) -> Result<Vec<Tally>, Error> {
        let evidence = Evidence::new(&self.plan, &self.cases, &self.records)?;
        let mut all = Vec::with_capacity(self.plan.cells());
        for (index, block) in self.plan.blocks().iter().enumerate() {
            let trials = pick.iter().map(|i| evidence.trial(index, *i));
            let sheet = tallies(
                &block.shape(),
                trials,
                &JudgeOptions::default(),
                &Count::ALL,
            );
            all.extend((0..block.len()).map(|nth| sheet.tally(&block.at(nth))));
        }
        Ok(all)
    }
}

type StudyPlan = (
    Plan,
    (Vec<GridCells>, GridCells),
    Vec<usize>,
    Vec<ReadyGuard>,
);

/// Builds the plan of `deadloop tune` without `--grid`: the default grids, the ready guards, and the guards in use.
fn plan() -> Result<StudyPlan, Error> {
    let mut plan = Plan::default();
    let mut grids = Vec::new();
    for grid in default_grids(Unit::Chars)?.0 {
        grids.push(GridCells {
            name: grid.name(),
            cells: plan.add_grid(&grid)?,
        });
    }
    let own = Grid::parse(GRID)?;
    let own = GridCells {
        name: own.name(),
        cells: plan.add_grid(&own)?,
    };
    let presets = all_presets()?;
    let mut cell = |name: &str| -> Result<usize, Error> {
        if name == "recommended" {
            return Ok(plan.add_settings(&Settings::parse(RECOMMENDED).map_err(|e| e.to_string())?));
        }
        let preset = presets.iter().find(|(known, _)| known == name);
        let (_, setting) = preset.ok_or_else(|| format!("there is no preset {name}"))?;
        Ok(plan.add_setting(setting))
    };
    let ready = ["recommended", "quiet"].map(|name| {
        Ok::<ReadyGuard, Error>(ReadyGuard {
            cell: cell(name)?,
            name: name.to_owned(),
        })
    });
    let ready = ready.into_iter().collect::<Result<_, _>>()?;
    let in_use = IN_USE
        .iter()
        .map(|name| cell(name))
        .collect::<Result<_, _>>()?;
    Ok((plan, (grids, own), in_use, ready))
}
