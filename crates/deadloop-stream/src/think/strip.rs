//! `strip_think_tags`, the function that many services have, word for word.

/// Takes off a complete `<think>…</think>` at the very start and the blanks after it; any other text
/// is returned unchanged. The document's pattern, over lines, once: `^<think>.*?</think>\s*`.
pub fn strip_think_tags(text: &str) -> &str {
    let block = text
        .strip_prefix("<think>")
        .and_then(|body| body.split_once("</think>"));
    match block {
        Some((_, rest)) => rest.trim_start_matches(is_blank),
        None => text,
    }
}

/// Blanks of the language that the document is written for: Unicode's, and four separators.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    /// The table of edge cases in the document, and what it says of the pattern.
    #[test]
    fn the_table_of_the_document() {
        let cases = [
            ("no tag", "[\"a\", \"b\"]", "[\"a\", \"b\"]"),
            ("not closed", "<think>on and on", "<think>on and on"),
            (
                "several blocks: the first",
                "<think>a</think>\n<think>b</think>c",
                "<think>b</think>c",
            ),
            (
                "nested: up to the first closing tag",
                "<think>a<think>b</think>c</think>d",
                "c</think>d",
            ),
            (
                "lines",
                "<think>a\n\nb\n</think>\n\n{\"sql\": 1}",
                "{\"sql\": 1}",
            ),
            ("no blanks", "<think>a</think>{}", "{}"),
            ("an empty block", "<think></think>\t\u{3000}\u{1c}x ", "x "),
            ("nothing after", "<think>a</think>\n", ""),
            (
                "not at the start",
                "x<think>a</think>b",
                "x<think>a</think>b",
            ),
            ("blanks before", " <think>a</think>b", " <think>a</think>b"),
            ("only a closing tag", "a</think>b", "a</think>b"),
            ("another case", "<Think>a</Think>b", "<Think>a</Think>b"),
            ("nothing", "", ""),
        ];
        for (name, text, expected) in cases {
            assert_eq!(strip_think_tags(text), expected, "{name}");
        }
    }

    /// The document's example: thinking, then JSON in a fence.
    #[test]
    fn the_example_of_the_document() {
        let text = "<think>用户现在需要根据请求\"报价全国不统一的测试项目\"生成SQL查询。\n\n首先分析需求……\n\
                    现在构建JSON对象。</think>\n```json\n{\n    \"sql\": \"SELECT id, buffet_name FROM public.table\",\n    \
                    \"explanation\": \"查询报价全国不统一的测试项目\",\n    \"export_format\": null\n}\n```\n";
        let fenced = strip_think_tags(text);
        let inner = fenced
            .strip_prefix("```json")
            .and_then(|rest| rest.trim_end().strip_suffix("```"));
        let value: Value = serde_json::from_str(inner.unwrap()).unwrap();
        assert_eq!(
            value["sql"],
            json!("SELECT id, buffet_name FROM public.table")
        );
        assert_eq!(value["export_format"], Value::Null);
    }

    proptest! {
        #[test]
        fn it_does_what_the_pattern_does(text in "(<think>|</think>|[ \n\u{1c}\u{3000}]|<|a|é){0,12}") {
            // `\s` here is without the four separators.
            let pattern = regex::Regex::new(r"^(?s:<think>.*?</think>)[\s\x1c-\x1f]*").unwrap();
            prop_assert_eq!(strip_think_tags(&text), pattern.replace(&text, ""));
        }
    }
}
