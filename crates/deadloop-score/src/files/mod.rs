//! The files of a result folder, written and read back.
//!
//! The same input gives the same bytes in every file but `manifest.json`.
//!
//! | file | module |
//! |---|---|
//! | every table, as Parquet and CSV | `store`, with the schemas and frames of deadloop-tables |
//! | `outcomes.parquet` | `outcomes` |
//! | `scores.parquet` | its columns in `scores`, its rows in `sweep`, `slices`, `models` |
//! | `choice.csv`, `settings.toml` | `choice`, `openings`, `settings` |
//! | `cases.jsonl`, the transcripts that the report opens | `excerpts`, `calls` |
//! | the columns of every table, for people | `result_tables` |
//! | `manifest.json`, and the reader of a whole folder | `manifest`, `results` |

pub(crate) mod calls;
pub(crate) mod choice;
pub(crate) mod excerpts;
pub(crate) mod manifest;
pub(crate) mod models;
pub(crate) mod openings;
mod outcome_sums;
pub(crate) mod outcomes;
pub(crate) mod repairs;
pub(crate) mod result_tables;
pub(crate) mod results;
pub(crate) mod scores;
pub(crate) mod settings;
mod slices;
pub(crate) mod store;
pub(crate) mod sweep;
