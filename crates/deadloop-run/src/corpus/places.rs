//! [`Places`]: selected records of a corpus, one bit per line.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use deadloop_corpus::{Entry, Place};
use deadloop_replay::IdFilter;

/// The places of transcripts, in the order of the corpus. An id has at most one place.
#[derive(Debug, Default)]
pub struct Places {
    files: Vec<LineSet>,
    numbers: HashMap<Arc<PathBuf>, usize>,
    number: usize,
}

/// The set lines of one file.
#[derive(Debug, Default)]
struct LineSet(Vec<u64>);

impl LineSet {
    fn has(&self, line: u64) -> bool {
        let (word, bit) = split(line);
        self.0.get(word).is_some_and(|bits| bits >> bit & 1 == 1)
    }

    fn add(&mut self, line: u64) {
        let (word, bit) = split(line);
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << bit;
    }

    fn all(&self) -> impl Iterator<Item = u64> {
        let words = self.0.iter().enumerate();
        words.flat_map(|(word, bits)| {
            let is_set = move |bit: &u64| bits >> bit & 1 == 1;
            (0..64)
                .filter(is_set)
                .map(move |bit| word as u64 * 64 + bit)
        })
    }
}

fn split(line: u64) -> (usize, u64) {
    (usize::try_from(line / 64).unwrap_or(usize::MAX), line % 64)
}

impl Places {
    /// Adds a place, in the order of the corpus.
    pub(crate) fn add(&mut self, place: &Place) {
        let next = self.files.len();
        let nth = *self.numbers.entry(Arc::clone(&place.file)).or_insert(next);
        if nth == next {
            self.files.push(LineSet::default());
        }
        self.files[nth].add(place.line);
        self.number += 1;
    }

    /// Returns whether `place` is included.
    pub fn contains(&self, place: &Place) -> bool {
        let nth = self.numbers.get(&place.file);
        nth.is_some_and(|nth| self.files[*nth].has(place.line))
    }

    /// Returns the places whose flag in `kept` is set. The flags are in the order of the corpus.
    #[must_use]
    pub fn only(&self, kept: impl IntoIterator<Item = bool>) -> Self {
        let mut kept = kept.into_iter();
        let mut files: Vec<LineSet> = Vec::new();
        let mut number = 0;
        for lines in &self.files {
            let mut some = LineSet::default();
            for line in lines.all().filter(|_| kept.next() == Some(true)) {
                some.add(line);
                number += 1;
            }
            files.push(some);
        }
        let numbers = self.numbers.clone();
        Self {
            files,
            numbers,
            number,
        }
    }
}

impl IdFilter for Places {
    fn has(&self, entry: &Entry) -> bool {
        self.contains(&entry.place)
    }

    fn number(&self) -> usize {
        self.number
    }

    fn by_place(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_places_that_were_added_are_there_and_no_other() {
        let files = ["a", "b"].map(|name| Arc::new(PathBuf::from(name)));
        let place = |file: usize, line| Place::new(Arc::clone(&files[file]), line);
        let all = [(0, 1), (0, 64), (0, 1000), (1, 2), (1, 3)];
        let mut places = Places::default();
        all.iter()
            .for_each(|(file, line)| places.add(&place(*file, *line)));
        let held = |places: &Places| {
            let lines = (0..2).flat_map(|file| (0..1100).map(move |line| (file, line)));
            lines
                .filter(|(file, line)| places.contains(&place(*file, *line)))
                .collect::<Vec<_>>()
        };
        assert_eq!((held(&places), places.number()), (all.to_vec(), 5));
        let some = places.only([true, false, true, false, true]);
        assert_eq!(held(&some), [(0, 1), (0, 1000), (1, 3)]);
        assert_eq!(some.number(), 3);
        assert!(!some.contains(&Place::new(Arc::new("c".into()), 1)));
    }
}
