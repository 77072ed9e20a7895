//! `splits.csv`: which transcript is in which split.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use crate::csv_rows::csv_rows;
use crate::named::read_file;
use crate::{CorpusError, Ids, Place, Problem};

const COLUMNS: &str = "the columns transcript,split";

/// The splits of a corpus, with what is wrong in their file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Splits {
    of: HashMap<String, (String, Place)>,
    problems: Vec<Problem>,
}

impl Splits {
    /// Reads the file. A bad row is kept as a problem; only a file that cannot be read, or has not
    /// the two columns, is an error.
    pub(crate) fn read(path: &Path) -> Result<Self, CorpusError> {
        let text = read_file(path).map_err(|e| CorpusError::unreadable(path, e))?;
        let file = Arc::new(path.to_path_buf());
        let mut rows = csv_rows(&text);
        let header = rows.next().map(|row| row.cells).unwrap_or_default();
        let column = |name| header.iter().position(|column| column.trim() == name);
        let (Some(transcript), Some(split)) = (column("transcript"), column("split")) else {
            let what = format!(
                "the header is {:?}",
                header.iter().collect::<Vec<_>>().join(",")
            );
            return Err(Problem::new(Place::new(file, 1), what, COLUMNS).into());
        };
        let mut splits = Self::default();
        for row in rows {
            let place = Place::new(Arc::clone(&file), row.line);
            match row.bad {
                Some((what, expected)) => {
                    splits.problems.push(Problem::new(place, what, expected));
                }
                None => splits.add(row.cells.get(transcript), row.cells.get(split), place),
            }
        }
        Ok(splits)
    }

    fn add(&mut self, transcript: Option<&str>, split: Option<&str>, place: Place) {
        let (Some(id), Some(split)) = (filled(transcript), filled(split)) else {
            let what = "a row without a transcript or a split";
            self.problems.push(Problem::new(place, what, COLUMNS));
            return;
        };
        if let Some((_, first)) = self.of.get(id) {
            let what = format!("transcript {id:?} stands here again, first at {first}");
            self.problems
                .push(Problem::new(place, what, "one row a transcript"));
            return;
        }
        self.of.insert(id.to_owned(), (split.to_owned(), place));
    }

    /// The split of a transcript.
    pub(crate) fn get(&self, id: &str) -> Option<&str> {
        self.of.get(id).map(|(split, _)| split.as_str())
    }

    /// Every bad row, and every row whose transcript is none of `ids`, in the order of the file.
    pub(crate) fn problems(&self, ids: &Ids) -> Vec<Problem> {
        let strays = self.of.iter().filter(|(id, _)| !ids.contains(id));
        let strays = strays.map(|(id, (_, place))| {
            let what = format!("a split for no transcript: {id:?}");
            Problem::new(place.clone(), what, "the id of a transcript of this corpus")
        });
        let mut all: Vec<_> = strays.collect();
        all.sort();
        all
    }
}

fn filled(cell: Option<&str>) -> Option<&str> {
    cell.map(str::trim).filter(|cell| !cell.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Result<Splits, CorpusError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("splits.csv");
        std::fs::write(&path, text).unwrap();
        Splits::read(&path)
    }

    #[test]
    fn every_bad_row_is_told_with_its_line() {
        let splits = read(b"transcript,split\na,dev\nb\na,test\nghost,dev\n\xff,dev\n").unwrap();
        assert_eq!(splits.get("a"), Some("dev"));
        let mut ids = Ids::default();
        ids.insert("a", &Place::whole("x")).unwrap();
        let mut all = [splits.bad(), splits.strays(&ids)].concat();
        all.sort();
        let told: Vec<_> = all.iter().map(|p| (p.place.line, p.what.clone())).collect();
        assert_eq!(
            told.iter().map(|(line, _)| *line).collect::<Vec<_>>(),
            [3, 4, 5, 6]
        );
        assert!(told[1].1.contains("again"), "{told:?}");
        assert!(told[2].1.contains("no transcript"), "{told:?}");
    }

    #[test]
    fn a_quote_that_is_never_closed_hides_no_other_row() {
        let splits = read(b"transcript,split\na,\"dev\nb,test\n").unwrap();
        assert_eq!((splits.get("a"), splits.get("b")), (None, Some("test")));
        assert_eq!(splits.problems.len(), 1);
        assert_eq!(splits.problems[0].what, "a quote that is never closed");
    }

    #[test]
    fn a_wrong_header_is_an_error() {
        let error = read(b"id,part\na,dev\n").unwrap_err().to_string();
        assert!(
            error.contains("splits.csv:1: the header is \"id,part\""),
            "{error}"
        );
    }
}
