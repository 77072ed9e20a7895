//! Tests the laws of every registered detector on its examples.
//!
//! The laws on replays and sweeps are tested in `tests/tests/all/laws.rs` of the workspace.

#![allow(clippy::unwrap_used, reason = "in the helpers of tests as in tests")]

use deadloop_detect::harness::{
    DETECTORS, Detector, Domain, EventPlaces, Example, Fact, Measurement, Member, Param, Params,
    UNIT_CHARS,
};
use deadloop_detect::{
    Alarm, Event, Guard, OwnedEvent, Response, Setting, Settings, TextChannel, Value,
};

/// Returns the detectors with a meter, with their defaults.
fn measured() -> Vec<(&'static Detector, Setting)> {
    let all = DETECTORS.iter().copied();
    let all = all.filter(|d| !matches!(d.measure, Measurement::Program(_)));
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

/// Returns the events of an example. Consecutive text is cut into chunks of `size` chars.
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
        meter.push(&event, places.advance(&event), &mut facts);
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

/// Laws 1 and 5: alarms depend neither on chunks nor on the history of the guard.
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
fn facts_bound_thresholds_in_the_unit_of_their_channel() {
    for (detector, setting) in measured() {
        let told = facts(&setting, &example(detector, "fires"));
        assert!(!told.is_empty(), "{}", detector.name);
        let unit = detector.channels()[0].unit();
        for fact in told {
            let known = |name| detector.thresholds().any(|(param, _)| param.name == name);
            assert!(fact.bounds.iter().all(|(name, _)| known(name)));
            assert!(fact.at <= fact.until && fact.unit.chars().count() <= UNIT_CHARS);
            assert_eq!((fact.onset.unit(), fact.period.unit()), (unit, unit));
            assert_eq!(fact.position(fact.at).unit(), unit, "{}", detector.name);
        }
    }
}

/// Returns values of a parameter that differ as much as its domain allows.
fn values(param: &Param) -> Vec<Value> {
    let text = |text: &str| Value::Text(text.into());
    let whole = |min: i64, max: i64| {
        let default = Value::from(param.default).as_int().unwrap_or(min);
        let near = [default - 1, default + 1, default / 2, default * 2, min + 1];
        let near = near.into_iter().filter(move |n| (min..=max).contains(n));
        [min, max]
            .into_iter()
            .chain(near)
            .map(Value::Int)
            .collect::<Vec<_>>()
    };
    let list = |items: &[&str]| Value::List(items.iter().map(|item| text(item)).collect());
    match param.domain {
        Domain::Int { min, max } => whole(min, max),
        Domain::Float { min, max } => vec![Value::Float(min), Value::Float(max)],
        Domain::Flag => [true, false].map(Value::Bool).to_vec(),
        Domain::Word(words) => words.iter().map(|word| text(word)).collect(),
        Domain::WordOrInt { words, min, max } => {
            let words = words.iter().map(|word| text(word));
            words.chain(whole(min, max)).collect()
        }
        Domain::Words(words) => {
            let each = words.iter().map(|word| list(&[word]));
            each.chain([list(words), list(&[])]).collect()
        }
        Domain::Rising { .. } => vec![Value::List([10, 20, 30].map(Value::Int).to_vec())],
        Domain::CharSet => vec![text("e")],
        Domain::Regex => vec![text("^.")],
        Domain::Regexes => vec![list(&["思"]), list(&["again|wait"])],
        Domain::Texts => vec![list(&[]), list(&["so it is"])],
        Domain::Globs => vec![list(&["[a-z]ea*", "l?", "bu*"])],
        Domain::Rows(fields) => {
            let row = fields
                .iter()
                .map(|field| ((*field).to_owned(), Value::Int(99)));
            vec![Value::List(vec![Value::Table(row.collect())])]
        }
        Domain::Program | Domain::Free => Vec::new(),
    }
}

/// Additional fields for shared examples of a parameter.
const BESIDE: [&str; 4] = [
    "",
    "n = 3",
    "window = 3, max_distinct = 1",
    "window = 3, max_distinct = 1, with_result = true",
];

/// Returns the setting of a detector with these fields. `None` if they are rejected.
fn setting(detector: &Detector, fields: &str) -> Option<Setting> {
    let name = detector.name;
    let guard = format!("[[guard]]\ndetector = \"{name}\"\nresponse = \"stop\"");
    let settings = Settings::parse(&format!("{guard}\nparams = {{ {fields} }}\n"));
    settings.ok().map(|settings| settings.guard().clone())
}

/// Returns the alarm of a setting on an example, without the thresholds.
fn alarm_of(setting: &Setting, example: &Example) -> Option<Alarm> {
    let alarm = alarm(&mut Guard::new(setting).unwrap(), example, usize::MAX);
    alarm.map(|mut alarm| {
        alarm.thresholds.clear();
        alarm
    })
}

/// Returns whether the default of the parameter changes the alarm on its example.
fn shows(detector: &Detector, example: &Example) -> bool {
    BESIDE.into_iter().any(|beside| {
        let fields = [beside, example.params]
            .into_iter()
            .filter(|fields| !fields.is_empty());
        let Some(with) = setting(detector, &fields.collect::<Vec<_>>().join(", ")) else {
            return false;
        };
        let param = detector.params.iter().find(|p| p.name == example.name);
        let default = Value::from(param.unwrap().default);
        let mut without = with.clone();
        without.members[0].params.set(example.name, default);
        alarm_of(&with, example) != alarm_of(&without, example)
    })
}

/// Returns whether a value of the parameter changes the alarm of the defaults on one of the two examples.
fn matters(detector: &Detector, param: &Param) -> bool {
    let defaults = setting(detector, "").unwrap();
    [Example::FIRES, Example::QUIET].into_iter().any(|name| {
        let example = example(detector, name);
        let before = alarm_of(&defaults, &example);
        values(param).into_iter().any(|value| {
            let mut changed = defaults.clone();
            changed.members[0].params.set(param.name, value);
            changed.members[0].check().is_ok() && alarm_of(&changed, &example) != before
        })
    })
}

/// Each parameter changes an alarm: on its own example, or on one of the two examples of every detector.
#[test]
fn every_parameter_changes_an_alarm() {
    let mut wrong = Vec::new();
    for (detector, _) in measured() {
        for param in detector.params {
            let named = detector.examples().filter(|e| e.name == param.name);
            let mut named = named.peekable();
            let shown = match named.peek() {
                Some(_) => named.all(|example| shows(detector, &example)),
                None => matters(detector, param),
            };
            if !shown {
                wrong.push(format!("{} {}", detector.name, param.name));
            }
        }
        for name in detector.examples().map(|example| example.name) {
            let known = [Example::FIRES, Example::QUIET].contains(&name);
            assert!(
                known || detector.params.iter().any(|p| p.name == name),
                "{} {name}",
                detector.name
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Each entry has a description, and each detector that stops has a grid for `tune`.
#[test]
fn the_registry_is_whole() {
    for detector in DETECTORS {
        let program = matches!(detector.measure, Measurement::Program(_));
        assert!(!detector.about.is_empty(), "{}", detector.name);
        assert_eq!(detector.exactly.is_empty(), program, "{}", detector.name);
        let warns = detector.response == Response::Warn;
        assert_eq!(warns, detector.name == "circling");
        let named = format!("detector = \"{}\"", detector.name);
        assert!(detector.grid.contains(&named), "{}", detector.name);
        for param in detector.params {
            let default = param.default.into();
            // A program has no default command.
            assert!(
                program || param.domain.check(&default).is_ok(),
                "{}",
                param.name
            );
            assert!(!param.doc.is_empty());
        }
    }
}

/// Every folder of `detectors` is registered.
#[test]
fn no_detector_is_forgotten() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/detectors");
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        let known = !entry.path().is_dir() || DETECTORS.iter().any(|d| d.name == name);
        assert!(known, "{name} is not registered");
    }
}
