//! Synthetic corpora: a [`CorpusSpec`] says what is wanted, a [`Stock`] holds the clean texts and forms that
//! it draws on, and [`Synth`] makes the transcripts one by one, each from a seed of its own: in any
//! order, on any number of threads, and whatever else the spec asks for, it comes out the same.
//!
//! What is planted is known exactly: `start` is the first char of the first copy, `onset` is a period
//! later, `end` is where it stops, and every exact loop is checked to repeat from there to there, with
//! no smaller period and from no earlier letter.

mod card;
mod checks;
mod chunks;
mod copies;
mod cut;
mod damaged;
mod doubt;
mod drawn;
mod drift;
mod faults;
mod fields;
mod forms;
mod gold;
mod healthy;
mod items;
mod keys;
mod kinds;
mod label;
mod looped;
mod parsing;
mod reading;
mod recorded;
mod runs;
mod schema;
mod spec;
mod stock;
mod streams;
mod tables;
mod tools;

pub use fields::SpecError;
pub use forms::Forms;
pub use keys::{KeyText, key_texts};
pub use label::{COLUMNS, Label, LabelCells};
pub use recorded::LabelRows;
pub use runs::Run;
pub use schema::{forms_schema, spec_schema};
pub use spec::{CleanSource, CorpusSpec, SourcePlace};
pub use stock::{CleanText, Real, Stock, TimedPiece};

use serde_json::{Map, Value as Json, json};
use sha2::{Digest, Sha256};

use crate::make::plant::Rng;
use crate::{Body, Entry, Place, RecordedEvent, Transcript};

use forms::Form;
use looped::{Text, Wanted};
use spec::{Chunks, Item, Loop, What};
use stock::{Deal, Split, pool};

/// What was done to a model's text, as it is behind the model's name.
const PLANTED: &str = "+planted";
const DAMAGED: &str = "+damaged";

/// Draws before a transcript is given up.
const ATTEMPTS: usize = 500;

/// A made transcript and what is true about it.
#[derive(Clone, Debug)]
pub struct Made {
    /// The transcript, with its split where the spec deals splits.
    pub entry: Entry,
    /// What is known of it because it was made so.
    pub labels: Vec<Label>,
    /// Of a recording: its rows of `labels.csv`, as its corpus has them.
    pub rows: Vec<LabelCells>,
}

impl Made {
    /// Its rows of `labels.csv`.
    pub fn label_rows(&self) -> impl Iterator<Item = LabelCells> {
        let id = &self.entry.transcript.id;
        let known = self.labels.iter().map(|label| label.row(id));
        known.chain(self.rows.iter().cloned())
    }
}

/// One transcript to be made.
#[derive(Clone, Copy, Debug)]
pub struct SynthJob {
    item: usize,
    at: usize,
    form: usize,
}

/// Makes the transcripts of a spec.
#[derive(Debug)]
pub struct Synth<'a> {
    spec: &'a CorpusSpec,
    stock: &'a Stock,
}

/// What a transcript is, its text aside.
struct Frame<'a> {
    item: &'a Item,
    id: String,
    lang: &'a str,
    split: Split,
}

impl<'a> Synth<'a> {
    /// Makes the transcripts of `spec` from `stock`.
    pub fn new(spec: &'a CorpusSpec, stock: &'a Stock) -> Self {
        Self { spec, stock }
    }

    /// Every transcript of the spec, in order.
    pub fn jobs(&self) -> Vec<SynthJob> {
        let mut jobs = Vec::new();
        for (item, wanted) in self.spec.items.iter().enumerate() {
            let forms = self.forms_of(wanted);
            if matches!(wanted.what, What::Negatives { .. }) {
                for (form, of) in forms {
                    let count = wanted.count.min(of.most);
                    jobs.extend((0..count).map(|at| SynthJob { item, at, form }));
                }
            } else {
                let count = match wanted.what {
                    What::Recorded => self.recordings(wanted).len().min(wanted.count),
                    _ => wanted.count,
                };
                jobs.extend((0..count).map(|at| SynthJob { item, at, form: 0 }));
            }
        }
        jobs
    }

