//! The choice, on sweeps of one threshold whose answer is known, and on drawn ones against the slow obvious way.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::ops::Range;

use deadloop_score::choose::{
    Choices, ChooseOptions, Figures, GridCells, Provenance, ReadyGuard, Ruling, Ship, changes,
    choose, find_contradictions, folds, limit_doubt,
};
use deadloop_score::measure::{RECALL, SAVED};
use deadloop_score::replay::detect::{Channel, Kind, Setting, Settings};
use deadloop_score::replay::{Grid, Plan, Record};
use deadloop_score::{
    Case, Evidence, JudgeOptions, MEASURES, Outcome, POISSON_1, ReadChannels, Resampling,
    SettingsInUse, Stakes, Tally, Weights, bootstrap, judge, settings_toml,
};
use proptest::prelude::*;
use serde_json::json;

use crate::kit;
use kit::{case, stop};

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
    let stop = stop(Channel::Answer, place, Kind::Paragraph, LENGTHS);
    kit::record(id, stop, (cells > 0).then(|| vec![cells]))
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
            let label = json!([{"class": "clean"}]);
            cases.push(case(&b, model, &format!("h{i}"), LENGTHS, label));
            records.push(said(&b, if i % 10 == 0 { *fooled } else { 0 }, 9000));
        }
    }
    (cases, records)
}

/// The choice on a world with the setting `in_use`: the grid is searched, and `ready` are the ready guards.
fn chosen(
    (cases, records): &World,
    in_use: usize,
    ready: &[usize],
    options: &ChooseOptions,
) -> Choices {
    let (plan, cells) = plan();
    let evidence = Evidence::new(&plan, cases, records).unwrap();
    let ready = ready.iter().map(|cell| ReadyGuard {
        cell: *cell,
        name: format!("guard {cell}"),
    });
    let options = ChooseOptions {
        ready: ready.collect(),
        ..options.clone()
    };
    choose(&evidence, &[grid(cells)], in_use, &options).unwrap()
}

type World = (Vec<Case>, Vec<Record>);

fn grid(cells: Range<usize>) -> GridCells {
    GridCells {
        name: "checkpoint".into(),
        cells,
    }
}

fn given(limits: &[&str]) -> ChooseOptions {
    ChooseOptions {
        constraints: limits.iter().map(|c| c.parse().unwrap()).collect(),
        given: true,
        ..ChooseOptions::default()
    }
}

fn ready_only() -> ChooseOptions {
    ChooseOptions {
        ships_grid: false,
        ..ChooseOptions::default()
    }
}

#[track_caller]
fn reasons(choices: &Choices, part: &str) {
    let reason = &choices.advice.reason;
    assert!(reason.contains(part), "{reason}");
}

/// The verdict, what all models get, and the rule.
fn outcome(choices: &Choices) -> (Ruling, usize, Option<Ship>) {
    (choices.advice.verdict, choices.all.cell, choices.all.ships)
}

#[test]
fn ready_guards_are_asked_in_order_of_the_objective_and_the_first_that_is_better_ships() {
    // Settings 0 to 4 find every loop, 0 and 1 have false alarms, 5 finds nothing and is in use.
    let world = world(&[("m", 100, 5, 2)]);
    let choices = chosen(&world, 5, &[0, 4, 3], &ready_only());
    // 0 is surely over the limit.
    assert_eq!(outcome(&choices), (Ruling::Ship, 4, Some(Ship::Better)));
    assert_eq!(choices.all.source, Provenance::Ready);
    assert_eq!(choices.all.name, "guard 4");
    let want = "Ship guard 4: it saves 97.3 % of the looping text instead of 0.0 %, wrong alarms stay at 0, and transient stops stay at 0.";
    assert_eq!(choices.advice.reason, want);
    let [change] = &choices.advice.changes[..] else {
        panic!("{:?}", choices.advice.changes)
    };
    let (from, to) = (change.from.as_deref(), change.to.as_deref());
    assert_eq!(change.param, "min_matches");
    assert_eq!((from, to), (Some("8"), Some("7")));
    let told = change.to_string();
    assert!(told.starts_with("change checkpoint: "), "{told}");
    assert!(told.ends_with(" (min_matches): 8 -> 7"), "{told}");
    // Nothing ready is better, and the grid may not ship.
    let kept = chosen(&world, 5, &[], &ready_only());
    assert_eq!(outcome(&kept), (Ruling::Keep, 5, None));
    reasons(
        &kept,
        " A setting of checkpoint is better: held out, it saves 97.3 % of the looping text instead of 0.0 %, wrong alarms stay \
         at 0, and transient stops stay at 0. It ships only with --grid.",
    );
    assert_eq!(kept.advice.changes, []);
    let other = chosen(&world, 4, &[5, 3], &ready_only());
    assert_eq!(outcome(&other), (Ruling::Keep, 4, None));
}

