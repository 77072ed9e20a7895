//! The laws that every registered detector obeys, on generated text and settings.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "in the helpers of tests as in tests"
)]

use deadloop_detect::harness::{
    DETECTORS, Detector, EventPlace, Example, Fact, Measurement, Member, Params,
};
use deadloop_detect::{Alarm, Channel, Event, Guard, Response, Setting, Settings, TextChannel};
use deadloop_replay::{Plan, decide};
use deadloop_tests::generate;
use deadloop_tests::replayed_alarm::{alarm, alarm_of, cell_of, live, replay, transcript};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Laws 1 and 2: neither the chunking nor the way it is run changes an alarm.
    #[test]
    fn any_chunking_and_replay_agree(
        setting in generate::setting(),
        pieces in generate::pieces(),
        size in 1..60_usize,
    ) {
        let whole = alarm(&setting, &pieces, usize::MAX);
        prop_assert_eq!(&alarm(&setting, &pieces, size), &whole);
        prop_assert_eq!(&alarm(&setting, &pieces, 1), &whole);
        prop_assert_eq!(replay(&setting, &pieces), live(&setting, &pieces, usize::MAX));
    }

    /// Law 2: each cell of a sweep is the live guard with that cell's setting.
    #[test]
    fn a_cell_of_a_sweep_is_its_live_guard(
        grid in generate::grid(),
        pieces in generate::pieces(),
    ) {
        let mut plan = Plan::default();
        prop_assume!(plan.add_grid(&grid).is_ok());
        let record = decide(&plan, &transcript(&pieces), None);
        for cell in (0..plan.cells()).step_by(plan.cells() / 40 + 1) {
            let setting = plan.setting(cell);
            prop_assert_eq!(cell_of(&plan, &record, cell), live(&setting, &pieces, 9));
        }
    }

    /// Regions of one block never overlap: a cell has one first alarm.
    #[test]
    fn regions_are_disjoint(grid in generate::grid(), pieces in generate::pieces()) {
        let mut plan = Plan::default();
        prop_assume!(plan.add_grid(&grid).is_ok());
        for decided in decide(&plan, &transcript(&pieces), None).blocks {
            for (i, a) in decided.regions.iter().enumerate() {
                for b in &decided.regions[i + 1..] {
                    let apart = (0..a.lo.len()).any(|k| a.hi[k] <= b.lo[k] || b.hi[k] <= a.lo[k]);
                    prop_assert!(apart, "{a:?} {b:?}");
                }
            }
        }
    }

    /// Law 4: any text, empty chunks too, no panic; a guard goes quiet after its alarm.
    #[test]
    fn total(setting in generate::setting(), chunks in prop::collection::vec("\\PC{0,30}|\\s{0,9}", 0..20)) {
        let mut guard = Guard::new(&setting).expect("it reads text");
        let told = chunks.iter().map(|c| guard.push_text(TextChannel::Reasoning, c).into_alarm());
        let told: Vec<Alarm> = told.flatten().collect();
        // One that has stopped stays stopped.
        prop_assert!(told.iter().all(|alarm| Some(alarm) == told.first()));
    }

    /// Law 5: a fresh guard is the reset, whatever the guard that it comes from has read.
    #[test]
    fn a_fresh_guard_remembers_nothing(
        setting in generate::setting(),
        before in generate::pieces(),
        pieces in generate::pieces(),
    ) {
        let mut used = Guard::new(&setting).expect("it reads text");
        alarm_of(&mut used, &before, 5);
        prop_assert_eq!(alarm_of(&mut used.fresh(), &pieces, 5), alarm(&setting, &pieces, 5));
    }

    /// The exact position is all a meter may know: text after the alarm changes nothing.
    #[test]
    fn what_comes_later_changes_nothing(
        setting in generate::setting(),
        text in generate::text(),
        more in generate::text(),
    ) {
        let one = [(Channel::Answer, text.clone())];
        if let Some(seen) = replay(&setting, &one) {
            let longer = [(Channel::Answer, text + &more)];
            prop_assert_eq!(replay(&setting, &longer), Some(seen));
        }
    }
}

/// Copies that differ in what is folded, in blanks and in what ends them have one text and one
/// period in an alarm, whichever was read last when it was told.
#[test]
fn what_is_folded_away_does_not_show_in_an_alarm() {
    let text: String = (1..90)
        .map(|n| {
            let end = [".", "!", " ;\n", ".  "][n % 4];
            format!(
                " Step  {} of  many:{}once more{end}",
                n * n,
                " ".repeat(n % 5 + 1)
            )
        })
        .collect();
    let pieces = [(Channel::Answer, text)];
    let settings = Settings::parse(
        "[[guard]]\ndetector = 'periodic'\n[guard.params]\nfold = 'digits'\non = 'sentences'\n\
         min_copies = 3\nmin_chars = 200\n",
    )
    .expect("settings");
    let whole = alarm(settings.guard(), &pieces, usize::MAX).expect("an alarm");
    assert_eq!(whole.unit, "Step # of many: once more.");
    for size in [1, 7, 40, 1000] {
        let told = alarm(settings.guard(), &pieces, size);
        assert_eq!(told.as_ref(), Some(&whole), "chunks of {size}");
    }
}

