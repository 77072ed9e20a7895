//! [`Names`]: finds the known name that a name is, and how it is spelt.

/// How a name is spelt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelt {
    /// Exactly like the known name.
    Right,
    /// In another case.
    Case,
    /// With this number of edits.
    Edits(i64),
}

/// The known names.
#[derive(Clone, Debug)]
pub(super) struct Names(Vec<String>);

/// The most edits by which a name may differ from a known one.
const MOST: usize = 2;
/// A known name allows one edit for each three letters, so no other name counts as a misspelling of `id`.
const LETTERS_PER_EDIT: usize = 3;

impl Names {
    pub(super) fn new(names: Vec<String>) -> Self {
        Self(names)
    }

    pub(super) fn name(&self, at: usize) -> &str {
        self.0.get(at).map_or("", String::as_str)
    }

    /// The known name that is meant; `None` where no name is near, or two are equally near.
    pub(super) fn find(&self, name: &str) -> Option<(Spelt, usize)> {
        if let Some(at) = self.0.iter().position(|known| known == name) {
            return Some((Spelt::Right, at));
        }
        let folded = name.to_ascii_lowercase();
        let known = |known: &String| known.to_ascii_lowercase() == folded;
        if let Some(at) = self.0.iter().position(known) {
            return Some((Spelt::Case, at));
        }
        let near = self.0.iter().enumerate().filter_map(|(at, known)| {
            let most = MOST.min(known.len() / LETTERS_PER_EDIT);
            if known.len().abs_diff(folded.len()) > most {
                return None;
            }
            let edits = strsim::osa_distance(&known.to_ascii_lowercase(), &folded);
            (edits <= most).then_some((edits, at))
        });
        let near: Vec<(usize, usize)> = near.collect();
        let (fewest, at) = near.iter().min().copied()?;
        let alone = near.iter().filter(|(edits, _)| *edits == fewest).count() == 1;
        let edits = i64::try_from(fewest).unwrap_or(i64::MAX);
        alone.then_some((Spelt::Edits(edits), at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_nearest_one() {
        let names = Names::new(["create_note", "confirm", "id"].map(str::to_owned).to_vec());
        assert_eq!(names.find("confirm"), Some((Spelt::Right, 1)));
        assert_eq!(names.find("Create_Note"), Some((Spelt::Case, 0)));
        assert_eq!(names.find("creat_noet"), Some((Spelt::Edits(2), 0)));
        assert_eq!(names.find("confrim"), Some((Spelt::Edits(1), 1)));
        assert_eq!(names.find("i"), None);
        assert_eq!(names.find(""), None);
    }
}
