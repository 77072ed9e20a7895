//! What a repairer did, held against the truth.
//!
//! The truth is known because the damage was made. The verdicts stand in the order in which the first
//! that holds counts: harm before loss.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use super::json::{Fields, Type};
use super::meaning::{Action, Delivered, Meaning};

/// The truth about one stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gold {
    /// What it meant.
    pub meaning: Meaning,
    /// Whether it was damaged at all.
    pub damaged: bool,
    /// Tags and control marks that no user may see, unless the truth has them in its text.
    pub marks: Vec<String>,
}

/// What came of one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mended {
    /// It was intact, and it was left so.
    Intact,
    /// It was intact, and it was changed.
    FalseRepair,
    /// It was damaged, and exactly the truth came of it.
    Recovered,
    /// An action came that the truth does not have, or with other arguments: the one that does harm.
    Wrong,
    /// More marks are in the text than the truth has there.
    Leaked,
    /// Text or an action is missing, or not where it belongs.
    Lost,
}

impl Mended {
    /// Every verdict, in the order of tables.
    pub const ALL: [Self; 6] = [
        Self::Recovered,
        Self::Wrong,
        Self::Lost,
        Self::Leaked,
        Self::FalseRepair,
        Self::Intact,
    ];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Intact => "intact",
            Self::FalseRepair => "false-repair",
            Self::Recovered => "recovered",
            Self::Wrong => "wrong",
            Self::Leaked => "leaked",
            Self::Lost => "lost",
        }
    }
}

impl fmt::Display for Mended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Holds what a repairer made of a stream against the truth. Texts are compared char by char, arguments
/// as values where both are JSON (see [`judge_arguments`]), else without the blanks around them.
pub fn judge(gold: &Gold, repaired: &Meaning) -> Mended {
    let same = gold.meaning.reasoning == repaired.reasoning
        && gold.meaning.text == repaired.text
        && actions(&gold.meaning.actions) == actions(&repaired.actions);
    match (gold.damaged, same) {
        (false, true) => Mended::Intact,
        (false, false) => Mended::FalseRepair,
        (true, true) => Mended::Recovered,
        (true, false) if invented(&gold.meaning.actions, &repaired.actions) => Mended::Wrong,
        (true, false) if leaked(gold, &repaired.text) => Mended::Leaked,
        (true, false) => Mended::Lost,
    }
}

/// An action as it is compared.
#[derive(Clone, Debug, PartialEq)]
struct Compared<'a> {
    name: &'a str,
    number: Option<u32>,
    /// The last of a doubled field counts, the order does not.
    fields: BTreeMap<&'a str, Compare<'a>>,
    content: Compare<'a>,
}

/// A text as it is compared.
#[derive(Clone, Debug, PartialEq)]
enum Compare<'a> {
    Json(Value),
    Text(&'a str),
}

fn compare(text: &str) -> Compare<'_> {
    match serde_json::from_str(text) {
        Ok(value) => Compare::Json(value),
        Err(_) => Compare::Text(text.trim()),
    }
}

fn actions(actions: &[Action]) -> Vec<Compared<'_>> {
    actions.iter().map(compared).collect()
}

fn compared(action: &Action) -> Compared<'_> {
    let fields = action.fields.iter();
    Compared {
        name: &action.name,
        number: action.number,
        fields: fields
            .map(|(name, value)| (name.as_str(), compare(value)))
            .collect(),
        content: compare(&action.content),
    }
}

/// Whether there is an action that the truth does not have, or more often than the truth has it.
fn invented(gold: &[Action], repaired: &[Action]) -> bool {
    let mut left = actions(gold);
    actions(repaired).iter().any(
        |action| match left.iter().position(|known| known == action) {
            Some(at) => {
                left.swap_remove(at);
                false
            }
            None => true,
        },
    )
}

fn leaked(gold: &Gold, text: &str) -> bool {
    let more = |mark: &String| {
        !mark.is_empty() && text.matches(mark).count() > gold.meaning.text.matches(mark).count()
    };
    gold.marks.iter().any(more)
}

/// What came of broken arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MendedArguments {
    /// They are JSON now.
    pub parsed: bool,
    /// They are an object, and each of its fields is expected and of its type. Without expected fields: an object.
    pub valid: bool,
    /// They are the same value as the truth.
    pub exact: bool,
}

impl MendedArguments {
    /// They pass every check, and say something else: the ones that do harm.
    pub fn wrong_but_valid(self) -> bool {
        self.valid && !self.exact
    }
}

/// Holds repaired arguments against the truth, as JSON values: the names of an object in any order, the
/// last of doubled ones, 1 is not 1.0. `fields`: the fields that are expected, with the names of their
/// types as the json repairer takes them; one of an unknown type is of any.
pub fn judge_arguments(gold: &str, repaired: &str, fields: &[(String, String)]) -> MendedArguments {
    let Ok(value) = serde_json::from_str::<Value>(repaired) else {
        return MendedArguments::default();
    };
    let typed =
        |(name, kind): &(String, String)| (name.clone(), Type::of(kind).unwrap_or(Type::Any));
    let expected = Fields::of(fields.iter().map(typed));
    MendedArguments {
        parsed: true,
        valid: value.is_object() && (fields.is_empty() || expected.hold(&value)),
        exact: serde_json::from_str::<Value>(gold).is_ok_and(|gold| gold == value),
    }
}

/// What came of a row of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MendedEvents {
    /// Events of the truth that did not come.
    pub lost: u64,
    /// Events that came again, or that the truth does not have.
    pub doubled: u64,
    /// Events that came after one that stands behind them.
    pub disordered: u64,
    /// There is exactly one end mark, and it is the last.
    pub ended: bool,
}

/// Holds a row of events against the truth, end marks apart. Two events are one if place, id and text are.
pub fn judge_events(gold: &[Delivered], repaired: &[Delivered]) -> MendedEvents {
    let key = |event: &Delivered| (event.position, event.id.clone(), event.text.clone());
    let mut places: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (place, event) in gold.iter().filter(|event| !event.done).enumerate() {
        places.entry(key(event)).or_default().push(place);
    }
    places.values_mut().for_each(|places| places.reverse());
    let (mut replayed, mut last) = (MendedEvents::default(), None);
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
