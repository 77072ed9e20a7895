//! Closes open brackets and quotes at the end of a text.
//!
//! Text that is certain passes at once. Text that the end may cut off waits.
//!
//! Text is certain if later text cannot change it, such as a whole value or an opening bracket. A comma waits for the
//! member after it, and a name waits for its value. With `partial = "drop"` a string or number waits for its own end.

use serde_json::Value;

use super::MOST_DEEP;

/// An open object or list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenBracket {
    Object,
    List,
}

impl OpenBracket {
    fn start(self) -> char {
        match self {
            Self::Object => '{',
            Self::List => '[',
        }
    }

    fn end(self) -> char {
        match self {
            Self::Object => '}',
            Self::List => ']',
        }
    }
}

/// The place of the next char in the JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JsonPlace {
    /// A value is expected.
    Value,
    /// A name is expected, or the end of the object.
    Name,
    InName,
    /// After a name: a colon is expected.
    Colon,
    /// In a string that is a value.
    InText,
    /// In a number or a word such as `true`.
    Scalar,
    /// After a value.
    After,
    /// After the outermost value.
    Done,
    /// After other text that follows the outermost value: all further text is ignored.
    Ended,
    /// Nested too deeply: all text passes unchanged.
    Deep,
}

/// The part of an escape in a string that has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Escape {
    None,
    Backslash,
    /// `\u` and this number of digits.
    Unicode(u8),
}

/// The closer of one text.
#[derive(Clone, Debug)]
pub(super) struct Closer {
    keep: bool,
    hold: usize,
    frames: Vec<OpenBracket>,
    place: JsonPlace,
    escape: Escape,
    /// The text that is not certain yet.
    held: String,
    /// The length of `held` in chars.
    chars: usize,
    /// The byte of `held` at which the last escape, number or word begins.
    begin: usize,
}

impl Closer {
    /// Returns a closer. With `keep`, a string or number that the end cuts is kept. `hold` is the maximum number of
    /// chars that wait.
    pub(super) fn new(keep: bool, hold: usize) -> Self {
        Self {
            keep,
            hold,
            frames: Vec::new(),
            place: JsonPlace::Value,
            escape: Escape::None,
            held: String::new(),
            chars: 0,
            begin: 0,
        }
    }

    /// Returns the number of chars that are not certain yet.
    pub(super) fn held(&self) -> usize {
        self.chars
    }

    /// Takes one char. Passes the text that is now certain to `out`.
    pub(super) fn push_char(&mut self, c: char, out: &mut impl FnMut(&str)) {
        match self.place {
            JsonPlace::Ended => return,
            JsonPlace::Done if c.is_whitespace() => self.push_certain(c, out),
            JsonPlace::Done => self.place = JsonPlace::Ended,
            JsonPlace::Deep => self.push_certain(c, out),
            JsonPlace::InName | JsonPlace::InText => self.take_string_char(c, out),
            JsonPlace::Scalar if is_end(c) => {
                self.place = JsonPlace::After;
                self.commit(out);
                self.take_char_between(c, out);
            }
            JsonPlace::Scalar => self.hold(c),
            JsonPlace::Value | JsonPlace::Name | JsonPlace::Colon | JsonPlace::After => {
                self.take_char_between(c, out)
            }
        }
        if self.chars > self.hold {
            self.commit(out);
        }
    }

    /// Takes the end of the text. Passes the rest, and the brackets and quotes that close it, to `out`. Returns whether
    /// an object, a list or a string was open.
    pub(super) fn finish(&mut self, out: &mut impl FnMut(&str)) -> bool {
        let open = !self.frames.is_empty() || self.place == JsonPlace::InText;
        match self.place {
            JsonPlace::InText if self.keep => {
                if self.escape != Escape::None {
                    self.held.truncate(self.begin);
                }
                self.held.push('"');
            }
            JsonPlace::Scalar => self.end_scalar(),
            JsonPlace::After | JsonPlace::Done | JsonPlace::Deep => {}
            JsonPlace::Value if self.frames.is_empty() => {}
            _ => self.held.clear(),
        }
        self.commit(out);
        if self.place != JsonPlace::Deep {
            let ends: String = self.frames.drain(..).rev().map(OpenBracket::end).collect();
            out(&ends);
        }
        open
    }

    fn hold(&mut self, c: char) {
        self.held.push(c);
        self.chars += 1;
    }

    fn commit(&mut self, out: &mut impl FnMut(&str)) {
        out(&self.held);
        self.held.clear();
        self.chars = 0;
        self.begin = 0;
    }

