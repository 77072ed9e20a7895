//! Runs with loops reported for recent agents: their labels are verified against the events by a simple slow method,
//! and the finder agrees.
#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use deadloop_corpus::{Body, RecordedEvent};
use deadloop_finder::steps::find_run;
use deadloop_synth::Synth;
use deadloop_synth::label::PlantedLabel;
use deadloop_synth::spec::CorpusSpec;
use deadloop_synth::stock::Stock;
use deadloop_synth::transcript::SynthTranscript;

const SHAPES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../datasets/agents-shapes");

fn made() -> Vec<SynthTranscript> {
    let spec = CorpusSpec::read(&Path::new(SHAPES).join("spec.toml")).expect("the spec");
    let stock = Stock {
        forms: spec.read_forms(Path::new(SHAPES)).expect("the forms"),
        ..Stock::default()
    };
    let synth = Synth::new(&spec, &stock);
    let jobs = synth.jobs();
    let make = |job| synth.make(job).expect("it can be made");
    jobs.iter().map(make).collect()
}

/// Returns the item's name, and whether its results have ids and dates.
fn item(made: &SynthTranscript) -> (&str, bool) {
    let name = made.entry.transcript.id.split('/').next().unwrap_or("");
    match name.strip_suffix("-volatile") {
        Some(name) => (name, true),
        None => (name, false),
    }
}

fn events(made: &SynthTranscript) -> &[RecordedEvent] {
    &made.entry.transcript.events
}

/// Returns each call as `name arguments`, with its result.
fn steps(made: &SynthTranscript) -> Vec<(String, String)> {
    let mut results = BTreeMap::new();
    for event in events(made) {
        if let Body::ToolResult { id, content, .. } = &event.body {
            results.insert(id.clone(), content.clone());
        }
    }
    let step = |event: &RecordedEvent| match &event.body {
        Body::ToolCall {
            id,
            name,
            arguments,
        } => Some((format!("{name} {arguments}"), results[id].clone())),
        _ => None,
    };
    events(made).iter().filter_map(step).collect()
}

/// Returns a result without its inserted id and date.
fn still(result: &str) -> String {
    if let Ok(serde_json::Value::Object(mut fields)) = serde_json::from_str(result) {
        fields.remove("request_id");
        fields.remove("date");
        return serde_json::Value::Object(fields).to_string();
    }
    let own = |line: &&str| !line.starts_with("request_id: req-") && !line.starts_with("date: ");
    result.lines().filter(own).collect::<Vec<_>>().join("\n")
}

/// Returns the text of each turn without numbers, and its number of calls.
fn turns(made: &SynthTranscript) -> Vec<(String, usize)> {
    let mut turns: Vec<(String, usize)> = Vec::new();
    for event in events(made) {
        match (&event.body, turns.last_mut()) {
            (Body::Turn, _) => turns.push((String::new(), 0)),
            (Body::Answer(text), Some(turn)) => {
                turn.0.extend(text.chars().filter(|c| !c.is_numeric()));
            }
            (Body::ToolCall { .. }, Some(turn)) => turn.1 += 1,
            _ => {}
        }
    }
    turns
}

fn all_differ<T: Ord>(all: impl IntoIterator<Item = T>) -> bool {
    let mut seen = BTreeSet::new();
    all.into_iter().all(|one| seen.insert(one))
}

fn are_one<T: Ord>(all: impl IntoIterator<Item = T>) -> bool {
    all.into_iter().collect::<BTreeSet<_>>().len() == 1
}

/// Returns the start, the onset and the end of a label, where `length` is the total length.
fn span(label: &PlantedLabel, length: usize) -> (usize, usize, usize) {
    let [start, onset] = [label.start, label.onset].map(|at| at.expect("a place"));
    let end = label.end.unwrap_or(length);
    assert!(start < onset && onset < end && end <= length, "{label:?}");
    (start, onset, end)
}

/// Returns whether a loop of calls matches its item.
fn is_of_calls(made: &SynthTranscript, label: &PlantedLabel) -> bool {
    let steps = steps(made);
    let (start, onset, end) = span(label, steps.len());
    let copies = &steps[start..end];
    let calls = || copies.iter().map(|step| &step.0);
    let results = || copies.iter().map(|step| still(&step.1));
    let stilled: Vec<_> = copies
        .iter()
        .map(|(call, result)| (call, still(result)))
        .collect();
    let periodic = |k: usize| stilled[k..].iter().zip(&stilled).all(|(a, b)| a == b);
    match item(made).0 {
        "same" => are_one(calls()) && are_one(results()),
        "ring" => {
            let period = label.period.unwrap_or(0);
            (3..=8).contains(&period) && periodic(period) && !(1..period).any(periodic)
        }
        "replan" => {
            let compactions = events(made).iter().filter(|event| {
                let meta = event.rest.get("meta");
                matches!(event.body, Body::System) && meta.is_some_and(|m| m["compaction"] == true)
            });
            let period = label.period.unwrap_or(0);
            periodic(period) && compactions.count() == copies.len() / period
        }
        "reworded-write" => all_differ(calls()) && are_one(results()),
        "window" => {
            let lines = |from: usize, to: usize| -> BTreeSet<String> {
                let texts: Vec<_> = steps[from..to].iter().map(|step| still(&step.1)).collect();
                texts.join("\n").lines().map(str::to_owned).collect()
            };
            all_differ(calls()) && lines(onset, end).is_subset(&lines(start, onset))
        }
        "growing" => {
            let longer = copies.windows(2).all(|two| two[0].0.len() < two[1].0.len());
            longer && are_one(results())
        }
        other => panic!("no loop of calls: {other}"),
    }
}

