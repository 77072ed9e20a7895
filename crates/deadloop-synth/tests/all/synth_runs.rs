//! Runs made by `synth`: their labels are verified against the events by a simple slow method.
#![allow(clippy::expect_used, reason = "a test that cannot go on says why")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use deadloop_corpus::{Body, RecordedEvent};
use deadloop_synth::Synth;
use deadloop_synth::label::PlantedLabel;
use deadloop_synth::runs::RealRun;
use deadloop_synth::spec::CorpusSpec;
use deadloop_synth::stock::Stock;
use deadloop_synth::transcript::SynthTranscript;
use serde_json::Value as Json;

const STARTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../datasets/agents-starter");

const LOOPS: [&str; 8] = [
    "identical-call",
    "same-call-same-result",
    "cycle",
    "interleaved",
    "aperiodic-stagnation",
    "error-retry",
    "monologue",
    "handoff",
];
const HARMLESS: [&str; 4] = ["poll", "batch", "verify", "retry"];

/// A call, its result, and whether the tool failed.
type Step = (String, String, String, bool);

fn steps(events: &[RecordedEvent]) -> Vec<Step> {
    let mut results = BTreeMap::new();
    for event in events {
        if let Body::ToolResult { id, content, error } = &event.body {
            results.insert(id.clone(), (content.clone(), error == &Some(true)));
        }
    }
    let call = |event: &RecordedEvent| match &event.body {
        Body::ToolCall {
            id,
            name,
            arguments,
        } => {
            let (content, error) = results[id].clone();
            Some((name.clone(), arguments.to_string(), content, error))
        }
        _ => None,
    };
    events.iter().filter_map(call).collect()
}

/// Returns the text of each turn, and its number of calls.
fn turns(events: &[RecordedEvent]) -> Vec<(String, usize)> {
    let mut turns: Vec<(String, usize)> = Vec::new();
    for event in events {
        match (&event.body, turns.last_mut()) {
            (Body::Turn, _) => turns.push((String::new(), 0)),
            (Body::Answer(text), Some(turn)) => turn.0.push_str(text),
            (Body::ToolCall { .. }, Some(turn)) => turn.1 += 1,
            _ => {}
        }
    }
    turns
}

/// Returns the sorted lines of a result, without its time of day.
fn steady(text: &str) -> Vec<&str> {
    let lines = text
        .lines()
        .filter(|line| !(line.starts_with('[') && line.len() == 10));
    let mut lines: Vec<&str> = lines.collect();
    lines.sort_unstable();
    lines
}

/// Checks a label against the events.
fn contains(made: &SynthTranscript, label: &PlantedLabel) -> Result<(), String> {
    let steps = steps(&made.entry.transcript.events);
    let turns = turns(&made.entry.transcript.events);
    let length = match label.channel.as_str() {
        "turns" => turns.len(),
        _ => steps.len(),
    };
    let (start, onset) = (label.start.unwrap_or(0), label.onset.unwrap_or(0));
    let end = label.end.unwrap_or(length);
    let ensure = |is: bool, what: &str| if is { Ok(()) } else { Err(what.to_owned()) };
    let in_order = start < onset && onset < end && end <= length;
    ensure(in_order, "positions in order")?;
    let left = (label.class == "transient") == label.end.is_some();
    ensure(left, "what is left was transient")?;
    if label.channel == "turns" {
        let said: BTreeSet<_> = turns[start..end].iter().collect();
        ensure(said.len() == 1, "turns that say the same")?;
        return ensure(turns[start].1 == 0, "turns that call nothing");
    }
    let (copies, again) = (&steps[start..end], &steps[onset..end]);
    let before: BTreeSet<_> = steps[..onset].iter().collect();
    let distinct: BTreeSet<_> = again.iter().map(|step| (&step.0, &step.1)).collect();
    let periodic = |k: usize| (k..copies.len()).all(|at| copies[at] == copies[at - k]);
    match label.kind {
        "identical-call" => {
            ensure(distinct.len() == 1, "one call")?;
            let results: BTreeSet<_> = copies.iter().map(|step| steady(&step.2)).collect();
            ensure(results.len() == 1, "results that say the same")?;
            let differ = copies.windows(2).all(|two| two[0] != two[1]);
            ensure(differ, "results that differ")
        }
        "error-retry" => {
            let mut errors = copies.iter();
            let one = errors.all(|step| step.3 && step.2 == copies[0].2);
            ensure(one, "one error")?;
            ensure(distinct.len() == again.len(), "other words each time")
        }
        "same-call-same-result" | "cycle" => {
            let period = label.period.unwrap_or(0);
            ensure(onset == start + period && periodic(period), "copies")?;
            ensure(!(1..period).any(periodic), "no smaller period")
        }
        kind => {
            let old = again.iter().all(|step| before.contains(step));
            ensure(old, "nothing new")?;
            ensure(!(1..=copies.len() / 2).any(periodic), "no cycle")?;
            let many = 2 * distinct.len() > again.len();
            ensure(kind != "aperiodic-stagnation" || many, "many calls")
        }
    }
}

