//! Loops in text: clean text, and the loop.

use super::copies::{CopyMaker, LoopRequest, collect_words};
use super::drift::DriftWords;
use super::label::{PlantedLabel, RepeatStretch};
use super::spec::CountRange;
use super::stock::CleanReader;
use super::transcript::NoDraw;
use crate::planted_loops::Rng;
use deadloop_detect::Kind;

/// A text with its label.
pub(super) struct LabelledText {
    pub(super) text: String,
    pub(super) label: PlantedLabel,
    pub(super) model: Option<String>,
    /// The ids of the clean texts in it.
    pub(super) parts: Vec<String>,
    /// The source of the repetition: the unit's name, or the id of the text that it was cut from.
    pub(super) unit: String,
    /// The group of the first clean text in its corpus. If that text has no group, the name of the spec's unit, or the
    /// id of the first text.
    pub(super) group: String,
}

const TOO_SHORT: NoDraw = "too little clean text for the wanted onset";

/// Draws a text with a loop.
pub(super) fn draw_loop(wanted: &LoopRequest<'_>, rng: &mut Rng) -> Result<LabelledText, NoDraw> {
    let repeats = &wanted.item.repeats;
    let after = repeats.after.draw(rng);
    let mut clean = CleanReader::draw(wanted.pool, wanted.onset.high + after, rng);
    let first = *clean.parts.first().ok_or(TOO_SHORT)?;
    let vocabulary = collect_words(&clean);
    let drift = wanted.item.drift.as_ref();
    let glue = drift.and_then(|drift| drift.glue.as_ref());
    let maker = CopyMaker {
        wanted,
        texts: &clean.others,
        words: DriftWords {
            others: &vocabulary,
            paraphrase: wanted.spec.paraphrase(),
            doubt: wanted.spec.doubt_words(glue, wanted.lang),
        },
    };
    let unit = maker.draw_unit(rng)?;
    // Two draws without an effect keep committed corpora as they are.
    if drift.is_some() {
        rng.next_u64();
    }
    let body = maker.draw_copies(&unit, rng)?;
    rng.next_u64();
    let period = unit.first.len();
    let (chars, planted) = assemble(wanted, &mut clean, (period, &body, after), rng)?;
    let prefix: String = chars[..planted.start].iter().collect();
    if period >= 20 && prefix.contains(unit.plan.unit.trim()) {
        return Err("clean text that already says what is to be repeated");
    }
    let (class, kind) = (repeats.class.name(), wanted.kind.name());
    Ok(LabelledText {
        text: chars.iter().collect(),
        label: planted.label(class, kind, wanted.channel, chars.len()),
        model: first.model.clone(),
        parts: clean.parts.iter().map(|part| part.id.clone()).collect(),
        group: match (&first.group, &wanted.item.unit) {
            (Some(group), _) => group.clone(),
            (None, Some(_)) => unit.name.clone(),
            (None, None) => first.id.clone(),
        },
        unit: unit.name,
    })
}

/// Joins clean text, the loop, and more clean text. Also returns the stretch of the loop.
fn assemble(
    wanted: &LoopRequest<'_>,
    clean: &mut CleanReader<'_>,
    (period, body, after): (usize, &[char], usize),
    rng: &mut Rng,
) -> Result<(Vec<char>, RepeatStretch), NoDraw> {
    let high = wanted.onset.high.checked_sub(period);
    let high = high.ok_or("a unit longer than the wanted onset")?;
    let low = wanted.onset.low.saturating_sub(period);
    let before = low.max(CountRange::new(low, high).draw(rng));
    let mut chars = Vec::new();
    if before > 0 {
        chars.extend(clean.take(low, before).ok_or(TOO_SHORT)?);
    }
    let is_list = wanted.kind == Kind::OrderedList;
    if is_list && chars.last().is_some_and(|c| *c != '\n') {
        chars.push('\n');
    }
    let start = chars.len();
    chars.extend(body);
    let end = chars.len();
    if after > 0 {
        chars.extend(['\n', '\n']);
        let low = wanted.item.repeats.after.low;
        chars.extend(clean.take(low, after).ok_or(TOO_SHORT)?);
    }
    let mut planted = RepeatStretch { start, period, end };
    if matches!(wanted.kind, Kind::ShortSequence | Kind::Paragraph) {
        // A blank or mark at an end belongs to the text before a copy.
        let whole = planted.extend(&chars, |c| !c.is_alphanumeric());
        planted = whole.ok_or("copies that are not exact")?;
    }
    if !wanted.onset.holds(planted.onset()) {
        return Err("no end of a sentence or word near the wanted onset");
    }
    Ok((chars, planted))
}
