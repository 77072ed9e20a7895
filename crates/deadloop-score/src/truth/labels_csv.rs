//! [`LabelsFile`]: the labels of a corpus in the file labels.csv.
//!
//! Labels are in a separate file since they are revised, unlike recordings.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use csv::StringRecord;
use deadloop_replay::corpus::{CsvRow, Ids, Place, Problem, parse_csv_rows, read_file};

use crate::truth::{LabelRow, LocatedLabel, WireLabel, add_problem};

/// The columns of labels.csv, which may be in any order.
pub use deadloop_replay::corpus::LABEL_COLUMNS;

/// The labels of a labels.csv, by transcript. They **replace** the labels inside these transcripts.
#[derive(Clone, Debug, Default)]
pub struct LabelsFile {
    rows: BTreeMap<String, Vec<LocatedLabel>>,
    /// The position of the first row of each transcript, including bad rows.
    first_places: BTreeMap<String, Place>,
    /// The ids of transcripts with a bad row.
    bad_ids: BTreeSet<String>,
}

impl LabelsFile {
    /// Reads a labels.csv. Also returns every problem of every row.
    ///
    /// A row with a problem is ignored, and its transcript is bad. A file that cannot be read is one problem.
    pub fn read(path: &Path) -> (Self, Vec<Problem>) {
        match read_file(path) {
            Ok(text) => Self::parse(&text, path),
            Err(error) => {
                let (what, expected) = (error.to_string(), "a readable labels.csv");
                let problem = Problem::new(Place::whole(path), what, expected);
                (Self::default(), vec![problem])
            }
        }
    }

    /// Parses the text of a labels.csv. Problems name the file `path`.
    fn parse(text: &[u8], path: &Path) -> (Self, Vec<Problem>) {
        let file = Arc::new(path.to_path_buf());
        let mut labels = Self::default();
        let mut problems = Vec::new();
        let place = |line| Place::new(Arc::clone(&file), line);
        labels.add_all(text, &place, &mut problems);
        (labels, problems)
    }

    /// Adds every row of the text of a labels.csv. With a bad header, none is added.
    fn add_all(&mut self, text: &[u8], place: &impl Fn(u64) -> Place, problems: &mut Vec<Problem>) {
        let mut rows = parse_csv_rows(text);
        let header = rows.next().map(|row| row.cells).unwrap_or_default();
        if let Some(what) = check_header(&header) {
            return add_problem(problems, &place(1), what, &LABEL_COLUMNS.join(","));
        }
        for row in rows {
            self.add_row(&header, &row, place(row.line), problems);
        }
    }

    fn add_row(
        &mut self,
        header: &StringRecord,
        row: &CsvRow,
        place: Place,
        problems: &mut Vec<Problem>,
    ) {
        let cells = LabelRowCells {
            header,
            row: &row.cells,
        };
        let transcript = cells.cell_text("transcript");
        let before = problems.len();
        let label = cells.parse_label(row, &place, problems);
        let Some(transcript) = transcript else {
            return;
        };
        if let Some(label) = label.filter(|_| problems.len() == before) {
            let rows = self.rows.entry(transcript.clone()).or_default();
            rows.push((place.clone(), label));
        } else {
            self.bad_ids.insert(transcript.clone());
            // The cells of a broken row may be shifted, so they name no transcript.
            if row.bad.is_some() || row.cells.len() != header.len() {
                return;
            }
        }
        self.first_places.entry(transcript).or_insert(place);
    }

    /// Returns the rows of all transcripts without a bad row, in the order of the file.
    pub fn rows(&self) -> impl Iterator<Item = &LabelRow> {
        let good = self.rows.iter().filter(|(id, _)| !self.is_bad(id));
        let mut good: Vec<&LocatedLabel> = good.flat_map(|(_, rows)| rows).collect();
        good.sort_by_key(|(place, _)| place.line);
        good.into_iter().map(|(_, row)| row)
    }

    /// Returns whether a transcript has a bad row. Such a transcript must not be scored.
    pub fn is_bad(&self, transcript: &str) -> bool {
        self.bad_ids.contains(transcript)
    }

    /// Returns the labels of a transcript. `None` if the file has no row of it.
    pub(crate) fn labels_for(&self, transcript: &str) -> Option<&[LocatedLabel]> {
        self.first_places.get(transcript)?;
        Some(self.rows.get(transcript).map_or(&[], Vec::as_slice))
    }

    /// Returns a problem for each labelled transcript that is not in `ids`, in the order of the file.
    ///
    /// `ids` has all transcripts of the corpus, before any filter.
    pub fn orphans(&self, ids: &Ids) -> Vec<Problem> {
        orphans(self.named(), ids)
    }

    /// Returns the labelled transcripts, each with the position of its first row. Bad rows are included.
    pub fn named(&self) -> impl Iterator<Item = (&str, &Place)> {
        let places = self.first_places.iter();
        places.map(|(id, place)| (id.as_str(), place))
    }
}