/// Returns whether a loop of turns matches its item.
fn is_of_turns(made: &SynthTranscript, label: &PlantedLabel) -> bool {
    let turns = turns(made);
    let (start, _, end) = span(label, turns.len());
    let said = are_one(turns[start..end].iter().map(|turn| &turn.0)) && !turns[start].0.is_empty();
    let users = events(made).iter().filter_map(|event| match &event.body {
        Body::User(text) => Some(text),
        _ => None,
    });
    let calls = turns[start..end].iter().map(|turn| turn.1);
    match item(made).0 {
        "same-answer" => said && all_differ(users) && calls.sum::<usize>() == 0,
        "narration" => said && calls.min() == Some(1) && turns[start..end].len() > 4,
        other => panic!("no loop of turns: {other}"),
    }
}

/// Returns whether harmless repetition matches its item.
fn is_healthy(made: &SynthTranscript) -> bool {
    let meta = &made.entry.transcript.meta;
    let benign = meta.get("benign").and_then(|all| all.as_array());
    let steps = steps(made);
    let of = |reason: &str| -> Vec<&[(String, String)]> {
        let all = benign.into_iter().flatten();
        let spans = all.filter(|span| span["reason"] == reason);
        let ends = |span: &serde_json::Value| {
            ["start", "end"].map(|name| span[name].as_u64().expect("a number") as usize)
        };
        let spans = spans.map(ends).map(|[start, end]| &steps[start..end]);
        spans.collect()
    };
    let results_differ = |span: &[(String, String)]| all_differ(span.iter().map(|s| still(&s.1)));
    let calls_are_one = |span: &[(String, String)]| are_one(span.iter().map(|s| &s.0));
    match item(made).0 {
        "run" => true,
        "poll" => {
            let mut polls = of("poll").into_iter();
            polls.any(|span| calls_are_one(span) && results_differ(span))
        }
        "game" => of("batch").into_iter().any(|span| {
            let actions: BTreeSet<_> = span.iter().map(|step| &step.0).collect();
            let moves = actions.iter().all(|action| action.starts_with("act "));
            moves && actions.len() <= 3 && results_differ(span)
        }),
        "stateless" => of("batch")
            .into_iter()
            .any(|span| calls_are_one(span) && span.iter().all(|step| still(&step.1).len() < 10)),
        other => panic!("nothing healthy: {other}"),
    }
}

#[test]
fn each_shape_is_what_its_label_says() {
    let all = made();
    let mut items = BTreeMap::new();
    for made in &all {
        let id = &made.entry.transcript.id;
        let label = &made.labels[0];
        let contains = match (label.class, label.channel.as_str()) {
            ("clean", _) => is_healthy(made),
            (_, "tools") => is_of_calls(made, label),
            _ => is_of_turns(made, label),
        };
        assert!(contains, "{id}");
        *items.entry(item(made)).or_insert(0) += 1;
        let results: Vec<String> = steps(made).into_iter().map(|step| step.1).collect();
        let put = |result: &String| result.contains("req-") && result.contains(" Nov 2026 ");
        let volatile = item(made).1;
        assert_eq!(results.iter().all(put), volatile, "{id}");
        assert!(!volatile || all_differ(results), "{id}");
    }
    assert_eq!(items.len(), 24);
    assert!(items.values().all(|count| *count == 12), "{items:?}");
}

/// `deadloop label` finds the kind and the onset of every loop.
#[test]
fn the_finder_says_of_each_shape_what_its_label_says() {
    for made in &made() {
        let id = &made.entry.transcript.id;
        let found = find_run(&made.entry.transcript).expect("a run");
        let label = &made.labels[0];
        let of = |channel: &str| {
            let mut spans = found.spans.iter();
            spans.find(|span| span.channel.name() == channel)
        };
        if label.class == "clean" {
            assert_eq!((of("tools"), of("turns")), (None, None), "{id}");
            continue;
        }
        let span = of(&label.channel).unwrap_or_else(|| panic!("{id}: nothing was found"));
        assert_eq!(span.class.name(), label.class, "{id}");
        assert_eq!(Some(span.onset as usize), label.onset, "{id}");
    }
}
