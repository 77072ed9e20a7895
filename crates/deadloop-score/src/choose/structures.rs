//! Grids too large for the product: structures are drawn ([`draw_structures`]) and raced on some of
//! the transcripts ([`race`]) before all transcripts are spent on them. Thresholds are always
//! complete: they cost next to nothing.

use std::collections::{BTreeSet, HashMap};

use deadloop_replay::detect::{Mark, Value};
use deadloop_replay::{Block, Grid};

use super::blend::Blend;
use super::options::ChooseOptions;
use super::paired::Difference;
use crate::constraint::Constraint;
use crate::intervals::{Random, poisson_lower, proportion_lower, proportion_upper};
use crate::measure::{At, Certainty};
use crate::tally::{Count, Evidence, Tally, tallies};

/// How structures are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawing {
    /// Each by itself, uniformly.
    Random,
    /// As a Latin hypercube (McKay, Beckman, Conover 1979): along each parameter the draws are
    /// spread evenly over its values, in an order of its own.
    LatinHypercube,
}

/// Structures of some grids.
#[derive(Clone, Debug)]
pub struct DrawnStructures {
    /// A grid with one structure each: in the order of the grids, then of the product.
    pub grids: Vec<Grid>,
    /// How many structures there are to draw from.
    pub of: u128,
}

/// A structural parameter that varies: its member, its place among the member's values, how many
/// values it has.
struct Axis {
    member: usize,
    place: usize,
    values: usize,
}

/// Draws up to `n` different structures of `grids`. A grid with few is taken whole; what is left is
/// shared by the larger ones equally. The same seed draws the same.
pub fn draw_structures(grids: &[Grid], n: usize, how: Drawing, seed: u64) -> DrawnStructures {
    let totals: Vec<u128> = grids.iter().map(|grid| total(&axes(grid))).collect();
    let mut order: Vec<usize> = (0..grids.len()).collect();
    order.sort_by_key(|i| totals[*i]);
    let mut left = n as u128;
    let mut drawn: Vec<Vec<Grid>> = vec![Vec::new(); grids.len()];
    for (k, i) in order.into_iter().enumerate() {
        let share = left / (grids.len() - k) as u128;
        let wanted = share.max(1).min(totals[i]);
        left = left.saturating_sub(wanted);
        let mut random = Random::named(seed, &format!("structures of grid {i}"));
        drawn[i] = draw(&grids[i], wanted as usize, how, &mut random);
    }
    DrawnStructures {
        grids: drawn.into_iter().flatten().collect(),
        of: totals.iter().sum(),
    }
}

fn axes(grid: &Grid) -> Vec<Axis> {
    let of = |(member, m): (usize, &deadloop_replay::GridMember)| {
        let structural = m.values.iter().enumerate();
        let structural = structural.filter(|(_, (p, _))| matches!(p.mark, Mark::Structural));
        let axis = move |(place, (_, values)): (usize, &(_, Vec<Value>))| Axis {
            member,
            place,
            values: values.len(),
        };
        structural.map(axis).collect::<Vec<_>>()
    };
    grid.members.iter().enumerate().flat_map(of).collect()
}

fn total(axes: &[Axis]) -> u128 {
    let sizes = axes.iter().map(|axis| axis.values as u128);
    sizes.fold(1, u128::saturating_mul)
}

fn draw(grid: &Grid, n: usize, how: Drawing, random: &mut Random) -> Vec<Grid> {
    let axes = axes(grid);
    let mut points: BTreeSet<Vec<usize>> = BTreeSet::new();
    if total(&axes) <= n as u128 {
        points = product(&axes);
    } else {
        if how == Drawing::LatinHypercube {
            points.extend(hypercube(&axes, n, random));
        }
        // Two points of a hypercube may meet in one structure; the rest is drawn one by one.
        while points.len() < n {
            let value = |axis: &Axis| random.below(axis.values as u64) as usize;
            points.insert(axes.iter().map(value).collect());
        }
    }
    points
        .iter()
        .map(|point| fixed(grid, &axes, point))
        .collect()
}

fn product(axes: &[Axis]) -> BTreeSet<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for axis in axes {
        let with = |point: Vec<usize>| {
            (0..axis.values).map(move |value| {
                let mut point = point.clone();
                point.push(value);
                point
            })
        };
        all = all.into_iter().flat_map(with).collect();
    }
    all.into_iter().collect()
}

