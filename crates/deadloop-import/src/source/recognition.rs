//! Recognition of a file's shape and format from its beginning.

use std::io::{self, BufRead, BufReader, Read};

use deadloop_detect::harness::JsonScan;
use deadloop_stream::reader::{Frame, Frames, object};
use serde_json::Value;

use crate::formats::FOREIGN;
use crate::reader::ForeignFormat;
use crate::source::files::SourceFile;
use crate::source::head::{FormatCertainty, SourceHead};
use crate::source::records::{
    DATABASE, FileShape, MAX_VALUES, RecordContent, SourceRecords, csv, database_format, members,
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
    /// The certainty of the format. `None` if the caller chose the format.
    pub(crate) certainty: Option<FormatCertainty>,
    pub(crate) records: SourceRecords,
    /// Whether the beginning has more than one record.
    pub(crate) several: bool,
}

/// A file that cannot be read.
pub(crate) struct UnreadableFile {
    pub(crate) fault: WireFault,
    /// The kind of a file that is not a recording, by which such files of a folder are counted.
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
    chosen: Option<&'static ForeignFormat>,
) -> Result<OpenedFile, UnreadableFile> {
    let mut head = FileHead::open(file).map_err(|e| match e.kind() {
        io::ErrorKind::Other => UnreadableFile {
            fault: broken(&e),
            kind: Some("pipes, devices and links to nothing"),
        },
        _ => broken(&e).into(),
    })?;
    if head.bytes.is_empty() && head.whole {
        return Err(no_recording(
            "empty files",
            "the file is empty",
            "a recording",
        ));
    }
    let (mut source, format, certainty) = loop {
        let source = recognize(&head, file)?;
        if let Some(format) = chosen {
            if let Some(other) = source.database.filter(|name| *name != format.name) {
                let what = format!("a database of {other}, and no recording of {}", format.name);
                return Err(WireFault::new(what, format!("{FROM} {other}, or none")).into());
            }
            break (source, format, None);
        }
        let (certainty, best) = best_formats(&source);
        let more = certainty < FormatCertainty::Likely && (!head.whole || source.more);
        if more && head.read_further(certainty) {
            continue;
        }
        match best[..] {
            [] => return Err(unknown_file(&source, &head)),
            [only] => break (source, only, Some(certainty)),
            [one, other, ..] => {
                let (one, other, reason) = (one.name, other.name, certainty.reason());
                let what = format!("may be {one} or {other}: {reason}");
                return Err(WireFault::new(what, format!("{FROM} to say which")).into());
            }
        }
    };
    if let Some(shape) = format.shape {
        source.shape = shape;
    } else if source.shape == FileShape::Text {
        source.shape = FileShape::Lines;
    }
    let family = source.family.get().copied().flatten();
    // Only a family with a quick reader needs the texts of lines. Without recognition the family is unknown.
    let texts = certainty.is_none() || family.is_some_and(|(family, _)| family.quick.is_some());
    Ok(OpenedFile {
        format,
        certainty,
        records: records(source.shape, head.into_reader(), file.place(0), texts),
        several: source.list || source.values.len() > 1,
    })
}

/// Returns the format with this name.
pub(crate) fn find_format(name: &str) -> Option<&'static ForeignFormat> {
    FOREIGN.iter().find(|format| format.name == name)
}

/// The head of a file, which grows until the format is known.
struct FileHead {
    bytes: Vec<u8>,
    /// Whether the head is the whole file.
    whole: bool,
    /// The size of the head: an index into [`HEAD_SIZES`].
    step: usize,
    rest: Box<dyn BufRead + Send>,
    failed: Option<io::Error>,
}

/// The sizes of the head, in bytes and records. A larger size is used while the format is unknown.
///
/// A session may begin with many summaries, and a line may be a picture.
const HEAD_SIZES: [(usize, usize); 3] = [(1 << 16, 20), (1 << 20, 500), (1 << 24, 5000)];

impl FileHead {
    fn open(file: &SourceFile) -> io::Result<Self> {
        let disk = file.open()?;
        let mut head = Self {
            bytes: Vec::new(),
            whole: false,
            step: 0,
            rest: unpack(CountingReader::new(disk, file.progress.clone()))?,
            failed: None,
        };
        head.read();
        if head.bytes.starts_with(BOM) {
            head.bytes.drain(..BOM.len());
        }
        Ok(head)
    }

    fn read(&mut self) {
        let wanted = HEAD_SIZES[self.step].0.saturating_sub(self.bytes.len());
        self.bytes.reserve_exact(wanted);
        let mut more = self.rest.by_ref().take(wanted as u64);
        match more.read_to_end(&mut self.bytes) {
            Ok(read) => self.whole = read < wanted,
            Err(e) => (self.failed, self.whole) = (Some(e), true),
        }
    }

    /// Reads more of the file, unless the head has its largest size. A fallback allows only the second size.
    fn read_further(&mut self, certainty: FormatCertainty) -> bool {
        let last = match certainty {
            FormatCertainty::No => HEAD_SIZES.len() - 1,
            _ => 1,
        };
        let mut binary = [ZIP, PARQUET, DATABASE].iter();
        if self.step >= last || binary.any(|begin| self.bytes.starts_with(begin)) {
            return false;
        }
        self.step += 1;
        if !self.whole {
            self.read();
        }
        true
    }

    fn max_records(&self) -> usize {
        HEAD_SIZES[self.step].1
    }

