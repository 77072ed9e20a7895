//! What a line of the list says of a transcript, and where a text stands in it.

use deadloop_corpus::{Body, Transcript};
use deadloop_detect::Event;

/// Chars of reasoning and of answer.
pub(crate) fn lengths(transcript: &Transcript) -> [u64; 2] {
    let mut lengths = [0, 0];
    for event in &transcript.events {
        match &event.body {
            Body::Reasoning(text) => lengths[0] += text.chars().count() as u64,
            Body::Answer(text) => lengths[1] += text.chars().count() as u64,
            _ => {}
        }
    }
    lengths
}

/// How long a transcript is.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    /// Of reasoning and answer.
    pub(crate) chars: u64,
    pub(crate) calls: u64,
    pub(crate) turns: u64,
}

impl Size {
    /// Whether it is a run of an agent, which is measured in calls and turns.
    pub(crate) fn is_run(self) -> bool {
        self.calls > 0 || self.turns > 1
    }
}

/// The chars, the calls and the turns of a transcript; turns that were not recorded are made where they begin.
pub(crate) fn size(transcript: &Transcript) -> Size {
    let (mut calls, mut turns) = (0, 0);
    for (_, event) in transcript.stream() {
        match event {
            Event::Call { .. } => calls += 1,
            Event::Turn { .. } => turns += 1,
            _ => {}
        }
    }
    Size {
        chars: lengths(transcript).into_iter().sum(),
        calls,
        turns,
    }
}

/// The chars before which `find` stands in a text, one after the other.
pub(crate) fn places<'a>(text: &'a str, find: &'a str) -> impl Iterator<Item = usize> + 'a {
    let (mut byte, mut char) = (0, 0);
    text.match_indices(find).map(move |(at, _)| {
        char += text
            .get(byte..at)
            .map_or(0, |between| between.chars().count());
        byte = at;
        char
    })
}

/// How much of a text a line shows.
const SHOWN: usize = 60;

/// The start of what a transcript says; with `find` the text around where that stands first, or `None` where it
/// stands nowhere. What was said in pieces is put together.
pub(crate) fn start(transcript: &Transcript, find: Option<&str>) -> Option<String> {
    let [reasoning, answer] = [transcript.reasoning(), transcript.answer()];
    let tools = transcript
        .events
        .iter()
        .filter_map(|event| match &event.body {
            Body::ToolCall {
                name, arguments, ..
            } => Some(format!("{name} {arguments}")),
            Body::ToolResult { content, .. } => Some(content.clone()),
            _ => None,
        });
    let mut texts = [reasoning, answer].into_iter().chain(tools);
    let Some(find) = find else {
        let text = texts
            .find(|text| !text.trim().is_empty())
            .unwrap_or_default();
        return Some(text.trim_start().chars().take(SHOWN).collect());
    };
    texts.find_map(|text| {
        let at = places(&text, find).next()?;
        let from = at.saturating_sub(SHOWN / 3);
        let lead = if from > 0 { "…" } else { "" };
        let around: String = text.chars().skip(from).take(SHOWN).collect();
        Some(format!("{lead}{around}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_chars() {
        assert_eq!(places("思a思a", "a").collect::<Vec<_>>(), [1, 3]);
        assert_eq!(places("思", "x").count(), 0);
    }
}
