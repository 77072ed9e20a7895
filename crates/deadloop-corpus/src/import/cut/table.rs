//! Parquet: a record for each row, an object of its columns. A row group at a time is held in memory.

use std::collections::VecDeque;
use std::fs::File;

use polars_arrow::datatypes::ArrowSchema;
use polars_parquet::read::{FileMetadata, infer_schema, read_metadata};
use serde_json::Value;

use super::{Content, Record};
use crate::files::formats::parquet::{Columns, broken, guarded};
use crate::transcript::wire::WireFault;
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
    columns: Columns,
    /// The row given last, from 1.
    place: Place,
}

impl Table {
    fn open(place: Place) -> Result<Self, WireFault> {
        let mut file = File::open(place.file.as_path()).map_err(broken)?;
        let footer = read_metadata(&mut file).map_err(broken)?;
        Ok(Self {
            file,
            schema: infer_schema(&footer).map_err(broken)?,
            groups: (0..footer.row_groups.len()).collect(),
            footer,
            columns: Columns::default(),
            place: Place::new(place.file, 0),
        })
    }

    fn load(&mut self, group: usize) -> Result<(), WireFault> {
        let group = &self.footer.row_groups[group];
        self.columns = Columns::read(&mut self.file, group, &self.schema)?;
        Ok(())
    }
}

impl Iterator for Table {
    type Item = Result<Record, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        let row = loop {
            if let Some(row) = self.columns.row() {
                break row;
            }
            let group = self.groups.pop_front()?;
            let rows = self.footer.row_groups[group].num_rows() as u64;
            if let Err(fault) = guarded(|| self.load(group)) {
                let place = Place::new(self.place.file.clone(), self.place.line + 1);
                self.place.line += rows;
                return Some(Err(fault.at(place)));
            }
        };
        self.place.line += 1;
        let place = self.place.clone();
        Some(match row {
            Ok(row) => {
                let cells = row.into_iter().map(|(name, cell)| (name.to_string(), cell));
                Ok(Record {
                    place,
                    member: String::new(),
                    content: Content::Json(Value::Object(cells.collect())),
                })
            }
            Err(fault) => Err(fault.at(place)),
        })
    }
}