/// Returns a problem for each named transcript that is not in `ids`, in the order of the file.
pub fn orphans<'a>(named: impl Iterator<Item = (&'a str, &'a Place)>, ids: &Ids) -> Vec<Problem> {
    let unknown = named.filter(|(id, _)| !ids.contains(id));
    let mut problems = Vec::new();
    for (id, place) in unknown {
        let what = format!("a label for no transcript: {id:?}");
        let expected = "the id of a transcript of this corpus";
        add_problem(&mut problems, place, what, expected);
    }
    problems.sort();
    problems
}

/// Returns a sentence about every mistake of a header. `None` if it has none.
fn check_header(header: &StringRecord) -> Option<String> {
    let mut wrong = Vec::new();
    for name in LABEL_COLUMNS {
        match header.iter().filter(|h| *h == name).count() {
            0 => wrong.push(format!("no column {name:?}")),
            1 => {}
            _ => wrong.push(format!("column {name:?} stands twice")),
        }
    }
    let unknown = header.iter().filter(|h| !LABEL_COLUMNS.contains(h));
    wrong.extend(unknown.map(|name| format!("unknown column {name:?}")));
    (!wrong.is_empty()).then(|| wrong.join(", "))
}

/// A row of labels.csv with its header.
struct LabelRowCells<'a> {
    header: &'a StringRecord,
    row: &'a StringRecord,
}

impl LabelRowCells<'_> {
    /// Returns the text of a cell. `None` if the cell is empty.
    fn cell_text(&self, column: &str) -> Option<String> {
        let at = self.header.iter().position(|h| h == column)?;
        self.row
            .get(at)
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    }

    fn parse_number(
        &self,
        column: &str,
        place: &Place,
        problems: &mut Vec<Problem>,
    ) -> Option<u64> {
        let text = self.cell_text(column)?;
        let number = parse_whole_number(text.trim());
        if number.is_none() {
            let what = format!("{column} {text:?}");
            add_problem(problems, place, what, "a whole number from 0, or nothing");
        }
        number
    }

    /// Parses the label of the row. If the row as a whole is invalid, only that problem is added.
    fn parse_label(
        &self,
        row: &CsvRow,
        place: &Place,
        problems: &mut Vec<Problem>,
    ) -> Option<LabelRow> {
        let columns = self.header.len();
        let broken = self
            .header
            .iter()
            .zip(self.row)
            .find(|(column, cell)| !allows_line_breaks(column) && cell.contains(['\n', '\r']));
        if let Some((what, expected)) = &row.bad {
            add_problem(problems, place, what.as_ref(), expected);
        } else if let Some((column, _)) = broken {
            let what = format!("a line break in {column}");
            add_problem(problems, place, what, "one line; a quote may be missing");
        } else if self.row.len() != columns {
            let what = format!("{} fields", self.row.len());
            add_problem(problems, place, what, &format!("{columns} fields"));
        } else if let Some(transcript) = self.cell_text("transcript") {
            let wire = self.parse_wire_label(place, problems);
            return wire.check_into_row(&transcript, place, problems);
        } else {
            add_problem(problems, place, "no transcript", "the id of a transcript");
        }
        None
    }

    fn parse_wire_label(&self, place: &Place, problems: &mut Vec<Problem>) -> WireLabel {
        let mut number = |column| self.parse_number(column, place, problems);
        let onset = number("onset");
        WireLabel {
            start: number("start"),
            onset,
            onset_reported: onset.is_none() && self.cell_text("onset").is_some(),
            earliest: number("earliest"),
            end: number("end"),
            period: number("period"),
            class: self.cell_text("class").unwrap_or_default(),
            kind: self.cell_text("kind"),
            channel: self.cell_text("channel"),
            by: self.cell_text("by"),
            note: self.cell_text("note"),
        }
    }
}

/// Returns whether the cells of a column may have line breaks.
///
/// A note is free text, and an id may contain anything. If a missing quote makes an id swallow rows, the id is reported
/// as unknown.
fn allows_line_breaks(column: &str) -> bool {
    matches!(column, "note" | "transcript")
}

