//! A corpus on disk: its files, formats, card and splits.
//!
//! Files are read in order. A written file gets its name only when it is complete.

mod card;
mod corpus;
mod csv_rows;
mod digest;
pub(crate) mod formats;
mod lines;
mod named;
mod raws;
mod select;
mod shard;
mod splits;
mod unfinished;
mod unpacked;
mod writer;

pub(crate) use card::options;
pub use card::{Card, CardModel};
pub use corpus::{Corpus, CorpusError};
pub use csv_rows::{CsvRow, csv_rows};
pub(crate) use csv_rows::{first_row, is_open, line_breaks};
pub(crate) use deadloop_stream::{BOM, MAX_LINE};
pub use digest::{COPIED_CHARS, CopyKeys, CorpusHash, CorpusHasher, RecordDigest, text_hash};
pub use formats::Effort;
pub(crate) use lines::{Lines, broken, unpack};
pub use named::{if_named, is_named, open_file, read_file, read_text};
pub(crate) use raws::{Counted, Progress};
pub use raws::{Entries, Raw, Raws};
pub use select::{Draw, Drawn, Sampling, Selection, field, fields, parse_where};
pub use shard::Shard;
pub(crate) use splits::Splits;
pub use splits::strays;
pub use unfinished::{
    Claim, Standstill, UnfinishedFolder, claim, prove_writable, standstill, sweep,
    unfinished_folder,
};
pub(crate) use unfinished::{changing, unfinished_file};
pub(crate) use unpacked::Swelling;
pub use unpacked::unpack_zstd;
pub use writer::{CorpusWriter, Unfinished, WriteError};
