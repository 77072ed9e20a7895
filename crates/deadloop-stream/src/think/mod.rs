//! The splitter: a text that holds its thinking between `<think>` and `</think>`, or other marks of
//! its kind, cut into reasoning and answer as it streams in.
//!
//! Nothing but the marks is dropped. The first block counts only at the very start, blanks before it
//! aside: a `<think>` that an answer talks about is text. A block ends with the closing tag of the tag
//! that opened it; one that the prompt opened, with any. What is held back between chunks is a
//! beginning of a mark, and so never more than the longest, 256 bytes; blanks before the first
//! one are passed on as answer.
//!
//! A text in the harmony format is a row of messages, each with a header that says its channel: all
//! of `analysis` is reasoning, wherever it stands, since nobody talks about a channel by opening one.
//!
//! | to find | look in |
//! |---|---|
//! | which tags there are, how they are named and found | `tags` |
//! | the messages of the harmony format | `harmony` |
//! | which count for which model | `rules` |

use serde::Deserialize;

use deadloop_detect::TextChannel;

use crate::Body;

mod harmony;
mod rules;
mod tags;

pub use rules::{ModelThink, ThinkRules};
pub use tags::Tags;

use harmony::{ENDS, header};
use tags::{Look, find, tag};

/// How texts are split.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThinkOptions {
    /// Which blocks are reasoning.
    pub blocks: Blocks,
    /// The tags that count.
    pub tags: Tags,
    /// The model's template opens the tag in the prompt: the text begins as reasoning, with or
    /// without an opening tag of its own.
    pub opened: bool,
}

/// Which blocks of a text are reasoning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Blocks {
    /// The one at the start; later tags are text.
    #[default]
    First,
    /// Every block, wherever it stands.
    All,
}

/// The two sides of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TagSide {
    /// Inside a block.
    Reasoning,
    /// Outside.
    Answer,
}

impl TagSide {
    /// The channel of text on this side.
    pub fn channel(self) -> TextChannel {
        match self {
            Self::Reasoning => TextChannel::Reasoning,
            Self::Answer => TextChannel::Answer,
        }
    }

    /// A chunk of text on this side, as it is recorded.
    pub fn body(self, text: String) -> Body {
        match self {
            Self::Reasoning => Body::Reasoning(text),
            Self::Answer => Body::Answer(text),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing but blanks so far, on this side: an opening tag is looked for right here.
    Start(TagSide),
    /// Inside a block that this pair's tag opened: its closing tag is looked for.
    Inside(usize),
    /// Inside a block that the prompt opened: any closing tag is looked for.
    Opened,
    /// Outside: an opening tag is looked for.
    Outside,
    /// In a message of the harmony format, or after one: headers and ends are looked for.
    Harmony(TagSide),
    /// No tag counts any more.
    Rest,
}

/// Splits one stream, chunk by chunk. How it was cut makes no difference to what comes out.
#[derive(Clone, Debug)]
pub struct ThinkSplitter {
    options: ThinkOptions,
    state: State,
    held: String,
    /// What was passed on last ended with a back-tick.
    ticked: bool,
}

impl ThinkSplitter {
    /// A splitter for a new stream.
    pub fn new(options: ThinkOptions) -> Self {
        let side = if options.opened {
            TagSide::Reasoning
        } else {
            TagSide::Answer
        };
        Self {
            options,
            state: State::Start(side),
            held: String::new(),
            ticked: false,
        }
    }

    /// Takes the next chunk. `out` receives the pieces whose side is now certain, in order; no piece is empty.
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

    /// The stream has ended: what was held back is text.
    pub fn finish(self, out: &mut impl FnMut(TagSide, &str)) {
        emit(self.side(), &self.held, out);
    }

    /// Bytes at the end of what was pushed that are held back.
    pub fn held(&self) -> usize {
        self.held.len()
    }

    fn side(&self) -> TagSide {
        match self.state {
            State::Start(side) | State::Harmony(side) => side,
            State::Inside(_) | State::Opened => TagSide::Reasoning,
            State::Outside | State::Rest => TagSide::Answer,
        }
    }

    /// Handles the start of `text` and returns the rest of it. `None` if nothing is left, or if the rest
    /// must wait for the next chunk.
    fn step<'a>(&mut self, text: &'a str, out: &mut impl FnMut(TagSide, &str)) -> Option<&'a str> {
        match self.state {
            State::Start(side) => self.start(side, text, out),
            State::Rest => {
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
        match self.look(body) {
            Look::Mark(length, then) => {
                self.state = then;
                return Some(&body[length..]);
            }
            Look::Cut => {
                self.held = body.to_owned();
                return None;
            }
            Look::Nothing => {}
        }
        self.state = match (side, self.options.blocks) {
            (TagSide::Reasoning, _) => State::Opened,
            (TagSide::Answer, Blocks::First) => State::Rest,
            (TagSide::Answer, Blocks::All) => State::Outside,
        };
        Some(body)
    }

    /// Passes on what is before the next mark, and takes that.
    fn seek<'a>(&mut self, text: &'a str, out: &mut impl FnMut(TagSide, &str)) -> Option<&'a str> {
        let side = self.side();
        let mut from = 0;
        while let Some(next) = self.lead(&text[from..]) {
            let at = from + next;
            match self.quoted(text, at, self.look(&text[at..])) {
                Look::Mark(length, then) => {
                    emit(side, &text[..at], out);
                    self.state = then;
                    self.ticked = false;
                    return Some(&text[at + length..]);
                }
                Look::Cut => {
                    emit(side, &text[..at], out);
                    self.ticked = self.is_ticked(text, at);
                    self.held = text[at..].to_owned();
                    return None;
                }
                Look::Nothing => from = text.ceil_char_boundary(at + 1),
            }
        }
        emit(side, text, out);
        self.ticked = self.is_ticked(text, text.len());
        None
    }

