//! Decoded columns of a row group, and their rows as JSON.
//!
//! Lists and structs become those of JSON. Types that JSON lacks (dates, times, bytes) become text. polars' data frames
//! are not used, because they need further features of polars for structs, categories and dates.

use std::collections::VecDeque;
use std::fs::File;
use std::sync::Arc;

use polars_arrow::array::{
    Array, BinaryArray, BinaryViewArray, BooleanArray, DictionaryArray, ListArray, PrimitiveArray,
    StructArray, Utf8Array, Utf8ViewArray, get_display,
};
use polars_arrow::datatypes::{ArrowDataType, ArrowSchema, Field};
use polars_parquet::read::{
    BasicDecompressor, ColumnChunkMetadata, PageReader, RowGroupMetadata, column_iter_to_arrays,
};
use serde_json::Value;

use super::{broken_error, catch_panic, pages};
use crate::rows::{ParquetError, RowOfValues};

/// A row group in memory, read row by row.
#[derive(Default)]
pub(super) struct RowGroupValues {
    columns: Vec<DecodedColumn>,
    /// The number of rows not yet returned.
    rows_left: usize,
}

/// A column as decoded arrays, read cell by cell.
struct DecodedColumn {
    name: Arc<str>,
    arrays: VecDeque<Box<dyn Array>>,
    /// The index of the next cell in the first of the remaining arrays.
    next_index: usize,
}

impl RowGroupValues {
    /// Reads and decodes a row group.
    pub(super) fn read(
        file: &mut File,
        group: &RowGroupMetadata,
        schema: &ArrowSchema,
    ) -> Result<Self, ParquetError> {
        pages::check_group(file, group)?;
        let columns = schema.iter().map(|(name, field)| {
            Ok(DecodedColumn {
                name: Arc::from(name.as_str()),
                arrays: read_arrays(file, group, name, field)?.into(),
                next_index: 0,
            })
        });
        Ok(Self {
            columns: columns.collect::<Result<_, _>>()?,
            rows_left: group.num_rows(),
        })
    }

    /// Returns the next row, if any.
    pub(super) fn next_row(&mut self) -> Option<Result<RowOfValues, ParquetError>> {
        self.rows_left = self.rows_left.checked_sub(1)?;
        let columns = self.columns.iter_mut();
        // All columns advance before any cell is converted, so that a broken cell does not shift the columns.
        let cells: Vec<_> = columns
            .map(|column| (Arc::clone(&column.name), column.next_cell()))
            .collect();
        let json = |cell: Option<(&dyn Array, usize)>| {
            cell.map_or(Value::Null, |(array, at)| to_json(array, at))
        };
        Some(catch_panic(|| {
            Ok(cells
                .into_iter()
                .map(|(name, cell)| (name, json(cell)))
                .collect())
        }))
    }
}

impl DecodedColumn {
    /// Returns the next cell as an array and an index into it.
    fn next_cell(&mut self) -> Option<(&dyn Array, usize)> {
        while self
            .arrays
            .front()
            .is_some_and(|array| self.next_index >= array.len())
        {
            self.arrays.pop_front();
            self.next_index = 0;
        }
        self.next_index += 1;
        Some((self.arrays.front()?.as_ref(), self.next_index - 1))
    }
}

/// Reads and decodes a column of a row group.
fn read_arrays(
    file: &mut File,
    group: &RowGroupMetadata,
    name: &str,
    field: &Field,
) -> Result<Vec<Box<dyn Array>>, ParquetError> {
    let parts = group.columns_under_root_iter(name);
    let parts: Vec<&ColumnChunkMetadata> = parts.into_iter().flatten().collect();
    let mut pages = Vec::new();
    for part in &parts {
        let bytes = pages::read_column_bytes(file, part)?;
        let reader = PageReader::new(bytes, part, Vec::new(), usize::MAX);
        pages.push(BasicDecompressor::new(reader, Vec::new()));
    }
    let types = parts
        .iter()
        .map(|part| &part.descriptor().descriptor.primitive_type);
    let read = column_iter_to_arrays(pages, types.collect(), field.clone(), None);
    Ok(read.map_err(broken_error)?.0)
}

/// Converts a cell to JSON.
fn to_json(array: &dyn Array, at: usize) -> Value {
    if array.is_null(at) {
        return Value::Null;
    }
    let any = array.as_any();
    if let Some(texts) = any.downcast_ref::<Utf8ViewArray>() {
        Value::from(texts.value(at))
    } else if let Some(texts) = any.downcast_ref::<Utf8Array<i64>>() {
        Value::from(texts.value(at))
    } else if let Some(Ok(text)) = bytes_at(array, at).map(str::from_utf8) {
        // The text of dictionary columns comes as bytes.
        Value::from(text)
    } else if let Some(flags) = any.downcast_ref::<BooleanArray>() {
        Value::from(flags.value(at))
    } else if let Some(lists) = any.downcast_ref::<ListArray<i64>>() {
        let items = lists.value(at);
        let items = (0..items.len()).map(|at| to_json(items.as_ref(), at));
        Value::Array(items.collect())
    } else if let Some(structs) = any.downcast_ref::<StructArray>() {
        let fields = structs.fields().iter().zip(structs.values());
        let fields =
            fields.map(|(field, array)| (field.name.to_string(), to_json(array.as_ref(), at)));
        Value::Object(fields.collect())
    } else if let Some((values, key)) = dictionary_entry(array, at) {
        to_json(values, key)
    } else {
        number_at(array, at).unwrap_or_else(|| {
            let mut text = String::new();
            let shown = get_display(array, "")(&mut text, at);
            // A date and its time are joined as ISO 8601 has them.
            let text = match array.dtype() {
                ArrowDataType::Timestamp(..) => text.replacen(' ', "T", 1).replace(" +", "+"),
                _ => text,
            };
            shown.map_or(Value::Null, |()| Value::String(text))
        })
    }
}

/// Returns the values of a dictionary column, and the index of the cell's value. `None` for other columns.
fn dictionary_entry(array: &dyn Array, at: usize) -> Option<(&dyn Array, usize)> {
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

fn bytes_at(array: &dyn Array, at: usize) -> Option<&[u8]> {
    let any = array.as_any();
    let viewed = any
        .downcast_ref::<BinaryViewArray>()
        .map(|all| all.value(at));
    viewed.or_else(|| Some(any.downcast_ref::<BinaryArray<i64>>()?.value(at)))
}

fn number_at(array: &dyn Array, at: usize) -> Option<Value> {
    macro_rules! of {
        ($($kind:ty),*) => {
            $(if let Some(numbers) = array.as_any().downcast_ref::<PrimitiveArray<$kind>>() {
                return Some(Value::from(numbers.value(at)));
            })*
        };
    }
    if is_time(array.dtype()) {
        return None;
    }
    of!(i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);
    None
}

/// Returns whether a type is a date, a time or a duration, whose values are stored as numbers.
fn is_time(kind: &ArrowDataType) -> bool {
    use ArrowDataType as Kind;
    matches!(
        kind,
        Kind::Date32
            | Kind::Date64
            | Kind::Time32(_)
            | Kind::Time64(_)
            | Kind::Timestamp(..)
            | Kind::Duration(_)
    )
}
