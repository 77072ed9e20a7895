//! [`Shared`]: names that many cases have in common, by number.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Bytes, put_number, put_text};

/// Names that are numbered at most. A field that is another one in each transcript is no name: its values beyond these
/// stand where they are used.
const MOST: usize = 4096;

/// The names so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shared {
    names: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u64>,
}

impl Shared {
    /// Puts a name that may be missing: 0 and nothing, 1 and the name itself, or its number and 2.
    pub(crate) fn put(&mut self, name: Option<&Arc<str>>, to: &mut Vec<u8>) {
        let Some(name) = name else {
            return put_number(0, to);
        };
        if let Some(number) = self.number(name) {
            return put_number(number + 2, to);
        }
        put_number(1, to);
        put_text(name, to);
    }

    fn number(&mut self, name: &Arc<str>) -> Option<u64> {
        if let Some(number) = self.numbers.get(name) {
            return Some(*number);
        }
        let number = self.names.len() as u64;
        (self.names.len() < MOST).then(|| {
            self.names.push(Arc::clone(name));
            self.numbers.insert(Arc::clone(name), number);
            number
        })
    }

    /// Takes what [`put`](Self::put) put.
    pub(crate) fn take(&self, from: &mut Bytes<'_>) -> Option<Arc<str>> {
        match from.size() {
            0 => None,
            1 => Some(from.text().into()),
            number => self.names.get(number - 2).cloned(),
        }
    }
}
