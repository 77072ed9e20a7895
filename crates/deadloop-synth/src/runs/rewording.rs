//! Rewording of calls, by changing one text argument.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::planted_loops::Rng;

/// Words that reword a text when they are added.
const ADDED_WORDS: [&str; 12] = [
    "again", "all", "exact", "full", "latest", "list", "new", "other", "please", "recent",
    "related", "status",
];

/// Returns the arguments of `count` distinct rewordings of a call. `None` if no argument is a text, or if there are too
/// few rewordings.
pub(super) fn reword_arguments(arguments: &Json, count: usize, rng: &mut Rng) -> Option<Vec<Json>> {
    let slot = ArgumentSlot::find(arguments)?;
    let text = slot.text();
    let mut seen = BTreeSet::from([text.to_owned()]);
    let mut found = Vec::new();
    // Each draw takes one or two of the words, so there are hundreds of such texts.
    for _ in 0..50 * (count + 1) {
        if found.len() == count {
            return Some(found);
        }
        let mut words: Vec<&str> = ADDED_WORDS.to_vec();
        rng.shuffle(&mut words);
        let more = words[..rng.uniform(1, 2)].join(" ");
        let other = if rng.chance(0.5) {
            format!("{text} {more}")
        } else {
            format!("{more} {text}")
        };
        if seen.insert(other.clone()) {
            found.push(slot.with_text(&other));
        }
    }
    None
}

/// Returns the text that names the subject of a call, and `count` pairs of another subject and its arguments. `None` if
/// no argument is a text.
pub(super) fn vary_subjects(
    arguments: &Json,
    count: usize,
) -> Option<(String, Vec<(String, Json)>)> {
    let slot = ArgumentSlot::find(arguments)?;
    let one = |number: usize| {
        let other = append_number(slot.text(), number + 2);
        let call = slot.with_text(&other);
        (other, call)
    };
    let calls = (0..count).map(one).collect();
    Some((slot.text().to_owned(), calls))
}

/// Returns the arguments with their text repeated, joined by `separator`. `None` if no argument is a text.
pub(super) fn repeat_text(arguments: &Json, times: usize, separator: &str) -> Option<Json> {
    let slot = ArgumentSlot::find(arguments)?;
    Some(slot.with_text(&vec![slot.text(); times].join(separator)))
}

/// Appends a number to a name, before a file extension.
fn append_number(text: &str, number: usize) -> String {
    let ending =
        |end: &str| (1..=5).contains(&end.len()) && end.chars().all(|c| c.is_ascii_alphanumeric());
    match text.rsplit_once('.') {
        Some((stem, end)) if !stem.is_empty() && ending(end) => format!("{stem}-{number}.{end}"),
        _ => format!("{text}-{number}"),
    }
}

/// A replaceable text among the arguments of a call.
struct ArgumentSlot {
    /// Parsed arguments.
    value: Json,
    /// Field with the text. `None` if the whole value is the text.
    name: Option<String>,
    /// Whether the recorded arguments are a JSON string, as the model wrote them.
    is_raw: bool,
}

impl ArgumentSlot {
    /// Finds the longest text among the arguments. `None` if no argument is a text.
    fn find(arguments: &Json) -> Option<Self> {
        let parsed = arguments
            .as_str()
            .and_then(|raw| serde_json::from_str::<Json>(raw).ok());
        let parsed = parsed.filter(Json::is_object);
        let is_raw = parsed.is_some();
        let value = parsed.unwrap_or_else(|| arguments.clone());
        let name = match &value {
            Json::String(text) if !text.is_empty() => None,
            Json::Object(fields) => {
                let texts = fields
                    .iter()
                    .filter_map(|(name, value)| Some((value.as_str()?.len(), name)));
                let longest = texts.filter(|(length, _)| *length > 0).max()?;
                Some(longest.1.clone())
            }
            _ => return None,
        };
        Some(Self {
            value,
            name,
            is_raw,
        })
    }

    fn text(&self) -> &str {
        let value = match &self.name {
            Some(name) => self.value.get(name),
            None => Some(&self.value),
        };
        value.and_then(Json::as_str).unwrap_or_default()
    }

    /// Returns the arguments with a different text in the slot.
    fn with_text(&self, text: &str) -> Json {
        let mut other = self.value.clone();
        match self.name.as_ref().and_then(|name| other.get_mut(name)) {
            Some(value) => *value = text.into(),
            None => other = text.into(),
        }
        if self.is_raw {
            other.to_string().into()
        } else {
            other
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn other_words_are_other_calls_of_the_same_shape() {
        let arguments = json!({"path": "a", "query": "late orders", "top": 3});
        let all = reword_arguments(&arguments, 40, &mut Rng::new(1)).unwrap();
        let distinct: BTreeSet<String> = all.iter().map(Json::to_string).collect();
        assert_eq!(distinct.len(), 40);
        for other in &all {
            assert!(
                other["query"].as_str().unwrap().contains("late orders"),
                "{other}"
            );
            assert_eq!(
                (&other["path"], &other["top"]),
                (&arguments["path"], &arguments["top"])
            );
        }
        let raw = Json::from("{\"cmd\": \"ls\"}");
        let other = &reword_arguments(&raw, 1, &mut Rng::new(1)).unwrap()[0];
        assert!(
            other
                .as_str()
                .is_some_and(|text| text.starts_with("{\"cmd\":")),
            "{other}"
        );
        assert!(reword_arguments(&json!({"n": 1}), 1, &mut Rng::new(1)).is_none());
    }

    #[test]
    fn other_things_have_names_with_numbers() {
        let (text, others) = vary_subjects(&json!({"path": "src/main.rs"}), 2).unwrap();
        assert_eq!(text, "src/main.rs");
        assert_eq!(
            others[1],
            ("src/main-3.rs".into(), json!({"path": "src/main-3.rs"}))
        );
        let (_, others) = vary_subjects(&json!("SELECT 1"), 1).unwrap();
        assert_eq!(others[0], ("SELECT 1-2".into(), json!("SELECT 1-2")));
    }
    #[test]
    fn a_text_grows_by_a_copy_of_itself() {
        let raw = Json::from("{\"cmd\":\"ls\"}");
        let expected = Json::from("{\"cmd\":\"ls; ls; ls\"}");
        assert_eq!(repeat_text(&raw, 3, "; "), Some(expected));
        assert_eq!(repeat_text(&json!({"n": 1}), 2, " "), None);
    }
}
