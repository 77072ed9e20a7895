//! [`Truth`]: the label of a transcript, with its class and its spans.

use deadloop_replay::ChannelLengths;
pub use deadloop_replay::corpus::Class;
use deadloop_replay::corpus::{Cost, Place, Problem};
use deadloop_replay::detect::Fault;
use deadloop_replay::detect::{Channel, Kind, Unit, Units};
use serde::{Deserialize, Serialize};

use crate::truth::{LabelRow, SpanJson};

/// A labelled span of a transcript that repeats itself.
///
/// Positions are in the unit of the channel: chars, calls on `tools`, or turns on `turns`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "SpanJson", from = "SpanJson")]
pub struct Span {
    /// [`Class::Loop`], [`Class::Transient`] or, before [`Case::notice`](crate::Case::notice), [`Class::Fault`].
    pub class: Class,
    /// The kind of loop or fault, if the label has one.
    pub kind: Option<Kind>,
    /// The channel that has the span.
    pub channel: Channel,
    /// The position of the first char of the first copy.
    pub start: Option<Units>,
    /// The position of the first char of the second copy.
    pub onset: Units,
    /// The first position at which an alarm is right: the label's `earliest`, or the onset.
    pub earliest: Units,
    /// The position after the last char: the label's `end`, or the channel's length.
    pub end: Units,
    /// Whether the label has no end, since the recording stops during the repetition.
    pub open: bool,
    /// The length of one copy.
    pub period: Option<u64>,
    /// The lengths of all channels just before the first position at which an alarm is right.
    pub seen: ChannelLengths,
    /// The lengths of all channels at the end of the span.
    pub until: ChannelLengths,
    /// The time from the request to the event with the onset, in milliseconds.
    pub onset_ms: Option<f64>,
    /// The number of tokens up to the event with the onset, inclusive.
    pub onset_tokens: Option<u64>,
}

impl Span {
    /// Returns whether the span is no fault, or a fault of one of these `kinds`.
    pub(crate) fn is_noticed(&self, kinds: &[Kind]) -> bool {
        let named = || self.kind.is_some_and(|kind| kinds.contains(&kind));
        self.class != Class::Fault || named()
    }
}

/// The label of one transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Truth {
    /// The class of the transcript. It is `unsure` if some label is, and `loop` if there is a loop span.
    pub class: Class,
    /// The spans, in the order in which they become detectable.
    ///
    /// A transient transcript may have none, if a person did not mark where it repeats itself.
    pub spans: Vec<Span>,
    /// The channels that labels name. If there are none, the labels are about the whole transcript.
    pub channels: Vec<Channel>,
    /// Whether a person has confirmed every label, so that its `by` begins with [`REVIEW`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reviewed: bool,
}

/// The beginning of `by` in a label that a person has confirmed.
pub const REVIEW: &str = "review";

impl Truth {
    /// Makes faults of these kinds count as loops, and drops other faults, so that an alarm on them is false.
    ///
    /// The kinds are those that some detector of the run detects. So all settings of a run have the same labels and can
    /// be compared.
    pub(crate) fn notice(&mut self, kinds: &[Kind]) {
        self.spans.retain(|span| span.is_noticed(kinds));
        let faults = self.spans.iter_mut().filter(|s| s.class == Class::Fault);
        faults.for_each(|span| span.class = Class::Loop);
    }

    /// Returns the class of the transcript if loops and healthy output are counted in `unit`.
    ///
    /// `None` if the class is unknown, or if the transcript loops in another unit. `has_unit` returns whether the
    /// transcript has any output in the unit.
    pub fn class_in(&self, unit: Unit, has_unit: impl FnOnce() -> bool) -> Option<Class> {
        let has = |class| self.spans_in(unit).any(|(_, span)| span.class == class);
        let applies = if self.channels.is_empty() {
            unit == Unit::Chars || has_unit()
        } else {
            self.channels.iter().any(|c| c.unit() == unit)
        };
        match self.class {
            Class::Unsure => None,
            Class::Loop if has(Class::Loop) => Some(Class::Loop),
            Class::Loop => has(Class::Transient).then_some(Class::Transient),
            Class::Fault if has(Class::Loop) => Some(Class::Loop),
            Class::Fault => applies.then_some(Class::Clean),
            class => (applies || has(Class::Transient)).then_some(class),
        }
    }

    /// Returns the spans of channels that are counted in `unit`, each with its index in `spans`.
    pub fn spans_in(&self, unit: Unit) -> impl Iterator<Item = (usize, &Span)> {
        let all = self.spans.iter().enumerate();
        all.filter(move |(_, span)| span.channel.unit() == unit)
    }

    /// Returns the loop span that becomes detectable first.
    pub fn first_loop(&self) -> Option<&Span> {
        self.spans.iter().find(|s| s.class == Class::Loop)
    }
}

