//! JSON text into a value, as it nearly always is: in a fraction of the time that the JSON reader takes for
//! long texts. What is unusual (errors, odd numbers, deep nesting) is left to the JSON reader, which says what is wrong.

use serde_json::{Map, Number, Value};
use simdutf8::basic;

use super::plain::{WINDOW, plain, window};

/// Lists and objects in each other that are read here; the JSON reader takes up to 127.
const DEEPEST: u32 = 100;

/// What is put together while a text is read. Items and fields of open lists and objects wait on two stacks, and a
/// string with escapes waits in room that is kept, so that each is made in one piece, as large as it has to be.
#[derive(Debug, Default)]
pub(super) struct Stacks {
    items: Vec<Value>,
    fields: Vec<(String, Value)>,
    string: Vec<u8>,
}

/// Reads a value of at most `most` values in its lists and objects. `None`: the JSON reader has to see it.
pub(super) fn read(text: &str, most: u32, stacks: &mut Stacks) -> Option<Value> {
    stacks.items.clear();
    stacks.fields.clear();
    let mut reader = Reader {
        text,
        at: 0,
        left: most,
        stacks,
    };
    let value = reader.value(DEEPEST)?;
    reader.spaces();
    (reader.at == text.len()).then_some(value)
}

/// Where the reading is.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    left: u32,
    stacks: &'a mut Stacks,
}

impl<'a> Reader<'a> {
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn spaces(&mut self) {
        while matches!(self.byte(), Some(b' ' | b'\n' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    /// Whether the next byte that is no space is this one, which is then passed.
    fn passes(&mut self, byte: u8) -> bool {
        self.spaces();
        let is = self.byte() == Some(byte);
        self.at += usize::from(is);
        is
    }

    fn spend(&mut self) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        Some(())
    }

    fn value(&mut self, deep: u32) -> Option<Value> {
        self.spaces();
        match self.byte()? {
            b'"' => {
                self.at += 1;
                self.string().map(Value::String)
            }
            b'{' => self.object(deep.checked_sub(1)?),
            b'[' => self.list(deep.checked_sub(1)?),
            b't' => self.word("true", Value::Bool(true)),
            b'f' => self.word("false", Value::Bool(false)),
            b'n' => self.word("null", Value::Null),
            _ => self.number().map(Value::Number),
        }
    }

    fn word(&mut self, word: &str, value: Value) -> Option<Value> {
        let is = self.text.get(self.at..)?.starts_with(word);
        self.at += word.len();
        is.then_some(value)
    }

    fn number(&mut self) -> Option<Number> {
        let rest = self.text.get(self.at..)?;
        let of_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let length = rest.bytes().take_while(|byte| of_number(byte)).count();
        self.at += length;
        serde_json::from_str(&rest[..length]).ok()
    }

    fn list(&mut self, deep: u32) -> Option<Value> {
        self.at += 1;
        let before = self.stacks.items.len();
        if !self.passes(b']') {
            loop {
                self.spend()?;
                let item = self.value(deep)?;
                self.stacks.items.push(item);
                if self.passes(b']') {
                    break;
                }
                self.passes(b',').then_some(())?;
            }
        }
        Some(Value::Array(self.stacks.items.drain(before..).collect()))
    }

    fn object(&mut self, deep: u32) -> Option<Value> {
        self.at += 1;
        let before = self.stacks.fields.len();
        if !self.passes(b'}') {
            loop {
                self.spend()?;
                self.passes(b'"').then_some(())?;
                let name = self.string()?;
                self.passes(b':').then_some(())?;
                let value = self.value(deep)?;
                self.stacks.fields.push((name, value));
                if self.passes(b'}') {
                    break;
                }
                self.passes(b',').then_some(())?;
            }
        }
        let fields: Map<String, Value> = self.stacks.fields.drain(before..).collect();
        Some(Value::Object(fields))
    }

    /// The string whose opening quote was passed.
    fn string(&mut self) -> Option<String> {
        let rest = self.text.get(self.at..)?;
        let plain = plain(rest.as_bytes());
        if *rest.as_bytes().get(plain)? != b'"' {
            return self.unescaped();
        }
        self.at += plain + 1;
        Some(rest[..plain].to_owned())
    }

    /// The same, where something in it is escaped.
    fn unescaped(&mut self) -> Option<String> {
        // As much as is left of the text is room for any string in it.
        let room = self.text.len() - self.at + WINDOW;
        if self.stacks.string.len() < room {
            self.stacks.string.resize(room, 0);
        }
        let mut string = Unescaped {
            text: self.text,
            at: self.at,
            string: &mut self.stacks.string,
            end: 0,
        };
        string.windows()?;
        let (at, end) = (string.at, string.end);
        self.at = at;
        Some(
            basic::from_utf8(&self.stacks.string[..end])
                .ok()?
                .to_owned(),
        )
    }
}

/// A string on its way out of its escapes.
struct Unescaped<'a> {
    text: &'a str,
    at: usize,
    /// The string, as far as `end`, and room.
    string: &'a mut [u8],
    end: usize,
}

impl Unescaped<'_> {
    /// Reads on to the closing quote, and past it.
    fn windows(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes();
        while let Some((two, mut special)) = window(bytes.get(self.at..)?) {
            let mut from = 0;
            loop {
                // More is copied than is meant, which needs no count: what follows stands over it.
                let ahead: &[u8; WINDOW] = two[from..].first_chunk()?;
                *self.string[self.end..].first_chunk_mut()? = *ahead;
                if special == 0 {
                    self.end += WINDOW - from;
                    self.at += WINDOW;
                    break;
                }
                let plain = special.trailing_zeros() as usize;
                self.end += plain - from;
                from = plain + 1;
                match two[plain] {
                    b'"' => {
                        self.at += from;
                        return Some(());
                    }
                    b'\\' => from += self.escape(self.at + from)?,
                    // Control chars have to be escaped.
                    _ => return None,
                }
                if from >= WINDOW {
                    self.at += from;
                    break;
                }
                special &= u64::MAX << from;
            }
        }
        self.last()
    }