    /// The name of the item that a transcript is of.
    pub fn item(&self, job: &SynthJob) -> &'a str {
        self.spec.items.get(job.item).map_or("", |item| &item.name)
    }

    /// The file of transcripts that a transcript is in, without an ending.
    pub fn file(&self, job: &SynthJob) -> &'a str {
        self.spec.items.get(job.item).map_or("", |item| &item.file)
    }

    /// Makes one transcript.
    ///
    /// # Errors
    /// No draw satisfied its item; the last reason is given.
    pub fn make(&self, job: &SynthJob) -> Result<Made, SpecError> {
        let item = &self.spec.items[job.item];
        match &item.what {
            What::Loop(l) => self.text_loop(item, l, job.at),
            What::Tools(_) => self.tool_loop(item, job.at),
            What::Negatives {
                forms,
                around,
                aside,
            } => self.negative(item, forms, (*around, *aside), job),
            What::Clean { chars, glue } => self.clean(item, *chars, glue.as_deref(), job.at),
            What::Faults(faults) => self.fault(item, faults, job.at),
            What::Run(wanted) => self.run(item, wanted, job.at),
            What::Recorded => self.recorded(item, job.at),
        }
    }

    fn forms_of(&self, item: &Item) -> Vec<(usize, &'a Form)> {
        let What::Negatives { forms, .. } = &item.what else {
            return Vec::new();
        };
        let all = self
            .stock
            .forms
            .get(forms)
            .into_iter()
            .flat_map(|file| &file.forms);
        let wanted = |form: &Form| item.langs.is_empty() || item.langs.contains(&form.lang);
        all.enumerate().filter(|(_, form)| wanted(form)).collect()
    }

    /// The generator, language and split of the transcript at `at`.
    fn frame(&self, item: &'a Item, at: usize) -> (Rng, Frame<'a>) {
        let mut rng = Rng::new(seeded(
            self.spec.seed,
            &["item", &item.name, &at.to_string()],
        ));
        let split = if rng.chance(self.spec.test) {
            Split::Test
        } else {
            Split::Dev
        };
        let lang = &item.langs[at % item.langs.len()];
        let id = format!("{}/{at:03}", item.name);
        (
            rng,
            Frame {
                item,
                id,
                lang,
                split,
            },
        )
    }

    fn pool(&self, frame: &Frame<'_>) -> Vec<&'a CleanText> {
        let sources = frame.item.sources.iter().filter_map(|at| {
            Some((
                self.spec.sources.get(*at)?.name.as_str(),
                self.stock.texts.get(*at)?.as_slice(),
            ))
        });
        sources
            .flat_map(|(name, texts)| pool(self.spec, texts, name, frame.lang, frame.split))
            .collect()
    }

    fn failed(&self, item: &Item, id: &str, why: &str) -> SpecError {
        let what = format!("{id} cannot be made: {why}");
        SpecError::at(
            item.line,
            what,
            "wider ranges, or more clean text in its source, language and split",
        )
    }

    fn text_loop(&self, item: &'a Item, l: &Loop, at: usize) -> Result<Made, SpecError> {
        let (mut rng, frame) = self.frame(item, at);
        let turn = at / item.langs.len();
        let onset = l.onsets[turn % l.onsets.len()];
        let channel = in_turn(&item.channels, turn / l.onsets.len());
        let pool = self.pool(&frame);
        let units = l
            .unit
            .as_deref()
            .and_then(|name| self.spec.units(name, frame.lang));
        let units = units.map_or(Vec::new(), |unit| {
            let texts = unit.texts.iter().map(String::as_str);
            let deal = Deal::of(
                self.spec,
                &format!("unit/{}/{}", unit.name, unit.lang),
                texts,
            );
            deal.only(unit.texts.len(), frame.split)
        });
        let wanted = Wanted {
            spec: self.spec,
            looped: l,
            onset,
            lang: frame.lang,
            channel,
            pool: &pool,
            units: &units,
        };
        let mut why = "no clean text";
        for _ in 0..ATTEMPTS {
            match looped::looped(&wanted, &mut rng) {
                Ok(text) => return Ok(self.planted(frame, l, channel, text, &mut rng)),
                Err(reason) => why = reason,
            }
        }
        if pool.is_empty() {
            why = "no clean text of its language in its sources";
        }
        Err(self.failed(item, &frame.id, why))
    }

    fn planted(
        &self,
        frame: Frame<'_>,
        l: &Loop,
        channel: &str,
        made: Text,
        rng: &mut Rng,
    ) -> Made {
        let onset = made
            .labels
            .last()
            .and_then(|label| label.onset)
            .unwrap_or_default();
        let mut meta = json!({
            "source": "planted",
            "tag": format!("{}-{}", if l.transient { "transient" } else { "loop" }, l.kind),
            "item": frame.item.name,
            "onset": place(onset),
            "made": {"unit": made.unit, "clean_text_of": made.parts},
        });
        if frame.item.chunks.is_some_and(Chunks::makes_times) {
            meta["times"] = json!("made");
        }
        let mut events = chunks::events(&made.text, channel, frame.item.chunks, rng);
        let ends = if l.after.high > 0 { "stop" } else { "length" };
        events.push(finish(ends));
        let written = made.model.filter(|model| *model != self.spec.model);
        let model = written.map(|model| self.writer(&model, PLANTED));
        self.entry(frame, model, made.group, meta, events, made.labels)
    }

    fn tool_loop(&self, item: &'a Item, at: usize) -> Result<Made, SpecError> {
        let What::Tools(looped) = &item.what else {
            return Err(self.failed(item, &item.name, "no tools"));
        };
        let (mut rng, frame) = self.frame(item, at);
        let onset = looped.onsets[at / item.langs.len() % looped.onsets.len()];
        let mut why = "no tools";
        for _ in 0..ATTEMPTS {
            match tools::tool_loop(self.spec, looped, onset, &mut rng) {
                Ok((mut events, label)) => {
                    events.push(finish(if looped.after.high > 0 {
                        "stop"
                    } else {
                        "length"
                    }));
                    let meta = json!({"source": "planted", "tag": format!("{}-{}", label.class, label.kind), "item": item.name});
                    let group = format!("{}/{at:03}", item.name);
                    return Ok(self.entry(frame, None, group, meta, events, vec![label]));
                }
                Err(reason) => why = reason,
            }
        }
        Err(self.failed(item, &frame.id, why))
    }

    /// The model of a text that was made of what this model wrote.
    fn writer(&self, model: &str, done: &str) -> String {
        let done = if self.spec.marked { done } else { "" };
        format!("{model}{done}")
    }

    fn entry(
        &self,
        frame: Frame<'_>,
        model: Option<String>,
        group: String,
        meta: Json,
        events: Vec<RecordedEvent>,
        labels: Vec<Label>,
    ) -> Made {
        let transcript = Transcript {
            id: frame.id,
            model: model.unwrap_or_else(|| self.spec.model.clone()),
            profile: None,
            group: Some(group),
            lang: Some(frame.lang.to_owned()),
            meta: match meta {
                Json::Object(map) => map,
                other => Map::from_iter([("made".to_owned(), other)]),
            },
            events,
        };
        let entry = Entry {
            transcript,
            labels: None,
            rest: Map::new(),
            split: (self.spec.test > 0.0).then(|| frame.split.name().to_owned()),
            place: Place::whole("made"),
        };
        Made {
            entry,
            labels,
            rows: Vec::new(),
        }
    }
}

fn finish(reason: &str) -> RecordedEvent {
    RecordedEvent::of(Body::Finish {
        reason: Some(reason.to_owned()),
    })
}

fn in_turn(channels: &[String], at: usize) -> &str {
    channels
        .get(at % channels.len().max(1))
        .map_or("answer", String::as_str)
}

/// Where an onset lies, as tables have it.
fn place(onset: usize) -> &'static str {
    match onset {
        0..2000 => "under-2000",
        2000..5000 => "2000-5000",
        _ => "over-5000",
    }
}

/// A seed for something that has a name.
fn seeded(seed: u64, name: &[&str]) -> u64 {
    let mut hasher = Sha256::new();
    hasher.update(seed.to_le_bytes());
    for part in name {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    let digest = hasher.finalize();
    digest
        .iter()
        .take(8)
        .fold(0, |all, byte| all << 8 | u64::from(*byte))
}
