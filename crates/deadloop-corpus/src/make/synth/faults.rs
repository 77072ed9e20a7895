//! Faults: an intact stream, out of a form or a real transcript, damaged in one known way at a known
//! moment. What was intact is the truth (`meta.gold`); a share is left as it was.
//!
//! Whole streams (times, ends, parallel calls) are made in `streams`.

use deadloop_detect::Fault;
use serde_json::{Map, Value as Json, json};

use super::checks::named;
use super::drawn::Drawn;
use super::fields::{Bounds, Fields, SpecError};
use super::label::Label;
use super::spec::{Chunks, CorpusSpec, Faults, Item};
use super::{ATTEMPTS, DAMAGED, Frame, Made, Synth, damaged};
use crate::RecordedEvent;
use crate::make::plant::Rng;

/// What may be damaged.
pub(super) const STREAMS: &[&str] = &[
    "tags",
    "think",
    "text",
    "arguments",
    "name",
    "events",
    "whole",
    "calls",
];

/// Why nothing came of a draw.
pub(super) type Failed = &'static str;

/// What is wanted of one transcript.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) fault: Fault,
    pub(super) severity: u8,
    pub(super) is_intact: bool,
    pub(super) seed: u64,
    pub(super) chunks: Option<Chunks>,
}

/// A stream that was made.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) events: Vec<RecordedEvent>,
    pub(super) channel: &'static str,
    /// None: it is intact.
    pub(super) onset: Option<usize>,
    pub(super) gold: Json,
    pub(super) more: Map<String, Json>,
}

impl CorpusSpec {
    /// Reads an item of faults; refuses what no stream has.
    pub(super) fn faults(&self, table: &Fields) -> Result<Faults, SpecError> {
        let kinds: Vec<Fault> = table
            .texts("fault")
            .iter()
            .filter_map(|name| Fault::find(name))
            .collect();
        let stream = table.string("stream");
        for (key, missing) in [("fault", kinds.is_empty()), ("stream", stream.is_empty())] {
            if missing {
                let what = format!("kind fault without {key}");
                return Err(SpecError::at(table.line_of("kind"), what, key));
            }
        }
        if let Some(kind) = kinds.iter().find(|kind| !fits(**kind, &stream)) {
            let known: Vec<&str> = Fault::ALL
                .into_iter()
                .filter(|kind| fits(*kind, &stream))
                .map(Fault::name)
                .collect();
            let what = format!("fault {kind} of a stream of {stream}");
            let expected = format!("one of {}", known.join(", "));
            return Err(SpecError::at(table.line_of("fault"), what, expected));
        }
        if kinds.contains(&Fault::Stall)
            && table
                .table("chunks")
                .is_none_or(|c| c.range("ms").is_none() && c.text("by") != Some("recorded"))
        {
            let expected = "chunks = { by = …, ms = [low, high] }, or { by = \"recorded\" }";
            return Err(SpecError::at(table.line, "a stall without times", expected));
        }
        let forms = table.text("forms");
        let has_source = !table.texts("source").is_empty();
        if stream == "calls" && self.tools.is_empty() && !has_source {
            return Err(SpecError::at(
                table.line,
                "calls without [[tool]]",
                "a [[tool]] that is called, or the source of runs",
            ));
        }
        if let Some(name) = forms {
            named(table, "forms", name, self.forms.iter().map(|f| &f.0))?;
        }
        let planted = has_source && (forms.is_some() || stream == "calls");
        if forms.is_some() && planted && !matches!(stream.as_str(), "tags" | "think") {
            let what = format!("forms in the texts of a source, of a stream of {stream}");
            let expected = "stream tags or think, or source without forms";
            return Err(SpecError::at(table.line_of("source"), what, expected));
        }
        Ok(Faults {
            kinds,
            stream,
            severity: table.range("severity").unwrap_or(Bounds::new(1, 3)),
            intact: table.number("intact").unwrap_or(0.2),
            forms: forms.map(str::to_owned),
            planted,
        })
    }
}