fn benign(made: &SynthTranscript) -> Vec<(String, usize, usize)> {
    let meta = &made.entry.transcript.meta;
    let spans = meta.get("benign").and_then(Json::as_array);
    let number = |span: &Json, name: &str| span[name].as_u64().unwrap_or(0) as usize;
    let one = |span: &Json| {
        let reason = span["reason"].as_str().unwrap_or_default().to_owned();
        (reason, number(span, "start"), number(span, "end"))
    };
    spans.into_iter().flatten().map(one).collect()
}

/// Returns whether a span of harmless repetition is harmless.
fn is_harmless(steps: &[Step], (reason, start, end): &(String, usize, usize)) -> bool {
    let span = &steps[*start..*end];
    let calls: BTreeSet<_> = span.iter().map(|step| (&step.0, &step.1)).collect();
    let tools: BTreeSet<_> = span.iter().map(|step| &step.0).collect();
    let pairs: BTreeSet<_> = span.iter().collect();
    let (last, earlier) = span.split_last().expect("a stretch has calls");
    match reason.as_str() {
        "poll" => calls.len() == 1 && pairs.len() == span.len() && !last.3,
        "retry" => calls.len() == 1 && !last.3 && earlier.iter().all(|step| step.3),
        "batch" => tools.len() == 1 && pairs.len() == span.len(),
        "verify" => {
            let mut same = span.iter().step_by(2).map(|step| (&step.0, &step.1));
            same.all(|call| call == (&span[0].0, &span[0].1))
        }
        _ => false,
    }
}

fn all(spec: &CorpusSpec, stock: &Stock) -> Vec<SynthTranscript> {
    let synth = Synth::new(spec, stock);
    let jobs = synth.jobs();
    jobs.iter()
        .map(|job| synth.make(job).expect("it can be made"))
        .collect()
}

fn check(made: &[SynthTranscript]) {
    for made in made {
        let id = &made.entry.transcript.id;
        for label in made.labels.iter().filter(|label| label.class != "clean") {
            assert_eq!(contains(made, label), Ok(()), "{id}");
        }
        let steps = steps(&made.entry.transcript.events);
        for span in benign(made) {
            assert!(is_harmless(&steps, &span), "{id}: {span:?}");
        }
    }
}

fn starter() -> Vec<SynthTranscript> {
    let spec = CorpusSpec::read(&Path::new(STARTER).join("spec.toml")).expect("the spec");
    let stock = Stock {
        forms: spec.read_forms(Path::new(STARTER)).expect("the forms"),
        ..Stock::default()
    };
    all(&spec, &stock)
}

