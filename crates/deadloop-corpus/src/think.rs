//! The splitter: a text that holds its thinking between `<think>` and `</think>`, cut into reasoning
//! and answer as it streams in.
//!
//! Nothing but the tags is dropped. The first block counts only at the very start, blanks before it
//! aside: a `<think>` that an answer talks about is text. What is held back between chunks is a
//! beginning of a tag, or blanks, and so never more than 7 bytes; blanks before the first tag are
//! passed on as answer.

use serde::Deserialize;

use crate::Body;

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// How texts are split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThinkOptions {
    /// Which blocks are reasoning.
    pub blocks: Blocks,
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
pub enum Side {
    /// Inside a block.
    Reasoning,
    /// Outside.
    Answer,
}

impl Side {
    /// A chunk of text on this side.
    pub(crate) fn body(self, text: String) -> Body {
        match self {
            Self::Reasoning => Body::Reasoning(text),
            Self::Answer => Body::Answer(text),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing but blanks so far, on this side: an opening tag is looked for right here.
    Start(Side),
    /// Inside a block: a closing tag is looked for.
    Inside,
    /// Outside: an opening tag is looked for.
    Outside,
    /// No tag counts any more.
    Rest,
}

/// Splits one stream, chunk by chunk. How it was cut makes no difference to what comes out.
#[derive(Clone, Debug)]
pub struct ThinkSplitter {
    options: ThinkOptions,
    state: State,
    held: String,
}

impl ThinkSplitter {
    /// A splitter for a new stream.
    pub fn new(options: ThinkOptions) -> Self {
        let side = if options.opened {
            Side::Reasoning
        } else {
            Side::Answer
        };
        Self {
            options,
            state: State::Start(side),
            held: String::new(),
        }
    }

    /// The next chunk. `out` gets the pieces that are now certain, in order, none of them empty.
    pub fn push(&mut self, chunk: &str, out: &mut impl FnMut(Side, &str)) {
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
    pub fn finish(self, out: &mut impl FnMut(Side, &str)) {
        emit(self.side(), &self.held, out);
    }

    /// Bytes at the end of what was pushed that are held back.
    pub(crate) fn held(&self) -> usize {
        self.held.len()
    }

    fn side(&self) -> Side {
        match self.state {
            State::Start(side) => side,
            State::Inside => Side::Reasoning,
            State::Outside | State::Rest => Side::Answer,
        }
    }

    /// Does one thing with `text` and gives what is left; none where the rest must wait.
    fn step<'a>(&mut self, text: &'a str, out: &mut impl FnMut(Side, &str)) -> Option<&'a str> {
        match self.state {
            State::Start(side) => self.start(side, text, out),
            State::Inside => self.seek(CLOSE, self.closed(), text, out),
            State::Outside => self.seek(OPEN, State::Inside, text, out),
            State::Rest => {
                emit(Side::Answer, text, out);
                None
            }
        }
    }

    fn closed(&self) -> State {
        match self.options.blocks {
            Blocks::First => State::Rest,
            Blocks::All => State::Outside,
        }
    }

    fn start<'a>(
        &mut self,
        side: Side,
        text: &'a str,
        out: &mut impl FnMut(Side, &str),
    ) -> Option<&'a str> {
        let body = text.trim_start();
        emit(side, &text[..text.len() - body.len()], out);
        if let Some(rest) = body.strip_prefix(OPEN) {
            self.state = State::Inside;
            return Some(rest);
        }
        if OPEN.starts_with(body) {
            self.held = body.to_owned();
            return None;
        }
        self.state = match (side, self.options.blocks) {
            (Side::Reasoning, _) => State::Inside,
            (Side::Answer, Blocks::First) => State::Rest,
            (Side::Answer, Blocks::All) => State::Outside,
        };
        Some(body)
    }

    fn seek<'a>(
        &mut self,
        tag: &str,
        then: State,
        text: &'a str,
        out: &mut impl FnMut(Side, &str),
    ) -> Option<&'a str> {
        let side = self.side();
        if let Some(at) = text.find(tag) {
            emit(side, &text[..at], out);
            self.state = then;
            return Some(&text[at + tag.len()..]);
        }
        let certain = text.len() - cut_tag(text, tag);
        emit(side, &text[..certain], out);
        self.held = text[certain..].to_owned();
        None
    }
}

/// How many bytes at the end of `text` may be the beginning of `tag`.
fn cut_tag(text: &str, tag: &str) -> usize {
    let cuts = (1..tag.len()).rev();
    cuts.into_iter()
        .find(|cut| text.ends_with(&tag[..*cut]))
        .unwrap_or(0)
}

fn emit(side: Side, text: &str, out: &mut impl FnMut(Side, &str)) {
    if !text.is_empty() {
        out(side, text);
    }
}

/// Splits a whole text. Neighbouring pieces are of different sides, and none is empty.
pub fn split_think(text: &str, options: ThinkOptions) -> Vec<(Side, String)> {
    let mut pieces = Vec::new();
    let mut splitter = ThinkSplitter::new(options);
    splitter.push(text, &mut |side, piece| join(&mut pieces, side, piece));
    splitter.finish(&mut |side, piece| join(&mut pieces, side, piece));
    pieces
}

/// Adds a piece, to the last one where that is of the same side.
pub(crate) fn join(pieces: &mut Vec<(Side, String)>, side: Side, piece: &str) {
    match pieces.last_mut() {
        Some((last, text)) if *last == side => text.push_str(piece),
        _ => pieces.push((side, piece.to_owned())),
    }
}

