//! labels.csv: labels kept apart from the recordings, because they are revised and those are not.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use csv::StringRecord;
use deadloop_replay::corpus::{Ids, Place, Problem};

use crate::label::{Placed, Wire, push};
use crate::label_rows::LabelRow;

/// The columns that labels.csv has, here in any order.
pub use deadloop_replay::corpus::synth::COLUMNS;

/// The labels of a labels.csv, by transcript. They **replace** the labels inside the transcripts
/// that they name.
#[derive(Clone, Debug, Default)]
pub struct LabelsFile {
    rows: BTreeMap<String, Vec<Placed>>,
    /// Where each transcript is named first, bad rows included: they are reported once, as bad.
    named: BTreeMap<String, Place>,
    /// The good rows as they stand.
    all: Vec<LabelRow>,
}

impl LabelsFile {
    /// Reads a labels.csv. Every problem of every row is given back; a row with a problem labels
    /// nothing. A file that cannot be read is one problem.
    pub fn read(path: &Path) -> (Self, Vec<Problem>) {
        let file = Arc::new(path.to_path_buf());
        let mut labels = Self::default();
        let mut problems = Vec::new();
        let place = |line| Place {
            file: Arc::clone(&file),
            line,
        };
        match csv::ReaderBuilder::new().flexible(true).from_path(path) {
            Ok(mut reader) => labels.fill(&mut reader, &place, &mut problems),
            Err(error) => push(
                &mut problems,
                &place(0),
                error.to_string(),
                "a readable labels.csv",
            ),
        }
        (labels, problems)
    }

    fn fill(
        &mut self,
        reader: &mut csv::Reader<std::fs::File>,
        place: &impl Fn(u64) -> Place,
        problems: &mut Vec<Problem>,
    ) {
        let header = match reader.headers() {
            Ok(header) => header.clone(),
            Err(error) => return push(problems, &place(1), error.to_string(), "a header"),
        };
        if !check_header(&header, &place(1), problems) {
            return;
        }
        for row in reader.records() {
            match row {
                Ok(row) => {
                    let line = row.position().map_or(0, csv::Position::line);
                    self.row(&header, &row, place(line), problems);
                }
                Err(error) => {
                    let line = error.position().map_or(0, csv::Position::line);
                    push(
                        problems,
                        &place(line),
                        error.to_string(),
                        "a row of UTF-8 text",
                    );
                }
            }
        }
    }

    fn row(
        &mut self,
        header: &StringRecord,
        row: &StringRecord,
        place: Place,
        problems: &mut Vec<Problem>,
    ) {
        if row.len() != header.len() {
            let what = format!("{} fields", row.len());
            return push(problems, &place, what, &format!("{} fields", header.len()));
        }
        let cells = Cells { header, row };
        let Some(transcript) = cells.text("transcript") else {
            return push(problems, &place, "no transcript", "the id of a transcript");
        };
        self.named
            .entry(transcript.clone())
            .or_insert_with(|| place.clone());
        let before = problems.len();
        let wire = cells.wire(&place, problems);
        let label = wire.check(&place, problems);
        if let Some(label) = label.filter(|_| problems.len() == before) {
            let text = |column| cells.text(column).unwrap_or_default();
            let row = LabelRow::new(&transcript, &label, text("by"), text("note"));
            self.all.push(row);
            self.rows
                .entry(transcript)
                .or_default()
                .push((place, label));
        }
    }

    /// The good rows, in the order of the file.
    pub(crate) fn into_rows(self) -> Vec<LabelRow> {
        self.all
    }

    /// The labels of a transcript; `None` where the file does not name it.
    pub(crate) fn of(&self, transcript: &str) -> Option<&[Placed]> {
        self.named.get(transcript)?;
        Some(self.rows.get(transcript).map_or(&[], Vec::as_slice))
    }

    /// A problem for each label of a transcript that is not among `ids`: those of the whole corpus,
    /// before any filter.
    pub fn orphans(&self, ids: &Ids) -> Vec<Problem> {
        let unknown = self.named.iter().filter(|(id, _)| !ids.contains(id));
        let mut problems = Vec::new();
        for (id, place) in unknown {
            let what = format!("a label for no transcript: {id:?}");
            push(
                &mut problems,
                place,
                what,
                "the id of a transcript of this corpus",
            );
        }
        problems
    }
}

