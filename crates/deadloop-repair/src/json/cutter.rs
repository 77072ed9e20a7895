//! [`Cutter`]: drops control text, from its first marker to the end.

use crate::marks::{MarkList, MarkMatch};
use deadloop_detect::harness::JsonScan;

/// Filter that passes text up to the first control marker. It tracks strings, because markers in strings may be
/// ignored.
#[derive(Clone, Debug)]
pub(super) struct Cutter {
    marks: MarkList,
    inside_strings: bool,
    /// The chars that may begin a marker.
    held: Vec<char>,
    scan: JsonScan,
    /// Whether a marker has ended the text.
    cut: bool,
    /// Whether the marker that ended the text was in a string.
    is_cut_in_string: bool,
}

impl Cutter {
    /// Returns a cutter for these markers. With `inside_strings`, markers in strings also end the text.
    pub(super) fn new(marks: &[String], inside_strings: bool) -> Self {
        Self {
            marks: MarkList::new(marks, false),
            inside_strings,
            held: Vec::new(),
            scan: JsonScan::default(),
            cut: false,
            is_cut_in_string: false,
        }
    }

    /// Returns whether a marker in a string ended the text.
    pub(super) fn is_cut_in_string(&self) -> bool {
        self.is_cut_in_string
    }

    /// Adds a char, and passes the chars that are not part of a marker to `out`.
    pub(super) fn push_char(&mut self, c: char, work: &mut u64, out: &mut impl FnMut(char)) {
        *work += 1;
        if self.cut {
            return;
        }
        let counts = self.inside_strings || !self.scan.is_quoted();
        if self.held.is_empty() && !(counts && self.marks.can_begin_with(c)) {
            return self.emit_char(c, out);
        }
        self.held.push(c);
        while !self.held.is_empty() {
            match self.marks.match_held(&self.held, work) {
                MarkMatch::Cut => return,
                MarkMatch::Mark(_) => {
                    self.held.clear();
                    self.cut = true;
                    self.is_cut_in_string = self.scan.is_quoted();
                }
                MarkMatch::Nothing => {
                    let first = self.held.remove(0);
                    self.emit_char(first, out);
                }
            }
        }
    }

    /// Ends the text, and passes the held back chars to `out`.
    pub(super) fn finish(&mut self, out: &mut impl FnMut(char)) {
        for c in std::mem::take(&mut self.held) {
            self.emit_char(c, out);
        }
    }

    /// Returns the number of chars held back because they may begin a marker.
    pub(super) fn held_len(&self) -> usize {
        self.held.len()
    }

    fn emit_char(&mut self, c: char, out: &mut impl FnMut(char)) {
        self.scan.outside(c);
        out(c);
    }
}
