//! A loop in text: clean text, perhaps repetitions that end by themselves, then the loop.

use super::cut::cut;
use super::drift::{DriftKind, Words, is_chinese, plan, words};
use super::fields::Bounds;
use super::label::{Label, Stretch, is_primitive};
use super::spec::{Loop, Spec};
use super::stock::{Clean, CleanText};
use crate::plant::{Plan, PlantKind, Rng};

/// A text with what is true about it.
pub(super) struct Text {
    pub(super) text: String,
    pub(super) labels: Vec<Label>,
    pub(super) model: Option<String>,
    /// Texts that it is made of.
    pub(super) parts: Vec<String>,
    /// What is repeated: the unit's name, or the text that it was cut from.
    pub(super) unit: String,
    /// The group of the first text.
    pub(super) group: String,
}

/// What is wanted of one transcript.
pub(super) struct Wanted<'a> {
    pub(super) spec: &'a Spec,
    pub(super) looped: &'a Loop,
    pub(super) onset: Bounds,
    pub(super) lang: &'a str,
    pub(super) channel: &'a str,
    pub(super) pool: &'a [&'a CleanText],
    /// Which of the listed units may be taken.
    pub(super) units: &'a [usize],
}

/// Why a draw came to nothing. Another may come to something.
pub(super) type Failed = &'static str;

const NO_UNIT: Failed = "no piece of clean text of the wanted period";
const SHORT: Failed = "too little clean text for the wanted onset";

/// Something to repeat: how copies are made, and the first of them.
struct Unit {
    plan: Plan,
    /// Where it comes from.
    name: String,
    /// The inner unit's chars, where it is nested, and how often it stands there.
    inner: Option<(usize, usize)>,
    first: Vec<char>,
}

/// Copies one after the other.
struct Copies {
    chars: Vec<char>,
    /// Chars of the first one.
    first: usize,
    differ: bool,
}

/// One draw.
pub(super) fn looped(wanted: &Wanted<'_>, rng: &mut Rng) -> Result<Text, Failed> {
    let l = wanted.looped;
    let after = l.after.draw(rng);
    let mut clean = Clean::of(wanted.pool, wanted.onset.high + after, rng);
    let first = *clean.parts.first().ok_or(SHORT)?;
    let others = clean.others.clone();
    let vocabulary = vocabulary(&clean);
    let maker = Maker {
        wanted,
        texts: &others,
        words: Words {
            others: &vocabulary,
            paraphrase: &wanted.spec.paraphrase,
        },
    };
    let unit = maker.unit(rng)?;
    let lead = maker.lead(&unit, rng)?;
    let body = maker.body(&unit, rng)?;
    let starts: Vec<Copies> = (0..l.false_starts.draw(rng))
        .map(|_| maker.false_start(rng))
        .collect::<Result<_, _>>()?;
    let planted = lead.chars.len()
        + starts
            .iter()
            .map(|copies| copies.chars.len())
            .sum::<usize>();
    let before = unit.first.len() + planted;
    let high = wanted
        .onset
        .high
        .checked_sub(before)
        .ok_or("a unit longer than the wanted onset")?;
    let low = wanted.onset.low.saturating_sub(before);
    let room = Bounds::new(low, low.max(Bounds::new(low, high).draw(rng)));

    let mut text = Assembled {
        chars: Vec::new(),
        list: l.kind == PlantKind::OrderedList,
    };
    let mut transient = Vec::new();
    for (at, copies) in starts.iter().enumerate() {
        let have = room.high * (at + 1) / (starts.len() + 1);
        text.clean(
            &mut clean,
            0,
            have.saturating_sub(text.clean_so_far(&transient)),
        )?;
        transient.push(text.plant(copies));
        text.chars.push('\n');
    }
    let so_far = text.clean_so_far(&transient);
    text.clean(
        &mut clean,
        room.low.saturating_sub(so_far),
        room.high.saturating_sub(so_far),
    )?;
    let lead_at = text.plant(&lead);
    let at = text.plant(&body);
    if after > 0 {
        text.chars.extend(['\n', '\n']);
        text.clean(&mut clean, l.after.low, after)?;
    }
    let made = Spans {
        transient,
        lead: lead_at,
        lead_first: lead.first,
        body: at,
    };
    let labels = labels(wanted, &unit, &text.chars, &made)?;
    let prefix: String = text.chars[..lead_at.start].iter().collect();
    if unit.first.len() >= 20 && prefix.contains(unit.plan.unit.trim()) {
        return Err("clean text that already says what is to be repeated");
    }
    Ok(Text {
        text: text.chars.iter().collect(),
        labels,
        model: first.model.clone(),
        parts: clean.parts.iter().map(|part| part.id.clone()).collect(),
        unit: unit.name,
        group: first.group.clone().unwrap_or_else(|| first.id.clone()),
    })
}

