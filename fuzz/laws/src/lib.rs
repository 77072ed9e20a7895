//! The bodies of the fuzz targets. Each takes arbitrary bytes and panics if a law is broken.
//!
//! `scripts/fuzz` runs them. The tests in `tests/` run them on all seeds and on all inputs that ever failed.
//!
//! | to find | look in |
//! |---|---|
//! | recordings of every format | `import` |
//! | the separation of thinking from the answer | `splitter` |
//! | repair of damaged streams, in any chunks | `repair` |
//! | settings files | `settings` |
//! | grids of context budgets and of repairers | `grids` |
//! | HTTP messages, and streams under a guard | `proxy` |
//! | requests that two readers could understand differently | `http` |
//! | every registered text detector | `detectors`; its parameters: `members` |
//! | every registered run detector | `runs` |
//! | repetitive texts, and their chunks | `text` |

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a broken law ends the run: that is how a fuzzer is told"
)]

mod detectors;
mod grids;
mod http;
mod import;
mod members;
mod proxy;
mod repair;
mod runs;
mod settings;
mod splitter;
mod text;

pub use detectors::{detector, detectors, text_detectors};
pub use grids::grids;
pub use http::http;
pub use import::{import, parquet};
pub use proxy::proxy;
pub use repair::repair;
pub use runs::runs;
pub use settings::settings;
pub use splitter::splitter;

/// A fuzz target.
pub type FuzzTarget = fn(&[u8]);

/// All targets, each with the name of its folders of seeds and finds.
pub const TARGETS: [(&str, FuzzTarget); 10] = [
    ("import", import),
    ("parquet", parquet),
    ("splitter", splitter),
    ("repair", repair),
    ("settings", settings),
    ("grids", grids),
    ("proxy", proxy),
    ("http", http),
    ("detectors", detectors),
    ("runs", runs),
];
