//! Recognition of a file's shape and format from its beginning.

use std::io::{self, BufRead, BufReader, Read};

use deadloop_detect::harness::JsonScan;
use deadloop_stream::reader::{Frame, Frames, object};
use serde_json::Value;

use crate::formats::FORMATS;
use crate::reader::ForeignFormat;
use crate::source::files::SourceFile;
use crate::source::head::{FormatCertainty, SourceHead};
use crate::source::records::{
    FileShape, MAX_VALUES, RecordContent, SQLITE_MAGIC, SourceRecords, csv, member_names,
    read_records, read_rows, recognize_database,
};
use deadloop_corpus::files::lines::{broken, unpack};
use deadloop_corpus::files::raw_records::CountingReader;
use deadloop_corpus::option::{FROM, TEXT_FIELD};
use deadloop_stream::BOM;
use deadloop_stream::wire::{WireFault, fix_surrogates};

const ZIP_MAGIC: &[u8] = b"PK\x03\x04";
const PARQUET_MAGIC: &[u8] = b"PAR1";

/// An open file with its recognized format.
pub(crate) struct RecognizedFile {
    pub(crate) format: &'static ForeignFormat,
    /// Certainty of the format. `None` if the caller chose the format.
    pub(crate) certainty: Option<FormatCertainty>,
    pub(crate) records: SourceRecords,
    /// Whether the head has more than one record.
    pub(crate) has_several_records: bool,
}

/// A rejected file.
pub(crate) struct UnreadableFile {
    pub(crate) fault: WireFault,
    /// Kind under which skipped files in folders are counted. `None` for a recording that cannot be read.
    pub(crate) kind: Option<&'static str>,
}

impl From<WireFault> for UnreadableFile {
    fn from(fault: WireFault) -> Self {
        Self { fault, kind: None }
    }
}

/// Rejects a file of a kind that is not a recording.
fn non_recording(kind: &'static str, what: impl Into<String>, expected: &str) -> UnreadableFile {
    UnreadableFile {
        fault: WireFault::new(what, expected),
        kind: Some(kind),
    }
}