/// Where everything was planted.
struct Spans {
    transient: Vec<Stretch>,
    lead: Stretch,
    lead_first: usize,
    body: Stretch,
}

/// The text so far.
struct Assembled {
    chars: Vec<char>,
    /// Copies are list items, which begin on lines of their own.
    list: bool,
}

impl Assembled {
    fn clean(&mut self, from: &mut Clean<'_>, low: usize, high: usize) -> Result<(), Failed> {
        if high > 0 {
            self.chars.extend(from.take(low, high).ok_or(SHORT)?);
        }
        Ok(())
    }

    /// Chars that were not planted.
    fn clean_so_far(&self, planted: &[Stretch]) -> usize {
        let planted: usize = planted.iter().map(|s| s.end - s.start).sum();
        self.chars.len() - planted
    }

    fn plant(&mut self, copies: &Copies) -> Stretch {
        let inside = !copies.chars.is_empty() && self.list;
        if inside && self.chars.last().is_some_and(|c| *c != '\n') {
            self.chars.push('\n');
        }
        let start = self.chars.len();
        self.chars.extend(&copies.chars);
        Stretch {
            start,
            period: copies.first,
            end: self.chars.len(),
        }
    }
}

/// Draws units and copies of them.
struct Maker<'a> {
    wanted: &'a Wanted<'a>,
    /// What a unit may be cut from.
    texts: &'a [&'a CleanText],
    words: Words<'a>,
}

