//! The choice, on sweeps of one threshold whose answer is known.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod kit;

use std::ops::Range;

use deadloop_score::replay::detect::{Channel, Kind};
use deadloop_score::replay::{Decided, Grid, Plan, Record, Region};
use deadloop_score::{
    Case, ChooseError, ChooseOptions, Evidence, Floor, JudgeOptions, Metric, Outcome, Resampling,
    Tally, Watch, Why, Worth, bootstrap, choose, judge, settings_toml,
};
use kit::{case, stop};
use serde_json::json;

const LENGTHS: (u64, u64) = (0, 20_000);

/// Six values of `min_matches`, 3 to 8: the stricter, the later, and the fewer false alarms.
fn plan() -> (Plan, Range<usize>) {
    let grid =
        "[[guard]]\ndetector = \"checkpoint\"\n[guard.params]\nmin_matches = [3,4,5,6,7,8]\n";
    let mut plan = Plan::default();
    let cells = plan.add_grid(&Grid::parse(grid).unwrap()).unwrap();
    assert_eq!((cells.clone(), plan.blocks()[0].shape()), (0..6, vec![6]));
    (plan, cells)
}

/// A transcript on which the first `cells` settings alarm at `place`.
fn said(id: &str, cells: u16, place: u64) -> Record {
    let stops = vec![stop(Channel::Answer, place, Kind::Paragraph, LENGTHS)];
    let regions = vec![Region {
        lo: vec![0],
        hi: vec![cells],
        stop: 0,
    }];
    let regions = if cells == 0 { Vec::new() } else { regions };
    let blocks = vec![Decided {
        stops,
        regions,
        error: None,
    }];
    Record {
        transcript: id.into(),
        blocks,
    }
}

/// `n` loops of each model that the first `found` settings find, `n` clean ones on which the first
/// `fooled` alarm once in ten transcripts.
fn world(models: &[(&str, usize, u16, u16)]) -> (Vec<Case>, Vec<Record>) {
    world_where(models, |found, _| found)
}

/// The same where the `i`-th loop of a model is found by other cells.
fn world_where(
    models: &[(&str, usize, u16, u16)],
    finds: impl Fn(u16, usize) -> u16,
) -> (Vec<Case>, Vec<Record>) {
    let (mut cases, mut records) = (Vec::new(), Vec::new());
    for (model, n, found, fooled) in models {
        for i in 0..*n {
            let (a, b) = (format!("{model}/loop{i}"), format!("{model}/clean{i}"));
            let onset = 1000 + 10 * i as u64;
            let label = json!([{"class": "loop", "kind": "paragraph", "channel": "answer", "onset": onset}]);
            cases.push(case(&a, model, &format!("g{i}"), LENGTHS, label));
            records.push(said(&a, finds(*found, i), onset + 500));
            cases.push(case(
                &b,
                model,
                &format!("h{i}"),
                LENGTHS,
                json!([{"class": "clean"}]),
            ));
            records.push(said(&b, if i % 10 == 0 { *fooled } else { 0 }, 9000));
        }
    }
    (cases, records)
}

#[test]
fn among_equals_the_most_careful_is_chosen_and_few_labels_get_the_pooled_one() {
    let (plan, cells) = plan();
    let (cases, records) = world(&[("big", 100, 5, 2), ("small", 5, 5, 2)]);
    let evidence = Evidence::new(&plan, &cases, &records).unwrap();
    let choices = choose(&evidence, cells, None, &ChooseOptions::default()).unwrap();
    // Cells 0 and 1 have false alarms, 5 finds nothing; 2, 3 and 4 are equal: 4 asks for most.
    assert_eq!((choices.pooled.cell, choices.pooled.why), (4, Why::Pooled));
    assert_eq!(choices.models[0].why, Why::Own);
    assert_eq!(
        (choices.models[1].cell, choices.models[1].why),
        (4, Why::FewLabels)
    );
    assert_eq!(choices.models[1].reason, "5 loops, fewer than 10");
    assert!(
        !choices.models[0].thin
            || choices.models[0].tally.get(deadloop_score::Count::Exposure) < 3_000_000
    );
    assert_eq!(
        choices.pooled.in_sample, choices.pooled.held_out,
        "every fold chooses the same"
    );
    assert_eq!(
        choices.pooled.optimism(Metric::Saved, &Worth::default()),
        Some(0.0)
    );
}

