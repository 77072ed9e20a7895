//! [`NameTable`]: names that many cases share, by number.

use std::collections::HashMap;
use std::sync::Arc;

use super::{ByteReader, put_number, put_text};

/// The maximum number of names that are written as numbers.
///
/// A field with a different value in each transcript does not repay numbers. A name beyond the maximum is written out.
const MAX_NAMES: usize = 4096;

/// Names that many cases share. A name is stored once and written as its number.
#[derive(Clone, Debug, Default)]
pub(crate) struct NameTable {
    names: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u64>,
}

impl NameTable {
    /// Writes an optional name: 0 for none, 1 and the name, or the number of the name plus 2.
    pub(crate) fn put(&mut self, name: Option<&Arc<str>>, to: &mut Vec<u8>) {
        let Some(name) = name else {
            return put_number(0, to);
        };
        if let Some(number) = self.number_of(name) {
            return put_number(number + 2, to);
        }
        put_number(1, to);
        put_text(name, to);
    }

    /// Returns the number of a name. A new name gets a number, or `None` if there are too many.
    fn number_of(&mut self, name: &Arc<str>) -> Option<u64> {
        if let Some(number) = self.numbers.get(name) {
            return Some(*number);
        }
        let number = self.names.len() as u64;
        (self.names.len() < MAX_NAMES).then(|| {
            self.names.push(Arc::clone(name));
            self.numbers.insert(Arc::clone(name), number);
            number
        })
    }

    /// Reads a name written by [`put`](Self::put).
    pub(crate) fn read(&self, from: &mut ByteReader<'_>) -> Option<Arc<str>> {
        match from.read_size() {
            0 => None,
            1 => Some(from.read_text().into()),
            number => self.names.get(number - 2).cloned(),
        }
    }
}
