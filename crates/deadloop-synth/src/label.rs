//! [`PlantedLabel`]: the labels of made transcripts, checked against the planted text.

use deadloop_corpus::LabelCells;

/// A row of labels.csv. Positions are chars of the channel, or calls on `tools`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlantedLabel {
    /// `loop`, `clean`, `transient` or `fault`.
    pub class: &'static str,
    /// The kind of loop or fault. Empty if clean.
    pub kind: &'static str,
    /// `reasoning`, `answer`, `arguments` or `tools`.
    pub channel: String,
    /// The position of the first copy.
    pub start: Option<usize>,
    /// The position of the second copy.
    pub onset: Option<usize>,
    /// The position after the last repeated char or call. `None` if the loop lasts to the end.
    pub end: Option<usize>,
    /// The length of the first copy.
    pub period: Option<usize>,
    /// `planted`, or `construction` if nothing was planted.
    pub by: &'static str,
    /// A note.
    pub note: String,
}

impl PlantedLabel {
    pub(super) fn clean(channel: &str) -> Self {
        Self {
            class: "clean",
            channel: channel.to_owned(),
            by: "construction",
            ..Self::default()
        }
    }

    /// Returns the cells of the label's row.
    pub fn row(&self, transcript: &str) -> LabelCells {
        let number = |value: Option<usize>| value.map(|n| n.to_string()).unwrap_or_default();
        [
            transcript.to_owned(),
            self.class.to_owned(),
            self.kind.to_owned(),
            self.channel.clone(),
            number(self.start),
            number(self.onset),
            // No planted loop has an earliest right alarm before its onset.
            String::new(),
            number(self.end),
            number(self.period),
            self.by.to_owned(),
            self.note.clone(),
        ]
    }
}

/// A stretch of a sequence that repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RepeatStretch {
    pub(super) start: usize,
    pub(super) period: usize,
    /// The position after the stretch.
    pub(super) end: usize,
}

impl RepeatStretch {
    /// Extends an exact repetition to its whole length, since the text after a planted repetition may happen to
    /// continue it. `None` if the stretch does not repeat, if the period is not the smallest, or if the repetition
    /// already begins in the text before. `loose` items before the stretch are ignored: a blank before a unit that ends
    /// with a blank does not move the start.
    pub(super) fn extend<T: PartialEq>(self, all: &[T], loose: fn(&T) -> bool) -> Option<Self> {
        let Self {
            start,
            period,
            mut end,
        } = self;
        let same = |at: usize| at >= period && all.get(at) == all.get(at - period);
        let repeats = end <= all.len() && (start + period..end).all(same);
        let unit = all.get(start..start + period)?;
        if !repeats || !is_primitive(unit) {
            return None;
        }
        while end < all.len() && same(end) {
            end += 1;
        }
        let before = (0..start)
            .rev()
            .take_while(|at| all[*at] == all[at + period]);
        let loose = before.take(period).all(|at| loose(&all[at]));
        loose.then_some(Self { start, period, end })
    }

    pub(super) fn onset(self) -> usize {
        self.start + self.period
    }

    /// Returns the label of the stretch in a sequence of `length` items.
    pub(super) fn label(
        self,
        class: &'static str,
        kind: &'static str,
        channel: &str,
        length: usize,
    ) -> PlantedLabel {
        PlantedLabel {
            class,
            kind,
            channel: channel.to_owned(),
            start: Some(self.start),
            onset: Some(self.onset()),
            end: Some(self.end).filter(|end| *end < length),
            period: Some(self.period),
            by: "planted",
            note: String::new(),
        }
    }
}

/// Returns whether a unit is not itself a repetition of a smaller one.
pub(super) fn is_primitive<T: PartialEq>(unit: &[T]) -> bool {
    let length = unit.len();
    let whole = |part: &usize| length.is_multiple_of(*part);
    let repeats = |part: usize| (part..length).all(|at| unit[at] == unit[at - part]);
    length > 0 && !(1..length).filter(whole).any(repeats)
}