#[test]
fn models_with_data_get_their_own_setting_and_the_file_loads() {
    let (plan, cells) = plan();
    let (cases, records) = world(&[("a*b", 100, 3, 1), ("c", 100, 6, 5)]);
    let evidence = Evidence::new(&plan, &cases, &records).unwrap();
    let options = ChooseOptions::default();
    let choices = choose(&evidence, cells, None, &options).unwrap();
    let of: Vec<usize> = choices.models.iter().map(|c| c.cell).collect();
    assert_eq!(of, [2, 5]);
    // What is shipped is each model under its own, held out too.
    let shipped = choices.shipped.as_ref().unwrap();
    let held_out: Tally = choices.models.iter().map(|c| c.held_out_tally).sum();
    assert_eq!(
        (shipped.why, shipped.held_out_tally),
        (Why::Shipped, held_out)
    );
    assert!(shipped.held_out > choices.pooled.held_out);
    let text = settings_toml(&plan, &choices, &options);
    let settings = deadloop_score::replay::detect::Settings::parse(&text).expect(&text);
    for (model, choice) in [
        ("a*b", &choices.models[0]),
        ("c", &choices.models[1]),
        ("other", &choices.pooled),
    ] {
        assert_eq!(
            settings.for_model(model).id(),
            choice.setting,
            "{model}\n{text}"
        );
    }
    assert_eq!(shipped.setting, settings.id());
    assert_eq!(
        settings.for_model("axb").id(),
        choices.pooled.setting,
        "a star in a name is a star"
    );
}

/// Fewer labels leave more settings within a standard error, and the most careful of those would be
/// stricter for no other reason.
#[test]
fn a_model_keeps_the_pooled_setting_unless_its_own_is_better_by_an_error() {
    let (plan, cells) = plan();
    // Of many one loop in twenty is found by the first four alone, so that all together take the
    // fourth; few are found by five at least, and half of them by all: the fifth is as good there.
    let finds = |found: u16, i: usize| match (found, i) {
        (5, i) if i % 20 == 0 => 4,
        (6, i) if i % 2 == 0 => 5,
        (found, _) => found,
    };
    let (cases, records) = world_where(&[("few", 20, 6, 1), ("many", 200, 5, 1)], finds);
    let evidence = Evidence::new(&plan, &cases, &records).unwrap();
    let choices = choose(&evidence, cells.clone(), None, &ChooseOptions::default()).unwrap();
    let few = &choices.models[0];
    assert!(
        few.borrowing.unwrap().strength().0 < 20.0,
        "they are unlike"
    );
    assert_eq!((choices.pooled.cell, few.cell, few.why), (3, 3, Why::Own));
    let (own_cases, own_records) = (&cases[..40], &records[..40]);
    let own = Evidence::new(&plan, own_cases, own_records).unwrap();
    let own = choose(&own, cells, None, &ChooseOptions::default()).unwrap();
    assert_eq!(
        own.models[0].cell, 4,
        "by itself it is the most careful one"
    );
}

/// Where one transcript differs its difference is the standard error, so "within one" is not for the last
/// digits to say.
#[test]
fn a_single_flip_is_within_a_standard_error_whatever_the_lengths() {
    let (plan, cells) = plan();
    for length in (3000..3400).step_by(7) {
        let (mut cases, mut records) = (Vec::new(), Vec::new());
        for i in 0..20 {
            let (a, b) = (format!("loop{i}"), format!("clean{i}"));
            let label = json!([{"class": "loop", "channel": "answer", "onset": 1000}]);
            cases.push(case(&a, "m", "", (0, length), label));
            // The strictest setting misses the first loop.
            records.push(said(&a, if i == 0 { 5 } else { 6 }, 1500));
            cases.push(case(&b, "m", "", (0, length), json!([{"class": "clean"}])));
            records.push(said(&b, 0, 0));
        }
        let evidence = Evidence::new(&plan, &cases, &records).unwrap();
        let choices = choose(&evidence, cells.clone(), None, &ChooseOptions::default()).unwrap();
        assert_eq!(choices.pooled.cell, 5, "{length}");
    }
}

#[test]
fn one_false_alarm_in_thin_text_does_not_drop_the_pooled_setting() {
    let (plan, cells) = plan();
    // The first four settings find every loop, the last two none. Two false alarms in 0.4 million chars of
    // one model: five per million, which the last two settings alone do not have, by finding nothing.
    let (cases, records) = world(&[("thin", 20, 4, 4), ("many", 300, 4, 0)]);
    let evidence = Evidence::new(&plan, &cases, &records).unwrap();
    let choices = choose(&evidence, cells.clone(), None, &ChooseOptions::default()).unwrap();
    let thin = &choices.models[1];
    assert_eq!((thin.model.as_str(), thin.why), ("thin", Why::Own));
    assert_eq!((choices.pooled.cell, thin.cell), (3, 3));
    // Ten times the rate is more than chance: it does speak against it.
    let mut records = records;
    for record in &mut records[1..40] {
        *record = said(&record.transcript, 4, 9000);
    }
    let evidence = Evidence::new(&plan, &cases, &records).unwrap();
    let choices = choose(&evidence, cells, None, &ChooseOptions::default()).unwrap();
    assert!(choices.models[1].cell > 3, "{:?}", choices.models[1]);
}

