//! [`CopyMaker`]: draws repeated units and their copies.

use super::drift::DriftWords;
use super::label::is_primitive;
use super::letters::{find_words, is_cjk_lang};
use super::spec::{CorpusSpec, CountRange, DriftKind, SpecItem, range_or};
use super::stock::{CleanReader, CleanText};
use super::transcript::{DrawFault, DrawResult};
use super::units::cut_unit;
use crate::planted_loops::{LoopPlan, Rng};
use deadloop_detect::Kind;

const NO_UNIT: DrawFault = "no piece of clean text of the wanted period";

/// Parameters of the loop in one transcript.
pub(super) struct LoopRequest<'a> {
    pub(super) spec: &'a CorpusSpec,
    pub(super) kind: Kind,
    pub(super) item: &'a SpecItem,
    pub(super) onset: CountRange,
    pub(super) lang: &'a str,
    pub(super) channel: &'a str,
    pub(super) pool: &'a [&'a CleanText],
    /// Indices of the unit's texts in the split of the transcript.
    pub(super) units: &'a [usize],
}

/// A repeated unit, with its first copy.
pub(super) struct RepeatUnit {
    pub(super) plan: LoopPlan,
    /// Name of the unit, or id of the text from which it was cut.
    pub(super) name: String,
    pub(super) first: Vec<char>,
}

/// A generator of repeated units and their copies for one loop.
pub(super) struct CopyMaker<'a> {
    pub(super) request: &'a LoopRequest<'a>,
    /// Texts from which a unit may be cut.
    pub(super) texts: &'a [&'a CleanText],
    pub(super) drift_words: DriftWords<'a>,
}

impl CopyMaker<'_> {
    /// Draws a unit, with its first copy.
    pub(super) fn draw_unit(&self, rng: &mut Rng) -> DrawResult<RepeatUnit> {
        let item = self.request.item;
        let (mut text, mut fillers, name) = self.draw_text(item.repeats.period, rng)?;
        let drift = item.drift.as_ref();
        if !drift.is_some_and(|drift| matches!(drift.kind, DriftKind::Fill | DriftKind::Draw)) {
            fillers.clear();
        }
        if let Some(drift) = drift {
            text = drift.prepare_unit(&text, self.request.lang);
        }
        let styles = [". ", ") ", "、"];
        let known = if is_cjk_lang(self.request.lang) { 3 } else { 2 };
        let plan = LoopPlan {
            kind: self.request.kind,
            unit: text,
            fillers,
            number_suffix: styles[rng.below(known)],
        };
        let mut unit = RepeatUnit {
            plan,
            name,
            first: Vec::new(),
        };
        unit.first = self.make_copy(&unit, 0, rng)?;
        let exact = drift.is_none() && self.request.kind != Kind::OrderedList;
        if !item.repeats.period.contains(unit.first.len()) {
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
    ) -> DrawResult<(String, Vec<String>, String)> {
        let Some(name) = &self.request.item.unit else {
            let (unit, name) =
                cut_unit(self.texts, self.request.kind, chars, rng).ok_or(NO_UNIT)?;
            return Ok((unit, Vec::new(), name));
        };
        let unit = self.request.spec.find_unit(name, self.request.lang);
        let unit = unit.ok_or(NO_UNIT)?;
        let at = rng.choose(self.request.units).ok_or(NO_UNIT)?;
        let text = unit.texts.get(*at).ok_or(NO_UNIT)?;
        let fillers = unit.fillers().iter().map(ToString::to_string);
        let name = format!("{name}/{}/{at}", unit.lang);
        Ok((text.to_string(), fillers.collect(), name))
    }

    fn make_copy(&self, unit: &RepeatUnit, number: usize, rng: &mut Rng) -> DrawResult<Vec<char>> {
        let copy = match &self.request.item.drift {
            Some(drift) => drift
                .make_copy(&unit.plan, number, &self.drift_words, rng)
                .ok_or("nothing in the unit that could differ")?,
            None => unit.plan.render(number),
        };
        Ok(copy.chars().collect())
    }

    /// Draws the copies of the loop, until the item's number of copies and length in chars are reached. A truncated
    /// loop ends with part of another copy.
    pub(super) fn draw_copies(&self, unit: &RepeatUnit, rng: &mut Rng) -> DrawResult<Vec<char>> {
        let item = self.request.item;
        let count = item.repeats.copies.draw(rng);
        let length = range_or(item.length, 700, 2600).draw(rng);
        let (mut chars, mut differ, mut number) = (unit.first.clone(), false, 1);
        while number < count || chars.len() < length {
            let copy = self.make_copy(unit, number, rng)?;
            differ |= copy != unit.first;
            chars.extend(copy);
            number += 1;
        }
        if item.truncate.unwrap_or(true) {
            let more = self.make_copy(unit, number, rng)?;
            let cut = rng.below(more.len());
            chars.extend(more.iter().take(cut));
        }
        if self.request.kind == Kind::NearRepeat && !differ {
            return Err("copies that do not differ");
        }
        Ok(chars)
    }
}

/// Collects the distinct words of the clean texts.
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
