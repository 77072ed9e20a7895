//! Conversion of lenient JSON into JSON, with the parser jsonc-parser.
//!
//! The parser accepts missing and extra commas, and names without quotes. Numbers are written unchanged.

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

/// Parses a text and returns it as JSON. `None` if the parser fails.
pub(super) fn parse_to_json(text: &str) -> Option<String> {
    let options = ParseOptions {
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        ..ParseOptions::default()
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options).ok()?;
    let mut json = String::with_capacity(text.len());
    write_value(&parsed.value?, &mut json);
    Some(json)
}

/// Writes a value as JSON. The recursion is bounded, because the input has at most [`MAX_NESTED_LEVELS`](super::MAX_NESTED_LEVELS)
/// levels, and the parser accepts at most 512.
fn write_value(value: &Value, json: &mut String) {
    match value {
        Value::StringLit(text) => write_string(&text.value, json),
        Value::NumberLit(number) => json.push_str(number.value),
        Value::BooleanLit(is) => json.push_str(if is.value { "true" } else { "false" }),
        Value::NullKeyword(_) => json.push_str("null"),
        Value::Object(object) => write_object(object, json),
        Value::Array(list) => {
            json.push('[');
            for (i, value) in list.elements.iter().enumerate() {
                json.push_str(if i > 0 { ", " } else { "" });
                write_value(value, json);
            }
            json.push(']');
        }
    }
}

fn write_object(object: &Object, json: &mut String) {
    json.push('{');
    for (i, member) in object.properties.iter().enumerate() {
        json.push_str(if i > 0 { ", " } else { "" });
        write_string(member.name.as_str(), json);
        json.push_str(": ");
        write_value(&member.value, json);
    }
    json.push('}');
}

fn write_string(text: &str, json: &mut String) {
    json.push_str(&serde_json::Value::from(text).to_string());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_and_quotes() {
        for (text, expected) in [
            ("{\"a\": 1,}", Some("{\"a\": 1}")),
            (
                "{a: [1 2,], \"b\": \"x\\n\"}",
                Some("{\"a\": [1, 2], \"b\": \"x\\n\"}"),
            ),
            (
                "{\"n\": 12345678901234567890123}",
                Some("{\"n\": 12345678901234567890123}"),
            ),
            ("{\"a\": \"Paris, \"n\": 1}", None),
            ("", None),
        ] {
            assert_eq!(parse_to_json(text).as_deref(), expected, "{text}");
        }
    }
}