/// One wrong alarm in 1.4 million chars: over the limit by estimate nowhere, two in as much are 1.4, over it and not surely.
#[test]
fn a_ready_guard_that_is_not_surely_over_the_limit_ships_with_no_more_wrong_alarms_than_in_use() {
    let mut world = world(&[("m", 70, 4, 0)]);
    let fool = |world: &mut World, cells| {
        for id in ["m/clean3", "m/clean5"] {
            *world.1.iter_mut().find(|r| &*r.transcript == id).unwrap() = said(id, cells, 9000);
        }
    };
    fool(&mut world, 6);
    let choices = chosen(&world, 5, &[3], &ready_only());
    assert_eq!(outcome(&choices), (Ruling::Ship, 3, Some(Ship::Better)));
    assert!(choices.advice.over_limit);
    reasons(&choices, " settings.toml makes 1.");
    let rule = " It ships by the rule \"better\": with 80 % confidence, its saved is better than that of the setting in use, and it \
                makes no more wrong alarms.";
    reasons(&choices, rule);
    // A limit that somebody gave is kept by estimate.
    fool(&mut world, 4);
    let given = ChooseOptions {
        given: true,
        ..ready_only()
    };
    let kept = chosen(&world, 5, &[3], &given);
    assert_eq!(outcome(&kept), (Ruling::Keep, 5, None));
}

#[test]
fn a_safer_ready_guard_ships_from_five_loops_in_two_groups_on_and_the_sentence_says_what_is_known_before()
 {
    // Setting 0 finds all and cuts one clean transcript in ten, 5 finds all too.
    let of = |loops: usize| -> World {
        let (cases, records) = world(&[("m", 100, 6, 1)]);
        let all = cases.into_iter().zip(records).enumerate();
        let kept = all.filter(|(i, _)| i % 2 == 1 || i / 2 < loops);
        kept.map(|(_, both)| both).unzip()
    };
    let enough = chosen(&of(5), 0, &[5], &ready_only());
    assert_eq!(outcome(&enough), (Ruling::Ship, 5, Some(Ship::Safer)));
    let few = chosen(&of(4), 0, &[5], &ready_only());
    assert_eq!(outcome(&few), (Ruling::Collect, 0, None));
    let says = "Collect labelled loops: a choice needs 10, and 4 are labelled. The setting in use makes 5.28 wrong alarms per \
                million chars, above the default limit of 1. The setting in use makes 10 wrong alarms, and 0 transient stops. Guard \
                5 makes 0 wrong alarms, and 0 transient stops. It takes more loops to tell what guard 5 misses. With 5 loops in 2 \
                groups, guard 5 may ship as safer.";
    // The limit is said once.
    assert!(
        few.advice.over_limit && few.advice.reason.ends_with(says),
        "{}",
        few.advice.reason
    );
    // It must not lose a loop while there are fewer than a hundred.
    let mut lost = of(9);
    lost.1[0] = said("m/loop0", 5, 1500);
    let lost = chosen(&lost, 0, &[5], &ready_only());
    assert_eq!(outcome(&lost).0, Ruling::Collect);
}

