//! The harmony format of gpt-oss.
//!
//! A text is a sequence of messages, each with a header that names its channel.

use super::TagSide;
use super::tags::TagMatch;

/// The marks that end a message of the harmony format.
pub(super) const ENDS: [&str; 3] = ["<|end|>", "<|return|>", "<|call|>"];

/// The marks of a message's header, each followed by a few words of [`in_header`] chars. The header begins with one of
/// the first two and ends with the last.
pub(super) const PARTS: [&str; 4] = ["<|start|>", "<|channel|>", "<|constrain|>", MESSAGE];
const MESSAGE: &str = "<|message|>";
const CHANNEL: usize = 1;
/// The longest header, in bytes: a role, a channel and the name of a tool.
pub(super) const HEADER: usize = 256;

/// Returns whether roles, channels and names of tools may contain this char.
pub(super) fn in_header(c: char) -> bool {
    c.is_ascii_alphanumeric() || " _-.=/:".contains(c)
}

/// Looks for the header of a message: `<|start|>assistant<|channel|>final<|message|>`, with or without the role. Text
/// of the channel `analysis` is thinking.
pub(super) fn header(text: &str) -> TagMatch<TagSide> {
    let seen = &text[..text.floor_char_boundary(HEADER)];
    let cut = if text.len() < HEADER {
        TagMatch::Cut
    } else {
        TagMatch::Nothing
    };
    let (mut rest, mut side) = (seen, TagSide::Answer);
    let mut parts = 0..2;
    loop {
        let mut left = parts.clone();
        let Some(part) = left.find(|part| rest.starts_with(PARTS[*part])) else {
            let begun = parts.into_iter().any(|part| PARTS[part].starts_with(rest));
            return if begun { cut } else { TagMatch::Nothing };
        };
        rest = &rest[PARTS[part].len()..];
        if PARTS[part] == MESSAGE {
            return TagMatch::Mark(seen.len() - rest.len(), side);
        }
        if part == CHANNEL && rest.starts_with("analysis") {
            side = TagSide::Reasoning;
        }
        rest = rest.trim_start_matches(in_header);
        if rest.is_empty() {
            return cut;
        }
        parts = part + 1..PARTS.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_headers_that_the_format_describes() {
        let side = |text: &str| match header(text) {
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
            assert_eq!(header(text), TagMatch::Nothing, "{text}");
        }
    }

    proptest! {
        /// A header is what this pattern matches, if it has at most `HEADER` bytes. A text is cut where
        /// more of it could make a header.
        #[test]
        fn a_header_is_what_a_pattern_says(text in "(<\\|(start|channel|constrain|message|end)\\|>|a|analysis|é|<|<\\|){0,8}", long in 0..300_usize) {
            let text = text.replacen('a', &"a".repeat(long), 1);
            let pattern = regex::RegexBuilder::new(
                r"^(?:<\|start\|>[\w ./:=-]*)?(?:<\|channel\|>([\w ./:=-]*))?(?:<\|constrain\|>[\w ./:=-]*)?<\|message\|>",
            ).unicode(false).build().unwrap();
            let found = pattern.captures(&text).filter(|found| {
                found[0].len() <= HEADER && (found[0].starts_with(PARTS[0]) || found[0].starts_with(PARTS[1]))
            });
            match header(&text) {
                TagMatch::Mark(length, side) => {
                    let found = found.expect("a pattern that matches");
                    prop_assert_eq!(length, found[0].len());
                    let channel = found.get(1).map_or("", |channel| channel.as_str());
                    prop_assert_eq!(side == TagSide::Reasoning, channel.starts_with("analysis"));
                }
                TagMatch::Nothing => prop_assert!(found.is_none()),
                TagMatch::Cut => prop_assert!(found.is_none() && text.len() < HEADER),
            }
        }
    }
}
