//! The choice, on sweeps of one threshold whose answer is known.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::kit;

use std::ops::Range;

use deadloop_score::measure::{RECALL, SAVED};
use deadloop_score::replay::detect::{Channel, Kind};
use deadloop_score::replay::{Decided, Grid, Plan, Record, Region};
use deadloop_score::{
    Assurance, Case, Choices, ChooseOptions, Evidence, InUse, JudgeOptions, Measure, Method,
    Outcome, ReadChannels, ReadyGuard, Resampling, Ruling, Ship, Tally, Why, Worth, bootstrap,
    calibrate, choose, judge, settings_toml,
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
        details: Vec::new(),
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

/// The choice on a world, with the setting `in_use`.
fn chosen(
    (cases, records): &(Vec<Case>, Vec<Record>),
    in_use: usize,
    options: &ChooseOptions,
) -> Choices {
    let (plan, cells) = plan();
    let evidence = Evidence::new(&plan, cases, records).unwrap();
    choose(&evidence, cells, in_use, options).unwrap()
}

fn verdict(world: &(Vec<Case>, Vec<Record>), in_use: usize, options: &ChooseOptions) -> Ruling {
    chosen(world, in_use, options).advice.verdict
}

fn given(limits: &[&str]) -> ChooseOptions {
    ChooseOptions {
        constraints: limits.iter().map(|c| c.parse().unwrap()).collect(),
        given: true,
        ..ChooseOptions::default()
    }
}

#[test]
fn what_is_better_ships_and_of_equals_the_safest_and_then_the_nearest() {
    // Settings 0 to 4 find every loop, 0 and 1 have false alarms, 5 finds nothing and is in use.
    let choices = chosen(&world(&[("m", 100, 5, 2)]), 5, &ChooseOptions::default());
    let Choices { advice, pooled, .. } = &choices;
    assert_eq!(
        (advice.verdict, advice.rule),
        (Ruling::Ship, Some(Ship::Better))
    );
    assert_eq!((pooled.cell, pooled.why), (4, Why::Pooled));
    assert_eq!(advice.assurance, Some(Assurance::Likely));
    assert!(
        advice
            .reason
            .starts_with("Ship settings.toml: it is better than the setting in use")
    );
    let [change] = &advice.changes[..] else {
        panic!("{:?}", advice.changes)
    };
    assert_eq!(
        (
            &*change.guard,
            &*change.param,
            change.from.as_deref(),
            change.to.as_deref()
        ),
        ("checkpoint", "min_matches", Some("8"), Some("7"))
    );
    // The same from the other side: the nearest to 0 that is within the limit.
    let many = world(&[("m", 300, 5, 2)]);
    let choices = chosen(&many, 0, &ChooseOptions::default());
    assert_eq!(
        (choices.pooled.cell, choices.advice.rule),
        (2, Some(Ship::Safer))
    );
    // Of a hundred loops one that is lost is a point: without a flip that is not ruled out.
    assert_eq!(
        verdict(&world(&[("m", 100, 5, 2)]), 0, &ChooseOptions::default()),
        Ruling::Decide
    );
    assert_eq!(pooled.optimism(&SAVED, &Worth::default()), Some(0.0));
}

/// Settings 0 and 1 find two of 300 loops that the others miss, which is less than a point. Setting 0 is over the limit,
/// 1 has a wrong alarm.
#[test]
fn of_what_is_as_good_the_fewest_wrong_alarms_are_chosen() {
    let finds = |found, i| if i < 2 { 2 } else { found };
    let mut world = world_where(&[("m", 300, 5, 1)], finds);
    let fooled = world.1.iter_mut().find(|r| &*r.transcript == "m/clean0");
    *fooled.unwrap() = said("m/clean0", 2, 9000);
    let candidate = |worthwhile| {
        let options = ChooseOptions {
            worthwhile,
            ..ChooseOptions::default()
        };
        chosen(&world, 0, &options).pooled.candidate
    };
    assert_eq!(candidate(1.0), Some(2));
    assert_eq!(candidate(0.5), Some(1), "0.67 points are worth a change");
    assert_eq!(candidate(0.0), Some(1));
}

#[test]
fn what_is_best_already_is_kept() {
    for in_use in [2, 3, 4] {
        let choices = chosen(
            &world(&[("m", 100, 5, 2)]),
            in_use,
            &ChooseOptions::default(),
        );
        assert_eq!(choices.advice.verdict, Ruling::Keep);
        assert_eq!(
            (choices.pooled.cell, choices.pooled.candidate),
            (in_use, Some(in_use))
        );
        assert_eq!(choices.advice.changes, []);
        assert!(
            choices.advice.reason.starts_with("Keep the setting in use"),
            "{}",
            choices.advice.reason
        );
    }
}

#[test]
fn too_little_is_said_to_be_too_little() {
    let options = ChooseOptions::default();
    let reason = |models: &[(&str, usize, u16, u16)]| {
        let Choices { advice, pooled, .. } = chosen(&world(models), 5, &options);
        assert_eq!((advice.verdict, pooled.cell), (Ruling::Collect, 5));
        advice.reason
    };
    assert!(reason(&[("m", 9, 5, 0)]).contains("9 loops with a label, and 10 are the least"));
    // 0.64 million clean chars without an alarm are 74 % sure of at most one per million, 1.07 million 86 %.
    assert_eq!(
        verdict(&world(&[("m", 30, 5, 0)]), 5, &options),
        Ruling::Keep
    );
    assert_eq!(
        verdict(&world(&[("m", 50, 5, 0)]), 5, &options),
        Ruling::Ship
    );
    let (mut cases, records) = world(&[("m", 40, 5, 0)]);
    for case in cases.iter_mut().filter(|c| c.id.contains("loop")) {
        case.group = Some("one".into());
    }
    let one_group = (cases, records);
    assert_eq!(verdict(&one_group, 5, &options), Ruling::Collect);
    let (mut cases, records) = world(&[("m", 40, 5, 0)]);
    for case in cases.iter_mut().filter(|c| c.id.contains("clean")) {
        case.group = Some("one".into());
    }
    assert_eq!(verdict(&(cases, records), 5, &options), Ruling::Collect);
    let (cases, records) = world(&[("m", 12, 5, 0)]);
    let clean: Vec<usize> = (0..cases.len())
        .filter(|i| cases[*i].id.contains("clean"))
        .collect();
    let only: (Vec<Case>, Vec<Record>) = clean
        .iter()
        .map(|i| (cases[*i].clone(), records[*i].clone()))
        .unzip();
    let none = chosen(&only, 5, &options);
    assert!(
        none.advice.reason.contains("no transcript loops"),
        "{}",
        none.advice.reason
    );
    assert_eq!(none.pooled.candidate, None);
    let tiny = given(&["fa_per_mchar<=0.1"]);
    assert_eq!(
        verdict(&world(&[("m", 40, 5, 0)]), 5, &tiny),
        Ruling::Collect
    );
}

/// A thousand copies of one transcript say no more than one.
#[test]
fn copies_of_a_text_are_evidence_once() {
    let (mut cases, records) = world(&[("m", 40, 5, 0)]);
    let copied = cases[0].copied;
    for case in cases.iter_mut().filter(|c| c.id.contains("loop")) {
        case.copied = copied;
    }
    let choices = chosen(&(cases, records), 5, &ChooseOptions::default());
    assert!(
        choices.advice.reason.contains("1 loop with a label"),
        "{}",
        choices.advice.reason
    );
    assert_eq!(choices.pooled.tally.loops(), 40, "rates count transcripts");
}

/// Twelve texts, each with 100 copies that differ in numbers alone, support what twelve texts do, which is nothing at one
/// per million; 1,200 texts do.
#[test]
fn near_copies_support_no_budget() {
    let clean = |copies: usize| {
        let (mut cases, records) = world(&[("m", 1200, 0, 0)]);
        let keep: Vec<usize> = (0..cases.len())
            .filter(|i| cases[*i].id.contains("clean"))
            .collect();
        for (n, i) in keep.iter().enumerate() {
            cases[*i].copied.text = (n / copies) as u64;
        }
        let kept = keep
            .iter()
            .map(|i| (cases[*i].clone(), records[*i].clone()));
        let (cases, records): (Vec<Case>, Vec<Record>) = kept.unzip();
        let (plan, range) = plan();
        let evidence = Evidence::new(&plan, &cases, &records).unwrap();
        let found = calibrate(&evidence, range, 0, 1.0, &JudgeOptions::default());
        found.supported
    };
    assert_eq!(clean(100), 0, "twelve texts");
    assert_eq!(clean(1), 6, "as many texts as transcripts");
}

#[test]
fn where_no_setting_is_within_the_limits_none_is_the_verdict() {
    let choices = chosen(&world(&[("m", 100, 6, 6)]), 3, &ChooseOptions::default());
    assert_eq!(
        (choices.advice.verdict, choices.pooled.cell),
        (Ruling::None, 3)
    );
    let prices = &choices.advice.prices;
    assert!(prices.iter().all(|p| p.at_most >= 10), "{prices:?}");
}

/// In use alarms on one clean transcript in ten; what does not find a half or nine tenths of the loops.
fn cautious(finds: impl Fn(usize) -> bool) -> (Vec<Case>, Vec<Record>) {
    world_where(
        &[("m", 200, 6, 1)],
        move |_, i| if finds(i) { 6 } else { 1 },
    )
}

#[test]
fn a_limit_that_costs_too_much_is_for_people_to_decide() {
    let dear = cautious(|i| i % 2 == 0);
    for options in [ChooseOptions::default(), given(&["fa_per_mchar<=1"])] {
        let choices = chosen(&dear, 0, &options);
        assert_eq!(
            (choices.advice.verdict, choices.pooled.cell),
            (Ruling::Decide, 0)
        );
        assert!(
            choices
                .advice
                .reason
                .starts_with("Decide: the setting in use is over")
        );
        assert_eq!(choices.advice.changes, []);
        assert_eq!(choices.advice.would_change.len(), 1);
    }
    // Two points are not: where the user gave the limit it is kept.
    let cheap = cautious(|i| i % 50 != 0);
    assert_eq!(
        verdict(&cheap, 0, &ChooseOptions::default()),
        Ruling::Decide
    );
    let choices = chosen(&cheap, 0, &given(&["fa_per_mchar<=1"]));
    assert_eq!(
        choices.advice.rule,
        Some(Ship::Needed),
        "{}",
        choices.advice.reason
    );
}

/// The recommended guard is `cell`; of the grid, `cells` are searched.
fn with_ready(
    (cases, records): &(Vec<Case>, Vec<Record>),
    (cells, in_use): (Range<usize>, usize),
    ready: &[usize],
) -> Choices {
    let ready = ready.iter().map(|cell| ReadyGuard {
        cell: *cell,
        name: format!("guard {cell}"),
    });
    let options = ChooseOptions {
        ready: ready.collect(),
        ..ChooseOptions::default()
    };
    let (plan, _) = plan();
    let evidence = Evidence::new(&plan, cases, records).unwrap();
    choose(&evidence, cells, in_use, &options).unwrap()
}

#[test]
fn a_ready_guard_that_beats_what_is_in_use_is_taken_without_folds() {
    // Settings 0 to 4 find every loop, 0 and 1 have false alarms, 5 finds nothing and is in use; nothing else is searched.
    let world = world(&[("m", 100, 5, 2)]);
    let choices = with_ready(&world, (5..6, 5), &[0, 4, 3]);
    let Choices { advice, pooled, .. } = &choices;
    assert_eq!(advice.verdict, Ruling::Ship, "{}", advice.reason);
    assert_eq!(
        (pooled.cell, pooled.why),
        (4, Why::Ready),
        "of equals the first"
    );
    let taken = "Take guard 4: it is better than the setting in use (over 99.9 % sure)";
    assert!(advice.reason.starts_with(taken), "{}", advice.reason);
    assert_eq!(advice.ready.as_deref(), Some("guard 4"));
    assert_eq!(
        pooled.held_out_tally, pooled.tally,
        "it is the same in every fold"
    );
    let without = with_ready(&world, (5..6, 5), &[]);
    assert_eq!(without.advice.verdict, Ruling::Keep);
    let worse = with_ready(&world, (4..5, 4), &[5, 0, 1]);
    assert_eq!(
        (worse.advice.verdict, worse.advice.ready),
        (Ruling::Keep, None)
    );
}

#[test]
fn the_candidate_of_the_folds_has_to_beat_the_better_of_both() {
    // Settings 0 to 2 find every loop, 3 a half of them, 4 and 5 none.
    let world = world_where(&[("m", 100, 0, 0)], |_, i| 3 + u16::from(i % 2 == 0));
    let better = with_ready(&world, (0..6, 5), &[3]);
    assert_eq!((better.pooled.cell, better.pooled.why), (2, Why::Pooled));
    assert!(better.advice.reason.starts_with("Ship settings.toml: "));
    assert_eq!(better.advice.ready, None);
    let same = with_ready(&world, (3..6, 5), &[2]);
    assert_eq!((same.pooled.cell, same.pooled.why), (2, Why::Ready));
}

#[test]
fn what_would_cost_more_than_it_spares_is_for_people_to_decide() {
    // Setting 0 finds every loop and cuts a clean transcript in ten; the others find a half and cut none.
    let world = world_where(&[("m", 100, 0, 1)], |_, i| if i % 2 == 0 { 6 } else { 1 });
    let at = |pi: f64| ChooseOptions {
        worth: Worth {
            loop_rate: Some(pi),
            response: 0.0,
        },
        rate_given: true,
        ..given(&["fa_per_mchar<=100"])
    };
    let rare = chosen(&world, 5, &at(0.002));
    let advice = &rare.advice;
    assert_eq!((advice.verdict, rare.pooled.cell), (Ruling::Decide, 5));
    assert!(
        advice.reason.contains("costs more than it spares"),
        "{}",
        advice.reason
    );
    let says = "; you said 1 in 500.";
    assert!(
        advice
            .pays
            .starts_with("The candidate pays where more than 1 in ")
    );
    assert!(advice.pays.ends_with(says), "{}", advice.pays);
    assert!(
        advice
            .pays
            .contains("the setting in use pays wherever one of the responses loops")
    );
    let [new, old] = advice.figures.as_ref().unwrap().net;
    assert!(new.unwrap() < 0.0 && old.unwrap() > 0.0);
    let frequent = chosen(&world, 5, &at(0.5));
    assert_eq!(
        frequent.advice.verdict,
        Ruling::Ship,
        "{}",
        frequent.advice.reason
    );
    let of_setting = &frequent.advice.pays;
    assert!(of_setting.ends_with("; you said 1 in 2."), "{of_setting}");
}

/// Setting 0 is in use: it finds every loop and cuts a clean transcript in ten. Setting 5 finds a half and cuts none.
#[test]
fn where_what_is_in_use_does_not_pay_the_ready_guard_that_does_is_named() {
    let world = world_where(&[("m", 100, 0, 1)], |_, i| if i % 2 == 0 { 6 } else { 1 });
    let (cases, records) = &world;
    let (plan, _) = plan();
    let evidence = Evidence::new(&plan, cases, records).unwrap();
    let pays = |pi: f64, ready: &[(usize, &str)]| {
        let ready = ready.iter().map(|(cell, name)| ReadyGuard {
            cell: *cell,
            name: (*name).into(),
        });
        let options = ChooseOptions {
            worth: Worth {
                loop_rate: Some(pi),
                response: 0.0,
            },
            rate_given: true,
            ready: ready.collect(),
            ..given(&["fa_per_mchar<=100000"])
        };
        choose(&evidence, 0..1, 0, &options).unwrap().advice.pays
    };
    let loud = (0, "the recommended guard");
    let quiet = (5, "the preset quiet");
    let rare = pays(0.002, &[loud, quiet]);
    let says = " There the preset quiet spares most: ended 50.0 %, 0 wrong alarms.";
    assert!(rare.ends_with(says), "{rare}");
    // Nothing else is ready; or it pays.
    for pays in [pays(0.002, &[loud]), pays(0.5, &[loud, quiet])] {
        assert!(!pays.contains("There"), "{pays}");
    }
}

#[test]
fn other_objectives_and_no_limit_at_all() {
    let options = ChooseOptions {
        objective: &RECALL,
        ..given(&[])
    };
    let choices = chosen(&world(&[("m", 100, 5, 2)]), 5, &options);
    assert_eq!(
        (choices.advice.verdict, choices.pooled.cell),
        (Ruling::Ship, 4)
    );
    let top = choices.advice.prices.last().unwrap().at_most;
    assert!(top <= 3, "in use has no wrong alarm: {top}");
    let options = given(&["delay<=1000"]);
    let choices = chosen(&world(&[("m", 100, 5, 2)]), 5, &options);
    assert_eq!(
        (choices.advice.verdict, choices.pooled.cell),
        (Ruling::Ship, 4)
    );
    assert_eq!(
        verdict(&world(&[("m", 100, 5, 2)]), 5, &given(&["delay<=100"])),
        Ruling::None
    );
}

#[test]
fn an_assurance_that_is_asked_for_is_used() {
    let options = ChooseOptions {
        assurance: Some(Assurance::Sure),
        ..ChooseOptions::default()
    };
    let choices = chosen(&world(&[("m", 300, 5, 2)]), 5, &options);
    assert_eq!(choices.advice.assurance, Some(Assurance::Sure));
    let names: Vec<&str> = choices
        .advice
        .levels
        .iter()
        .map(|l| l.assurance.name())
        .collect();
    assert_eq!(names, ["likely", "probable", "sure"]);
}

#[test]
fn the_price_list_says_what_one_more_wrong_alarm_buys() {
    // Half of the loops are found by all settings but the last, the others by the first alone, which has false
    // alarms: one in ten clean transcripts.
    let world = world_where(&[("m", 100, 5, 1)], |_, i| if i % 2 == 0 { 5 } else { 1 });
    let prices = chosen(&world, 5, &given(&["fa_per_mchar<=4"]))
        .advice
        .prices;
    let rows: Vec<(u64, usize, u64)> = prices
        .iter()
        .map(|p| (p.at_most, p.cell, p.wrong))
        .collect();
    assert_eq!(rows, [(0, 1, 0), (13, 0, 10)]);
    assert_eq!(prices[0].file, "alternatives/at-most-0.toml");
    assert!(prices[1].recall > prices[0].recall);
    assert_eq!(prices[0].rate, Some(0.0));
}

#[test]
fn a_model_gets_its_own_where_it_is_surely_better_and_the_file_loads() {
    let (plan, _) = plan();
    // On c the stricter settings find as much and the looser ones are wrong; in use is what a needs.
    let world = world(&[("a*b", 100, 3, 1), ("c", 100, 6, 5)]);
    let options = ChooseOptions::default();
    let choices = chosen(&world, 5, &options);
    let of: Vec<usize> = choices.models.iter().map(|c| c.cell).collect();
    assert_eq!(of, [2, 5], "{:#?}", choices.advice.reason);
    assert_eq!(choices.models[0].why, Why::Own);
    let in_use = InUse {
        text: "# mine\n[[guard]]\ndetector = \"checkpoint\"\n[guard.params]\nmin_matches = 8\n"
            .into(),
        rest: String::new(),
        kept: deadloop_replay::detect::Settings::of(Default::default()),
    };
    let text = settings_toml(&plan, &choices, &in_use, &options);
    let settings = deadloop_score::replay::detect::Settings::parse(&text).expect(&text);
    for (model, cell) in [("a*b", 2), ("c", 5), ("other", choices.pooled.cell)] {
        assert_eq!(
            settings.for_model(model).id(),
            plan.id(cell),
            "{model}\n{text}"
        );
    }
    assert_eq!(
        settings.for_model("axb").id(),
        plan.id(choices.pooled.cell),
        "a star in a name is a star"
    );
    assert!(text.contains(&choices.advice.reason), "{text}");
}

#[test]
fn models_that_do_not_differ_share_a_setting() {
    let choices = chosen(
        &world(&[("a", 40, 4, 1), ("b", 40, 4, 1)]),
        5,
        &ChooseOptions::default(),
    );
    assert!(
        choices.models.iter().all(|m| m.why == Why::Pooled),
        "{:#?}",
        choices.models
    );
    assert_eq!(choices.shipped, None);
    let few = chosen(
        &world(&[("a", 40, 4, 1), ("b", 9, 4, 1)]),
        5,
        &ChooseOptions::default(),
    );
    assert_eq!(few.models[1].why, Why::FewLabels);
    assert!(few.models[1].reason.starts_with("9 loops, fewer than 10"));
}

#[test]
fn models_that_are_alike_help_each_other_and_one_that_is_not_is_left_alone() {
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
        // No cell finds every second loop: where all are found or none, nothing can be told, and a model is not tried
        // where too little is left to find.
        let half = |found, i| if i % 2 == 0 { found } else { 0 };
        let choices = chosen(&world_where(models, half), 5, &ChooseOptions::default());
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
fn a_model_is_not_tried_where_even_the_best_guard_could_not_be_sure() {
    // The setting of all finds every loop after 500 of some 9,000 chars: there is next to nothing to gain.
    let choices = chosen(
        &world(&[("a", 40, 4, 1), ("b", 40, 4, 1)]),
        5,
        &ChooseOptions::default(),
    );
    for model in &choices.models {
        assert_eq!((model.why, model.borrowing), (Why::Pooled, None));
        assert_eq!(model.candidate, choices.pooled.candidate);
        let reason = "no setting of its own was tried: one that stopped each loop at its onset";
        assert!(model.reason.starts_with(reason), "{}", model.reason);
    }
}

#[test]
fn without_settings_nothing_is_chosen() {
    let (plan, _) = plan();
    let (cases, records) = world(&[("m", 10, 5, 0)]);
    let evidence = Evidence::new(&plan, &cases, &records).unwrap();
    assert!(choose(&evidence, 0..0, 0, &ChooseOptions::default()).is_err());
}

#[test]
fn the_choice_does_not_depend_on_the_order_of_the_corpus() {
    let forward = world(&[("a", 60, 4, 2), ("b", 40, 5, 3)]);
    let reversed = |(cases, records): &(Vec<Case>, Vec<Record>)| {
        let cases: Vec<Case> = cases.iter().rev().cloned().collect();
        let records: Vec<Record> = records.iter().rev().cloned().collect();
        (cases, records)
    };
    let [a, b] =
        [forward.clone(), reversed(&forward)].map(|w| chosen(&w, 1, &ChooseOptions::default()));
    assert_eq!(
        (a.pooled, a.models, a.advice),
        (b.pooled, b.models, b.advice)
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

#[test]
fn the_bootstrap_is_seeded_and_holds_the_estimate() {
    let (cases, records) = world(&[("m", 80, 5, 2)]);
    let (plan, _) = plan();
    let evidence = Evidence::new(&plan, &cases, &records).unwrap();
    let mut outcomes = evidence.outcomes(1, &evidence.all(), &JudgeOptions::default());
    // A third of the loops are missed, so that there is something to be unsure of.
    for i in (0..outcomes.len()).step_by(6) {
        outcomes[i] = judge(
            &cases[i],
            ReadChannels::TEXT,
            None,
            &JudgeOptions::default(),
        );
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
    for (name, interval, method) in run(1).rows {
        let Some(interval) = interval else { continue };
        if let Some(metric) = Measure::named(&name).filter(|_| method == Method::Bootstrap) {
            let value = metric.value(&tally, &Worth::default()).unwrap();
            assert!(
                interval.lo <= value && value <= interval.hi,
                "{name}: {value} {interval:?}"
            );
            assert!(interval.lo < interval.hi, "{name}");
        }
    }
}

/// Groups of five whose transcripts fare alike: so many groups with an alarm are expected, of 40. In how many of the
/// simulated corpora the intervals of the rate and of the share hold the truth.
fn covered(expected: f64, trials: u64) -> [usize; 2] {
    let (groups, size) = (40, 5);
    let cases: Vec<Case> = (0..groups * size)
        .map(|i| {
            let (id, group) = (format!("t{i}"), format!("g{}", i / size));
            case(&id, "m", &group, LENGTHS, json!([{"class": "clean"}]))
        })
        .collect();
    let place = stop(Channel::Answer, LENGTHS.1, Kind::Paragraph, LENGTHS);
    let options = JudgeOptions::default();
    let share = expected / groups as f64;
    let mut state = 9_u64;
    let mut uniform = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut held = [0; 2];
    for trial in 0..trials {
        let alarms: Vec<bool> = (0..groups).map(|_| uniform() < share).collect();
        let outcome = |(i, case): (usize, &Case)| {
            let stop = alarms[i / size].then_some(&place);
            judge(case, ReadChannels::TEXT, stop, &options)
        };
        let outcomes: Vec<Outcome> = cases.iter().enumerate().map(outcome).collect();
        let resampling = Resampling {
            replicates: 200,
            seed: trial,
        };
        let found = bootstrap(&cases, &outcomes, &Worth::default(), resampling);
        // A false alarm at the end leaves the whole exposure.
        let truth = [1e6 * share / LENGTHS.1 as f64, share];
        for (nth, (name, truth)) in ["fa_per_mchar", "fpr"].into_iter().zip(truth).enumerate() {
            let interval = found.of(name).unwrap();
            held[nth] += usize::from(interval.lo <= truth && truth <= interval.hi);
        }
    }
    held
}

/// Where all replicates are alike the bootstrap has no width. Without the interval by groups a corpus without an alarm
/// would claim five times as much as its 40 groups can.
#[test]
fn intervals_of_grouped_draws_hold_the_truth_as_often_as_they_say() {
    for expected in [0.05, 0.5, 1.0, 3.0, 5.0] {
        for held in covered(expected, 300) {
            assert!(held >= 279, "{expected} groups expected: {held} of 300");
        }
    }
    // All that is seen is an alarm: as many as there are groups.
    let [rate, share] = covered(40.0, 3);
    assert_eq!((rate, share), (3, 3));
}
