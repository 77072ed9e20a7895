//! [`Truth`]: the class of a transcript, and its repeated spans.

use deadloop_replay::ChannelLengths;
pub use deadloop_replay::corpus::Class;
use deadloop_replay::corpus::{Cost, Place, Problem};
use deadloop_replay::detect::Fault;
use deadloop_replay::detect::{Channel, Kind, Unit, Units};
use serde::{Deserialize, Serialize};

use crate::truth::{LabelRow, SpanJson};

/// A stretch of a transcript that repeats itself.
///
/// Positions are in the channel's own unit: chars, calls on `tools`, turns on `turns`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "SpanJson", from = "SpanJson")]
pub struct Span {
    /// [`Class::Loop`], [`Class::Transient`] or, before [`Case::notice`](crate::Case::notice), [`Class::Fault`].
    pub class: Class,
    /// The kind of loop or fault, if labelled.
    pub kind: Option<Kind>,
    /// The channel.
    pub channel: Channel,
    /// The first char of the first copy.
    pub start: Option<Units>,
    /// The first char of the second copy.
    pub onset: Units,
    /// The position from which an alarm is right: the label's `earliest`, or the onset.
    pub earliest: Units,
    /// The end, exclusive: the label's `end`, or the channel's length.
    pub end: Units,
    /// Whether the label has no end: the recording stops during the repetition.
    pub open: bool,
    /// The length of one copy.
    pub period: Option<u64>,
    /// The lengths of all channels just before the unit at `earliest`.
    pub seen: ChannelLengths,
    /// The lengths of all channels at the end.
    pub until: ChannelLengths,
    /// Milliseconds from the request to the event that holds the onset.
    pub onset_ms: Option<f64>,
    /// Tokens up to and including the event that holds the onset.
    pub onset_tokens: Option<u64>,
}

impl Span {
    /// Returns whether the span is kept if faults of these `kinds` are noticed. Only faults of other kinds are dropped.
    pub(crate) fn is_noticed(&self, kinds: &[Kind]) -> bool {
        let named = || self.kind.is_some_and(|kind| kinds.contains(&kind));
        self.class != Class::Fault || named()
    }
}

/// The label of one transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Truth {
    /// The class of the whole: `unsure` if any label is, `loop` if there is a loop span.
    pub class: Class,
    /// The spans in the order in which they become detectable.
    ///
    /// A transient transcript may have none: a person saw that it recovers and did not mark where.
    pub spans: Vec<Span>,
    /// The channels that labels name, including those of spans. If empty, the labels apply to the whole transcript.
    pub channels: Vec<Channel>,
    /// Whether a person has confirmed every label: its `by` begins with [`REVIEW`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reviewed: bool,
}

/// The prefix of `by` in a label that a person has confirmed.
pub const REVIEW: &str = "review";

impl Truth {
    /// Makes faults of the given kinds count as loops, and drops the others, on which an alarm is false.
    ///
    /// The kinds are those that some detector of the run names. So the label is the same for every setting of a run,
    /// and settings can be compared.
    pub(crate) fn notice(&mut self, kinds: &[Kind]) {
        self.spans.retain(|span| span.is_noticed(kinds));
        let faults = self.spans.iter_mut().filter(|s| s.class == Class::Fault);
        faults.for_each(|span| span.class = Class::Loop);
    }

    /// Returns the class of the transcript if loops and healthy output are counted in `unit`.
    ///
    /// `None` if the class is unknown, or if the transcript loops in another unit. `any` is whether the transcript has
    /// any of the unit.
    pub fn class_in(&self, unit: Unit, any: impl FnOnce() -> bool) -> Option<Class> {
        let has = |class| self.spans_in(unit).any(|(_, span)| span.class == class);
        let told = if self.channels.is_empty() {
            unit == Unit::Chars || any()
        } else {
            self.channels.iter().any(|c| c.unit() == unit)
        };
        match self.class {
            Class::Unsure => None,
            Class::Loop if has(Class::Loop) => Some(Class::Loop),
            Class::Loop => has(Class::Transient).then_some(Class::Transient),
            Class::Fault if has(Class::Loop) => Some(Class::Loop),
            Class::Fault => told.then_some(Class::Clean),
            class => (told || has(Class::Transient)).then_some(class),
        }
    }

    /// Returns the spans with positions in `unit`, each with its index among all.
    pub fn spans_in(&self, unit: Unit) -> impl Iterator<Item = (usize, &Span)> {
        let all = self.spans.iter().enumerate();
        all.filter(move |(_, span)| span.channel.unit() == unit)
    }

    /// Returns the loop span that becomes detectable first, to which misses are charged.
    pub fn first_loop(&self) -> Option<&Span> {
        self.spans.iter().find(|s| s.class == Class::Loop)
    }
}

/// A label as written, in JSON or in a row of labels.csv. Unknown JSON fields stay with the transcript.
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
    /// Whether an unreadable onset was already reported.
    #[serde(skip)]
    pub(crate) onset_reported: bool,
}

impl WireLabel {
    /// Returns the label as a row, checked without the text of the transcript. Adds every problem to `problems`.
    pub(crate) fn check(
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

    /// Rejects positions in the wrong order.
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

/// Rejects a fault with a kind of loop, and a loop with a kind of fault.
fn check_kind_fits(
    class: Option<Class>,
    kind: Option<Kind>,
    place: &Place,
    problems: &mut Vec<Problem>,
) {
    let (Some(class), Some(kind)) = (class, kind) else {
        return;
    };
    let of_fault = matches!(kind, Kind::Fault(_));
    if of_fault == (class == Class::Fault) {
        return;
    }
    let what = format!("kind {kind} of class {class}");
    let expected = if of_fault {
        "class fault with it".to_owned()
    } else {
        Fault::NAMES.join(" | ")
    };
    add_problem(problems, place, what, &expected);
}

/// A label and its place in a file.
pub(crate) type PlacedLabel = (Place, LabelRow);

/// Checks that the labels of one transcript are consistent, and returns the class of the whole.
///
/// `clean` contradicts `loop` and `transient`. A label `unsure` makes the whole transcript unsure, since there is one
/// case per transcript.
pub(crate) fn combine_classes(
    labels: &[PlacedLabel],
    problems: &mut Vec<Problem>,
) -> Option<Class> {
    let find = |class| labels.iter().find(|(_, l)| l.class == class);
    let repeats = find(Class::Loop)
        .or_else(|| find(Class::Transient))
        .or_else(|| find(Class::Fault));
    if let (Some((place, _)), Some((_, other))) = (find(Class::Clean), repeats) {
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
    order.into_iter().find(|class| find(*class).is_some())
}

/// Adds a problem.
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