/// Takes off a complete `<think>…</think>` at the very start and the blanks after it; any other text
/// is given back unchanged. The pattern is `^<think>.*?</think>\s*`, over lines, once.
pub fn strip_think_tags(text: &str) -> &str {
    let block = text
        .strip_prefix(OPEN)
        .and_then(|body| body.split_once(CLOSE));
    match block {
        Some((_, rest)) => rest.trim_start(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Splits a whole text by looking at it from every position: slow and obvious.
    fn oracle(text: &str, options: ThinkOptions) -> (String, String) {
        let (mut reasoning, mut answer) = (String::new(), String::new());
        let mut inside = options.opened;
        let mut seen_text = false; // anything but blanks, tags too
        let mut at = 0;
        while let Some(c) = text[at..].chars().next() {
            let here = &text[at..];
            let opens = here.starts_with(OPEN)
                && (!seen_text || (options.blocks == Blocks::All && !inside));
            let closes = here.starts_with(CLOSE) && inside;
            if opens || closes {
                (inside, seen_text) = (opens, true);
                at += if opens { OPEN.len() } else { CLOSE.len() };
            } else {
                seen_text |= !c.is_whitespace();
                if inside { &mut reasoning } else { &mut answer }.push(c);
                at += c.len_utf8();
            }
        }
        (reasoning, answer)
    }

    fn sides(pieces: &[(Side, String)]) -> (String, String) {
        let side = |wanted| {
            let pieces = pieces.iter().filter(|(side, _)| *side == wanted);
            pieces.map(|(_, text)| text.as_str()).collect::<String>()
        };
        (side(Side::Reasoning), side(Side::Answer))
    }

    fn every_option() -> [ThinkOptions; 4] {
        [
            (Blocks::First, false),
            (Blocks::First, true),
            (Blocks::All, false),
            (Blocks::All, true),
        ]
        .map(|(blocks, opened)| ThinkOptions { blocks, opened })
    }

    fn split(text: &str, options: ThinkOptions) -> (String, String) {
        sides(&split_think(text, options))
    }

    fn check(text: &str, options: ThinkOptions, reasoning: &str, answer: &str) {
        assert_eq!(
            split(text, options),
            (reasoning.into(), answer.into()),
            "{text:?}"
        );
    }

    #[test]
    fn the_cases_of_the_description() {
        let [first, opened, all, _] = every_option();
        check("plain", first, "", "plain");
        check("<think>a b</think>\n42", first, "a b", "\n42");
        check("<think>round and round", first, "round and round", "");
        check("a</think>b", first, "", "a</think>b");
        check("a</think>b", opened, "a", "b");
        check("never closed", opened, "never closed", "");
        check("<think>a</think>b", opened, "a", "b");
        check(
            "<think>a</think>b<think>c</think>d",
            first,
            "a",
            "b<think>c</think>d",
        );
        check("<think>a</think>b<think>c</think>d", all, "ac", "bd");
        check(
            "<think>a<think>b</think>c</think>",
            first,
            "a<think>b",
            "c</think>",
        );
        check(
            "<think>a<think>b</think>c</think>",
            all,
            "a<think>b",
            "c</think>",
        );
        check(" \n<think>a</think>b", first, "a", " \nb");
        check("use <think> so", first, "", "use <think> so");
        check("<thin", first, "", "<thin");
        check("<think>a</thin", first, "a</thin", "");
        check("<<think>a", all, "a", "<");
        check("", first, "", "");
    }

    #[test]
    fn strip_think_tags_keeps_its_own_cases() {
        assert_eq!(strip_think_tags("no tag"), "no tag");
        assert_eq!(
            strip_think_tags("<think>a\nb</think>\n\n{\"sql\": 1}"),
            "{\"sql\": 1}"
        );
        assert_eq!(
            strip_think_tags("<think>never closed"),
            "<think>never closed"
        );
        assert_eq!(
            strip_think_tags("<think>a</think><think>b</think>c"),
            "<think>b</think>c"
        );
        assert_eq!(
            strip_think_tags("<think>a<think>b</think>c</think>d"),
            "c</think>d"
        );
        assert_eq!(strip_think_tags("x<think>a</think>b"), "x<think>a</think>b");
        assert_eq!(strip_think_tags(" <think>a</think>b"), " <think>a</think>b");
        assert_eq!(strip_think_tags(""), "");
    }

    /// Texts made of tags, pieces of tags, blanks and letters of one to four bytes.
    fn text() -> impl Strategy<Value = String> {
        let word = prop::sample::select(vec![
            OPEN, CLOSE, "<", "<th", "think>", "</", "/think>", " ", "\n", "\u{3000}", "a", "é",
            "环", "🔁",
        ]);
        prop::collection::vec(word, 0..16).prop_map(|words| words.concat())
    }

    proptest! {
        #[test]
        fn it_agrees_with_the_oracle(text in text()) {
            for options in every_option() {
                prop_assert_eq!(split(&text, options), oracle(&text, options), "{:?}", options);
            }
        }

        #[test]
        fn chunks_make_no_difference(text in text(), cuts in prop::collection::vec(any::<bool>(), 120)) {
            for options in every_option() {
                let mut pieces = Vec::new();
                let mut splitter = ThinkSplitter::new(options);
                let mut chunk = String::new();
                for (at, c) in text.chars().enumerate() {
                    chunk.push(c);
                    if cuts[at % cuts.len()] {
                        splitter.push(&chunk, &mut |side, piece| join(&mut pieces, side, piece));
                        prop_assert!(splitter.held.len() < CLOSE.len());
                        chunk.clear();
                    }
                }
                splitter.push(&chunk, &mut |side, piece| join(&mut pieces, side, piece));
                splitter.finish(&mut |side, piece| join(&mut pieces, side, piece));
                prop_assert_eq!(pieces, split_think(&text, options));
            }
        }
    }
}
