//! Labels of made transcripts, and the check that what was planted is what the label says.

/// The columns of labels.csv, in order.
pub const COLUMNS: [&str; 11] = [
    "transcript",
    "class",
    "kind",
    "channel",
    "start",
    "onset",
    "earliest",
    "end",
    "period",
    "by",
    "note",
];

/// The cells of a row of labels.csv, by [`COLUMNS`].
pub type LabelCells = [String; 11];

/// A row of labels.csv. Positions are chars of the channel, or calls on `tools`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// `loop`, `clean`, `transient` or `fault`.
    pub class: &'static str,
    /// The kind of loop or fault; empty where clean.
    pub kind: &'static str,
    /// `reasoning`, `answer`, `arguments` or `tools`.
    pub channel: String,
    /// First of the first copy.
    pub start: Option<usize>,
    /// First of the second copy.
    pub onset: Option<usize>,
    /// From where on an alarm is right, where that is before the onset.
    pub earliest: Option<usize>,
    /// One past the last that repeats; none: it goes on to the end.
    pub end: Option<usize>,
    /// Length of the first copy.
    pub period: Option<usize>,
    /// `planted`, or `construction` where nothing was planted.
    pub by: &'static str,
    /// What else is to be said.
    pub note: String,
}

impl Label {
    pub(super) fn clean(channel: &str) -> Self {
        Self {
            class: "clean",
            channel: channel.to_owned(),
            by: "construction",
            ..Self::default()
        }
    }

    /// The cells of its row.
    pub fn row(&self, transcript: &str) -> LabelCells {
        let number = |value: Option<usize>| value.map(|n| n.to_string()).unwrap_or_default();
        [
            transcript.to_owned(),
            self.class.to_owned(),
            self.kind.to_owned(),
            self.channel.clone(),
            number(self.start),
            number(self.onset),
            number(self.earliest),
            number(self.end),
            number(self.period),
            self.by.to_owned(),
            self.note.clone(),
        ]
    }
}

/// A stretch of a sequence that repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) start: usize,
    pub(super) period: usize,
    /// One past its end.
    pub(super) end: usize,
}

impl Stretch {
    /// The whole of an exact repetition: what follows a planted one may happen to belong to it. None
    /// where it does not repeat, the period is not its smallest, or what is before it belongs to
    /// it too and is not `loose`: a blank before a unit that ends with one does not move the start.
    pub(super) fn whole<T: PartialEq>(self, all: &[T], loose: fn(&T) -> bool) -> Option<Self> {
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

    /// Its label; `length`: of the whole sequence.
    pub(super) fn label(
        self,
        class: &'static str,
        kind: &'static str,
        channel: &str,
        length: usize,
    ) -> Label {
        Label {
            class,
            kind,
            channel: channel.to_owned(),
            start: Some(self.start),
            onset: Some(self.onset()),
            earliest: None,
            end: Some(self.end).filter(|end| *end < length),
            period: Some(self.period),
            by: "planted",
            note: String::new(),
        }
    }
}

/// Whether a unit is not itself a smaller one several times over.
pub(super) fn is_primitive<T: PartialEq>(unit: &[T]) -> bool {
    let length = unit.len();
    let whole = |part: &usize| length.is_multiple_of(*part);
    let repeats = |part: usize| (part..length).all(|at| unit[at] == unit[at - part]);
    length > 0 && !(1..length).filter(whole).any(repeats)
}