    fn push_certain(&mut self, c: char, out: &mut impl FnMut(&str)) {
        self.hold(c);
        self.commit(out);
    }

    /// Takes a char of a string.
    fn take_string_char(&mut self, c: char, out: &mut impl FnMut(&str)) {
        let before = self.held.len();
        self.hold(c);
        self.escape = match (self.escape, c) {
            (Escape::None, '\\') => {
                self.begin = before;
                Escape::Backslash
            }
            (Escape::Backslash, 'u') => Escape::Unicode(0),
            (Escape::Unicode(digits), c) if c.is_ascii_hexdigit() && digits < 3 => {
                Escape::Unicode(digits + 1)
            }
            (Escape::None, '"') => {
                return match self.place {
                    JsonPlace::InName => self.place = JsonPlace::Colon,
                    _ => self.end_value(out),
                };
            }
            _ => Escape::None,
        };
        if self.place == JsonPlace::InText && self.keep && self.escape == Escape::None {
            self.commit(out);
        }
    }

    /// Takes a char outside of strings, numbers and words.
    fn take_char_between(&mut self, c: char, out: &mut impl FnMut(&str)) {
        match (self.place, c) {
            (_, c) if c.is_whitespace() && self.held.is_empty() => self.push_certain(c, out),
            (_, c) if c.is_whitespace() => self.hold(c),
            (_, '{') => self.open(OpenBracket::Object, out),
            (_, '[') => self.open(OpenBracket::List, out),
            (_, '}') => self.end(OpenBracket::Object, out),
            (_, ']') => self.end(OpenBracket::List, out),
            (JsonPlace::After, ',') => {
                self.hold(c);
                self.place = self.place_after_comma();
            }
            (JsonPlace::Name | JsonPlace::Colon, ':') => {
                self.hold(c);
                self.place = JsonPlace::Value;
            }
            (place, '"') => {
                self.hold(c);
                let name = match place {
                    JsonPlace::After => self.place_after_comma() == JsonPlace::Name,
                    _ => place == JsonPlace::Name,
                };
                self.place = if name {
                    JsonPlace::InName
                } else {
                    JsonPlace::InText
                };
                if !name && self.keep {
                    self.commit(out);
                }
            }
            (JsonPlace::After, _) if self.place_after_comma() == JsonPlace::Name => {
                self.hold(c);
                self.place = JsonPlace::Name;
            }
            (JsonPlace::Value | JsonPlace::After, c) if !matches!(c, ',' | ':') => {
                self.begin = self.held.len();
                self.hold(c);
                self.place = JsonPlace::Scalar;
            }
            _ => self.hold(c),
        }
    }

    /// Returns the place after a comma.
    fn place_after_comma(&self) -> JsonPlace {
        match self.frames.last() {
            Some(OpenBracket::Object) => JsonPlace::Name,
            _ => JsonPlace::Value,
        }
    }

    fn open(&mut self, frame: OpenBracket, out: &mut impl FnMut(&str)) {
        if self.frames.len() == MOST_DEEP {
            self.place = JsonPlace::Deep;
            return self.push_certain(frame.start(), out);
        }
        self.frames.push(frame);
        self.place = self.place_after_comma();
        self.push_certain(frame.start(), out);
    }

    /// Takes a closing bracket, which also closes everything open inside it. A bracket without an opening one is left
    /// out.
    fn end(&mut self, frame: OpenBracket, out: &mut impl FnMut(&str)) {
        if !self.frames.contains(&frame) {
            return;
        }
        while let Some(open) = self.frames.pop() {
            self.hold(open.end());
            if open == frame {
                break;
            }
        }
        self.end_value(out);
    }

    fn end_value(&mut self, out: &mut impl FnMut(&str)) {
        self.commit(out);
        self.place = if self.frames.is_empty() {
            JsonPlace::Done
        } else {
            JsonPlace::After
        };
    }

    /// Settles a number or word that the text ends with. A beginning of `true`, `false` or `null` is completed. The
    /// outermost value is kept as it is, and so is a number with `keep`. Anything else is left out.
    fn end_scalar(&mut self) {
        let text = self.held.get(self.begin..).unwrap_or("");
        let word = ["true", "false", "null"]
            .into_iter()
            .find(|word| word.starts_with(text));
        let number = serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_number());
        // The end of the text does not cut the outermost value.
        let whole = self.frames.is_empty() || (self.keep && number);
        if let Some(word) = word {
            self.held.truncate(self.begin);
            self.held.push_str(word);
        } else if !whole {
            self.held.clear();
        }
    }
}

/// Returns whether a number or word ends before this char.
fn is_end(c: char) -> bool {
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