/// More than half of the loops in doubt mean another thing by a loop; the clean transcripts are counted by themselves.
#[test]
fn so_many_labels_in_doubt_are_no_mistakes() {
    let (cases, _) = world(&[("m", 4, 6, 0)]);
    // Of four loops and four clean ones so many.
    let doubted = |both: [usize; 2]| (0..8).map(|i| i / 2 < both[i % 2]).collect::<Vec<_>>();
    for (given, kept) in [
        ([2, 2], [2, 2]),
        ([3, 1], [0, 1]),
        ([1, 4], [1, 0]),
        ([0, 0], [0, 0]),
    ] {
        let left = limit_doubt(&cases, doubted(given));
        assert_eq!(left, doubted(kept), "{given:?}");
    }
}

#[test]
fn a_setting_of_the_grid_ships_if_it_is_surely_within_the_limit() {
    let world = world(&[("m", 100, 5, 2)]);
    let choices = chosen(&world, 5, &[], &ChooseOptions::default());
    // 2 to 4 are alike: the nearest to the one in use.
    assert_eq!(outcome(&choices), (Ruling::Ship, 4, Some(Ship::Better)));
    assert_eq!(choices.all.source, Provenance::Grid);
    assert!(choices.advice.by_folds);
    // 1.2 million healthy chars without a wrong alarm are too few for a limit of 1, and 1.9 million are enough.
    let small = self::world(&[("m", 60, 5, 2)]);
    let small = chosen(&small, 5, &[], &ChooseOptions::default());
    assert_eq!(outcome(&small), (Ruling::Keep, 5, None));
    let says = "a setting of the grid is better, but there is too little healthy text to tell whether it stays within the default limit of \
                1 wrong alarm per million chars.";
    reasons(&small, says);
    // A ready guard comes first, and the grid has to beat it.
    let ready = chosen(&world, 5, &[3], &ChooseOptions::default());
    assert_eq!(outcome(&ready), (Ruling::Ship, 3, Some(Ship::Better)));
    assert_eq!(ready.all.source, Provenance::Ready);
}

#[test]
fn the_rungs_are_held_out_and_each_is_there_once() {
    // Half of the loops are found by all settings but the last, the others by the first alone, which has false alarms: one
    // in ten clean transcripts.
    let world = world_where(&[("m", 100, 5, 1)], |_, i| if i % 2 == 0 { 5 } else { 1 });
    let choices = chosen(&world, 5, &[], &ChooseOptions::default());
    let rungs = choices.advice.limits.iter();
    let rows: Vec<_> = rungs
        .map(|r| (r.at_most, r.cell, r.held_out.wrong))
        .collect();
    let [(0.0, 4, 0), .., (last, 0, 10)] = rows[..] else {
        panic!("{rows:?}")
    };
    assert!(rows.is_sorted_by(|a, b| a.0 < b.0 && a.2 < b.2), "{rows:?}");
    let rungs = &choices.advice.limits;
    assert!(
        rungs
            .windows(2)
            .all(|two| two[0].held_out != two[1].held_out)
    );
    // 10 in 1.9 million chars, and fewer without a fold.
    assert!((5.0..=7.0).contains(&last), "{last}");
    assert_eq!(outcome(&choices).1, 4);
    let saved = &choices.advice.saved_at_1[0];
    assert_eq!(saved.grid, "checkpoint");
    let inside = saved.lo < saved.value && saved.value < saved.hi;
    assert!(inside, "{saved:?}");
}

