//! Own best, pooled and deadloop's choice on the same draws.

use std::fmt;

use deadloop_score::replay::{Plan, Record};
use deadloop_score::{Case, Choice, Choices, ChooseOptions, Evidence, Metric, Why, Worth, choose};

use crate::world::{Draw, Model, cases, plan, records};

/// What errors cost in the simulation.
const WORTH: Worth = Worth {
    pi: 0.1,
    lambda: 1.0,
};

/// One row of the report.
pub(crate) struct Contest<'a> {
    /// How far models lie apart.
    pub(crate) apart: f64,
    /// Loops, and clean transcripts, of each model.
    pub(crate) sizes: &'a [usize],
    /// The standard errors within which cells are as good as the best.
    pub(crate) errors: f64,
    pub(crate) seed: u64,
}

/// Means over worlds.
pub(crate) struct Row {
    own: f64,
    pooled: f64,
    deadloop: f64,
    behind: Mean,
    cuts: [f64; 3],
    reported: Mean,
    real: Mean,
    gap: Mean,
}

/// What one world gave, means over its models.
struct World {
    /// Regret of own, pooled, deadloop.
    regret: [f64; 3],
    /// The share of clean transcripts that they cut, %.
    cuts: [f64; 3],
    /// Reported and true optimism of the models that have a choice of their own.
    optimism: Vec<(f64, f64)>,
}

impl Contest<'_> {
    /// Draws worlds until labels enough were seen.
    pub(crate) fn run(&self) -> Row {
        let labels: usize = self.sizes.iter().sum();
        let worlds = (24_000 / labels).clamp(30, 400);
        let cases = cases(self.sizes);
        let mut draw = Draw(self.seed);
        let each = (0..worlds).filter_map(|_| self.world(&cases, &mut draw));
        Row::of(&each.collect::<Vec<World>>())
    }

    fn options(&self) -> ChooseOptions {
        ChooseOptions {
            constraints: Vec::new(),
            objective: Metric::Utility,
            worth: WORTH,
            errors: self.errors,
            ..ChooseOptions::default()
        }
    }

    /// For a choice of which only the pooled one counts: no fold, and no model on its own.
    fn alone(&self) -> ChooseOptions {
        ChooseOptions {
            folds: 2,
            min_loops: u64::MAX,
            ..self.options()
        }
    }

    fn world(&self, cases: &[Case], draw: &mut Draw) -> Option<World> {
        let models: Vec<Model> = self
            .sizes
            .iter()
            .map(|_| Model::draw(self.apart, draw))
            .collect();
        let records = records(&models, self.sizes, draw);
        let (plan, cells) = plan().ok()?;
        let run = |cases: &[Case], records: &[Record], options: &ChooseOptions| {
            let evidence = Evidence::new(&plan, cases, records).ok()?;
            choose(&evidence, cells.clone(), None, options).ok()
        };
        let together = run(cases, &records, &self.options())?;
        let mut world = World {
            regret: [0.0; 3],
            cuts: [0.0; 3],
            optimism: Vec::new(),
        };
        let mut from = 0;
        for ((m, model), n) in models.iter().enumerate().zip(self.sizes) {
            let here = from..from + 2 * n;
            from = here.end;
            let alone = run(&cases[here.clone()], &records[here], &self.alone())?;
            world.add(
                &plan,
                model,
                [&alone.pooled, &together.pooled, of(&together, m)?],
            );
        }
        let n = models.len() as f64;
        world.regret.iter_mut().for_each(|x| *x /= n);
        world.cuts.iter_mut().for_each(|x| *x /= n);
        Some(world)
    }
}

fn of(choices: &Choices, model: usize) -> Option<&Choice> {
    let name = format!("m{model}");
    choices.models.iter().find(|choice| choice.model == name)
}

impl World {
    fn add(&mut self, plan: &Plan, model: &Model, contenders: [&Choice; 3]) {
        let cells = 0..plan.cells();
        let best = cells
            .map(|cell| worth(plan, model, cell))
            .fold(f64::MIN, f64::max);
        for (i, choice) in contenders.iter().enumerate() {
            self.regret[i] += best - worth(plan, model, choice.cell);
            self.cuts[i] += 100.0 * model.truth(&plan.cell(choice.cell).at).1;
        }
        let choice = contenders[2];
        if let (Why::Own, Some(seen), Some(reported)) = (
            choice.why,
            choice.in_sample,
            choice.optimism(Metric::Utility, &WORTH),
        ) {
            self.optimism
                .push((reported, seen - worth(plan, model, choice.cell)));
        }
    }
}

/// The true utility of a cell: see `deadloop_score::utility`.
fn worth(plan: &Plan, model: &Model, cell: usize) -> f64 {
    let (saved, cut) = model.truth(&plan.cell(cell).at);
    100.0 * (saved - WORTH.lambda * (1.0 - WORTH.pi) / WORTH.pi * cut)
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
| models differ | labels | own | pooled | deadloop | minus the better | clean cut, %: own, pooled, deadloop | optimism, true | reported | reported - true |\n\
|---|---|---|---|---|---|---|---|---|---|";

    fn of(worlds: &[World]) -> Self {
        let mean = |i: usize| Mean::of(worlds.iter().map(|w| w.regret[i])).mean;
        let [own, pooled, deadloop] = [0, 1, 2].map(mean);
        let rival = usize::from(pooled < own);
        // Means over a world's models: models of one world share labels, so they are one draw.
        let world = |pick: fn(&(f64, f64)) -> f64| {
            let own = worlds.iter().filter(|w| !w.optimism.is_empty());
            let one =
                move |w: &World| w.optimism.iter().map(pick).sum::<f64>() / w.optimism.len() as f64;
            Mean::of(own.map(one))
        };
        Self {
            own,
            pooled,
            deadloop,
            behind: Mean::of(worlds.iter().map(|w| w.regret[2] - w.regret[rival])),
            cuts: [0, 1, 2].map(|i| Mean::of(worlds.iter().map(|w| w.cuts[i])).mean),
            reported: world(|o| o.0),
            real: world(|o| o.1),
            gap: world(|o| o.0 - o.1),
        }
    }

    /// Whether deadloop's choice is no worse than the better of the two, and the optimism that it
    /// reports the true one, within the error. Where no model has a choice of its own no optimism is
    /// compared.
    pub(crate) fn holds(&self) -> bool {
        self.no_worse() && self.honest()
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
            own,
            pooled,
            deadloop,
            behind,
            cuts: [a, b, c],
            real,
            reported,
            gap,
        } = self;
        let told = |holds| if holds { "holds" } else { "**fails**" };
        let (no_worse, honest) = (told(self.no_worse()), told(self.honest()));
        write!(
            f,
            "| {own:.2} | {pooled:.2} | {deadloop:.2} | {behind} {no_worse} | {a:.2}, {b:.2}, {c:.2} | "
        )?;
        match gap.mean.is_nan() {
            true => write!(f, "n/a | n/a | n/a |"),
            false => write!(
                f,
                "{:.2} | {:.2} | {gap} {honest} |",
                real.mean, reported.mean
            ),
        }
    }
}
