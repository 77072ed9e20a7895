//! The laws that every registered detector obeys alone, on the examples that it brings. The laws that hold it
//! against a replay and a sweep are in `tests/tests/laws.rs` of the workspace.

#![allow(clippy::unwrap_used, reason = "in the helpers of tests as in tests")]

use deadloop_detect::harness::{
    DETECTORS, Detector, EventPlaces, Example, Fact, Measuring, Member, Params, UNIT_CHARS,
};
use deadloop_detect::{Alarm, Event, Guard, OwnedEvent, Response, Setting, TextChannel};

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

/// An example of a detector.
fn example(detector: &Detector, name: &str) -> Example {
    let mut all = detector.examples();
    all.find(|example| example.name == name).unwrap()
}

/// The events of an example, a text that comes in a row in chunks of `size` chars.
fn events(example: &Example, size: usize) -> Vec<OwnedEvent> {
    let mut all: Vec<OwnedEvent> = Vec::new();
    let mut text = String::new();
    for event in example.events().unwrap() {
        if let Event::Text(TextChannel::Answer, piece) = event {
            text.push_str(piece);
            continue;
        }
        all.extend(chunks(&std::mem::take(&mut text), size));
        all.push(event.owned());
    }
    all.extend(chunks(&text, size));
    all
}

fn chunks(text: &str, size: usize) -> Vec<OwnedEvent> {
    let chars: Vec<char> = text.chars().collect();
    let chunks = chars.chunks(size.max(1)).map(String::from_iter);
    chunks
        .map(|c| OwnedEvent::Text(TextChannel::Answer, c))
        .collect()
}

fn alarm(guard: &mut Guard, example: &Example, size: usize) -> Option<Alarm> {
    let events = events(example, size);
    let mut events = events.iter().map(OwnedEvent::borrowed);
    events.find_map(|event| guard.push(&event).into_alarm())
}

fn facts(setting: &Setting, example: &Example) -> Vec<Fact> {
    let member = &setting.members[0];
    let channel = member.channels().last().unwrap();
    let mut meter = member.recipe().unwrap().meter(channel);
    let (mut places, mut facts) = (EventPlaces::default(), Vec::new());
    for event in events(example, usize::MAX) {
        let event = event.borrowed();
        meter.push(&event, places.of(&event), &mut facts);
    }
    facts
}

#[test]
fn defaults_alarm_on_the_example_that_fires_and_on_no_other() {
    for (detector, setting) in measured() {
        let mut guard = Guard::new(&setting).unwrap();
        let told = alarm(&mut guard, &example(detector, "fires"), usize::MAX);
        assert!(told.is_some(), "{} fires on its example", detector.name);
        let told = alarm(&mut guard.fresh(), &example(detector, "quiet"), usize::MAX);
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
        let whole = alike(alarm(&mut guard, &example(detector, "fires"), usize::MAX));
        for size in [1, 7, 1000] {
            let told = alike(alarm(&mut guard.fresh(), &example(detector, "fires"), size));
            assert_eq!(told, whole, "{} in chunks of {size}", detector.name);
        }
    }
}

#[test]
fn facts_have_a_bound_for_each_threshold_in_the_unit_of_their_channel() {
    for (detector, setting) in measured() {
        let told = facts(&setting, &example(detector, "fires"));
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

/// Every folder of the registry's is in it.
#[test]
fn no_detector_is_forgotten() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/detectors");
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        let known = !entry.path().is_dir() || DETECTORS.iter().any(|d| d.name == name);
        assert!(known, "{name} is not registered");
    }
}
