//! The text that is swept: real recordings where they lie beside the project, else generated.

use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};

use deadloop_corpus::{Body, Corpus, Entry, Place, RecordedEvent, Transcript};
use deadloop_score::{Case, LabelsFile};
use serde_json::json;

/// At least so much text is swept.
const BYTES: usize = 10_000_000;

/// Transcripts in memory, and what is true about them.
pub(crate) struct Sample {
    from: String,
    entries: Vec<Entry>,
    /// One a transcript, in the same order.
    pub(crate) cases: Vec<Case>,
}

impl Sample {
    fn new(from: String, entries: Vec<Entry>, labels: Option<&LabelsFile>) -> Self {
        let cases = entries
            .iter()
            .map(|entry| Case::from_entry(entry, labels, &[]).0)
            .collect();
        Self {
            from,
            entries,
            cases,
        }
    }

    /// The transcripts.
    pub(crate) fn transcripts(&self) -> impl Iterator<Item = &Transcript> {
        self.entries.iter().map(|entry| &entry.transcript)
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes: usize = self.entries.iter().map(bytes).sum();
        let n = self.entries.len();
        write!(
            f,
            "{n} transcripts, {:.1} MB of text, {}",
            bytes as f64 / 1e6,
            self.from
        )
    }
}

/// Real recordings, or generated text.
pub(crate) fn load() -> Result<Sample, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let real = root.join("../shared/data/real");
    if real.is_dir() {
        recorded(&real)
    } else {
        Ok(generated())
    }
}

/// Every so-manieth transcript, so that all sources are there.
fn recorded(path: &Path) -> Result<Sample, Box<dyn Error>> {
    let corpus = Corpus::open(path)?;
    let labels = corpus.labels_csv().map(|file| LabelsFile::read(file).0);
    let all: Vec<Entry> = corpus.entries().collect::<Result<_, _>>()?;
    let step = (all.iter().map(bytes).sum::<usize>() / BYTES).max(1);
    let some: Vec<Entry> = all.into_iter().step_by(step).collect();
    let from = format!("recorded (1 in {step} of the dev split of data/real)");
    Ok(Sample::new(from, some, labels.as_ref()))
}

fn bytes(entry: &Entry) -> usize {
    let text = |event: &RecordedEvent| match &event.body {
        Body::Reasoning(text) | Body::Answer(text) => text.len(),
        _ => 0,
    };
    entry.transcript.events.iter().map(text).sum()
}

/// Sentences of made-up words, of which every third text ends in one over and over.
fn generated() -> Sample {
    let mut random = Random(20_260_101);
    let mut entries = Vec::new();
    let mut written = 0;
    while written < BYTES {
        let entry = text(&mut random, entries.len());
        written += bytes(&entry);
        entries.push(entry);
    }
    Sample::new(
        "generated (no ../shared/data/real here)".into(),
        entries,
        None,
    )
}

fn text(random: &mut Random, number: usize) -> Entry {
    let sentences = 20 + random.below(120);
    let mut text: String = (0..sentences).map(|_| sentence(random)).collect();
    let label = match number % 3 {
        0 => {
            let unit = sentence(random);
            let onset = (text.len() + unit.len()) as u64;
            text += &unit.repeat(4 + random.below(60));
            json!([{"class": "loop", "kind": "paragraph", "channel": "reasoning",
                    "onset": onset, "period": unit.len()}])
        }
        _ => json!([{"class": "clean"}]),
    };
    Entry {
        transcript: Transcript {
            id: format!("generated/{number}"),
            model: format!("model-{}", number % 5),
            events: vec![RecordedEvent::new(Body::Reasoning(text))],
            ..Transcript::default()
        },
        labels: Some(label),
        rest: Default::default(),
        split: None,
        place: Place::whole(PathBuf::from("generated")),
    }
}

fn sentence(random: &mut Random) -> String {
    let word = |random: &mut Random| {
        let letters = 2 + random.below(8);
        (0..letters)
            .map(|_| char::from(b'a' + random.below(26) as u8))
            .collect::<String>()
    };
    let words: Vec<String> = (0..4 + random.below(12)).map(|_| word(random)).collect();
    words.join(" ") + ". "
}

/// A linear congruential generator.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}
