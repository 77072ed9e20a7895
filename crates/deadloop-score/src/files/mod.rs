//! What a run leaves in its folder, written and read back. Same input, same bytes, in everything
//! but `manifest.json`.
//!
//! | file | module |
//! |---|---|
//! | any table, as Parquet and CSV | `store`; what a table is, is in deadloop-tables |
//! | `outcomes.parquet`, `cases.jsonl` | `outcomes`, `cases` |
//! | `scores.parquet` | `scores`, `sweep`; read by `score_rows` |
//! | `scores_by.parquet`, `intervals.csv` | `breakdown` |
//! | `budget.csv` | `budget` |
//! | `choice.csv`, `settings.toml` | `choice`, `openings`, `settings` |
//! | what the report opens: `excerpts.jsonl.zst` | `excerpts`, `calls` |
//! | the columns of every table, for people | `described` |
//! | `manifest.json`, and all of it together | `manifest`, `results` |

pub(crate) mod breakdown;
pub(crate) mod calls;
pub(crate) mod cases;
pub(crate) mod choice;
pub(crate) mod described;
pub(crate) mod excerpts;
mod gathered;
pub(crate) mod manifest;
pub(crate) mod openings;
pub(crate) mod outcomes;
mod picked;
pub(crate) mod repairs;
pub(crate) mod results;
pub(crate) mod score_rows;
pub(crate) mod scores;
pub(crate) mod settings;
pub(crate) mod slices;
pub(crate) mod store;
pub(crate) mod sweep;