#[test]
fn a_row_that_is_not_in_the_file_has_its_test() {
    // The looser settings find four loops in a hundred that 4 misses, and cut one clean transcript in ten.
    let world = world_where(&[("m", 100, 5, 1)], |_, i| if i > 3 { 5 } else { 1 });
    let choices = chosen(&world, 4, &[5], &ChooseOptions::default());
    let [guard] = &choices.advice.ready[..] else {
        panic!("{:?}", choices.advice.ready)
    };
    assert!(guard.why.starts_with("not better: -9"), "{}", guard.why);
    let counts = ", 0 wrong alarms against 0, 0 loops gained and 96 lost";
    assert!(guard.why.ends_with(counts), "{}", guard.why);
    let rows: Vec<&str> = choices.advice.limit_rows().map(|row| &*row.why).collect();
    let [.., last] = rows[..] else {
        panic!("{:?}", choices.advice.limits)
    };
    assert!(last.starts_with("better, but "), "{last}");
}

#[test]
fn a_limit_in_use_that_is_broken_is_said_with_the_row_that_is_not() {
    // In use is 0: all loops, over the limit. The others find a half: no ready guard or rung ships.
    let world = world_where(&[("m", 100, 0, 1)], |_, i| if i % 2 == 0 { 6 } else { 1 });
    let choices = chosen(&world, 0, &[5], &given(&["fa_per_mchar<=1"]));
    assert_eq!(outcome(&choices), (Ruling::Keep, 0, None));
    reasons(&choices, "The setting in use makes 4.9");
    reasons(
        &choices,
        " wrong alarms per million chars, above the limit of 1. To stay within the limit costs 4",
    );
    reasons(&choices, " points of saved: guard 5 saves ");
    reasons(
        &choices,
        ", wrong alarms fall from 10 to 0, and transient stops stay at 0.",
    );
    // Without a ready guard within the limit, the row is named alone.
    let choices = chosen(&world, 0, &[0], &given(&["fa_per_mchar<=1"]));
    reasons(
        &choices,
        " points of saved: the row \"at most 0\" below saves ",
    );
}

/// Of a ready guard and the one in use that both break the limit, the one that saves more with no more wrong alarms is used.
#[test]
fn a_dominated_guard_over_the_limit_is_not_kept() {
    let world = world_where(&[("m", 100, 0, 6)], |_, i| if i % 2 == 0 { 6 } else { 1 });
    let choices = chosen(&world, 5, &[0], &ready_only());
    assert_eq!(outcome(&choices), (Ruling::Ship, 0, Some(Ship::Better)));
    assert!(choices.advice.over_limit);
}

#[test]
fn a_model_gets_its_own_where_it_is_better_there_and_the_file_loads() {
    let (plan, _) = plan();
    // On c the stricter settings find as much and the looser ones are wrong; in use is what a needs.
    let world = world(&[("a*b", 100, 3, 1), ("c", 100, 6, 5)]);
    let options = ChooseOptions::default();
    let choices = chosen(&world, 5, &[], &options);
    let of: Vec<usize> = choices.models.iter().map(|c| c.cell).collect();
    assert_eq!(of, [2, 5], "{}", choices.advice.reason);
    let in_use = SettingsInUse {
        text: "# mine\n[[guard]]\ndetector = \"checkpoint\"\n[guard.params]\nmin_matches = 8\n"
            .into(),
        rest: String::new(),
        kept: Settings::from_guard(Default::default()),
    };
    let text = settings_toml(&plan, &choices, &in_use, &options);
    let settings = Settings::parse(&text).expect(&text);
    // A star in a name is a star.
    let rest = choices.all.cell;
    for (model, cell) in [("a*b", 2), ("c", 5), ("other", rest), ("axb", rest)] {
        let id = settings.for_model(model).id();
        assert_eq!(id, plan.id(cell), "{model}\n{text}");
    }
    assert!(text.contains(&choices.advice.reason), "{text}");
}

#[test]
fn a_model_that_is_better_off_with_what_is_in_use_keeps_it() {
    // For all models 2 ships; on c it is wrong on every tenth clean transcript, and in use, 5, finds as much.
    let world = world(&[("a", 200, 3, 0), ("c", 60, 6, 3)]);
    let choices = chosen(&world, 5, &[2], &ready_only());
    let of: Vec<(usize, Provenance)> = choices.models.iter().map(|c| (c.cell, c.source)).collect();
    assert_eq!(of, [(2, Provenance::All), (5, Provenance::Ready)]);
    assert_eq!(choices.models[1].ships, Some(Ship::Safer));
}

