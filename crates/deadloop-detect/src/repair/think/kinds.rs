//! The marks that mean something: what each opens, closes or ends.

use crate::repair::marks::{Look, Marks};

/// What a mark means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It opens a block of this pair.
    Open(usize),
    /// It closes a block of every pair with this closing tag, of which this is the first.
    Close(usize),
    /// It ends thinking, and stays.
    Tool,
}

/// All marks of a setting.
#[derive(Clone, Debug)]
pub(super) struct Kinds {
    marks: Marks,
    kinds: Vec<Kind>,
    /// The closing tag of each pair: its place among the different ones.
    closes: Vec<usize>,
}

impl Kinds {
    /// Of tags by their names, and marks that end thinking.
    ///
    /// # Errors
    /// Marks that cannot be told apart, and what was expected.
    pub(super) fn new(tags: &[String], tool: &[String], fold: bool) -> Result<Self, String> {
        let (mut texts, mut kinds, mut closes) = (Vec::new(), Vec::new(), Vec::new());
        let mut closing: Vec<String> = Vec::new();
        for (pair, tag) in tags.iter().enumerate() {
            let (open, close) = match tag.split_once("...") {
                Some((open, close)) => (open.to_owned(), close.to_owned()),
                None => (tag.clone(), slashed(tag)),
            };
            texts.push(open);
            kinds.push(Kind::Open(pair));
            let known = closing.iter().position(|other| *other == close);
            closes.push(known.unwrap_or(closing.len()));
            if known.is_none() {
                closing.push(close);
            }
        }
        kinds.extend((0..closing.len()).map(Kind::Close));
        kinds.extend(tool.iter().map(|_| Kind::Tool));
        texts.extend(closing.into_iter().chain(tool.iter().cloned()));
        match Marks::refuse(&texts, fold) {
            Some(reason) => Err(reason),
            None => Ok(Self {
                marks: Marks::new(&texts, fold),
                kinds,
                closes,
            }),
        }
    }

    /// No marks at all.
    pub(super) fn none() -> Self {
        Self {
            marks: Marks::default(),
            kinds: Vec::new(),
            closes: Vec::new(),
        }
    }

    /// Whether a mark can begin with this char.
    pub(super) fn lead(&self, c: char) -> bool {
        self.marks.lead(c)
    }

    /// What the text is that has been held so far.
    pub(super) fn look(&self, held: &[char], work: &mut u64) -> Look {
        self.marks.look(held, work)
    }

    /// What a mark means.
    pub(super) fn kind(&self, mark: usize) -> Kind {
        self.kinds.get(mark).copied().unwrap_or(Kind::Tool)
    }

    /// Whether a closing tag is the one of this pair.
    pub(super) fn closes(&self, close: usize, pair: usize) -> bool {
        self.closes.get(pair) == Some(&close)
    }
}

/// What closes a tag: it, with a slash after its first char.
fn slashed(open: &str) -> String {
    let mut chars = open.chars();
    chars
        .next()
        .map_or_else(String::new, |first| format!("{first}/{}", chars.as_str()))
}
