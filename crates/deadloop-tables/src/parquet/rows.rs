//! The rows of any Parquet file as JSON, by row groups.

use std::fs::File;

use polars_arrow::datatypes::{ArrowDataType, ArrowSchema};
use polars_parquet::read::{FileMetadata, infer_schema, read_metadata};

use super::values::{Values, is_kept, is_text};
use super::{broken, guarded};
use crate::rows::{Holds, Lost, ParquetError, RowColumn, RowOfValues};

/// The rows of a Parquet file in order. Reading continues after an error with the rows behind it.
pub struct ParquetRows {
    file: File,
    footer: FileMetadata,
    schema: ArrowSchema,
    next_group: usize,
    begun: u64,
    group: Values,
}

impl ParquetRows {
    /// Reads the footer of the file.
    ///
    /// # Errors
    /// The file is not a complete Parquet file.
    pub fn open(mut file: File) -> Result<Self, ParquetError> {
        guarded(|| {
            let footer = read_metadata(&mut file).map_err(broken)?;
            let schema = infer_schema(&footer).map_err(broken)?;
            Ok(Self {
                file,
                footer,
                schema,
                next_group: 0,
                begun: 0,
                group: Values::default(),
            })
        })
    }

    /// Returns the columns in order.
    pub fn columns(&self) -> Vec<RowColumn> {
        let column = |(name, kind): (String, &ArrowDataType)| RowColumn {
            name,
            holds: match kind {
                text if is_text(text) => Holds::Text,
                ArrowDataType::Null => Holds::Nothing,
                kept if is_kept(kept) => Holds::Value,
                _ => Holds::Other,
            },
            type_name: type_name(kind),
        };
        let columns = self.schema.iter();
        columns
            .map(|(name, field)| column((name.to_string(), field.dtype())))
            .collect()
    }

    /// Returns the packed size in bytes of the row groups begun so far.
    pub fn bytes_begun(&self) -> u64 {
        self.begun
    }
}

impl Iterator for ParquetRows {
    type Item = Result<RowOfValues, Lost>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(row) = self.group.row() {
                return Some(row.map_err(Lost::Row));
            }
            let group = self.footer.row_groups.get(self.next_group)?;
            self.next_group += 1;
            self.begun += group.compressed_size() as u64;
            match guarded(|| Values::read(&mut self.file, group, &self.schema)) {
                Ok(group) => self.group = group,
                Err(why) => return Some(Err(Lost::Group(group.num_rows() as u64, why))),
            }
        }
    }
}

/// Returns the name of a type as polars and other tools spell it.
fn type_name(kind: &ArrowDataType) -> String {
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