#[test]
fn models_that_are_alike_help_each_other_and_one_that_is_not_is_left_alone() {
    let (plan, cells) = plan();
    let alike = [
        ("a", 40, 4, 1),
        ("b", 40, 4, 1),
        ("c", 40, 4, 1),
        ("d", 40, 4, 1),
    ];
    let apart = [
        ("a", 40, 6, 1),
        ("b", 40, 2, 1),
        ("c", 40, 4, 1),
        ("d", 40, 1, 0),
    ];
    let loops = |models: &[(&str, usize, u16, u16)]| {
        // Every second loop is found by half of the cells: where all or none is, nothing can be told.
        let half = |found, i| if i % 2 == 0 { found } else { found / 2 };
        let (cases, records) = world_where(models, half);
        let evidence = Evidence::new(&plan, &cases, &records).unwrap();
        let choices = choose(&evidence, cells.clone(), None, &ChooseOptions::default()).unwrap();
        choices.models[0].borrowing.unwrap().strength().0
    };
    let (same, different) = (loops(&alike), loops(&apart));
    assert!(
        (same - 120.0).abs() < 1e-9,
        "all of the others' loops count: {same}"
    );
    assert!(different < 5.0, "{different}");
}

#[test]
fn what_the_other_models_would_choose_is_scored_on_each() {
    let (plan, cells) = plan();
    let (cases, records) = world(&[("a", 60, 3, 1), ("b", 60, 5, 1), ("c", 60, 5, 1)]);
    let evidence = Evidence::new(&plan, &cases, &records).unwrap();
    let choices = choose(&evidence, cells.clone(), None, &ChooseOptions::default()).unwrap();
    let left_out = choices.models[0].left_out.clone().unwrap();
    // Without a, the strictest that still finds all: and on a that finds nothing.
    assert_eq!(left_out.cell, 4);
    assert_eq!(left_out.tally.get(deadloop_score::Count::Hit), 0);
    assert_eq!(choices.pooled.left_out, None);
    let one = choose(
        &Evidence::new(&plan, &cases[..120], &records[..120]).unwrap(),
        cells,
        None,
        &ChooseOptions::default(),
    );
    let one = one.unwrap();
    assert_eq!(
        (one.models.len(), one.models[0].left_out.clone()),
        (1, None)
    );
    assert_eq!(one.models[0].borrowing, None);
}

#[test]
fn the_current_setting_stays_unless_the_new_one_is_surely_better() {
    let (plan, cells) = plan();
    let (cases, records) = world(&[("m", 100, 5, 2)]);
    let evidence = Evidence::new(&plan, &cases, &records).unwrap();
    let choice = |current| {
        choose(
            &evidence,
            cells.clone(),
            Some(current),
            &ChooseOptions::default(),
        )
        .unwrap()
        .pooled
    };
    let equal = choice(2);
    assert_eq!(
        (equal.cell, equal.kept, equal.probability),
        (2, true, Some(0.5))
    );
    let worse = choice(5);
    assert_eq!(
        (worse.cell, worse.kept, worse.probability),
        (4, false, Some(1.0))
    );
    let forbidden = choice(0);
    assert!(!forbidden.kept, "it violates the constraint");
    assert_eq!(forbidden.cell, 4, "copies asked for come before nearness");
}

#[test]
fn nothing_feasible_names_the_constraint_and_the_nearest_setting() {
    let (plan, cells) = plan();
    let (cases, records) = world(&[("m", 50, 5, 5)]);
    let evidence = Evidence::new(&plan, &cases, &records).unwrap();
    let constraints = ["fa_per_mchar<=1", "recall>=0.5"]
        .map(|c| c.parse().unwrap())
        .to_vec();
    let options = ChooseOptions {
        constraints,
        ..ChooseOptions::default()
    };
    let Err(ChooseError::NothingFeasible(nothing)) = choose(&evidence, cells, None, &options)
    else {
        panic!("something was chosen")
    };
    let text = nothing.to_string();
    assert!(text.starts_with("no setting satisfies fa_per_mchar<=1, recall>=0.5; fa_per_mchar<=1 is the most restrictive: 1 of 6 settings meet it"), "{text}");
    assert!(nothing.cell < 6);
}

