//! Recognition of a file's shape and format from its beginning.

use std::cell::OnceCell;
use std::io::{self, BufRead, BufReader, Read};

use deadloop_detect::harness::JsonScan;
use deadloop_stream::reader::{Frame, Frames, object};
use serde_json::Value;

use crate::formats::FOREIGN;
use crate::reader::ForeignFormat;
use crate::source::files::SourceFile;
use crate::source::head::{FormatCertainty, SourceHead};
use crate::source::records::{
    DATABASE, FileShape, MOST_VALUES, RecordContent, SourceRecords, csv, database_format, members,
    records, rows,
};
use deadloop_corpus::files::lines::{broken, unpack};
use deadloop_corpus::files::raw_records::CountingReader;
use deadloop_corpus::option::{FROM, TEXT_FIELD};
use deadloop_stream::BOM;
use deadloop_stream::wire::{WireFault, whole_escapes};

const ZIP: &[u8] = b"PK\x03\x04";
const PARQUET: &[u8] = b"PAR1";

/// A file with a known format.
pub(crate) struct OpenedFile {
    pub(crate) format: &'static ForeignFormat,
    /// The certainty of the format. `None` if the caller chose it.
    pub(crate) sure: Option<FormatCertainty>,
    pub(crate) records: SourceRecords,
    /// Whether the beginning has more than one record.
    pub(crate) several: bool,
}

/// A file that cannot be read, with its kind if it is not a recording.
pub(crate) struct UnreadableFile {
    pub(crate) fault: WireFault,
    /// The name of the kind, for folders with many such files.
    pub(crate) kind: Option<&'static str>,
}

impl From<WireFault> for UnreadableFile {
    fn from(fault: WireFault) -> Self {
        Self { fault, kind: None }
    }
}

/// Refuses a file of a kind that is not a recording.
fn no_recording(kind: &'static str, what: impl Into<String>, expected: &str) -> UnreadableFile {
    UnreadableFile {
        fault: WireFault::new(what, expected),
        kind: Some(kind),
    }
}

/// Opens a file, recognizes its format or takes the chosen one, and begins to read.
pub(crate) fn open(
    file: &SourceFile,
    asked: Option<&'static ForeignFormat>,
) -> Result<OpenedFile, UnreadableFile> {
    let mut look = FileHead::at(file).map_err(|e| match e.kind() {
        io::ErrorKind::Other => UnreadableFile {
            fault: broken(&e),
            kind: Some("pipes, devices and links to nothing"),
        },
        _ => broken(&e).into(),
    })?;
    if look.head.is_empty() && look.whole {
        return Err(no_recording(
            "empty files",
            "the file is empty",
            "a recording",
        ));
    }
    let (mut told, format, sure) = loop {
        let told = recognize(&look, file)?;
        if let Some(format) = asked {
            if let Some(other) = told.database.filter(|name| *name != format.name) {
                let what = format!("a database of {other}, and no recording of {}", format.name);
                return Err(WireFault::new(what, format!("{FROM} {other}, or none")).into());
            }
            break (told, format, None);
        }
        let (sure, best) = best_formats(&told);
        let more = sure < FormatCertainty::Likely && (!look.whole || told.more);
        if more && look.read_further(sure) {
            continue;
        }
        match best[..] {
            [] => return Err(foreign(&told, &look)),
            [only] => break (told, only, Some(sure)),
            [one, other, ..] => {
                let what = format!("may be {} or {}: {}", one.name, other.name, sure.reason());
                return Err(WireFault::new(what, format!("{FROM} to say which")).into());
            }
        }
    };
    if let Some(shape) = format.shape {
        told.shape = shape;
    } else if told.shape == FileShape::Text {
        told.shape = FileShape::Lines;
    }
    let spoken = told.family.get().copied().flatten();
    // Whole texts of lines are needed only for a family with a quick reader, or without recognition.
    let texts = sure.is_none() || spoken.is_some_and(|(family, _)| family.quick.is_some());
    Ok(OpenedFile {
        format,
        sure,
        records: records(told.shape, look.all(), file.place(0), texts),
        several: told.list || told.values.len() > 1,
    })
}

