//! Phrases of doubt that are inserted between statements, such as "but wait".
//!
//! Both circular and healthy reasoning have phrases such as "but wait, maybe" before statements. Only healthy reasoning has
//! new statements after them.

use super::letters::is_cjk_char;
use super::spec::NonEmptyText;
use crate::planted_loops::Rng;

/// Splits a text into statements, each with the whitespace after it.
pub(super) fn split_statements(text: &str) -> Vec<&str> {
    let (mut found, mut from) = (Vec::new(), 0);
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let ends = match c {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => chars.peek().is_none_or(|(_, next)| next.is_whitespace()),
            _ => c == '\n',
        };
        if !ends {
            continue;
        }
        let mut end = at + c.len_utf8();
        while let Some((at, c)) = chars.next_if(|(_, c)| c.is_whitespace()) {
            end = at + c.len_utf8();
        }
        found.push(&text[from..end]);
        from = end;
    }
    found.extend(Some(&text[from..]).filter(|rest| !rest.is_empty()));
    found
}

/// Joins statements, each preceded by a phrase of doubt with the given probability. Spaces separate them, except in
/// scripts without spaces.
pub(super) fn join_statements(
    statements: &[&str],
    doubt_phrases: &[NonEmptyText],
    probability: f64,
    rng: &mut Rng,
) -> String {
    let mut text = String::new();
    for statement in statements {
        if rng.chance(probability) {
            text.extend(rng.choose(doubt_phrases).map(|text| text.as_str()));
        }
        text.push_str(statement);
        let apart = statement
            .chars()
            .next_back()
            .is_some_and(char::is_whitespace);
        if !apart && !statement.contains(is_cjk_char) {
            text.push(' ');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_all_of_the_text() {
        for text in [
            "",
            "One.",
            "It is 2.5 m. So what?\n\nNo. 3",
            "不对。再来！好",
            "a\nb\n",
        ] {
            assert_eq!(split_statements(text).concat(), text);
        }
        let statements = split_statements("It is 2.5 m. So what?\n\nEnd");
        assert_eq!(statements, ["It is 2.5 m. ", "So what?\n\n", "End"]);
        let statements = split_statements("不对。再来！好");
        assert_eq!(statements, ["不对。", "再来！", "好"]);
    }

    #[test]
    fn doubt_stands_before_each_statement() {
        let doubt_phrases = ["But wait, ".into()];
        let mut rng = Rng::new(1);
        let text = join_statements(&["A is b. ", "C is d."], &doubt_phrases, 1.0, &mut rng);
        assert_eq!(text, "But wait, A is b. But wait, C is d. ");
        assert_eq!(
            join_statements(&["好。"], &["等等，".into()], 1.0, &mut rng),
            "等等，好。"
        );
    }
}
