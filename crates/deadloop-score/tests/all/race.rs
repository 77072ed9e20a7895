//! The race of `tune --search`: the best structure survives it, clear losers do not, and what it has
//! looked at is never held out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::kit;

use deadloop_score::replay::detect::{Channel, Kind};
use deadloop_score::replay::{Decided, Grid, Plan, Record, Region};
use deadloop_score::{Case, ChooseOptions, Count, Evidence, choose, race};
use kit::{case, stop};
use serde_json::json;

const LENGTHS: (u64, u64) = (0, 20_000);

/// Structures, three thresholds each.
fn plan(structures: usize) -> Plan {
    let mut plan = Plan::default();
    for i in 0..structures {
        let grid = format!(
            "[[guard]]\ndetector = \"checkpoint\"\n[guard.params]\nevery = {}\nmin_matches = [3,4,5]\n",
            500 * i
        );
        plan.add_grid(&Grid::parse(&grid).unwrap()).unwrap();
    }
    assert_eq!(plan.blocks().len(), structures);
    plan
}

/// Every cell of a structure alarms at this place, or none does.
fn said(place: Option<u64>) -> Decided {
    let region = Region {
        lo: vec![0],
        hi: vec![3],
        stop: 0,
    };
    Decided {
        stops: place
            .map(|at| stop(Channel::Answer, at, Kind::Paragraph, LENGTHS))
            .into_iter()
            .collect(),
        regions: place.map(|_| region).into_iter().collect(),
        error: None,
        details: Vec::new(),
    }
}

/// How many of ten loops a structure finds, how long it takes, and how many of ten clean
/// transcripts it cuts.
#[derive(Clone, Copy)]
struct Structure {
    finds: u64,
    delay: u64,
    cuts: u64,
}

/// `n` loops and `n` clean transcripts under these structures; which of ten they get right is another
/// for each.
fn world(structures: &[Structure], n: u64) -> (Vec<Case>, Vec<Record>) {
    let (mut cases, mut records) = (Vec::new(), Vec::new());
    for i in 0..n {
        let tenth = |b: usize| (7 * i + 3 * b as u64 + i / 10) % 10;
        let each = structures.iter().enumerate();
        let looping = each
            .clone()
            .map(|(b, s)| said((tenth(b) < s.finds).then_some(1000 + s.delay)));
        let clean = each.map(|(b, s)| said((tenth(b) < s.cuts).then_some(9000)));
        let onset =
            json!([{"class": "loop", "kind": "paragraph", "channel": "answer", "onset": 1000}]);
        for (kind, label, blocks) in [
            ("loop", onset, looping.collect::<Vec<_>>()),
            ("clean", json!([{"class": "clean"}]), clean.collect()),
        ] {
            let id = format!("{kind}{i:03}");
            cases.push(case(&id, "m", &id, LENGTHS, label));
            records.push(Record {
                transcript: id.into(),
                blocks,
            });
        }
    }
    (cases, records)
}

fn stays(structures: &[Structure], n: u64) -> Vec<bool> {
    let plan = plan(structures.len());
    let (cases, records) = world(structures, n);
    let evidence = Evidence::new(&plan, &cases, &records).unwrap();
    race(&evidence, &ChooseOptions::default())
}

const GOOD: Structure = Structure {
    finds: 9,
    delay: 500,
    cuts: 0,
};

#[test]
fn the_best_survives_and_clear_losers_do_not() {
    let slow = Structure {
        delay: 9000,
        ..GOOD
    };
    let blind = Structure { finds: 2, ..GOOD };
    let hasty = Structure { cuts: 5, ..GOOD };
    let almost = Structure { delay: 600, ..GOOD };
    for best in 0..5 {
        let mut structures = vec![slow, blind, hasty, almost];
        structures.insert(best, GOOD);
        let stays = stays(&structures, 40);
        assert!(stays[best], "the best is the {best}th: {stays:?}");
        for (i, stays) in stays.into_iter().enumerate().filter(|(i, _)| *i != best) {
            // Four fifths of the loops against all but one in ten is seen on 40; 100 chars are not.
            let close = structures[i].delay == 600;
            assert_eq!(stays, close, "the {i}th of {best}");
        }
    }
}

/// The fewer transcripts it has seen, the less a race dares.
#[test]
fn a_few_transcripts_drop_nothing_that_may_be_the_best() {
    let behind = Structure { finds: 7, ..GOOD };
    assert_eq!(stays(&[GOOD, behind], 4), [true, true]);
    assert_eq!(stays(&[GOOD, behind], 400), [true, false]);
    let noisy = Structure { cuts: 1, ..GOOD };
    assert_eq!(
        stays(&[GOOD, noisy], 4),
        [true, true],
        "one in 73,000 clean chars may still be one per million: from 0.7 on"
    );
    assert_eq!(
        stays(&[GOOD, noisy], 40),
        [true, false],
        "four in ten times as many not"
    );
}

#[test]
fn without_a_loop_nothing_is_dropped() {
    let plan = plan(2);
    let (cases, records) = world(&[GOOD, Structure { cuts: 10, ..GOOD }], 20);
    let clean: Vec<usize> = (0..cases.len())
        .filter(|i| cases[*i].id.starts_with("clean"))
        .collect();
    let cases: Vec<Case> = clean.iter().map(|i| cases[*i].clone()).collect();
    let records: Vec<Record> = clean.iter().map(|i| records[*i].clone()).collect();
    let evidence = Evidence::new(&plan, &cases, &records).unwrap();
    assert_eq!(race(&evidence, &ChooseOptions::default()), [true, true]);
}

/// After a race on some folds the held-out figures are of the others alone, for all models and each.
#[test]
fn raced_folds_are_not_held_out() {
    let plan = plan(2);
    let (cases, records) = world(&[GOOD, Structure { finds: 5, ..GOOD }], 200);
    let evidence = Evidence::new(&plan, &cases, &records).unwrap();
    let options = |raced| ChooseOptions {
        raced,
        ..ChooseOptions::default()
    };
    let of = |raced| choose(&evidence, 0..6, 5, &options(raced)).unwrap();
    let (all, some) = (of(0), of(3));
    assert_eq!(
        all.pooled.candidate, some.pooled.candidate,
        "the choice is made on all"
    );
    for choice in [&some.pooled, &some.models[0]] {
        let unseen = cases
            .iter()
            .zip(&some.folds)
            .filter(|(_, fold)| **fold >= 3);
        let clean = unseen
            .filter(|(case, _)| case.id.starts_with("clean"))
            .count();
        assert_eq!(choice.held_out_tally.clean(), clean as u64);
        assert_eq!(choice.tally.clean(), 200);
    }
    assert_eq!(all.pooled.held_out_tally.get(Count::Transcripts), 400);
}