/// Parses a whole number. The form `12.0` is allowed, since pandas writes it in columns with gaps.
fn parse_whole_number(text: &str) -> Option<u64> {
    let is_zeros = |rest: &&str| !rest.is_empty() && rest.bytes().all(|digit| digit == b'0');
    let rounded = text.split_once('.').filter(|(_, rest)| is_zeros(rest));
    rounded.map_or(text, |(number, _)| number).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadloop_replay::corpus::Entry;
    use std::io::Write;

    use crate::truth::Case;

    const HEADER: &str = "transcript,class,kind,channel,start,onset,earliest,end,period,by,note";

    fn read(text: &str) -> (LabelsFile, Vec<String>) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let (labels, problems) = LabelsFile::read(file.path());
        let name = format!("{}:", file.path().display());
        let shown = problems.iter().map(|p| p.to_string().replace(&name, ""));
        (labels, shown.collect())
    }

    #[test]
    fn rows_are_read_by_the_header_in_any_order() {
        let text = "note,by,period,end,earliest,onset,start,channel,kind,class,transcript\n\
                    ,me,60,,,2310,2250,reasoning,paragraph,loop,a\n\
                    \"x, y\",me,,,,,,,,clean,b\n";
        let (labels, problems) = read(text);
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!(labels.labels_for("a").unwrap()[0].1.onset, Some(2310));
        assert_eq!(labels.labels_for("a").unwrap()[0].0.line, 2);
        assert_eq!(labels.labels_for("b").unwrap()[0].0.line, 3);
        assert!(labels.labels_for("c").is_none());
    }

    #[test]
    fn all_problems_are_collected_with_their_lines() {
        let text = format!(
            "{HEADER}\na,lop,paragraf,mind,,5,,,,,\nb,loop,,answer,,,,,,,\n\
             c,loop,,answer,9,5,8,3,,,\nd,clean\ne,loop,,answer,,-1,,,,,\n,clean,,,,,,,,,\n"
        );
        let (labels, problems) = read(&text);
        let starts = problems.iter().map(|p| p.split("; ").next().unwrap());
        assert_eq!(
            starts.collect::<Vec<_>>(),
            [
                "2: unknown class \"lop\"",
                "2: unknown kind \"paragraf\"",
                "2: unknown channel \"mind\"",
                "3: a loop without an onset",
                "4: start 9 is greater than onset 5",
                "4: onset 5 is greater than end 3",
                "4: earliest 8 is greater than end 3",
                "5: 2 fields",
                "6: onset \"-1\"",
                "7: no transcript",
            ]
        );
        let named = "named, so the labels inside are replaced";
        assert_eq!(labels.labels_for("a"), Some(&[][..]), "{named}");
    }

    #[test]
    fn a_wrong_header_is_said_once_and_no_row_is_read() {
        let (labels, problems) = read("transcript,class,kynd\na,clean,\n");
        let [problem] = &problems[..] else {
            panic!("{problems:?}");
        };
        assert!(problem.starts_with("1: no column \"kind\", no column \"channel\", "));
        assert!(problem.contains(", unknown column \"kynd\"; expected transcript,class,kind"));
        assert!(labels.labels_for("a").is_none());
    }

    #[test]
    fn a_quote_that_is_never_closed_hides_no_other_row() {
        let (labels, problems) = read(&format!(
            "{HEADER}\na,clean,,,,,,,,me,\"half a note\nb,clean,,,,,,,,,\nc,lop,,,,,,,,,\n"
        ));
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(problems[0].starts_with("2: a quote that is never closed; expected"));
        assert!(problems[1].starts_with("4: unknown class"));
        assert_eq!(labels.labels_for("b").unwrap().len(), 1);
        assert!(labels.is_bad("a") && labels.is_bad("c") && !labels.is_bad("b"));
    }

    #[test]
    fn a_line_break_is_for_notes() {
        let (labels, problems) = read(&format!(
            "{HEADER}\na,clean,,,,,,,,\"me\nb,clean,,,,,,,,you\",\nc,clean,,,,,,,,,\"two\nlines\"\n"
        ));
        let broken = "2: a line break in by; expected one line; a quote may be missing";
        assert_eq!(problems, [broken]);
        assert_eq!(labels.labels_for("c").unwrap().len(), 1);
    }

    #[test]
    fn whole_numbers_may_be_written_as_pandas_writes_them() {
        let (labels, problems) = read(&format!(
            "{HEADER}\na,loop,,answer,2.0,12.00,,,,,\nb,loop,,answer,,12.5,,,,,\n"
        ));
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].starts_with("3: onset \"12.5\""));
        let label = &labels.labels_for("a").unwrap()[0].1;
        assert_eq!((label.start, label.onset), (Some(2), Some(12)));
    }

    #[test]
    fn a_transcript_is_reviewed_if_a_person_answered_each_row() {
        let rows = "a,clean,,,,,,,,review:ann,\nb,clean,,,,,,,,offline,\n";
        let (labels, _) = read(&format!("{HEADER}\n{rows}"));
        let reviewed = |line: &str| {
            let place = Place::whole("t.jsonl");
            let (entry, _) = Entry::from_line(line.as_bytes(), place, None).unwrap();
            let (case, _) = Case::from_entry(&entry, Some(&labels), &[]);
            case.truth.unwrap().reviewed
        };
        assert!(reviewed(r#"{"id": "a", "answer": "x"}"#));
        assert!(!reviewed(r#"{"id": "b", "answer": "x"}"#));
    }

    #[test]
    fn labels_for_no_transcript_are_found() {
        let (labels, _) = read(&format!("{HEADER}\na,clean,,,,,,,,,\nb,clean,,,,,,,,,\n"));
        let mut ids = Ids::default();
        let place = Place::whole("t.jsonl");
        ids.insert("a", &place).unwrap();
        let orphans = labels.orphans(&ids);
        assert_eq!(orphans.len(), 1);
        assert_eq!(orphans[0].place.line, 3);
        assert!(orphans[0].what.contains("\"b\""));
    }

    #[test]
    fn a_missing_file_is_a_problem_and_not_a_crash() {
        let (_, problems) = LabelsFile::read(Path::new("/no/such/labels.csv"));
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].place.line, 0);
    }
}
