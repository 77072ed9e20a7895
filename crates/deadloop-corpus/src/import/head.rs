//! How a file is written, and in which format, told by how it begins.

use std::io::{self, BufRead, BufReader, Read};

use serde_json::Value;

use super::cut::{Content, Records, Shape, csv, members, records, rows};
use super::files::File;
use super::reader::Foreign;
use super::take::Object;
use crate::Problem;
use crate::files::{BOM, Counted, broken, unpack};
use crate::import::formats::FOREIGN;
use crate::import::stream::{Framed, Frames, object};
use crate::transcript::wire::Fault;

/// Bytes of a file that are looked at.
const HEAD: usize = 1 << 16;
/// Most records that are looked at.
const RECORDS: usize = 20;
const ZIP: &[u8] = b"PK\x03\x04";
const PARQUET: &[u8] = b"PAR1";

/// How certain it is that a file is of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Certainty {
    /// It is not.
    No,
    /// It can be read so, if no other format knows it.
    Fallback,
    /// Its fields are there, but others have such fields too.
    Likely,
    /// What only this format has stands in its records, inside of something else.
    Enclosed,
    /// It has what only this format has.
    Certain,
}

impl Certainty {
    /// This, where it is so; else not.
    pub(crate) fn when(self, so: bool) -> Self {
        if so { self } else { Self::No }
    }
}

/// The beginning of a file.
#[derive(Debug)]
pub(crate) struct Head {
    /// How it is written.
    pub(crate) shape: Shape,
    /// Whether it is one document that is a list; `values` are then its elements.
    pub(crate) list: bool,
    /// The first records, as far as they are JSON. Of a long one only the beginning is there, cut
    /// after a whole field or element.
    pub(crate) values: Vec<Value>,
    /// The names of an archive's members.
    pub(crate) members: Vec<String>,
}

impl Head {
    /// Those of the first records that are objects.
    pub(crate) fn objects(&self) -> impl Iterator<Item = &Object> {
        self.values.iter().filter_map(Value::as_object)
    }

    /// Whether some of the first records is an object of which this is so.
    pub(crate) fn any(&self, so: impl Fn(&Object) -> bool) -> bool {
        self.objects().any(so)
    }
}

/// A file whose format is known.
pub(super) struct Opened {
    pub(super) format: &'static Foreign,
    pub(super) records: Records,
    /// Whether it begins with more than one record.
    pub(super) several: bool,
}

/// Opens a file, finds out its format (or takes the one that was asked for) and begins to read.
pub(super) fn open(file: &File, from: Option<&str>) -> Result<Opened, Problem> {
    let here = |fault: Fault| fault.at(file.place(0));
    let (head, bytes) = look(file).map_err(|e| here(broken(&e)))?;
    if head.is_empty() {
        return Err(here(Fault::new("the file is empty", "a recording")));
    }
    let mut told = tell(&head, file).map_err(here)?;
    let format = match from {
        None => choose(&told).map_err(here)?,
        Some(name) => named(name).ok_or_else(|| here(unknown(&told)))?,
    };
    if let Some(shape) = format.shape {
        told.shape = shape;
    } else if told.shape == Shape::Text {
        told.shape = Shape::Lines;
    }
    Ok(Opened {
        format,
        records: records(told.shape, bytes, file.place(0)),
        several: told.list || told.values.len() > 1,
    })
}

fn named(name: &str) -> Option<&'static Foreign> {
    FOREIGN.iter().copied().find(|format| format.name == name)
}

/// The head of a file, and all of its text from the beginning.
fn look(file: &File) -> io::Result<(Vec<u8>, Box<dyn BufRead + Send>)> {
    let disk = file.open()?;
    let mut bytes = unpack(Counted::new(disk, file.progress.clone()))?;
    let mut head = Vec::new();
    let read = bytes.by_ref().take(HEAD as u64).read_to_end(&mut head);
    if head.starts_with(BOM) {
        head.drain(..BOM.len());
    }
    let begin = io::Cursor::new(head.clone());
    let all: Box<dyn BufRead + Send> = match read {
        Ok(_) => Box::new(begin.chain(bytes)),
        Err(e) => Box::new(begin.chain(BufReader::new(Failed(Some(e))))),
    };
    Ok((head, all))
}

/// What failed while the head was read, told once more where the reader comes to it.
struct Failed(Option<io::Error>);

impl Read for Failed {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// The format that is most certain.
fn choose(head: &Head) -> Result<&'static Foreign, Fault> {
    let certain = |format: &&Foreign| (format.knows)(head);
    let best = FOREIGN.iter().map(certain).max().unwrap_or(Certainty::No);
    let mut best_of = FOREIGN.iter().filter(|format| certain(format) == best);
    match (best, best_of.next(), best_of.next()) {
        (Certainty::No, ..) | (_, None, _) => Err(unknown(head)),
        (_, Some(format), None) => Ok(format),
        (_, Some(one), Some(other)) => {
            let what = format!("may be {} or {}", one.name, other.name);
            Err(Fault::new(what, "--from to say which"))
        }
    }
}

