//! [`Closer`]: closes open brackets and quotes at the end of a text.
//!
//! Text that later text cannot change is emitted at once, such as a whole value or an opening bracket. Other text
//! waits: a comma for the next member, and a name for its value. With `partial = "drop"`, a string or number also waits
//! for its end.

use serde_json::Value;

use super::MAX_NESTED_LEVELS;

/// An open object or list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenBracket {
    Object,
    List,
}

impl OpenBracket {
    fn opening_char(self) -> char {
        match self {
            Self::Object => '{',
            Self::List => '[',
        }
    }

    fn closing_char(self) -> char {
        match self {
            Self::Object => '}',
            Self::List => ']',
        }
    }
}

/// The syntactic slot of the next char.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JsonSlot {
    /// A value is expected.
    Value,
    /// A name or the end of the object is expected.
    Name,
    /// In a name.
    InName,
    /// A colon is expected after a name.
    Colon,
    /// In a string that is a value.
    InText,
    /// In a number or a word such as `true`.
    Scalar,
    /// After a value inside of a bracket.
    AfterValue,
    /// After the outermost value.
    Done,
    /// After other text behind the outermost value. All further text is ignored.
    Ignored,
    /// Nested too deeply. All text passes unchanged.
    Deep,
}

/// The state of reading an escape in a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Escape {
    None,
    Backslash,
    /// After `\u` and this number of digits.
    Unicode(u8),
}

/// The closer of one text.
#[derive(Clone, Debug)]
pub(super) struct Closer {
    keep: bool,
    max_waiting_chars: usize,
    brackets: Vec<OpenBracket>,
    slot: JsonSlot,
    escape: Escape,
    /// The text that waits.
    held: String,
    /// The length of `held` in chars.
    chars: usize,
    /// The byte offset in `held` of the last escape, number or word.
    token_start: usize,
}

impl Closer {
    /// Returns a closer. With `keep`, a string or number that the text ends in is kept. At most `max_waiting_chars`
    /// chars wait.
    pub(super) fn new(keep: bool, max_waiting_chars: usize) -> Self {
        Self {
            keep,
            max_waiting_chars,
            brackets: Vec::new(),
            slot: JsonSlot::Value,
            escape: Escape::None,
            held: String::new(),
            chars: 0,
            token_start: 0,
        }
    }

    /// Returns the number of waiting chars.
    pub(super) fn held_len(&self) -> usize {
        self.chars
    }

    /// Adds a char, and passes the text that is now certain to `out`.
    pub(super) fn push_char(&mut self, c: char, out: &mut impl FnMut(&str)) {
        match self.slot {
            JsonSlot::Ignored => return,
            JsonSlot::Done if c.is_whitespace() => self.emit_char(c, out),
            JsonSlot::Done => self.slot = JsonSlot::Ignored,
            JsonSlot::Deep => self.emit_char(c, out),
            JsonSlot::InName | JsonSlot::InText => self.push_string_char(c, out),
            JsonSlot::Scalar if ends_scalar(c) => {
                self.slot = JsonSlot::AfterValue;
                self.emit_held(out);
                self.push_syntax_char(c, out);
            }
            JsonSlot::Scalar => self.hold_char(c),
            JsonSlot::Value | JsonSlot::Name | JsonSlot::Colon | JsonSlot::AfterValue => {
                self.push_syntax_char(c, out)
            }
        }
        if self.chars > self.max_waiting_chars {
            self.emit_held(out);
        }
    }

    /// Ends the text, and passes the rest and the missing brackets and quotes to `out`. Returns whether an object, a
    /// list or a string was open.
    pub(super) fn finish(&mut self, out: &mut impl FnMut(&str)) -> bool {
        let open = !self.brackets.is_empty() || self.slot == JsonSlot::InText;
        match self.slot {
            JsonSlot::InText if self.keep => {
                if self.escape != Escape::None {
                    self.held.truncate(self.token_start);
                }
                self.held.push('"');
            }
            JsonSlot::Scalar => self.end_scalar(),
            JsonSlot::AfterValue | JsonSlot::Done | JsonSlot::Deep => {}
            JsonSlot::Value if self.brackets.is_empty() => {}
            _ => self.held.clear(),
        }
        self.emit_held(out);
        if self.slot != JsonSlot::Deep {
            let ends = self.brackets.drain(..).rev();
            let ends: String = ends.map(OpenBracket::closing_char).collect();
            out(&ends);
        }
        open
    }

