//! The fields of an action: the tags inside it.

use super::lexer::{Lexeme, Lexer};
use super::tag::{Names, Role};

/// Takes the fields out of what stands inside an action, each with the blanks around it left out; gives
/// back what is left. `ends`: a field that nothing closes ends at the next one, or with the action.
pub(super) fn split(
    body: &str,
    names: &Names,
    ends: bool,
    drop_stray: bool,
    fields: &mut Vec<(String, String)>,
    work: &mut u64,
) -> String {
    let mut lexemes = Vec::new();
    let mut lexer = Lexer::default();
    body.chars()
        .for_each(|c| lexer.char(c, &mut |lexeme| lexemes.push(lexeme)));
    lexer.finish(&mut |lexeme| lexemes.push(lexeme));
    *work += body.len() as u64;

    let mut rest = Reader {
        drop_stray,
        ..Reader::default()
    };
    for lexeme in lexemes {
        let written = match lexeme {
            Lexeme::Text(text) => {
                rest.add(&text);
                continue;
            }
            Lexeme::Tag(written) => written,
        };
        match names.tag(&written, work).map(|tag| (tag.role, tag.closing)) {
            Some((Role::Field(field), true)) if rest.is(field) => rest.close(names, fields),
            Some((Role::Field(_), true)) => rest.stray(&written),
            Some((Role::Field(field), false)) => match rest.field.is_some() {
                true if ends => {
                    rest.close(names, fields);
                    rest.open(field, written);
                }
                true => rest.add(&written),
                false => rest.open(field, written),
            },
            _ => rest.add(&written),
        }
    }
    match ends {
        true => rest.close(names, fields),
        false => rest.give_up(),
    }
    rest.content.trim().to_owned()
}

/// What has been read of an action.
#[derive(Default)]
struct Reader {
    drop_stray: bool,
    content: String,
    /// The field that is open, its tag, and what stands in it so far.
    field: Option<usize>,
    tag: String,
    value: String,
}

impl Reader {
    fn is(&self, field: usize) -> bool {
        self.field == Some(field)
    }

    fn add(&mut self, text: &str) {
        match self.field {
            Some(_) => self.value.push_str(text),
            None => self.content.push_str(text),
        }
    }

    fn stray(&mut self, written: &str) {
        if !self.drop_stray {
            self.add(written);
        }
    }

    fn open(&mut self, field: usize, tag: String) {
        self.field = Some(field);
        self.tag = tag;
    }

    fn close(&mut self, names: &Names, fields: &mut Vec<(String, String)>) {
        if let Some(field) = self.field.take() {
            let value = std::mem::take(&mut self.value);
            fields.push((
                names.name(Role::Field(field)).to_owned(),
                value.trim().to_owned(),
            ));
        }
    }

    /// The field that is open is none.
    fn give_up(&mut self) {
        if self.field.take().is_some() {
            let (tag, value) = (
                std::mem::take(&mut self.tag),
                std::mem::take(&mut self.value),
            );
            self.stray(&tag);
            self.content.push_str(&value);
        }
    }
}
