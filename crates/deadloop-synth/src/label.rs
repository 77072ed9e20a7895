//! [`PlantedLabel`]: the labels of synthetic transcripts.

use deadloop_corpus::LabelCells;

/// A row of labels.csv. Positions are in chars of the channel, or in calls on `tools`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlantedLabel {
    /// `loop`, `clean`, `transient` or `fault`.
    pub class: &'static str,
    /// Kind of loop or fault. Empty if clean.
    pub kind: &'static str,
    /// `reasoning`, `answer`, `arguments` or `tools`.
    pub channel: String,
    /// Position of the first copy.
    pub start: Option<usize>,
    /// Position of the second copy.
    pub onset: Option<usize>,
    /// Position after the last repeated char or call. `None` if the loop lasts to the end.
    pub end: Option<usize>,
    /// Length of the first copy.
    pub period: Option<usize>,
    /// `planted`, or `construction` if no loop was inserted.
    pub by: &'static str,
    /// Free-text note.
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

    /// Formats the label as a row of labels.csv.
    pub fn row(&self, transcript: &str) -> LabelCells {
        let number = |value: Option<usize>| value.map(|n| n.to_string()).unwrap_or_default();
        [
            transcript.to_owned(),
            self.class.to_owned(),
            self.kind.to_owned(),
            self.channel.clone(),
            number(self.start),
            number(self.onset),
            // No inserted loop has an earliest right alarm before its onset.
            String::new(),
            number(self.end),
            number(self.period),
            self.by.to_owned(),
            self.note.clone(),
        ]
    }
}

/// A span of a sequence that repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RepeatSpan {
    pub(super) start: usize,
    pub(super) period: usize,
    /// Position after the span.
    pub(super) end: usize,
}

impl RepeatSpan {
    /// Extends an exact repetition to its whole length, since the following text may happen to continue it.
    ///
    /// `None` if the span does not repeat, if the period is not minimal, or if the repetition begins before the span.
    /// Items before the span that satisfy `ignore` are ignored, such as a space before a unit that ends with a
    /// space.
    pub(super) fn extend<T: PartialEq>(self, all: &[T], ignore: fn(&T) -> bool) -> Option<Self> {
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
        let is_start = before.take(period).all(|at| ignore(&all[at]));
        is_start.then_some(Self { start, period, end })
    }

    pub(super) fn onset(self) -> usize {
        self.start + self.period
    }

    /// Creates the label of the span in a sequence of `length` items.
    pub(super) fn to_label(
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

/// Returns whether a unit is not itself a repetition of a smaller unit.
pub(super) fn is_primitive<T: PartialEq>(unit: &[T]) -> bool {
    let length = unit.len();
    let whole = |part: &usize| length.is_multiple_of(*part);
    let repeats = |part: usize| (part..length).all(|at| unit[at] == unit[at - part]);
    length > 0 && !(1..length).filter(whole).any(repeats)
}
