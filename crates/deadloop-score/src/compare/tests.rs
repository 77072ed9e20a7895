//! Comparisons of made-up sides.

use std::collections::BTreeMap;

use serde_json::json;

use super::side::Side;
use super::*;
use crate::files::outcomes::OutcomeLine;
use crate::judge::{Outcome, Verdict};

const LOOP: u64 = 1000;

/// A transcript of `group`; `at`: how many chars after the onset a hit comes.
fn judged(id: usize, model: &str, group: usize, verdict: Verdict, at: u64) -> OutcomeLine {
    let hit = verdict == Verdict::Hit;
    let loops = if verdict.is_loop() { LOOP } else { 0 };
    let outcome = Outcome {
        latency: hit.then_some(at),
        saved: if hit { LOOP - at } else { 0 },
        delay: if hit { at } else { loops },
        loop_chars: loops,
        exposure: 50_000,
        ..Outcome::from_verdict(verdict)
    };
    let alarmed = hit || verdict.is_false();
    let class = if verdict.is_loop() { "loop" } else { "clean" };
    let text = |text: &str| Some(text.into());
    OutcomeLine {
        transcript: text(&format!("t{id}")),
        model: text(model),
        group: text(&format!("g{group}")),
        text: text("hash"),
        class: text(class),
        label: text(&json!({"class": class}).to_string()),
        verdict: text(verdict.name()),
        alarm_at: alarmed.then_some(at),
        alarm_channel: text("answer").filter(|_| alarmed),
        alarm_kind: text("paragraph").filter(|_| alarmed),
        latency: outcome.latency,
        saved: Some(outcome.saved),
        lost: Some(outcome.lost),
        exposure: Some(outcome.exposure),
        loop_chars: Some(outcome.loop_chars),
        delay: Some(outcome.delay),
        unit: text("chars"),
        ..OutcomeLine::default()
    }
}

/// `loops` loops and as many clean texts, two a group; `hit` and `alarm` say what becomes of each.
fn side(loops: usize, hit: impl Fn(usize) -> Option<u64>, alarm: impl Fn(usize) -> bool) -> Side {
    let of_loop = |i: usize| match hit(i) {
        Some(at) => judged(i, "a", i / 2, Verdict::Hit, at),
        None => judged(i, "a", i / 2, Verdict::Miss, 0),
    };
    let of_clean = |i: usize| {
        let verdict = if alarm(i) {
            Verdict::FalseAlarm
        } else {
            Verdict::Quiet
        };
        judged(loops + i, "b", loops + i / 2, verdict, 7)
    };
    let all = (0..loops).map(of_loop).chain((0..loops).map(of_clean));
    let rows: Vec<OutcomeLine> = all.collect();
    Side {
        source: "made up".into(),
        name: "side".into(),
        settings: BTreeMap::new(),
        toml: None,
        judge: Default::default(),
        chunks: None,
        rows: OutcomeLine::schema().frame(&rows),
    }
}

/// Changes the rows of a side.
fn alter(side: &mut Side, change: impl FnOnce(&mut Vec<OutcomeLine>)) {
    let mut rows = OutcomeLine::read(&side.rows);
    change(&mut rows);
    side.rows = OutcomeLine::schema().frame(&rows);
}

fn compared(base: &Side, new: &Side) -> Comparison {
    compare(base, new, &CompareOptions::default()).unwrap()
}

fn verdict(comparison: &Comparison) -> (Effect, Option<bool>) {
    (comparison.verdict, comparison.passed())
}

fn row<'a>(comparison: &'a Comparison, metric: &str) -> &'a Row {
    let mut rows = comparison.rows.iter();
    rows.find(|row| row.model == "*" && row.metric == metric)
        .unwrap()
}

fn even(i: usize) -> Option<u64> {
    i.is_multiple_of(2).then_some(200)
}

fn every(_: usize) -> Option<u64> {
    Some(200)
}

/// Forty loops without a wrong alarm.
fn quiet(hit: impl Fn(usize) -> Option<u64>) -> Side {
    side(40, hit, |_| false)
}

#[test]
fn the_same_is_equivalent_and_passes() {
    let same = compared(&quiet(even), &quiet(even));
    assert_eq!(verdict(&same), (Effect::Equivalent, Some(true)));
    assert_eq!((same.flips.len(), same.loops, same.clean), (0, 40, 40));
    assert!(same.rows.iter().all(|row| row.p.is_none()));
}

