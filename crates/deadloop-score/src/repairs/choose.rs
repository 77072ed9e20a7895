//! Repairers held against the truth: counts by variant and fault, how sure they are, and which variant is
//! taken under a limit on harm.
//!
//! Two things do harm: a damaged stream that comes out `wrong`, with an action that the truth does not have, or with
//! other arguments; and an intact stream that is changed, a false repair. The limit holds for each: wrong ones of the
//! damaged streams, false repairs of the intact ones. A limit on wrong ones alone chose a filter that swallowed 6 % of
//! intact answers, for a filter gives no actions and is never wrong.

use std::cmp::{Ordering, Reverse};

use crate::choose::advice::Ruling;
use crate::choose::contest::{Contest, Terms, contest, pick};
use crate::choose::duel::Figures;
use crate::choose::pieces::EvidencePieces;
use crate::intervals::{Resampling, share_within};
use crate::judge::Mended;
use crate::tally::Counts;

/// Counts that add, of one variant: streams of each verdict, by its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RepairTally([i64; Mended::ALL.len()]);

impl Counts for RepairTally {
    const N: usize = Mended::ALL.len();

    fn numbers(&self) -> &[i64] {
        &self.0
    }

    fn slot(&mut self, place: usize) -> &mut i64 {
        &mut self.0[place]
    }
}

impl RepairTally {
    /// Counts one more.
    pub fn add(&mut self, verdict: Mended) {
        self.0[verdict as usize] += 1;
    }

    /// How often a verdict came.
    pub fn of(&self, verdict: Mended) -> u64 {
        u64::try_from(self.0[verdict as usize]).unwrap_or(0)
    }

    /// Streams that were damaged.
    pub fn damaged(&self) -> u64 {
        use Mended::{Leaked, Lost, Recovered, Wrong};
        [Recovered, Wrong, Lost, Leaked]
            .iter()
            .map(|v| self.of(*v))
            .sum()
    }

    /// Streams that were intact.
    pub fn intact(&self) -> u64 {
        self.of(Mended::Intact) + self.of(Mended::FalseRepair)
    }

    /// The larger of two shares: wrong ones of the damaged streams, false repairs of the intact ones; 0 of none.
    pub fn harm(&self) -> f64 {
        let wrong = share(self.of(Mended::Wrong), self.damaged());
        let changed = share(self.of(Mended::FalseRepair), self.intact());
        wrong.max(changed)
    }

    /// Whether the estimates of both harms are within a limit, a share.
    pub fn within(&self, limit: f64) -> bool {
        self.harm() <= limit + 1e-12
    }

    /// What is safer comes first: fewer false repairs, fewer wrong, fewer leaked, more recovered.
    fn order(&self) -> impl Ord + use<> {
        (
            self.of(Mended::FalseRepair),
            self.of(Mended::Wrong),
            self.of(Mended::Leaked),
            Reverse(self.of(Mended::Recovered)),
        )
    }
}

fn share(k: u64, n: u64) -> f64 {
    if n == 0 { 0.0 } else { k as f64 / n as f64 }
}

/// A variant as it is chosen from: what became of every stream, all variants of a repairer over the same streams.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its place among all variants.
    pub variant: usize,
    /// What became of each stream; `None`: it does not read such streams.
    pub judged: Vec<Option<Mended>>,
}

impl Candidate {
    /// Its counts over all streams.
    pub fn tally(&self) -> RepairTally {
        let mut tally = RepairTally::default();
        let judged = self.judged.iter().flatten();
        judged.for_each(|verdict| tally.add(*verdict));
        tally
    }
}

/// The variants of a repairer, the limit on harm, a share, and which of them is in use.
pub struct Contending<'a> {
    /// The variants.
    pub candidates: &'a [Candidate],
    /// The streams, all of them.
    pub streams: &'a EvidencePieces,
    /// The place of the candidate in use.
    pub in_use: usize,
    /// The limit, a share.
    pub limit: f64,
    /// Replicates and seed.
    pub resampling: Resampling,
}

/// A choice among the variants of a repairer.
#[derive(Clone, Debug)]
pub struct RepairChoice {
    /// What to do.
    pub ruling: Ruling,
    /// The best variant within the limit and its counts over all streams.
    pub chosen: Option<(usize, RepairTally)>,
    /// The counts over all streams, each judged by the variant chosen on the other folds; `None` if there is one group.
    pub held_out: Option<RepairTally>,
    /// The counts of what is in use.
    pub in_use: RepairTally,
    /// What was chosen on the other folds, against what is in use: the difference in the share that is recovered.
    pub figures: Figures,
    /// Groups with a damaged stream.
    pub groups: u64,
}

