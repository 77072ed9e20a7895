//! Reasoning faults: damage to `<think>…</think>` before an answer.
//!
//! A text without a complete block remains unchanged.

const OPENING_TAG: &str = "<think>";
const CLOSING_TAG: &str = "</think>";

/// Splits a text into the parts before, inside and after the block.
fn split_block(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once(OPENING_TAG)?;
    let (inside, after) = rest.split_once(CLOSING_TAG)?;
    Some((before, inside, after))
}

/// Removes the closing tag.
pub(super) fn remove_closing(intact: &str) -> String {
    split_block(intact).map_or(intact.to_owned(), |(before, inside, after)| {
        format!("{before}{OPENING_TAG}{inside}{after}")
    })
}

/// Removes the opening tag.
pub(super) fn remove_opening(intact: &str) -> String {
    split_block(intact).map_or(intact.to_owned(), |(before, inside, after)| {
        format!("{before}{inside}{CLOSING_TAG}{after}")
    })
}

/// Repeats the opening tag.
pub(super) fn repeat_opening(intact: &str, severity: usize) -> String {
    split_block(intact).map_or(intact.to_owned(), |(before, inside, after)| {
        format!(
            "{before}{}{inside}{CLOSING_TAG}{after}",
            OPENING_TAG.repeat(1 + severity)
        )
    })
}

/// Moves the first chars of the answer to before the block.
pub(super) fn move_answer_start(intact: &str, severity: usize) -> String {
    split_block(intact).map_or(intact.to_owned(), |(before, inside, after)| {
        let end = after
            .char_indices()
            .nth(4 * severity)
            .map_or(after.len(), |(at, _)| at);
        let (first, rest) = after.split_at(end);
        format!("{before}{first}{OPENING_TAG}{inside}{CLOSING_TAG}{rest}")
    })
}

/// Removes the closing tag if another tag follows, so that a tool call moves into the block.
pub(super) fn move_tool_inside(intact: &str) -> String {
    match split_block(intact) {
        Some((_, _, after)) if after.trim_start().starts_with('<') => remove_closing(intact),
        _ => intact.to_owned(),
    }
}