    /// The same without windows.
    fn last(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes();
        loop {
            let rest = bytes.get(self.at..)?;
            let plain = plain(rest);
            self.string[self.end..][..plain].copy_from_slice(&rest[..plain]);
            self.end += plain;
            self.at += plain + 1;
            match *rest.get(plain)? {
                b'"' => return Some(()),
                b'\\' => self.at += self.escape(self.at)?,
                _ => return None,
            }
        }
    }

    /// Puts the char that is escaped by what stands here, after the backslash; how many bytes that are.
    #[inline(always)]
    fn escape(&mut self, at: usize) -> Option<usize> {
        let byte = ESCAPED[usize::from(*self.text.as_bytes().get(at)?)];
        if byte == 0 {
            return self.number(at);
        }
        *self.string.get_mut(self.end)? = byte;
        self.end += 1;
        Some(1)
    }

    /// The same of a char that stands there by its number.
    #[inline(never)]
    fn number(&mut self, at: usize) -> Option<usize> {
        let text = self.text.get(at..)?;
        let (char, rest) = unicode(text)?;
        self.end += char.encode_utf8(&mut self.string[self.end..]).len();
        Some(text.len() - rest.len())
    }
}

/// The byte that a letter after a backslash stands for; 0 for all other letters.
const ESCAPED: [u8; 256] = {
    let mut bytes = [0; 256];
    bytes[b'n' as usize] = b'\n';
    bytes[b'"' as usize] = b'"';
    bytes[b'\\' as usize] = b'\\';
    bytes[b't' as usize] = b'\t';
    bytes[b'r' as usize] = b'\r';
    bytes[b'/' as usize] = b'/';
    bytes[b'b' as usize] = 8;
    bytes[b'f' as usize] = 12;
    bytes
};

