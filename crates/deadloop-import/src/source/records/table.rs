//! Parquet: a record for each row, as an object of its columns.
//!
//! One row group is in memory at a time.

use std::fs::File;

use deadloop_tables::{ParquetError, ParquetRows, RowOfValues, RowsError};
use serde_json::Value;

use super::{RecordContent, RecordResult, SourceRecord, SourceRecords};
use deadloop_corpus::Place;
use deadloop_stream::wire::{WireFault, WireResult};

pub(crate) fn read_records(place: Place) -> SourceRecords {
    match open_rows(&place) {
        Ok(rows) => Box::new(ParquetTable {
            rows,
            place: Place::new(place.file, 0),
        }),
        Err(fault) => Box::new(std::iter::once(Err(fault.at(place)))),
    }
}

fn open_rows(place: &Place) -> WireResult<ParquetRows> {
    let file = File::open(place.file.as_path());
    let file = file.map_err(|e| parquet_fault(ParquetError::Broken(e.to_string())))?;
    ParquetRows::open(file).map_err(parquet_fault)
}

fn parquet_fault(error: ParquetError) -> WireFault {
    let why = match error {
        ParquetError::GaveUp => "the reader gave up".to_owned(),
        ParquetError::Broken(why) | ParquetError::Unwritten(why) => why,
    };
    let first = why.lines().next().unwrap_or_default();
    WireFault::new(format!("broken Parquet: {first}"), "a whole Parquet file")
}

struct ParquetTable {
    rows: ParquetRows,
    /// File and number of the last row, from 1.
    place: Place,
}

impl Iterator for ParquetTable {
    type Item = RecordResult;

    fn next(&mut self) -> Option<Self::Item> {
        let row = self.rows.next()?;
        let place = Place::new(self.place.file.clone(), self.place.line + 1);
        self.place.line += match &row {
            Err(RowsError::Group(rows, _)) => *rows,
            Ok(_) | Err(RowsError::Row(_)) => 1,
        };
        Some(match row {
            Ok(row) => Ok(row_record(place, row)),
            Err(RowsError::Row(why) | RowsError::Group(_, why)) => {
                Err(parquet_fault(why).at(place))
            }
        })
    }
}

fn row_record(place: Place, row: RowOfValues) -> SourceRecord {
    let cells = row.into_iter().map(|(name, cell)| (name.to_string(), cell));
    SourceRecord::new(place, RecordContent::Json(Value::Object(cells.collect())))
}
