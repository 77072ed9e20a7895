//! [`Nearest`]: which known name a name was meant to be.

/// Names that are known, and how far from one a name may be.
#[derive(Clone, Debug, Default)]
pub(super) struct Nearest {
    known: Vec<String>,
    fold: bool,
    edits: usize,
}

/// Letters of a known name for each edit: `id` is nobody's misspelling.
const LETTERS_PER_EDIT: usize = 3;
/// Longest name that is compared, chars.
pub(super) const LONGEST: usize = 64;

impl Nearest {
    /// `fold`: ASCII letters count as the same in either case; `edits`: chars that may be put in, left
    /// out, changed or swapped with a neighbour, at most one for three letters of the known name.
    pub(super) fn new(known: Vec<String>, fold: bool, edits: usize) -> Self {
        Self { known, fold, edits }
    }

    /// The names that are known.
    pub(super) fn known(&self) -> &[String] {
        &self.known
    }

    /// Which known name this one is: the same, or the one that is nearest. None where two are equally
    /// near: a guess there does harm. Adds the chars compared to `work`.
    pub(super) fn find(&self, name: &str, work: &mut u64) -> Option<usize> {
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
            return Some(at);
        }
        if self.edits == 0 || length > LONGEST {
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
        best.and_then(|(_, at)| at)
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
            let at = Nearest::new(known.clone(), fold, edits).find(name, &mut 0);
            at.map(|at| known[at].as_str())
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
