//! Loops in text: clean text, false starts, and the loop.

use super::copies::{CopyMaker, CopySequence, LoopRequest, RepeatUnit, vocabulary};
use super::drift::DriftWords;
use super::label::{PlantedLabel, RepeatStretch};
use super::spec::{CountRange, ends};
use super::stock::CleanReader;
use super::transcript::NoDraw;
use crate::planted_loops::{PlantKind, Rng};

/// A text with its labels.
pub(super) struct LabelledText {
    pub(super) text: String,
    pub(super) labels: Vec<PlantedLabel>,
    pub(super) model: Option<String>,
    /// The ids of the clean texts in it.
    pub(super) parts: Vec<String>,
    /// The source of the repetition: the unit's name, or the id of the text that it was cut from.
    pub(super) unit: String,
    /// The group of the first clean text in its corpus. If that text has no group, the name of the spec's unit, or the
    /// id of the first text.
    pub(super) group: String,
}

const SHORT: NoDraw = "too little clean text for the wanted onset";

/// Draws a text with a loop.
pub(super) fn draw_loop(wanted: &LoopRequest<'_>, rng: &mut Rng) -> Result<LabelledText, NoDraw> {
    let after = wanted.item.repeats.after.draw(rng);
    let mut clean = CleanReader::draw(wanted.pool, wanted.onset.high + after, rng);
    let first = *clean.parts.first().ok_or(SHORT)?;
    let planted = LoopParts::draw(wanted, &clean, rng)?;
    let room = planted.room(wanted.onset, rng)?;
    let (chars, at) = planted.assemble(wanted, &mut clean, room, after)?;
    let unit = planted.unit;
    let labels = labels(wanted, &unit, &chars, &at)?;
    let prefix: String = chars[..at.lead.start].iter().collect();
    if unit.first.len() >= 20 && prefix.contains(unit.plan.unit.trim()) {
        return Err("clean text that already says what is to be repeated");
    }
    Ok(LabelledText {
        text: chars.iter().collect(),
        labels,
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

/// The planted parts of a text.
struct LoopParts {
    unit: RepeatUnit,
    lead: CopySequence,
    body: CopySequence,
    /// Repetitions before the loop that end by themselves.
    starts: Vec<CopySequence>,
}

impl LoopParts {
    fn draw(
        wanted: &LoopRequest<'_>,
        clean: &CleanReader<'_>,
        rng: &mut Rng,
    ) -> Result<Self, NoDraw> {
        let vocabulary = vocabulary(clean);
        let maker = CopyMaker {
            wanted,
            texts: &clean.others,
            words: DriftWords {
                others: &vocabulary,
                paraphrase: wanted.spec.paraphrase(),
                doubt: wanted.spec.doubt(
                    wanted
                        .item
                        .drift
                        .as_ref()
                        .and_then(|drift| drift.glue.as_ref()),
                    wanted.lang,
                ),
            },
        };
        let unit = maker.unit(rng)?;
        Ok(Self {
            lead: maker.lead(&unit, rng)?,
            body: maker.body(&unit, rng)?,
            starts: (0..ends(wanted.item.false_starts, 0, 0).draw(rng))
                .map(|_| maker.false_start(rng))
                .collect::<Result<_, _>>()?,
            unit,
        })
    }

    /// Returns the range of the length of clean text before the loop, so that the onset is in its range.
    fn room(&self, onset: CountRange, rng: &mut Rng) -> Result<CountRange, NoDraw> {
        let starts: usize = self.starts.iter().map(|copies| copies.chars.len()).sum();
        let before = self.unit.first.len() + self.lead.chars.len() + starts;
        let high = onset.high.checked_sub(before);
        let high = high.ok_or("a unit longer than the wanted onset")?;
        let low = onset.low.saturating_sub(before);
        Ok(CountRange::new(
            low,
            low.max(CountRange::new(low, high).draw(rng)),
        ))
    }

    /// Assembles the text: false starts with clean text between them, the loop, and the text after it.
    fn assemble(
        &self,
        wanted: &LoopRequest<'_>,
        clean: &mut CleanReader<'_>,
        room: CountRange,
        after: usize,
    ) -> Result<(Vec<char>, Spans), NoDraw> {
        let mut text = TextAssembly {
            chars: Vec::new(),
            list: wanted.kind == PlantKind::OrderedList,
        };
        let mut transient = Vec::new();
        for (at, copies) in self.starts.iter().enumerate() {
            let have = room.high * (at + 1) / (self.starts.len() + 1);
            let so_far = text.clean_so_far(&transient);
            text.fill(clean, 0, have.saturating_sub(so_far))?;
            transient.push(text.plant(copies));
            text.chars.push('\n');
        }
        let so_far = text.clean_so_far(&transient);
        let left = |chars: usize| chars.saturating_sub(so_far);
        text.fill(clean, left(room.low), left(room.high))?;
        let lead = text.plant(&self.lead);
        let body = text.plant(&self.body);
        if after > 0 {
            text.chars.extend(['\n', '\n']);
            text.fill(clean, wanted.item.repeats.after.low, after)?;
        }
        let spans = Spans {
            transient,
            lead,
            lead_first: self.lead.first,
            body,
        };
        Ok((text.chars, spans))
    }
}

/// The positions of the planted parts.
struct Spans {
    transient: Vec<RepeatStretch>,
    lead: RepeatStretch,
    lead_first: usize,
    body: RepeatStretch,
}

/// The text so far.
struct TextAssembly {
    chars: Vec<char>,
    /// Whether copies are list items, which begin on lines of their own.
    list: bool,
}

impl TextAssembly {
    fn fill(&mut self, from: &mut CleanReader<'_>, low: usize, high: usize) -> Result<(), NoDraw> {
        if high > 0 {
            self.chars.extend(from.take(low, high).ok_or(SHORT)?);
        }
        Ok(())
    }

    /// Returns the number of chars that were not planted.
    fn clean_so_far(&self, planted: &[RepeatStretch]) -> usize {
        let planted: usize = planted.iter().map(|s| s.end - s.start).sum();
        self.chars.len() - planted
    }

    fn plant(&mut self, copies: &CopySequence) -> RepeatStretch {
        let inside = !copies.chars.is_empty() && self.list;
        if inside && self.chars.last().is_some_and(|c| *c != '\n') {
            self.chars.push('\n');
        }
        let start = self.chars.len();
        self.chars.extend(&copies.chars);
        RepeatStretch {
            start,
            period: copies.first,
            end: self.chars.len(),
        }
    }
}

/// Returns whether a char is a blank or mark at an end. Such chars belong to the text before a copy.
fn is_loose(c: &char) -> bool {
    !c.is_alphanumeric()
}

fn labels(
    wanted: &LoopRequest<'_>,
    unit: &RepeatUnit,
    chars: &[char],
    at: &Spans,
) -> Result<Vec<PlantedLabel>, NoDraw> {
    let (l, kind) = (wanted.item, wanted.kind);
    let class = l.repeats.class.name();
    let exact = matches!(kind, PlantKind::ShortSequence | PlantKind::Paragraph);
    let whole = |stretch: RepeatStretch| {
        let whole = if exact {
            stretch.extend(chars, is_loose)
        } else {
            Some(stretch)
        };
        whole.ok_or("copies that are not exact")
    };
    let label = |stretch: RepeatStretch, class| {
        stretch.label(class, kind.name(), wanted.channel, chars.len())
    };
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
        let run = RepeatStretch {
            start: at.body.start,
            period,
            end: at.body.start + period * times,
        };
        labels.push(label(
            run.extend(chars, is_loose)
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
