//! Parquet files, read and written by polars.

use std::fs::File;
use std::ops::Range;

use polars::error::PolarsError;
use polars::prelude::DataFrame;
use polars_io::SerReader;
use polars_io::parquet::read::{ParallelStrategy, ParquetReader};
use polars_io::parquet::write::{BatchedWriter, ParquetCompression};

use crate::rows::ParquetError;
use crate::schema::ColumnDoc;

mod pages;
mod panics;
mod rows;
mod values;

use panics::catch_silently;
pub use rows::ParquetRows;

/// Writer of a Parquet file by row groups, compressed with zstd.
pub struct ParquetWriter(BatchedWriter<File>);

impl ParquetWriter {
    /// Returns a writer of a file with these columns.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn new(file: File, columns: &[ColumnDoc]) -> Result<Self, ParquetError> {
        let types = columns.iter();
        let types = types
            .map(|doc| (doc.name.as_str().into(), doc.cell_type.data_type()))
            .collect();
        let writer = polars_io::parquet::write::ParquetWriter::new(file)
            .with_compression(ParquetCompression::Zstd(None))
            .set_parallel(false)
            .batched(&types)
            .map_err(write_error)?;
        Ok(Self(writer))
    }

    /// Writes a frame as a row group.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn write(&mut self, frame: &DataFrame) -> Result<(), ParquetError> {
        self.0.write_batch(frame).map_err(write_error)
    }

    /// Writes the footer.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(self) -> Result<(), ParquetError> {
        self.0.finish().map(|_| ()).map_err(write_error)
    }
}

fn write_error(error: PolarsError) -> ParquetError {
    ParquetError::Unwritten(error.to_string())
}

fn broken_error(error: impl std::fmt::Display) -> ParquetError {
    ParquetError::Broken(error.to_string())
}

/// Calls polars and converts a panic into an error, because polars panics on some broken files.
fn catch_panic<T>(work: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    catch_silently(work).ok_or(ParquetError::GaveUp)?
}

/// Reads a range of rows of the named columns, or of all if `columns` is empty. Missing columns and rows are omitted.
///
/// # Errors
///
/// The file is not a complete Parquet file.
pub fn read_parquet(
    mut file: File,
    columns: &[&str],
    rows: Range<usize>,
) -> Result<DataFrame, ParquetError> {
    pages::check_footer(&mut file)?;
    let read = || {
        let mut reader = ParquetReader::new(file);
        let schema = reader.schema()?;
        let there = columns.iter().filter(|c| schema.contains(c));
        let named = (!columns.is_empty()).then(|| there.map(|c| (*c).to_owned()).collect());
        // Reads on this thread, since the panic message of another thread would be printed.
        reader
            .read_parallel(ParallelStrategy::None)
            .with_columns(named)
            .with_slice(Some((rows.start, rows.len())))
            .finish()
    };
    catch_panic(|| read().map_err(|e: PolarsError| broken_error(e)))
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, SeekFrom, Write};

    use super::*;
    use crate::{floats, ints, texts};
    use polars::prelude::Column;

    fn written() -> File {
        let schema = crate::schema![u64;
            ("name", Text, "A name.", |n| (!n.is_multiple_of(10)).then_some("a")),
            ("n", Int, "A count.", |n| *n),
            ("x", Float, "A number.", |n| (n % 10 > 1).then_some(f64::INFINITY)),
        ];
        let mut file = tempfile::tempfile().unwrap();
        let handle = file.try_clone().unwrap();
        let mut writer = ParquetWriter::new(handle, &schema.docs()).unwrap();
        for group in 0..3 {
            let rows: Vec<u64> = (0..4).map(|row| 10 * group + row).collect();
            writer.write(&schema.frame(&rows)).unwrap();
        }
        writer.finish().unwrap();
        file.rewind().unwrap();
        file
    }

    #[test]
    fn what_is_written_is_read_in_parts_and_by_column() {
        let part = read_parquet(written(), &["x", "n", "absent"], 5..9).unwrap();
        assert_eq!((part.width(), part.height()), (2, 4));
        let never = Some(f64::INFINITY);
        let read: Vec<_> = ints(&part, "n").zip(floats(&part, "x")).collect();
        let expected = [
            (Some(11), None),
            (Some(12), never),
            (Some(13), never),
            (Some(20), None),
        ];
        assert_eq!(read, expected);
        let all = read_parquet(written(), &[], 0..usize::MAX).unwrap();
        assert_eq!(
            (all.get_column_names_owned(), all.height()),
            (["name", "n", "x"].map(Into::into).to_vec(), 12)
        );
        let names: Vec<_> = texts(&all, "name").skip(4).take(2).collect();
        assert_eq!(names, [None, Some("a")]);
    }

    #[test]
    fn the_same_rows_come_as_json() {
        let rows = ParquetRows::open(written()).unwrap();
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
        assert!(read_parquet(open(), &[], 0..1).is_err());
        assert!(ParquetRows::open(open()).is_err());
    }

    /// Reads a file of polars for Python, with categories, dates and other types.
    #[test]
    fn columns_of_any_type_become_json() {
        let sample = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/formats/parquet/types.parquet"
        );
        let rows = ParquetRows::open(File::open(sample).unwrap()).unwrap();
        let rows: Vec<_> = rows.map(Result::unwrap).collect();
        let object: serde_json::Map<_, _> = rows[0]
            .iter()
            .map(|(name, cell)| (name.to_string(), cell.clone()))
            .collect();
        let expected = serde_json::json!({
            "quality": "good", "at": "2025-01-02T03:04:05", "at_ns": "2025-01-02T03:04:05",
            "at_utc": "2025-01-02T03:04:05+00:00", "at_paris": "2025-01-02T03:04:05 CET",
            "day": "2025-01-02", "clock": "03:04:05", "took": "61005000us", "tags": ["x", "y"],
            "who": {"n": 1, "s": "p"}, "raw": "ab", "u": 1, "f": 1.5, "ok": true,
        });
        for (name, cell) in expected.as_object().unwrap() {
            assert_eq!(object.get(name), Some(cell), "{name}");
        }
    }

    fn read_as_rows(bytes: &[u8]) -> Option<usize> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        let rows = ParquetRows::open(file).ok()?.take(100);
        rows.map(Result::ok)
            .collect::<Option<Vec<_>>>()
            .map(|rows| rows.len())
    }

    /// Checks that files cut or changed at any byte yield rows or an error, and no abort. polars allocates as much memory
    /// as a corrupt file declares.
    #[test]
    fn a_cut_or_spoilt_file_is_an_error_or_does_no_harm() {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut written(), &mut bytes).unwrap();
        for cut in [4, 5, 12, bytes.len() / 2, bytes.len() - 9, bytes.len() - 1] {
            assert_eq!(read_as_rows(&bytes[..cut]), None, "cut at {cut}");
        }
        for at in 4..bytes.len() {
            for byte in [0, 1, 0x15, 0x7f, 0x80, 0xff, bytes[at] ^ 0x08] {
                let mut spoilt = bytes.clone();
                spoilt[at] = byte;
                read_as_rows(&spoilt);
            }
        }
    }
}
