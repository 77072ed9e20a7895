//! Splits a streamed text into reasoning and answer by its think tags.
//!
//! The tags are `<think>` and `</think>`, or similar marks.
//!
//! Only the marks are dropped. The first block counts only at the very start of the text, after blanks at most: a
//! `<think>` that an answer mentions is text. A block ends with the closing tag of the tag that opened it, and one that
//! the prompt opened ends with any closing tag. Between chunks only the beginning of a mark is held back, and so never
//! more than the longest mark, 256 bytes. Blanks before the first mark are passed on as answer.
//!
//! A text in the harmony format is a sequence of messages, each with a header that names its channel. All text of the
//! channel `analysis` is reasoning, at any position: unlike tags, channel headers do not occur in prose.
//!
//! | to find | look in |
//! |---|---|
//! | the tags: their names, and how they are found | `tags` |
//! | the messages of the harmony format | `harmony` |
//! | the tags that count for each model | `rules` |

use serde::Deserialize;

use deadloop_detect::TextChannel;

use crate::Body;

mod harmony;
mod rules;
mod tags;

pub use rules::{ModelThink, ThinkRules};
pub use tags::Tags;

use harmony::{MESSAGE_ENDS, match_header};
use tags::{TagMatch, find_stem, match_tag};

/// The options by which texts are split.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThinkOptions {
    /// Which blocks are reasoning.
    pub blocks: Blocks,
    /// The tags that count.
    pub tags: Tags,
    /// Whether the model's template opens the tag in the prompt: the text begins as reasoning, with or without an
    /// opening tag of its own.
    pub opened: bool,
}

/// Which blocks of a text are reasoning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Blocks {
    /// The one at the start. Later tags are text.
    #[default]
    First,
    /// Every block, at any position.
    All,
}

