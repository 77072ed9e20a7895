//! Faults: an intact stream, out of a form or a real transcript, damaged in one known way at a known
//! moment. What was intact is the truth (`meta.gold`); a share is left as it was.
//!
//! Whole streams (times, ends, parallel calls) are made in `streams`.

use deadloop_detect::repair::Fault;
use serde_json::{Map, Value as Json, json};

use super::checks::named;
use super::fields::{Bounds, Fields, SpecError};
use super::label::Label;
use super::spec::{Chunks, Faults, Item, Spec};
use super::stock::{CleanText, Real};
use super::{ATTEMPTS, Frame, Made, Synth, damaged};
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

/// Most chars of a real text that are taken.
const REAL_CHARS: usize = 1200;
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

impl Spec {
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
                .is_none_or(|c| c.range("ms").is_none())
        {
            let expected = "chunks = { by = …, ms = [low, high] }";
            return Err(SpecError::at(table.line, "a stall without times", expected));
        }
        if stream == "calls" && self.tools.is_empty() {
            return Err(SpecError::at(
                table.line,
                "calls without [[tool]]",
                "a [[tool]] that is called",
            ));
        }
        let forms = table.text("forms");
        if let Some(name) = forms {
            named(table, "forms", name, self.forms.iter().map(|f| &f.0))?;
        }
        Ok(Faults {
            kinds,
            stream,
            severity: table.range("severity").unwrap_or(Bounds::new(1, 3)),
            intact: table.number("intact").unwrap_or(0.2),
            forms: forms.map(str::to_owned),
        })
    }
}

/// Whether a fault can befall a stream.
fn fits(fault: Fault, stream: &str) -> bool {
    use Fault::{
        BrokenJson, Case, Confirmation, Crossed, Cut, EarlyClose, Empty, ErrorEvent, LeakedControl,
        MissingField, Misspelt, Nested, NoDone, NumberMismatch, PartialTools, Pseudo, Stall,
        ThinkLate, ThinkMissing, ThinkOpen, ThinkTwice, ToolInThink, Unclosed,
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
        "events" => fault.is_of_events(),
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
        let mut why = "no stream";
        for attempt in 0..2 * ATTEMPTS {
            asked.seed = rng.next_u64();
            // Of some corpora nearly nothing has what is to be damaged: then it is drawn among those that have it.
            let narrow = attempt >= ATTEMPTS;
            let drawn = self
                .drawn((&frame, narrow), faults, &mut rng)
                .and_then(|drawn| {
                    Ok((self.damaged(faults, &asked, &drawn.text, &mut rng)?, drawn))
                });
            match drawn {
                Ok((stream, drawn)) => return Ok(self.faulty(frame, faults, &asked, stream, drawn)),
                Err(reason) => why = reason,
            }
        }
        Err(self.failed(item, &frame.id, why))
    }

    /// An intact stream as a text.
    fn drawn(
        &self,
        (frame, narrow): (&Frame<'_>, bool),
        faults: &Faults,
        rng: &mut Rng,
    ) -> Result<Drawn, Failed> {
        if faults.stream == "calls" {
            return Ok(Drawn::default());
        }
        match &faults.forms {
            Some(name) => self.formed(frame, name, &faults.stream, rng),
            None => self.real((frame, narrow), &faults.stream, rng),
        }
    }

    fn formed(
        &self,
        frame: &Frame<'_>,
        name: &str,
        stream: &str,
        rng: &mut Rng,
    ) -> Result<Drawn, Failed> {
        let file = self.stock.forms.get(name).ok_or("no forms were read")?;
        let fits = |form: &&super::forms::Form| form.class == stream && form.lang == frame.lang;
        let forms: Vec<&super::forms::Form> = file.forms.iter().filter(fits).collect();
        let form = rng
            .pick(&forms)
            .copied()
            .ok_or("no form of this class and language")?;
        let rendered = file.render(form, rng, &[]);
        let text = rendered.map_err(|_| "a form that cannot be rendered")?;
        Ok(Drawn {
            text: text.trim().to_owned(),
            from: format!("form/{}", form.name),
            group: format!("form/{}", form.name),
            model: None,
        })
    }

    /// Of a real transcript; `narrow`: of one that has such a stream.
    fn real(
        &self,
        (frame, narrow): (&Frame<'_>, bool),
        stream: &str,
        rng: &mut Rng,
    ) -> Result<Drawn, Failed> {
        let sources = || frame.item.sources.iter();
        let real =
            |clean: &CleanText| sources().find_map(|at| self.stock.real.get(*at)?.get(&clean.id));
        let mut pool = self.pool(frame);
        if pool.is_empty() {
            return Err("no transcript of this language and split");
        }
        if narrow {
            pool.retain(|clean| real(clean).is_none_or(|real| real.has(stream)));
        }
        let clean = rng
            .pick(&pool)
            .copied()
            .ok_or("no transcript with what is to be damaged")?;
        let text = match real(clean) {
            None if matches!(stream, "text" | "whole" | "events") => short(&clean.text),
            None => return Err("a text file where a transcript is needed"),
            Some(real) => match stream {
                "arguments" => rng.pick(&real.calls).map(|call| call.1.clone()),
                "name" => rng.pick(&real.calls).map(|call| call.0.clone()),
                "think" if !real.has(stream) => None,
                "think" => Some(format!(
                    "<think>{}</think>{}",
                    short(&real.reasoning),
                    short(&real.answer)
                )),
                _ => Some(short(&real.answer)).filter(|text| !text.is_empty()),
            }
            .ok_or("no transcript with what is to be damaged")?,
        };
        Ok(Drawn {
            text,
            from: clean.id.clone(),
            group: clean.group.clone().unwrap_or_else(|| clean.id.clone()),
            model: clean.model.clone(),
        })
    }

    fn damaged(
        &self,
        faults: &Faults,
        asked: &Asked,
        intact: &str,
        rng: &mut Rng,
    ) -> Result<Stream, Failed> {
        match faults.stream.as_str() {
            "calls" => super::streams::calls(&self.spec.tools, asked, rng),
            "whole" => super::streams::whole(asked, intact, rng),
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
        if frame.item.chunks.is_some_and(|chunks| chunks.ms.is_some()) {
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
        let model = drawn.model.map(|model| format!("{model}+damaged"));
        let group = match drawn.group.is_empty() {
            true => frame.id.clone(),
            false => drawn.group,
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

impl Real {
    /// Whether it has a stream of this kind.
    fn has(&self, stream: &str) -> bool {
        match stream {
            "arguments" | "name" => !self.calls.is_empty(),
            "think" => !self.reasoning.is_empty() && !self.answer.is_empty(),
            _ => !self.answer.is_empty(),
        }
    }
}

/// An intact stream and where it is from.
#[derive(Debug, Default)]
struct Drawn {
    text: String,
    from: String,
    group: String,
    model: Option<String>,
}

/// The beginning of a real text, to the end of a line or sentence where there is one.
fn short(text: &str) -> String {
    let cut: String = text.chars().take(REAL_CHARS).collect();
    if cut.len() == text.len() {
        return cut;
    }
    let ends = |(at, c): (usize, char)| {
        matches!(c, '\n' | '.' | '!' | '?' | '。' | '！' | '？').then(|| at + c.len_utf8())
    };
    let end = cut.char_indices().filter_map(ends).next_back();
    cut[..end.unwrap_or(cut.len())].trim_end().to_owned()
}