    fn hold_char(&mut self, c: char) {
        self.held.push(c);
        self.chars += 1;
    }

    fn emit_held(&mut self, out: &mut impl FnMut(&str)) {
        out(&self.held);
        self.held.clear();
        self.chars = 0;
        self.token_start = 0;
    }

    fn emit_char(&mut self, c: char, out: &mut impl FnMut(&str)) {
        self.hold_char(c);
        self.emit_held(out);
    }

    /// Adds a char of a string.
    fn push_string_char(&mut self, c: char, out: &mut impl FnMut(&str)) {
        let before = self.held.len();
        self.hold_char(c);
        self.escape = match (self.escape, c) {
            (Escape::None, '\\') => {
                self.token_start = before;
                Escape::Backslash
            }
            (Escape::Backslash, 'u') => Escape::Unicode(0),
            (Escape::Unicode(digits), c) if c.is_ascii_hexdigit() && digits < 3 => {
                Escape::Unicode(digits + 1)
            }
            (Escape::None, '"') => {
                return match self.slot {
                    JsonSlot::InName => self.slot = JsonSlot::Colon,
                    _ => self.end_value(out),
                };
            }
            _ => Escape::None,
        };
        if self.slot == JsonSlot::InText && self.keep && self.escape == Escape::None {
            self.emit_held(out);
        }
    }

    /// Adds a char outside of strings, numbers and words.
    fn push_syntax_char(&mut self, c: char, out: &mut impl FnMut(&str)) {
        match (self.slot, c) {
            (_, c) if c.is_whitespace() && self.held.is_empty() => self.emit_char(c, out),
            (_, c) if c.is_whitespace() => self.hold_char(c),
            (_, '{') => self.open_bracket(OpenBracket::Object, out),
            (_, '[') => self.open_bracket(OpenBracket::List, out),
            (_, '}') => self.close_bracket(OpenBracket::Object, out),
            (_, ']') => self.close_bracket(OpenBracket::List, out),
            (JsonSlot::AfterValue, ',') => {
                self.hold_char(c);
                self.slot = self.slot_after_comma();
            }
            (JsonSlot::Name | JsonSlot::Colon, ':') => {
                self.hold_char(c);
                self.slot = JsonSlot::Value;
            }
            (slot, '"') => {
                self.hold_char(c);
                let name = match slot {
                    JsonSlot::AfterValue => self.slot_after_comma() == JsonSlot::Name,
                    _ => slot == JsonSlot::Name,
                };
                self.slot = if name {
                    JsonSlot::InName
                } else {
                    JsonSlot::InText
                };
                if !name && self.keep {
                    self.emit_held(out);
                }
            }
            (JsonSlot::AfterValue, _) if self.slot_after_comma() == JsonSlot::Name => {
                self.hold_char(c);
                self.slot = JsonSlot::Name;
            }
            (JsonSlot::Value | JsonSlot::AfterValue, c) if !matches!(c, ',' | ':') => {
                self.token_start = self.held.len();
                self.hold_char(c);
                self.slot = JsonSlot::Scalar;
            }
            _ => self.hold_char(c),
        }
    }

    /// Returns the slot after a comma.
    fn slot_after_comma(&self) -> JsonSlot {
        match self.brackets.last() {
            Some(OpenBracket::Object) => JsonSlot::Name,
            _ => JsonSlot::Value,
        }
    }

