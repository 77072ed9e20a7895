//! Transcripts: the type, corpora on disk, and near-duplicates.
//!
//! | to find | look in |
//! |---|---|
//! | the type, its events, its JSON | `transcript/` |
//! | a corpus on disk, reading and writing | `files/` |
//! | file readers that importers share | [`files`] |
//! | splitting `<think>` tags off the answer | `think` of deadloop-stream |
//! | near-duplicates | `near/` |
//! | command options in messages | [`option`] |
//!
//! [`Corpus::open`] opens a folder or file, [`Corpus::raw_records`] reads it in order without decoding, [`Corpus::parse`]
//! decodes one record and may run on any thread. This crate does not interpret labels: [`Entry::labels`] is only passed
//! along.

// These macros panic if the reader of the output is gone.
#![deny(clippy::print_stderr, clippy::print_stdout)]

pub mod files;
mod near;
pub mod option;
pub mod transcript;

pub use deadloop_detect as detect;
pub use files::{
    COPIED_CHARS, Card, CardModel, CopyKeys, Corpus, CorpusError, CorpusHash, CorpusHasher,
    CorpusWriter, CsvRow, Effort, Entries, FolderClaim, LABEL_COLUMNS, LabelCells, RawRecord,
    RawRecords, RecordDigest, SampleDraw, SampleIds, SampleSize, Selection, Shard, UnfinishedFile,
    UnfinishedFolder, UnfinishedLock, WriteError, block_file_changes, check_writable, claim,
    create_unfinished_folder, field, fields, if_exists, is_named, open_file, parse_csv_rows,
    parse_where, read_file, read_text, strays, sweep, text_hash, unpack_zstd,
};
pub use near::{Cluster, NearPair, Shingles, Sketch, find_clusters, find_pairs};
pub use transcript::{
    BenignReason, BenignSpan, Class, Disorder, DisorderKind, Entry, Ids, Transcript,
    find_disorders, tool_call, tool_result,
};

pub(crate) use deadloop_stream::think;
pub use deadloop_stream::{
    Arrival, Blocks, Body, Cost, EVENT_TYPES, MAX_LINE, MAX_T_MS, MAX_TOKENS, ModelGlob,
    ModelThink, Place, Problem, RecordedEvent, SilenceTimer, StreamFormat, StreamReader, TagSide,
    Tags, ThinkOptions, ThinkRules, ThinkSplitter, UNTIL, is_of_machine, split_think, stream,
};
