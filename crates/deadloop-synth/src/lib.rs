//! Synthetic corpora: transcripts with known loops, generated from a spec.
//!
//! A [`CorpusSpec`] describes the corpus, a [`Stock`] holds the clean texts and forms, and [`Synth`] makes the
//! transcripts. Each transcript has a separate seed, so that it depends neither on the order, nor on the number of
//! threads, nor on other items of the spec.
//!
//! The labels of inserted loops are exact. `start` is the first char of the first copy, `onset` is one period later, and
//! `end` is the position after the loop. Every exact loop is verified: it repeats from `start` to `end`, its period is
//! minimal, and it does not begin at an earlier letter.
//!
//! | to find | look in |
//! |---|---|
//! | the keys of a spec, the kinds of items | [`spec`] |
//! | the clean texts, and the templates of texts | [`stock`]; [`forms`] |
//! | a synthetic transcript and its labels | [`transcript`], [`label`] |
//! | loops and harmless repetition in runs of agents | [`runs`] |
//! | a loop inserted into a text | `text_loops`, `copies` |
//! | faults of texts and events | [`damage`] |
//! | labelled recordings copied into a corpus | [`recordings`] |

#![deny(clippy::print_stderr, clippy::print_stdout)]

mod card;
mod chunks;
mod copies;
pub mod damage;
mod doubt;
mod drift;
mod faults;
pub mod forms;
mod gold;
mod healthy_text;
mod intact_streams;
pub mod label;
mod letters;
mod planted_loops;
pub mod recordings;
pub mod runs;
pub mod spec;
mod spec_files;
pub mod stock;
mod stream_faults;
mod text_faults;
mod text_loops;
mod tools;
pub mod transcript;
mod units;

use serde_json::{Map, Value as Json, json};

use crate::planted_loops::Rng;
use deadloop_corpus::{Body, Entry, Place, RecordedEvent, Transcript};
use deadloop_detect::Kind;

use copies::LoopRequest;
use label::PlantedLabel;
use spec::{Chunks, CorpusSpec, Form, ItemMaker, SpecError, SpecItem, SpecResult};
use stock::{CleanText, Split, SplitAssignment, Stock, texts_of_split};
use text_loops::LabelledText;
use transcript::{DrawResult, SynthTranscript, derive_seed};

/// Suffix of the model's name for a text with an inserted loop.
const PLANTED_SUFFIX: &str = "+planted";
/// Suffix of the model's name for a damaged text.
const DAMAGED_SUFFIX: &str = "+damaged";

/// The maximum number of attempts for a transcript.
const MAX_DRAWS: usize = 500;

/// A transcript to make, by the numbers of its item, transcript and form.
#[derive(Clone, Copy, Debug)]
pub struct SynthJob {
    item: usize,
    nth: usize,
    form: usize,
}

/// A generator of the transcripts of a spec.
#[derive(Debug)]
pub struct Synth<'a> {
    spec: &'a CorpusSpec,
    stock: &'a Stock,
}

/// The item, id, language and split of a transcript.
struct TranscriptFrame<'a> {
    item: &'a SpecItem,
    id: String,
    lang: &'a str,
    split: Split,
}

impl<'a> Synth<'a> {
    /// Creates a generator of the transcripts of `spec`, with the texts of `stock`.
    pub fn new(spec: &'a CorpusSpec, stock: &'a Stock) -> Self {
        Self { spec, stock }
    }

    /// Lists all transcripts of the spec, in order.
    pub fn jobs(&self) -> Vec<SynthJob> {
        let mut jobs = Vec::new();
        for (item, wanted) in self.spec.items.iter().enumerate() {
            let forms = self.forms_of(wanted);
            if makes_texts_of_forms(wanted) {
                for (form_index, form) in forms {
                    let count = form.text_count(wanted.count());
                    let jobs_of = |nth| SynthJob {
                        item,
                        nth,
                        form: form_index,
                    };
                    jobs.extend((0..count).map(jobs_of));
                }
            } else {
                let count = match wanted.kind.maker {
                    ItemMaker::Recorded => self.recordings(wanted).len().min(wanted.count()),
                    _ => wanted.count(),
                };
                jobs.extend((0..count).map(|nth| SynthJob { item, nth, form: 0 }));
            }
        }
        jobs
    }