#[test]
fn more_hits_are_an_improvement_and_fewer_a_regression() {
    let (few, many) = (quiet(even), quiet(every));
    let better = compared(&few, &many);
    let recall = row(&better, "recall");
    assert_eq!((recall.b, recall.c, recall.n), (0, 20, 40));
    assert_eq!(recall.p, Some(sign_flips(&[1; 20])));
    assert_eq!(verdict(&better), (Effect::Improved, Some(true)));
    // Every group gains one of two.
    let (lo, hi) = (recall.lo.unwrap(), recall.hi.unwrap());
    assert!(lo <= 0.5 && 0.5 <= hi, "{lo} {hi}");
    let worse = compared(&many, &few);
    assert_eq!(verdict(&worse), (Effect::Regressed, Some(false)));
    assert_eq!(worse.flips().count(), 20);
    let mut directions = worse.flips().map(|flip| flip.direction);
    assert!(directions.all(|direction| direction == Direction::Worse));
}

#[test]
fn fewer_than_six_flips_are_too_few_to_tell_and_all_named() {
    let more = |i: usize| if i < 10 { Some(200) } else { even(i) };
    let five = compared(&quiet(even), &quiet(more));
    let recall = row(&five, "recall");
    assert_eq!((recall.c, recall.p), (5, None));
    assert_eq!(recall.verdict, Some(Effect::Inconclusive));
    assert_eq!(five.verdict, Effect::Inconclusive);
    assert_eq!(five.flips().count(), 5);
}

#[test]
fn a_better_primary_does_not_pass_with_a_worse_guard() {
    let base = quiet(even);
    let one = side(40, every, |i| i == 3);
    let doubtful = compared(&base, &one);
    assert_eq!(row(&doubtful, "recall").verdict, Some(Effect::Improved));
    assert_eq!(verdict(&doubtful), (Effect::Inconclusive, Some(false)));
    let many = side(40, every, |i| i.is_multiple_of(2));
    assert_eq!(compared(&base, &many).verdict, Effect::Regressed);
    let lenient = CompareOptions {
        fail_on: vec![FailCondition::Regressed],
        ..CompareOptions::default()
    };
    assert_eq!(compare(&base, &one, &lenient).unwrap().passed(), Some(true));
}

#[test]
fn an_effect_within_the_noise_is_none() {
    let (base, later) = (quiet(every), quiet(|_| Some(205)));
    let moved = compared(&base, &later);
    let delay = row(&moved, "delay");
    assert_eq!(delay.difference, Some(5.0));
    assert_eq!(delay.verdict, Some(Effect::Equivalent));
    assert_eq!((moved.verdict, moved.moved), (Effect::Equivalent, 40));
    let mut strict = CompareOptions::default();
    *strict.noise.named("delay").unwrap() = 1.0;
    let strict = compare(&base, &later, &strict).unwrap();
    assert_eq!(row(&strict, "delay").verdict, Some(Effect::Regressed));
    // Delay is told and decides nothing.
    assert_eq!(strict.verdict, Effect::Equivalent);
}