#[test]
fn copies_of_a_text_and_labels_in_doubt_do_not_decide_but_are_counted() {
    let (mut cases, records) = world(&[("m", 40, 5, 0)]);
    let copied = cases[0].copied;
    for case in cases.iter_mut().filter(|c| c.id.contains("loop")) {
        case.copied = copied;
    }
    let choices = chosen(&(cases, records), 5, &[4], &ready_only());
    assert_eq!(choices.advice.verdict, Ruling::Collect);
    reasons(
        &choices,
        "a choice needs 10, and 1 of 40 counts (copies of a text count once",
    );
    // Figures count transcripts.
    assert_eq!(choices.all.in_sample.loops(), 40);
    // Of 30 clean transcripts that both stop every label is in doubt.
    let world = world(&[("m", 100, 5, 5)]);
    let doubted = |case: &Case| case.id.contains("clean") && case.id.ends_with('0');
    let options = ChooseOptions {
        doubted: world.0.iter().map(doubted).collect(),
        ..ready_only()
    };
    let choices = chosen(&world, 5, &[4], &options);
    assert_eq!(outcome(&choices), (Ruling::Ship, 4, Some(Ship::Better)));
    let advice = &choices.advice;
    assert_eq!((advice.doubted, advice.file.wrong), (10, 10));
    let doubt = |said: &String| said.starts_with("The choice leaves out 10 labels in doubt");
    assert!(advice.more.iter().any(doubt), "{:?}", advice.more);
    let kept = chosen(&world, 5, &[4], &ready_only());
    assert_eq!(outcome(&kept).0, Ruling::Keep);
}

#[test]
fn guards_contradict_labels_by_alarms_and_by_silence() {
    let (plan, _) = plan();
    // Settings 0 to 2 find every loop but the first, and are wrong on one clean transcript in ten.
    let (mut cases, records) = world_where(&[("m", 20, 0, 2)], |_, i| if i == 0 { 0 } else { 3 });
    let evidence = Evidence::new(&plan, &cases, &records).unwrap();
    let found = find_contradictions(&evidence, [1, 2].into_iter(), &JudgeOptions::default());
    let both = cases
        .iter()
        .zip(&found)
        .filter(|(_, found)| !found.is_empty());
    let some = both.map(|(case, found)| (&*case.id, found.alarms.len(), found.loops.len()));
    let want = [("m/loop0", 0, 3), ("m/clean0", 1, 0), ("m/clean10", 1, 0)];
    assert_eq!(some.collect::<Vec<_>>(), want);
    let doubted = |i: usize| [false, true].map(|sees| found[i].is_doubted_by(|_| sees));
    assert_eq!([doubted(0), doubted(1)], [[true, false], [false, true]]);
    for case in &mut cases {
        case.truth.as_mut().unwrap().reviewed = true;
    }
    let evidence = Evidence::new(&plan, &cases, &records).unwrap();
    let confirmed = find_contradictions(&evidence, [1, 2].into_iter(), &JudgeOptions::default());
    assert!(confirmed.iter().all(|found| found.is_empty()));
}

#[test]
fn other_objectives_and_limits_of_other_measures() {
    let options = ChooseOptions {
        objective: &RECALL,
        ..given(&[])
    };
    let world = world(&[("m", 100, 5, 2)]);
    // No limit at all, and the fewest wrong alarms.
    assert_eq!(outcome(&chosen(&world, 5, &[], &options)).1, 4);
    let under = |limit: &str, ready: &[usize]| outcome(&chosen(&world, 5, ready, &given(&[limit])));
    assert_eq!(under("delay<=1000", &[4]).0, Ruling::Ship);
    assert_eq!(under("delay<=100", &[4]).0, Ruling::Keep);
    // 10 of 100 clean transcripts are cut by 0 and 1: not within 5 %, and surely so.
    assert_eq!(under("fpr<=0.05", &[1, 4]).1, 4);
}

