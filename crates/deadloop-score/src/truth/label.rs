//! The truth about a transcript: a class, and the spans in which it repeats itself.

use deadloop_replay::Seen;
pub use deadloop_replay::corpus::Class;
use deadloop_replay::corpus::{Cost, Place, Problem};
use deadloop_replay::detect::Fault;
use deadloop_replay::detect::{Channel, Kind, Unit, Units};
use serde::{Deserialize, Serialize};

use crate::truth::SpanJson;

/// A stretch of a transcript that repeats itself. Positions are in the channel's own unit: chars, calls on
/// `tools`, turns on `turns`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "SpanJson", from = "SpanJson")]
pub struct Span {
    /// [`Class::Loop`], [`Class::Transient`] or, before [`Case::notice`](crate::Case::notice), [`Class::Fault`].
    pub class: Class,
    /// What kind of loop or fault, where the labeller said.
    pub kind: Option<Kind>,
    /// Where it stands.
    pub channel: Channel,
    /// First char of the first copy.
    pub start: Option<Units>,
    /// First char of the second copy.
    pub onset: Units,
    /// From where on an alarm is right: the label's `earliest`, or the onset.
    pub earliest: Units,
    /// One past its last char: the label's `end`, or the channel's length.
    pub end: Units,
    /// Whether the label gives no end: the recording stops while it still repeats.
    pub open: bool,
    /// Length of one copy.
    pub period: Option<u64>,
    /// How much of the transcript had arrived just before the unit at `earliest`.
    pub seen: Seen,
    /// How much when it ended.
    pub until: Seen,
    /// Milliseconds since the request, of the event that holds the onset.
    pub onset_ms: Option<f64>,
    /// Tokens up to and including that event.
    pub onset_tokens: Option<u64>,
}

impl Span {
    /// Whether it stays where faults of these `kinds` are noticed: it is no other fault.
    pub(crate) fn is_noticed(&self, kinds: &[Kind]) -> bool {
        let named = || self.kind.is_some_and(|kind| kinds.contains(&kind));
        self.class != Class::Fault || named()
    }
}

/// The truth about one transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Truth {
    /// The class of the whole: `unsure` where any label says so, `loop` where there is a loop span.
    pub class: Class,
    /// The spans in the order in which they become detectable. A transient transcript may have
    /// none: someone saw that it recovers, and did not mark where.
    pub spans: Vec<Span>,
    /// The channels that some label names, those of spans included. None: the labels speak of all there is.
    pub channels: Vec<Channel>,
    /// Whether a person has confirmed every label: its `by` begins with [`REVIEW`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reviewed: bool,
}

/// What `by` of a label begins with that a person has confirmed.
pub const REVIEW: &str = "review";

impl Truth {
    /// Of faults: those of a kind that some detector of the run names count as loops do, an alarm on any other is
    /// false. The truth is the same for every setting of a run, or settings could not be compared.
    pub(crate) fn notice(&mut self, kinds: &[Kind]) {
        self.spans.retain(|span| span.is_noticed(kinds));
        let faults = self.spans.iter_mut().filter(|s| s.class == Class::Fault);
        faults.for_each(|span| span.class = Class::Loop);
    }

    /// What the transcript is where loops and healthy output are counted in `unit`; `None`: that is not known,
    /// or it loops where nothing is counted in it. `any` is whether the transcript has any of the unit.
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

    /// The spans whose positions are in `unit`, each with its place among all.
    pub fn spans_in(&self, unit: Unit) -> impl Iterator<Item = (usize, &Span)> {
        let all = self.spans.iter().enumerate();
        all.filter(move |(_, span)| span.channel.unit() == unit)
    }

    /// The loop span that becomes detectable first; it is charged with what was never found.
    pub fn first_loop(&self) -> Option<&Span> {
        self.spans.iter().find(|s| s.class == Class::Loop)
    }
}

/// One label of a file: its words are checked, its positions are not.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Label {
    pub(crate) class: Class,
    pub(crate) kind: Option<Kind>,
    pub(crate) channel: Option<Channel>,
    pub(crate) start: Option<u64>,
    pub(crate) onset: Option<u64>,
    pub(crate) earliest: Option<u64>,
    pub(crate) end: Option<u64>,
    pub(crate) period: Option<u64>,
    pub(crate) reviewed: bool,
}

