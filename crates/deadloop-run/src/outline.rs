//! What a line of the list says about a transcript, and where a text occurs in it.

use deadloop_corpus::{Body, Transcript};
use deadloop_detect::Event;

/// The lengths of reasoning and answer, in chars.
pub fn lengths(transcript: &Transcript) -> [u64; 2] {
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
pub struct Size {
    /// The chars of reasoning and answer together.
    pub chars: u64,
    /// Its calls.
    pub calls: u64,
    /// Its turns.
    pub turns: u64,
}

impl Size {
    /// Whether it is a run of an agent, which is measured in calls and turns.
    pub fn is_run(self) -> bool {
        self.calls > 0 || self.turns > 1
    }
}

/// The chars, calls and turns of a transcript. If turns were not recorded, they are counted as
/// [`Transcript::stream`] makes them.
pub fn size(transcript: &Transcript) -> Size {
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

/// The places at which `find` occurs in a text, in chars from its start, in order.
pub fn places<'a>(text: &'a str, find: &'a str) -> impl Iterator<Item = usize> + 'a {
    let (mut byte, mut char) = (0, 0);
    text.match_indices(find).map(move |(at, _)| {
        char += text
            .get(byte..at)
            .map_or(0, |between| between.chars().count());
        byte = at;
        char
    })
}

/// How many chars of a text a line shows.
const SHOWN: usize = 60;

/// The start of a transcript's text. With `find`, the text around its first occurrence, or `None` if it does not occur.
/// Text that arrived in pieces is joined first.
pub fn start(transcript: &Transcript, find: Option<&str>) -> Option<String> {
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
