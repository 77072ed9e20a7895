//! The painted tallies against their slow obvious twin: cell by cell, transcript by transcript.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::cells;
use crate::sweeps;

use cells::cells;
use deadloop_score::replay::BlockDecision;
use deadloop_score::{
    BlockTrial, Case, Count, JudgeOptions, Latencies, Outcome, ReadChannels, Tally, Transient,
    judge, tallies, tallies_and_latencies,
};
use proptest::prelude::*;

const BOTH: ReadChannels = ReadChannels::TEXT;

/// Any way to judge.
fn options() -> impl Strategy<Value = JudgeOptions> {
    let transient = [Transient::Ignore, Transient::Clean, Transient::Loop];
    (0_usize..3).prop_map(move |t| JudgeOptions {
        transient: transient[t],
        ..JudgeOptions::default()
    })
}

fn trials<'a>(
    cases: &'a [Case],
    said: &'a [BlockDecision],
    watch: ReadChannels,
) -> impl Iterator<Item = BlockTrial<'a>> {
    // Each transcript may be read in channels of its own; here every third in the other one's.
    let of = move |i: usize| match i % 3 {
        2 => ReadChannels {
            arguments: false,
            reasoning: watch.answer,
            answer: watch.reasoning,
        },
        _ => watch,
    };
    let trial = move |(i, (case, decided))| BlockTrial {
        case,
        decided,
        watch: of(i),
    };
    cases.iter().zip(said).enumerate().map(trial)
}

/// The slow twin.
fn outcomes(
    cases: &[Case],
    said: &[BlockDecision],
    at: &[u16],
    watch: ReadChannels,
    options: &JudgeOptions,
) -> Vec<Outcome> {
    trials(cases, said, watch)
        .map(|t| match t.decided.error {
            Some(_) => Outcome::error(),
            None => judge(t.case, t.watch, t.decided.stop(at), options),
        })
        .collect()
}

proptest! {
    #[test]
    fn every_cell_has_the_tally_and_the_quantiles_of_its_outcomes(
        (shape, cases, said) in sweeps::sweeps(),
        options in options(),
        (reasoning, answer) in (any::<bool>(), any::<bool>()),
    ) {
        let watch = ReadChannels { reasoning, answer, arguments: false };
        let (sheet, latencies) = tallies_and_latencies(&shape, trials(&cases, &said, watch), &options);
        for at in cells(&shape) {
            let outcomes = outcomes(&cases, &said, &at, watch, &options);
            let tally: Tally = outcomes.iter().map(Tally::from_outcome).sum();
            prop_assert_eq!(sheet.tally(&at), tally, "{:?}", at);
            let slow = Latencies::from_outcomes(&outcomes);
            prop_assert_eq!(latencies.quantiles(&at), slow.of_loops(&tally));
        }
    }

    #[test]
    fn a_part_of_the_counts_is_the_same_part((shape, cases, said) in sweeps::sweeps()) {
        let options = JudgeOptions::default();
        let wanted = [Count::Saved, Count::FalseAlarm];
        let all = tallies(&shape, trials(&cases, &said, BOTH), &options, &Count::ALL);
        let few = tallies(&shape, trials(&cases, &said, BOTH), &options, &wanted);
        for at in cells(&shape) {
            for count in wanted {
                prop_assert_eq!(few.tally(&at)[count], all.tally(&at)[count]);
            }
        }
    }

    #[test]
    fn tallies_add_in_any_order((shape, cases, said) in sweeps::sweeps(), cut in 0_usize..14) {
        let options = JudgeOptions::default();
        let at = vec![0; shape.len()];
        let outcomes = outcomes(&cases, &said, &at, BOTH, &options);
        let (a, b) = outcomes.split_at(cut.min(outcomes.len()));
        let sum = |part: &[Outcome]| part.iter().map(Tally::from_outcome).sum::<Tally>();
        prop_assert_eq!(sum(a) + sum(b), sum(&outcomes));
        prop_assert_eq!(outcomes.iter().rev().map(Tally::from_outcome).sum::<Tally>(), sum(&outcomes));
    }

    #[test]
    fn every_transcript_has_one_verdict_and_counts_fit((shape, cases, said) in sweeps::sweeps(), options in options()) {
        for at in cells(&shape) {
            for outcome in outcomes(&cases, &said, &at, BOTH, &options) {
                let t = Tally::from_outcome(&outcome);
                let verdicts = t.loops() + t.clean() + t.transient() + t.get(Count::Unlabelled) + t.get(Count::Errors);
                prop_assert_eq!(verdicts, 1);
                prop_assert!(outcome.saved <= outcome.loop_chars);
                prop_assert!(outcome.lost + outcome.exposure <= 300);
                prop_assert_eq!(outcome.loop_chars > 0 || outcome.span.is_some(), outcome.verdict.is_loop() || outcome.is_earlier());
            }
        }
    }
}
