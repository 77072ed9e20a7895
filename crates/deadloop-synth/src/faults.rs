//! Faults: intact streams with known damage.
//!
//! The intact stream comes from a form or a real transcript, and its meaning is stored in `meta.gold`. A fraction of the
//! streams remains intact. Faults of whole streams (times, ends, parallel calls) are in `stream_faults`.

use deadloop_detect::Fault;
use serde_json::{Value as Json, json};

use super::intact_streams::IntactStream;
use super::label::PlantedLabel;
use super::spec::{Chunks, Faults, SpecItem, SpecResult, SpecStreamKind};
use super::transcript::{DrawResult, SynthTranscript};
use super::{DAMAGED_SUFFIX, MAX_DRAWS, Synth, TranscriptFrame, stream_faults, text_faults};
use crate::planted_loops::Rng;
use deadloop_corpus::RecordedEvent;

/// Parameters of the fault in one transcript.
#[derive(Clone, Debug)]
pub(super) struct FaultRequest {
    pub(super) fault: Fault,
    pub(super) severity: u8,
    pub(super) is_intact: bool,
    pub(super) seed: u64,
    pub(super) chunks: Option<Chunks>,
}

/// A stream that may be damaged.
#[derive(Debug, Default)]
pub(super) struct FaultyStream {
    pub(super) events: Vec<RecordedEvent>,
    pub(super) channel: &'static str,
    /// Position of the damage. `None` if the stream is intact.
    pub(super) onset: Option<usize>,
    /// Meaning of the intact stream, for `meta.gold`.
    pub(super) gold: Json,
    /// Length of the pause in an intact stream, in milliseconds.
    pub(super) pause_ms: Option<f64>,
}

impl<'a> Synth<'a> {
    /// Makes a transcript of an item of kind `fault`: a stream that is damaged, unless it remains intact.
    pub(super) fn make_fault(
        &self,
        item: &'a SpecItem,
        faults: &Faults,
        nth: usize,
    ) -> SpecResult<SynthTranscript> {
        let (mut rng, frame) = self.start_frame(item, nth);
        let turn = nth / item.langs.len();
        let degree = turn / faults.kinds.len() % (faults.severity.high - faults.severity.low + 1);
        let severity = faults.severity.low + degree;
        let mut request = FaultRequest {
            fault: faults.kinds[turn % faults.kinds.len()],
            severity: u8::try_from(severity).unwrap_or(3),
            is_intact: rng.chance(faults.intact),
            seed: 0,
            chunks: item.chunks.clone(),
        };
        let mut pool = self.find_texts(&frame);
        let draw = |attempt| {
            request.seed = rng.next_u64();
            if attempt == MAX_DRAWS {
                // In some corpora, few texts can be damaged in this way, so all other texts are dropped.
                pool.retain(|clean| self.has_stream(&frame, clean, faults.stream));
            }
            let drawn = self.draw_intact((&frame, &pool), faults, &mut rng)?;
            Ok((
                self.damage_stream(faults, &request, &drawn, &mut rng)?,
                drawn,
            ))
        };
        let (stream, drawn) = self.draw_with_retries((item, &frame.id), 2 * MAX_DRAWS, draw)?;
        Ok(self.finish_fault(frame, faults, &request, stream, drawn))
    }

    fn damage_stream(
        &self,
        faults: &Faults,
        request: &FaultRequest,
        drawn: &IntactStream,
        rng: &mut Rng,
    ) -> DrawResult<FaultyStream> {
        let intact = drawn.text.as_str();
        match faults.stream {
            SpecStreamKind::Calls => stream_faults::damage_calls(self.spec.tools(), request, rng),
            SpecStreamKind::Whole => stream_faults::damage_whole_stream(request, drawn, rng),
            SpecStreamKind::Events => text_faults::damage_delivery(request, intact, rng),
            SpecStreamKind::Arguments => text_faults::damage_arguments(request, intact),
            SpecStreamKind::Name => text_faults::damage_name(request, intact),
            stream => text_faults::damage_answer(stream, request, intact, rng),
        }
    }

    fn finish_fault(
        &self,
        frame: TranscriptFrame<'_>,
        faults: &Faults,
        request: &FaultRequest,
        stream: FaultyStream,
        drawn: IntactStream,
    ) -> SynthTranscript {
        let kind = request.fault.name();
        let is_real = drawn.model.is_some();
        let mut meta = json!({
            "source": if is_real { "damaged" } else { "template" },
            "item": frame.item.name.as_str(),
            "stream": faults.stream.name(),
            "made": {"of": drawn.source_id},
        });
        if frame.item.chunks.as_ref().is_some_and(Chunks::make_times) {
            meta["times"] = "made".into();
        }
        let label = match stream.onset {
            None => PlantedLabel::clean(stream.channel),
            Some(onset) => PlantedLabel {
                class: "fault",
                kind,
                channel: stream.channel.to_owned(),
                onset: Some(onset),
                by: "construction",
                ..PlantedLabel::default()
            },
        };
        let tag = stream.onset.map_or("intact", |_| kind);
        meta["tag"] = format!("fault-{tag}").into();
        if stream.onset.is_some() {
            meta["fault"] = kind.into();
            meta["severity"] = request.severity.into();
        }
        meta["gold"] = stream.gold;
        if let Some(pause) = stream.pause_ms {
            meta["pause_ms"] = pause.into();
        }
        let model = drawn
            .model
            .map(|model| self.derived_model_name(&model, DAMAGED_SUFFIX));
        let group = Some(drawn.group).filter(|group| !group.is_empty());
        let group = group.unwrap_or_else(|| frame.id.clone());
        self.create_transcript(frame, model, group, meta, stream.events, vec![label])
    }
}