#[test]
fn what_differs_is_said() {
    let base = side(3, even, |_| false);
    let mut new = base.clone();
    alter(&mut new, |rows| {
        rows.remove(5);
        rows[0].text = Some("other".into());
        rows[1].error = Some("timeout".into());
        rows[2].label = Some(r#"{"class":"clean"}"#.into());
    });
    new.judge.transient = crate::judge::Transient::Loop;
    let refused = compare(&base, &new, &CompareOptions::default());
    let problems = refused.unwrap_err().problems;
    let begin = [
        "judged by other rules",
        "1 transcript only in BASE: t5",
        "1 transcript with another text: t0 (BASE hash, NEW other)",
        "1 transcript with another label: t2 (BASE loop, NEW clean)",
        "1 transcript on which the detector of NEW failed: t1 (timeout)",
    ];
    assert_eq!(problems.len(), begin.len(), "{problems:?}");
    for (problem, begin) in problems.iter().zip(begin) {
        assert!(problem.starts_with(begin), "{problem}");
    }
}

/// Forty texts that are one text, in groups of their own: what became of it is one observation.
#[test]
fn copies_are_one_observation() {
    let alone = |hit: bool| quiet(|_| hit.then_some(200));
    let copied = |hit: bool| {
        let mut side = alone(hit);
        alter(&mut side, |rows| {
            for (i, row) in rows.iter_mut().enumerate() {
                row.group = Some(format!("own{i}").into());
                row.copy_of = Some(if i < 40 { "t7" } else { "t40" }.into());
            }
        });
        side
    };
    let apart = compared(&alone(true), &alone(false));
    assert_eq!(apart.verdict, Effect::Regressed);
    let same = compared(&copied(true), &copied(false));
    assert_eq!(same.verdict, Effect::Inconclusive);
    let recall = row(&same, "recall");
    assert_eq!((recall.base, recall.new), (Some(1.0), Some(0.0)));
    assert_eq!((recall.n, recall.b, recall.differ), (1, 1, 1));
    assert_eq!(recall.p, None);
    // The one that the others are copies of may be left out by a filter.
    let (mut base, mut new) = (copied(true), copied(false));
    for side in [&mut base, &mut new] {
        alter(side, |rows| rows[7].split = Some("gone".into()));
        side.retain(|_, split| split.is_none());
    }
    assert_eq!(row(&compared(&base, &new), "recall").n, 1);
}

/// One clean text of which NEW cuts all twenty copies, among twenty others of which it cuts six: the estimate counts the text
/// once, as the interval and the test do, so that it does not lie outside of the one and is what the other is about.
#[test]
fn estimate_interval_and_test_count_the_same_texts() {
    let with = |alarm: fn(usize) -> bool| {
        let mut side = side(40, every, alarm);
        alter(&mut side, |rows| {
            for (i, row) in rows.iter_mut().enumerate() {
                row.group = Some(format!("own{i}").into());
                let copied = (40..60).contains(&i);
                row.copy_of = copied.then(|| "t40".into());
            }
        });
        side
    };
    let (base, new) = (with(|i| i == 25), with(|i| i < 26 && i != 25));
    let compared = compared(&base, &new);
    assert_eq!((compared.transcripts, compared.counted_once), (80, 61));
    let healthy = compared.healthy.map(|side| side.wrong_alarms);
    assert_eq!(healthy, [1, 6]);
    for metric in ["fpr", "fa_per_mchar"] {
        let row = row(&compared, metric);
        let (d, lo, hi) = (row.difference.unwrap(), row.lo.unwrap(), row.hi.unwrap());
        assert!(lo <= d && d <= hi, "{metric}: {d} is not in {lo} to {hi}");
        assert_eq!((row.b, row.c), (6, 1), "{metric}");
        // Six for the worse and one for the better: p 0.125.
        assert_eq!(row.verdict, Some(Effect::Inconclusive), "{metric}");
    }
    let rate = row(&compared, "fa_per_mchar").difference.unwrap();
    let want = 5.0 * 1e6 / (61.0 * 50_000.0);
    assert!((rate - want).abs() < 1e-9, "{rate}");
}

/// Of simulated detectors that do the same in truth one in twenty is outside the interval of the difference, and no more.
#[test]
fn the_bootstrap_is_wrong_as_often_as_it_says() {
    let mut random = crate::intervals::Random::from_name(5, "pairs");
    let trials = 200;
    let options = CompareOptions {
        resampling: crate::intervals::Resampling {
            replicates: 300,
            seed: 1,
        },
        ..CompareOptions::default()
    };
    let mut covered = 0;
    for _ in 0..trials {
        // Two transcripts of a group fare alike, so that an interval over transcripts would be too short.
        let mut draw = || -> Vec<u64> {
            let group: Vec<u64> = (0..60).map(|_| random.below(1000)).collect();
            (0..120).map(|i| group[i / 2]).collect()
        };
        let (a, b) = (draw(), draw());
        let base = side(120, |i| Some(a[i]), |_| false);
        let new = side(120, |i| Some(b[i]), |_| false);
        let comparison = compare(&base, &new, &options).unwrap();
        let delay = row(&comparison, "delay");
        covered += usize::from(delay.lo.unwrap() <= 0.0 && 0.0 <= delay.hi.unwrap());
    }
    // Binomial(200, 0.95): outside 180..=199 once in a thousand times.
    assert!((180..=199).contains(&covered), "{covered} of {trials}");
}
