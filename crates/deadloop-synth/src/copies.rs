//! Units of repetition and their copies: drawn, drifted and cut.

use super::drift::{DriftWords, plan};
use super::label::is_primitive;
use super::letters::{is_chinese, words};
use super::spec::{CorpusSpec, CountRange, DriftKind, SpecItem, ends};
use super::stock::{CleanReader, CleanText};
use super::transcript::NoDraw;
use super::units::cut_unit;
use crate::planted_loops::{LoopPlan, Rng};
use deadloop_detect::Kind;

const NO_UNIT: NoDraw = "no piece of clean text of the wanted period";

/// The requirements for one transcript.
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
    pub(super) fn unit(&self, rng: &mut Rng) -> Result<RepeatUnit, NoDraw> {
        let l = self.wanted.item;
        let (text, fillers, name) = self.piece(l.repeats.period, rng)?;
        let chinese = is_chinese(self.wanted.lang);
        let fills = l
            .drift
            .as_ref()
            .is_some_and(|drift| matches!(drift.kind.0, DriftKind::Fill | DriftKind::Draw));
        let fillers = if fills { fillers } else { Vec::new() };
        let text = match &l.drift {
            Some(drift) => drift.base(&text, self.wanted.lang),
            None => text,
        };
        let plan = plan(self.wanted.kind, text, &fillers, chinese, rng);
        let mut unit = RepeatUnit {
            plan,
            name,
            first: Vec::new(),
        };
        unit.first = self.copy(&unit, 0, rng)?;
        let exact = l.drift.is_none() && self.wanted.kind != Kind::OrderedList;
        if !l.repeats.period.holds(unit.first.len()) {
            return Err(NO_UNIT);
        }
        if exact && !is_primitive(&unit.first) {
            return Err("a unit that is a smaller one several times over");
        }
        Ok(unit)
    }

    /// Draws a text to repeat. Returns the text, its fillers and its name.
    fn piece(
        &self,
        chars: CountRange,
        rng: &mut Rng,
    ) -> Result<(String, Vec<String>, String), NoDraw> {
        let l = self.wanted.item;
        let Some(name) = &l.unit else {
            let (unit, name) = cut_unit(self.texts, self.wanted.kind, chars, rng).ok_or(NO_UNIT)?;
            return Ok((unit, Vec::new(), name));
        };
        let units = self
            .wanted
            .spec
            .units(name, self.wanted.lang)
            .ok_or(NO_UNIT)?;
        let at = rng.pick(self.wanted.units).ok_or(NO_UNIT)?;
        let text = units.texts.get(*at).ok_or(NO_UNIT)?;
        Ok((
            text.to_string(),
            units.fillers().iter().map(ToString::to_string).collect(),
            format!("{name}/{}/{at}", units.lang),
        ))
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
    pub(super) fn body(&self, unit: &RepeatUnit, rng: &mut Rng) -> Result<Vec<char>, NoDraw> {
        let l = self.wanted.item;
        let count = l.repeats.copies.draw(rng);
        let length = ends(l.length, 700, 2600).draw(rng);
        let (mut chars, mut differ, mut number) = (unit.first.clone(), false, 1);
        while number < count || chars.len() < length {
            let copy = self.copy(unit, number, rng)?;
            differ |= copy != unit.first;
            chars.extend(copy);
            number += 1;
        }
        if l.truncate.unwrap_or(true) {
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
pub(super) fn vocabulary(clean: &CleanReader<'_>) -> Vec<String> {
    let all = clean.parts.iter().flat_map(|part| {
        let words = words(&part.text).into_iter();
        words.filter_map(|word| part.text.get(word).map(str::to_owned))
    });
    let mut words: Vec<String> = all.take(5000).collect();
    words.sort_unstable();
    words.dedup();
    words
}