#[test]
fn without_loops_or_without_settings_nothing_is_chosen() {
    let (plan, cells) = plan();
    let cases = vec![case("c", "m", "", LENGTHS, json!([{"class": "clean"}]))];
    let records = vec![said("c", 0, 0)];
    let evidence = Evidence::new(&plan, &cases, &records).unwrap();
    let error = |cells| choose(&evidence, cells, None, &ChooseOptions::default()).unwrap_err();
    assert_eq!(error(0..0), ChooseError::NoCandidates);
    assert_eq!(
        error(cells),
        ChooseError::TooLittleData { loops: 0, clean: 1 }
    );
}

#[test]
fn the_choice_does_not_depend_on_the_order_of_the_corpus() {
    let (plan, cells) = plan();
    let (cases, records) = world(&[("a", 60, 4, 2), ("b", 40, 5, 3)]);
    let pick = |cases: &[Case], records: &[Record]| {
        let evidence = Evidence::new(&plan, cases, records).unwrap();
        choose(&evidence, cells.clone(), Some(1), &ChooseOptions::default()).unwrap()
    };
    let forward = pick(&cases, &records);
    let reversed: (Vec<Case>, Vec<Record>) = (
        cases.iter().rev().cloned().collect(),
        records.iter().rev().cloned().collect(),
    );
    let backward = pick(&reversed.0, &reversed.1);
    assert_eq!(
        (forward.pooled, forward.models),
        (backward.pooled, backward.models)
    );
}

#[test]
fn mismatched_records_are_refused() {
    let (plan, _) = plan();
    let (cases, mut records) = world(&[("m", 2, 5, 2)]);
    records.swap(0, 1);
    let error = Evidence::new(&plan, &cases, &records).unwrap_err();
    assert_eq!(
        (error.index, error.case.as_str(), error.record.as_str()),
        (0, "m/loop0", "m/clean0")
    );
    records.swap(0, 1);
    records.pop();
    assert_eq!(
        Evidence::new(&plan, &cases, &records).unwrap_err().record,
        "nothing"
    );
}

fn floor_outcomes(cases: &[Case], floor: Floor) -> Vec<Outcome> {
    let watch: Watch = Floor::watch();
    cases
        .iter()
        .map(|c| judge(c, watch, floor.stop(c).as_ref(), &JudgeOptions::default()))
        .collect()
}

#[test]
fn floors_do_what_they_say() {
    let (cases, _) = world(&[("m", 200, 0, 0)]);
    let tally = |floor| {
        floor_outcomes(&cases, floor)
            .iter()
            .map(Tally::of)
            .sum::<Tally>()
    };
    let never = tally(Floor::Never);
    assert_eq!((never.loops(), never.wrong(), never.within(5)), (200, 0, 0));
    let first = tally(Floor::FirstCheckpoint { chars: 2000 });
    assert_eq!(first.get(deadloop_score::Count::FalseAlarm), 200);
    // Onsets from 1000 to 2990 in steps of 10: those up to 2000 are hit, the others premature.
    assert_eq!(first.get(deadloop_score::Count::Hit), 101);
    let random = tally(Floor::Random {
        rate: 0.25,
        seed: 9,
    });
    let alarms = random.wrong() + random.get(deadloop_score::Count::Hit);
    assert!((70..130).contains(&alarms), "{alarms}");
    assert_eq!(
        random,
        tally(Floor::Random {
            rate: 0.25,
            seed: 9
        })
    );
}

#[test]
fn the_bootstrap_is_seeded_and_holds_the_estimate() {
    let (cases, records) = world(&[("m", 80, 5, 2)]);
    let (plan, _) = plan();
    let evidence = Evidence::new(&plan, &cases, &records).unwrap();
    let mut outcomes = evidence.outcomes(1, &evidence.all(), &JudgeOptions::default());
    // A third of the loops are missed, so that there is something to be unsure of.
    for i in (0..outcomes.len()).step_by(6) {
        outcomes[i] = judge(&cases[i], Floor::watch(), None, &JudgeOptions::default());
    }
    let run = |seed| {
        bootstrap(
            &cases,
            &outcomes,
            &Worth::default(),
            Resampling {
                replicates: 500,
                seed,
            },
        )
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
    let tally: Tally = outcomes.iter().map(Tally::of).sum();
    for (name, interval) in run(1).rows {
        let interval = interval.unwrap();
        if let Ok(metric) = name.parse::<Metric>() {
            let value = metric.value(&tally, &Worth::default()).unwrap();
            assert!(
                interval.lo <= value && value <= interval.hi,
                "{name}: {value} {interval:?}"
            );
            assert!(interval.lo < interval.hi, "{name}");
        }
    }
}
