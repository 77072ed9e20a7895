//! [`NearestName`]: finds the known name nearest to a misspelt one.

/// The known names, with the maximum number of edits of a misspelt name.
#[derive(Clone, Debug, Default)]
pub struct NearestName {
    known: Vec<String>,
    fold: bool,
    edits: usize,
}

/// The number of letters of a known name per allowed edit. So short names such as `id` must match exactly.
const LETTERS_PER_EDIT: usize = 3;

impl NearestName {
    /// The maximum length of a compared name, in chars.
    pub const LONGEST: usize = 64;

    /// Returns a search among known names. With `fold`, the case of ASCII letters is ignored. `edits` is the maximum
    /// number of chars that may be inserted, missing, changed or swapped with a neighbour. A known name allows at most
    /// one edit for each three letters.
    pub fn new(known: Vec<String>, fold: bool, edits: usize) -> Self {
        Self { known, fold, edits }
    }

    /// Returns the known names.
    pub fn known(&self) -> &[String] {
        &self.known
    }

    /// Returns the index of the nearest known name, and the number of edits to it. `None` if no name is near enough, or
    /// if two are equally near. Adds the number of compared chars to `work`.
    pub fn find(&self, name: &str, work: &mut u64) -> Option<(usize, usize)> {
        let own = |text: &str| {
            if self.fold {
                text.to_ascii_lowercase()
            } else {
                text.to_owned()
            }
        };
        let name = own(name);
        let length = name.chars().count();
        *work += self
            .known
            .iter()
            .map(|known| known.len() as u64)
            .sum::<u64>();
        if let Some(at) = self.known.iter().position(|known| own(known) == name) {
            return Some((at, 0));
        }
        if self.edits == 0 || length > Self::LONGEST {
            return None;
        }
        let mut best = None;
        for (at, known) in self.known.iter().map(|known| own(known)).enumerate() {
            let letters = known.chars().count();
            let most = self.edits.min(letters / LETTERS_PER_EDIT);
            if letters.abs_diff(length) > most {
                continue;
            }
            *work += (letters * length) as u64;
            let edits = strsim::osa_distance(&known, &name);
            if edits > most {
                continue;
            }
            best = match best {
                Some((fewest, _)) if fewest < edits => best,
                Some((fewest, _)) if fewest == edits => Some((edits, None)),
                _ => Some((edits, Some(at))),
            };
        }
        best.and_then(|(edits, at)| Some((at?, edits)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_or_none() {
        let known = ["create_note", "call_orchestrator", "id", "note_a", "note_b"];
        let known: Vec<String> = known.map(str::to_owned).to_vec();
        let find = |name: &str, fold, edits| {
            let at = NearestName::new(known.clone(), fold, edits).find(name, &mut 0);
            at.map(|(at, _)| known[at].as_str())
        };
        assert_eq!(find("create_note", false, 0), Some("create_note"));
        assert_eq!(find("Create_Note", false, 0), None);
        assert_eq!(find("Create_Note", true, 0), Some("create_note"));
        assert_eq!(find("creaet_note", false, 1), Some("create_note"));
        assert_eq!(find("craete_not", false, 1), None);
        assert_eq!(find("craete_not", false, 2), Some("create_note"));
        assert_eq!(find("ix", false, 2), None, "too short to be guessed");
        assert_eq!(find("note_c", false, 1), None, "two are equally near");
        assert_eq!(
            find("call_orcheator", false, 2),
            None,
            "three letters are lost"
        );
    }
}
