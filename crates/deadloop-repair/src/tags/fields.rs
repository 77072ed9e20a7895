//! The fields of an action: the tags inside it.

use super::lexer::{Lexeme, Lexer};
use super::machine::StrayRule;
use super::tag::{KnownTags, TagRole};

/// The content of an action, split into fields and other text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ActionContent {
    /// The names of the fields and their values, without blanks around the values.
    pub(super) fields: Vec<(String, String)>,
    /// The text outside of the fields.
    pub(super) content: String,
    /// Whether a tag of a field had no partner.
    pub(super) torn: bool,
    /// Whether there is a tag in `content`.
    pub(super) tagged: bool,
}

/// Splits the content of an action. With `ends`, a field without a closing tag ends at the next field, or with the
/// action. With [`StrayRule::Keep`] tags without a partner are text.
pub(super) fn split_content(
    body: &str,
    names: &KnownTags,
    ends: bool,
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
        keep: stray == StrayRule::Keep,
        open: None,
        inside: ActionContent::default(),
    };
    for lexeme in lexemes {
        let written = match lexeme {
            Lexeme::Text(text) => {
                reader.add(&text);
                continue;
            }
            Lexeme::Tag(written) => written,
        };
        match names.tag(&written, work).map(|tag| (tag.role, tag.closing)) {
            Some((TagRole::Field(field), true)) if reader.is(field) => reader.close(names),
            Some((TagRole::Field(_), true)) => reader.stray(&written),
            Some((TagRole::Field(field), false)) => reader.opens(field, written, ends, names),
            Some((TagRole::Action(_), _)) | None => reader.tag(&written),
        }
    }
    if ends {
        reader.close(names)
    } else {
        reader.give_up()
    }
    reader.inside
}

/// An open field: its index, its opening tag, and its text so far.
struct OpenField {
    field: usize,
    tag: String,
    value: String,
}

/// The state of reading an action's content.
struct ContentReader {
    keep: bool,
    open: Option<OpenField>,
    inside: ActionContent,
}

impl ContentReader {
    fn is(&self, field: usize) -> bool {
        self.open.as_ref().is_some_and(|open| open.field == field)
    }

    fn add(&mut self, text: &str) {
        match &mut self.open {
            Some(open) => open.value.push_str(text),
            None => self.inside.content.push_str(text),
        }
    }

    /// Takes a tag that is not a field. The tag is text.
    fn tag(&mut self, written: &str) {
        self.inside.tagged |= self.open.is_none();
        self.add(written);
    }

    fn stray(&mut self, written: &str) {
        self.inside.torn = true;
        if self.keep {
            self.add(written);
        }
    }

    /// Begins a field. Without `ends`, an open field cannot end at another field, so the tag is text of the open field.
    fn opens(&mut self, field: usize, tag: String, ends: bool, names: &KnownTags) {
        if self.open.is_some() && !ends {
            self.inside.torn = true;
            return self.add(&tag);
        }
        self.close(names);
        let value = String::new();
        self.open = Some(OpenField { field, tag, value });
    }

    fn close(&mut self, names: &KnownTags) {
        if let Some(open) = self.open.take() {
            let name = names.name(TagRole::Field(open.field)).to_owned();
            self.inside
                .fields
                .push((name, open.value.trim().to_owned()));
        }
    }

    /// Gives up the open field: it never closed, so its text is content.
    fn give_up(&mut self) {
        if let Some(open) = self.open.take() {
            self.stray(&open.tag);
            self.inside.content.push_str(&open.value);
        }
    }
}
