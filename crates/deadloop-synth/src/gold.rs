//! The meaning of intact streams, against which repairers are scored.
//!
//! This strict parser does not tolerate damage. No repairer uses it.

use deadloop_detect::Value;
use deadloop_repair::meaning::{Action, Delivery, Meaning};
use deadloop_repair::registry::Repairer;
use serde_json::{Value as Json, json};

/// Names of actions, and of the tags inside them.
pub(super) struct TagNames {
    actions: Vec<String>,
    fields: Vec<String>,
}

impl TagNames {
    /// Reads the names from the defaults of the `tags` repairer.
    pub(super) fn load() -> Self {
        let list = |name: &str| {
            let params = Repairer::find("tags").map(|repairer| repairer.defaults());
            let texts = params
                .iter()
                .flat_map(|params| params.items(name))
                .filter_map(Value::as_text);
            texts.map(str::to_owned).collect()
        };
        Self {
            actions: list("tags"),
            fields: list("fields"),
        }
    }
}

/// Parses a text with actions in tags. An unclosed tag is text.
pub(super) fn parse_tags(names: &TagNames, text: &str) -> Meaning {
    let mut meaning = Meaning::default();
    let is_action = |name: &str| {
        names
            .actions
            .iter()
            .any(|action| action == split_number(name).0)
    };
    meaning.text = take_elements(text, is_action, |name, inside| {
        meaning.actions.push(parse_action(names, name, inside));
    });
    meaning
}

/// Calls `on_element` with the name and the content of each element whose name `is_known` accepts. Returns the other
/// text.
fn take_elements<'a>(
    text: &'a str,
    is_known: impl Fn(&str) -> bool,
    mut on_element: impl FnMut(&'a str, &'a str),
) -> String {
    let (mut other, mut rest) = (String::new(), text);
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at(at);
        other.push_str(before);
        match split_element(tag).filter(|(name, ..)| is_known(name)) {
            Some((name, inside, after)) => {
                on_element(name, inside);
                rest = after;
            }
            None => {
                other.push('<');
                rest = &tag[1..];
            }
        }
    }
    other + rest
}

/// Splits off the element at the start of a text. Returns its name, its content and the text after it.
fn split_element(text: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = text.strip_prefix('<')?.split_once('>')?;
    let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(letters) {
        return None;
    }
    let (inside, after) = rest.split_once(&format!("</{name}>"))?;
    Some((name, inside, after))
}

/// Splits the name of a tag into its stem and the number at its end.
fn split_number(name: &str) -> (&str, Option<u32>) {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (stem, name[stem.len()..].parse().ok())
}

fn parse_action(names: &TagNames, name: &str, inside: &str) -> Action {
    let (name, number) = split_number(name);
    let mut fields = Vec::new();
    let is_field = |name: &str| names.fields.iter().any(|field| field == name);
    let content = take_elements(inside, is_field, |name, value| {
        fields.push((name.to_owned(), value.trim().to_owned()));
    });
    Action {
        name: name.to_owned(),
        number,
        fields,
        content: content.trim().to_owned(),
    }
}

/// Parses reasoning and an answer. Without a complete block at the start, all text is answer.
pub(super) fn parse_thinking(text: &str) -> Meaning {
    let block = text
        .strip_prefix("<think>")
        .and_then(|rest| rest.split_once("</think>"));
    let (reasoning, answer) = block.unwrap_or(("", text));
    Meaning {
        reasoning: reasoning.to_owned(),
        text: answer.to_owned(),
        actions: Vec::new(),
    }
}

/// Creates the meaning of a text without actions and reasoning.
pub(super) fn meaning_of_text(text: &str) -> Meaning {
    Meaning {
        text: text.to_owned(),
        ..Meaning::default()
    }
}

/// Converts a meaning to the format of `meta.gold`.
pub(super) fn meaning_json(meaning: &Meaning) -> Json {
    let action = |action: &Action| json!({"name": action.name, "number": action.number, "fields": action.fields, "content": action.content});
    json!({
        "reasoning": meaning.reasoning,
        "text": meaning.text,
        "actions": meaning.actions.iter().map(action).collect::<Vec<_>>(),
    })
}

/// Converts events to the format of `meta.gold`, with the id, position and text of each.
pub(super) fn deliveries_json(events: &[Delivery]) -> Json {
    let rows = events.iter().filter(|event| !event.done);
    let row = |event: &Delivery| json!([event.id, event.position, event.text]);
    json!({"events": rows.map(row).collect::<Vec<_>>()})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_what_is_whole_and_leaves_the_rest() {
        let text = "a <b>c</b> <create_note><id>1</id> x <content>y</content></create_note> d <confirm2>e</confirm2><confirm1>f";
        let meaning = parse_tags(&TagNames::load(), text);
        assert_eq!(meaning.text, "a <b>c</b>  d <confirm1>f");
        let note = &meaning.actions[0];
        assert_eq!((note.name.as_str(), note.number), ("create_note", None));
        assert_eq!(note.content, "x");
        assert_eq!(
            note.fields,
            [("id".into(), "1".into()), ("content".into(), "y".into())]
        );
        assert_eq!(meaning.actions[1].number, Some(2));
    }

    /// Checks that the strict preset of the repairer gives the same meaning. The two share no code.
    #[test]
    fn the_strict_preset_reads_the_same() {
        let repairer = Repairer::find("tags").unwrap();
        let strict = repairer.preset("strict").unwrap();
        for text in [
            "好的。<create_note><id>1</id><content>露营</content></create_note>\n<web_search>趋势</web_search>",
            "One <confirm1>short</confirm1> or <confirm2>long</confirm2>. <i>x</i> 1 < 2",
            "<save_material>b</save_material><save_material><id>2</id>c</save_material>",
            "",
        ] {
            let meaning = repairer.mend(&strict, text).unwrap();
            assert_eq!(parse_tags(&TagNames::load(), text), meaning, "{text}");
        }
    }
}