#[test]
fn every_kind_of_the_starter_is_what_its_label_says() {
    let made = starter();
    assert_eq!(made.len(), 200);
    check(&made);
    let labels = made.iter().flat_map(|made| &made.labels);
    let loops = labels.filter(|label| label.class == "loop");
    let kinds: BTreeSet<&str> = loops.map(|label| label.kind).collect();
    assert!(LOOPS.iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
    let reasons: BTreeSet<String> = made.iter().flat_map(benign).map(|span| span.0).collect();
    let mut harmless = HARMLESS.iter();
    assert!(
        harmless.all(|reason| reasons.contains(*reason)),
        "{reasons:?}"
    );
}

/// The clean runs of the starter corpus serve as real runs.
fn hosts() -> Vec<RealRun> {
    let clean = starter()
        .into_iter()
        .filter(|made| made.entry.transcript.id.starts_with("run-"));
    clean
        .filter_map(|made| RealRun::from_entry(&made.entry))
        .collect()
}

const REAL: &str =
    "name = \"x\"\nseed = 7\ntest = 0\n[[source]]\nname = \"runs\"\ncorpus = \"runs\"\n";

#[test]
fn into_real_runs_of_others_every_kind_is_planted_behind_what_they_did() {
    let mut text = REAL.to_owned();
    for kind in LOOPS.iter().chain(&HARMLESS).chain(&["run"]) {
        text += &format!("[[item]]\nname = \"{kind}\"\nkind = \"{kind}\"\ncount = 12\n");
    }
    text += "[[item]]\nname = \"left\"\nkind = \"cycle\"\ncount = 12\nafter = [1, 3]\nclass = \"transient\"\n";
    let spec = CorpusSpec::parse(&text).expect("a spec");
    assert!(spec.wants_runs(0));
    let hosts = hosts();
    let by_id = hosts.iter().map(|run| (run.id.clone(), run.clone()));
    let by_id: BTreeMap<_, _> = by_id.collect();
    let stock = Stock {
        texts: vec![Vec::new()],
        runs: vec![hosts],
        ..Stock::default()
    };
    let made = all(&spec, &stock);
    check(&made);
    for made in &made {
        let transcript = &made.entry.transcript;
        let host = &by_id[transcript.meta["made"]["of"].as_str().expect("its host")];
        assert_eq!(transcript.model, "handmade+planted");
        assert_eq!(transcript.group.as_ref(), Some(&host.group));
        // Up to the first copy's end the run is the host's, call by call; an error in its place is planted.
        let (own, hosts) = (steps(&transcript.events), steps(&host.events));
        let same = match made.labels[0].onset {
            Some(onset) if made.labels[0].channel == "tools" => onset - 1,
            _ => 0,
        };
        assert_eq!(own[..same], hosts[..same], "{}", transcript.id);
        if transcript.id.starts_with("run/") {
            assert_eq!(own, hosts);
        }
        for reason in HARMLESS {
            if transcript.id.starts_with(reason) {
                let found = benign(made).into_iter().any(|span| span.0 == reason);
                assert!(found, "{}", transcript.id);
            }
        }
        let cut = transcript.finish_reason() == Some("limit");
        let endless = made.labels.iter().any(|label| label.class == "loop");
        assert_eq!(cut, endless, "{}", transcript.id);
    }
}

#[test]
fn what_no_run_can_be_is_refused_with_its_line() {
    let refused = |spec: &str, told: &str| {
        let error = CorpusSpec::parse(spec).unwrap_err().to_string();
        assert!(error.starts_with(told), "{error}");
    };
    for (kind, key, told) in [
        ("cycle", "period = 1", "9: cycle of 1 calls"),
        (
            "cycle",
            "class = \"transient\"",
            "9: class = \"transient\" without an end",
        ),
        ("poll", "after = 3", "9: after has no meaning for kind poll"),
        ("run", "forms = \"x\"", "9: forms x: there is none"),
    ] {
        let item = format!("kind = \"{kind}\"\n{key}\ncount = 1\nname = \"i\"\n");
        refused(&format!("{REAL}[[item]]\n{item}"), told);
    }
    let none = "name = \"x\"\nseed = 1\n[[item]]\nname = \"i\"\nkind = \"cycle\"\ncount = 1\n";
    refused(none, "3: a run without a host");
}
