//! [`JsonPrefix`]: an incremental check that a text is the start of JSON.
//!
//! [`JsonScan`](super::json_scan::JsonScan) scans JSON that may be broken.

/// The maximum depth of nesting that is checked. Deeper text counts as valid.
const MAX_DEPTH: usize = 10_000;

/// The state of the check: what may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JsonState {
    /// A value, or with `end` the bracket that closes an empty list.
    Value {
        end: bool,
    },
    /// The name of a field, or with `end` the brace that closes an empty object.
    Key {
        end: bool,
    },
    Colon,
    /// A comma or a closing bracket. Outside of all brackets, the end.
    AfterValue,
    Text {
        key: bool,
        escape: u8,
    },
    Word {
        rest: &'static str,
    },
    Number(Number),
    /// The end of the check. Later chars are ignored.
    Ended,
}

/// The position inside a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    Minus,
    Zero,
    Digits,
    Point,
    Fraction,
    Exponent,
    Sign,
    Power,
}

/// An incremental check of one text.
#[derive(Debug)]
pub(crate) struct JsonPrefix {
    state: JsonState,
    /// The open brackets. True for an object, false for a list.
    open: Vec<bool>,
}

impl Default for JsonPrefix {
    fn default() -> Self {
        Self {
            state: JsonState::Value { end: false },
            open: Vec::new(),
        }
    }
}

impl JsonPrefix {
    /// Returns whether the text so far is complete JSON. Also true for text that is nested too deeply.
    pub(crate) fn is_whole(&self) -> bool {
        match self.state {
            JsonState::AfterValue => self.open.is_empty(),
            JsonState::Ended => true,
            _ => false,
        }
    }

    /// Reads a char. Returns whether it makes JSON impossible. Then later chars are ignored.
    pub(crate) fn breaks(&mut self, c: char) -> bool {
        if self.state == JsonState::Ended {
            return false;
        }
        match self.next(c) {
            Some(state) => {
                self.state = state;
                false
            }
            None => {
                self.state = JsonState::Ended;
                true
            }
        }
    }

    fn next(&mut self, c: char) -> Option<JsonState> {
        let blank = matches!(c, ' ' | '\t' | '\n' | '\r');
        match self.state {
            JsonState::Ended => Some(JsonState::Ended),
            JsonState::Text { key, escape } => text(c, key, escape),
            JsonState::Word { rest } => {
                let after = rest.strip_prefix(c)?;
                Some(match after {
                    "" => JsonState::AfterValue,
                    rest => JsonState::Word { rest },
                })
            }
            JsonState::Number(number) => match digit(number, c) {
                Some(number) => Some(JsonState::Number(number)),
                // A number ends before the first char that cannot continue it.
                None if is_complete(number) => {
                    self.state = JsonState::AfterValue;
                    self.next(c)
                }
                None => None,
            },
            state if blank => Some(state),
            JsonState::Value { end } => self.value(c, end),
            JsonState::Key { end: true } if c == '}' => self.close(true),
            JsonState::Key { .. } => (c == '"').then_some(JsonState::Text {
                key: true,
                escape: 0,
            }),
            JsonState::Colon => (c == ':').then_some(JsonState::Value { end: false }),
            JsonState::AfterValue => match (c, self.open.last()) {
                (',', Some(true)) => Some(JsonState::Key { end: false }),
                (',', Some(false)) => Some(JsonState::Value { end: false }),
                ('}', _) => self.close(true),
                (']', _) => self.close(false),
                _ => None,
            },
        }
    }

    fn value(&mut self, c: char, end: bool) -> Option<JsonState> {
        match c {
            '{' | '[' if self.open.len() >= MAX_DEPTH => Some(JsonState::Ended),
            '{' => {
                self.open.push(true);
                Some(JsonState::Key { end: true })
            }
            '[' => {
                self.open.push(false);
                Some(JsonState::Value { end: true })
            }
            ']' if end => self.close(false),
            '"' => Some(JsonState::Text {
                key: false,
                escape: 0,
            }),
            't' => Some(JsonState::Word { rest: "rue" }),
            'f' => Some(JsonState::Word { rest: "alse" }),
            'n' => Some(JsonState::Word { rest: "ull" }),
            '-' => Some(JsonState::Number(Number::Minus)),
            '0' => Some(JsonState::Number(Number::Zero)),
            '1'..='9' => Some(JsonState::Number(Number::Digits)),
            _ => None,
        }
    }