    /// Returns the name of the spec item that a job belongs to.
    pub fn item(&self, job: &SynthJob) -> &'a str {
        self.spec.items.get(job.item).map_or("", |item| &item.name)
    }

    /// Returns the name of a transcript's file, without the extension.
    pub fn file(&self, job: &SynthJob) -> &'a str {
        self.spec.items.get(job.item).map_or("", SpecItem::file)
    }

    /// Makes the transcript of a job.
    ///
    /// # Errors
    /// Returns the reason of the last attempt if no attempt satisfies the item.
    pub fn make(&self, job: &SynthJob) -> SpecResult<SynthTranscript> {
        let item = &self.spec.items[job.item];
        match (item.kind.maker, &item.forms, &item.faults) {
            (ItemMaker::Text(kind), ..) => self.make_text_loop(item, kind, job.nth),
            (ItemMaker::Clean, Some(forms), _) => self.make_negative(item, forms, job),
            (ItemMaker::Clean, None, _) => self.make_clean(item, job.nth),
            (ItemMaker::Recorded, ..) => self.copy_recording(item, job.nth),
            (_, _, Some(faults)) => self.make_fault(item, faults, job.nth),
            (_, _, None) => self.make_run(item, job.nth),
        }
    }

    /// Returns the forms of an item in its languages, with their indices.
    fn forms_of(&self, item: &SpecItem) -> Vec<(usize, &'a Form)> {
        let forms = item.forms.as_ref().filter(|_| makes_texts_of_forms(item));
        let file = forms.and_then(|forms| self.stock.forms.get(forms.as_str()));
        let all = file.into_iter().flat_map(|file| &file.forms).enumerate();
        all.filter(|(_, form)| item.accepts(form.lang())).collect()
    }

    /// Creates the random number generator of a transcript, and draws its split.
    fn start_rng(&self, item: &SpecItem, nth: usize) -> (Rng, Split) {
        let name = ["item", &item.name, &nth.to_string()];
        let mut rng = Rng::new(derive_seed(self.spec.seed, &name));
        let is_test = rng.chance(self.spec.test_fraction());
        (rng, if is_test { Split::Test } else { Split::Dev })
    }

    /// Creates the random number generator and the frame of a transcript.
    fn start_frame(&self, item: &'a SpecItem, nth: usize) -> (Rng, TranscriptFrame<'a>) {
        let (rng, split) = self.start_rng(item, nth);
        let frame = TranscriptFrame {
            item,
            id: item.id(nth),
            lang: &item.langs[nth % item.langs.len()],
            split,
        };
        (rng, frame)
    }

    /// Repeats a random draw until it succeeds, at most `attempts` times.
    fn draw_with_retries<T>(
        &self,
        (item, id): (&SpecItem, &str),
        attempts: usize,
        mut draw: impl FnMut(usize) -> DrawResult<T>,
    ) -> SpecResult<T> {
        let mut why = "no draw";
        for attempt in 0..attempts {
            match draw(attempt) {
                Ok(drawn) => return Ok(drawn),
                Err(reason) => why = reason,
            }
        }
        Err(self.draw_failure(item, id, why))
    }

    /// Returns the clean texts from which a transcript may be made: those of the item's sources in its language and
    /// split.
    fn find_texts(&self, frame: &TranscriptFrame<'_>) -> Vec<&'a CleanText> {
        let of_source = |nth: &usize| {
            let source = self.spec.sources.get(*nth)?;
            let texts = self.stock.texts.get(*nth)?;
            let (lang, split) = (frame.lang, frame.split);
            Some(texts_of_split(self.spec, texts, &source.name, lang, split))
        };
        let sources = frame.item.sources.iter();
        sources.filter_map(of_source).flatten().collect()
    }

    fn draw_failure(&self, item: &SpecItem, id: &str, why: &str) -> SpecError {
        let what = format!("{id} cannot be made: {why}");
        let expected = "wider ranges, or more clean text in its source, language and split";
        SpecError::new(item.line, what, expected)
    }

    fn make_text_loop(
        &self,
        item: &'a SpecItem,
        kind: Kind,
        nth: usize,
    ) -> SpecResult<SynthTranscript> {
        let (mut rng, frame) = self.start_frame(item, nth);
        let turn = nth / item.langs.len();
        let pool = self.find_texts(&frame);
        if pool.is_empty() {
            let why = "no clean text of its language in its sources";
            return Err(self.draw_failure(item, &frame.id, why));
        }
        let unit = item.unit.as_ref();
        let unit = unit.and_then(|name| self.spec.find_unit(name, frame.lang));
        let units = unit.map_or(Vec::new(), |unit| {
            let texts = unit.texts.iter().map(|text| text.as_str());
            let name = format!("unit/{}/{}", unit.name, unit.lang);
            let splits = SplitAssignment::new(self.spec, &name, texts);
            splits.indices_of(unit.texts.len(), frame.split)
        });
        let wanted = LoopRequest {
            spec: self.spec,
            kind,
            item,
            onset: item.onset(turn),
            lang: frame.lang,
            channel: item.channel(turn / item.repeats.onsets.len(), "answer"),
            pool: &pool,
            units: &units,
        };
        let draw = |_| text_loops::draw_loop(&wanted, &mut rng);
        let text = self.draw_with_retries((item, &frame.id), MAX_DRAWS, draw)?;
        Ok(self.finish_text_loop(frame, (kind, wanted.channel), text, &mut rng))
    }

    fn finish_text_loop(
        &self,
        frame: TranscriptFrame<'_>,
        (kind, channel): (Kind, &str),
        made: LabelledText,
        rng: &mut Rng,
    ) -> SynthTranscript {
        let item = frame.item;
        let mut meta = json!({
            "source": "planted",
            "tag": format!("{}-{kind}", item.repeats.class.name()),
            "item": item.name.as_str(),
            "onset": onset_bucket(made.label.onset.unwrap_or_default()),
            "made": {"unit": made.unit, "clean_text_of": made.parts},
        });
        if item.chunks.as_ref().is_some_and(Chunks::make_times) {
            meta["times"] = json!("made");
        }
        let mut events = chunks::cut_into_events(&made.text, channel, item.chunks.as_ref(), rng);
        events.push(loop_end_event(item));
        let written = made.model.filter(|model| *model != self.spec.model_name());
        let model = written.map(|model| self.derived_model_name(&model, PLANTED_SUFFIX));
        self.create_transcript(frame, model, made.group, meta, events, vec![made.label])
    }

    /// Returns the model name for a text derived from a text of `model`.
    fn derived_model_name(&self, model: &str, suffix: &str) -> String {
        let suffix = if self.spec.adds_suffix() { suffix } else { "" };
        format!("{model}{suffix}")
    }

    /// Creates a transcript from its parts.
    fn create_transcript(
        &self,
        frame: TranscriptFrame<'_>,
        model: Option<String>,
        group: String,
        meta: Json,
        events: Vec<RecordedEvent>,
        labels: Vec<PlantedLabel>,
    ) -> SynthTranscript {
        let transcript = Transcript {
            id: frame.id,
            model: model.unwrap_or_else(|| self.spec.model_name().to_owned()),
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
            split: (self.spec.test_fraction() > 0.0).then(|| frame.split.name().to_owned()),
            place: Place::whole("made"),
        };
        SynthTranscript {
            entry,
            labels,
            rows: Vec::new(),
        }
    }
}

/// Creates the end event of a stream.
fn finish_event(reason: &str) -> RecordedEvent {
    RecordedEvent::new(Body::Finish {
        reason: Some(reason.to_owned()),
    })
}

/// Creates the end event of a text with a loop.
fn loop_end_event(item: &SpecItem) -> RecordedEvent {
    let goes_on = item.repeats.after.high > 0;
    finish_event(if goes_on { "stop" } else { "length" })
}

/// Returns whether the item makes several transcripts of each form.
fn makes_texts_of_forms(item: &SpecItem) -> bool {
    matches!(item.kind.maker, ItemMaker::Clean) && item.forms.is_some()
}

/// Returns the range of an onset, for tables.
fn onset_bucket(onset: usize) -> &'static str {
    match onset {
        0..2000 => "under-2000",
        2000..5000 => "2000-5000",
        _ => "over-5000",
    }
}