fn check_header(header: &StringRecord, place: &Place, problems: &mut Vec<Problem>) -> bool {
    let before = problems.len();
    let expected = COLUMNS.join(",");
    for name in COLUMNS {
        match header.iter().filter(|h| *h == name).count() {
            0 => push(problems, place, format!("no column {name:?}"), &expected),
            1 => {}
            _ => push(
                problems,
                place,
                format!("column {name:?} stands twice"),
                &expected,
            ),
        }
    }
    for name in header.iter().filter(|h| !COLUMNS.contains(h)) {
        push(
            problems,
            place,
            format!("unknown column {name:?}"),
            &expected,
        );
    }
    problems.len() == before
}

/// One row under its header.
struct Cells<'a> {
    header: &'a StringRecord,
    row: &'a StringRecord,
}

impl Cells<'_> {
    /// The text of a cell; `None` where it is empty.
    fn text(&self, column: &str) -> Option<String> {
        let at = self.header.iter().position(|h| h == column)?;
        self.row
            .get(at)
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    }

    fn number(&self, column: &str, place: &Place, problems: &mut Vec<Problem>) -> Option<u64> {
        let text = self.text(column)?;
        let number = text.trim().parse().ok();
        if number.is_none() {
            push(
                problems,
                place,
                format!("{column} {text:?}"),
                "a whole number from 0, or nothing",
            );
        }
        number
    }

    fn wire(&self, place: &Place, problems: &mut Vec<Problem>) -> Wire {
        let mut number = |column| self.number(column, place, problems);
        Wire {
            start: number("start"),
            onset: number("onset"),
            earliest: number("earliest"),
            end: number("end"),
            period: number("period"),
            class: self.text("class").unwrap_or_default(),
            kind: self.text("kind"),
            channel: self.text("channel"),
            ..Wire::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const HEADER: &str = "transcript,class,kind,channel,start,onset,earliest,end,period,by,note";

    fn read(text: &str) -> (LabelsFile, Vec<String>) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let (labels, problems) = LabelsFile::read(file.path());
        let name = format!("{}:", file.path().display());
        (
            labels,
            problems
                .iter()
                .map(|p| p.to_string().replace(&name, ""))
                .collect(),
        )
    }

    #[test]
    fn rows_are_read_by_the_header_in_any_order() {
        let text = "note,by,period,end,earliest,onset,start,channel,kind,class,transcript\n\
                    ,me,60,,,2310,2250,reasoning,paragraph,loop,a\n\
                    \"x, y\",me,,,,,,,,clean,b\n";
        let (labels, problems) = read(text);
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!(labels.of("a").unwrap()[0].1.onset, Some(2310));
        assert_eq!(labels.of("a").unwrap()[0].0.line, 2);
        assert_eq!(labels.of("b").unwrap()[0].0.line, 3);
        assert!(labels.of("c").is_none());
    }

    #[test]
    fn all_problems_are_collected_with_their_lines() {
        let text = format!(
            "{HEADER}\na,lop,paragraf,mind,,5,,,,,\nb,loop,,answer,,,,,,,\n\
             c,loop,,answer,9,5,8,3,,,\nd,clean\ne,loop,,answer,,-1,,,,,\n,clean,,,,,,,,,\n"
        );
        let (labels, problems) = read(&text);
        let starts: Vec<&str> = problems
            .iter()
            .map(|p| p.split("; ").next().unwrap())
            .collect();
        assert_eq!(
            starts,
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
                "6: a loop without an onset",
                "7: no transcript",
            ]
        );
        assert_eq!(
            labels.of("a"),
            Some(&[][..]),
            "named, so the labels inside are replaced"
        );
    }

    #[test]
    fn a_wrong_header_is_said_once_and_no_row_is_read() {
        let (labels, problems) = read("transcript,class,kynd\na,clean,\n");
        assert!(
            problems
                .iter()
                .any(|p| p.starts_with("1: unknown column \"kynd\"")),
            "{problems:?}"
        );
        assert!(
            problems
                .iter()
                .any(|p| p.starts_with("1: no column \"onset\"")),
            "{problems:?}"
        );
        assert!(labels.of("a").is_none());
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