    fn open_bracket(&mut self, bracket: OpenBracket, out: &mut impl FnMut(&str)) {
        if self.brackets.len() == MAX_NESTED_LEVELS {
            self.slot = JsonSlot::Deep;
            return self.emit_char(bracket.opening_char(), out);
        }
        self.brackets.push(bracket);
        self.slot = self.slot_after_comma();
        self.emit_char(bracket.opening_char(), out);
    }

    /// Adds a closing bracket, which also closes all brackets inside it. A bracket without an opening one is dropped.
    fn close_bracket(&mut self, bracket: OpenBracket, out: &mut impl FnMut(&str)) {
        if !self.brackets.contains(&bracket) {
            return;
        }
        while let Some(open) = self.brackets.pop() {
            self.hold_char(open.closing_char());
            if open == bracket {
                break;
            }
        }
        self.end_value(out);
    }

    fn end_value(&mut self, out: &mut impl FnMut(&str)) {
        self.emit_held(out);
        self.slot = if self.brackets.is_empty() {
            JsonSlot::Done
        } else {
            JsonSlot::AfterValue
        };
    }

    /// Completes or drops the number or word that the text ends in.
    ///
    /// A prefix of `true`, `false` or `null` is completed. The outermost value is kept unchanged, as is a number with
    /// `keep`. All others are dropped.
    fn end_scalar(&mut self) {
        let text = self.held.get(self.token_start..).unwrap_or("");
        let word = ["true", "false", "null"]
            .into_iter()
            .find(|word| word.starts_with(text));
        let number = serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_number());
        // The end of the text does not cut the outermost value.
        let whole = self.brackets.is_empty() || (self.keep && number);
        if let Some(word) = word {
            self.held.truncate(self.token_start);
            self.held.push_str(word);
        } else if !whole {
            self.held.clear();
        }
    }
}

/// Returns whether a number or word ends before this char.
fn ends_scalar(c: char) -> bool {
    c.is_whitespace() || matches!(c, ',' | ':' | '"' | '{' | '}' | '[' | ']')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(text: &str, keep: bool) -> String {
        let (mut closer, mut all) = (Closer::new(keep, 1000), String::new());
        text.chars()
            .for_each(|c| closer.push_char(c, &mut |part| all.push_str(part)));
        closer.finish(&mut |part| all.push_str(part));
        all
    }

    #[test]
    fn what_is_whole_is_as_it_was() {
        for text in [
            "{\"a\": [1, {\"b\": null}], \"c\": \"x\\\"\\u00e9 y\"}\n",
            "12",
            "\"a\"",
            "true",
            "",
            "  ",
            "[]",
            "{ }",
            " [ 1 , 2 ]",
        ] {
            assert_eq!(
                (close(text, true).as_str(), close(text, false).as_str()),
                (text, text)
            );
        }
    }

    #[test]
    fn every_cut_of_it_is_json_again() {
        let text = "{\"a\": [1.5e3, -2, {\"b\": null}], \"c\": \"x\\\"\\u00e9 y\", \"d\": true}";
        for at in (1..=text.len()).filter(|at| text.is_char_boundary(*at)) {
            for keep in [true, false] {
                let closed = close(&text[..at], keep);
                assert!(serde_json::from_str::<Value>(&closed).is_ok(), "{closed}");
            }
        }
    }

    #[test]
    fn what_is_cut_is_kept_or_left_out() {
        assert_eq!(
            close("{\"a\": 1, \"b\": \"Par", true),
            "{\"a\": 1, \"b\": \"Par\"}"
        );
        assert_eq!(close("{\"a\": 1, \"b\": \"Par", false), "{\"a\": 1}");
        assert_eq!(close("{\"a\": 1, \"b\": 12", true), "{\"a\": 1, \"b\": 12}");
        assert_eq!(close("{\"a\": 1, \"b\": 12", false), "{\"a\": 1}");
        assert_eq!(close("{\"a\": t", false), "{\"a\": true}");
        assert_eq!(close("{\"a\": [1, 2}", false), "{\"a\": [1, 2]}");
        assert_eq!(close("{\"a\": 1}}{\"b\": 2}", false), "{\"a\": 1}");
    }
}
