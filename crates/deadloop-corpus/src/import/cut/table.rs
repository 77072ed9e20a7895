//! Parquet: a record for each row, an object of its columns, with lists and structs in them as JSON
//! has them. What JSON has no type for (dates, bytes) is text.
//!
//! The columns of a row group at a time are held in memory. They are read without polars' own tables,
//! which know structs only with features that nothing else here needs.

use std::collections::VecDeque;
use std::fs::File;

use polars_arrow::array::{
    Array, BinaryArray, BinaryViewArray, BooleanArray, DictionaryArray, ListArray, PrimitiveArray,
    StructArray, Utf8Array, Utf8ViewArray, get_display,
};
use polars_arrow::datatypes::{ArrowSchema, Field};
use polars_parquet::read::{
    BasicDecompressor, ColumnChunkMetadata, FileMetadata, PageReader, RowGroupMetadata,
    column_iter_to_arrays, infer_schema, read_metadata,
};
use serde_json::{Map, Value};

use super::{Content, Record};
use crate::formats::parquet::{broken, guarded, pages};
use crate::wire::Fault;
use crate::{Place, Problem};

pub(super) fn records(place: Place) -> Box<dyn Iterator<Item = Result<Record, Problem>> + Send> {
    match guarded(|| Table::open(place.clone())) {
        Ok(table) => Box::new(table),
        Err(fault) => Box::new(std::iter::once(Err(fault.at(place)))),
    }
}

struct Table {
    file: File,
    footer: FileMetadata,
    schema: ArrowSchema,
    groups: VecDeque<usize>,
    columns: Vec<Column>,
    /// Rows of the group that were not given yet.
    left: usize,
    /// The row given last, from 1.
    place: Place,
}

/// A column of a row group, in the arrays that the reader makes of it.
struct Column {
    name: String,
    arrays: VecDeque<Box<dyn Array>>,
    at: usize,
}

impl Table {
    fn open(place: Place) -> Result<Self, Fault> {
        let mut file = File::open(place.file.as_path()).map_err(broken)?;
        let footer = read_metadata(&mut file).map_err(broken)?;
        Ok(Self {
            file,
            schema: infer_schema(&footer).map_err(broken)?,
            groups: (0..footer.row_groups.len()).collect(),
            footer,
            columns: Vec::new(),
            left: 0,
            place: Place::new(place.file, 0),
        })
    }

    fn load(&mut self, group: usize) -> Result<(), Fault> {
        let group = &self.footer.row_groups[group];
        pages::check(&mut self.file, group)?;
        let columns = self.schema.iter().map(|(name, field)| {
            let arrays = arrays(&mut self.file, group, name, field)?;
            let name = name.to_string();
            let arrays = arrays.into();
            Ok(Column {
                name,
                arrays,
                at: 0,
            })
        });
        self.columns = columns.collect::<Result<_, _>>()?;
        self.left = group.num_rows();
        Ok(())
    }

    fn row(&mut self) -> Value {
        let cells = self.columns.iter_mut();
        let row: Map<String, Value> = cells
            .map(|column| (column.name.clone(), column.next()))
            .collect();
        Value::Object(row)
    }
}

impl Iterator for Table {
    type Item = Result<Record, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.left == 0 {
            let group = self.groups.pop_front()?;
            let rows = self.footer.row_groups[group].num_rows() as u64;
            if let Err(fault) = guarded(|| self.load(group)) {
                let place = Place::new(self.place.file.clone(), self.place.line + 1);
                self.place.line += rows;
                return Some(Err(fault.at(place)));
            }
        }
        self.left -= 1;
        self.place.line += 1;
        let row = guarded(|| Ok(self.row()));
        let place = self.place.clone();
        Some(match row {
            Ok(row) => Ok(Record {
                place,
                member: String::new(),
                content: Content::Json(row),
            }),
            Err(fault) => Err(fault.at(place)),
        })
    }
}

impl Column {
    fn next(&mut self) -> Value {
        while let Some(array) = self.arrays.front() {
            if self.at < array.len() {
                self.at += 1;
                return value(array.as_ref(), self.at - 1);
            }
            self.arrays.pop_front();
            self.at = 0;
        }
        Value::Null
    }
}

