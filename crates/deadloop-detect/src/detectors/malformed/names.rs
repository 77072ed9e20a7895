//! [`Names`]: the nearest known name of a name, and its spelling.

use crate::text::nearest::Nearest;

/// The spelling of a name, compared with the known name.
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
pub(super) struct Names(Nearest);

/// The maximum number of edits by which a name may differ from a known one.
const MOST: usize = 2;

impl Names {
    pub(super) fn new(names: Vec<String>) -> Self {
        Self(Nearest::new(names, true, MOST))
    }

    pub(super) fn name(&self, at: usize) -> &str {
        self.0.known().get(at).map_or("", String::as_str)
    }

    /// Returns the nearest known name and the spelling. `None` if no name is near, or if two are equally near.
    pub(super) fn find(&self, name: &str) -> Option<(Spelt, usize)> {
        if let Some(at) = self.0.known().iter().position(|known| known == name) {
            return Some((Spelt::Right, at));
        }
        let (at, edits) = self.0.find(name, &mut 0)?;
        let spelt = match i64::try_from(edits) {
            Ok(0) => Spelt::Case,
            edits => Spelt::Edits(edits.unwrap_or(i64::MAX)),
        };
        Some((spelt, at))
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