impl Contending<'_> {
    /// Chooses.
    pub fn choose(&self) -> RepairChoice {
        let damaged = |stream: usize| {
            let judged = self.candidates.first().map(|c| c.judged[stream]);
            judged.flatten().is_some_and(Mended::is_of_damaged)
        };
        let groups = self.streams.groups_of(damaged);
        let terms = Terms {
            worthwhile: 1.0,
            given: false,
            by_estimate: true,
            telling: groups,
            resampling: self.resampling,
        };
        let within = |tally: &RepairTally| tally.within(self.limit);
        let recovers = |tally: &RepairTally| tally.of(Mended::Recovered) > 0;
        let done = contest(self, self.streams, self.in_use, (&within, &terms), recovers);
        let chosen = done.candidate.map(|at| &self.candidates[at]);
        let used = self.candidates.get(self.in_use);
        RepairChoice {
            ruling: done.ruling,
            chosen: chosen.map(|candidate| (candidate.variant, candidate.tally())),
            held_out: (groups > 1).then_some(done.held_out),
            in_use: used.map(Candidate::tally).unwrap_or_default(),
            figures: done.figures,
            groups,
        }
    }

    /// The variant that is taken under another limit, and its counts over all streams; chosen on all.
    pub fn best(&self, limit: f64) -> Option<(usize, RepairTally)> {
        let within = |tally: &RepairTally| tally.within(limit);
        let at = pick(
            self,
            self.streams,
            self.in_use,
            &self.streams.firsts,
            &within,
        )?;
        let candidate = &self.candidates[at];
        Some((candidate.variant, candidate.tally()))
    }
}

impl Contest for Contending<'_> {
    type Adds = RepairTally;

    fn candidates(&self) -> usize {
        self.candidates.len()
    }

    fn adds(&self, candidate: usize, stream: usize) -> RepairTally {
        let mut tally = RepairTally::default();
        if let Some(verdict) = self.candidates[candidate].judged[stream] {
            tally.add(verdict);
        }
        tally
    }

    fn cost(&self, tally: &RepairTally) -> f64 {
        -(tally.of(Mended::Recovered) as f64)
    }

    fn prefer(&self, one: usize, other: usize) -> Ordering {
        let order = |at: usize| self.candidates[at].tally().order();
        order(one).cmp(&order(other))
    }

    /// The difference in the share of the damaged streams that is recovered.
    fn gain(&self, [new, old]: &[RepairTally; 2]) -> Option<f64> {
        let recovered = |tally: &RepairTally| tally.of(Mended::Recovered) as f64;
        let damaged = new.damaged();
        (damaged > 0).then(|| (recovered(new) - recovered(old)) / damaged as f64)
    }

    fn wrong(&self, tally: &RepairTally) -> u64 {
        tally.of(Mended::Wrong) + tally.of(Mended::FalseRepair)
    }

    /// The smaller of both: of the wrong ones, and of the changed ones.
    fn within(&self, tally: &RepairTally) -> f64 {
        let of = |k: u64, n: u64| share_within(k as f64, n as f64, self.limit).unwrap_or(0.0);
        let wrong = of(tally.of(Mended::Wrong), tally.damaged());
        wrong.min(of(tally.of(Mended::FalseRepair), tally.intact()))
    }

    fn is_over(&self, tally: &RepairTally) -> bool {
        !tally.within(self.limit)
    }
}

#[cfg(test)]
mod tests {
    use deadloop_replay::detect::Unit;

    use super::*;
    use crate::truth::{Case, answer, case};

    fn candidate(variant: usize, verdicts: &[Mended]) -> Candidate {
        Candidate {
            variant,
            judged: verdicts.iter().copied().map(Some).collect(),
        }
    }

    /// A choice among candidates on streams of the given groups.
    fn chosen(
        candidates: &[Candidate],
        groups: &[usize],
        in_use: usize,
        limit: f64,
    ) -> RepairChoice {
        let case = |(i, group): (usize, &usize)| Case {
            group: Some(format!("g{group}").into()),
            timeline: answer(300),
            ..case(&format!("t{i}"), None)
        };
        let cases: Vec<Case> = groups.iter().enumerate().map(case).collect();
        let cases: Vec<&Case> = cases.iter().collect();
        let contending = Contending {
            candidates,
            streams: &EvidencePieces::of(&cases, &vec![(); cases.len()], Unit::Chars, 1),
            in_use,
            limit,
            resampling: Resampling::default(),
        };
        contending.choose()
    }

    fn many(parts: &[(Mended, usize)]) -> Vec<Mended> {
        parts.iter().flat_map(|(v, n)| vec![*v; *n]).collect()
    }