/// A guard that is added has values, and nothing that they replace.
#[test]
fn a_change_is_an_instruction() {
    let (none, setting) = (Setting::default(), plan().0.setting(4));
    let said = |from: &Setting, to: &Setting| -> Vec<String> {
        let all = changes("m", from, to);
        all.iter().map(ToString::to_string).collect()
    };
    let added = said(&none, &setting);
    assert_eq!(added[0], "m: add checkpoint");
    assert!(
        added
            .iter()
            .any(|one| one.starts_with("m: set checkpoint: ") && one.ends_with("(min_matches): 7")),
        "{added:?}"
    );
    assert!(
        added[1..].iter().all(|one| one.starts_with("m: set ")),
        "{added:?}"
    );
    assert_eq!(said(&setting, &none), ["m: remove checkpoint"]);
}

#[test]
fn without_settings_nothing_is_chosen() {
    let (plan, _) = plan();
    let (cases, records) = world(&[("m", 10, 5, 0)]);
    let evidence = Evidence::new(&plan, &cases, &records).unwrap();
    assert!(choose(&evidence, &[], 0, &ChooseOptions::default()).is_err());
}

#[test]
fn the_choice_does_not_depend_on_the_order_of_the_corpus() {
    let forward = world(&[("a", 100, 4, 2), ("b", 60, 5, 3)]);
    let mut reversed = forward.clone();
    reversed.0.reverse();
    reversed.1.reverse();
    let of = |world| chosen(&world, 1, &[3], &ChooseOptions::default());
    let [a, b] = [forward, reversed].map(of);
    assert_eq!((a.all, a.models, a.advice), (b.all, b.models, b.advice));
}

/// A loop or a clean transcript: how many settings stop it, where, its model.
type Drawn = (bool, u16, u64, bool);

fn drawn_world(all: &[Drawn]) -> World {
    let one = |(i, (loops, cells, at, second)): (usize, &Drawn)| {
        let (id, model) = (format!("t{i}"), if *second { "b" } else { "a" });
        let mut label = json!({"class": "clean"});
        if *loops {
            label =
                json!({"class": "loop", "kind": "paragraph", "channel": "answer", "onset": 4000});
        }
        let case = case(&id, model, &format!("g{}", i / 2), LENGTHS, json!([label]));
        (case, said(&id, *cells, *at))
    };
    all.iter().enumerate().map(one).unzip()
}

