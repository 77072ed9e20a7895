//! [`Fold`]: what counts as equal, and with it how the beginnings of lines are read.

use super::marker::{HELD, Marker, Step};
use super::wide::{Leave, Wide};
use crate::text::class::{self, Class};

/// What counts as equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fold {
    /// Equal chars only.
    None,
    /// The blanks that lines begin with are left out.
    Indent,
    /// List markers at line starts are left out.
    Lists,
    /// So they are, and each run of digits is one symbol.
    Digits,
    /// Markers of every form are left out, and what `Indent` leaves out.
    Markers,
    /// So they are, and each number is one symbol, Chinese numerals too.
    Numerals,
    /// The same, with the value of each number.
    Counters,
}

impl Fold {
    /// Which chars belong to a number that is folded.
    pub(super) fn numbers(self) -> Class {
        match self {
            Self::Digits => class::NUMBER,
            Self::Numerals | Self::Counters => class::NUMBER | class::HAN,
            _ => 0,
        }
    }

    pub(super) fn lines(self) -> Lines {
        match self {
            Self::None => Lines::Kept,
            Self::Lists | Self::Digits => Lines::Plain(Marker::default()),
            Self::Indent => Lines::Wide(Wide::new(Leave::Blanks)),
            _ => Lines::Wide(Wide::new(Leave::Markers)),
        }
    }
}

/// How lines are read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Lines {
    Kept,
    Plain(Marker),
    Wide(Wide),
}

impl Lines {
    /// Whether the rest of the line is text, but for numbers.
    #[inline]
    pub(super) fn are_past(&self) -> bool {
        match self {
            Self::Kept => true,
            Self::Plain(marker) => marker.is_past(),
            Self::Wide(wide) => wide.is_past(),
        }
    }

    /// Whether a number inside a line can be one of an item.
    #[inline]
    pub(super) fn look_inside(&self) -> bool {
        matches!(self, Self::Wide(wide) if wide.looks_inside())
    }

    pub(super) fn read(&mut self, c: char) -> Step {
        match self {
            Self::Kept => Step::Text,
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
