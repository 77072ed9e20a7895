//! [`ParquetRows`]: the rows of any Parquet file as JSON.

use std::fs::File;

use polars_arrow::datatypes::ArrowSchema;
use polars_parquet::read::{FileMetadata, infer_schema, read_metadata};

use super::pages::check_footer;
use super::values::RowGroupValues;
use super::{broken_error, catch_panic};
use crate::rows::{ParquetError, RowOfValues, RowsError};

/// Iterator over the rows of a Parquet file. After an error, it continues with the rows behind it.
pub struct ParquetRows {
    file: File,
    footer: FileMetadata,
    schema: ArrowSchema,
    next_group: usize,
    /// The remaining rows of the current row group.
    group: RowGroupValues,
}

impl ParquetRows {
    /// Opens a file and reads its footer.
    ///
    /// # Errors
    ///
    /// The file is not a complete Parquet file.
    pub fn open(mut file: File) -> Result<Self, ParquetError> {
        catch_panic(|| {
            check_footer(&mut file)?;
            let footer = read_metadata(&mut file).map_err(broken_error)?;
            let schema = infer_schema(&footer).map_err(broken_error)?;
            Ok(Self {
                file,
                footer,
                schema,
                next_group: 0,
                group: RowGroupValues::default(),
            })
        })
    }
}

impl Iterator for ParquetRows {
    type Item = Result<RowOfValues, RowsError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(row) = self.group.next_row() {
                return Some(row.map_err(RowsError::Row));
            }
            let group = self.footer.row_groups.get(self.next_group)?;
            self.next_group += 1;
            match catch_panic(|| RowGroupValues::read(&mut self.file, group, &self.schema)) {
                Ok(group) => self.group = group,
                Err(why) => return Some(Err(RowsError::Group(group.num_rows() as u64, why))),
            }
        }
    }
}
