//! The size and the first words of a transcript, for lists.

use deadloop_corpus::{Body, Transcript};
use deadloop_detect::Event;
use serde::Serialize;

/// Returns the lengths of reasoning and answer, in chars.
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

/// The size of a transcript.
#[derive(Clone, Copy, Serialize)]
pub struct Size {
    /// The number of chars of reasoning and answer together.
    pub chars: u64,
    /// The number of calls.
    pub calls: u64,
    /// The number of turns.
    pub turns: u64,
}

impl Size {
    /// Returns whether the transcript is a run of an agent, which is measured in calls and turns.
    pub fn is_run(self) -> bool {
        self.calls > 0 || self.turns > 1
    }
}

/// Counts the chars, calls and turns of a transcript. Unrecorded turns count as in [`Transcript::stream`].
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

/// The maximum number of chars shown of a transcript's text.
const MAX_START_CHARS: usize = 60;

/// Returns the start of a transcript's reasoning, else of its answer, else of its calls. Text that arrived in pieces is
/// joined first.
pub fn start(transcript: &Transcript) -> String {
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
    let text = texts
        .find(|text| !text.trim().is_empty())
        .unwrap_or_default();
    text.trim_start().chars().take(MAX_START_CHARS).collect()
}
