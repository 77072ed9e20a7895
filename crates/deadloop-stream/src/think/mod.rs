//! Splitter of a streamed text into reasoning and answer by its think tags.
//!
//! The tags are `<think>` and `</think>`, or similar markers.
//!
//! Only the markers are dropped. The first block counts only at the very start of the text, after whitespace at most: a
//! `<think>` that an answer mentions is text. A block ends with the closing tag of its opening tag. If the prompt
//! opened the block, any closing tag ends it. Between chunks, only the beginning of a marker is held back, so at most
//! 256 bytes. Whitespace before the first marker belongs to the answer.
//!
//! A text in the harmony format is a sequence of messages, each with a header that names its channel. All text of the
//! channel `analysis` is reasoning, at any position: unlike tags, channel headers do not occur in prose.
//!
//! | to find | look in |
//! |---|---|
//! | names of the tags, and the search for them | `tags` |
//! | messages of the harmony format | `harmony` |
//! | choice of the tags by model | `rules` |

use serde::Deserialize;

use deadloop_detect::TextChannel;

use crate::Body;

mod harmony;
mod rules;
mod tags;

pub use rules::{ModelThink, ThinkRules};
pub use tags::Tags;

use harmony::{MESSAGE_ENDS, match_header};
use tags::{TagMatch, find_tag_start, match_tag};

/// Options for splitting a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThinkOptions {
    /// The blocks that are reasoning.
    pub blocks: Blocks,
    /// The recognised tags.
    pub tags: Tags,
    /// Whether the prompt template opens the tag, so that the text begins as reasoning, with or without another opening
    /// tag.
    pub opened: bool,
}

/// The rule that determines which tagged blocks of a text are reasoning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Blocks {
    /// Only a block at the start. Later tags are text.
    #[default]
    First,
    /// Every block, at any position.
    All,
}

/// The side of a think tag on which a text lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TagSide {
    /// Inside a block.
    Reasoning,
    /// Outside of blocks.
    Answer,
}

impl TagSide {
    /// Returns the channel of text on this side.
    pub fn channel(self) -> TextChannel {
        match self {
            Self::Reasoning => TextChannel::Reasoning,
            Self::Answer => TextChannel::Answer,
        }
    }

