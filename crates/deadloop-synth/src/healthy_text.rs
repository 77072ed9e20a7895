//! Healthy text: hard negatives from forms, and clean text.

use serde_json::json;

use super::doubt::{join_statements, split_statements};
use super::label::PlantedLabel;
use super::spec::{CountRange, SpecItem, SpecResult, range_or};
use super::stock::{CleanReader, SplitAssignment};
use super::transcript::{SynthTranscript, derive_seed};
use super::{PLANTED_SUFFIX, Synth, SynthJob, TranscriptFrame, chunks, finish_event};
use crate::planted_loops::Rng;
use deadloop_corpus::{Body, RecordedEvent};

impl<'a> Synth<'a> {
    /// Makes a hard negative, a healthy text that looks like a loop, from a form.
    pub(super) fn make_negative(
        &self,
        item: &'a SpecItem,
        forms: &str,
        job: &SynthJob,
    ) -> SpecResult<SynthTranscript> {
        let missing = || self.draw_failure(item, &item.name, "no forms were read");
        let file = self.stock.forms.get(forms).ok_or_else(missing)?;
        let form = file.forms.get(job.form).ok_or_else(missing)?;
        let names = file.forms.iter().map(|form| form.name.as_str());
        let split = SplitAssignment::new(self.spec, forms, names).split_of(job.form);
        let id = format!("{}/{}/{}", item.name, form.name, job.nth);
        let mut rng = Rng::new(derive_seed(self.spec.seed, &["item", &id]));
        let frame = TranscriptFrame {
            item,
            id,
            lang: form.lang(),
            split,
        };
        let pool = self.find_texts(&frame);
        let mut prose: Vec<String> = pool.iter().map(|text| text.text.clone()).collect();
        rng.shuffle(&mut prose);
        let around = range_or(item.around, 1, 3);
        let mut paragraphs = |of: CountRange, rng: &mut Rng| {
            let is_without = form.alone == Some(true) || of.high == 0;
            let some = if is_without { 0 } else { of.draw(rng) };
            prose.split_off(prose.len().saturating_sub(some))
        };
        let mut parts = paragraphs(around, &mut rng);
        let after = paragraphs(around, &mut rng);
        let aside = paragraphs(range_or(item.aside, 0, 0), &mut rng).join("\n\n");
        let block = file.render(form, &mut rng, &prose);
        let block = block.map_err(|why| self.draw_failure(item, &frame.id, &why))?;
        parts.push(block.trim_matches('\n').to_owned());
        parts.extend(after);
        let channel = item.channel(job.nth, form.channel());
        let mut events = chunks::cut_into_events(&parts.join("\n\n"), channel, None, &mut rng);
        match channel {
            _ if aside.is_empty() => {}
            "answer" => events.insert(0, RecordedEvent::new(Body::Reasoning(aside))),
            _ => events.push(RecordedEvent::new(Body::Answer(aside))),
        }
        events.push(finish_event("stop"));
        let meta = json!({"source": "hard-negative", "tag": form.class.as_str(), "item": item.name.as_str(), "form": form.name.as_str()});
        let (group, label) = (format!("form/{}", form.name), PlantedLabel::clean(channel));
        Ok(self.create_transcript(frame, None, group, meta, events, vec![label]))
    }

    /// Makes the transcript of an item that is clean text.
    pub(super) fn make_clean(&self, item: &'a SpecItem, nth: usize) -> SpecResult<SynthTranscript> {
        let (mut rng, frame) = self.start_frame(item, nth);
        let channel = item.channel(nth / item.langs.len(), "answer");
        let pool = self.find_texts(&frame);
        let chars = range_or(item.chars, 1000, 6000);
        let wanted = chars.draw(&mut rng);
        let short = || self.draw_failure(item, &frame.id, "too little clean text");
        let mut clean = CleanReader::draw_texts(&pool, wanted, &mut rng);
        let taken = clean.take_piece(chars.low, wanted).ok_or_else(short)?;
        let mut text: String = taken.iter().collect();
        if item.glue.is_some() {
            let doubt = self.spec.doubt_phrases(item.glue.as_ref(), frame.lang);
            text = join_statements(&split_statements(&text), doubt, 1.0, &mut rng);
        }
        let first = clean.parts.first().ok_or_else(short)?;
        let ids: Vec<&str> = clean.parts.iter().map(|part| part.id.as_str()).collect();
        let meta = json!({"source": "clean", "tag": "clean", "item": item.name.as_str(), "made": {"clean_text_of": ids}});
        let mut events = chunks::cut_into_events(&text, channel, item.chunks.as_ref(), &mut rng);
        events.push(finish_event("stop"));
        let group = first.group.clone().unwrap_or_else(|| first.id.clone());
        let model = first.model.as_ref();
        let model = model.map(|model| self.derived_model_name(model, PLANTED_SUFFIX));
        let labels = vec![PlantedLabel::clean(channel)];
        Ok(self.create_transcript(frame, model, group, meta, events, labels))
    }
}
