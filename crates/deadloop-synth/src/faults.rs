//! Faults: intact streams, damaged in a known way at a known place.
//!
//! The intact stream comes from a form or a real transcript, and its meaning is the truth (`meta.gold`). A share of
//! the streams stays intact. Whole streams (times, ends, parallel calls) are made in `stream_faults`.

use deadloop_detect::Fault;
use serde_json::{Map, Value as Json, json};

use super::intact_streams::IntactStream;
use super::label::PlantedLabel;
use super::spec::{Chunks, Faults, SpecError, SpecItem, SpecStreamKind};
use super::transcript::{NoDraw, SynthTranscript};
use super::{ATTEMPTS, DAMAGED, Synth, TranscriptFrame, text_faults};
use crate::planted_loops::Rng;
use deadloop_corpus::RecordedEvent;

/// The requirements for one transcript.
#[derive(Clone, Debug)]
pub(super) struct FaultRequest {
    pub(super) fault: Fault,
    pub(super) severity: u8,
    pub(super) is_intact: bool,
    pub(super) seed: u64,
    pub(super) chunks: Option<Chunks>,
}

/// A stream that was made, with its damage.
#[derive(Debug)]
pub(super) struct FaultyStream {
    pub(super) events: Vec<RecordedEvent>,
    pub(super) channel: &'static str,
    /// The position of the damage. `None` if the stream is intact.
    pub(super) onset: Option<usize>,
    pub(super) gold: Json,
    pub(super) more: Map<String, Json>,
}

impl<'a> Synth<'a> {
    pub(super) fn fault(
        &self,
        item: &'a SpecItem,
        faults: &Faults,
        at: usize,
    ) -> Result<SynthTranscript, SpecError> {
        let (mut rng, frame) = self.frame(item, at);
        let turn = at / item.langs.len();
        let degree = turn / faults.kinds.len() % (faults.severity.high - faults.severity.low + 1);
        let severity = faults.severity.low + degree;
        let mut asked = FaultRequest {
            fault: faults.kinds[turn % faults.kinds.len()],
            severity: u8::try_from(severity).unwrap_or(3),
            is_intact: rng.chance(faults.intact),
            seed: 0,
            chunks: item.chunks.clone(),
        };
        let mut pool = self.pool(&frame);
        let draw = |attempt| {
            asked.seed = rng.next_u64();
            if attempt == ATTEMPTS {
                // In some corpora hardly any text can be damaged in this way. Then only those that can are drawn.
                pool.retain(|clean| self.has(&frame, clean, faults.stream));
            }
            let drawn = self.draw((&frame, &pool), faults, &mut rng)?;
            Ok((self.damage_stream(faults, &asked, &drawn, &mut rng)?, drawn))
        };
        let (stream, drawn) = self.try_draw((item, &frame.id), 2 * ATTEMPTS, draw)?;
        Ok(self.faulty(frame, faults, &asked, stream, drawn))
    }

    fn damage_stream(
        &self,
        faults: &Faults,
        asked: &FaultRequest,
        drawn: &IntactStream,
        rng: &mut Rng,
    ) -> Result<FaultyStream, NoDraw> {
        let intact = drawn.text.as_str();
        match faults.stream {
            SpecStreamKind::Calls => super::stream_faults::calls(self.spec.tools(), asked, rng),
            SpecStreamKind::Whole => super::stream_faults::make_whole_stream(asked, drawn, rng),
            SpecStreamKind::Events => text_faults::events(asked, intact, rng),
            SpecStreamKind::Arguments => text_faults::arguments(asked, intact),
            SpecStreamKind::Name => text_faults::name(asked, intact),
            stream => text_faults::text(stream, asked, intact, rng),
        }
    }

    fn faulty(
        &self,
        frame: TranscriptFrame<'_>,
        faults: &Faults,
        asked: &FaultRequest,
        stream: FaultyStream,
        drawn: IntactStream,
    ) -> SynthTranscript {
        let kind = asked.fault.name();
        let mut meta = Map::new();
        let source = if drawn.model.is_some() {
            "damaged"
        } else {
            "template"
        };
        meta.insert("source".into(), source.into());
        meta.insert("item".into(), frame.item.name.as_str().into());
        meta.insert("stream".into(), faults.stream.name().into());
        meta.insert("made".into(), json!({"of": drawn.from}));
        if frame.item.chunks.as_ref().is_some_and(Chunks::make_times) {
            meta.insert("times".into(), "made".into());
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
        let tag = if stream.onset.is_some() {
            kind
        } else {
            "intact"
        };
        meta.insert("tag".into(), format!("fault-{tag}").into());
        if stream.onset.is_some() {
            meta.insert("fault".into(), kind.into());
            meta.insert("severity".into(), asked.severity.into());
        }
        meta.insert("gold".into(), stream.gold);
        meta.extend(stream.more);
        let model = drawn.model.map(|model| self.writer(&model, DAMAGED));
        let group = if drawn.group.is_empty() {
            frame.id.clone()
        } else {
            drawn.group
        };
        self.entry(
            frame,
            model,
            group,
            Json::Object(meta),
            stream.events,
            vec![label],
        )
    }
}