fn hypercube(axes: &[Axis], n: usize, random: &mut Random) -> Vec<Vec<usize>> {
    let mut points = vec![Vec::new(); n];
    for axis in axes {
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            order.swap(i, random.below(i as u64 + 1) as usize);
        }
        for (point, place) in points.iter_mut().zip(order) {
            point.push(place * axis.values / n);
        }
    }
    points
}

/// The grid with one value for each structural parameter.
fn fixed(grid: &Grid, axes: &[Axis], point: &[usize]) -> Grid {
    let mut fixed = grid.clone();
    for (axis, at) in axes.iter().zip(point) {
        let (param, values) = &grid.members[axis.member].values[axis.place];
        if let Some(value) = values.get(*at) {
            let member = &mut fixed.members[axis.member];
            member.base.params.set(param.name, value.clone());
        }
    }
    for member in &mut fixed.members {
        let threshold =
            |(p, _): &(&deadloop_replay::detect::Param, _)| !matches!(p.mark, Mark::Structural);
        member.values.retain(threshold);
    }
    fixed
}

/// The leader of a race is better than a structure that is dropped with this probability. There are
/// several looks at a race, and the leader is the best of many: 0.95 would drop good ones.
const SURE: f64 = 0.99;

/// How a block stands in a race.
#[derive(Clone, Copy, PartialEq)]
enum Runner {
    /// The merit and the cell of its best setting that meets the constraints on these transcripts.
    Best(f64, usize),
    /// None does, but too little was seen to say that none will.
    Open,
    /// No setting will.
    Out,
}

/// Which blocks of a plan may still hold the best setting, judged by these transcripts: each block's
/// best setting that meets the constraints (point estimates) is compared with the best of all, pair
/// by pair. Without loops nothing can be told, and all stay.
pub fn race(evidence: &Evidence<'_>, options: &ChooseOptions) -> Vec<bool> {
    let blocks = evidence.plan.blocks();
    let pick = evidence.all();
    let quiet = evidence.quiet(0, &pick, &options.judge);
    if quiet.loops() == 0 {
        return vec![true; blocks.len()];
    }
    let runner = |(index, block): (usize, &Block)| runner(evidence, &pick, index, block, options);
    let runners: Vec<Runner> = blocks.iter().enumerate().map(runner).collect();
    let best = runners.iter().filter_map(|runner| match runner {
        Runner::Best(merit, cell) => Some((*merit, *cell)),
        _ => None,
    });
    let Some((_, leader)) = best.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))) else {
        return runners
            .iter()
            .map(|runner| *runner != Runner::Out)
            .collect();
    };
    let tally = evidence.tally(leader, &pick, &options.judge);
    let at = options.objective.at(&Blend::whole(&tally), &options.worth);
    let ahead = contributions(evidence, leader, &pick, &at, options);
    let weights = vec![1.0; pick.len()];
    let stays = |runner: &Runner| match *runner {
        Runner::Out => false,
        Runner::Open => true,
        Runner::Best(_, cell) => {
            let behind = contributions(evidence, cell, &pick, &at, options);
            cell == leader || Difference::between(&ahead, &behind, &weights).probability() < SURE
        }
    };
    runners.iter().map(stays).collect()
}

fn runner(
    evidence: &Evidence<'_>,
    pick: &[usize],
    index: usize,
    block: &Block,
    options: &ChooseOptions,
) -> Runner {
    let trials = pick.iter().map(|i| evidence.trial(index, *i));
    let sheet = tallies(&block.shape(), trials, &options.judge, &Count::ALL);
    let ChooseOptions {
        constraints, worth, ..
    } = options;
    // Cells of a block share few tallies, and an exact bound costs as much as a thousand cells.
    let mut known: HashMap<(u64, u64), f64> = HashMap::new();
    let mut runner = Runner::Out;
    for nth in 0..block.len() {
        let tally = sheet.tally(&block.at(nth));
        let meets = |c: &Constraint| c.metric.value(&tally, worth).is_some_and(|x| c.admits(x));
        let merit = options.objective.merit(&Blend::whole(&tally), worth);
        runner = match runner {
            Runner::Best(most, _) if merit <= most => runner,
            _ if constraints.iter().all(meets) && merit > f64::NEG_INFINITY => {
                Runner::Best(merit, block.first() + nth)
            }
            Runner::Out => {
                let may = |c: &Constraint| may_meet(c, &tally, options, &mut known);
                match constraints.iter().all(may) {
                    true => Runner::Open,
                    false => Runner::Out,
                }
            }
            _ => runner,
        };
    }
    runner
}