/// Law 5, at every default and preset: after an alarm too.
#[test]
fn a_fresh_guard_alarms_as_a_new_one() {
    for (detector, params) in every_preset() {
        let channel = None;
        let member = Member {
            channel,
            response: Response::Stop,
            ..Member::new(detector, params)
        };
        let members = vec![member];
        let setting = Setting { members };
        let mut used = Guard::new(&setting).expect("it reads text");
        let before = "It counts: one and two, three and four. ".repeat(300);
        alarm_of(&mut used, &[(Channel::Answer, before)], 100);
        let pieces = [(Channel::Answer, example(detector))];
        let told = alarm_of(&mut used.fresh(), &pieces, 100);
        assert!(told.is_some(), "{} sees its example", detector.name);
        assert_eq!(told, alarm(&setting, &pieces, 100), "{}", detector.name);
    }
}

/// Law 3: facts per char and their size are bounded on the worst texts, at every default and preset.
#[test]
fn work_is_bounded_on_adversarial_text() {
    let n = 60_000;
    let fibonacci = {
        let (mut a, mut b) = ("a".to_owned(), "ab".to_owned());
        while b.len() < n {
            (a, b) = (b.clone(), b + &a);
        }
        b
    };
    let thue_morse: String = (0..n as u32)
        .map(|i| if i.count_ones() % 2 == 0 { 'a' } else { 'b' })
        .collect();
    let texts = [
        "a".repeat(n),
        "\n".repeat(n),
        "😀".repeat(n),
        "1. x\n".repeat(n / 5),
        fibonacci,
        thue_morse,
    ];
    for (detector, params) in every_preset() {
        for text in &texts {
            let facts = facts(detector, &params, text);
            assert!(facts.len() <= n, "{}: {} facts", detector.name, facts.len());
            assert!(
                facts
                    .iter()
                    .all(|f| f.unit.chars().count() <= deadloop_detect::harness::UNIT_CHARS)
            );
            assert!(facts.iter().all(|f| f.at <= f.until));
        }
    }
}

/// The detector's own example, and loops that the presets of some see: they compare nothing but whole sentences, or
/// long units, or ask for doubt.
fn example(detector: &Detector) -> String {
    let sentence = "\nI will not output any more text since I am done.";
    let doubt = "\nBut wait, maybe that is not it after all.";
    let own: String = detector
        .examples()
        .filter(|example| example.name == Example::FIRES)
        .flat_map(|example| example.events().unwrap_or_default())
        .filter_map(|event| match event {
            Event::Text(_, text) => Some(text),
            _ => None,
        })
        .collect();
    "思考".repeat(9000) + &sentence.repeat(200) + &doubt.repeat(200) + &own
}

/// All that a meter of text tells.
fn facts(detector: &'static Detector, params: &Params, text: &str) -> Vec<Fact> {
    let Measurement::Text(recipe) = detector.measure else {
        panic!("{} reads no text", detector.name)
    };
    let mut facts = Vec::new();
    let mut meter = recipe(params).meter(Channel::Answer);
    let event = Event::Text(TextChannel::Answer, text);
    meter.push(&event, EventPlace::default(), &mut facts);
    facts
}

/// What is registered is whole: unique names, possible defaults and presets that name real
/// parameters, one bound a threshold.
#[test]
fn the_registry_is_whole() {
    for (detector, params) in every_preset() {
        let setting = Setting {
            members: vec![Member {
                response: Response::Stop,
                ..Member::new(detector, params.clone())
            }],
        };
        assert_eq!(setting.members[0].check(), Ok(()), "{}", detector.name);
        let facts = facts(detector, &params, &example(detector));
        assert!(!facts.is_empty(), "{} sees its example", detector.name);
        assert!(facts.iter().all(|f| {
            f.bounds
                .iter()
                .all(|(name, _)| detector.param(name).is_some())
        }));
    }
    let mut names: Vec<&str> = DETECTORS.iter().map(|d| d.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), DETECTORS.len());
    for detector in DETECTORS {
        for preset in detector.presets().expect("presets are readable") {
            for name in preset.params.keys() {
                assert!(detector.param(name).is_some(), "{}: {name}", preset.name);
            }
        }
    }
}

/// Every default and preset of the detectors that measure text.
fn every_preset() -> Vec<(&'static Detector, Params)> {
    let mut all = Vec::new();
    for detector in generate::text_detectors() {
        all.push((detector, Params::defaults(detector.params)));
        for preset in detector.presets().expect("presets are readable") {
            let mut params = Params::defaults(detector.params);
            preset
                .params
                .into_iter()
                .for_each(|(name, value)| params.set(&name, value));
            all.push((detector, params));
        }
    }
    all
}