    /// Returns a recorded chunk of text on this side.
    pub fn body(self, text: String) -> Body {
        match self {
            Self::Reasoning => Body::Reasoning(text),
            Self::Answer => Body::Answer(text),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SplitterState {
    /// Only whitespace so far, on this side. An opening tag is expected at this position alone.
    Start(TagSide),
    /// Inside a block opened by the tag pair with this index. Its closing tag is searched for.
    Inside(usize),
    /// Inside a block opened by the prompt. Any closing tag is searched for.
    Opened,
    /// Outside of blocks. An opening tag is searched for.
    Outside,
    /// In or after a message of the harmony format. Headers and ends are searched for.
    Harmony(TagSide),
    /// After the last block. Tags are text.
    AfterLastBlock,
}

/// Splitter of one stream, fed in chunks. The result does not depend on their boundaries.
#[derive(Clone, Debug)]
pub struct ThinkSplitter {
    options: ThinkOptions,
    state: SplitterState,
    /// The text that is held back.
    held: String,
    /// Whether the emitted text ends with a back-tick.
    ends_with_backtick: bool,
}

impl ThinkSplitter {
    /// Returns a splitter for a new stream.
    pub fn new(options: ThinkOptions) -> Self {
        let side = if options.opened {
            TagSide::Reasoning
        } else {
            TagSide::Answer
        };
        Self {
            options,
            state: SplitterState::Start(side),
            held: String::new(),
            ends_with_backtick: false,
        }
    }

    /// Adds the next chunk and passes the pieces whose side is now certain to `out`, in order. Pieces are never empty.
    pub fn push(&mut self, chunk: &str, out: &mut impl FnMut(TagSide, &str)) {
        let joined;
        let mut text = chunk;
        if !self.held.is_empty() {
            joined = std::mem::take(&mut self.held) + chunk;
            text = &joined;
        }
        while !text.is_empty() {
            match self.consume_start(text, out) {
                Some(rest) => text = rest,
                None => break,
            }
        }
    }

    /// Ends the stream and emits the text that was held back.
    pub fn finish(self, out: &mut impl FnMut(TagSide, &str)) {
        emit(self.side(), &self.held, out);
    }

    /// Returns the number of input bytes that are held back until their side is certain.
    pub fn held_len(&self) -> usize {
        self.held.len()
    }

    fn side(&self) -> TagSide {
        match self.state {
            SplitterState::Start(side) | SplitterState::Harmony(side) => side,
            SplitterState::Inside(_) | SplitterState::Opened => TagSide::Reasoning,
            SplitterState::Outside | SplitterState::AfterLastBlock => TagSide::Answer,
        }
    }

    /// Handles the start of `text` and returns the remaining text. `None` if it is empty or must wait for the next
    /// chunk.
    fn consume_start<'a>(
        &mut self,
        text: &'a str,
        out: &mut impl FnMut(TagSide, &str),
    ) -> Option<&'a str> {
        match self.state {
            SplitterState::Start(side) => self.match_start(side, text, out),
            SplitterState::AfterLastBlock => {
                emit(TagSide::Answer, text, out);
                None
            }
            _ => self.consume_next_mark(text, out),
        }
    }

    fn match_start<'a>(
        &mut self,
        side: TagSide,
        text: &'a str,
        out: &mut impl FnMut(TagSide, &str),
    ) -> Option<&'a str> {
        let body = text.trim_start();
        emit(side, &text[..text.len() - body.len()], out);
        if body.is_empty() {
            return None;
        }
        match self.match_mark(body) {
            TagMatch::Mark(length, then) => {
                self.state = then;
                return Some(&body[length..]);
            }
            TagMatch::Cut => {
                self.held = body.to_owned();
                return None;
            }
            TagMatch::Nothing => {}
        }
        self.state = match (side, self.options.blocks) {
            (TagSide::Reasoning, _) => SplitterState::Opened,
            (TagSide::Answer, Blocks::First) => SplitterState::AfterLastBlock,
            (TagSide::Answer, Blocks::All) => SplitterState::Outside,
        };
        Some(body)
    }

    /// Emits the text before the next marker, consumes the marker and returns the remaining text.
    fn consume_next_mark<'a>(
        &mut self,
        text: &'a str,
        out: &mut impl FnMut(TagSide, &str),
    ) -> Option<&'a str> {
        let side = self.side();
        let mut from = 0;
        while let Some(next) = self.find_mark_start(&text[from..]) {
            let at = from + next;
            match self.reject_quoted(text, at, self.match_mark(&text[at..])) {
                TagMatch::Mark(length, then) => {
                    emit(side, &text[..at], out);
                    self.state = then;
                    self.ends_with_backtick = false;
                    return Some(&text[at + length..]);
                }
                TagMatch::Cut => {
                    emit(side, &text[..at], out);
                    self.ends_with_backtick = self.is_after_backtick(text, at);
                    self.held = text[at..].to_owned();
                    return None;
                }
                TagMatch::Nothing => from = text.ceil_char_boundary(at + 1),
            }
        }
        emit(side, text, out);
        self.ends_with_backtick = self.is_after_backtick(text, text.len());
        None
    }

    /// Returns whether a back-tick precedes byte `at` of `text`, which continues the emitted text.
    fn is_after_backtick(&self, text: &str, at: usize) -> bool {
        match at {
            0 => self.ends_with_backtick,
            _ => text[..at].ends_with('`'),
        }
    }

    /// Returns the found marker, unless it is quoted in back-ticks inside thinking.
    fn reject_quoted(
        &self,
        text: &str,
        at: usize,
        found: TagMatch<SplitterState>,
    ) -> TagMatch<SplitterState> {
        let thinking = matches!(self.state, SplitterState::Inside(_) | SplitterState::Opened);
        let TagMatch::Mark(length, _) = &found else {
            return found;
        };
        if !thinking || !self.is_after_backtick(text, at) {
            return found;
        }
        match text[at + length..].chars().next() {
            None => TagMatch::Cut,
            Some('`') => TagMatch::Nothing,
            Some(_) => found,
        }
    }

    /// Returns the position at which the next marker may begin.
    fn find_mark_start(&self, text: &str) -> Option<usize> {
        let tags = &self.options.tags;
        match self.state {
            SplitterState::Inside(pair) => find_tag_start(&tags.pairs()[pair].close, text),
            SplitterState::Opened => tags.closing().find(text),
            SplitterState::Harmony(_)
            | SplitterState::Outside
            | SplitterState::Start(_)
            | SplitterState::AfterLastBlock => tags.opening().find(text),
        }
    }

    /// Matches the markers of the current state at the start of `text`. Returns the state after the marker.
    fn match_mark(&self, text: &str) -> TagMatch<SplitterState> {
        let tags = &self.options.tags;
        let pairs = tags.pairs().iter();
        let found = match self.state {
            SplitterState::Start(_) | SplitterState::Outside => {
                let open = pairs.enumerate();
                first_match(
                    open.map(|(at, pair)| match_tag(&pair.open, text, SplitterState::Inside(at))),
                )
            }
            SplitterState::Inside(pair) => {
                return match_tag(&tags.pairs()[pair].close, text, self.state_after_block());
            }
            SplitterState::Opened => first_match(
                pairs.map(|pair| match_tag(&pair.close, text, self.state_after_block())),
            ),
            SplitterState::Harmony(_) | SplitterState::AfterLastBlock => TagMatch::Nothing,
        };
        match found {
            TagMatch::Nothing if tags.harmony() => self.match_harmony(text),
            found => found,
        }
    }

    fn match_harmony(&self, text: &str) -> TagMatch<SplitterState> {
        let header = || match_header(text).map(SplitterState::Harmony);
        let ends = || {
            first_match(
                MESSAGE_ENDS
                    .map(|end| match_tag(end, text, SplitterState::Harmony(TagSide::Answer))),
            )
        };
        match self.state {
            SplitterState::Start(_) | SplitterState::Outside => header(),
            SplitterState::Opened => ends(),
            SplitterState::Harmony(_) => header().or(ends),
            SplitterState::Inside(_) | SplitterState::AfterLastBlock => TagMatch::Nothing,
        }
    }

    fn state_after_block(&self) -> SplitterState {
        match self.options.blocks {
            Blocks::First => SplitterState::AfterLastBlock,
            Blocks::All => SplitterState::Outside,
        }
    }
}