/// Whether these few transcripts leave it open that the constraint is met: the confidence bound on
/// the good side meets it.
fn may_meet(
    c: &Constraint,
    tally: &Tally,
    options: &ChooseOptions,
    known: &mut HashMap<(u64, u64), f64>,
) -> bool {
    const ALPHA: f64 = 0.05;
    let value = match (c.metric.certainty, c.metric.counts(tally)) {
        (Certainty::Rate, Some((k, n))) if c.at_most => {
            let events = *known
                .entry((k, 0))
                .or_insert_with(|| poisson_lower(k, ALPHA));
            Some(c.metric.scale() * events / n.max(1) as f64)
        }
        (_, Some((_, 0))) => None,
        (Certainty::Share, Some((k, n))) => {
            let bound = || {
                let bound = if c.at_most {
                    proportion_lower
                } else {
                    proportion_upper
                };
                bound(k, n, ALPHA).unwrap_or(f64::NAN)
            };
            Some(*known.entry((k, n)).or_insert_with(bound))
        }
        _ => c.metric.value(tally, &options.worth),
    };
    value.is_some_and(|x| c.admits(x))
}

fn contributions(
    evidence: &Evidence<'_>,
    cell: usize,
    pick: &[usize],
    at: &At,
    options: &ChooseOptions,
) -> Vec<f64> {
    let outcomes = evidence.outcomes(cell, pick, &options.judge);
    let one = |o| {
        options
            .objective
            .influence(&Tally::of(o), at, &options.worth)
    };
    outcomes.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRID: &str = "[[guard]]\ndetector = \"checkpoint\"\n[guard.params]\n\
        checkpoints = [[2000,3000,5000],[1000,2000,4000],[500,1000,2000]]\nevery = [0,500,1000,2000]\n\
        short_at = [\"first\",\"all\"]\nmin_matches = [3,4,5]\n";

    fn drawn(n: usize, how: Drawing, seed: u64) -> DrawnStructures {
        draw_structures(&[Grid::parse(GRID).unwrap()], n, how, seed)
    }

    fn name(grid: &Grid) -> String {
        grid.members[0]
            .base
            .params
            .iter()
            .map(|(n, v)| format!("{n}={v} "))
            .collect()
    }

    #[test]
    fn different_structures_are_drawn_and_thresholds_stay_complete() {
        for how in [Drawing::Random, Drawing::LatinHypercube] {
            let some = drawn(10, how, 1);
            assert_eq!((some.grids.len(), some.of), (10, 24));
            let names: BTreeSet<String> = some.grids.iter().map(name).collect();
            assert_eq!(names.len(), 10);
            for grid in &some.grids {
                let values = &grid.members[0].values;
                assert_eq!((values.len(), values[0].1.len()), (1, 3));
            }
            let of = |seed| {
                drawn(10, how, seed)
                    .grids
                    .iter()
                    .map(name)
                    .collect::<Vec<_>>()
            };
            assert_eq!(of(7), of(7));
            assert_ne!(of(7), of(8));
        }
    }

    #[test]
    fn a_small_grid_is_taken_whole() {
        assert_eq!(drawn(24, Drawing::Random, 1).grids.len(), 24);
        assert_eq!(drawn(1000, Drawing::LatinHypercube, 1).grids.len(), 24);
        let two = [
            Grid::parse(GRID).unwrap(),
            Grid::parse("[[guard]]\ndetector = \"periodic\"\n").unwrap(),
        ];
        let drawn = draw_structures(&two, 5, Drawing::Random, 1);
        assert_eq!((drawn.grids.len(), drawn.of), (5, 25));
    }

    #[test]
    fn a_hypercube_uses_each_value_equally_often() {
        let axes = axes(&Grid::parse(GRID).unwrap());
        let points = hypercube(&axes, 12, &mut Random::named(3, "axes"));
        for (i, axis) in axes.iter().enumerate() {
            for value in 0..axis.values {
                let n = points.iter().filter(|p| p[i] == value).count();
                assert_eq!(n, 12 / axis.values);
            }
        }
    }
}
