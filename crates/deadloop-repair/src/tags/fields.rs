//! [`split_content`]: separates the fields of an action, which are tags inside it.

use super::lexer::{Lexeme, Lexer};
use super::machine::StrayRule;
use super::tag::{KnownTags, TagRole};

/// The content of an action, split into fields and other text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ActionContent {
    /// The names and values of the fields. Values have no surrounding whitespace.
    pub(super) fields: Vec<(String, String)>,
    /// The text outside of the fields.
    pub(super) content: String,
    /// Whether some field tag had no partner.
    pub(super) torn: bool,
    /// Whether `content` has a tag.
    pub(super) tagged: bool,
}

/// Splits the content of an action into fields and other text. If `loose` is set, a field without a closing tag ends at
/// the next field or with the action. With [`StrayRule::Keep`], tags without a partner are text.
pub(super) fn split_content(
    body: &str,
    names: &KnownTags,
    loose: bool,
    stray: StrayRule,
    work: &mut u64,
) -> ActionContent {
    let mut lexemes = Vec::new();
    let mut lexer = Lexer::default();
    body.chars()
        .for_each(|c| lexer.push_char(c, &mut |lexeme| lexemes.push(lexeme)));
    lexer.finish(&mut |lexeme| lexemes.push(lexeme));
    *work += body.len() as u64;

    let mut reader = ContentReader {
        keeps_stray_tags: stray == StrayRule::Keep,
        open: None,
        content: ActionContent::default(),
    };
    for lexeme in lexemes {
        let written = match lexeme {
            Lexeme::Text(text) => {
                reader.add_text(&text);
                continue;
            }
            Lexeme::Tag(written) => written,
        };
        match names.find(&written, work).map(|t| (t.role, t.closing)) {
            Some((TagRole::Field(field), true)) if reader.is_open(field) => reader.end_field(names),
            Some((TagRole::Field(_), true)) => reader.add_stray_tag(&written),
            Some((TagRole::Field(field), false)) => reader.open_field(field, written, loose, names),
            Some((TagRole::Action(_), _)) | None => reader.add_other_tag(&written),
        }
    }
    if loose {
        reader.end_field(names)
    } else {
        reader.abandon_field()
    }
    reader.content
}

/// A field whose closing tag has not come: its index, opening tag and value so far.
struct OpenField {
    field: usize,
    tag: String,
    value: String,
}

/// The state of reading an action's content.
struct ContentReader {
    keeps_stray_tags: bool,
    open: Option<OpenField>,
    content: ActionContent,
}

impl ContentReader {
    fn is_open(&self, field: usize) -> bool {
        self.open.as_ref().is_some_and(|open| open.field == field)
    }

    fn add_text(&mut self, text: &str) {
        match &mut self.open {
            Some(open) => open.value.push_str(text),
            None => self.content.content.push_str(text),
        }
    }

    /// Adds a tag that is not a field, as text.
    fn add_other_tag(&mut self, written: &str) {
        self.content.tagged |= self.open.is_none();
        self.add_text(written);
    }

    fn add_stray_tag(&mut self, written: &str) {
        self.content.torn = true;
        if self.keeps_stray_tags {
            self.add_text(written);
        }
    }

    /// Begins a field. Unless `loose`, an open field cannot end at another one, so the tag is part of its
    /// text.
    fn open_field(&mut self, field: usize, tag: String, loose: bool, names: &KnownTags) {
        if self.open.is_some() && !loose {
            self.content.torn = true;
            return self.add_text(&tag);
        }
        self.end_field(names);
        let value = String::new();
        self.open = Some(OpenField { field, tag, value });
    }

    fn end_field(&mut self, names: &KnownTags) {
        if let Some(open) = self.open.take() {
            let name = names.name(TagRole::Field(open.field)).to_owned();
            self.content
                .fields
                .push((name, open.value.trim().to_owned()));
        }
    }

    /// Turns a field that was never closed into text.
    fn abandon_field(&mut self) {
        if let Some(open) = self.open.take() {
            self.add_stray_tag(&open.tag);
            self.content.content.push_str(&open.value);
        }
    }
}
