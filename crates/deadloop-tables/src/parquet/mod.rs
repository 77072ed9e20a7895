//! Tables as Parquet, by polars.

use std::fs::File;
use std::ops::Range;
use std::sync::Arc;

use polars::error::PolarsError;
use polars::prelude::{Column, DataFrame, DataType, NamedFrom, Series};
use polars_io::SerReader;
use polars_io::parquet::read::{ParallelStrategy, ParquetReader};
use polars_io::parquet::write::{BatchedWriter, ParquetCompression};

use crate::rows::ParquetError;
use crate::table::{Cells, Schema, Table, Type};

mod caught;
mod pages;
mod rows;
mod values;

use caught::caught;
pub(crate) use rows::Rows;

/// What writes a file.
pub(crate) struct Writer(BatchedWriter<File>);

impl Writer {
    pub(crate) fn new(file: File, schema: &Schema) -> Result<Self, ParquetError> {
        let types = schema
            .iter()
            .map(|(name, of)| (name.as_str().into(), data_type(*of)))
            .collect();
        let writer = polars_io::parquet::write::ParquetWriter::new(file)
            .with_compression(ParquetCompression::Zstd(None))
            .set_parallel(false)
            .batched(&types)
            .map_err(unwritten)?;
        Ok(Self(writer))
    }

    pub(crate) fn write(&mut self, table: Table) -> Result<(), ParquetError> {
        let frame = frame(table).map_err(broken)?;
        self.0.write_batch(&frame).map_err(unwritten)
    }

    pub(crate) fn finish(self) -> Result<(), ParquetError> {
        self.0.finish().map(|_| ()).map_err(unwritten)
    }
}

fn unwritten(error: PolarsError) -> ParquetError {
    ParquetError::Unwritten(error.to_string())
}

fn broken(error: impl std::fmt::Display) -> ParquetError {
    ParquetError::Broken(error.to_string())
}

/// Runs something of polars, which panics on some broken files.
fn guarded<T>(work: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    caught(work).ok_or(ParquetError::GaveUp)?
}

/// The columns that a Parquet file has, and how many rows.
///
/// # Errors
/// It is no whole Parquet file.
pub fn parquet_shape(file: File) -> Result<(Vec<String>, usize), ParquetError> {
    guarded(|| {
        let mut reader = ParquetReader::new(file);
        let schema = reader.schema().map_err(broken)?;
        let names = schema.iter_names().map(ToString::to_string).collect();
        Ok((names, reader.num_rows().map_err(broken)?))
    })
}

/// Reads some rows of those of the named columns that a Parquet file has, or with none named of all. Rows past the end
/// are not there.
///
/// # Errors
/// It is no whole Parquet file, or a column has another type than [`Type`] knows.
pub fn read_parquet(
    file: File,
    columns: &[&str],
    rows: Range<usize>,
) -> Result<Table, ParquetError> {
    let read = || {
        let mut reader = ParquetReader::new(file);
        let schema = reader.schema()?;
        let there = columns.iter().filter(|c| schema.contains(c));
        let named = (!columns.is_empty()).then(|| there.map(|c| (*c).to_owned()).collect());
        // On this thread: a panic of another could not be kept off the terminal.
        let frame = reader
            .read_parallel(ParallelStrategy::None)
            .with_columns(named)
            .with_slice(Some((rows.start, rows.len())))
            .finish()?;
        let rows = frame.height();
        // One column after the other is dropped, so that the table is never there twice.
        let columns = frame
            .into_columns()
            .into_iter()
            .map(|c| Ok((c.name().to_string(), cells(&c)?)));
        let columns: Result<Vec<_>, PolarsError> = columns.collect();
        Ok(Table::of(columns?, rows))
    };
    guarded(|| read().map_err(|e: PolarsError| broken(e)))
}

fn data_type(of: Type) -> DataType {
    match of {
        Type::Text => DataType::String,
        Type::Int => DataType::Int64,
        Type::Float => DataType::Float64,
    }
}

fn frame(table: Table) -> Result<DataFrame, PolarsError> {
    let column = |(name, cells): (String, Cells)| -> Column {
        let name = name.as_str().into();
        match cells {
            Cells::Text(cells) => {
                let texts: Vec<Option<&str>> = cells.iter().map(Option::as_deref).collect();
                Series::new(name, texts).into()
            }
            Cells::Int(cells) => Series::new(name, cells).into(),
            Cells::Float(cells) => Series::new(name, cells).into(),
        }
    };
    let rows = table.rows();
    DataFrame::new(rows, table.into_columns().into_iter().map(column).collect())
}

