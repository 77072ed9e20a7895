//! Which candidates meet the constraints, whether the current setting does, and why none may.

use super::{Candidate, Sample, Selection};
use crate::blend::Blend;
use crate::choice::ChooseOptions;
use crate::constraint::{Constraint, Judge, Standing};
use crate::infeasible::{NothingFeasible, Restrictive};
use crate::tally::Tally;

impl Selection<'_> {
    /// The cells that meet the constraints. For one model also that of all models together, unless its
    /// own text [speaks against it](Judge::refutes): were one false alarm in thin text enough to drop it,
    /// what is left would be settings that hardly ever alarm, chosen for that alone.
    pub(super) fn feasible(&self, sample: &Sample) -> Vec<Candidate> {
        let ChooseOptions {
            constraints,
            objective,
            worth,
            ..
        } = self.options;
        let mut judge = Judge::default();
        let pooled = self.pooled(sample.without);
        let mut found = Vec::new();
        self.each(sample, |cell, blend| {
            let quiet = sample.quiet_beside(&blend);
            let meets = |c: &Constraint| {
                judge.stands(c, &blend, &quiet, worth).met
                    || Some(cell) == pooled
                        && !judge.refutes(c, &blend.own, &sample.quiet[0], worth)
            };
            if constraints.iter().all(meets) {
                found.push(Candidate {
                    cell,
                    merit: objective.merit(&blend, worth),
                    wrong: blend.wrong(),
                });
            }
        });
        found
    }

    /// Whether the current setting meets the constraints.
    pub(super) fn allowed(&self, sample: &Sample) -> bool {
        let stands = self.counts_of_current(sample).map(|of| self.stand(&of));
        stands.is_some_and(|all| all.iter().all(|standing| standing.met))
    }

    /// How the constraints stand for a candidate, or for the current setting.
    pub(super) fn standings(&self, cell: usize, sample: &Sample) -> Vec<Standing> {
        let candidate = self.field.find(cell).map(|place| {
            let counts = self.blend(&place, sample);
            (counts, sample.quiet_beside(&counts))
        });
        let of = candidate.or_else(|| self.counts_of_current(sample));
        of.map_or(Vec::new(), |of| self.stand(&of))
    }

    fn stand(&self, (counts, quiet): &(Blend, Blend)) -> Vec<Standing> {
        let ChooseOptions {
            constraints, worth, ..
        } = self.options;
        let mut by = Judge::default();
        let stand = |c| by.stands(c, counts, quiet, worth);
        constraints.iter().map(stand).collect()
    }

    /// The counts of the current setting, and those of one that never alarms beside it.
    fn counts_of_current(&self, sample: &Sample) -> Option<(Blend, Blend)> {
        let (current, quiet) = self.field.ledger.current.as_ref()?;
        let now = sample.blend(current.over(&sample.own), current.over(&sample.rest));
        let quiet = Blend {
            own: quiet.over(&sample.own),
            rest: quiet.over(&sample.rest),
            weights: now.weights,
        };
        Some((now, quiet))
    }

    /// Why nothing is feasible.
    pub(super) fn nothing(&self, sample: &Sample) -> Box<NothingFeasible> {
        let ChooseOptions {
            constraints,
            objective,
            worth,
            ..
        } = self.options;
        let mut judge = Judge::default();
        let mut met = vec![0; constraints.len()];
        let mut cells = 0;
        let mut nearest: Option<(f64, f64, usize, Blend)> = None;
        self.each(sample, |cell, blend| {
            cells += 1;
            let quiet = sample.quiet_beside(&blend);
            let mut short = 0.0;
            for (c, met) in constraints.iter().zip(&mut met) {
                let standing = judge.stands(c, &blend, &quiet, worth);
                *met += usize::from(standing.met);
                let margin = standing.margin(c).unwrap_or(f64::NEG_INFINITY);
                short += (-margin / c.bound.abs().max(f64::MIN_POSITIVE)).max(0.0);
            }
            let merit = objective.merit(&blend, worth);
            let closer =
                |(s, m, ..): &(f64, f64, usize, Blend)| short < *s || (short == *s && merit > *m);
            if nearest.as_ref().is_none_or(closer) {
                nearest = Some((short, merit, cell, blend));
            }
        });
        let none = || (0, Blend::whole(&Tally::default()));
        let (cell, blend) = nearest.map_or_else(none, |(_, _, cell, blend)| (cell, blend));
        let least = constraints.iter().zip(met).min_by_key(|(_, met)| *met);
        let restrictive = least.map(|(constraint, met)| Restrictive {
            constraint: *constraint,
            met,
            compared: judge
                .stands(constraint, &blend, &sample.quiet_beside(&blend), worth)
                .compared,
        });
        let all: Vec<String> = constraints.iter().map(ToString::to_string).collect();
        Box::new(NothingFeasible {
            constraints: all.join(", "),
            restrictive,
            cells,
            cell,
            nearest: self.field.evidence.plan.id(cell),
        })
    }
}
