//! [`Splits`]: the content of `splits.csv`.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use crate::files::{parse_csv_rows, read_file};
use crate::{CorpusError, Ids, Place, Problem};

const COLUMN_NAMES: &str = "the columns transcript,split";

/// Splits of the transcripts in a corpus, and the problems of invalid rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Splits {
    /// Split and line of each id, as written.
    rows: HashMap<String, (String, Place)>,
    /// Untrimmed id of each trimmed one, for files with spaces after commas.
    trimmed: HashMap<String, String>,
    problems: Vec<Problem>,
}

impl Splits {
    /// Reads a splits file. Invalid rows are kept as problems.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or lacks one of the two columns.
    pub(crate) fn read(path: &Path) -> Result<Self, CorpusError> {
        let text = read_file(path).map_err(|e| CorpusError::unreadable(path, e))?;
        Self::parse(&text, path)
    }

    /// Parses the text of a splits file. `path` is used in errors.
    pub(crate) fn parse(text: &[u8], path: &Path) -> Result<Self, CorpusError> {
        let file = Arc::new(path.to_path_buf());
        let mut rows = parse_csv_rows(text);
        let header = rows.next().map(|row| row.cells).unwrap_or_default();
        let column = |name| header.iter().position(|column| column.trim() == name);
        let (Some(transcript), Some(split)) = (column("transcript"), column("split")) else {
            let what = format!(
                "the header is {:?}",
                header.iter().collect::<Vec<_>>().join(",")
            );
            return Err(Problem::new(Place::new(file, 1), what, COLUMN_NAMES).into());
        };
        let mut splits = Self::default();
        for row in rows {
            let place = Place::new(Arc::clone(&file), row.line);
            match row.bad {
                Some((what, expected)) => {
                    splits.problems.push(Problem::new(place, what, expected));
                }
                None => splits.add_row(row.cells.get(transcript), row.cells.get(split), place),
            }
        }
        Ok(splits)
    }

    fn add_row(&mut self, transcript: Option<&str>, split: Option<&str>, place: Place) {
        let id = transcript.filter(|id| !id.is_empty());
        let (Some(id), Some(split)) = (id, trim_non_empty(split)) else {
            let what = "a row without a transcript or a split";
            self.problems.push(Problem::new(place, what, COLUMN_NAMES));
            return;
        };
        if let Some((_, first)) = self.rows.get(id) {
            let what = format!("transcript {id:?} stands here again, first at {first}");
            self.problems
                .push(Problem::new(place, what, "one row a transcript"));
            return;
        }
        if id.trim() != id {
            self.trimmed.insert(id.trim().to_owned(), id.to_owned());
        }
        self.rows.insert(id.to_owned(), (split.to_owned(), place));
    }

    /// Returns the split of a transcript.
    pub(crate) fn get(&self, id: &str) -> Option<&str> {
        let row = self
            .rows
            .get(id)
            .or_else(|| self.rows.get(self.trimmed.get(id)?));
        row.map(|(split, _)| split.as_str())
    }

    /// Returns the problems of all invalid rows, in file order.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        self.problems.clone()
    }

    /// Iterates over the transcripts in the file with their file and line, in no order.
    pub(crate) fn transcripts(&self) -> impl Iterator<Item = (&str, &Place)> {
        let rows = self.rows.iter();
        rows.map(|(id, (_, place))| (id.as_str(), place))
    }
}

/// Returns a problem for each row of splits.csv whose transcript is not in `ids`, in the order of the file.
pub fn strays<'a>(rows: impl Iterator<Item = (&'a str, &'a Place)>, ids: &Ids) -> Vec<Problem> {
    let strays = rows.filter(|(id, _)| !ids.contains(id) && !ids.contains(id.trim()));
    let strays = strays.map(|(id, place)| {
        let what = format!("a split for no transcript: {id:?}");
        Problem::new(place.clone(), what, "the id of a transcript of this corpus")
    });
    let mut all: Vec<_> = strays.collect();
    all.sort();
    all
}

fn trim_non_empty(cell: Option<&str>) -> Option<&str> {
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
        let mut all = [splits.problems(), strays(splits.transcripts(), &ids)].concat();
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
    fn an_id_may_be_anything_and_blanks_around_it_are_forgiven() {
        let splits = read(b"transcript, split\n a ,dev\n\"b\nc\",test\n a,test\n").unwrap();
        let of = |id| splits.get(id);
        assert_eq!(
            (of(" a "), of("a"), of(" a")),
            (Some("dev"), Some("test"), Some("test"))
        );
        assert_eq!(of("b\nc"), Some("test"));
        assert!(splits.problems().is_empty(), "{:?}", splits.problems());
        let mut ids = Ids::default();
        for id in ["a", "b\nc"] {
            ids.insert(id, &Place::whole("x")).unwrap();
        }
        assert!(strays(splits.transcripts(), &ids).is_empty());
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
