//! Tables, charts, Markdown and a self-contained page from a result folder.
//!
//! A report shows the results of `replay`, `sweep`, `tune`, `repair` or `budget`. It replays nothing and decides
//! nothing.
//!
//! | module | content |
//! |---|---|
//! | `data` | the data of a report |
//! | `load` | the reader of the data from a result folder |
//! | `tables` | the tables of a report, for HTML, Markdown and terminals |
//! | `charts` | one file per chart, and their registry |
//! | `draw` | the tools for drawing charts with plotters |
//! | `series`, `grid` | outcomes and scores, arranged for comparison; the ink of a setting |
//! | `plane` | the dots of the plane, packed |
//! | `matrix` | the verdicts of every transcript under every setting, packed |
//! | `drill` | the opened transcripts, prepared for the page |
//! | `visible` | untrusted text without invisible chars |
//! | `headline` | the top of the page |
//! | `pack` | compression of the data in the page |
//! | `page` | the two templates |
//! | `review` | the page for reviewing labels |
//! | `numbers` | formats of numbers |
//! | `write` | the files of a report |

// These macros panic if the reader of the output is gone.
#![deny(clippy::print_stderr, clippy::print_stdout)]

mod charts;
mod data;
mod draw;
mod drill;
mod grid;
mod headline;
mod load;
mod matrix;
mod numbers;
mod pack;
mod page;
mod plane;
mod review;
mod series;
mod tables;
mod visible;
mod write;

pub use charts::{CHARTS, Chart, ChartEntry, draw_all};
pub use data::{
    ALL_MODELS, ChoiceFigures, ChoiceRow, FieldScore, NamedGuard, Objective, OutcomeRow,
    ReportData, Role, RunInfo, Score, SettingRow, Verdict, brief, short_name,
};
pub use draw::{DrawError, Picture};
pub use load::{LoadError, load};
pub use numbers::Estimate;
pub use page::{PageError, Pages, pages};
pub use review::review_page;
pub use tables::{TextTable, summary_tables};
pub use write::{Options, ReportError, ReportFiles, render, write};