fn cells(column: &Column) -> Result<Cells, PolarsError> {
    Ok(match column.dtype() {
        DataType::Int64 => Cells::Int(column.i64()?.iter().collect()),
        DataType::Float64 => Cells::Float(column.f64()?.iter().collect()),
        _ => Cells::Text(shared(column.str()?.iter())),
    })
}

/// Texts of which one that stands in several rows in a row is there once.
fn shared<'a>(texts: impl Iterator<Item = Option<&'a str>>) -> Vec<Option<Arc<str>>> {
    let mut last: Option<Arc<str>> = None;
    let one = |text: Option<&str>| {
        if last.as_deref() != text {
            last = text.map(Arc::from);
        }
        last.clone()
    };
    texts.map(one).collect()
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, SeekFrom, Write};

    use super::*;
    use crate::table::{TableCell, named};
    use crate::{ParquetRows, ParquetWriter};

    fn written() -> File {
        let schema = [
            named(&["name"], Type::Text),
            named(&["n"], Type::Int),
            named(&["x"], Type::Float),
        ]
        .concat();
        let mut file = tempfile::tempfile().unwrap();
        let mut writer = ParquetWriter::new(file.try_clone().unwrap(), &schema).unwrap();
        for group in 0..3 {
            let mut table = Table::new(&schema);
            for row in 0..4 {
                table.push(vec![
                    TableCell::maybe((row > 0).then_some("a")),
                    TableCell::count(10 * group + row),
                    TableCell::Float((row > 1).then_some(f64::INFINITY)),
                ]);
            }
            writer.write(table).unwrap();
        }
        writer.finish().unwrap();
        file.rewind().unwrap();
        file
    }

    #[test]
    fn what_is_written_is_read_in_parts_and_by_column() {
        let open = || written();
        let (names, rows) = parquet_shape(open()).unwrap();
        assert_eq!((names.join(" "), rows), ("name n x".to_owned(), 12));
        let part = read_parquet(open(), &["x", "n", "absent"], 5..9).unwrap();
        assert_eq!((part.names().count(), part.rows()), (2, 4));
        let read: Vec<_> = (0..4)
            .map(|row| (part.int("n", row), part.number("x", row)))
            .collect();
        let never = Some(f64::INFINITY);
        let expected = [
            (Some(11), None),
            (Some(12), never),
            (Some(13), never),
            (Some(20), None),
        ];
        assert_eq!(read, expected);
        let all = read_parquet(open(), &[], 0..usize::MAX).unwrap();
        assert_eq!(
            (all.text("name", 4), all.text("name", 5)),
            (None, Some("a"))
        );
    }

    #[test]
    fn the_same_rows_come_as_json() {
        let rows = ParquetRows::open(written()).unwrap();
        assert_eq!(
            rows.columns()
                .iter()
                .map(|c| c.type_name.as_str())
                .collect::<Vec<_>>(),
            ["utf8view", "i64", "f64"]
        );
        let rows: Vec<_> = rows.map(Result::unwrap).collect();
        assert_eq!(rows.len(), 12);
        let cells: Vec<String> = rows[5].iter().map(|(_, cell)| cell.to_string()).collect();
        assert_eq!(cells, ["\"a\"", "11", "null"]);
    }

    #[test]
    fn what_other_tools_pack_with_is_read() {
        for packing in [
            ParquetCompression::Snappy,
            ParquetCompression::Gzip(None),
            ParquetCompression::Uncompressed,
        ] {
            let column = Column::new("id".into(), ["a", "b"]);
            let mut frame = DataFrame::new_infer_height(vec![column]).unwrap();
            let mut file = tempfile::tempfile().unwrap();
            polars_io::parquet::write::ParquetWriter::new(file.try_clone().unwrap())
                .with_compression(packing)
                .finish(&mut frame)
                .unwrap();
            file.rewind().unwrap();
            let rows: Vec<_> = ParquetRows::open(file)
                .unwrap()
                .map(Result::unwrap)
                .collect();
            assert_eq!((rows.len(), rows[1][0].1.as_str()), (2, Some("b")));
        }
    }

    #[test]
    fn a_file_that_is_none_is_an_error() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"PAR1 and nothing else").unwrap();
        file.seek(SeekFrom::Start(0)).unwrap();
        let open = || file.try_clone().unwrap();
        assert!(parquet_shape(open()).is_err());
        assert!(read_parquet(open(), &[], 0..1).is_err());
        assert!(ParquetRows::open(open()).is_err());
    }
}