fn drawn() -> impl Strategy<Value = World> {
    let one = (any::<bool>(), 0_u16..7, 1000_u64..15_000, any::<bool>());
    // Mostly right, so that there is something to ship.
    let one = one.prop_map(|(loops, cells, at, second)| match (loops, at % 8) {
        (false, 1..) => (false, 0, at, second),
        (true, 1..) => (true, cells, at.max(4100), second),
        _ => (loops, cells, at, second),
    });
    prop::collection::vec(one, 40..160).prop_map(|all| drawn_world(&all))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The figures are those of the file: in-sample each transcript under what the written settings have for its model;
    /// held out each under what was chosen without its fold, which a part that no fold chose is the same.
    #[test]
    fn figures_are_of_the_file(world in drawn(), in_use in 0_usize..6, ready in 0_usize..6, limit in 0_usize..3) {
        let limit = ["fa_per_mchar<=1", "fa_per_mchar<=20", "fa_per_mchar<=100"][limit];
        let options = ChooseOptions { replicates: 200, ..given(&[limit]) };
        let choices = chosen(&world, in_use, &[ready], &options);
        let (plan, _) = plan();
        let evidence = Evidence::new(&plan, &world.0, &world.1).unwrap();
        let text = plan.setting(in_use).to_toml("guard");
        let file = SettingsInUse { text, rest: String::new(), kept: Settings::from_guard(Default::default()) };
        let written = Settings::parse(&settings_toml(&plan, &choices, &file, &options)).unwrap();
        let by_id: BTreeMap<String, usize> = (0..6).map(|cell| (plan.id(cell), cell)).collect();
        let of = |i: usize| {
            let cell = by_id[&written.for_model(&*world.0[i].model).id()];
            evidence.tally(cell, &[i], &options.judge)
        };
        let replayed: Tally = (0..world.0.len()).map(of).sum();
        prop_assert_eq!(choices.all.in_sample, replayed);
        let models = |of: fn(&deadloop_score::choose::Choice) -> Tally| choices.models.iter().map(of).sum::<Tally>();
        prop_assert_eq!(choices.all.held_out, models(|m| m.held_out));
        prop_assert_eq!(choices.all.in_sample, models(|m| m.in_sample));
        prop_assert_eq!(choices.all.in_use, evidence.tally(in_use, &evidence.all(), &options.judge));
        // Settings of single models are never worse than a ready guard for all.
        let merit = |tally: &Tally| (SAVED.value(tally, &Stakes::default()), tally.wrong());
        let file = merit(&choices.all.held_out);
        let guard = merit(&evidence.tally(ready, &evidence.all(), &options.judge));
        let has_own = choices.models.iter().any(|m| m.ships.is_some());
        prop_assert!(!has_own || guard.0 < file.0 || guard.1 > file.1 || guard == file);
        let is_changed = choices.all.cell != in_use || choices.models.iter().any(|m| m.cell != in_use);
        prop_assert!(choices.advice.verdict == Ruling::Ship || !is_changed);
        if !choices.advice.by_folds {
            prop_assert_eq!(choices.all.held_out, choices.all.in_sample);
        }
        // No row of a limit but that of the file is worse than a row above it.
        let mut above: Vec<&Figures> = vec![&choices.advice.file];
        for row in choices.advice.limit_rows() {
            let new = &row.held_out;
            let is_worse = |old: &&Figures| new.objective <= old.objective && new.wrong >= old.wrong;
            prop_assert!(row.cell == choices.all.cell || !above.iter().any(is_worse), "{row:?}");
            above.push(new);
        }
    }

    /// With the same winner among the ready guards a laxer limit never ships less, held out; nobody gets less than he has by
    /// the test that it was shipped by.
    #[test]
    fn a_laxer_limit_never_ships_less(world in drawn(), in_use in 0_usize..6) {
        let mut before: Option<f64> = None;
        for limit in ["fa_per_mchar<=2", "fa_per_mchar<=10", "fa_per_mchar<=20", "fa_per_mchar<=50", "fa_per_mchar<=100"] {
            let options = ChooseOptions { replicates: 200, ..given(&[limit]) };
            let (cases, records) = &world;
            // One model: the limit decides about models too.
            let cases: Vec<Case> = cases.iter().map(|c| Case { model: "a".into(), ..c.clone() }).collect();
            let choices = chosen(&(cases, records.clone()), in_use, &[], &options);
            let saved = SAVED.value(&choices.all.held_out, &Stakes::default());
            // What ships as safer may have less.
            if choices.all.ships != Some(Ship::Safer) {
                prop_assert!(saved >= before, "{limit}: {before:?} {saved:?} {}", choices.advice.reason);
                before = if before > saved { before } else { saved };
            }
        }
    }

    /// The bootstrap of the test, drawn the slow way: each group as often as its weight says, replicate by replicate.
    #[test]
    fn the_test_is_the_bootstrap_over_groups(world in drawn()) {
        let options = ChooseOptions { replicates: 100, ..ready_only() };
        let choices = chosen(&world, 5, &[2], &options);
        let Some(test) = choices.all.test else { return Ok(()) };
        let (plan, _) = plan();
        let (cases, records) = &world;
        let evidence = Evidence::new(&plan, cases, records).unwrap();
        let mut weights: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
        for case in cases {
            let group = case.group.as_deref().unwrap();
            weights.entry(group).or_insert_with(|| Weights::new(1, group, &POISSON_1).take(100).collect());
        }
        let mut differences: Vec<f64> = (0..100).map(|b| {
            let mut sums = [Tally::default(); 2];
            for (i, case) in cases.iter().enumerate() {
                for _ in 0..weights[case.group.as_deref().unwrap()][b] {
                    sums[0] += evidence.tally(2, &[i], &options.judge);
                    sums[1] += evidence.tally(5, &[i], &options.judge);
                }
            }
            let [new, old] = sums.map(|sum| SAVED.value(&sum, &Stakes::default()));
            new.zip(old).map_or(0.0, |(new, old)| new - old)
        }).collect();
        differences.sort_by(f64::total_cmp);
        prop_assert!((test.lo - differences[9]).abs() < 1e-12, "{} {}", test.lo, differences[9]);
        prop_assert!((test.hi - differences[89]).abs() < 1e-12);
    }
}