/// Returns the format with this name.
pub(crate) fn find_format(name: &str) -> Option<&'static ForeignFormat> {
    FOREIGN.iter().find(|format| format.name == name)
}

/// The head of a file, which grows until the format is known.
struct FileHead {
    head: Vec<u8>,
    /// Whether the head is the whole file.
    whole: bool,
    /// The size of the head: an index into [`STEPS`].
    step: usize,
    rest: Box<dyn BufRead + Send>,
    failed: Option<io::Error>,
}

/// The sizes of the head, in bytes and records. A larger one is used if the format is still unknown.
///
/// A session may begin with many summaries, and a line may be a picture.
const STEPS: [(usize, usize); 3] = [(1 << 16, 20), (1 << 20, 500), (1 << 24, 5000)];

impl FileHead {
    fn at(file: &SourceFile) -> io::Result<Self> {
        let disk = file.open()?;
        let mut look = Self {
            head: Vec::new(),
            whole: false,
            step: 0,
            rest: unpack(CountingReader::new(disk, file.progress.clone()))?,
            failed: None,
        };
        look.read();
        if look.head.starts_with(BOM) {
            look.head.drain(..BOM.len());
        }
        Ok(look)
    }

    fn read(&mut self) {
        let wanted = STEPS[self.step].0.saturating_sub(self.head.len());
        self.head.reserve_exact(wanted);
        let mut more = self.rest.by_ref().take(wanted as u64);
        match more.read_to_end(&mut self.head) {
            Ok(read) => self.whole = read < wanted,
            Err(e) => (self.failed, self.whole) = (Some(e), true),
        }
    }

    /// Reads more of the file if that may help. A column with a usual name allows one more step.
    fn read_further(&mut self, sure: FormatCertainty) -> bool {
        let last = match sure {
            FormatCertainty::No => STEPS.len() - 1,
            _ => 1,
        };
        let packed = [ZIP, PARQUET, DATABASE]
            .iter()
            .any(|begin| self.head.starts_with(begin));
        if self.step >= last || packed {
            return false;
        }
        self.step += 1;
        if !self.whole {
            self.read();
        }
        true
    }

    fn records(&self) -> usize {
        STEPS[self.step].1
    }

    /// Returns the whole file from the beginning.
    fn all(self) -> Box<dyn BufRead + Send> {
        let begin = io::Cursor::new(self.head);
        match self.failed {
            None => Box::new(begin.chain(self.rest)),
            Some(e) => Box::new(begin.chain(BufReader::new(HeadError(Some(e))))),
        }
    }
}

/// A read error of the head, which the reader reports when it gets there.
struct HeadError(Option<io::Error>);

impl Read for HeadError {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// Returns the formats with the highest certainty.
fn best_formats(head: &SourceHead) -> (FormatCertainty, Vec<&'static ForeignFormat>) {
    if let Some(format) = head.database.and_then(find_format) {
        return (FormatCertainty::Certain, vec![format]);
    }
    let certain: Vec<FormatCertainty> = FOREIGN.iter().map(|format| format.knows(head)).collect();
    let best = certain.iter().copied().max().unwrap_or(FormatCertainty::No);
    let of = FOREIGN.iter().zip(certain);
    let best_of = of.filter(|(_, sure)| *sure == best && best > FormatCertainty::No);
    (best, best_of.map(|(format, _)| format).collect())
}

/// Describes a file of no known format.
fn foreign(head: &SourceHead, look: &FileHead) -> UnreadableFile {
    let kind = match head.shape {
        FileShape::Text => prose(&look.head),
        FileShape::Csv | FileShape::Table => "tables without a column of text",
        _ => "JSON of no known format",
    };
    if head.shape == FileShape::Text {
        let expected = format!(
            "a recording of a known format, or {FROM} text where all of it is one answer of a model"
        );
        return no_recording(kind, kind, &expected);
    }
    UnreadableFile {
        fault: unknown_format(head),
        kind: Some(kind),
    }
}

/// Names the kind of a text that is not JSON.
fn prose(head: &[u8]) -> &'static str {
    let begin = head.trim_ascii_start();
    let starts = |with: &str| {
        let same = begin.get(..with.len());
        same.is_some_and(|same| same.eq_ignore_ascii_case(with.as_bytes()))
    };
    if ["<!doctype", "<html", "<?xml", "<svg"]
        .iter()
        .any(|tag| starts(tag))
    {
        return "HTML or XML";
    }
    let mut lines = begin.split(|byte| *byte == b'\n');
    if lines.any(|line| line.starts_with(b"# ") || line.starts_with(b"## ")) {
        return "Markdown";
    }
    let levels: [&[u8]; 5] = [b"INFO", b"WARN", b"DEBUG", b"ERROR", b"["];
    if levels.iter().any(|level| begin.starts_with(level)) {
        return "a log";
    }
    "plain text"
}

