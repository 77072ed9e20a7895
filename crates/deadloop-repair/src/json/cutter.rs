//! Cuts control text: everything from the first mark on is left out.

use crate::marks::{MarkList, MarkMatch};
use deadloop_detect::harness::JsonScan;

/// Passes text until a mark of control text comes. Strings are tracked, because a mark in a string may not count.
#[derive(Clone, Debug)]
pub(super) struct Cutter {
    marks: MarkList,
    inside: bool,
    held: Vec<char>,
    scan: JsonScan,
    cut: bool,
    /// Whether the mark at which the text was cut was in a string.
    cut_inside: bool,
}

impl Cutter {
    /// Returns a cutter. With `inside`, marks in strings count as well.
    pub(super) fn new(marks: &[String], inside: bool) -> Self {
        Self {
            marks: MarkList::new(marks, false),
            inside,
            held: Vec::new(),
            scan: JsonScan::default(),
            cut: false,
            cut_inside: false,
        }
    }

    /// Returns whether the text was cut at a mark in a string.
    pub(super) fn cut_inside(&self) -> bool {
        self.cut_inside
    }

    /// Takes one char. Passes the chars that are not part of a mark to `out`.
    pub(super) fn push_char(&mut self, c: char, work: &mut u64, out: &mut impl FnMut(char)) {
        *work += 1;
        if self.cut {
            return;
        }
        let counts = self.inside || !self.scan.is_quoted();
        if self.held.is_empty() && !(counts && self.marks.can_begin_with(c)) {
            return self.pass(c, out);
        }
        self.held.push(c);
        while !self.held.is_empty() {
            match self.marks.match_held(&self.held, work) {
                MarkMatch::Cut => return,
                MarkMatch::Mark(_) => {
                    self.held.clear();
                    self.cut = true;
                    self.cut_inside = self.scan.is_quoted();
                }
                MarkMatch::Nothing => {
                    let first = self.held.remove(0);
                    self.pass(first, out);
                }
            }
        }
    }

    /// Takes the end of the text. The held back chars are not a mark.
    pub(super) fn finish(&mut self, out: &mut impl FnMut(char)) {
        for c in std::mem::take(&mut self.held) {
            self.pass(c, out);
        }
    }

    /// Returns the number of chars that are held back because they may be the beginning of a mark.
    pub(super) fn held(&self) -> usize {
        self.held.len()
    }

    fn pass(&mut self, c: char, out: &mut impl FnMut(char)) {
        self.scan.outside(c);
        out(c);
    }
}