/// A column of a row group, read and decoded.
fn arrays(
    file: &mut File,
    group: &RowGroupMetadata,
    name: &str,
    field: &Field,
) -> Result<Vec<Box<dyn Array>>, Fault> {
    let parts = group.columns_under_root_iter(name);
    let parts: Vec<&ColumnChunkMetadata> = parts.into_iter().flatten().collect();
    let mut pages = Vec::new();
    for part in &parts {
        let bytes = pages::bytes(file, part)?;
        let reader = PageReader::new(bytes, part, Vec::new(), usize::MAX);
        pages.push(BasicDecompressor::new(reader, Vec::new()));
    }
    let types = parts
        .iter()
        .map(|part| &part.descriptor().descriptor.primitive_type);
    let read = column_iter_to_arrays(pages, types.collect(), field.clone(), None);
    Ok(read.map_err(broken)?.0)
}

/// A cell as JSON.
fn value(array: &dyn Array, at: usize) -> Value {
    if array.is_null(at) {
        return Value::Null;
    }
    let any = array.as_any();
    if let Some(texts) = any.downcast_ref::<Utf8ViewArray>() {
        Value::from(texts.value(at))
    } else if let Some(texts) = any.downcast_ref::<Utf8Array<i64>>() {
        Value::from(texts.value(at))
    } else if let Some(Ok(text)) = bytes(array, at).map(str::from_utf8) {
        // The text of dictionary columns comes as bytes.
        Value::from(text)
    } else if let Some(flags) = any.downcast_ref::<BooleanArray>() {
        Value::from(flags.value(at))
    } else if let Some(lists) = any.downcast_ref::<ListArray<i64>>() {
        let items = lists.value(at);
        let items = (0..items.len()).map(|at| value(items.as_ref(), at));
        Value::Array(items.collect())
    } else if let Some(structs) = any.downcast_ref::<StructArray>() {
        let fields = structs.fields().iter().zip(structs.values());
        let fields =
            fields.map(|(field, array)| (field.name.to_string(), value(array.as_ref(), at)));
        Value::Object(fields.collect())
    } else if let Some((values, key)) = entry(array, at) {
        value(values, key)
    } else {
        number(array, at).unwrap_or_else(|| {
            let mut text = String::new();
            let shown = get_display(array, "")(&mut text, at);
            shown.map_or(Value::Null, |()| Value::String(text))
        })
    }
}

/// The values of a dictionary, and which of them a cell is.
fn entry(array: &dyn Array, at: usize) -> Option<(&dyn Array, usize)> {
    macro_rules! of {
        ($($kind:ty),*) => {
            $(if let Some(names) = array.as_any().downcast_ref::<DictionaryArray<$kind>>() {
                let key = usize::try_from(names.keys().value(at)).ok()?;
                return Some((names.values().as_ref(), key));
            })*
        };
    }
    of!(i8, i16, i32, i64, u8, u16, u32, u64);
    None
}

fn bytes(array: &dyn Array, at: usize) -> Option<&[u8]> {
    let any = array.as_any();
    let viewed = any
        .downcast_ref::<BinaryViewArray>()
        .map(|all| all.value(at));
    viewed.or_else(|| Some(any.downcast_ref::<BinaryArray<i64>>()?.value(at)))
}

fn number(array: &dyn Array, at: usize) -> Option<Value> {
    macro_rules! of {
        ($($kind:ty),*) => {
            $(if let Some(numbers) = array.as_any().downcast_ref::<PrimitiveArray<$kind>>() {
                return Some(Value::from(numbers.value(at)));
            })*
        };
    }
    if is_time(array) {
        return None;
    }
    of!(i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);
    None
}

/// Dates and times are numbers beneath.
fn is_time(array: &dyn Array) -> bool {
    use polars_arrow::datatypes::ArrowDataType as Kind;
    matches!(
        array.dtype(),
        Kind::Date32
            | Kind::Date64
            | Kind::Time32(_)
            | Kind::Time64(_)
            | Kind::Timestamp(..)
            | Kind::Duration(_)
    )
}
