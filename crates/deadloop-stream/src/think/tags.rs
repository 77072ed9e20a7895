//! Names of the tags that delimit thinking, and the search for them in a text.

use std::str::FromStr;
use std::sync::{Arc, LazyLock};

use aho_corasick::{AhoCorasick, MatchKind};
use serde::Deserialize;

use super::harmony::{HEADER_MARKS, MESSAGE_ENDS, is_header_char};

/// An opening tag and its closing tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TagPair {
    pub(super) open: String,
    pub(super) close: String,
}

/// The recognised pairs of tags, in the order in which they are tried.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct Tags(Arc<TagSet>);

#[derive(Debug)]
struct TagSet {
    pairs: Vec<TagPair>,
    harmony: bool,
    /// The stems of the opening markers.
    opening: Stems,
    /// The stems of the closing markers.
    closing: Stems,
}

impl PartialEq for Tags {
    fn eq(&self, other: &Self) -> bool {
        (self.pairs(), self.harmony()) == (other.pairs(), other.harmony())
    }
}

impl Eq for Tags {}

/// The name for the harmony format of gpt-oss in a list of tags.
const HARMONY: &str = "harmony";

/// The default tags: of DeepSeek-R1 and most others, of prompted models (two), Magistral, Kimi, Gemma and gpt-oss.
const DEFAULT_TAGS: [&str; 7] = [
    "<think>",
    "<thinking>",
    "<reasoning>",
    "[THINK]",
    "◁think▷",
    "<|channel>thought...<channel|>",
    HARMONY,
];

/// The maximum length of a tag, in bytes.
const MAX_TAG_BYTES: usize = 64;

impl Default for Tags {
    fn default() -> Self {
        static TAGS: LazyLock<Tags> = LazyLock::new(|| {
            Tags::new(&DEFAULT_TAGS.map(str::to_owned)).unwrap_or_else(|_| Tags::none())
        });
        TAGS.clone()
    }
}

impl Tags {
    /// Returns an empty set of tags, with which all text is on one side.
    pub fn none() -> Self {
        Self(Arc::new(TagSet {
            pairs: Vec::new(),
            harmony: false,
            opening: Stems::default(),
            closing: Stems::default(),
        }))
    }

    /// Parses the names of tags. A name is an opening tag whose closing tag has a slash after the first char
    /// (`<think>`, `[THINK]`), both tags with three dots between (`<|begin|>...<|end|>`), or `harmony`.
    ///
    /// # Errors
    /// A name is not a tag, or two tags cannot be distinguished. The message describes the expected form.
    pub fn new(names: &[String]) -> Result<Self, String> {
        let pairs = names.iter().filter(|name| *name != HARMONY);
        let pairs: Vec<TagPair> = pairs.map(|name| name.parse()).collect::<Result<_, _>>()?;
        let harmony = names.iter().any(|name| name == HARMONY);
        let own = HEADER_MARKS
            .iter()
            .chain(&MESSAGE_ENDS)
            .copied()
            .filter(|_| harmony);
        let mut opening: Vec<&str> = pairs.iter().map(|pair| pair.open.as_str()).collect();
        let mut closing: Vec<&str> = pairs.iter().map(|pair| pair.close.as_str()).collect();
        closing.sort_unstable();
        closing.dedup();
        opening.extend(own.clone());
        closing.extend(own);
        Ok(Self(Arc::new(TagSet {
            opening: Stems::new(opening)?,
            closing: Stems::new(closing)?,
            pairs,
            harmony,
        })))
    }

    pub(super) fn pairs(&self) -> &[TagPair] {
        &self.0.pairs
    }

    pub(super) fn harmony(&self) -> bool {
        self.0.harmony
    }

    /// Returns the stems of the opening markers.
    pub(super) fn opening(&self) -> &Stems {
        &self.0.opening
    }

    /// Returns the stems of the closing markers.
    pub(super) fn closing(&self) -> &Stems {
        &self.0.closing
    }
}

/// The first chars of markers, for a quick search for possible markers.
#[derive(Debug, Default)]
pub(super) struct Stems {
    finder: Option<AhoCorasick>,
    /// The first char of each marker.
    first_chars: Vec<char>,
}

/// The number of a marker's first chars that are searched for. Every marker is at least as long.
const STEM_CHARS: usize = 3;

impl Stems {
    /// Returns the stems of markers. Rejects a marker that is a prefix of another, since only later text could
    /// distinguish them.
    fn new(mut marks: Vec<&str>) -> Result<Self, String> {
        marks.sort_unstable();
        let alike = marks.windows(2).find(|pair| pair[1].starts_with(pair[0]));
        if let Some(pair) = alike {
            return Err(format!(
                "the tags {:?} and {:?} cannot be told apart; expected each once, and none that \
                 begins as another does",
                pair[0], pair[1]
            ));
        }
        // Only for this kind of match does the finder search all stems at once.
        let finder = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostFirst)
            .build(marks.iter().map(|mark| stem_of(mark)));
        let mut first_chars: Vec<char> = marks
            .iter()
            .filter_map(|mark| mark.chars().next())
            .collect();
        first_chars.dedup();
        Ok(Self {
            finder: Some(finder.map_err(|e| e.to_string())?),
            first_chars,
        })
    }

    /// Returns the first position at which a marker may begin, including a partial marker at the end of the text.
    pub(super) fn find(&self, text: &str) -> Option<usize> {
        let whole = self.finder.as_ref().and_then(|finder| finder.find(text));
        whole
            .map(|found| found.start())
            .or_else(|| find_partial_stem(text, |c| self.first_chars.contains(&c)))
    }
}