fn unknown_format(head: &SourceHead) -> WireFault {
    let names: Vec<&str> = FOREIGN.iter().map(|format| format.name).collect();
    let expected = format!(
        "{TEXT_FIELD} with the field that holds the text (data.output leads into objects), or {FROM} with one of: {}",
        names.join(", ")
    );
    let keys = head.objects().next().map(|object| {
        let keys: Vec<&str> = object.keys().take(8).map(String::as_str).collect();
        format!(
            "records of no known format, with the fields {}",
            keys.join(", ")
        )
    });
    WireFault::new(
        keys.unwrap_or_else(|| "content of no known format".to_owned()),
        expected,
    )
}

/// Recognizes the shape of a file and reads its first records.
fn recognize(look: &FileHead, file: &SourceFile) -> Result<SourceHead, UnreadableFile> {
    let head = &look.head[..];
    let mut told = SourceHead {
        shape: FileShape::Archive,
        list: false,
        values: Vec::new(),
        members: Vec::new(),
        more: false,
        database: None,
        family: OnceCell::new(),
    };
    if head.starts_with(ZIP) {
        told.members = members(&file.path);
        return Ok(told);
    }
    if head.starts_with(PARQUET) {
        told.shape = FileShape::Table;
        told.values = first_rows(file, look.records())?;
        return Ok(told);
    }
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return Err(no_recording("UTF-16 texts", "UTF-16 text", "UTF-8 text"));
    }
    if head.starts_with(DATABASE) {
        told.shape = FileShape::Database;
        let format = database_format(&file.path).map_err(|fault| UnreadableFile {
            fault,
            kind: Some("SQLite databases that are not read"),
        })?;
        told.database = Some(format);
        return Ok(told);
    }
    if file.is_csv() {
        told.shape = FileShape::Csv;
        told.values = csv::head(head, look.records(), look.whole);
        return Ok(told);
    }
    let begin = head.trim_ascii_start();
    let (values, more) = lines(look);
    if !values.is_empty() && !begin.starts_with(b"[") {
        (told.shape, told.values, told.more) = (FileShape::Lines, values, more);
    } else if begin.starts_with(b"{") || begin.starts_with(b"[") {
        document(begin, look.records(), &mut told);
    } else if fields(begin) {
        told.shape = FileShape::Lines;
    } else {
        told.shape = FileShape::Text;
        told.values = vec![Value::String(text_of(head))];
        // No text of a model has a zero byte.
        if head.contains(&0) {
            return Err(no_recording(
                "binary files",
                "content of no known format",
                "a recording",
            ));
        }
    }
    Ok(told)
}

/// Reads the first rows of a Parquet file.
fn first_rows(file: &SourceFile, most: usize) -> Result<Vec<Value>, UnreadableFile> {
    let mut found = Vec::new();
    for row in rows(file.place(0)).take(most) {
        match row.map(|row| row.content) {
            Ok(RecordContent::Json(row)) => found.push(row),
            Err(problem) if found.is_empty() => {
                return Err(WireFault::new(problem.what, problem.expected).into());
            }
            _ => break,
        }
    }
    Ok(found)
}

