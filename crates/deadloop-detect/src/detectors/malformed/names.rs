//! [`KnownNames`]: finds the known name nearest to a name.

use crate::text::nearest::NearestName;

/// The spelling of a name, compared with the known name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameSpelling {
    /// Exactly like the known name.
    Exact,
    /// In another case.
    Case,
    /// With this number of edits.
    Edits(i64),
}

/// The known names.
#[derive(Clone, Debug)]
pub(super) struct KnownNames(NearestName);

/// The maximum number of edits by which a name may differ from a known one.
const MAX_EDITS: usize = 2;

impl KnownNames {
    pub(super) fn new(names: Vec<String>) -> Self {
        Self(NearestName::new(names, true, MAX_EDITS))
    }

    pub(super) fn name(&self, at: usize) -> &str {
        self.0.known().get(at).map_or("", String::as_str)
    }

    /// Returns the nearest known name and the spelling. `None` if no name is near, or if two are equally near.
    pub(super) fn find(&self, name: &str) -> Option<(NameSpelling, usize)> {
        if let Some(at) = self.0.known().iter().position(|known| known == name) {
            return Some((NameSpelling::Exact, at));
        }
        let (at, edits) = self.0.find(name, &mut 0)?;
        let spelt = match i64::try_from(edits) {
            Ok(0) => NameSpelling::Case,
            edits => NameSpelling::Edits(edits.unwrap_or(i64::MAX)),
        };
        Some((spelt, at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_nearest_one() {
        let names = KnownNames::new(["create_note", "confirm", "id"].map(str::to_owned).to_vec());
        assert_eq!(names.find("confirm"), Some((NameSpelling::Exact, 1)));
        assert_eq!(names.find("Create_Note"), Some((NameSpelling::Case, 0)));
        assert_eq!(names.find("creat_noet"), Some((NameSpelling::Edits(2), 0)));
        assert_eq!(names.find("confrim"), Some((NameSpelling::Edits(1), 1)));
        assert_eq!(names.find("i"), None);
        assert_eq!(names.find(""), None);
    }
}