    #[test]
    fn the_limit_comes_before_what_is_recovered() {
        use Mended::{Intact, Lost, Recovered, Wrong};
        let idle = candidate(0, &many(&[(Lost, 40), (Intact, 10)]));
        // Wrong on streams of every group, so that no fold takes it.
        let bold = candidate(1, &many(&[(Recovered, 30), (Wrong, 10), (Intact, 10)]));
        let shy = candidate(2, &many(&[(Recovered, 20), (Lost, 20), (Intact, 10)]));
        let groups: Vec<usize> = (0..50).map(|at| at % 10).collect();
        let all = [idle, bold, shy];
        let strict = chosen(&all, &groups, 0, 0.001);
        assert_eq!(strict.ruling, Ruling::Ship);
        assert_eq!(strict.chosen.map(|(v, _)| v), Some(2));
        assert_eq!(strict.held_out.map(|t| t.damaged()), Some(40));
        let loose = chosen(&all, &groups, 0, 0.3);
        assert_eq!(loose.chosen.map(|(v, _)| v), Some(1));
        let alone = chosen(&all, &[0; 50], 0, 0.3);
        assert_eq!(alone.ruling, Ruling::Collect);
        assert_eq!(chosen(&all[..1], &groups, 0, 0.05).ruling, Ruling::None);
        assert_eq!(chosen(&all, &groups, 2, 0.001).ruling, Ruling::Keep);
    }

    #[test]
    fn a_variant_that_changes_intact_streams_does_harm_too() {
        use Mended::{FalseRepair, Intact, Lost, Recovered};
        let idle = candidate(0, &many(&[(Lost, 40), (Intact, 50)]));
        // Never wrong, and one in ten intact streams is changed: in every group.
        let eager = candidate(1, &many(&[(Recovered, 40), (FalseRepair, 5), (Intact, 45)]));
        let shy = candidate(2, &many(&[(Recovered, 20), (Lost, 20), (Intact, 50)]));
        let groups: Vec<usize> = (0..90).map(|at| at % 5).collect();
        let all = [idle, eager, shy];
        let chosen = |limit| chosen(&all, &groups, 0, limit).chosen.map(|(v, _)| v);
        assert_eq!(chosen(0.05), Some(2));
        assert_eq!(chosen(0.1), Some(1));
    }

    #[test]
    fn a_limit_is_of_all_streams_and_groups_have_to_be_ten() {
        use Mended::{Lost, Recovered, Wrong};
        let idle = candidate(0, &many(&[(Lost, 50)]));
        let risky = candidate(1, &many(&[(Recovered, 49), (Wrong, 1)]));
        let both = [idle, risky];
        let of = |groups: usize, limit| {
            let groups: Vec<usize> = (0..50).map(|at| at * groups / 50).collect();
            let choice = chosen(&both, &groups, 0, limit);
            (choice.chosen.map(|(variant, _)| variant), choice.ruling)
        };
        assert_eq!(of(10, 0.019), (Some(0), Ruling::None));
        assert_eq!(of(10, 0.1), (Some(1), Ruling::Ship));
        assert_eq!(of(9, 0.1), (Some(1), Ruling::Collect));
        // Where the wrong one is in the sample it is over the limit: two groups in ten are mended, held out.
        assert_eq!(of(10, 0.02), (Some(1), Ruling::Keep));
    }

    /// Twelve groups in which a variant does as well as the idle one, but for one stream of one group: the bootstrap is not
    /// sure, as McNemar over streams would not be, and where every group gains it is.
    #[test]
    fn a_difference_is_sure_over_groups_and_not_over_streams() {
        use Mended::{Lost, Recovered};
        let idle = candidate(0, &many(&[(Lost, 120)]));
        // Forty streams more, all of them of one group.
        let one = candidate(1, &many(&[(Recovered, 40), (Lost, 80)]));
        let groups: Vec<usize> = (0..120_usize).map(|at| at.saturating_sub(30) / 8).collect();
        let choice = chosen(&[idle.clone(), one], &groups, 0, 0.1);
        assert_eq!((choice.groups, choice.ruling), (12, Ruling::Keep));
        // The same forty, some of each group.
        let spread: Vec<usize> = (0..120).map(|at| at % 12).collect();
        let some = candidate(1, &many(&[(Recovered, 40), (Lost, 80)]));
        let choice = chosen(&[idle, some], &spread, 0, 0.1);
        assert_eq!((choice.groups, choice.ruling), (12, Ruling::Ship));
        assert!(choice.figures.better > 0.99, "{:?}", choice.figures);
    }
}
