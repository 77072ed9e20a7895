//! The ids of a corpus, and the check that none comes twice.

use std::collections::HashMap;

use crate::{Place, Problem};

/// The ids seen so far, each with its place. Feed it in corpus order: of two transcripts with one
/// id the first fed is the one that counts.
#[derive(Clone, Debug, Default)]
pub struct Ids {
    places: HashMap<String, Place>,
}

impl Ids {
    /// Notes an id.
    ///
    /// # Errors
    /// The id stood somewhere else before; both places are named.
    pub fn insert(&mut self, id: &str, place: &Place) -> Result<(), Problem> {
        if let Some(first) = self.places.get(id) {
            let what = format!("the id {id:?} was used before, at {first}");
            return Err(Problem::new(
                place.clone(),
                what,
                "an id that is unique in its corpus",
            ));
        }
        self.places.insert(id.to_owned(), place.clone());
        Ok(())
    }

    /// Whether the id was seen.
    pub fn contains(&self, id: &str) -> bool {
        self.places.contains_key(id)
    }

    /// Where the transcript with this id stands.
    pub fn place(&self, id: &str) -> Option<&Place> {
        self.places.get(id)
    }

    /// How many ids were seen.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether none was seen.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}
