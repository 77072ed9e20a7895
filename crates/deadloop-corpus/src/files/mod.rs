//! A corpus on disk: its files, card and splits.
//!
//! Files are read in order. A written file gets its name only when it is complete.

mod card;
mod corpus;
pub mod csv_rows;
pub mod decompression;
pub(crate) mod digest;
mod file_names;
pub(crate) mod jsonl;
mod label_columns;
pub mod lines;
pub mod raw_records;
mod selection;
mod shard;
mod splits;
mod temporary_files;
mod writer;

pub(crate) use card::think_options;
pub use card::{Card, CardModel};
pub use corpus::{Corpus, CorpusError};
pub use csv_rows::{CsvRow, parse_csv_rows};
pub(crate) use deadloop_stream::{BOM, MAX_LINE};
pub use decompression::unpack_zstd;
pub use digest::{COPIED_CHARS, CopyKeys, CorpusHash, CorpusHasher, RecordDigest, text_hash};
pub use file_names::{if_exists, is_named, open_file, read_file, read_text};
pub use jsonl::Effort;
pub use label_columns::{LABEL_COLUMNS, LabelCells};
pub(crate) use lines::{FileLines, broken, unpack};
pub(crate) use raw_records::{CountingReader, ReadProgress};
pub use raw_records::{Entries, RawRecord, RawRecords};
pub use selection::{SampleDraw, SampleIds, SampleSize, Selection, field, fields, parse_where};
pub use shard::Shard;
pub(crate) use splits::Splits;
pub use splits::strays;
pub use temporary_files::{
    FolderClaim, UnfinishedFolder, UnfinishedLock, block_file_changes, check_writable, claim,
    create_unfinished_folder, sweep,
};
pub(crate) use temporary_files::{create_unfinished_file, lock_changes};
pub use writer::{CorpusWriter, UnfinishedFile, WriteError};
