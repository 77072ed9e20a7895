//! Transcripts: the type, the files they stand in, live streams, the `<think>` splitter, planted
//! loops, synthetic corpora, near-duplicates.
//!
//! [`Corpus::open`] looks at a folder or file, [`Corpus::raws`] reads it in order without decoding,
//! [`Corpus::parse`] decodes one record and may run on any thread. What a label means is not known
//! here: [`Entry::labels`] is carried, never read.
mod card;
mod caught;
mod class;
mod corpus;
mod csv_rows;
mod digest;
mod events;
pub mod find;
mod formats;
mod ids;
mod import;
mod lines;
mod named;
mod near;
pub mod plant;
mod raws;
mod redact;
mod select;
mod shard;
mod splits;
mod stream;
pub mod synth;
mod think;
mod transcript;
mod unfinished;
mod wire;
mod writer;

pub use card::{Card, CardModel};
pub use caught::caught;
pub use class::Class;
pub use corpus::{Corpus, CorpusError};
pub use csv_rows::{CsvRow, csv_rows};
pub use deadloop_detect as detect;
pub use digest::{CorpusHash, CorpusHasher, RecordDigest, text_hash};
pub use events::stream;
pub use formats::Effort;
pub use ids::Ids;
pub use import::{
    Import, ImportCounts, ImportFormat, ImportOptions, Loss, Losses, Tally, import_formats,
};
pub use lines::MAX_LINE;
pub use named::{if_named, is_named, open_file, read_file, read_text};
pub use near::{Cluster, Pair, Shingles, Sketch, alike, clusters};
pub use raws::{Entries, Raw, Raws};
pub use redact::{LONGEST as LONGEST_WORD, RedactBy, Redactor};
pub use select::{Draw, Drawn, ModelGlob, Sample, Selection, field, fields, parse_where};
pub use shard::Shard;
pub use splits::strays;
pub use stream::{Arrival, Ending, StreamFormat, StreamReader};
pub use think::{
    Blocks, ModelThink, Side, Tags, ThinkOptions, ThinkRules, ThinkSplitter, split_think,
    strip_think_tags,
};
pub use transcript::{Body, Cost, Entry, Event, Place, Problem, Transcript, is_of_machine};
pub use unfinished::{
    Standstill, UnfinishedFolder, prove_writable, standstill, sweep, unfinished_folder,
};
pub use wire::EVENT_TYPES;
pub use writer::{Beside, CorpusWriter, WriteError};
