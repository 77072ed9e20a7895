//! [`JsonScan`]: finds the chars of JSON text outside of its strings.

/// A tracker of the strings and brackets of a JSON text. Other syntax is not checked.
#[derive(Clone, Copy, Debug, Default)]
pub struct JsonScan {
    depth: usize,
    quoted: bool,
    escaped: bool,
}

impl JsonScan {
    /// Reads the next char. Returns it if it is outside of strings.
    pub fn outside(&mut self, c: char) -> Option<char> {
        match c {
            _ if self.escaped => self.escaped = false,
            '\\' if self.quoted => self.escaped = true,
            '"' => self.quoted = !self.quoted,
            _ if self.quoted => {}
            _ => {
                match c {
                    '{' | '[' => self.depth += 1,
                    '}' | ']' => self.depth = self.depth.saturating_sub(1),
                    _ => {}
                }
                return Some(c);
            }
        }
        None
    }

    /// Returns whether the next char is in a string.
    pub fn is_quoted(&self) -> bool {
        self.quoted
    }

    /// Returns the number of open brackets.
    pub fn depth(&self) -> usize {
        self.depth
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_hide_what_they_hold() {
        let mut scan = JsonScan::default();
        let outside: String = "{\"a]\\\"\": [1, \"\\\\\""
            .chars()
            .filter_map(|c| scan.outside(c))
            .collect();
        assert_eq!(outside, "{: [1, ");
        assert_eq!(scan.depth(), 2);
        for c in "] }".chars() {
            scan.outside(c);
        }
        assert_eq!(scan.depth(), 0);
    }
}
