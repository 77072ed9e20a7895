//! Laws of the splitter of thinking.
//!
//! The input is `options, tags, chunking, text`. Bytes of the text from 14 to 31 stand for [`MARKS`].

use deadloop_corpus::{Blocks, TagSide, Tags, ThinkOptions, ThinkSplitter, split_think};

use crate::text::{chars, chunks, marked, text};

/// Tags of every kind: with a slash after the first char, with two names, and without letters.
const TAGS: [&str; 8] = [
    "harmony",
    "<think>",
    "<thinking>",
    "<reasoning>",
    "[THINK]",
    "◁think▷",
    "<|begin|>...<|end_of_thought|>",
    "«x»...```r»",
];
/// The number of tags that count if the input selects none.
const DEFAULT: usize = 6;

/// Parts of texts: marks that are whole, cut or wrong.
const MARKS: [&str; 18] = [
    "<think>",
    "</think>",
    "</thinking>",
    "<thinking>",
    "[THINK]",
    "[/THINK]",
    "◁think▷",
    "◁/think▷",
    "<|begin|>",
    "<|end_of_thought|>",
    "«x»",
    "<|start|>assistant",
    "<|channel|>analysis",
    "<|channel|>final",
    "<|constrain|>json",
    "<|message|>",
    "<|end|>",
    "<|",
];

/// Checks the laws of the splitter on one text.
pub fn splitter(data: &[u8]) {
    let [flags, names, chunking, rest @ ..] = data else {
        return;
    };
    let text = marked(&text(rest), &MARKS);
    let names = match *names {
        0 => (1 << DEFAULT) - 1,
        names => names,
    };
    let chosen = TAGS.iter().enumerate().filter(|(i, _)| names >> i & 1 == 1);
    let chosen: Vec<String> = chosen.map(|(_, name)| (*name).to_owned()).collect();
    // Of tags that can be told apart nothing is refused, and these can.
    let tags = Tags::new(&chosen).expect("tags");
    let options = ThinkOptions {
        blocks: [Blocks::First, Blocks::All][usize::from(flags & 1)],
        tags,
        opened: flags & 2 == 2,
    };
    let whole = split_think(&text, options.clone());
    for chunks in [chunks(&text, *chunking), chars(&text)] {
        assert_eq!(split(&chunks, &options), whole, "{chunks:?}");
    }
    only_marks_are_dropped(&text, &options, &chosen);
}

fn split(chunks: &[&str], options: &ThinkOptions) -> Vec<(TagSide, String)> {
    let mut pieces: Vec<(TagSide, String)> = Vec::new();
    let mut take = |side, piece: &str| {
        assert!(!piece.is_empty());
        match pieces.last_mut() {
            Some((last, text)) if *last == side => text.push_str(piece),
            _ => pieces.push((side, piece.to_owned())),
        }
    };
    let mut splitter = ThinkSplitter::new(options.clone());
    for chunk in chunks {
        splitter.push(chunk, &mut take);
    }
    splitter.finish(&mut take);
    pieces
}

/// Checks that the output is the text without marks.
fn only_marks_are_dropped(text: &str, options: &ThinkOptions, names: &[String]) {
    let (mut rest, mut dropped) = (text, Vec::new());
    let mut splitter = ThinkSplitter::new(options.clone());
    // Of a text that comes whole, each piece is a part of that text: its place says what was left out.
    splitter.push(text, &mut |_, piece| {
        let gap = piece.as_ptr() as usize - rest.as_ptr() as usize;
        dropped.push(&rest[..gap]);
        rest = &rest[gap + piece.len()..];
    });
    splitter.finish(&mut |_, held| {
        assert!(rest.ends_with(held));
        rest = &rest[..rest.len() - held.len()];
    });
    dropped.push(rest);
    for mut marks in dropped {
        while !marks.is_empty() {
            let mark = mark(marks, names).unwrap_or_else(|| panic!("{marks:?} was left out"));
            marks = &marks[mark..];
        }
    }
}

/// Returns the length of the mark at the start of a text.
fn mark(text: &str, names: &[String]) -> Option<usize> {
    let slashed = |open: &str| {
        let first = open.chars().next()?;
        Some(format!("{first}/{}", &open[first.len_utf8()..]))
    };
    for name in names {
        let (open, close) = match name.split_once("...") {
            Some((open, close)) => (open, Some(close.to_owned())),
            None => (name.as_str(), slashed(name)),
        };
        let mut tags = [Some(open), close.as_deref()].into_iter().flatten();
        if let Some(tag) = tags.find(|tag| text.starts_with(tag)) {
            return Some(tag.len());
        }
    }
    let begins = |mark: &&&str| text.starts_with(**mark);
    let end = ["<|end|>", "<|return|>", "<|call|>"].iter().find(begins);
    if let Some(end) = end {
        return Some(end.len());
    }
    ["<|start|>", "<|channel|>"].iter().find(begins)?;
    let message = text.find("<|message|>")?;
    Some(message + "<|message|>".len())
}
