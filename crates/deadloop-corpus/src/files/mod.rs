//! A corpus on disk: its files, card and splits.
//!
//! Files are read in order. A written file gets its name only when it is complete.

mod card;
mod corpus;
pub mod csv_rows;
pub(crate) mod digest;
pub(crate) mod jsonl;
mod label_columns;
pub mod lines;
mod named;
pub mod raws;
mod select;
mod shard;
mod splits;
mod unfinished;
pub mod unpacked;
mod writer;

pub(crate) use card::options;
pub use card::{Card, CardModel};
pub use corpus::{Corpus, CorpusError};
pub use csv_rows::{CsvRow, csv_rows};
pub(crate) use deadloop_stream::{BOM, MAX_LINE};
pub use digest::{COPIED_CHARS, CopyKeys, CorpusHash, CorpusHasher, RecordDigest, text_hash};
pub use jsonl::Effort;
pub use label_columns::{LABEL_COLUMNS, LabelCells};
pub(crate) use lines::{Lines, broken, unpack};
pub use named::{if_named, is_named, open_file, read_file, read_text};
pub(crate) use raws::{Counted, ReadProgress};
pub use raws::{Entries, Raw, Raws};
pub use select::{Draw, Drawn, Sampling, Selection, field, fields, parse_where};
pub use shard::Shard;
pub(crate) use splits::Splits;
pub use splits::strays;
pub use unfinished::{
    FolderClaim, Standstill, UnfinishedFolder, claim, prove_writable, standstill, sweep,
    unfinished_folder,
};
pub(crate) use unfinished::{changing, unfinished_file};
pub use unpacked::unpack_zstd;
pub use writer::{CorpusWriter, Unfinished, WriteError};
