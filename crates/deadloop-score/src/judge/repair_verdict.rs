//! [`RepairVerdict`]: the verdict on a repair, by comparison with the truth.
//!
//! The truth is known because the damage was made on purpose. If several verdicts on a damaged stream apply, the worst
//! counts: an invented action before leaked marks, leaked marks before lost text.

use std::collections::BTreeMap;
use std::fmt;

use deadloop_repair::meaning::{Action, Delivery, Meaning};
use serde_json::Value;

/// The truth of one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpectedText {
    /// The meaning of the undamaged stream.
    pub meaning: Meaning,
    /// Whether the stream was damaged.
    pub damaged: bool,
    /// Tags and control marks that must not reach a user, unless they are in the true text.
    pub marks: Vec<String>,
}

deadloop_replay::detect::words! {
    /// The verdict on the repair of one stream.
    pub enum RepairVerdict {
        /// The stream was damaged, and the repair is exactly the truth.
        Recovered = "recovered",
        /// The repair has an action that the truth does not have, or one with other arguments. This verdict is harmful.
        Wrong = "wrong",
        /// Text or an action is missing or in the wrong place.
        Lost = "lost",
        /// The repaired text contains more tags or control marks than the truth.
        Leaked = "leaked",
        /// The stream was intact, and it was changed.
        FalseRepair = "false-repair",
        /// The stream was intact, and it was left unchanged.
        Intact = "intact",
    }
}

impl RepairVerdict {
    /// Returns whether the verdict is on a damaged stream.
    pub(crate) fn is_of_damaged(self) -> bool {
        !matches!(self, Self::Intact | Self::FalseRepair)
    }
}

impl ExpectedText {
    /// Compares a repair with the truth.
    ///
    /// Texts are compared char by char. Arguments are compared as values if both are JSON (see [`judge_arguments`]),
    /// otherwise as texts without the blanks around them.
    pub fn judge(&self, repaired: &Meaning) -> RepairVerdict {
        let same = self.meaning.reasoning == repaired.reasoning
            && self.meaning.text == repaired.text
            && comparable_actions(&self.meaning.actions) == comparable_actions(&repaired.actions);
        decide_verdict(self.damaged, same, || {
            if invents_action(&self.meaning.actions, &repaired.actions) {
                RepairVerdict::Wrong
            } else if self.leaks(&repaired.text) {
                RepairVerdict::Leaked
            } else {
                RepairVerdict::Lost
            }
        })
    }

    fn leaks(&self, text: &str) -> bool {
        let more = |mark: &String| {
            !mark.is_empty() && text.matches(mark).count() > self.meaning.text.matches(mark).count()
        };
        self.marks.iter().any(more)
    }
}

/// Returns the verdict on a stream. `harm` is called if a damaged stream differs from the truth.
pub(super) fn decide_verdict(
    damaged: bool,
    same: bool,
    harm: impl FnOnce() -> RepairVerdict,
) -> RepairVerdict {
    match (damaged, same) {
        (false, true) => RepairVerdict::Intact,
        (false, false) => RepairVerdict::FalseRepair,
        (true, true) => RepairVerdict::Recovered,
        (true, false) => harm(),
    }
}

/// An action in comparable form.
#[derive(Clone, Debug, PartialEq)]
struct ComparableAction<'a> {
    name: &'a str,
    number: Option<u32>,
    /// The fields by name. Their order is ignored, and the last of several with one name counts.
    fields: BTreeMap<&'a str, ComparableText<'a>>,
    content: ComparableText<'a>,
}

/// A text in comparable form.
#[derive(Clone, Debug, PartialEq)]
enum ComparableText<'a> {
    Json(Value),
    Text(&'a str),
}

fn comparable_text(text: &str) -> ComparableText<'_> {
    match serde_json::from_str(text) {
        Ok(value) => ComparableText::Json(value),
        Err(_) => ComparableText::Text(text.trim()),
    }
}

fn comparable_actions(actions: &[Action]) -> Vec<ComparableAction<'_>> {
    actions.iter().map(comparable_action).collect()
}

fn comparable_action(action: &Action) -> ComparableAction<'_> {
    let fields = action.fields.iter();
    ComparableAction {
        name: &action.name,
        number: action.number,
        fields: fields
            .map(|(name, value)| (name.as_str(), comparable_text(value)))
            .collect(),
        content: comparable_text(&action.content),
    }
}

/// Returns whether the repair has an action that the truth does not have, or has it more often.
fn invents_action(gold: &[Action], repaired: &[Action]) -> bool {
    let mut left = comparable_actions(gold);
    comparable_actions(repaired).iter().any(|action| {
        match left.iter().position(|known| known == action) {
            Some(at) => {
                left.swap_remove(at);
                false
            }
            None => true,
        }
    })
}

/// The verdict on the repair of broken arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArgumentsVerdict {
    /// Whether the arguments parse as JSON.
    pub parsed: bool,
    /// Whether the arguments are an object.
    pub valid: bool,
    /// Whether the arguments are the same value as the truth.
    pub exact: bool,
}

impl ArgumentsVerdict {
    /// Returns whether the arguments pass every check but differ from the truth. Such a repair does harm.
    pub fn wrong_but_valid(self) -> bool {
        self.valid && !self.exact
    }
}

/// Compares repaired arguments with the truth as JSON values.
///
/// The order of an object's names is ignored, the last of several equal names counts, and 1 is not 1.0.
pub fn judge_arguments(gold: &str, repaired: &str) -> ArgumentsVerdict {
    let Ok(value) = serde_json::from_str::<Value>(repaired) else {
        return ArgumentsVerdict::default();
    };
    ArgumentsVerdict {
        parsed: true,
        valid: value.is_object(),
        exact: serde_json::from_str::<Value>(gold).is_ok_and(|gold| gold == value),
    }
}

/// The verdict on the repair of a list of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventsVerdict {
    /// Number of events of the truth that are missing.
    pub lost: u64,
    /// Number of events that are repeated or not in the truth.
    pub doubled: u64,
    /// Number of events that arrive after a later event of the truth.
    pub disordered: u64,
    /// Whether there is exactly one end mark, at the end.
    pub ended: bool,
}

impl fmt::Display for EventsVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.ended { "there" } else { "missing" };
        let Self {
            lost,
            doubled,
            disordered,
            ..
        } = self;
        write!(
            f,
            "lost {lost}, doubled {doubled}, disordered {disordered}, end mark {mark}"
        )
    }
}

/// Compares a list of events with the truth. End marks count only for `ended`.
///
/// Two events are the same if their positions, ids and texts are equal.
pub fn judge_events(gold: &[Delivery], repaired: &[Delivery]) -> EventsVerdict {
    let key = |event: &Delivery| (event.position, event.id.clone(), event.text.clone());
    let mut places: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (place, event) in gold.iter().filter(|event| !event.done).enumerate() {
        places.entry(key(event)).or_default().push(place);
    }
    places.values_mut().for_each(|places| places.reverse());
    let (mut replayed, mut last) = (EventsVerdict::default(), None);
    for event in repaired.iter().filter(|event| !event.done) {
        let Some(place) = places.get_mut(&key(event)).and_then(Vec::pop) else {
            replayed.doubled += 1;
            continue;
        };
        replayed.disordered += u64::from(last.is_some_and(|last| place < last));
        last = last.max(Some(place));
    }
    replayed.lost = places.values().map(|places| places.len() as u64).sum();
    let marks = repaired.iter().filter(|event| event.done).count();
    replayed.ended = marks == 1 && repaired.last().is_some_and(|event| event.done);
    replayed
}