/// Whether a fault can befall a stream.
fn fits(fault: Fault, stream: &str) -> bool {
    use Fault::{
        BrokenJson, Case, Confirmation, Crossed, Cut, EarlyClose, Empty, ErrorEvent, LeakedControl,
        MissingField, Misspelt, Nested, NoDone, NumberMismatch, PartialTools, Pseudo,
        ReplayDoubled, ReplayLost, ReplayOrder, Stall, ThinkLate, ThinkMissing, ThinkOpen,
        ThinkTwice, ToolInThink, Unclosed,
    };
    match stream {
        "tags" => matches!(
            fault,
            Unclosed
                | EarlyClose
                | Nested
                | Crossed
                | Case
                | Misspelt
                | NumberMismatch
                | MissingField
                | Empty
                | LeakedControl
                | Cut
        ),
        "think" => matches!(
            fault,
            ThinkOpen | ThinkMissing | ThinkTwice | ThinkLate | ToolInThink | LeakedControl | Cut
        ),
        "text" => matches!(fault, Pseudo | Confirmation | LeakedControl | Cut),
        "arguments" => matches!(fault, BrokenJson | LeakedControl | Cut),
        "name" => matches!(fault, Case | Misspelt | LeakedControl),
        "events" => matches!(fault, ReplayLost | ReplayDoubled | ReplayOrder),
        "whole" => matches!(fault, Cut | NoDone | Stall | ErrorEvent),
        _ => fault == PartialTools,
    }
}

impl<'a> Synth<'a> {
    pub(super) fn fault(
        &self,
        item: &'a Item,
        faults: &Faults,
        at: usize,
    ) -> Result<Made, SpecError> {
        let (mut rng, frame) = self.frame(item, at);
        let turn = at / item.langs.len();
        let degree = turn / faults.kinds.len() % (faults.severity.high - faults.severity.low + 1);
        let severity = faults.severity.low + degree;
        let mut asked = Asked {
            fault: faults.kinds[turn % faults.kinds.len()],
            severity: u8::try_from(severity).unwrap_or(3),
            is_intact: rng.chance(faults.intact),
            seed: 0,
            chunks: item.chunks,
        };
        let mut pool = self.pool(&frame);
        let mut why = "no stream";
        for attempt in 0..2 * ATTEMPTS {
            asked.seed = rng.next_u64();
            if attempt == ATTEMPTS {
                // Of some corpora nearly nothing has what is to be damaged: then it is drawn among those that have it.
                pool.retain(|clean| self.has(&frame, clean, &faults.stream));
            }
            let made = if faults.is_of_runs() {
                self.partial(&frame, &asked, &mut rng)
            } else {
                self.drawn((&frame, &pool), faults, &mut rng)
                    .and_then(|drawn| Ok((self.damaged(faults, &asked, &drawn, &mut rng)?, drawn)))
            };
            match made {
                Ok((stream, drawn)) => return Ok(self.faulty(frame, faults, &asked, stream, drawn)),
                Err(reason) => why = reason,
            }
        }
        Err(self.failed(item, &frame.id, why))
    }

    fn damaged(
        &self,
        faults: &Faults,
        asked: &Asked,
        drawn: &Drawn,
        rng: &mut Rng,
    ) -> Result<Stream, Failed> {
        let intact = drawn.text.as_str();
        match faults.stream.as_str() {
            "calls" => super::streams::calls(&self.spec.tools, asked, rng),
            "whole" => super::streams::whole(asked, drawn, rng),
            "events" => damaged::events(asked, intact, rng),
            "arguments" => damaged::arguments(asked, intact),
            "name" => damaged::name(asked, intact),
            stream => damaged::text(stream, asked, intact, rng),
        }
    }

    fn faulty(
        &self,
        frame: Frame<'_>,
        faults: &Faults,
        asked: &Asked,
        stream: Stream,
        drawn: Drawn,
    ) -> Made {
        let kind = asked.fault.name();
        let mut meta = Map::new();
        let source = if drawn.model.is_some() {
            "damaged"
        } else {
            "template"
        };
        meta.insert("source".into(), source.into());
        meta.insert("item".into(), frame.item.name.clone().into());
        meta.insert("stream".into(), faults.stream.clone().into());
        meta.insert("made".into(), json!({"of": drawn.from}));
        if frame.item.chunks.is_some_and(Chunks::makes_times) {
            meta.insert("times".into(), "made".into());
        }
        let label = match stream.onset {
            None => Label::clean(stream.channel),
            Some(onset) => Label {
                class: "fault",
                kind,
                channel: stream.channel.to_owned(),
                onset: Some(onset),
                by: "construction",
                ..Label::default()
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