    fn close(&mut self, object: bool) -> Option<JsonState> {
        (self.open.pop()? == object).then_some(JsonState::AfterValue)
    }
}

/// Returns the state after a char of a string. `escape` is 1 after a backslash, and one more than the number of
/// missing hexadecimal digits inside `\u`.
fn text(c: char, key: bool, escape: u8) -> Option<JsonState> {
    let escape = match (escape, c) {
        (0, '"') if key => return Some(JsonState::Colon),
        (0, '"') => return Some(JsonState::AfterValue),
        (0, '\\') => 1,
        (0, c) if c < ' ' => return None,
        (0, _) => 0,
        (1, 'u') => 5,
        (1, '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't') => 0,
        (2, c) if c.is_ascii_hexdigit() => 0,
        (n @ 3.., c) if c.is_ascii_hexdigit() => n - 1,
        _ => return None,
    };
    Some(JsonState::Text { key, escape })
}

fn digit(number: Number, c: char) -> Option<Number> {
    use Number::{Digits, Exponent, Fraction, Minus, Point, Power, Sign, Zero};
    Some(match (number, c) {
        (Minus, '0') => Zero,
        (Minus, '1'..='9') | (Digits, '0'..='9') => Digits,
        (Zero | Digits, '.') => Point,
        (Point | Fraction, '0'..='9') => Fraction,
        (Zero | Digits | Fraction, 'e' | 'E') => Exponent,
        (Exponent, '+' | '-') => Sign,
        (Exponent | Sign | Power, '0'..='9') => Power,
        _ => return None,
    })
}

fn is_complete(number: Number) -> bool {
    use Number::{Digits, Fraction, Power, Zero};
    matches!(number, Zero | Digits | Fraction | Power)
}

#[cfg(test)]
mod tests {
    use super::super::json_scan::JsonScan;
    use super::*;

    /// Returns whether one of the endings completes a prefix to JSON.
    fn can_be_completed(text: &str) -> bool {
        const ENDS: [&str; 36] = [
            "",
            "\"",
            "}",
            "]",
            "0",
            "\":0}",
            "\"\"",
            ":0}",
            "\"x\":0}",
            "\"]",
            "0]",
            "0}",
            "\"}",
            "rue",
            "ue",
            "e",
            "alse",
            "lse",
            "se",
            "ull",
            "ll",
            "l",
            "\"]}",
            "]}",
            "}]",
            "0000\"",
            "000\"",
            "00\"",
            "0\"",
            "n\"",
            "0000\":0}",
            "000\":0}",
            "00\":0}",
            "0\":0}",
            "n\":0}",
            "\"x\":0",
        ];
        let open = |text: &str| {
            let (mut scan, mut closers) = (JsonScan::default(), String::new());
            for c in text.chars().filter_map(|c| scan.outside(c)) {
                match c {
                    '{' => closers.insert(0, '}'),
                    '[' => closers.insert(0, ']'),
                    '}' | ']' if !closers.is_empty() => {
                        closers.remove(0);
                    }
                    _ => {}
                }
            }
            closers
        };
        let parses = |text: &str| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        ENDS.iter().any(|end| {
            let with = format!("{text}{end}");
            parses(&with) || parses(&format!("{with}{}", open(&with)))
        })
    }

    #[test]
    fn the_first_impossible_char_is_found() {
        let letters: Vec<char> = "{}[]\",:01-.e \\unt".chars().collect();
        let mut seed = 7_u64;
        let mut next = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(seed >> 33).unwrap() % below
        };
        for _ in 0..60_000 {
            let mut json = JsonPrefix::default();
            let mut text = String::new();
            for _ in 0..10 {
                let c = letters[next(letters.len())];
                let broken = json.breaks(c);
                text.push(c);
                assert_eq!(!broken, can_be_completed(&text), "{text:?}");
                if broken {
                    break;
                }
            }
        }
    }

    #[test]
    fn complete_json_never_breaks() {
        for text in [
            r#"{"a": [1.5e-3, true, null, "\u00e9\n"], "b": {}}"#,
            "[]",
            "  -0 ",
            "\"x\"",
        ] {
            let mut json = JsonPrefix::default();
            assert!(text.chars().all(|c| !json.breaks(c)), "{text}");
        }
    }
}