#[test]
fn folds_are_those_of_the_choice() {
    let world = world(&[("m", 60, 5, 2)]);
    let choices = chosen(&world, 5, &[4], &ready_only());
    assert_eq!(choices.folds, folds(&world.0, 5, 1));
}

#[test]
fn mismatched_records_are_refused() {
    let (plan, _) = plan();
    let (cases, mut records) = world(&[("m", 2, 5, 2)]);
    records.swap(0, 1);
    let error = Evidence::new(&plan, &cases, &records).unwrap_err();
    assert_eq!(error.index, 0);
    assert_eq!([error.case, error.record], ["m/loop0", "m/clean0"]);
    records.swap(0, 1);
    records.pop();
    let error = Evidence::new(&plan, &cases, &records).unwrap_err();
    assert_eq!(error.record, "nothing");
}

#[test]
fn the_bootstrap_is_seeded_and_holds_the_estimate() {
    let (cases, records) = world(&[("m", 80, 5, 2)]);
    let (plan, _) = plan();
    let evidence = Evidence::new(&plan, &cases, &records).unwrap();
    let options = JudgeOptions::default();
    let mut outcomes = evidence.outcomes(1, &evidence.all(), &options);
    // A third of the loops are missed, so that there is something to be unsure of.
    for i in (0..outcomes.len()).step_by(6) {
        outcomes[i] = judge(&cases[i], ReadChannels::TEXT, None, &options);
    }
    let run = |seed| {
        let replicates = 500;
        let resampling = Resampling { replicates, seed };
        bootstrap(&cases, &outcomes, &Stakes::default(), resampling)
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
    let tally: Tally = outcomes.iter().map(Tally::from_outcome).sum();
    for (metric, interval) in MEASURES.into_iter().zip(run(1)) {
        let Some(interval) = interval else { continue };
        let value = metric.value(&tally, &Stakes::default()).unwrap();
        let holds = interval.lo <= value && value <= interval.hi;
        assert!(holds, "{metric:?}: {value} {interval:?}");
        assert!(interval.lo < interval.hi, "{metric:?}");
    }
}

/// Groups of five whose transcripts fare alike: so many groups with an alarm are expected, of 40. In how many of the
/// simulated corpora the intervals of the rate and of the share hold the truth.
fn covered(expected: f64, trials: u64) -> [usize; 2] {
    let (groups, size) = (40, 5);
    let clean = |i: usize| {
        let (id, group) = (format!("t{i}"), format!("g{}", i / size));
        case(&id, "m", &group, LENGTHS, json!([{"class": "clean"}]))
    };
    let cases: Vec<Case> = (0..groups * size).map(clean).collect();
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
        let found = bootstrap(&cases, &outcomes, &Stakes::default(), resampling);
        // A false alarm at the end leaves the whole exposure.
        let truth = [1e6 * share / LENGTHS.1 as f64, share];
        for (nth, (name, truth)) in ["fa_per_mchar", "fpr"].into_iter().zip(truth).enumerate() {
            let at = MEASURES.iter().position(|metric| metric.name == name);
            let interval = found[at.unwrap()].unwrap();
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