/// A char by its number, in one escape or two.
fn unicode(text: &str) -> Option<(char, &str)> {
    let unit = |text: &str| {
        let digits = text.strip_prefix('u')?.get(..4)?;
        let hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        u32::from_str_radix(digits, 16).ok().filter(|_| hex)
    };
    let first = unit(text)?;
    if !(0xd800..0xe000).contains(&first) {
        return Some((char::from_u32(first)?, &text[5..]));
    }
    let second = unit(text[5..].strip_prefix('\\')?)?;
    let pair = first < 0xdc00 && (0xdc00..0xe000).contains(&second);
    let pair = pair.then(|| 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00))?;
    Some((char::from_u32(pair)?, &text[11..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MOST: u32 = 50;

    fn read(text: &str, most: u32) -> Option<Value> {
        let mut stacks = Stacks::default();
        // What an unusual text leaves behind is of no other.
        super::read("[{\"a\": [0, \"\\n\", x", most, &mut stacks);
        super::read(text, most, &mut stacks)
    }

    /// What it reads is what the JSON reader reads; what that refuses it leaves to it.
    fn as_the_reader(text: &str) -> Result<(), TestCaseError> {
        if let Some(read) = read(text, MOST) {
            let told: Option<Value> = serde_json::from_str(text).ok();
            let told = told.map(|told| told.to_string());
            prop_assert_eq!(Some(read.to_string()), told, "{}", text);
        }
        Ok(())
    }

    #[test]
    fn usual_json_is_read_here_and_unusual_is_not() {
        let fits = [
            r#"{"a":"x\n\"y\" \\","b":[1,-2.5e3,true,false,null],"a":{"\u00fc":"\ud83d\ude00\/\b\f\r\t"}}"#,
            " [ ] ",
            "{ }",
            "\"\"",
            "18446744073709551615",
            "-0",
            "1e-7",
            "\"\u{fc}\u{1f600}\"",
        ];
        for text in fits {
            assert!(read(text, MOST).is_some(), "{text}");
            as_the_reader(text).unwrap();
        }
        let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert!(read(&deep(100), 200).is_some() && read(&deep(101), 200).is_none());
        assert!(
            read("[1,2]", 2).is_some()
                && read("[1,2]", 1).is_none()
                && read(r#"{"a":[1]}"#, 1).is_none()
        );
        let others = [
            "",
            "[1,]",
            "[,]",
            "{\"a\":1,}",
            "{\"a\"}",
            "{a:1}",
            "01",
            "1.",
            "+1",
            "--1",
            "1e999",
            "\"\n\"",
            "\"\\x\"",
            "\"\\ud83d\"",
            "\"\\ude00\"",
            "\"\\ud83d\\u0041\"",
            "\"\\u+123\"",
            "\"\\u12\"",
            "\"a",
            "\"\\\"",
            "tru",
            "nul",
            "1 2",
            "\u{feff}{}",
            "[1 2]",
            "\"\\",
        ];
        for text in others {
            assert!(read(text, MOST).is_none(), "{text:?}");
            assert!(serde_json::from_str::<Value>(text).is_err(), "{text:?}");
        }
    }

    proptest! {
            #[test]
            fn damaged_json_is_read_as_the_json_reader_reads_it(
                text: String, number: f64, whole: i64, keys in prop::collection::vec("[ab]{1,2}", 0..6),
                at in 0usize..200, cut in 0usize..200, put in r#"["\\{}\[\],:0-9eE+.tfn u/\-\n]{0,4}"#,
            ) {
                let object: Map<String, Value> = keys.iter().map(|key| (key.clone(), number.into())).collect();
                let value = serde_json::json!({"x": text, "y": [whole, null, true, object], "\u{1f600}\n": "\\\"\u{1}"});
                let mut text = value.to_string();
                prop_assert_eq!(read(&text, MOST), Some(value));
                let boundary = |text: &str, at: usize| (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap();
                text.insert_str(boundary(&text, at), &put);
                as_the_reader(&text)?;
                text.truncate(boundary(&text, cut));
                as_the_reader(&text)?;
            }

            /// Escapes before, in and over the edges of every window, and a string that ends in it.
            #[test]
            fn a_long_string_is_read_as_the_json_reader_reads_it(
                parts in prop::collection::vec("[a-z\u{fc}\u{1f600}]{0,70}|[\"\\\\\n\t\u{1}]{1,3}", 0..12),
                by_number in prop::collection::vec(any::<bool>(), 12),
                at in 0usize..700, cut in 0usize..700, put in r#"["\\nu{}\x01d8300e-]{0,3}"#,
            ) {
                let mut json = String::from("\"");
                for (part, by_number) in parts.iter().zip(by_number) {
                    if by_number {
    part.encode_utf16().for_each(|unit| json += &format!("\\u{unit:04x}"))
    } else {
                            let written = serde_json::to_string(part).unwrap();
                            json += &written[1..written.len() - 1];

    }
                }
                json += "\"";
                prop_assert_eq!(read(&json, MOST), serde_json::from_str(&json).ok());
                let boundary = |text: &str, at: usize| (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap();
                json.insert_str(boundary(&json, at), &put);
                as_the_reader(&json)?;
                json.truncate(boundary(&json, cut));
                as_the_reader(&json)?;
            }

            #[test]
            fn any_text_of_json_is_read_as_the_json_reader_reads_it(text in r#"["\\{}\[\],:0-9eE+.truefalsn u/\-\n]{0,30}"#) {
                as_the_reader(&text)?;
            }
        }
}
