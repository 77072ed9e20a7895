//! Reading Parquet, a row group at a time.
//!
//! polars panics on some broken files: a panic inside it is caught and told as a problem.

use std::fs::File;

use polars_arrow::datatypes::{ArrowDataType, ArrowSchema};
use polars_parquet::read::{FileMetadata, infer_schema, read_metadata};
use serde_json::Value;

use super::REST;
use super::columns::{self, Columns, is_kept, is_text};
use crate::files::formats::{Record, Records, Source};
use crate::files::{Raw, RecordDigest, caught};
use crate::transcript::wire::{self, Wire, WireFault};
use crate::{Cost, Place, Problem};

/// The rows of a file, or the one problem that it has as a whole.
pub(super) fn read(mut source: Source) -> Records {
    match guarded(|| footer(&mut source.file)) {
        Ok((footer, schema)) => Box::new(Rows {
            source,
            footer,
            schema,
            next_group: 0,
            line: 0,
            group: Columns::default(),
        }),
        Err(fault) => {
            let problem = fault.costing(Cost::Unread).at(source.place(0));
            Box::new(std::iter::once(Err(problem)))
        }
    }
}

/// The file's own description, its columns checked.
fn footer(file: &mut File) -> Result<(FileMetadata, ArrowSchema), WireFault> {
    let footer = read_metadata(file).map_err(broken)?;
    let schema = infer_schema(&footer).map_err(broken)?;
    if !schema.contains("id") {
        return Err(WireFault::new("no column `id`", "a column `id` of text"));
    }
    for (name, field) in schema.iter() {
        check_column(name, field.dtype())?;
    }
    Ok((footer, schema))
}

fn check_column(name: &str, kind: &ArrowDataType) -> Result<(), WireFault> {
    let known = wire::is_known(name) || name == REST;
    // A column without any value has no type of its own.
    let empty = *kind == ArrowDataType::Null && name != "id";
    if is_text(kind) || empty || (is_kept(kind) && !known) {
        return Ok(());
    }
    let what = format!("the column `{name}` is of type {}", in_words(kind));
    let json = !known || ["events", "labels", "meta", REST].contains(&name);
    Err(WireFault::new(
        what,
        if json { "text (JSON)" } else { "text" },
    ))
}

/// A type as polars and others call it.
fn in_words(kind: &ArrowDataType) -> String {
    let name = format!("{kind:?}");
    let name = name.split(['(', '{', ' ']).next().unwrap_or_default();
    match (
        name.strip_prefix("Int"),
        name.strip_prefix("UInt"),
        name.strip_prefix("Float"),
    ) {
        (Some(bits), ..) => format!("i{bits}"),
        (_, Some(bits), _) => format!("u{bits}"),
        (_, _, Some(bits)) => format!("f{bits}"),
        _ => name.to_lowercase(),
    }
}

pub(crate) fn broken(error: impl std::fmt::Display) -> WireFault {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    WireFault::new(format!("broken Parquet: {first}"), "a whole Parquet file")
}

/// Runs something of polars, panics included.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, WireFault>) -> Result<T, WireFault> {
    caught(work).unwrap_or_else(|| Err(broken("the reader gave up")))
}

struct Rows {
    source: Source,
    footer: FileMetadata,
    schema: ArrowSchema,
    next_group: usize,
    /// The row read last, from 1.
    line: u64,
    group: Columns,
}

impl Iterator for Rows {
    type Item = Result<Raw, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(row) = self.group.row() {
                self.line += 1;
                return Some(self.raw(row));
            }
            let group = self.footer.row_groups.get(self.next_group)?;
            self.next_group += 1;
            self.source.progress.add(group.compressed_size() as u64);
            let file = &mut self.source.file;
            match guarded(|| Columns::read(file, group, &self.schema)) {
                Ok(group) => self.group = group,
                Err(fault) => {
                    let place = self.source.place(self.line + 1);
                    self.line += group.num_rows() as u64;
                    return Some(Err(fault.costing(Cost::Unread).at(place)));
                }
            }
        }
    }
}

impl Rows {
    fn raw(&self, row: Result<columns::Row, WireFault>) -> Result<Raw, Problem> {
        let place: Place = self.source.place(self.line);
        match row {
            Ok(row) => Ok(Raw::new(place, Box::new(Row(row)))),
            Err(fault) => Err(fault.at(place)),
        }
    }
}

/// A row.
struct Row(columns::Row);

impl Record for Row {
    fn decode(&self) -> Result<Wire, WireFault> {
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

fn put(wire: &mut Wire, name: &str, text: &str) -> Result<(), WireFault> {
    match name {
        "events" => wire
            .put_events(text)
            .map_err(|fault| fault.inside("`events`")),
        "labels" | "meta" => add(wire, name, json(name, text)?),
        REST => rest(wire, json(name, text)?),
        _ => add(wire, name, Value::from(text)),
    }
}

fn json(name: &str, text: &str) -> Result<Value, WireFault> {
    crate::transcript::wire::value(text).map_err(|fault| fault.inside(&format!("`{name}`")))
}

fn rest(wire: &mut Wire, value: Value) -> Result<(), WireFault> {
    let Value::Object(fields) = value else {
        return Err(WireFault::new(
            format!("`{REST}` is no object"),
            "a JSON object",
        ));
    };
    fields
        .into_iter()
        .try_for_each(|(name, value)| add(wire, &name, value))
}

fn add(wire: &mut Wire, name: &str, value: Value) -> Result<(), WireFault> {
    if wire.put(name.to_owned(), value) {
        Ok(())
    } else {
        Err(WireFault::new(
            format!("`{name}` stands here twice"),
            "each field once",
        ))
    }
}