/// Returns the first position at which `tag` may begin, including a partial tag at the end of the text.
pub(super) fn find_tag_start(tag: &str, text: &str) -> Option<usize> {
    text.find(stem_of(tag))
        .or_else(|| find_partial_stem(text, |c| tag.starts_with(c)))
}

fn stem_of(mark: &str) -> &str {
    let end = mark
        .char_indices()
        .nth(STEM_CHARS)
        .map_or(mark.len(), |(at, _)| at);
    &mark[..end]
}

/// Returns the position of a possible partial stem at the end of the text. `is_lead` accepts the first char of a stem.
fn find_partial_stem(text: &str, is_lead: impl Fn(char) -> bool) -> Option<usize> {
    let last = text.char_indices().rev().take(STEM_CHARS - 1);
    last.filter(|(_, c)| is_lead(*c)).last().map(|(at, _)| at)
}

impl TryFrom<Vec<String>> for Tags {
    type Error = String;

    fn try_from(names: Vec<String>) -> Result<Self, String> {
        Self::new(&names)
    }
}

impl FromStr for TagPair {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let (open, close) = match name.split_once("...") {
            Some((open, close)) => (open.to_owned(), close.to_owned()),
            None => (name.to_owned(), closing_tag(name)),
        };
        if is_tag(&open) && is_tag(&close) && open != close {
            return Ok(Self { open, close });
        }
        Err(format!(
            "{name:?} is no tag; expected one as \"<think>\", a pair as \"<|begin|>...<|end|>\", \
             or \"{HARMONY}\""
        ))
    }
}

/// Returns the closing tag of an opening tag, which has a slash after the first char.
fn closing_tag(open: &str) -> String {
    let first = open.chars().next().map_or(0, char::len_utf8);
    let (first, rest) = open.split_at(first);
    format!("{first}/{rest}")
}

/// Returns whether a text may be a tag: at least three chars, unlike any word or header. A name may follow the `>`.
fn is_tag(tag: &str) -> bool {
    let mark = |c: Option<char>| c.is_some_and(|c| !c.is_alphanumeric() && !c.is_whitespace());
    tag.len() <= MAX_TAG_BYTES
        && tag.chars().count() >= 3
        && mark(tag.chars().next())
        && !tag.starts_with(is_header_char)
        && (mark(tag.chars().next_back()) || tag.contains('>'))
}

/// The result of matching a marker at the start of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TagMatch<T> {
    /// No marker.
    Nothing,
    /// A possible beginning of a marker, cut off by the end of the text.
    Cut,
    /// A marker: its length in bytes, and its meaning.
    Mark(usize, T),
}

impl<T> TagMatch<T> {
    /// Converts the marker's meaning.
    pub(super) fn map<U>(self, convert: impl FnOnce(T) -> U) -> TagMatch<U> {
        match self {
            Self::Nothing => TagMatch::Nothing,
            Self::Cut => TagMatch::Cut,
            Self::Mark(length, what) => TagMatch::Mark(length, convert(what)),
        }
    }

    /// Returns this match, or the other one if this is [`TagMatch::Nothing`].
    pub(super) fn or(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::Nothing => other(),
            found => found,
        }
    }
}

/// Matches one tag at the start of `text`.
pub(super) fn match_tag<T>(tag: &str, text: &str, then: T) -> TagMatch<T> {
    if text.starts_with(tag) {
        TagMatch::Mark(tag.len(), then)
    } else if tag.starts_with(text) {
        TagMatch::Cut
    } else {
        TagMatch::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(names: &[&str]) -> Result<Tags, String> {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        Tags::new(&names)
    }

    #[test]
    fn a_slash_closes_a_tag_or_its_own_mark_does() {
        let tags = tags(&["[THINK]", "◁think▷", "<|a|>...<|b|>"]).unwrap();
        let closing = tags.pairs().iter().map(|pair| pair.close.as_str());
        assert!(closing.eq(["[/THINK]", "◁/think▷", "<|b|>"]));
        assert_eq!(tags.opening().first_chars, ['<', '[', '◁']);
        assert_eq!(Tags::default().pairs().len(), DEFAULT_TAGS.len() - 1);
        assert!(Tags::default().harmony() && !Tags::none().harmony());
    }

    #[test]
    fn what_is_no_tag_is_refused() {
        for name in [
            "",
            "<>",
            "think",
            "<think",
            "think>",
            " <a>",
            "<a>...",
            "...<a>",
            "<a>...<a>",
            "_a_",
        ] {
            assert!(tags(&[name]).unwrap_err().contains("is no tag"), "{name:?}");
        }
        assert!(tags(&[&format!("<{}>", "x".repeat(MAX_TAG_BYTES))]).is_err());
        for names in [
            ["<a>", "<a>"],
            ["<a>>", "<a>"],
            ["<x>...<y>", "<z>...<y>>"],
            ["<x>...<|end|>", "harmony"],
            ["<|channel|>", "harmony"],
        ] {
            let refused = tags(&names).unwrap_err();
            assert!(refused.contains("told apart"), "{names:?}");
        }
        assert!(tags(&["<x>...<y>", "<z>...<y>", "harmony", "harmony"]).is_ok());
    }
}