fn unknown(head: &Head) -> Fault {
    let names: Vec<&str> = FOREIGN.iter().map(|format| format.name).collect();
    let expected = format!(
        "one of {}, said with --from, or the column that holds the text, said with --text-field",
        names.join(", ")
    );
    let keys = head.objects().next().map(|object| {
        let keys: Vec<&str> = object.keys().take(8).map(String::as_str).collect();
        format!(
            "records of no known format, with the fields {}",
            keys.join(", ")
        )
    });
    Fault::new(
        keys.unwrap_or_else(|| "content of no known format".to_owned()),
        expected,
    )
}

/// How a file that begins with `head` is written.
fn tell(head: &[u8], file: &File) -> Result<Head, Fault> {
    let mut told = Head {
        shape: Shape::Archive,
        list: false,
        values: Vec::new(),
        members: Vec::new(),
    };
    if head.starts_with(ZIP) {
        told.members = members(&file.path);
        return Ok(told);
    }
    if head.starts_with(PARQUET) {
        told.shape = Shape::Table;
        for row in rows(file.place(0)).take(RECORDS) {
            match row.map(|row| row.content) {
                Ok(Content::Json(row)) => told.values.push(row),
                Err(problem) if told.values.is_empty() => {
                    return Err(Fault::new(problem.what, problem.expected));
                }
                _ => break,
            }
        }
        return Ok(told);
    }
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return Err(Fault::new("UTF-16 text", "UTF-8 text"));
    }
    if file.is_csv() {
        told.shape = Shape::Csv;
        told.values = csv::head(head, RECORDS, head.len() < HEAD);
        return Ok(told);
    }
    let begin = head.trim_ascii_start();
    let values = lines(head);
    if !values.is_empty() && !begin.starts_with(b"[") {
        (told.shape, told.values) = (Shape::Lines, values);
    } else if begin.starts_with(b"{") || begin.starts_with(b"[") {
        document(begin, &mut told);
    } else if fields(begin) {
        told.shape = Shape::Lines;
    } else {
        told.shape = Shape::Text;
        // Only a text without the zero byte, which no text of a model has, is one.
        if head.contains(&0) {
            return Err(unknown(&told));
        }
    }
    Ok(told)
}

/// The objects of whole lines, bare or the data of events. A bare one begins its line: those that
/// do not are parts of a document.
fn lines(head: &[u8]) -> Vec<Value> {
    let mut frames = Frames::new(true, HEAD);
    let whole = head.len() < HEAD;
    let mut lines = head.split_inclusive(|byte| *byte == b'\n');
    let mut values = Vec::new();
    while values.len() < RECORDS
        && let Some(line) = lines.next()
    {
        if !whole && !line.ends_with(b"\n") {
            break;
        }
        let part = line.first().is_some_and(|byte| byte.is_ascii_whitespace());
        let blank = line.trim_ascii().is_empty();
        if (!part || blank)
            && let Some(Ok(Framed::Object(text))) = frames.line(line)
            && let Ok(object) = object(&text)
            && !object.is_empty()
        {
            values.push(Value::Object(object));
        }
    }
    values
}

/// Whether a text of which no object could be read begins as server-sent events do.
fn fields(begin: &[u8]) -> bool {
    let data = begin.strip_prefix(b"data:").map(<[u8]>::trim_ascii_start);
    data.is_some_and(|data| data.starts_with(b"{") || data.starts_with(b"[DONE]"))
}

/// A document, or a line that is longer than the head.
fn document(begin: &[u8], told: &mut Head) {
    told.list = begin.starts_with(b"[");
    let one_line = !begin.trim_ascii_end().contains(&b'\n');
    told.shape = match one_line && !told.list {
        true => Shape::Lines,
        false => Shape::Document,
    };
    told.values = match completed(begin) {
        Some(Value::Array(items)) => items.into_iter().take(RECORDS).collect(),
        Some(value) => vec![value],
        None => Vec::new(),
    };
}

/// The value that begins so, cut after the last field or element that is whole.
fn completed(begin: &[u8]) -> Option<Value> {
    let mut open: Vec<u8> = Vec::new();
    let mut cut = (0, Vec::new());
    let (mut string, mut escaped) = (false, false);
    for (at, byte) in begin.iter().enumerate() {
        if string {
            string = escaped || *byte != b'"';
            escaped = *byte == b'\\' && !escaped;
            continue;
        }
        match byte {
            b'"' => string = true,
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
    serde_json::from_slice(&whole).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_value_is_completed() {
        let all = r#"{"a": [1, {"b": "x,}"}], "c": null}"#;
        for end in 1..=all.len() {
            let value = completed(&all.as_bytes()[..end]);
            assert!(value.is_some(), "{}", &all[..end]);
        }
        let value = completed(br#"{"a": [1, {"b": "x"}, {"c": "lon"#);
        assert_eq!(
            value.map(|v| v.to_string()).as_deref(),
            Some(r#"{"a":[1,{"b":"x"},{}]}"#)
        );
        assert_eq!(completed(b"]"), None);
    }
}