/// Opens a file, and recognizes its format unless `chosen` sets it.
pub(crate) fn open_file(
    file: &SourceFile,
    chosen: Option<&'static ForeignFormat>,
) -> Result<RecognizedFile, UnreadableFile> {
    let mut head = FileHead::open(file).map_err(|e| match e.kind() {
        io::ErrorKind::Other => UnreadableFile {
            fault: broken(&e),
            kind: Some("pipes, devices and links to nothing"),
        },
        _ => broken(&e).into(),
    })?;
    if head.bytes.is_empty() && head.is_whole {
        return Err(non_recording(
            "empty files",
            "the file is empty",
            "a recording",
        ));
    }
    let (mut source, format, certainty) = loop {
        let source = recognize_shape(&head, file)?;
        if let Some(format) = chosen {
            if let Some(other) = source.database.filter(|name| *name != format.name) {
                let what = format!("a database of {other}, and no recording of {}", format.name);
                return Err(WireFault::new(what, format!("{FROM} {other}, or none")).into());
            }
            break (source, format, None);
        }
        let (certainty, best) = find_best_formats(&source);
        let more = certainty < FormatCertainty::Likely && (!head.is_whole || source.has_more);
        if more && head.read_further(certainty) {
            continue;
        }
        match best[..] {
            [] => return Err(reject_unknown_file(&source, &head)),
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
    let keep_text = certainty.is_none() || family.is_some_and(|(family, _)| family.quick.is_some());
    Ok(RecognizedFile {
        format,
        certainty,
        records: read_records(source.shape, head.into_reader(), file.place(0), keep_text),
        has_several_records: source.is_list || source.values.len() > 1,
    })
}

/// Returns the format with this name.
pub(crate) fn find_format(name: &str) -> Option<&'static ForeignFormat> {
    FORMATS.iter().find(|format| format.name == name)
}

/// The head of a file, which grows until the format is known.
struct FileHead {
    bytes: Vec<u8>,
    /// Whether the head is the whole file.
    is_whole: bool,
    /// Current size of the head, as an index into [`HEAD_SIZES`].
    size: usize,
    rest: Box<dyn BufRead + Send>,
    read_error: Option<io::Error>,
}

/// Sizes of the head, in bytes and records. A larger size is used while the format is unknown.
///
/// A session may begin with many summaries, and a line may be a picture.
const HEAD_SIZES: [(usize, usize); 3] = [(1 << 16, 20), (1 << 20, 500), (1 << 24, 5000)];

impl FileHead {
    fn open(file: &SourceFile) -> io::Result<Self> {
        let disk = file.open()?;
        let mut head = Self {
            bytes: Vec::new(),
            is_whole: false,
            size: 0,
            rest: unpack(CountingReader::new(disk, file.progress.clone()))?,
            read_error: None,
        };
        head.read_more();
        if head.bytes.starts_with(BOM) {
            head.bytes.drain(..BOM.len());
        }
        Ok(head)
    }

    fn read_more(&mut self) {
        let wanted = HEAD_SIZES[self.size].0.saturating_sub(self.bytes.len());
        self.bytes.reserve_exact(wanted);
        let mut more = self.rest.by_ref().take(wanted as u64);
        match more.read_to_end(&mut self.bytes) {
            Ok(read) => self.is_whole = read < wanted,
            Err(e) => (self.read_error, self.is_whole) = (Some(e), true),
        }
    }

    /// Reads more of the file. Returns `false` if the head has its maximum size, which is the second one for a fallback
    /// format.
    fn read_further(&mut self, certainty: FormatCertainty) -> bool {
        let last = match certainty {
            FormatCertainty::No => HEAD_SIZES.len() - 1,
            _ => 1,
        };
        let mut binary = [ZIP_MAGIC, PARQUET_MAGIC, SQLITE_MAGIC].iter();
        if self.size >= last || binary.any(|begin| self.bytes.starts_with(begin)) {
            return false;
        }
        self.size += 1;
        if !self.is_whole {
            self.read_more();
        }
        true
    }

    fn max_records(&self) -> usize {
        HEAD_SIZES[self.size].1
    }

    /// Returns a reader of the whole file.
    fn into_reader(self) -> Box<dyn BufRead + Send> {
        let begin = io::Cursor::new(self.bytes);
        match self.read_error {
            None => Box::new(begin.chain(self.rest)),
            Some(e) => Box::new(begin.chain(BufReader::new(HeadError(Some(e))))),
        }
    }
}

/// A reader that fails once, with the read error of the head.
struct HeadError(Option<io::Error>);

impl Read for HeadError {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// Returns the formats with the highest certainty.
fn find_best_formats(head: &SourceHead) -> (FormatCertainty, Vec<&'static ForeignFormat>) {
    if let Some(format) = head.database.and_then(find_format) {
        return (FormatCertainty::Certain, vec![format]);
    }
    let rated = FORMATS
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

/// Rejects a file of an unknown format.
fn reject_unknown_file(head: &SourceHead, file: &FileHead) -> UnreadableFile {
    let kind = match head.shape {
        FileShape::Text => text_kind(&file.bytes),
        FileShape::Csv | FileShape::Table => "tables without a column of text",
        _ => "JSON of no known format",
    };
    if head.shape == FileShape::Text {
        let expected = format!(
            "a recording of a known format, or {FROM} text where all of it is one answer of a model"
        );
        return non_recording(kind, kind, &expected);
    }
    UnreadableFile {
        fault: unknown_format_fault(head),
        kind: Some(kind),
    }
}

/// Returns the kind of a text that is not JSON.
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

fn unknown_format_fault(head: &SourceHead) -> WireFault {
    let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
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
fn recognize_shape(file_head: &FileHead, file: &SourceFile) -> Result<SourceHead, UnreadableFile> {
    let head = &file_head.bytes[..];
    let mut source = SourceHead::new(FileShape::Archive);
    if head.starts_with(ZIP_MAGIC) {
        source.members = member_names(&file.path);
        return Ok(source);
    }
    if head.starts_with(PARQUET_MAGIC) {
        source.shape = FileShape::Table;
        source.values = read_first_rows(file, file_head.max_records())?;
        return Ok(source);
    }
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return Err(non_recording("UTF-16 texts", "UTF-16 text", "UTF-8 text"));
    }
    if head.starts_with(SQLITE_MAGIC) {
        source.shape = FileShape::Database;
        let format = recognize_database(&file.path).map_err(|fault| UnreadableFile {
            fault,
            kind: Some("SQLite databases that are not read"),
        })?;
        source.database = Some(format);
        return Ok(source);
    }
    if file.is_csv() {
        source.shape = FileShape::Csv;
        source.values = csv::first_rows(head, file_head.max_records(), file_head.is_whole);
        return Ok(source);
    }
    let begin = head.trim_ascii_start();
    let (values, more) = read_line_objects(file_head);
    if !values.is_empty() && !begin.starts_with(b"[") {
        (source.shape, source.values, source.has_more) = (FileShape::Lines, values, more);
    } else if begin.starts_with(b"{") || begin.starts_with(b"[") {
        read_document(begin, file_head.max_records(), &mut source);
    } else if begins_with_event(begin) {
        source.shape = FileShape::Lines;
    } else {
        source.shape = FileShape::Text;
        source.values = vec![Value::String(valid_utf8_prefix(head))];
        // No text of a model has a zero byte.
        if head.contains(&0) {
            let what = "content of no known format";
            return Err(non_recording("binary files", what, "a recording"));
        }
    }
    Ok(source)
}

/// Reads the first rows of a Parquet file.
fn read_first_rows(file: &SourceFile, max_rows: usize) -> Result<Vec<Value>, UnreadableFile> {
    let mut found = Vec::new();
    for row in read_rows(file.place(0)).take(max_rows) {
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
fn valid_utf8_prefix(head: &[u8]) -> String {
    let head = &head[..head.len().min(HEAD_SIZES[0].0)];
    let valid = head.utf8_chunks().next();
    valid.map_or(String::new(), |chunk| chunk.valid().to_owned())
}

/// Reads the objects of complete lines, bare or in server-sent events. Also returns whether there are more lines.
///
/// A bare object begins at the start of its line. Any other object is part of a document.
fn read_line_objects(head: &FileHead) -> (Vec<Value>, bool) {
    let mut frames = Frames::new(true, HEAD_SIZES[head.size].0);
    let mut lines = head.bytes.split_inclusive(|byte| *byte == b'\n');
    let mut values = Vec::new();
    while values.len() < head.max_records()
        && let Some(line) = lines.next()
    {
        if !head.is_whole && !line.ends_with(b"\n") {
            break;
        }
        let part = line.first().is_some_and(|byte| byte.is_ascii_whitespace());
        let blank = line.trim_ascii().is_empty();
        if (!part || blank)
            && let Some(Ok(Frame::Object(text))) = frames.read(line)
            && let Ok(object) = object(
                &fix_surrogates(text.as_bytes()).unwrap_or_else(|| text.into_owned()),
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

/// Returns whether a text without a readable object begins with a server-sent event.
fn begins_with_event(begin: &[u8]) -> bool {
    let data = begin.strip_prefix(b"data:").map(<[u8]>::trim_ascii_start);
    data.is_some_and(|data| data.starts_with(b"{") || data.starts_with(b"[DONE]"))
}

/// Reads the head of a document, or of a line that is longer than the head.
fn read_document(begin: &[u8], max_rows: usize, source: &mut SourceHead) {
    source.is_list = begin.starts_with(b"[");
    let one_line = !begin.trim_ascii_end().contains(&b'\n');
    source.shape = if one_line && !source.is_list {
        FileShape::Lines
    } else {
        FileShape::Document
    };
    source.values = match complete_json(begin) {
        Some(Value::Array(items)) => {
            source.has_more = items.len() > max_rows;
            items.into_iter().take(max_rows).collect()
        }
        Some(value) => vec![value],
        None => Vec::new(),
    };
}

/// Parses JSON that is cut off, up to its last complete field or element.
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
    let mended = fix_surrogates(&whole).map(String::into_bytes);
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