/// One label as it is written, in JSON or in a row of labels.csv. Fields of JSON that are not known are
/// kept with the transcript, as all of its are.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Wire {
    pub(crate) class: String,
    pub(crate) kind: Option<String>,
    pub(crate) channel: Option<String>,
    pub(crate) start: Option<u64>,
    pub(crate) onset: Option<u64>,
    pub(crate) earliest: Option<u64>,
    pub(crate) end: Option<u64>,
    pub(crate) period: Option<u64>,
    /// Who said so.
    pub(crate) by: Option<String>,
    /// Free text; read for the sake of the format, not used.
    #[serde(rename = "note")]
    pub(crate) _note: Option<String>,
    /// Whether there is an onset that cannot be read and was reported already.
    #[serde(skip)]
    pub(crate) onset_told: bool,
}

impl Wire {
    /// Checks what can be checked without the transcript; every problem is pushed, not the first.
    pub(crate) fn check(&self, place: &Place, problems: &mut Vec<Problem>) -> Option<Label> {
        let before = problems.len();
        let class = word(
            "class",
            &self.class,
            &Class::ALL,
            Class::name,
            place,
            problems,
        );
        let known = self.kind.as_deref().and_then(Kind::named);
        let kind =
            known.or_else(|| optional("kind", &self.kind, &Kind::ALL, Kind::name, place, problems));
        let channel = optional(
            "channel",
            &self.channel,
            &Channel::ALL,
            Channel::name,
            place,
            problems,
        );
        if class == Some(Class::Loop) && self.onset.is_none() && !self.onset_told {
            let what = "a loop without an onset";
            push(problems, place, what, "the first char of the second copy");
        }
        if class == Some(Class::Fault) && self.onset.is_none() && !self.onset_told {
            let what = "a fault without an onset";
            push(
                problems,
                place,
                what,
                "the first char, call or event that is damaged",
            );
        }
        self.fitting(class, kind, place, problems);
        self.order(place, problems);
        (problems.len() == before).then_some(())?;
        Some(Label {
            class: class?,
            kind,
            channel,
            start: self.start,
            onset: self.onset,
            earliest: self.earliest,
            end: self.end,
            period: self.period,
            reviewed: self.by.as_deref().is_some_and(|by| by.starts_with(REVIEW)),
        })
    }

    /// Refuses a fault of a kind of loops, and the other way round.
    fn fitting(
        &self,
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
        let what = format!("kind {kind} of class {}", class.name());
        let expected = if of_fault {
            "class fault with it".to_owned()
        } else {
            Fault::NAMES.join(" | ")
        };
        push(problems, place, what, &expected);
    }

    /// Refuses positions that stand in the wrong order.
    fn order(&self, place: &Place, problems: &mut Vec<Problem>) {
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
                push(problems, place, what, &format!("{first} <= {second}"));
            }
        }
    }
}

/// The labels of one transcript as the file has them: `(where, label)`.
pub(crate) type Placed = (Place, Label);

/// Whether the labels of one transcript can be true together, and the class of the whole.
///
/// `clean` says that nothing repeats, so it contradicts `loop` and `transient`. `unsure` beside
/// anything makes the whole transcript unsure: a doubt is about the transcript, which has one case.
pub(crate) fn class_of(labels: &[Placed], problems: &mut Vec<Problem>) -> Option<Class> {
    let find = |class| labels.iter().find(|(_, l)| l.class == class);
    let repeats = find(Class::Loop)
        .or_else(|| find(Class::Transient))
        .or_else(|| find(Class::Fault));
    if let (Some((place, _)), Some((_, other))) = (find(Class::Clean), repeats) {
        let what = format!("labelled clean and {}", other.class.name());
        push(problems, place, what, "one or the other");
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
pub(crate) fn push(
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

fn optional<T: Copy>(
    field: &str,
    text: &Option<String>,
    all: &[T],
    name: fn(T) -> &'static str,
    place: &Place,
    problems: &mut Vec<Problem>,
) -> Option<T> {
    word(field, text.as_deref()?, all, name, place, problems)
}

fn word<T: Copy>(
    field: &str,
    text: &str,
    all: &[T],
    name: fn(T) -> &'static str,
    place: &Place,
    problems: &mut Vec<Problem>,
) -> Option<T> {
    let found = all.iter().copied().find(|t| name(*t) == text);
    if found.is_none() {
        let names: Vec<&str> = all.iter().map(|t| name(*t)).collect();
        push(
            problems,
            place,
            format!("unknown {field} {text:?}"),
            &names.join(" | "),
        );
    }
    found
}
