//! `tune --search`: of a grid too large for its product, drawn structures are raced on some folds,
//! and only those that may still hold the best setting are replayed on all transcripts.

use std::collections::HashSet;
use std::sync::Arc;

use clap::ValueEnum;
use deadloop_replay::{Grid, Job, Plan, Record, RunError, run};
use deadloop_score::{
    Case, ChooseOptions, Drawing, DrawnStructures, Evidence, draw_structures, folds, race,
};
use serde::{Deserialize, Serialize};

use crate::exit::{Code, Outcome};
use crate::show;
use deadloop_run::Surveyed;
use deadloop_run::programs;
use deadloop_run::{Host, Request, failed, look, watched};

/// How structures are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub(crate) enum Search {
    /// Each structure is drawn by itself
    Random,
    /// As a Latin hypercube: each value of a parameter about equally often
    Lhs,
}

/// What to search.
pub(crate) struct Wanted<'a> {
    pub(crate) grids: &'a [Grid],
    pub(crate) how: Search,
    /// How many structures are drawn.
    pub(crate) structures: usize,
    pub(crate) options: &'a ChooseOptions,
}

/// What a search leaves.
pub(crate) struct Found {
    /// Of the structures that may still hold the best setting.
    pub(crate) plan: Plan,
    /// How they were found, in a sentence.
    pub(crate) told: String,
    /// On how many folds they were raced, the first ones: nothing is held out of those any more.
    pub(crate) raced: usize,
}

/// Draws structures and races them.
pub(crate) fn search(request: &Request<'_>, wanted: &Wanted<'_>) -> Outcome<Found> {
    let seed = wanted.options.seed;
    let (how, name) = match wanted.how {
        Search::Random => (Drawing::Random, "random"),
        Search::Lhs => (Drawing::LatinHypercube, "lhs"),
    };
    let DrawnStructures { grids, of } = draw_structures(wanted.grids, wanted.structures, how, seed);
    let (cells, all) = (cells(&grids), cells(wanted.grids));
    let drawn = grids.len();
    let (grids, possible) = (planned(grids)?.1, drawn);
    request.folder()?;
    let surveyed = look(request)?;
    surveyed.accept(request.skip_bad, request.host)?;
    // Of everything nothing is left out: it is the full grid.
    let (left, raced) = match possible as u128 == of {
        true => (grids, 0),
        false => raced(request, &surveyed, grids, wanted.options)?,
    };
    let race = match raced {
        0 => "nothing raced".to_owned(),
        _ => format!(
            "{} left after racing on {raced} of {} folds, the others are held out",
            left.len(),
            wanted.options.folds
        ),
    };
    let told = format!(
        "search {name}, seed {seed}: {possible} of {of} structures ({:.2} %), {cells} of {all} cells ({:.2} %); {race}",
        100.0 * possible as f64 / of as f64,
        100.0 * cells as f64 / all as f64,
    );
    request.host.tell(&told);
    let plan = planned(left)?.0;
    Ok(Found { plan, told, raced })
}

/// The plan of grids with one structure each, and those of them that are possible: one block each.
fn planned(grids: Vec<Grid>) -> Outcome<(Plan, Vec<Grid>)> {
    let mut plan = Plan::default();
    let mut possible = Vec::new();
    let mut refusal = None;
    for grid in grids {
        match plan.add_grid(&grid) {
            Ok(_) => possible.push(grid),
            Err(e) => refusal = Some(e),
        }
    }
    match (possible.is_empty(), refusal) {
        (true, Some(e)) => Err(Code::Usage.error(format!("the grid: {e}"))),
        _ => Ok((plan, possible)),
    }
}

fn cells(grids: &[Grid]) -> u128 {
    let of = |grid: &Grid| {
        let sizes = grid.members.iter().flat_map(|m| &m.values);
        let sizes = sizes.map(|(_, values)| values.len() as u128);
        sizes.fold(1, u128::saturating_mul)
    };
    grids.iter().map(of).fold(0, u128::saturating_add)
}

/// A race ends when so few are left: the rest costs less than another round saves.
const FEW: usize = 4;

/// The structures that stay, and on how many folds they were raced: at most half of them, so that a
/// race that decides nothing costs half a replay.
///
/// The folds are those of the choice. What is left was seen to be good on the raced ones, so held-out
/// figures are taken from the others alone.
fn raced(
    request: &Request<'_>,
    surveyed: &Surveyed,
    mut grids: Vec<Grid>,
    options: &ChooseOptions,
) -> Outcome<(Vec<Grid>, usize)> {
    let fold_of = folds(&surveyed.cases, options.folds, options.seed);
    let mut cases: Vec<Case> = Vec::new();
    let mut records: Vec<Record> = Vec::new();
    for fold in 0..options.folds.div_ceil(2) {
        if grids.len() <= FEW {
            return Ok((grids, fold));
        }
        let in_fold = surveyed.cases.iter().zip(&fold_of);
        let in_fold: Vec<&Case> = in_fold
            .filter(|(_, f)| **f == fold)
            .map(|(c, _)| c)
            .collect();
        let (plan, _) = planned(grids.clone())?;
        records.extend(replayed(request, surveyed, &plan, &in_fold)?);
        cases.extend(in_fold.into_iter().cloned());
        let stays = race(&Evidence::new(&plan, &cases, &records)?, options);
        let stay = |(i, _): &(usize, _)| stays.get(*i) == Some(&true);
        grids = grids
            .into_iter()
            .enumerate()
            .filter(stay)
            .map(|(_, g)| g)
            .collect();
        for record in &mut records {
            let mut block = 0;
            record.blocks.retain(|_| {
                block += 1;
                stays.get(block - 1) == Some(&true)
            });
        }
    }
    Ok((grids, options.folds.div_ceil(2)))
}

fn replayed(
    request: &Request<'_>,
    surveyed: &Surveyed,
    plan: &Plan,
    cases: &[&Case],
) -> Outcome<Vec<Record>> {
    let ids: HashSet<Arc<str>> = cases.iter().map(|case| case.id.clone()).collect();
    let running = programs::start(plan, request.host)?;
    let job = Job {
        corpus: &surveyed.corpus,
        ids: &ids,
        plan,
        programs: &running,
        chunks: request.judging.chunks,
    };
    let ran = watched(request.host, "racing", |watch| run(&job, None, watch));
    let ran = ran.map_err(|error| match error {
        RunError::Interrupted { .. } => Code::Interrupted
            .error("interrupted while structures were raced; nothing was written yet"),
        other => failed(other),
    });
    Ok(ran?.records)
}

/// How many structures a grid has: what a user compares --structures with.
pub(crate) fn tell_size(plan: &Plan, host: &dyn Host) {
    const LARGE: usize = 2000;
    let blocks = plan.blocks().len();
    if blocks > LARGE {
        host.tell(&format!(
            "{} structures will be measured; --search lhs draws some of them",
            show::count(blocks as u64)
        ));
    }
}
