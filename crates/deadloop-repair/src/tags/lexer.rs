//! [`Lexer`]: finds tags in a stream of chars: `<name>`, `</name>` and `<name attributes>`.
//!
//! Everything else is text.

/// A lexeme of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lexeme {
    /// Text outside of tags.
    Text(String),
    /// A tag as written, known or unknown.
    Tag(String),
}

/// Lexer of tags in a stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Lexer {
    /// The text that may become a tag. It begins with `<` and has no other `<`.
    held: String,
    /// The length of `held` in chars.
    chars: usize,
    state: LexerState,
}

/// The position of the last char in a tag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LexerState {
    /// Outside of tags.
    #[default]
    Text,
    /// After `<`.
    Open,
    /// After `</`.
    Slash,
    /// In the name.
    Name,
    /// After the name and whitespace.
    Attributes,
}

/// The maximum length of a tag, in chars.
const MAX_TAG_CHARS: usize = 256;

impl Lexer {
    /// Adds a char, and passes the lexemes that are now certain to `out`.
    pub(super) fn push_char(&mut self, c: char, out: &mut impl FnMut(Lexeme)) {
        if c == '<' {
            self.emit_held(out);
            self.hold_char(c, LexerState::Open);
            return;
        }
        let next = match (self.state, c) {
            (LexerState::Text, _) => LexerState::Text,
            (LexerState::Open, '/') => LexerState::Slash,
            (LexerState::Open | LexerState::Slash, c) if can_begin_name(c) => LexerState::Name,
            (LexerState::Name, c) if can_continue_name(c) => LexerState::Name,
            (LexerState::Name, c) if c.is_whitespace() => LexerState::Attributes,
            (LexerState::Attributes, c) if c != '>' => LexerState::Attributes,
            (LexerState::Name | LexerState::Attributes, '>') => {
                self.held.push(c);
                self.state = LexerState::Text;
                self.chars = 0;
                return out(Lexeme::Tag(std::mem::take(&mut self.held)));
            }
            _ => LexerState::Text,
        };
        self.hold_char(c, next);
        if self.state == LexerState::Text || self.chars > MAX_TAG_CHARS {
            self.emit_held(out);
        }
    }

    /// Ends the stream, and passes the held back text to `out`.
    pub(super) fn finish(&mut self, out: &mut impl FnMut(Lexeme)) {
        self.emit_held(out);
    }

    /// Returns the number of chars held back because they may become a tag.
    pub(super) fn held_len(&self) -> usize {
        self.chars
    }

    fn hold_char(&mut self, c: char, state: LexerState) {
        self.held.push(c);
        self.chars += 1;
        self.state = state;
    }

    fn emit_held(&mut self, out: &mut impl FnMut(Lexeme)) {
        self.state = LexerState::Text;
        self.chars = 0;
        if !self.held.is_empty() {
            out(Lexeme::Text(std::mem::take(&mut self.held)));
        }
    }
}

/// Returns whether a name can begin with this char.
pub(super) fn can_begin_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// Returns whether a name can contain this char after the first.
pub(super) fn can_continue_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(text: &str) -> Vec<String> {
        let (mut lexer, mut tags, mut all) = (Lexer::default(), Vec::new(), String::new());
        let mut take = |lexeme| match lexeme {
            Lexeme::Tag(tag) => {
                all.push_str(&tag);
                tags.push(tag);
            }
            Lexeme::Text(text) => all.push_str(&text),
        };
        text.chars().for_each(|c| lexer.push_char(c, &mut take));
        lexer.finish(&mut take);
        assert_eq!(all, text);
        tags
    }

    #[test]
    fn tags_and_what_is_none() {
        assert_eq!(tags("a<b>c</b >d"), ["<b>", "</b >"]);
        assert_eq!(tags("<<b>"), ["<b>"]);
        assert_eq!(tags("1 < 2 > 0, <3>, </>, <a"), Vec::<String>::new());
        assert_eq!(tags("<a x=\"1\" y>"), ["<a x=\"1\" y>"]);
        assert_eq!(
            tags(&format!("<a {}>", "x".repeat(MAX_TAG_CHARS))),
            Vec::<String>::new()
        );
    }
}
