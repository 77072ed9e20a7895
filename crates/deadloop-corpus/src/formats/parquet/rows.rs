//! Reading Parquet with polars, a row group at a time.
//!
//! polars panics on some broken files: a panic inside it is caught and told as a problem.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use polars::prelude::{AnyValue, Column, DataType};
use polars_io::SerReader;
use polars_io::parquet::read::{FileMetadata, ParallelStrategy, ParquetReader, infer_schema};
use polars_parquet::read::read_metadata;
use serde_json::Value;

use super::{REST, pages};
use crate::digest::RecordDigest;
use crate::formats::{Record, Records, Source};
use crate::raws::Raw;
use crate::wire::{self, Fault, Wire};
use crate::{Place, Problem};

/// The rows of a file, or the one problem that it has as a whole.
pub(super) fn read(mut source: Source) -> Records {
    match guarded(|| footer(&mut source.file)) {
        Ok(footer) => Box::new(Rows {
            source,
            footer: Arc::new(footer),
            next_group: 0,
            line: 0,
            group: None,
        }),
        Err(fault) => Box::new(std::iter::once(Err(fault.at(source.place(0))))),
    }
}

/// The file's own description, its columns checked.
fn footer(file: &mut File) -> Result<FileMetadata, Fault> {
    let footer = read_metadata(file).map_err(broken)?;
    let schema = infer_schema(&footer).map_err(broken)?;
    if !schema.contains("id") {
        return Err(Fault::new("no column `id`", "a column `id` of text"));
    }
    for (name, field) in schema.iter() {
        check_column(name, &DataType::from_arrow_field(field))?;
    }
    Ok(footer)
}

fn check_column(name: &str, kind: &DataType) -> Result<(), Fault> {
    let text = *kind == DataType::String;
    let simple = text || kind.is_primitive_numeric() || kind.is_bool() || kind.is_null();
    if text || (simple && !wire::is_known(name) && name != REST) {
        return Ok(());
    }
    let what = format!("the column `{name}` is of type {kind}");
    let json = ["events", "labels", "meta", REST].contains(&name);
    Err(Fault::new(
        what,
        if json || !simple {
            "text (JSON)"
        } else {
            "text"
        },
    ))
}

pub(crate) fn broken(error: impl std::fmt::Display) -> Fault {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    Fault::new(format!("broken Parquet: {first}"), "a whole Parquet file")
}

/// Runs something of polars, panics included.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(broken("the reader gave up")))
}

struct Rows {
    source: Source,
    footer: Arc<FileMetadata>,
    next_group: usize,
    /// The row read last, from 1.
    line: u64,
    group: Option<Group>,
}

/// A row group in memory.
struct Group {
    columns: Vec<(Arc<str>, Column)>,
    height: usize,
    next: usize,
}

impl Iterator for Rows {
    type Item = Result<Raw, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(row) = self.group.as_mut().and_then(Group::row) {
                self.line += 1;
                return Some(self.raw(row));
            }
            let footer = Arc::clone(&self.footer);
            let group = footer.row_groups.get(self.next_group)?;
            self.next_group += 1;
            self.source.progress.add(group.compressed_size() as u64);
            match guarded(|| self.load(self.next_group - 1)) {
                Ok(group) => self.group = Some(group),
                Err(fault) => {
                    self.group = None;
                    let place = self.source.place(self.line + 1);
                    self.line += group.num_rows() as u64;
                    return Some(Err(fault.at(place)));
                }
            }
        }
    }
}

impl Rows {
    fn raw(&self, row: Result<Row, Fault>) -> Result<Raw, Problem> {
        let place: Place = self.source.place(self.line);
        match row {
            Ok(row) => Ok(Raw::new(place, Box::new(row))),
            Err(fault) => Err(fault.at(place)),
        }
    }