/// Returns the first match that is not [`TagMatch::Nothing`].
fn first_match<T>(matches: impl IntoIterator<Item = TagMatch<T>>) -> TagMatch<T> {
    let mut matches = matches.into_iter();
    matches
        .find(|found| !matches!(found, TagMatch::Nothing))
        .unwrap_or(TagMatch::Nothing)
}

fn emit(side: TagSide, text: &str, out: &mut impl FnMut(TagSide, &str)) {
    if !text.is_empty() {
        out(side, text);
    }
}

/// Splits a whole text. Adjacent pieces are of different sides, and none is empty.
pub fn split_think(text: &str, options: ThinkOptions) -> Vec<(TagSide, String)> {
    let mut pieces = Vec::new();
    let mut splitter = ThinkSplitter::new(options);
    splitter.push(text, &mut |side, piece| add_piece(&mut pieces, side, piece));
    splitter.finish(&mut |side, piece| add_piece(&mut pieces, side, piece));
    pieces
}

/// Splits an owned text, as [`split_think`] does. A text that is all reasoning or all answer, as nearly all texts are,
/// is not copied.
pub fn split_owned(text: String, options: ThinkOptions) -> Vec<(TagSide, String)> {
    let mut splitter = ThinkSplitter::new(options.clone());
    let (mut first, mut length) = (None, 0);
    splitter.push(&text, &mut |side, piece| {
        length += if *first.get_or_insert(side) == side {
            piece.len()
        } else {
            0
        };
    });
    match first {
        Some(side) if length == text.len() => vec![(side, text)],
        _ => split_think(&text, options),
    }
}

/// Appends text to the last piece if that has the same side, otherwise adds a new piece.
pub fn add_piece(pieces: &mut Vec<(TagSide, String)>, side: TagSide, piece: &str) {
    match pieces.last_mut() {
        Some((last, text)) if *last == side => text.push_str(piece),
        _ => pieces.push((side, piece.to_owned())),
    }
}

#[cfg(test)]
mod tests;
