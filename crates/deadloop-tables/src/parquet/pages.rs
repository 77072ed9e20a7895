//! Checks of a file's footer and of its pages before polars decodes them.
//!
//! polars allocates as many values and bytes as a file declares. A damaged byte can declare a huge number, and the
//! failed allocation ends the process. So all declared sizes must be consistent with each other and with the file's
//! length.

use std::fs::File;
use std::io::{Cursor, Read, Seek, SeekFrom};

use polars_buffer::Buffer;
use polars_parquet::read::{ColumnChunkMetadata, RowGroupMetadata};
use polars_parquet_format::thrift::protocol::TCompactInputProtocol;
use polars_parquet_format::{FileMetaData, PageHeader};

use super::broken_error;
use crate::rows::ParquetError;

/// The maximum number of values of a column in one row group, many times what any tool writes.
const MAX_VALUES: usize = 1 << 26;
/// The maximum size of an uncompressed page in bytes, unless its column declares more.
const MAX_PAGE_BYTES: i64 = 64 << 20;

/// The maximum number of bytes that a list of the footer may take for each byte of the footer.
const MAX_FOOTER_FACTOR: u64 = 16;

/// Checks that no list of the footer declares more elements than the footer can hold. Leaves the file at its start.
///
/// # Errors
///
/// A list is too long, or the footer is broken.
pub(super) fn check_footer(file: &mut File) -> Result<(), ParquetError> {
    let size = file.seek(SeekFrom::End(0)).map_err(broken_error)?;
    let mut end = [0; 8];
    let is_read =
        size > 8 && file.seek(SeekFrom::End(-8)).is_ok() && file.read_exact(&mut end).is_ok();
    let length = u64::from(u32::from_le_bytes([end[0], end[1], end[2], end[3]]));
    // polars reports a file without a footer.
    if is_read && length + 8 <= size {
        file.seek(SeekFrom::Start(size - 8 - length))
            .map_err(broken_error)?;
        let most = usize::try_from(MAX_FOOTER_FACTOR * length).unwrap_or(usize::MAX);
        let mut footer = TCompactInputProtocol::new(file.take(length), most);
        FileMetaData::read_from_in_protocol(&mut footer).map_err(broken_error)?;
    }
    file.rewind().map_err(broken_error)
}

/// Checks all declared sizes of a row group.
///
/// # Errors
///
/// The sizes are inconsistent, so the group must not be decoded.
pub(super) fn check_group(file: &mut File, group: &RowGroupMetadata) -> Result<(), ParquetError> {
    let size = file.metadata().map_err(broken_error)?.len();
    if group.byte_ranges_iter().any(|range| range.end > size) {
        return Err(broken_error("a row group lies past the end"));
    }
    if group.num_rows() > MAX_VALUES {
        return Err(broken_error("a row group with too many rows"));
    }
    for column in group.parquet_columns() {
        check_column(read_column_bytes(file, column)?, column, group.num_rows())?;
    }
    Ok(())
}

/// Reads the compressed bytes of a column.
pub(super) fn read_column_bytes(
    file: &mut File,
    column: &ColumnChunkMetadata,
) -> Result<Cursor<Buffer<u8>>, ParquetError> {
    let range = column.byte_range();
    let mut bytes = vec![0; (range.end - range.start) as usize];
    file.seek(SeekFrom::Start(range.start))
        .map_err(broken_error)?;
    file.read_exact(&mut bytes).map_err(broken_error)?;
    Ok(Cursor::new(Buffer::from(bytes)))
}

/// Checks that a column consists of an optional dictionary and of pages with all its values.
fn check_column(
    mut bytes: Cursor<Buffer<u8>>,
    column: &ColumnChunkMetadata,
    rows: usize,
) -> Result<(), ParquetError> {
    let values = column.num_values();
    // A list has a value for each of its elements, other types one a row.
    let flat = column.descriptor().descriptor.max_rep_level == 0;
    let known = usize::try_from(values).unwrap_or(usize::MAX);
    if known > MAX_VALUES || known < rows || (flat && known != rows) {
        let what = format!("a column of {values} values in a group of {rows} rows");
        return Err(broken_error(what));
    }
    let mut left = values;
    while left > 0 {
        left -= skip_page(&mut bytes, column.uncompressed_size().max(MAX_PAGE_BYTES))?;
        if left < 0 {
            return Err(broken_error("pages with more values than their column"));
        }
    }
    Ok(())
}

/// Skips a page and returns its number of values.
///
/// # Errors
///
/// The page is broken, or has more than `max_bytes` uncompressed bytes.
fn skip_page(bytes: &mut Cursor<Buffer<u8>>, max_bytes: i64) -> Result<i64, ParquetError> {
    let mut header = TCompactInputProtocol::new(&mut *bytes, MAX_PAGE_BYTES as usize);
    let header = PageHeader::read_from_in_protocol(&mut header).map_err(broken_error)?;
    let end =
        bytes.position() + u64::try_from(header.compressed_page_size).map_err(broken_error)?;
    if end > bytes.get_ref().len() as u64 {
        return Err(broken_error("a page that ends after its column"));
    }
    bytes.set_position(end);
    let unpacked = i64::from(header.uncompressed_page_size);
    if !(0..=max_bytes).contains(&unpacked) {
        return Err(broken_error(format!("a page of {unpacked} bytes")));
    }
    let [values, nulls, entries] = read_counts(&header);
    // Even in the smallest dictionary, an entry takes a bit.
    let room = unpacked.saturating_mul(8);
    if values < 0 || !(0..=values).contains(&nulls) || !(0..=room).contains(&i64::from(entries)) {
        return Err(broken_error("a page with counts that cannot be"));
    }
    Ok(i64::from(values))
}

/// Returns the counts in a page's header: values, nulls, and dictionary entries.
fn read_counts(header: &PageHeader) -> [i32; 3] {
    let dictionary = header.dictionary_page_header.as_ref();
    let entries = dictionary.map_or(0, |page| page.num_values);
    match (&header.data_page_header, &header.data_page_header_v2) {
        (Some(page), _) => [page.num_values, 0, entries],
        (None, Some(page)) => [page.num_values, page.num_nulls, entries],
        (None, None) => [0, 0, entries],
    }
}
