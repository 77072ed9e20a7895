//! What the rules of `rule.rs` ask about a choice, read off the transcripts: how many labels, loops and groups there
//! are, and how many wrong alarms the limits allow.

use std::collections::BTreeSet;

use super::Chooser;
use super::levels::Tried;
use super::rule::{Bar, Situation};
use crate::tally::Tally;
use crate::truth::{Case, Class};

impl Chooser<'_> {
    pub(super) fn situation(&self, used: Option<&Tried>, feasible: bool) -> Situation {
        let cases = self.field.evidence.cases;
        let once = self.once(&self.every);
        let quiet = self.field.quiet(&once);
        let groups = |keep: &dyn Fn(&Tally) -> bool| {
            let kept = once.iter().filter(|i| keep(&self.field.quiet(&[**i])));
            kept.map(|i| cases[*i].cluster())
                .collect::<BTreeSet<&str>>()
                .len() as u64
        };
        let labelled = |case: &&Case| !matches!(case.class(), None | Some(Class::Unsure));
        Situation {
            labelled: cases.iter().filter(labelled).count() as u64,
            loops: quiet.loops(),
            loop_groups: groups(&|t| t.loops() > 0),
            clean_groups: groups(&|t| t.clean() > 0),
            expected: self.expected(&quiet),
            interval: used.and_then(|tried| tried.figures.interval_points()),
            feasible,
            ships: false,
            costs: false,
            over: self.is_over(&self.trusted),
        }
    }

    /// Whether the setting in use is over a limit on some transcripts, by estimate.
    pub(super) fn is_over(&self, pick: &[usize]) -> bool {
        let now = self.tally(self.in_use, pick);
        self.options.constraints.iter().any(|limit| {
            let (value, met) = limit.estimate(&now, &self.options.worth);
            value.is_some() && !met
        })
    }

    /// The wrong alarms that the tightest limit allows on the text of `quiet`.
    pub(super) fn expected(&self, quiet: &Tally) -> Option<f64> {
        let each = self.options.constraints.iter();
        each.filter_map(|c| c.expected_wrong(quiet))
            .reduce(f64::min)
    }

    pub(super) fn bar(&self, sure: f64, pick: &[usize]) -> Bar {
        Bar {
            sure,
            worthwhile: self.options.worthwhile,
            given: self.options.given,
            surely_dear: false,
            keeps_limits: None,
            expected: self.expected(&self.field.quiet(&self.once(pick))),
        }
    }

    /// Those of `pick` that are the first with their text.
    pub(super) fn once(&self, pick: &[usize]) -> Vec<usize> {
        pick.iter().copied().filter(|i| self.firsts[*i]).collect()
    }

    /// How many loops of `pick` count, each text once.
    pub(super) fn loops(&self, pick: &[usize]) -> u64 {
        self.field.quiet(&self.once(pick)).loops()
    }
}
