//! [`CopyMaker`]: draws the units of repetition and their copies.

use super::drift::DriftWords;
use super::label::is_primitive;
use super::letters::{find_words, is_chinese};
use super::spec::{CorpusSpec, CountRange, DriftKind, SpecItem, range_or};
use super::stock::{CleanReader, CleanText};
use super::transcript::NoDraw;
use super::units::cut_unit;
use crate::planted_loops::{LoopPlan, Rng};
use deadloop_detect::Kind;

const NO_UNIT: NoDraw = "no piece of clean text of the wanted period";

/// The loop of one transcript.
pub(super) struct LoopRequest<'a> {
    pub(super) spec: &'a CorpusSpec,
    pub(super) kind: Kind,
    pub(super) item: &'a SpecItem,
    pub(super) onset: CountRange,
    pub(super) lang: &'a str,
    pub(super) channel: &'a str,
    pub(super) pool: &'a [&'a CleanText],
    /// The indices of the units that may be used.
    pub(super) units: &'a [usize],
}

/// A unit of repetition, with its first copy.
pub(super) struct RepeatUnit {
    pub(super) plan: LoopPlan,
    /// The name of the unit, or the id of the text that it was cut from.
    pub(super) name: String,
    pub(super) first: Vec<char>,
}

/// A maker of units and copies.
pub(super) struct CopyMaker<'a> {
    pub(super) wanted: &'a LoopRequest<'a>,
    /// The texts from which a unit may be cut.
    pub(super) texts: &'a [&'a CleanText],
    pub(super) words: DriftWords<'a>,
}

impl CopyMaker<'_> {
    /// Draws a unit, with its first copy.
    pub(super) fn draw_unit(&self, rng: &mut Rng) -> Result<RepeatUnit, NoDraw> {
        let item = self.wanted.item;
        let (mut text, mut fillers, name) = self.draw_text(item.repeats.period, rng)?;
        let drift = item.drift.as_ref();
        if !drift.is_some_and(|drift| matches!(drift.kind, DriftKind::Fill | DriftKind::Draw)) {
            fillers.clear();
        }
        if let Some(drift) = drift {
            text = drift.prepare_unit(&text, self.wanted.lang);
        }
        let styles = [". ", ") ", "、"];
        let known = if is_chinese(self.wanted.lang) { 3 } else { 2 };
        let plan = LoopPlan {
            kind: self.wanted.kind,
            unit: text,
            fillers,
            numbering: styles[rng.below(known)],
        };
        let mut unit = RepeatUnit {
            plan,
            name,
            first: Vec::new(),
        };
        unit.first = self.copy(&unit, 0, rng)?;
        let exact = drift.is_none() && self.wanted.kind != Kind::OrderedList;
        if !item.repeats.period.holds(unit.first.len()) {
            return Err(NO_UNIT);
        }
        if exact && !is_primitive(&unit.first) {
            return Err("a unit that is a smaller one several times over");
        }
        Ok(unit)
    }

    /// Draws a text to repeat. Returns the text, its fillers and its name.
    fn draw_text(
        &self,
        chars: CountRange,
        rng: &mut Rng,
    ) -> Result<(String, Vec<String>, String), NoDraw> {
        let Some(name) = &self.wanted.item.unit else {
            let (unit, name) = cut_unit(self.texts, self.wanted.kind, chars, rng).ok_or(NO_UNIT)?;
            return Ok((unit, Vec::new(), name));
        };
        let unit = self.wanted.spec.find_unit(name, self.wanted.lang);
        let unit = unit.ok_or(NO_UNIT)?;
        let at = rng.pick(self.wanted.units).ok_or(NO_UNIT)?;
        let text = unit.texts.get(*at).ok_or(NO_UNIT)?;
        let fillers = unit.fillers().iter().map(ToString::to_string);
        let name = format!("{name}/{}/{at}", unit.lang);
        Ok((text.to_string(), fillers.collect(), name))
    }

    fn copy(&self, unit: &RepeatUnit, number: usize, rng: &mut Rng) -> Result<Vec<char>, NoDraw> {
        let copy = match &self.wanted.item.drift {
            Some(drift) => drift
                .copy(&unit.plan, number, &self.words, rng)
                .ok_or("nothing in the unit that could differ")?,
            None => unit.plan.copy(number),
        };
        Ok(copy.chars().collect())
    }

    /// Draws the copies of the loop: at least as many, and as many chars, as the item wants. If the loop is truncated,
    /// part of one more copy follows, so that the text ends in the middle.
    pub(super) fn draw_copies(
        &self,
        unit: &RepeatUnit,
        rng: &mut Rng,
    ) -> Result<Vec<char>, NoDraw> {
        let item = self.wanted.item;
        let count = item.repeats.copies.draw(rng);
        let length = range_or(item.length, 700, 2600).draw(rng);
        let (mut chars, mut differ, mut number) = (unit.first.clone(), false, 1);
        while number < count || chars.len() < length {
            let copy = self.copy(unit, number, rng)?;
            differ |= copy != unit.first;
            chars.extend(copy);
            number += 1;
        }
        if item.truncate.unwrap_or(true) {
            let more = self.copy(unit, number, rng)?;
            let cut = rng.below(more.len());
            chars.extend(more.iter().take(cut));
        }
        if self.wanted.kind == Kind::NearRepeat && !differ {
            return Err("copies that do not differ");
        }
        Ok(chars)
    }
}

/// Returns the words of the clean text.
pub(super) fn collect_words(clean: &CleanReader<'_>) -> Vec<String> {
    let all = clean.parts.iter().flat_map(|part| {
        let words = find_words(&part.text).into_iter();
        words.filter_map(|word| part.text.get(word).map(str::to_owned))
    });
    let mut words: Vec<String> = all.take(5000).collect();
    words.sort_unstable();
    words.dedup();
    words
}