    /// Whether a back-tick stands before the byte `at` of `text`, which follows what was passed on.
    fn is_ticked(&self, text: &str, at: usize) -> bool {
        match at {
            0 => self.ticked,
            _ => text[..at].ends_with('`'),
        }
    }

    /// The same mark, unless it stands between back-ticks inside thinking: there it is spoken of.
    fn quoted(&self, text: &str, at: usize, found: Look<State>) -> Look<State> {
        let thinking = matches!(self.state, State::Inside(_) | State::Opened);
        let Look::Mark(length, _) = &found else {
            return found;
        };
        if !thinking || !self.is_ticked(text, at) {
            return found;
        }
        match text[at + length..].chars().next() {
            None => Look::Cut,
            Some('`') => Look::Nothing,
            Some(_) => found,
        }
    }

    /// Where the next mark may begin.
    fn lead(&self, text: &str) -> Option<usize> {
        let tags = &self.options.tags;
        match self.state {
            State::Inside(pair) => find(&tags.pairs()[pair].close, text),
            State::Opened => tags.closing().find(text),
            State::Harmony(_) | State::Outside | State::Start(_) | State::Rest => {
                tags.opening().find(text)
            }
        }
    }

    /// The mark at the start of `text` that counts in this state, and the state after it.
    fn look(&self, text: &str) -> Look<State> {
        let tags = &self.options.tags;
        let pairs = tags.pairs().iter();
        let found = match self.state {
            State::Start(_) | State::Outside => {
                let open = pairs.enumerate();
                first(open.map(|(at, pair)| tag(&pair.open, text, State::Inside(at))))
            }
            State::Inside(pair) => return tag(&tags.pairs()[pair].close, text, self.closed()),
            State::Opened => first(pairs.map(|pair| tag(&pair.close, text, self.closed()))),
            State::Harmony(_) | State::Rest => Look::Nothing,
        };
        match found {
            Look::Nothing if tags.harmony() => self.look_harmony(text),
            found => found,
        }
    }

    fn look_harmony(&self, text: &str) -> Look<State> {
        let header = || header(text).map(State::Harmony);
        let ends = || first(ENDS.map(|end| tag(end, text, State::Harmony(TagSide::Answer))));
        match self.state {
            State::Start(_) | State::Outside => header(),
            State::Opened => ends(),
            State::Harmony(_) => header().or(ends),
            State::Inside(_) | State::Rest => Look::Nothing,
        }
    }

    fn closed(&self) -> State {
        match self.options.blocks {
            Blocks::First => State::Rest,
            Blocks::All => State::Outside,
        }
    }
}

/// The first that is not nothing.
fn first<T>(looks: impl IntoIterator<Item = Look<T>>) -> Look<T> {
    let mut looks = looks.into_iter();
    looks
        .find(|look| !matches!(look, Look::Nothing))
        .unwrap_or(Look::Nothing)
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

/// The same of a text that nobody else needs: nearly always all of it is on one side, and is not copied.
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

/// Adds a piece, to the last one where that is of the same side.
pub fn join(pieces: &mut Vec<(TagSide, String)>, side: TagSide, piece: &str) {
    match pieces.last_mut() {
        Some((last, text)) if *last == side => text.push_str(piece),
        _ => pieces.push((side, piece.to_owned())),
    }
}

#[cfg(test)]
mod tests;