    /// Returns the whole file from the beginning.
    fn into_reader(self) -> Box<dyn BufRead + Send> {
        let begin = io::Cursor::new(self.bytes);
        match self.failed {
            None => Box::new(begin.chain(self.rest)),
            Some(e) => Box::new(begin.chain(BufReader::new(HeadError(Some(e))))),
        }
    }
}

/// The read error of the head, as a reader that fails once.
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
    let rated = FOREIGN
        .iter()
        .map(|format| (format.certainty(head), format));
    let rated: Vec<_> = rated.collect();
    let best = rated.iter().map(|(certainty, _)| *certainty).max();
    let best = best.unwrap_or(FormatCertainty::No);
    let found = rated
        .into_iter()
        .filter(|(certainty, _)| *certainty == best);
    let found = found.filter(|_| best > FormatCertainty::No);
    (best, found.map(|(_, format)| format).collect())
}

/// Refuses a file of no known format.
fn unknown_file(head: &SourceHead, file: &FileHead) -> UnreadableFile {
    let kind = match head.shape {
        FileShape::Text => text_kind(&file.bytes),
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
fn text_kind(head: &[u8]) -> &'static str {
    let begin = head.trim_ascii_start();
    let starts = |with: &str| {
        let same = begin.get(..with.len());
        same.is_some_and(|same| same.eq_ignore_ascii_case(with.as_bytes()))
    };
    let mut tags = ["<!doctype", "<html", "<?xml", "<svg"].into_iter();
    if tags.any(starts) {
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
    let what = head.objects().next().map(|object| {
        let keys: Vec<&str> = object.keys().take(8).map(String::as_str).collect();
        let keys = keys.join(", ");
        format!("records of no known format, with the fields {keys}")
    });
    WireFault::new(
        what.unwrap_or_else(|| "content of no known format".to_owned()),
        expected,
    )
}

/// Recognizes the shape of a file and reads its first records.
fn recognize(file_head: &FileHead, file: &SourceFile) -> Result<SourceHead, UnreadableFile> {
    let head = &file_head.bytes[..];
    let mut source = SourceHead::new(FileShape::Archive);
    if head.starts_with(ZIP) {
        source.members = members(&file.path);
        return Ok(source);
    }
    if head.starts_with(PARQUET) {
        source.shape = FileShape::Table;
        source.values = first_rows(file, file_head.max_records())?;
        return Ok(source);
    }
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return Err(no_recording("UTF-16 texts", "UTF-16 text", "UTF-8 text"));
    }
    if head.starts_with(DATABASE) {
        source.shape = FileShape::Database;
        let format = database_format(&file.path).map_err(|fault| UnreadableFile {
            fault,
            kind: Some("SQLite databases that are not read"),
        })?;
        source.database = Some(format);
        return Ok(source);
    }
    if file.is_csv() {
        source.shape = FileShape::Csv;
        source.values = csv::first_rows(head, file_head.max_records(), file_head.whole);
        return Ok(source);
    }
    let begin = head.trim_ascii_start();
    let (values, more) = read_lines(file_head);
    if !values.is_empty() && !begin.starts_with(b"[") {
        (source.shape, source.values, source.more) = (FileShape::Lines, values, more);
    } else if begin.starts_with(b"{") || begin.starts_with(b"[") {
        read_document(begin, file_head.max_records(), &mut source);
    } else if begins_event(begin) {
        source.shape = FileShape::Lines;
    } else {
        source.shape = FileShape::Text;
        source.values = vec![Value::String(valid_beginning(head))];
        // No text of a model has a zero byte.
        if head.contains(&0) {
            let what = "content of no known format";
            return Err(no_recording("binary files", what, "a recording"));
        }
    }
    Ok(source)
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
fn valid_beginning(head: &[u8]) -> String {
    let head = &head[..head.len().min(HEAD_SIZES[0].0)];
    let valid = head.utf8_chunks().next();
    valid.map_or(String::new(), |chunk| chunk.valid().to_owned())
}

/// Reads the objects of whole lines, bare or the data of events. Returns them and whether there are more.
///
/// A bare object is at the start of its line. Any other object is part of a document.
fn read_lines(head: &FileHead) -> (Vec<Value>, bool) {
    let mut frames = Frames::new(true, HEAD_SIZES[head.step].0);
    let mut lines = head.bytes.split_inclusive(|byte| *byte == b'\n');
    let mut values = Vec::new();
    while values.len() < head.max_records()
        && let Some(line) = lines.next()
    {
        if !head.whole && !line.ends_with(b"\n") {
            break;
        }
        let part = line.first().is_some_and(|byte| byte.is_ascii_whitespace());
        let blank = line.trim_ascii().is_empty();
        if (!part || blank)
            && let Some(Ok(Frame::Object(text))) = frames.read(line)
            && let Ok(object) = object(
                &whole_escapes(text.as_bytes()).unwrap_or_else(|| text.into_owned()),
                MAX_VALUES,
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
fn begins_event(begin: &[u8]) -> bool {
    let data = begin.strip_prefix(b"data:").map(<[u8]>::trim_ascii_start);
    data.is_some_and(|data| data.starts_with(b"{") || data.starts_with(b"[DONE]"))
}

/// Reads a document, or a line that is longer than the head.
fn read_document(begin: &[u8], most: usize, source: &mut SourceHead) {
    source.list = begin.starts_with(b"[");
    let one_line = !begin.trim_ascii_end().contains(&b'\n');
    source.shape = if one_line && !source.list {
        FileShape::Lines
    } else {
        FileShape::Document
    };
    source.values = match complete_json(begin) {
        Some(Value::Array(items)) => {
            source.more = items.len() > most;
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
