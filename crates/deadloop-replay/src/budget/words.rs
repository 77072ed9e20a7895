//! [`Uses`]: which words of a call stood in results before it, and where else. A word is a path, an id or the like: at
//! least 8 letters, digits, `_`, `-`, `.` and `/` in a row, without the points and dashes at its ends.

use std::collections::{HashMap, HashSet};

use deadloop_corpus::{Body, Transcript};
use deadloop_detect::Event as Seen;
use serde_json::Value;

use super::lengths::Use;

/// Shorter words are too common to say where they come from.
const LEAST: usize = 8;

/// Where a word stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In a result, by its number among the results.
    Result(u32),
    /// In something else, by its number among the items: no policy clears it, but a summary may replace it.
    Elsewhere(u32),
}

/// Where a word stood so far.
#[derive(Default)]
struct Stood {
    /// The results, rising.
    results: Vec<u32>,
    /// The newest of the other items.
    elsewhere: Option<u32>,
}

/// Where each word that some call has stood so far.
pub(super) struct Uses {
    stood: HashMap<String, Stood>,
    /// What the turn that goes on has brought: none of it stood in the turn's prompt.
    fresh: Vec<(String, Place)>,
}

impl Uses {
    /// Nothing yet; only words of the transcript's calls are followed.
    pub(super) fn of(transcript: &Transcript) -> Self {
        let mut stood = HashMap::new();
        for event in &transcript.events {
            if let Body::ToolCall { arguments, .. } = &event.body {
                let mut add = |text: &str| {
                    words(text).for_each(|word| {
                        stood.entry(word.to_owned()).or_insert_with(Stood::default);
                    });
                };
                in_arguments(arguments, &mut add);
            }
        }
        Self {
            stood,
            fresh: Vec::new(),
        }
    }

    /// What came until now stands in the prompt of the turn that begins.
    pub(super) fn begin_turn(&mut self) {
        for (word, place) in self.fresh.drain(..) {
            let Some(stood) = self.stood.get_mut(&word) else {
                continue;
            };
            match place {
                Place::Elsewhere(item) => stood.elsewhere = Some(item),
                Place::Result(n) if stood.results.last() == Some(&n) => {}
                Place::Result(n) => stood.results.push(n),
            }
        }
    }

    /// The next event, and where what it says stands; what a call needs is added to `found`.
    pub(super) fn take(
        &mut self,
        seen: &Seen<'_>,
        place: Option<Place>,
        turn: u32,
        found: &mut Vec<Use>,
    ) {
        let mut here: HashSet<String> = HashSet::new();
        let mut add = |text: &str| {
            here.extend(words(text).map(str::to_owned));
        };
        match seen {
            Seen::Text(_, text) | Seen::User(text) => add(text),
            Seen::Result { content, .. } => add(content),
            Seen::Call { arguments, .. } => match arguments {
                deadloop_detect::Arguments::Raw(text) => add(text),
                deadloop_detect::Arguments::Json(value) => in_arguments(value, &mut add),
            },
            _ => {}
        }
        here.retain(|word| self.stood.contains_key(word));
        let mut here: Vec<String> = here.into_iter().collect();
        here.sort();
        if matches!(seen, Seen::Call { .. }) {
            for word in &here {
                if let Some(stood) = self.stood.get(word)
                    && !stood.results.is_empty()
                {
                    found.push(Use {
                        turn,
                        results: stood.results.clone(),
                        elsewhere: stood.elsewhere,
                    });
                }
            }
        }
        if let Some(place) = place {
            self.fresh
                .extend(here.into_iter().map(|word| (word, place)));
        }
    }
}

/// The texts in the arguments of a call: those of the JSON that they are, else all of it.
fn in_arguments(arguments: &Value, add: &mut impl FnMut(&str)) {
    match arguments {
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(value @ (Value::Object(_) | Value::Array(_))) => in_value(&value, add),
            _ => add(text),
        },
        value => in_value(value, add),
    }
}

/// The texts of a value, those of its keys aside.
fn in_value(value: &Value, add: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => add(text),
        Value::Array(items) => items.iter().for_each(|item| in_value(item, add)),
        Value::Object(fields) => fields.values().for_each(|value| in_value(value, add)),
        Value::Number(number) => add(&number.to_string()),
        Value::Null | Value::Bool(_) => {}
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let part = |c: char| c.is_alphanumeric() || "_-./".contains(c);
    let ends = |c: char| "-./".contains(c);
    text.split(move |c| !part(c))
        .map(move |word| word.trim_end_matches(ends).trim_start_matches(['-', '.']))
        .filter(|word| word.len() >= LEAST && word.chars().count() >= LEAST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_paths_and_ids() {
        let found: Vec<&str> =
            words("see ./src/main.rs:12, id #W1234567. short -------- (a_b_c_d_e)").collect();
        assert_eq!(found, ["/src/main.rs", "W1234567", "a_b_c_d_e"]);
    }
}
