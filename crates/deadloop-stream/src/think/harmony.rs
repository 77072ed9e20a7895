//! The harmony format of gpt-oss.
//!
//! A text is a sequence of messages, each with a header that names its channel.

use super::TagSide;
use super::tags::TagMatch;

/// The markers that end a message of the harmony format.
pub(super) const MESSAGE_ENDS: [&str; 3] = ["<|end|>", "<|return|>", "<|call|>"];

/// The markers of a message's header. A header begins with the first or second marker and ends with the last. Words of
/// [`is_header_char`] chars may follow each marker.
pub(super) const HEADER_MARKS: [&str; 4] = ["<|start|>", "<|channel|>", "<|constrain|>", MESSAGE];
const MESSAGE: &str = "<|message|>";
const CHANNEL_INDEX: usize = 1;
/// The maximum length of a header, in bytes, enough for a role, a channel and the name of a tool.
pub(super) const MAX_HEADER_BYTES: usize = 256;

/// Returns whether a char may occur in roles, channels and names of tools.
pub(super) fn is_header_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || " _-.=/:".contains(c)
}

/// Matches the header of a message at the start of a text: `<|start|>assistant<|channel|>final<|message|>`, with or
/// without the role.
///
/// Text of the channel `analysis` is reasoning.
pub(super) fn match_header(text: &str) -> TagMatch<TagSide> {
    let seen = &text[..text.floor_char_boundary(MAX_HEADER_BYTES)];
    let cut = if text.len() < MAX_HEADER_BYTES {
        TagMatch::Cut
    } else {
        TagMatch::Nothing
    };
    let (mut rest, mut side) = (seen, TagSide::Answer);
    let mut parts = 0..2;
    loop {
        let mut left = parts.clone();
        let Some(part) = left.find(|part| rest.starts_with(HEADER_MARKS[*part])) else {
            let begun = parts
                .into_iter()
                .any(|part| HEADER_MARKS[part].starts_with(rest));
            return if begun { cut } else { TagMatch::Nothing };
        };
        rest = &rest[HEADER_MARKS[part].len()..];
        if HEADER_MARKS[part] == MESSAGE {
            return TagMatch::Mark(seen.len() - rest.len(), side);
        }
        if part == CHANNEL_INDEX && rest.starts_with("analysis") {
            side = TagSide::Reasoning;
        }
        rest = rest.trim_start_matches(is_header_char);
        if rest.is_empty() {
            return cut;
        }
        parts = part + 1..HEADER_MARKS.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_headers_that_the_format_describes() {
        let side = |text: &str| match match_header(text) {
            TagMatch::Mark(length, side) if length == text.len() => Some(side),
            _ => None,
        };
        for (text, expected) in [
            ("<|channel|>analysis<|message|>", TagSide::Reasoning),
            (
                "<|start|>assistant<|channel|>analysis<|message|>",
                TagSide::Reasoning,
            ),
            (
                "<|start|>assistant<|channel|>final<|message|>",
                TagSide::Answer,
            ),
            ("<|start|>assistant<|message|>", TagSide::Answer),
            (
                "<|channel|>commentary to=functions.f <|constrain|>json<|message|>",
                TagSide::Answer,
            ),
            (
                "<|start|>assistant to=functions.f<|channel|>analysis<|constrain|>json<|message|>",
                TagSide::Reasoning,
            ),
        ] {
            assert_eq!(side(text), Some(expected), "{text}");
        }
        for text in [
            "<|message|>",
            "<|channel|>a<|channel|>b<|message|>",
            "<|channel|>a<|start|>b<|message|>",
            "<|channel|>a<b<|message|>",
            "<|channel|>a<|end|><|message|>",
        ] {
            assert_eq!(match_header(text), TagMatch::Nothing, "{text}");
        }
    }

    proptest! {
        /// Checks headers against a pattern, up to `MAX_HEADER_BYTES` bytes. A text is cut off where more of it could
        /// complete a header.
        #[test]
        fn a_header_is_what_a_pattern_says(text in "(<\\|(start|channel|constrain|message|end)\\|>|a|analysis|é|<|<\\|){0,8}", long in 0..300_usize) {
            let text = text.replacen('a', &"a".repeat(long), 1);
            let pattern = regex::RegexBuilder::new(
                r"^(?:<\|start\|>[\w ./:=-]*)?(?:<\|channel\|>([\w ./:=-]*))?(?:<\|constrain\|>[\w ./:=-]*)?<\|message\|>",
            ).unicode(false).build().unwrap();
            let found = pattern.captures(&text).filter(|found| {
                found[0].len() <= MAX_HEADER_BYTES && (found[0].starts_with(HEADER_MARKS[0]) || found[0].starts_with(HEADER_MARKS[1]))
            });
            match match_header(&text) {
                TagMatch::Mark(length, side) => {
                    let found = found.expect("a pattern that matches");
                    prop_assert_eq!(length, found[0].len());
                    let channel = found.get(1).map_or("", |channel| channel.as_str());
                    prop_assert_eq!(side == TagSide::Reasoning, channel.starts_with("analysis"));
                }
                TagMatch::Nothing => prop_assert!(found.is_none()),
                TagMatch::Cut => prop_assert!(found.is_none() && text.len() < MAX_HEADER_BYTES),
            }
        }
    }
}
