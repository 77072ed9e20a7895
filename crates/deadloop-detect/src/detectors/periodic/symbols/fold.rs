//! [`Fold`]: the differences that comparisons ignore, and the reader of line starts.

use super::marker::{HELD, MarkerReader, MarkerStep};
use super::wide::{OmittedStart, WideMarker};
use crate::text::class::{self, CharClass};

/// The differences that comparisons ignore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Fold {
    /// No differences.
    None,
    /// The leading blanks of lines.
    Indent,
    /// List markers at line starts.
    Lists,
    /// List markers at line starts, and the values of numbers: each run of digits is one symbol.
    Digits,
    /// Leading blanks, and markers of every form.
    Markers,
    /// Leading blanks, markers of every form, and the values of numbers: each number is one symbol, Chinese numerals
    /// too.
    Numerals,
    /// The differences of `Numerals` except the value of each number.
    Counters,
}

impl Fold {
    /// Returns the classes of characters in folded numbers.
    pub(super) fn numbers(self) -> CharClass {
        match self {
            Self::Digits => class::NUMBER,
            Self::Numerals | Self::Counters => class::NUMBER | class::HAN,
            _ => 0,
        }
    }

    pub(super) fn lines(self) -> LineStartReader {
        match self {
            Self::None => LineStartReader::Kept,
            Self::Lists | Self::Digits => LineStartReader::Plain(MarkerReader::default()),
            Self::Indent => LineStartReader::Wide(WideMarker::new(OmittedStart::Blanks)),
            _ => LineStartReader::Wide(WideMarker::new(OmittedStart::Markers)),
        }
    }
}

/// The reader of the start of a line.
#[derive(Clone, Copy, Debug)]
pub(super) enum LineStartReader {
    Kept,
    Plain(MarkerReader),
    Wide(WideMarker),
}

impl LineStartReader {
    /// Returns whether the rest of the line is text, except for numbers.
    #[inline]
    pub(super) fn are_past(&self) -> bool {
        match self {
            Self::Kept => true,
            Self::Plain(marker) => marker.is_past(),
            Self::Wide(wide) => wide.is_past(),
        }
    }

    /// Returns whether a number inside a line can be that of an item.
    #[inline]
    pub(super) fn look_inside(&self) -> bool {
        matches!(self, Self::Wide(wide) if wide.looks_inside())
    }

    pub(super) fn read(&mut self, c: char) -> MarkerStep {
        match self {
            Self::Kept => MarkerStep::Text,
            Self::Plain(marker) => marker.read(c),
            Self::Wide(wide) => wide.read(c),
        }
    }

    #[inline]
    pub(super) fn take(&mut self) -> Option<([char; HELD], usize)> {
        match self {
            Self::Kept => None,
            Self::Plain(marker) => marker.take(),
            Self::Wide(wide) => wide.take(),
        }
    }
}
