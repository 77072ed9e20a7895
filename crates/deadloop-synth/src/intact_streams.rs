//! Intact streams, from a form, a real transcript, or both.

use super::spec::{Chunks, Faults, Form, SpecStreamKind};
use super::stock::{CleanText, RealStream, TimedPiece};
use super::transcript::{DrawFault, DrawResult};
use super::{Synth, TranscriptFrame};
use crate::planted_loops::Rng;

/// The maximum number of chars taken from a real text.
const MAX_REAL_CHARS: usize = 1200;

impl Synth<'_> {
    /// Draws an intact stream.
    pub(super) fn draw_intact(
        &self,
        (frame, pool): (&TranscriptFrame<'_>, &[&CleanText]),
        faults: &Faults,
        rng: &mut Rng,
    ) -> DrawResult<IntactStream> {
        if faults.stream == SpecStreamKind::Calls {
            return Ok(IntactStream::default());
        }
        let Some(forms) = &frame.item.forms else {
            return self.draw_real((frame, pool), faults.stream, rng);
        };
        let rendered_form = self.render_form(frame, forms, faults.stream, rng)?;
        if faults.planted {
            let real = self.draw_real((frame, pool), faults.stream, rng)?;
            insert_actions(real, &rendered_form, rng)
        } else {
            Ok(rendered_form)
        }
    }

    fn render_form(
        &self,
        frame: &TranscriptFrame<'_>,
        name: &str,
        stream: SpecStreamKind,
        rng: &mut Rng,
    ) -> DrawResult<IntactStream> {
        let file = self.stock.forms.get(name).ok_or("no forms were read")?;
        let fits = |form: &&Form| *form.class == stream.name() && form.lang() == frame.lang;
        let forms: Vec<&Form> = file.forms.iter().filter(fits).collect();
        let form = rng.choose(&forms).copied();
        let form = form.ok_or("no form of this class and language")?;
        let rendered = file.render(form, rng, &[]);
        let text = rendered.map_err(|_| "a form that cannot be rendered")?;
        Ok(IntactStream {
            text: text.trim().to_owned(),
            source_id: format!("form/{}", form.name),
            group: format!("form/{}", form.name),
            ..IntactStream::default()
        })
    }

    /// Returns the recording of a clean text. `None` if the text comes from a text file.
    fn find_recording(
        &self,
        frame: &TranscriptFrame<'_>,
        clean: &CleanText,
    ) -> Option<&RealStream> {
        let mut sources = frame.item.sources.iter();
        sources.find_map(|at| self.stock.real.get(*at)?.get(&clean.id))
    }

    /// Returns whether a clean text has a stream of this kind.
    pub(super) fn has_stream(
        &self,
        frame: &TranscriptFrame<'_>,
        clean: &CleanText,
        stream: SpecStreamKind,
    ) -> bool {
        let real = self.find_recording(frame, clean);
        real.is_none_or(|real| real.has_stream_kind(stream))
    }

    /// Draws a stream of a real transcript.
    fn draw_real(
        &self,
        (frame, pool): (&TranscriptFrame<'_>, &[&CleanText]),
        stream: SpecStreamKind,
        rng: &mut Rng,
    ) -> DrawResult<IntactStream> {
        if pool.is_empty() {
            return Err("no transcript of this language and split");
        }
        let clean = rng.choose(pool).copied().ok_or(NO_STREAM)?;
        let real = self.find_recording(frame, clean);
        use SpecStreamKind::{Arguments, Events, Name, Text, Think, Whole};
        let text = match (stream, real) {
            (Text | Whole | Events, None) => Some(truncate_real_text(&clean.text)),
            (_, None) => return Err("a text file where a transcript is needed"),
            (Arguments, Some(real)) => rng.choose(&real.calls).map(|call| call.1.clone()),
            (Name, Some(real)) => rng.choose(&real.calls).map(|call| call.0.clone()),
            (_, Some(real)) if !real.has_stream_kind(stream) => None,
            (Think, Some(real)) => {
                let [thought, answer] =
                    [&real.reasoning, &real.answer].map(|t| truncate_real_text(t));
                Some(format!("<think>{thought}</think>{answer}"))
            }
            (_, Some(real)) => Some(truncate_real_text(&real.answer)),
        };
        let mut drawn = IntactStream {
            text: text.ok_or(NO_STREAM)?,
            source_id: clean.id.clone(),
            group: clean.group.clone().unwrap_or_else(|| clean.id.clone()),
            model: clean.model.clone(),
            ..IntactStream::default()
        };
        let chunks = frame.item.chunks.as_ref();
        if stream == Whole && chunks.is_some_and(Chunks::are_recorded) {
            let real = real.filter(|real| !real.pieces.is_empty());
            let real = real.ok_or("no transcript whose pieces have times")?;
            drawn.pieces.clone_from(&real.pieces);
            // The time of the end is unknown for a text that is cut.
            let is_whole = truncate_real_text(&real.answer).len() == real.answer.len();
            drawn.end_ms = real.over.filter(|_| is_whole);
        }
        Ok(drawn)
    }
}

/// The error if a transcript has no stream of the wanted kind.
const NO_STREAM: DrawFault = "no transcript with what is to be damaged";

impl RealStream {
    /// Returns whether the transcript has a stream of this kind.
    fn has_stream_kind(&self, stream: SpecStreamKind) -> bool {
        match stream {
            SpecStreamKind::Arguments | SpecStreamKind::Name => !self.calls.is_empty(),
            SpecStreamKind::Think => !self.reasoning.is_empty() && !self.answer.is_empty(),
            _ => !self.answer.is_empty(),
        }
    }
}

/// An intact stream with its source.
#[derive(Debug, Default)]
pub(super) struct IntactStream {
    pub(super) text: String,
    pub(super) source_id: String,
    pub(super) group: String,
    pub(super) model: Option<String>,
    /// Recorded pieces, if the item uses them.
    pub(super) pieces: Vec<TimedPiece>,
    /// Time at which the recording ended, in milliseconds.
    pub(super) end_ms: Option<f64>,
}

/// Inserts the actions of a form into a real answer: after the reasoning if present, otherwise between two sentences.
fn insert_actions(
    host: IntactStream,
    form: &IntactStream,
    rng: &mut Rng,
) -> DrawResult<IntactStream> {
    const THOUGHT: &str = "</think>";
    let behind = |text| str::split_once(text, THOUGHT);
    let actions = behind(&form.text).map_or(&*form.text, |(_, answer)| answer);
    let text = match behind(&host.text) {
        Some((thought, answer)) => format!("{thought}{THOUGHT}{actions}\n{answer}"),
        None if host.text.contains("</") => return Err("no text without tags of its own"),
        None => {
            let ends: Vec<usize> = sentence_ends(&host.text).chain([host.text.len()]).collect();
            let at = rng.choose(&ends).copied().unwrap_or_default();
            let (before, after) = host.text.split_at(at);
            format!("{before}\n{actions}\n{after}")
        }
    };
    let source_id = format!("{} and {}", host.source_id, form.source_id);
    Ok(IntactStream {
        text,
        source_id,
        ..host
    })
}

/// Iterates over the byte offsets after lines and sentences.
fn sentence_ends(text: &str) -> impl Iterator<Item = usize> {
    let ends = |(at, c): (usize, char)| {
        matches!(c, '\n' | '.' | '!' | '?' | '。' | '！' | '？').then(|| at + c.len_utf8())
    };
    text.char_indices().filter_map(ends)
}

/// Truncates a real text, at the end of a line or sentence if possible.
fn truncate_real_text(text: &str) -> String {
    let cut: String = text.chars().take(MAX_REAL_CHARS).collect();
    if cut.len() == text.len() {
        return cut;
    }
    let end = sentence_ends(&cut).last();
    cut[..end.unwrap_or(cut.len())].trim_end().to_owned()
}