/// The two sides of a tag.
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

    /// Returns a chunk of text on this side, as recorded.
    pub fn body(self, text: String) -> Body {
        match self {
            Self::Reasoning => Body::Reasoning(text),
            Self::Answer => Body::Answer(text),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SplitterState {
    /// Only blanks so far, on this side. An opening tag is looked for at this position alone.
    Start(TagSide),
    /// Inside a block that this pair's tag opened. Its closing tag is looked for.
    Inside(usize),
    /// Inside a block that the prompt opened. Any closing tag is looked for.
    Opened,
    /// Outside of blocks. An opening tag is looked for.
    Outside,
    /// In or after a message of the harmony format. Headers and ends are looked for.
    Harmony(TagSide),
    /// After the last block. Tags are text.
    Rest,
}

/// Splitter of one stream, chunk by chunk. The result does not depend on how the stream was cut.
#[derive(Clone, Debug)]
pub struct ThinkSplitter {
    options: ThinkOptions,
    state: SplitterState,
    held: String,
    /// Whether the text that was passed on last ended with a back-tick.
    ticked: bool,
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
            ticked: false,
        }
    }

    /// Takes the next chunk. `out` receives the pieces whose side is now certain, in order. Pieces are never empty.
    pub fn push(&mut self, chunk: &str, out: &mut impl FnMut(TagSide, &str)) {
        let joined;
        let mut text = chunk;
        if !self.held.is_empty() {
            joined = std::mem::take(&mut self.held) + chunk;
            text = &joined;
        }
        while !text.is_empty() {
            match self.step(text, out) {
                Some(rest) => text = rest,
                None => break,
            }
        }
    }

    /// Ends the stream. Text that was held back is passed on.
    pub fn finish(self, out: &mut impl FnMut(TagSide, &str)) {
        emit(self.side(), &self.held, out);
    }

    /// Returns the number of bytes at the end of the input that are held back.
    pub fn held(&self) -> usize {
        self.held.len()
    }

    fn side(&self) -> TagSide {
        match self.state {
            SplitterState::Start(side) | SplitterState::Harmony(side) => side,
            SplitterState::Inside(_) | SplitterState::Opened => TagSide::Reasoning,
            SplitterState::Outside | SplitterState::Rest => TagSide::Answer,
        }
    }

    /// Handles the start of `text` and returns the remaining text. `None` if nothing remains, or if the remaining text
    /// must wait for the next chunk.
    fn step<'a>(&mut self, text: &'a str, out: &mut impl FnMut(TagSide, &str)) -> Option<&'a str> {
        match self.state {
            SplitterState::Start(side) => self.start(side, text, out),
            SplitterState::Rest => {
                emit(TagSide::Answer, text, out);
                None
            }
            _ => self.seek(text, out),
        }
    }

    fn start<'a>(
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
            (TagSide::Answer, Blocks::First) => SplitterState::Rest,
            (TagSide::Answer, Blocks::All) => SplitterState::Outside,
        };
        Some(body)
    }

    /// Passes on the text before the next mark, and takes the mark.
    fn seek<'a>(&mut self, text: &'a str, out: &mut impl FnMut(TagSide, &str)) -> Option<&'a str> {
        let side = self.side();
        let mut from = 0;
        while let Some(next) = self.find_mark_start(&text[from..]) {
            let at = from + next;
            match self.reject_quoted(text, at, self.match_mark(&text[at..])) {
                TagMatch::Mark(length, then) => {
                    emit(side, &text[..at], out);
                    self.state = then;
                    self.ticked = false;
                    return Some(&text[at + length..]);
                }
                TagMatch::Cut => {
                    emit(side, &text[..at], out);
                    self.ticked = self.is_ticked(text, at);
                    self.held = text[at..].to_owned();
                    return None;
                }
                TagMatch::Nothing => from = text.ceil_char_boundary(at + 1),
            }
        }
        emit(side, text, out);
        self.ticked = self.is_ticked(text, text.len());
        None
    }

    /// Returns whether a back-tick precedes the byte `at` of `text`, which follows the text that was passed on.
    fn is_ticked(&self, text: &str, at: usize) -> bool {
        match at {
            0 => self.ticked,
            _ => text[..at].ends_with('`'),
        }
    }

    /// Returns the found mark, unless it is between back-ticks inside thinking, where it is a mention.
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
        if !thinking || !self.is_ticked(text, at) {
            return found;
        }
        match text[at + length..].chars().next() {
            None => TagMatch::Cut,
            Some('`') => TagMatch::Nothing,
            Some(_) => found,
        }
    }

    /// Returns the position at which the next mark may begin.
    fn find_mark_start(&self, text: &str) -> Option<usize> {
        let tags = &self.options.tags;
        match self.state {
            SplitterState::Inside(pair) => find_stem(&tags.pairs()[pair].close, text),
            SplitterState::Opened => tags.closing().find(text),
            SplitterState::Harmony(_)
            | SplitterState::Outside
            | SplitterState::Start(_)
            | SplitterState::Rest => tags.opening().find(text),
        }
    }

    /// Returns the mark at the start of `text` that counts in this state, and the state after the mark.
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
                return match_tag(&tags.pairs()[pair].close, text, self.closed());
            }
            SplitterState::Opened => {
                first_match(pairs.map(|pair| match_tag(&pair.close, text, self.closed())))
            }
            SplitterState::Harmony(_) | SplitterState::Rest => TagMatch::Nothing,
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
            SplitterState::Inside(_) | SplitterState::Rest => TagMatch::Nothing,
        }
    }

    fn closed(&self) -> SplitterState {
        match self.options.blocks {
            Blocks::First => SplitterState::Rest,
            Blocks::All => SplitterState::Outside,
        }
    }
}

/// Returns the first result that is not [`TagMatch::Nothing`].
fn first_match<T>(looks: impl IntoIterator<Item = TagMatch<T>>) -> TagMatch<T> {
    let mut looks = looks.into_iter();
    looks
        .find(|look| !matches!(look, TagMatch::Nothing))
        .unwrap_or(TagMatch::Nothing)
}

fn emit(side: TagSide, text: &str, out: &mut impl FnMut(TagSide, &str)) {
    if !text.is_empty() {
        out(side, text);
    }
}

/// Splits a whole text. Neighbouring pieces are of different sides, and none is empty.
pub fn split_think(text: &str, options: ThinkOptions) -> Vec<(TagSide, String)> {
    let mut pieces = Vec::new();
    let mut splitter = ThinkSplitter::new(options);
    splitter.push(text, &mut |side, piece| join(&mut pieces, side, piece));
    splitter.finish(&mut |side, piece| join(&mut pieces, side, piece));
    pieces
}

/// Splits an owned text as [`split_think`] does. Nearly always all of the text is on one side, and is not copied.
pub fn split_whole(text: String, options: ThinkOptions) -> Vec<(TagSide, String)> {
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

/// Adds a piece. If the last one is of the same side, the piece is appended to it.
pub fn join(pieces: &mut Vec<(TagSide, String)>, side: TagSide, piece: &str) {
    match pieces.last_mut() {
        Some((last, text)) if *last == side => text.push_str(piece),
        _ => pieces.push((side, piece.to_owned())),
    }
}

#[cfg(test)]
mod tests;
