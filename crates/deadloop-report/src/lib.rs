//! Tables, charts, Markdown and one self-contained page from the files of a result folder.
//!
//! Nothing is replayed and nothing is decided here: what is drawn was written by `replay`, `sweep` or `tune`.
//!
//! | module | what lives there |
//! |---|---|
//! | `data` | what a report is made of: plain data |
//! | `load` | that data from the files of a folder |
//! | `tables` | rows, built once for both pages |
//! | `charts` | one file a chart, and their registry |
//! | `draw` | the kit that charts are drawn with, over plotters |
//! | `series`, `grid` | outcomes and scores, arranged for comparing |
//! | `plane` | the dots of the plane, packed |
//! | `matrix` | every transcript through every guard, packed |
//! | `drill` | the transcripts that are opened, as the page shows them |
//! | `visible` | text of strangers with nothing hidden in it |
//! | `look` | the ink of a setting, the same in every chart |
//! | `headline` | what is said first |
//! | `pack` | bytes as the page holds them |
//! | `page` | the two templates |
//! | `review` | the page on which labels are reviewed |
//! | `numbers` | how a number is written |
//! | `write` | the files |

#![deny(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "they panic where nobody reads any more"
)]

mod charts;
mod data;
mod draw;
mod drill;
mod grid;
mod headline;
mod load;
mod look;
mod matrix;
mod numbers;
mod pack;
mod page;
mod plane;
mod review;
mod series;
mod tables;
mod verdicts;
mod visible;
mod write;

pub use charts::{CHARTS, Chart, ChartEntry, draw_all};
pub use data::{
    ALL_MODELS, By, ChoiceFigures, ChoiceRow, Objective, OutcomeRow, ReportData, Role, RunInfo,
    Score, SettingRow, Verdict, beside, brief, differences, differing, in_short,
};
pub use draw::{DrawError, Picture};
pub use load::{LoadError, load};
pub use numbers::Estimate;
pub use page::{PageError, Pages, pages};
pub use review::review_page;
pub use write::{Options, Report, ReportError, render, write};
