//! [`MarkKinds`]: the markers of thinking, and their meanings.

use crate::marks::{MarkList, MarkMatch};

/// The meaning of a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MarkKind {
    /// An opening tag, of the pair with this index.
    Open(usize),
    /// A closing tag. The index counts the distinct closing tags, which several pairs may share.
    Close(usize),
    /// A marker that ends thinking and stays in the answer.
    Tool,
}

/// All markers of a setting.
#[derive(Clone, Debug)]
pub(super) struct MarkKinds {
    marks: MarkList,
    kinds: Vec<MarkKind>,
    /// For each pair, the index of its closing tag among the distinct ones.
    closes: Vec<usize>,
}

impl MarkKinds {
    /// Returns the markers: the `tags` of blocks, and the markers in `tool`, which end thinking. With `ignore_case`,
    /// the case of ASCII letters is ignored.
    ///
    /// # Errors
    ///
    /// Returns the markers that cannot be distinguished.
    pub(super) fn new(tags: &[String], tool: &[String], ignore_case: bool) -> Result<Self, String> {
        let (mut texts, mut kinds, mut closes) = (Vec::new(), Vec::new(), Vec::new());
        let mut closing: Vec<String> = Vec::new();
        for (pair, tag) in tags.iter().enumerate() {
            let (open, close) = match tag.split_once("...") {
                Some((open, close)) => (open.to_owned(), close.to_owned()),
                None => (tag.clone(), closing_tag(tag)),
            };
            texts.push(open);
            kinds.push(MarkKind::Open(pair));
            let known = closing.iter().position(|other| *other == close);
            closes.push(known.unwrap_or(closing.len()));
            if known.is_none() {
                closing.push(close);
            }
        }
        kinds.extend((0..closing.len()).map(MarkKind::Close));
        kinds.extend(tool.iter().map(|_| MarkKind::Tool));
        texts.extend(closing.into_iter().chain(tool.iter().cloned()));
        match MarkList::conflict(&texts, ignore_case) {
            Some(reason) => Err(reason),
            None => Ok(Self {
                marks: MarkList::new(&texts, ignore_case),
                kinds,
                closes,
            }),
        }
    }

    /// Returns an empty set of markers.
    pub(super) fn none() -> Self {
        Self {
            marks: MarkList::default(),
            kinds: Vec::new(),
            closes: Vec::new(),
        }
    }

    /// Returns whether some marker begins with this char.
    pub(super) fn can_begin_with(&self, c: char) -> bool {
        self.marks.can_begin_with(c)
    }

    /// Compares the held text with the markers.
    pub(super) fn match_held(&self, held: &[char], work: &mut u64) -> MarkMatch {
        self.marks.match_held(held, work)
    }

    /// Returns the meaning of the marker with this index.
    pub(super) fn kind(&self, mark: usize) -> MarkKind {
        self.kinds.get(mark).copied().unwrap_or(MarkKind::Tool)
    }

    /// Returns whether a closing tag closes blocks of this pair.
    pub(super) fn closes(&self, close: usize, pair: usize) -> bool {
        self.closes.get(pair) == Some(&close)
    }
}

/// Returns the closing tag of an opening tag, which has a slash after the first char.
fn closing_tag(open: &str) -> String {
    let mut chars = open.chars();
    chars
        .next()
        .map_or_else(String::new, |first| format!("{first}/{}", chars.as_str()))
}
