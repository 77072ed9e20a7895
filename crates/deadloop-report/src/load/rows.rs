//! Texts and names that many rows have.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Texts that many rows have, each once.
#[derive(Default)]
pub(super) struct Texts(HashSet<Arc<str>>);

impl Texts {
    /// The text as it was first met.
    pub(super) fn once(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.0.get(text) {
            return Arc::clone(known);
        }
        let text: Arc<str> = text.into();
        self.0.insert(Arc::clone(&text));
        text
    }
}

/// Names by number, quickly where they come in the same order again and again: the rows of each setting do.
#[derive(Default)]
pub(super) struct Turns {
    names: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, usize>,
    next: usize,
}

impl Turns {
    /// The number of a name, which is new where it was not met before.
    pub(super) fn of(&mut self, name: &str) -> usize {
        let due = self.names.get(self.next).is_some_and(|due| **due == *name);
        let at = if due { self.next } else { self.find(name) };
        self.next = (at + 1) % self.names.len();
        at
    }

    fn find(&mut self, name: &str) -> usize {
        if let Some(known) = self.numbers.get(name) {
            return *known;
        }
        let (name, at): (Arc<str>, usize) = (name.into(), self.names.len());
        self.names.push(Arc::clone(&name));
        self.numbers.insert(name, at);
        at
    }

    /// The names, by number.
    pub(super) fn names(&self) -> &[Arc<str>] {
        &self.names
    }
}
