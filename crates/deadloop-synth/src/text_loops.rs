//! Texts with a loop between clean texts.

use super::copies::{CopyMaker, LoopRequest, collect_words};
use super::drift::DriftWords;
use super::label::{PlantedLabel, RepeatSpan};
use super::spec::CountRange;
use super::stock::CleanReader;
use super::transcript::{DrawFault, DrawResult};
use crate::planted_loops::Rng;
use deadloop_detect::Kind;

/// A text with its label.
pub(super) struct LabelledText {
    pub(super) text: String,
    pub(super) label: PlantedLabel,
    pub(super) model: Option<String>,
    /// Ids of its clean texts.
    pub(super) parts: Vec<String>,
    /// Name of the repeated unit, or id of the text from which it was cut.
    pub(super) unit: String,
    /// Group of the first clean text.
    ///
    /// If that text has no group, this is the name of the spec's unit, or else the id of the text.
    pub(super) group: String,
}

const TOO_SHORT: DrawFault = "too little clean text for the wanted onset";

/// Draws a text with a loop.
pub(super) fn draw_loop(request: &LoopRequest<'_>, rng: &mut Rng) -> DrawResult<LabelledText> {
    let repeats = &request.item.repeats;
    let after = repeats.after.draw(rng);
    let mut clean = CleanReader::draw_texts(request.pool, request.onset.high + after, rng);
    let first = *clean.parts.first().ok_or(TOO_SHORT)?;
    let vocabulary = collect_words(&clean);
    let drift = request.item.drift.as_ref();
    let glue = drift.and_then(|drift| drift.glue.as_ref());
    let maker = CopyMaker {
        request,
        texts: &clean.others,
        drift_words: DriftWords {
            others: &vocabulary,
            paraphrase: request.spec.paraphrase_groups(),
            doubt: request.spec.doubt_phrases(glue, request.lang),
        },
    };
    let unit = maker.draw_unit(rng)?;
    // Two unused random numbers keep committed corpora unchanged.
    if drift.is_some() {
        rng.next_u64();
    }
    let body = maker.draw_copies(&unit, rng)?;
    rng.next_u64();
    let period = unit.first.len();
    let (chars, planted) = assemble_text(request, &mut clean, (period, &body, after), rng)?;
    let prefix: String = chars[..planted.start].iter().collect();
    if period >= 20 && prefix.contains(unit.plan.unit.trim()) {
        return Err("clean text that already says what is to be repeated");
    }
    let (class, kind) = (repeats.class.name(), request.kind.name());
    Ok(LabelledText {
        text: chars.iter().collect(),
        label: planted.to_label(class, kind, request.channel, chars.len()),
        model: first.model.clone(),
        parts: clean.parts.iter().map(|part| part.id.clone()).collect(),
        group: match (&first.group, &request.item.unit) {
            (Some(group), _) => group.clone(),
            (None, Some(_)) => unit.name.clone(),
            (None, None) => first.id.clone(),
        },
        unit: unit.name,
    })
}

/// Joins clean text, the loop, and more clean text. Also returns the span of the loop.
fn assemble_text(
    request: &LoopRequest<'_>,
    clean: &mut CleanReader<'_>,
    (period, body, after): (usize, &[char], usize),
    rng: &mut Rng,
) -> DrawResult<(Vec<char>, RepeatSpan)> {
    let high = request.onset.high.checked_sub(period);
    let high = high.ok_or("a unit longer than the wanted onset")?;
    let low = request.onset.low.saturating_sub(period);
    let before = low.max(CountRange::new(low, high).draw(rng));
    let mut chars = Vec::new();
    if before > 0 {
        chars.extend(clean.take_piece(low, before).ok_or(TOO_SHORT)?);
    }
    let is_list = request.kind == Kind::OrderedList;
    if is_list && chars.last().is_some_and(|c| *c != '\n') {
        chars.push('\n');
    }
    let start = chars.len();
    chars.extend(body);
    let end = chars.len();
    if after > 0 {
        chars.extend(['\n', '\n']);
        let low = request.item.repeats.after.low;
        chars.extend(clean.take_piece(low, after).ok_or(TOO_SHORT)?);
    }
    let mut planted = RepeatSpan { start, period, end };
    if matches!(request.kind, Kind::ShortSequence | Kind::Paragraph) {
        // Whitespace or punctuation at an end belongs to the text before a copy.
        let whole = planted.extend(&chars, |c| !c.is_alphanumeric());
        planted = whole.ok_or("copies that are not exact")?;
    }
    if !request.onset.contains(planted.onset()) {
        return Err("no end of a sentence or word near the wanted onset");
    }
    Ok((chars, planted))
}
