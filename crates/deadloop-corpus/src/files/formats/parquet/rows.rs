//! Reads Parquet, one row group at a time.

use deadloop_tables::{Holds, Lost, ParquetRows, RowColumn, RowOfValues};
use serde_json::Value;

use super::{REST, fault};
use crate::files::formats::{Record, Records, Source};
use crate::files::{Raw, RecordDigest};
use crate::transcript::wire::{self, Wire, WireFault};
use crate::{Cost, Problem};

/// Returns the rows of a file, or the one problem of the whole file.
pub(super) fn read(source: Source) -> Records {
    match open(&source) {
        Ok(rows) => Box::new(Rows {
            source,
            rows,
            line: 0,
        }),
        Err(fault) => {
            let problem = fault.costing(Cost::Unread).at(source.place(0));
            Box::new(std::iter::once(Err(problem)))
        }
    }
}

/// Opens the rows of a file and checks its columns.
fn open(source: &Source) -> Result<ParquetRows, WireFault> {
    let unread = |e: std::io::Error| fault(deadloop_tables::ParquetError::Broken(e.to_string()));
    let file = source.file.try_clone().map_err(unread)?;
    let rows = ParquetRows::open(file).map_err(fault)?;
    let columns = rows.columns();
    if !columns.iter().any(|column| column.name == "id") {
        return Err(WireFault::new("no column `id`", "a column `id` of text"));
    }
    columns.iter().try_for_each(check_column)?;
    Ok(rows)
}

fn check_column(column: &RowColumn) -> Result<(), WireFault> {
    let name = column.name.as_str();
    let known = wire::is_known(name) || name == REST;
    let fits = match column.holds {
        Holds::Text => true,
        // A column without values has no type of its own.
        Holds::Nothing => name != "id",
        Holds::Value => !known,
        Holds::Other => false,
    };
    if fits {
        return Ok(());
    }
    let what = format!("the column `{name}` is of type {}", column.type_name);
    let json = !known || ["events", "labels", "meta", REST].contains(&name);
    Err(WireFault::new(
        what,
        if json { "text (JSON)" } else { "text" },
    ))
}

struct Rows {
    source: Source,
    rows: ParquetRows,
    /// The number of the last row, from 1.
    line: u64,
}

impl Iterator for Rows {
    type Item = Result<Raw, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        let before = self.rows.bytes_begun();
        let row = self.rows.next()?;
        self.source.progress.add(self.rows.bytes_begun() - before);
        let place = self.source.place(self.line + 1);
        self.line += match &row {
            Err(Lost::Group(rows, _)) => *rows,
            Ok(_) | Err(Lost::Row(_)) => 1,
        };
        Some(match row {
            Ok(row) => Ok(Raw::new(place, Box::new(Row(row)))),
            Err(Lost::Row(why)) => Err(fault(why).at(place)),
            Err(Lost::Group(_, why)) => Err(fault(why).costing(Cost::Unread).at(place)),
        })
    }
}

/// A row as a record, whose columns are the fields.
struct Row(RowOfValues);

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
        RecordDigest::from_parts(names.zip(cells).flat_map(|(name, cell)| [name, cell]))
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
