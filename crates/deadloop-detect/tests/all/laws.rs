//! The laws that every registered detector obeys alone, on the examples that it brings. The laws that hold it
//! against a replay and a sweep are in `tests/tests/laws.rs` of the workspace.

#![allow(clippy::unwrap_used, reason = "in the helpers of tests as in tests")]

use deadloop_detect::harness::{
    DETECTORS, Detector, EventPlace, EventPlaces, Fact, Measuring, Member, Params, Sample,
    UNIT_CHARS,
};
use deadloop_detect::{Alarm, Event, Guard, Response, Setting, TextChannel};

/// The detectors that have a meter, with their defaults.
fn measured() -> Vec<(&'static Detector, Setting)> {
    let all = DETECTORS.iter().copied();
    let all = all.filter(|d| !matches!(d.measure, Measuring::Program(_)));
    all.map(|detector| {
        let member = Member {
            response: Response::Stop,
            ..Member::new(detector, Params::defaults(detector.params))
        };
        let members = vec![member];
        (detector, Setting { members })
    })
    .collect()
}

/// The events of an example, its text in chunks of `size` chars.
fn alarm(guard: &mut Guard, sample: Sample, size: usize) -> Option<Alarm> {
    match sample {
        Sample::Text(unit, times) => {
            let chars: Vec<char> = unit.repeat(times).chars().collect();
            let mut chunks = chars.chunks(size.max(1));
            chunks.find_map(|c| {
                guard
                    .push_text(TextChannel::Answer, &String::from_iter(c))
                    .into_alarm()
            })
        }
        Sample::Run(events) => events
            .iter()
            .find_map(|event| guard.push(event).into_alarm()),
        Sample::None => None,
    }
}

fn facts(setting: &Setting, sample: Sample) -> Vec<Fact> {
    let member = &setting.members[0];
    let channel = member.channels().last().unwrap();
    let mut meter = member.recipe().unwrap().meter(channel);
    let mut facts = Vec::new();
    match sample {
        Sample::Text(unit, times) => {
            let channel = channel.text().unwrap();
            let text = unit.repeat(times);
            meter.push(
                &Event::Text(channel, &text),
                EventPlace::default(),
                &mut facts,
            )
        }
        Sample::Run(events) => {
            let mut places = EventPlaces::default();
            let read = |e| meter.push(e, places.of(e), &mut facts);
            events.iter().for_each(read)
        }
        Sample::None => {}
    }
    facts
}

#[test]
fn defaults_alarm_on_the_example_that_fires_and_on_no_other() {
    for (detector, setting) in measured() {
        let mut guard = Guard::new(&setting).unwrap();
        let told = alarm(&mut guard, detector.fires, usize::MAX);
        assert!(told.is_some(), "{} fires on its example", detector.name);
        let told = alarm(&mut guard.fresh(), detector.quiet, usize::MAX);
        assert_eq!(told, None, "{} is quiet on the other", detector.name);
    }
}

/// Laws 1 and 5: neither the chunks nor what a guard has read before change an alarm.
#[test]
fn chunks_and_earlier_streams_change_nothing() {
    for (detector, setting) in measured() {
        let mut guard = Guard::new(&setting).unwrap();
        let alike = |told: Option<Alarm>| {
            told.map(|mut alarm| {
                (alarm.delivered, alarm.event) = (alarm.exact, 0);
                alarm
            })
        };
        let whole = alike(alarm(&mut guard, detector.fires, usize::MAX));
        for size in [1, 7, 1000] {
            let told = alike(alarm(&mut guard.fresh(), detector.fires, size));
            assert_eq!(told, whole, "{} in chunks of {size}", detector.name);
        }
    }
}

#[test]
fn facts_have_a_bound_for_each_threshold_in_the_unit_of_their_channel() {
    for (detector, setting) in measured() {
        let told = facts(&setting, detector.fires);
        assert!(!told.is_empty(), "{}", detector.name);
        let unit = detector.channels()[0].unit();
        for fact in told {
            assert_eq!(fact.bounds.len(), detector.thresholds().count());
            assert!(fact.at <= fact.until && fact.unit.chars().count() <= UNIT_CHARS);
            assert_eq!((fact.onset.unit(), fact.period.unit()), (unit, unit));
            assert_eq!(fact.position(fact.at).unit(), unit, "{}", detector.name);
        }
    }
}

/// What is registered says what it is; a detector that ends streams brings the grid that `tune` searches.
#[test]
fn the_registry_is_whole() {
    for detector in DETECTORS {
        let program = matches!(detector.measure, Measuring::Program(_));
        assert!(!detector.about.is_empty(), "{}", detector.name);
        assert_eq!(detector.exactly.is_empty(), program, "{}", detector.name);
        let warns = detector.response == Response::Warn;
        assert_eq!(warns, detector.name == "circling");
        let named = format!("detector = \"{}\"", detector.name);
        assert!(detector.grid.contains(&named), "{}", detector.name);
        for param in detector.params {
            let default = param.default.into();
            // A program has no default: which one is run has to be said.
            assert!(
                program || param.domain.check(&default).is_ok(),
                "{}",
                param.name
            );
            assert!(!param.doc.is_empty());
        }
    }
}

/// Every file and folder of the registry's is in it; a hyphen in a name is an underscore in that of its file.
#[test]
fn no_detector_is_forgotten() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/detectors");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let name = name.trim_end_matches(".rs").replace('_', "-");
        let known = name == "mod" || DETECTORS.iter().any(|d| d.name == name);
        assert!(known, "{name} is not registered");
    }
}
