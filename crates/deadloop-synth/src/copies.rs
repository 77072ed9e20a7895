//! Units of repetition and their copies: drawn, drifted and cut.

use super::drift::{DriftWords, plan};
use super::label::is_primitive;
use super::letters::{is_chinese, words};
use super::spec::{CorpusSpec, CountRange, DriftKind, SpecItem, ends};
use super::stock::{CleanReader, CleanText};
use super::transcript::NoDraw;
use super::units::cut_unit;
use crate::planted_loops::{LoopPlan, PlantKind, Rng};

const NO_UNIT: NoDraw = "no piece of clean text of the wanted period";

/// The requirements for one transcript.
pub(super) struct LoopRequest<'a> {
    pub(super) spec: &'a CorpusSpec,
    pub(super) kind: PlantKind,
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
    /// The length of the inner unit in chars, and the number of its repetitions, if the unit is nested.
    pub(super) inner: Option<(usize, usize)>,
    pub(super) first: Vec<char>,
}

/// A sequence of copies.
pub(super) struct CopySequence {
    pub(super) chars: Vec<char>,
    /// The number of chars of the first copy.
    pub(super) first: usize,
    pub(super) differ: bool,
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
        let mut inner = None;
        let (text, fillers, name) = match &l.nested {
            None => self.piece(l.repeats.period, rng)?,
            Some(times) => {
                let times = times.0.draw(rng);
                let small = CountRange::new(1, l.repeats.period.high / (times + 1));
                let (small, fillers, name) = self.piece(small, rng)?;
                let length = small.chars().count();
                let used = length * times;
                let rest = CountRange::new(
                    l.repeats.period.low.saturating_sub(used).max(1),
                    l.repeats.period.high.saturating_sub(used),
                );
                let (rest, ..) = self.piece(rest, rng)?;
                inner = Some((length, times));
                (format!("{}{rest}", small.repeat(times)), fillers, name)
            }
        };
        let chinese = is_chinese(self.wanted.lang);
        let fills = l
            .drift
            .as_ref()
            .is_some_and(|drift| matches!(drift.kind.0, DriftKind::Fill | DriftKind::Draw));
        let fillers = if fills { fillers } else { Vec::new() };
        let text = match &l.drift {
            Some(drift) if l.lead().high == 0 => drift.base(&text, self.wanted.lang),
            _ => text,
        };
        let plan = plan(self.wanted.kind, text, &fillers, chinese, rng);
        let mut unit = RepeatUnit {
            plan,
            name,
            inner,
            first: Vec::new(),
        };
        unit.first = self.copy(&unit, 0, l.lead().high == 0, rng)?;
        let exact = l.drift.is_none() && self.wanted.kind != PlantKind::OrderedList;
        if !l.repeats.period.holds(unit.first.len()) {
            return Err(NO_UNIT);
        }
        if exact && !is_primitive(&unit.first) {
            return Err("a unit that is a smaller one several times over");
        }
        Ok(unit)
    }

    /// Draws a text to repeat. Returns the text, its fillers and its name.
    pub(super) fn piece(
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

    /// Returns a copy of a unit. It drifts only if `drifts` is set.
    pub(super) fn copy(
        &self,
        unit: &RepeatUnit,
        number: usize,
        drifts: bool,
        rng: &mut Rng,
    ) -> Result<Vec<char>, NoDraw> {
        let copy = match &self.wanted.item.drift {
            Some(drift) if drifts => drift
                .copy(&unit.plan, number, &self.words, rng)
                .ok_or("nothing in the unit that could differ")?,
            _ => unit.plan.copy(number),
        };
        Ok(copy.chars().collect())
    }

    /// Draws the drifting copies before the exact ones. Each differs from the unit.
    pub(super) fn lead(&self, unit: &RepeatUnit, rng: &mut Rng) -> Result<CopySequence, NoDraw> {
        let mut copies = CopySequence {
            chars: Vec::new(),
            first: 0,
            differ: false,
        };
        let Some(drift) = &self.wanted.item.drift else {
            return Ok(copies);
        };
        for number in 1..=self.wanted.item.lead().draw(rng) {
            let mut as_said = unit.plan.clone();
            as_said.unit = drift.base(&unit.plan.unit, self.wanted.lang);
            let copy = drift.copy(&as_said, number, &self.words, rng);
            let copy = copy.filter(|copy| *copy != unit.plan.unit);
            let copy: Vec<char> = copy.ok_or("a lead that does not differ")?.chars().collect();
            if copies.first == 0 {
                copies.first = copy.len();
            }
            copies.chars.extend(copy);
        }
        Ok(copies)
    }

    /// Draws the copies of the loop.
    pub(super) fn body(&self, unit: &RepeatUnit, rng: &mut Rng) -> Result<CopySequence, NoDraw> {
        let l = self.wanted.item;
        let (wanted, length) = (
            l.repeats.copies.draw(rng),
            ends(l.length, 700, 2600).draw(rng),
        );
        self.run(unit, wanted, length, l.truncate.unwrap_or(true), rng)
    }

    /// Draws two or three copies of another unit.
    pub(super) fn false_start(&self, rng: &mut Rng) -> Result<CopySequence, NoDraw> {
        let (unit, copies) = (self.unit(rng)?, rng.between(2, 3));
        self.run(&unit, copies, 0, false, rng)
    }

    /// Makes at least `count` copies and at least `length` chars. With `truncate`, part of one more copy follows, so
    /// that the text ends in the middle.
    pub(super) fn run(
        &self,
        unit: &RepeatUnit,
        count: usize,
        length: usize,
        truncate: bool,
        rng: &mut Rng,
    ) -> Result<CopySequence, NoDraw> {
        let drifts = self.wanted.item.lead().high == 0;
        let mut copies = CopySequence {
            chars: unit.first.clone(),
            first: unit.first.len(),
            differ: false,
        };
        let mut number = 1;
        while number < count || copies.chars.len() < length {
            let copy = self.copy(unit, number, drifts, rng)?;
            copies.differ |= copy != unit.first;
            copies.chars.extend(copy);
            number += 1;
        }
        if truncate {
            let more = self.copy(unit, number, drifts, rng)?;
            let cut = rng.below(more.len());
            copies.chars.extend(more.iter().take(cut));
        }
        if self.wanted.kind == PlantKind::NearRepeat && !copies.differ {
            return Err("copies that do not differ");
        }
        Ok(copies)
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
