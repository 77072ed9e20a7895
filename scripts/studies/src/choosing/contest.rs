//! What is in use, own best, pooled, and deadloop's advice on the same draws.

use std::fmt;
use std::ops::Range;

use deadloop_score::measure::NET_PER_1000;
use deadloop_score::replay::{Plan, Record};
use deadloop_score::{
    Case, Choices, ChooseOptions, Count, Evidence, JudgeOptions, Ruling, Worth, choose, tallies,
};

use crate::world::{ANNOYANCE, Draw, LENGTH, Model, cases, plan, records};

/// What errors cost in the simulation.
const WORTH: Worth = Worth {
    pi: 0.1,
    annoyance: ANNOYANCE,
};

/// One row of the report.
pub(crate) struct Contest<'a> {
    /// How far models lie apart.
    pub(crate) apart: f64,
    /// Loops, and clean transcripts, of each model.
    pub(crate) sizes: &'a [usize],
    pub(crate) seed: u64,
}

/// How many contenders there are: in use, own best, pooled best, deadloop.
const CONTENDERS: usize = 4;

/// Means over worlds.
pub(crate) struct Row {
    regret: [f64; CONTENDERS],
    /// Deadloop's regret less that of what is in use.
    behind: Mean,
    shipped: f64,
    own: f64,
    reported: Mean,
    real: Mean,
    gap: Mean,
}

/// What one world gave, means over its models.
struct World {
    regret: [f64; CONTENDERS],
    shipped: bool,
    /// Whether some model got a setting of its own.
    own: bool,
    /// Reported and true optimism of the candidate for all models.
    optimism: Option<(f64, f64)>,
}

impl Contest<'_> {
    /// Draws worlds until labels enough were seen.
    pub(crate) fn run(&self) -> Row {
        let labels: usize = self.sizes.iter().sum();
        let worlds = (24_000 / labels).clamp(60, 300);
        let cases = cases(self.sizes);
        let mut draw = Draw(self.seed);
        let each = (0..worlds).filter_map(|_| self.world(&cases, &mut draw));
        Row::of(&each.collect::<Vec<World>>())
    }

    fn world(&self, cases: &[Case], draw: &mut Draw) -> Option<World> {
        let models: Vec<Model> = self
            .sizes
            .iter()
            .map(|_| Model::draw(self.apart, draw))
            .collect();
        let records = records(&models, self.sizes, draw);
        let (plan, cells) = plan().ok()?;
        let in_use = draw.below(cells.len());
        let options = ChooseOptions {
            constraints: Vec::new(),
            objective: &NET_PER_1000,
            worth: WORTH,
            replicates: 400,
            ..ChooseOptions::default()
        };
        let evidence = Evidence::new(&plan, cases, &records).ok()?;
        let choices = choose(&evidence, cells.clone(), in_use, &options).ok()?;
        let pooled = best(&plan, cases, &records, cells.clone())?;
        let mut world = World {
            regret: [0.0; CONTENDERS],
            shipped: choices.advice.verdict == Ruling::Ship,
            own: choices.models.iter().any(|m| m.ships.is_some()),
            optimism: optimism(&plan, &models, self.sizes, &choices),
        };
        let held = choices.cells();
        let mut from = 0;
        for ((m, model), n) in models.iter().enumerate().zip(self.sizes) {
            let here = from..from + 2 * n;
            from = here.end;
            let own = best(&plan, &cases[here.clone()], &records[here], cells.clone())?;
            let advised = held.get(&format!("m{m}")).copied()?;
            let most = cells
                .clone()
                .map(|cell| worth(&plan, model, cell))
                .fold(f64::MIN, f64::max);
            let contenders = [in_use, own, pooled, advised];
            for (sum, cell) in world.regret.iter_mut().zip(contenders) {
                *sum += most - worth(&plan, model, cell);
            }
        }
        world
            .regret
            .iter_mut()
            .for_each(|x| *x /= models.len() as f64);
        Some(world)
    }
}

/// The cell that looks best on some transcripts.
fn best(plan: &Plan, cases: &[Case], records: &[Record], cells: Range<usize>) -> Option<usize> {
    let evidence = Evidence::new(plan, cases, records).ok()?;
    let block = plan.blocks().first()?;
    let trials = (0..cases.len()).map(|i| evidence.trial(0, i));
    let sheet = tallies(
        &block.shape(),
        trials,
        &JudgeOptions::default(),
        &Count::ALL,
    );
    let value = |cell: &usize| NET_PER_1000.value(&sheet.tally(&block.at(*cell)), &WORTH);
    let scored = cells.filter_map(|cell| Some((value(&cell)?, cell)));
    let better = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1));
    scored.max_by(better).map(|(_, cell)| cell)
}