impl Maker<'_> {
    fn unit(&self, rng: &mut Rng) -> Result<Unit, Failed> {
        let l = self.wanted.looped;
        let mut inner = None;
        let (text, fillers, name) = match l.nested {
            None => self.piece(l.period, rng)?,
            Some(times) => {
                let times = times.draw(rng);
                let small = Bounds::new(1, l.period.high / (times + 1));
                let (small, fillers, name) = self.piece(small, rng)?;
                let length = small.chars().count();
                let used = length * times;
                let rest = Bounds::new(
                    l.period.low.saturating_sub(used).max(1),
                    l.period.high.saturating_sub(used),
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
            .is_some_and(|drift| drift.kind == DriftKind::Fill);
        let fillers = if fills { fillers } else { Vec::new() };
        let text = match &l.drift {
            Some(drift) if l.lead.high == 0 => drift.base(&text, self.wanted.lang),
            _ => text,
        };
        let plan = plan(l.kind, text, &fillers, chinese, rng);
        let mut unit = Unit {
            plan,
            name,
            inner,
            first: Vec::new(),
        };
        unit.first = self.copy(&unit, 0, l.lead.high == 0, rng)?;
        let exact = l.drift.is_none() && l.kind != PlantKind::OrderedList;
        if !l.period.holds(unit.first.len()) {
            return Err(NO_UNIT);
        }
        if exact && !is_primitive(&unit.first) {
            return Err("a unit that is a smaller one several times over");
        }
        Ok(unit)
    }

    /// A text to be repeated, its fillers and its name.
    fn piece(&self, chars: Bounds, rng: &mut Rng) -> Result<(String, Vec<String>, String), Failed> {
        let l = self.wanted.looped;
        let Some(name) = &l.unit else {
            let (unit, name) = cut(self.texts, l.kind, chars, rng).ok_or(NO_UNIT)?;
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
            text.clone(),
            units.fillers.clone(),
            format!("{name}/{}/{at}", units.lang),
        ))
    }

    /// `drifts`: as the item's drift has it, else as it stands.
    fn copy(
        &self,
        unit: &Unit,
        number: usize,
        drifts: bool,
        rng: &mut Rng,
    ) -> Result<Vec<char>, Failed> {
        let copy = match &self.wanted.looped.drift {
            Some(drift) if drifts => drift
                .copy(&unit.plan, number, &self.words, rng)
                .ok_or("nothing in the unit that could differ")?,
            _ => unit.plan.copy(number),
        };
        Ok(copy.chars().collect())
    }

    /// Copies before the exact ones, each unlike them.
    fn lead(&self, unit: &Unit, rng: &mut Rng) -> Result<Copies, Failed> {
        let mut copies = Copies {
            chars: Vec::new(),
            first: 0,
            differ: false,
        };
        let Some(drift) = &self.wanted.looped.drift else {
            return Ok(copies);
        };
        for number in 1..=self.wanted.looped.lead.draw(rng) {
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

    /// The loop itself.
    fn body(&self, unit: &Unit, rng: &mut Rng) -> Result<Copies, Failed> {
        let l = self.wanted.looped;
        let (wanted, length) = (l.copies.draw(rng), l.length.draw(rng));
        self.run(unit, wanted, length, l.truncate, rng)
    }

    /// Two or three copies of something.
    fn false_start(&self, rng: &mut Rng) -> Result<Copies, Failed> {
        let (unit, copies) = (self.unit(rng)?, rng.between(2, 3));
        self.run(&unit, copies, 0, false, rng)
    }

    /// At least so many copies and chars. Cut in the last copy, and where it must have as many, in
    /// one more.
    fn run(
        &self,
        unit: &Unit,
        count: usize,
        length: usize,
        truncate: bool,
        rng: &mut Rng,
    ) -> Result<Copies, Failed> {
        let drifts = self.wanted.looped.lead.high == 0;
        let mut copies = Copies {
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
        if self.wanted.looped.kind == PlantKind::NearRepeat && !copies.differ {
            return Err("copies that do not differ");
        }
        Ok(copies)
    }
}

/// The words of the clean text.
fn vocabulary(clean: &Clean<'_>) -> Vec<String> {
    let all = clean.parts.iter().flat_map(|part| {
        let words = words(&part.text).into_iter();
        words.filter_map(|word| part.text.get(word).map(str::to_owned))
    });
    let mut words: Vec<String> = all.take(5000).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// Blanks and marks that end something: they belong to what stands before a copy.
fn loose(c: &char) -> bool {
    !c.is_alphanumeric()
}

fn labels(
    wanted: &Wanted<'_>,
    unit: &Unit,
    chars: &[char],
    at: &Spans,
) -> Result<Vec<Label>, Failed> {
    let l = wanted.looped;
    let class = if l.transient { "transient" } else { "loop" };
    let exact = matches!(l.kind, PlantKind::ShortSequence | PlantKind::Paragraph);
    let whole = |stretch: Stretch| {
        let whole = if exact {
            stretch.whole(chars, loose)
        } else {
            Some(stretch)
        };
        whole.ok_or("copies that are not exact")
    };
    let label =
        |stretch: Stretch, class| stretch.label(class, l.kind.name(), wanted.channel, chars.len());
    let body = whole(at.body)?;
    let mut main = label(body, class);
    if at.lead_first > 0 {
        let earliest = at.lead.start + at.lead_first;
        main.earliest = Some(earliest).filter(|earliest| *earliest < body.onset());
    }
    if !wanted.onset.holds(body.onset()) {
        return Err("no end of a sentence or word near the wanted onset");
    }
    let mut labels = Vec::new();
    for start in &at.transient {
        labels.push(label(whole(*start)?, "transient"));
    }
    if let Some((period, times)) = unit.inner {
        let run = Stretch {
            start: at.body.start,
            period,
            end: at.body.start + period * times,
        };
        labels.push(label(
            run.whole(chars, loose)
                .ok_or("an inner unit that is no unit")?,
            "transient",
        ));
    }
    let earliest = main.earliest.or(main.onset);
    if labels.iter().any(|label| label.end > earliest) {
        return Err("a false start that runs into the loop");
    }
    labels.push(main);
    Ok(labels)
}
