//! [`Places`]: a set of records of a corpus, one bit a line.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use deadloop_corpus::{Entry, Place};
use deadloop_replay::IdFilter;

/// A set of places of transcripts, in the order of the corpus. Each id has at most one place.
#[derive(Debug, Default)]
pub struct Places {
    files: Vec<LineSet>,
    /// Index in `files` of each path.
    indices: HashMap<Arc<PathBuf>, usize>,
    place_count: usize,
}

/// A set of line numbers of one file, as a bit map.
#[derive(Debug, Default)]
struct LineSet(Vec<u64>);

impl LineSet {
    fn has(&self, line: u64) -> bool {
        let (word, bit) = bit_position(line);
        self.0.get(word).is_some_and(|bits| bits >> bit & 1 == 1)
    }

    fn add(&mut self, line: u64) {
        let (word, bit) = bit_position(line);
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << bit;
    }

    fn lines(&self) -> impl Iterator<Item = u64> {
        let words = self.0.iter().enumerate();
        words.flat_map(|(word, bits)| {
            let is_set = move |bit: &u64| bits >> bit & 1 == 1;
            (0..64)
                .filter(is_set)
                .map(move |bit| word as u64 * 64 + bit)
        })
    }
}

/// Returns the index of the word that holds the bit of `line`, and the index of the bit in this word.
fn bit_position(line: u64) -> (usize, u64) {
    (usize::try_from(line / 64).unwrap_or(usize::MAX), line % 64)
}

impl Places {
    /// Adds a place. Places are added in the order of the corpus.
    pub(crate) fn add(&mut self, place: &Place) {
        let next = self.files.len();
        let nth = *self.indices.entry(Arc::clone(&place.file)).or_insert(next);
        if nth == next {
            self.files.push(LineSet::default());
        }
        self.files[nth].add(place.line);
        self.place_count += 1;
    }

    /// Returns whether the set has `place`.
    pub fn contains(&self, place: &Place) -> bool {
        let nth = self.indices.get(&place.file);
        nth.is_some_and(|nth| self.files[*nth].has(place.line))
    }

    /// Returns the places whose flag in `kept` is set. `kept` has one flag a place, in the order of the corpus.
    #[must_use]
    pub fn only(&self, kept: impl IntoIterator<Item = bool>) -> Self {
        let mut kept = kept.into_iter();
        let mut files: Vec<LineSet> = Vec::new();
        let mut place_count = 0;
        for lines in &self.files {
            let mut some = LineSet::default();
            for line in lines.lines().filter(|_| kept.next() == Some(true)) {
                some.add(line);
                place_count += 1;
            }
            files.push(some);
        }
        let indices = self.indices.clone();
        Self {
            files,
            indices,
            place_count,
        }
    }
}

impl IdFilter for Places {
    fn contains(&self, entry: &Entry) -> bool {
        self.contains(&entry.place)
    }

    fn number(&self) -> usize {
        self.place_count
    }

    fn distinguishes_places(&self) -> bool {
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
