//! The laws that every registered detector obeys alone, on the examples that it brings. The laws that hold it
//! against a replay and a sweep are in `tests/tests/all/laws.rs` of the workspace.

#![allow(clippy::unwrap_used, reason = "in the helpers of tests as in tests")]

use deadloop_detect::harness::{
    ArgumentsOf, DETECTORS, Detector, Domain, EventPlaces, Example, Fact, Measuring, Member, Param,
    Params, UNIT_CHARS,
};
use deadloop_detect::{
    Alarm, Event, Guard, OwnedEvent, Response, Setting, Settings, TextChannel, Value,
};

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

/// Values of a parameter that differ from each other as much as its domain allows.
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

/// Parameters without an example that shows what they do. A new parameter brings one: this list only becomes shorter.
const UNSHOWN: &[(&str, &str)] = &[
    (
        "checkpoint",
        "every max_unit short_at min_matches min_cycles max_period partial_tail segment delimiters list_marker code per prompt",
    ),
    (
        "periodic",
        "fold min_single unit_holds min_recycled code min_counters min_numbers min_returning min_bare min_form per prompt",
    ),
    ("recurrence", "window max_distinct reset_on code per prompt"),
    (
        "novelty",
        "numbers n max_novelty max_symbols max_grams per prompt",
    ),
    ("circling", "history code per prompt"),
    ("duplicate", "reset"),
    (
        "same-pair",
        "reset normalise volatile stateless_chars kinds waiting_n",
    ),
    ("cycle", "min_period reset"),
    (
        "interleaved",
        "arguments reset volatile stateless_n stateless_chars kinds waiting_n",
    ),
    (
        "call-novelty",
        "with_result reset normalise volatile stateless_chars kinds waiting_n",
    ),
    (
        "stagnation",
        "reset normalise volatile stateless_n stateless_chars waiting_n",
    ),
    ("error-run", "prefix reset normalise volatile kinds"),
    ("narration", "window like min_share reasoning allow reset"),
    ("iterations", "warn_at hard cancel_after allow reset"),
    (
        "loom",
        "loop_detection_window error_threshold keep_outputs warn_at reset normalise",
    ),
    ("openhands", "action_error monologue reset normalise"),
    ("malformed", "per"),
    ("pseudo", "own"),
];

/// What other parameters need beside them to do anything.
const BESIDE: [&str; 14] = [
    "",
    "kinds = true",
    "stateless_n = 1000",
    "like = \"trigrams\"",
    "tells = \"warning\"",
    "same = \"prefix\"",
    "unit = \"calls\"",
    "unit = \"supersteps\"",
    "grow = 1.5",
    "with_result = true",
    "on = \"sentences\"",
    "fold = \"counters\"",
    "fold = \"counters\"\non = \"sentences\"",
    "short_at = \"all\"\nevery = 100",
];

/// The settings of a detector under which one of its parameters may matter.
fn settings(detector: &Detector) -> Vec<Setting> {
    let parse = |beside: &&str| {
        let name = detector.name;
        let head = format!("[[guard]]\ndetector = \"{name}\"\nresponse = \"stop\"");
        Settings::parse(&format!("{head}\n[guard.params]\n{beside}\n")).ok()
    };
    let all = BESIDE.iter().filter_map(parse);
    all.map(|settings| settings.guard().clone()).collect()
}

/// The examples of a detector, and streams that are made from the one that fires.
fn streams(detector: &Detector) -> Vec<Vec<OwnedEvent>> {
    let fires = example(detector, "fires").events().unwrap();
    let owned = |event: &Event<'_>| event.owned();
    let turn = || OwnedEvent::Turn { agent: None };
    let text = |event: &Event<'_>| match event {
        Event::Text(_, text) => (*text).to_owned(),
        _ => String::new(),
    };
    let said: String = fires.iter().map(text).collect();
    let with = |change: &dyn Fn(usize, &Event<'_>) -> Vec<OwnedEvent>| {
        let all = fires.iter().enumerate();
        all.flat_map(|(i, event)| change(i, event))
            .collect::<Vec<_>>()
    };
    let last_call = fires.iter().rposition(|e| matches!(e, Event::Call { .. }));
    let last = last_call.unwrap_or(fires.len() - 1);
    let results = |put: &dyn Fn(usize, &str) -> String| {
        with(&|i, event| match event {
            Event::Result {
                id, content, error, ..
            } => vec![OwnedEvent::Result {
                id: id.map(str::to_owned),
                content: put(i, content),
                error: *error,
                cut: None,
            }],
            other => vec![other.owned()],
        })
    };
    let mut all: Vec<Vec<OwnedEvent>> = detector
        .examples()
        .map(|example| events(&example, usize::MAX))
        .collect();
    all.extend([
        // Each piece in a turn of its own.
        with(&|_, event| vec![owned(event), turn()]),
        // The user wrote all of it before.
        [OwnedEvent::User(said)]
            .into_iter()
            .chain(fires.iter().map(owned))
            .collect(),
        // The user speaks before the last call.
        with(&|i, event| match i {
            0 => vec![turn(), owned(event)],
            i if i == last => vec![OwnedEvent::User("go on".into()), owned(event)],
            _ => vec![owned(event)],
        }),
        // Results with a time, with an id, with what says little.
        results(&|i, content| format!("{content} at 12:30:{:02}", i % 60)),
        results(&|i, content| format!("{content} of req-{:08x}", (i + 7) * 0x0123_4567)),
        results(&|_, _| "pending".into()),
        results(&|_, _| "ok".into()),
        results(&|i, _| format!("step {i}")),
        // Another tool, and what is thought and not said.
        with(&|i, event| match event {
            Event::Call { id, arguments, .. } => vec![OwnedEvent::Call {
                id: id.map(str::to_owned),
                name: format!("tool{}", i % 4),
                arguments: ArgumentsOf::Raw(arguments.text().into_owned()),
            }],
            Event::Text(_, text) => vec![OwnedEvent::Text(TextChannel::Reasoning, (*text).into())],
            other => vec![other.owned()],
        }),
    ]);
    all
}

/// Each parameter changes an alarm, on an example of its detector or a stream like it, beside one of a few others.
#[test]
fn every_parameter_changes_an_alarm() {
    let mut wrong = Vec::new();
    for (detector, _) in measured() {
        let (settings, streams) = (settings(detector), streams(detector));
        let told = |setting: &Setting, stream: &[OwnedEvent]| {
            let mut guard = Guard::new(setting).unwrap();
            let mut events = stream.iter().map(OwnedEvent::borrowed);
            let alarm = events.find_map(|event| guard.push(&event).into_alarm());
            alarm.map(|mut alarm| {
                alarm.thresholds.clear();
                alarm
            })
        };
        for param in detector.params {
            let matters = |(base, stream): (&Setting, &Vec<OwnedEvent>)| {
                let before = told(base, stream);
                values(param).into_iter().any(|value| {
                    let mut changed = base.clone();
                    changed.members[0].params.set(param.name, value);
                    changed.members[0].check().is_ok() && told(&changed, stream) != before
                })
            };
            let all = settings
                .iter()
                .flat_map(|base| streams.iter().map(move |s| (base, s)));
            let unshown = UNSHOWN.iter().any(|(name, params)| {
                *name == detector.name && params.split(' ').any(|name| name == param.name)
            });
            let changes = all.into_iter().any(matters);
            if changes && unshown {
                eprintln!("{} {} is shown now", detector.name, param.name);
            }
            if !changes && !unshown {
                wrong.push(format!("{} {}", detector.name, param.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
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