/// Returns the beginning of a text up to the first invalid UTF-8.
fn text_of(head: &[u8]) -> String {
    let head = &head[..head.len().min(STEPS[0].0)];
    let valid = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(e) => std::str::from_utf8(&head[..e.valid_up_to()]).unwrap_or_default(),
    };
    valid.to_owned()
}

/// Reads the objects of whole lines, bare or the data of events. Returns them and whether there are more.
///
/// A bare object is at the start of its line. Any other object is part of a document.
fn lines(look: &FileHead) -> (Vec<Value>, bool) {
    let mut frames = Frames::new(true, STEPS[look.step].0);
    let mut lines = look.head.split_inclusive(|byte| *byte == b'\n');
    let mut values = Vec::new();
    while values.len() < look.records()
        && let Some(line) = lines.next()
    {
        if !look.whole && !line.ends_with(b"\n") {
            break;
        }
        let part = line.first().is_some_and(|byte| byte.is_ascii_whitespace());
        let blank = line.trim_ascii().is_empty();
        if (!part || blank)
            && let Some(Ok(Frame::Object(text))) = frames.line(line)
            && let Ok(object) = object(
                &whole_escapes(text.as_bytes()).unwrap_or_else(|| text.into_owned()),
                MOST_VALUES,
            )
            && !object.is_empty()
        {
            values.push(Value::Object(object));
        }
    }
    let more = lines.next().is_some();
    (values, more)
}

/// Returns whether a text without a readable object begins as server-sent events do.
fn fields(begin: &[u8]) -> bool {
    let data = begin.strip_prefix(b"data:").map(<[u8]>::trim_ascii_start);
    data.is_some_and(|data| data.starts_with(b"{") || data.starts_with(b"[DONE]"))
}

/// Reads a document, or a line that is longer than the head.
fn document(begin: &[u8], most: usize, told: &mut SourceHead) {
    told.list = begin.starts_with(b"[");
    let one_line = !begin.trim_ascii_end().contains(&b'\n');
    told.shape = if one_line && !told.list {
        FileShape::Lines
    } else {
        FileShape::Document
    };
    told.values = match complete_json(begin) {
        Some(Value::Array(items)) => {
            told.more = items.len() > most;
            items.into_iter().take(most).collect()
        }
        Some(value) => vec![value],
        None => Vec::new(),
    };
}

/// Completes a JSON value that is cut off, after its last whole field or element.
fn complete_json(begin: &[u8]) -> Option<Value> {
    let mut open: Vec<u8> = Vec::new();
    let mut cut = (0, Vec::new());
    let mut scan = JsonScan::default();
    for (at, byte) in begin.iter().enumerate() {
        if scan.outside(char::from(*byte)).is_none() {
            continue;
        }
        match byte {
            b'{' | b'[' => {
                open.push(if *byte == b'{' { b'}' } else { b']' });
                cut = (at + 1, open.clone());
            }
            b'}' | b']' => {
                open.pop()?;
                cut = (at + 1, open.clone());
                if open.is_empty() {
                    break;
                }
            }
            b',' => cut = (at, open.clone()),
            _ => {}
        }
    }
    let (end, open) = cut;
    let mut whole = begin[..end].to_vec();
    whole.extend(open.iter().rev());
    let mended = whole_escapes(&whole).map(String::into_bytes);
    serde_json::from_slice(&mended.unwrap_or(whole)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_value_is_completed() {
        let all = r#"{"a": [1, {"b": "x,}"}], "c": null}"#;
        for end in 1..=all.len() {
            let value = complete_json(&all.as_bytes()[..end]);
            assert!(value.is_some(), "{}", &all[..end]);
        }
        let value = complete_json(br#"{"a": [1, {"b": "x"}, {"c": "lon"#);
        assert_eq!(
            value.map(|v| v.to_string()).as_deref(),
            Some(r#"{"a":[1,{"b":"x"},{}]}"#)
        );
        assert_eq!(complete_json(b"]"), None);
    }
}