/// A label as written, in JSON or in a row of labels.csv.
///
/// Unknown fields of the JSON are kept with the transcript.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct WireLabel {
    pub(crate) class: String,
    pub(crate) kind: Option<String>,
    pub(crate) channel: Option<String>,
    pub(crate) start: Option<u64>,
    pub(crate) onset: Option<u64>,
    pub(crate) earliest: Option<u64>,
    pub(crate) end: Option<u64>,
    pub(crate) period: Option<u64>,
    pub(crate) by: Option<String>,
    pub(crate) note: Option<String>,
    /// Whether an invalid onset was already reported.
    #[serde(skip)]
    pub(crate) onset_reported: bool,
}

impl WireLabel {
    /// Checks the label and returns it as a row. Adds every problem to `problems`.
    pub(crate) fn check_into_row(
        self,
        transcript: &str,
        place: &Place,
        problems: &mut Vec<Problem>,
    ) -> Option<LabelRow> {
        let before = problems.len();
        let mut unknown = |field: &str, word: &str, known: &[&str]| {
            let what = format!("unknown {field} {word:?}");
            add_problem(problems, place, what, &known.join(" | "));
        };
        let class = Class::named(&self.class);
        if class.is_none() {
            unknown("class", &self.class, &Class::NAMES);
        }
        let kind = self.kind.as_deref().and_then(Kind::named);
        if let (Some(word), None) = (&self.kind, kind) {
            unknown("kind", word, &Kind::NAMES);
        }
        let channel = self.channel.as_deref().and_then(Channel::named);
        if let (Some(word), None) = (&self.channel, channel) {
            unknown("channel", word, &Channel::NAMES);
        }
        let missing = match class {
            Some(Class::Loop) => Some((
                "a loop without an onset",
                "the first char of the second copy",
            )),
            Some(Class::Fault) => Some((
                "a fault without an onset",
                "the first char, call or event that is damaged",
            )),
            _ => None,
        };
        let is_missing = self.onset.is_none() && !self.onset_reported;
        if let Some((what, expected)) = missing.filter(|_| is_missing) {
            add_problem(problems, place, what, expected);
        }
        check_kind_fits(class, kind, place, problems);
        self.check_order(place, problems);
        (problems.len() == before).then_some(())?;
        Some(LabelRow {
            transcript: transcript.to_owned(),
            class: class?,
            kind,
            channel,
            start: self.start,
            onset: self.onset,
            earliest: self.earliest,
            end: self.end,
            period: self.period,
            by: self.by.unwrap_or_default(),
            note: self.note.unwrap_or_default(),
        })
    }

    /// Rejects positions that are in the wrong order.
    fn check_order(&self, place: &Place, problems: &mut Vec<Problem>) {
        let pairs = [
            (("start", self.start), ("onset", self.onset)),
            (("onset", self.onset), ("end", self.end)),
            (("earliest", self.earliest), ("end", self.end)),
        ];
        for ((first, a), (second, b)) in pairs {
            if let (Some(a), Some(b)) = (a, b)
                && a > b
            {
                let what = format!("{first} {a} is greater than {second} {b}");
                add_problem(problems, place, what, &format!("{first} <= {second}"));
            }
        }
    }
}

/// Rejects a loop with a kind of faults, and a fault with a kind of loops.
fn check_kind_fits(
    class: Option<Class>,
    kind: Option<Kind>,
    place: &Place,
    problems: &mut Vec<Problem>,
) {
    let (Some(class), Some(kind)) = (class, kind) else {
        return;
    };
    let is_fault_kind = matches!(kind, Kind::Fault(_));
    if is_fault_kind == (class == Class::Fault) {
        return;
    }
    let what = format!("kind {kind} of class {class}");
    let expected = if is_fault_kind {
        "class fault with it".to_owned()
    } else {
        Fault::NAMES.join(" | ")
    };
    add_problem(problems, place, what, &expected);
}

/// A label with its position in a file.
pub(crate) type LocatedLabel = (Place, LabelRow);

/// Returns the class of a transcript from its labels, and adds a problem if they contradict each other.
///
/// The class `clean` contradicts `loop`, `transient` and `fault`. One label `unsure` makes the whole transcript unsure,
/// since there is one case for each transcript.
pub(crate) fn combine_classes(
    labels: &[LocatedLabel],
    problems: &mut Vec<Problem>,
) -> Option<Class> {
    let label_of = |class| labels.iter().find(|(_, l)| l.class == class);
    let repeats = label_of(Class::Loop)
        .or_else(|| label_of(Class::Transient))
        .or_else(|| label_of(Class::Fault));
    if let (Some((place, _)), Some((_, other))) = (label_of(Class::Clean), repeats) {
        let what = format!("labelled clean and {}", other.class.name());
        add_problem(problems, place, what, "one or the other");
        return None;
    }
    let order = [
        Class::Unsure,
        Class::Loop,
        Class::Fault,
        Class::Transient,
        Class::Clean,
    ];
    order.into_iter().find(|class| label_of(*class).is_some())
}

/// Adds a problem with a label.
pub(crate) fn add_problem(
    problems: &mut Vec<Problem>,
    place: &Place,
    what: impl Into<String>,
    expected: &str,
) {
    problems.push(Problem {
        place: place.clone(),
        what: what.into(),
        expected: expected.into(),
        cost: Cost::Itself,
    });
}