    /// Reads one row group: polars is shown a file that has no other.
    fn load(&self, at: usize) -> Result<Group, Fault> {
        let group = self.footer.row_groups[at].clone();
        let mut file = self.source.file.try_clone().map_err(broken)?;
        pages::check(&mut file, &group)?;
        let height = group.num_rows();
        let footer = FileMetadata {
            num_rows: height,
            max_row_group_height: height,
            row_groups: vec![group],
            ..FileMetadata::clone(&self.footer)
        };
        let mut reader = ParquetReader::new(file).read_parallel(ParallelStrategy::None);
        reader.set_metadata(Arc::new(footer));
        let frame = reader.finish().map_err(broken)?;
        let height = frame.height();
        let columns = frame.into_columns().into_iter();
        let columns = columns.map(|column| (Arc::from(column.name().as_str()), column));
        Ok(Group {
            columns: columns.collect(),
            height,
            next: 0,
        })
    }
}

impl Group {
    fn row(&mut self) -> Option<Result<Row, Fault>> {
        if self.next == self.height {
            return None;
        }
        let at = self.next;
        self.next += 1;
        let cells = self.columns.iter();
        let cells = cells.map(|(name, column)| Ok((Arc::clone(name), cell(column, at)?)));
        Some(cells.collect::<Result<_, _>>().map(Row))
    }
}

fn cell(column: &Column, at: usize) -> Result<Value, Fault> {
    let value = column.get(at).map_err(broken)?;
    // A column of one row holds its text another way than others; `get_str` knows both.
    if let Some(text) = value.get_str() {
        return Ok(Value::from(text));
    }
    match value {
        AnyValue::Null => Ok(Value::Null),
        AnyValue::Boolean(value) => Ok(Value::from(value)),
        number => Ok(whole(&number).unwrap_or_else(|| fraction(&number))),
    }
}

fn whole(number: &AnyValue<'_>) -> Option<Value> {
    if number.dtype().is_float() {
        return None;
    }
    let unsigned = number.extract::<u64>().map(Value::from);
    unsigned.or_else(|| number.extract::<i64>().map(Value::from))
}

/// A float that JSON cannot say becomes null.
fn fraction(number: &AnyValue<'_>) -> Value {
    number.extract::<f64>().map_or(Value::Null, Value::from)
}

/// A row: its cells in the order of the columns.
struct Row(Vec<(Arc<str>, Value)>);

impl Record for Row {
    fn decode(&self) -> Result<Wire, Fault> {
        let mut wire = Wire::empty();
        for (name, value) in &self.0 {
            match value {
                Value::Null => {}
                Value::String(text) => put(&mut wire, name, text)?,
                other => add(&mut wire, name, other.clone())?,
            }
        }
        Ok(wire)
    }

    fn digest(&self) -> RecordDigest {
        let cells: Vec<String> = self.0.iter().map(|(_, value)| value.to_string()).collect();
        let names = self.0.iter().map(|(name, _)| name.as_bytes());
        let cells = cells.iter().map(|cell| cell.as_bytes());
        RecordDigest::of(names.zip(cells).flat_map(|(name, cell)| [name, cell]))
    }

    fn bytes(&self) -> usize {
        let cell = |value: &Value| value.as_str().map_or(8, str::len);
        self.0.iter().map(|(_, value)| cell(value)).sum()
    }
}

fn put(wire: &mut Wire, name: &str, text: &str) -> Result<(), Fault> {
    match name {
        "events" => wire
            .put_events(text)
            .map_err(|fault| fault.inside("`events`")),
        "labels" | "meta" => add(wire, name, json(name, text)?),
        REST => rest(wire, json(name, text)?),
        _ => add(wire, name, Value::from(text)),
    }
}

fn json(name: &str, text: &str) -> Result<Value, Fault> {
    serde_json::from_str(text).map_err(|e| Fault::json(&e).inside(&format!("`{name}`")))
}

fn rest(wire: &mut Wire, value: Value) -> Result<(), Fault> {
    let Value::Object(fields) = value else {
        return Err(Fault::new(
            format!("`{REST}` is no object"),
            "a JSON object",
        ));
    };
    fields
        .into_iter()
        .try_for_each(|(name, value)| add(wire, &name, value))
}

fn add(wire: &mut Wire, name: &str, value: Value) -> Result<(), Fault> {
    if wire.put(name.to_owned(), value) {
        Ok(())
    } else {
        Err(Fault::new(
            format!("`{name}` stands here twice"),
            "each field once",
        ))
    }
}