/// The optimism that is reported for the candidate of all models, and the true one.
fn optimism(
    plan: &Plan,
    models: &[Model],
    sizes: &[usize],
    choices: &Choices,
) -> Option<(f64, f64)> {
    let cell = choices.pooled.candidate?;
    let points = |net: f64| 100.0 * net / (1000.0 * WORTH.pi * LENGTH);
    let reported = points(choices.pooled.optimism(&NET_PER_1000, &WORTH)?);
    let seen = points(NET_PER_1000.value(&choices.pooled.tally, &WORTH)?);
    let labels: usize = sizes.iter().sum();
    let each = models.iter().zip(sizes);
    let real: f64 = each
        .map(|(model, n)| *n as f64 * worth(plan, model, cell))
        .sum();
    Some((reported, seen - real / labels as f64))
}

/// The true worth of a cell in points of 100: `net_per_1000` of an alarm at every onset is 100.
fn worth(plan: &Plan, model: &Model, cell: usize) -> f64 {
    let (saved, wasted) = model.truth(&plan.cell(cell).at);
    100.0 * (saved - (1.0 - WORTH.pi) / WORTH.pi * wasted / LENGTH)
}

/// A mean and its standard error.
#[derive(Clone, Copy)]
struct Mean {
    mean: f64,
    error: f64,
}

impl Mean {
    fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.into_iter().collect();
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let spread: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
        Self {
            mean,
            error: (spread / (n - 1.0) / n).sqrt(),
        }
    }
}

impl fmt::Display for Mean {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} ± {:.2}", self.mean, self.error)
    }
}

impl Row {
    pub(crate) const HEAD: &'static str = "\
| models differ | labels | in use | own best | pooled best | deadloop | minus in use | ships, % | own settings, % | optimism, true | reported | reported - true |\n\
|---|---|---:|---:|---:|---:|---|---:|---:|---:|---:|---|";

    fn of(worlds: &[World]) -> Self {
        let share = |is: fn(&World) -> bool| {
            100.0 * worlds.iter().filter(|w| is(w)).count() as f64 / worlds.len() as f64
        };
        let some = || worlds.iter().filter_map(|w| w.optimism);
        Self {
            regret: std::array::from_fn(|i| Mean::of(worlds.iter().map(|w| w.regret[i])).mean),
            behind: Mean::of(worlds.iter().map(|w| w.regret[3] - w.regret[0])),
            shipped: share(|w| w.shipped),
            own: share(|w| w.own),
            reported: Mean::of(some().map(|o| o.0)),
            real: Mean::of(some().map(|o| o.1)),
            gap: Mean::of(some().map(|o| o.0 - o.1)),
        }
    }

    /// Whether who follows the advice is not worse off, and the optimism that is reported is the true one, within
    /// the error.
    pub(crate) fn holds(&self) -> bool {
        self.no_worse() && self.honest()
    }

    /// In how many worlds, %, some model got a setting of its own.
    pub(crate) fn own(&self) -> f64 {
        self.own
    }

    fn no_worse(&self) -> bool {
        self.behind.mean <= 3.0 * self.behind.error
    }

    fn honest(&self) -> bool {
        self.gap.mean.is_nan() || self.gap.mean.abs() <= 3.0 * self.gap.error
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            regret: [used, own, pooled, deadloop],
            behind,
            shipped,
            own: with_own,
            real,
            reported,
            gap,
        } = self;
        let told = |holds| if holds { "holds" } else { "**fails**" };
        let (no_worse, honest) = (told(self.no_worse()), told(self.honest()));
        write!(
            f,
            "| {used:.2} | {own:.2} | {pooled:.2} | {deadloop:.2} | {behind} {no_worse} | {shipped:.0} | {with_own:.0} | "
        )?;
        if gap.mean.is_nan() {
            write!(f, "n/a | n/a | n/a |")
        } else {
            write!(
                f,
                "{:.2} | {:.2} | {gap} {honest} |",
                real.mean, reported.mean
            )
        }
    }
}
