//! [`RepairVerdict`]: the verdict on a repair, by comparison with the undamaged stream.
//!
//! The undamaged stream is known because the damage was made on purpose. If several verdicts on a damaged stream apply,
//! the worst counts. An invented action is worse than leaked marks, and leaked marks are worse than lost text.

use std::collections::BTreeMap;
use std::fmt;

use deadloop_repair::meaning::{Action, Delivery, Meaning};
use serde_json::Value;

/// The expected repair of one stream of text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpectedText {
    /// The meaning of the undamaged stream.
    pub meaning: Meaning,
    /// Whether the stream was damaged before the repair.
    pub damaged: bool,
    /// Tags and control marks that must not reach a user, except those in the undamaged text.
    pub marks: Vec<String>,
}

deadloop_replay::detect::words! {
    /// The verdict on the repair of one stream.
    pub enum RepairVerdict {
        /// The stream was damaged, and the repair is exactly the undamaged stream.
        Recovered = "recovered",
        /// The repair has an action that the undamaged stream does not have, or one with other arguments. It does harm.
        Wrong = "wrong",
        /// Text or an action is missing or in the wrong place.
        Lost = "lost",
        /// The repaired text contains more tags or control marks than the undamaged text.
        Leaked = "leaked",
        /// The stream was intact, and the repairer changed it.
        FalseRepair = "false-repair",
        /// The stream was intact, and the repairer left it unchanged.
        Intact = "intact",
    }
}

impl RepairVerdict {
    /// Returns whether the verdict is on a damaged stream.
    pub(crate) fn is_on_damaged(self) -> bool {
        !matches!(self, Self::Intact | Self::FalseRepair)
    }
}

impl ExpectedText {
    /// Compares a repaired stream with the expected one.
    ///
    /// Texts are compared char by char. Arguments are compared as JSON values if both texts are JSON (see
    /// [`judge_arguments`]), otherwise as trimmed texts.
    pub fn judge(&self, repaired: &Meaning) -> RepairVerdict {
        let same = self.meaning.reasoning == repaired.reasoning
            && self.meaning.text == repaired.text
            && comparable_actions(&self.meaning.actions) == comparable_actions(&repaired.actions);
        decide_verdict(self.damaged, same, || {
            if invents_action(&self.meaning.actions, &repaired.actions) {
                RepairVerdict::Wrong
            } else if self.leaks_marks(&repaired.text) {
                RepairVerdict::Leaked
            } else {
                RepairVerdict::Lost
            }
        })
    }

    fn leaks_marks(&self, text: &str) -> bool {
        let is_leaked = |mark: &String| {
            !mark.is_empty() && text.matches(mark).count() > self.meaning.text.matches(mark).count()
        };
        self.marks.iter().any(is_leaked)
    }
}

/// Returns the verdict on a stream. `judge_harm` is called if a damaged stream was not repaired exactly.
pub(super) fn decide_verdict(
    damaged: bool,
    is_exact: bool,
    judge_harm: impl FnOnce() -> RepairVerdict,
) -> RepairVerdict {
    match (damaged, is_exact) {
        (false, true) => RepairVerdict::Intact,
        (false, false) => RepairVerdict::FalseRepair,
        (true, true) => RepairVerdict::Recovered,
        (true, false) => judge_harm(),
    }
}

/// An action in a form that can be compared for equality.
#[derive(Clone, Debug, PartialEq)]
struct ComparableAction<'a> {
    name: &'a str,
    number: Option<u32>,
    /// The fields by name. The order is ignored, and the last of several fields with one name counts.
    fields: BTreeMap<&'a str, ComparableText<'a>>,
    content: ComparableText<'a>,
}

/// A text that is compared as a JSON value, or else as a trimmed text.
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

/// Returns whether the repair has an action that the undamaged stream does not have, or has it more often.
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

/// The verdict on the repair of a call's broken arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArgumentsVerdict {
    /// Whether the arguments parse as JSON.
    pub parsed: bool,
    /// Whether the arguments are a JSON object.
    pub valid: bool,
    /// Whether the arguments equal the undamaged ones as JSON values.
    pub exact: bool,
}

impl ArgumentsVerdict {
    /// Returns whether the arguments are a JSON object that differs from the undamaged one. Such a repair does harm.
    pub fn wrong_but_valid(self) -> bool {
        self.valid && !self.exact
    }
}

/// Compares repaired arguments with the undamaged ones as JSON values.
///
/// The order of an object's names is ignored, and the last of several equal names counts. 1 is not equal to 1.0.
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
    /// Number of events of the undamaged list that are missing.
    pub lost: u64,
    /// Number of events that are repeated, or missing in the undamaged list.
    pub doubled: u64,
    /// Number of events that arrive after a later event of the undamaged list.
    pub disordered: u64,
    /// Whether there is exactly one end event, and it is the last.
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

/// Compares a repaired list of events with the undamaged one. End events count only for `ended`.
///
/// Two events are equal if their positions, ids and texts are.
pub fn judge_events(gold: &[Delivery], repaired: &[Delivery]) -> EventsVerdict {
    let key = |event: &Delivery| (event.position, event.id.clone(), event.text.clone());
    let mut indices: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (index, event) in gold.iter().filter(|event| !event.done).enumerate() {
        indices.entry(key(event)).or_default().push(index);
    }
    indices.values_mut().for_each(|indices| indices.reverse());
    let (mut verdict, mut last) = (EventsVerdict::default(), None);
    for event in repaired.iter().filter(|event| !event.done) {
        let Some(index) = indices.get_mut(&key(event)).and_then(Vec::pop) else {
            verdict.doubled += 1;
            continue;
        };
        verdict.disordered += u64::from(last.is_some_and(|last| index < last));
        last = last.max(Some(index));
    }
    verdict.lost = indices.values().map(|indices| indices.len() as u64).sum();
    let end_events = repaired.iter().filter(|event| event.done).count();
    verdict.ended = end_events == 1 && repaired.last().is_some_and(|event| event.done);
    verdict
}
