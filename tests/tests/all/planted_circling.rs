//! Planted circling: `circling` finds few statements said over and over behind words of doubt, and is quiet on the same
//! doubt about something new each time.
#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "in the helpers of tests as in tests"
)]

use std::path::{Path, PathBuf};

use deadloop_detect::harness::{DETECTORS, Member, Params};
use deadloop_detect::{Guard, Setting, TextChannel};
use deadloop_synth::Synth;
use deadloop_synth::spec::{CorpusSpec, SourcePlace};
use deadloop_synth::stock::Stock;
use deadloop_synth::transcript::SynthTranscript;

fn made() -> Vec<SynthTranscript> {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/circling");
    let spec = CorpusSpec::read(&folder.join("spec.toml")).expect("a spec");
    let mut stock = Stock::default();
    for source in &spec.sources {
        let SourcePlace::Text(text) = &source.place else {
            panic!("the spec draws on texts alone");
        };
        let texts = source.paragraphs(&folder.join(text)).expect("prose");
        stock.texts.push(texts);
    }
    let synth = Synth::new(&spec, &stock);
    let make = |job| synth.make(job).expect("a transcript");
    synth.jobs().iter().map(make).collect()
}

/// Where `circling` warns, in chars.
fn warned(text: &str) -> Option<u64> {
    let circling = DETECTORS.iter().find(|d| d.name == "circling");
    let circling = circling.copied().expect("a detector");
    let members = vec![Member::new(circling, Params::defaults(circling.params))];
    let mut guard = Guard::new(&Setting { members }).expect("a live guard");
    let pushed = guard.push_text(TextChannel::Reasoning, text);
    let first = pushed.warnings.first();
    first.map(|alarm| alarm.exact.count())
}

#[test]
fn circling_is_found_and_doubt_that_finds_something_new_is_not() {
    let made = made();
    for made in &made {
        let id = &made.entry.transcript.id;
        let warned = warned(&made.entry.transcript.reasoning());
        let label = &made.labels[0];
        match label.class {
            "loop" => {
                let onset = label.onset.expect("an onset") as u64;
                let at = warned.unwrap_or_else(|| panic!("{id}: nothing said"));
                assert!(at >= onset, "{id}: {at}, before {onset}");
            }
            _ => assert_eq!(warned, None, "{id}"),
        }
    }
    assert_eq!(made.len(), 50);
}
